"""Goals of inverse kinematics: where frames, points, directions, the centre of mass and joints are to be.

A goal says its rows: an error e, the wrenches T with J = T S (S the twists of the rates in world axes at the world's origin), a
cost with the gradient -J^T e, and its squared distance [m² and rad²]. Targets have leading axes: a batch of goals is one goal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.algorithms.checks import require_finite
from modurob.algorithms.descent import GoalRow
from modurob.caching import frozen
from modurob.errors import InputError, explained
from modurob.mechanism.tables import Tables
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array, as_array, cross, dot, maximum, sqrt
from modurob.values import Value

# 2 cos(angle / 2) of a turn is taken for no less, squared: at half a turn no direction is the short one
HALF_TURN = 1e-14


class GoalRows(NamedTuple):
    """error (..., r), T (..., r, 6), cost (...), size (...)."""

    error: Array
    T: Array
    cost: Array
    size: Array


class Goal(Value, ABC):
    """Something to reach; `weight` multiplies its error."""

    weight: Any
    numbers: ClassVar[int]  # of its target
    parameters: ClassVar[tuple[str, ...]] = ("weight",)

    @abstractmethod
    def target(self) -> Array:
        """The numbers of the target, (..., numbers)."""

    @abstractmethod
    def placed(self, m: Tables) -> list[GoalRow]:
        """Its rows in a mechanism, or an error that names what is not there."""

    @abstractmethod
    def rows(self, x: Array, target: Array) -> GoalRows:
        """Error, wrenches, cost and squared distance, of what it sees."""

    def features(self, x: Array) -> Array:
        """What it sees, in the numbers of its target, (..., numbers)."""
        return x

    def scale(self, turn: float) -> Array:
        """How much each number of a target counts when configurations are compared; turns by `turn`, (numbers,)."""
        return np.full(self.numbers, float(self.weight))

    def _require_weights(self) -> None:
        for name in self.parameters:
            x = getattr(self, name)
            if not (isinstance(x, int | float | np.number) and np.isfinite(x) and x > 0):
                raise InputError(f"{type(self).__name__}: {name} {x!r:.40}: expected a number above zero")


def _given(x: Any, tail: tuple[int, ...], what: str) -> Array:
    """Numbers with these last axes."""
    try:
        found = as_array(x)
    except ValueError:
        found = np.zeros(0)
    if found.dtype.kind != "f" or found.shape[len(found.shape) - len(tail) :] != tail or found.ndim < len(tail):
        raise InputError(f"{what} {x!r:.60}: expected numbers of shape (..., {', '.join(map(str, tail))})")
    return frozen(require_finite(found, what))


def _unit(x: Array, what: str) -> Array:
    length = np.sqrt(dot(x, x))[..., None]
    if not np.all(length > 0):
        raise InputError(f"{what} {x.tolist()!r:.60}: expected a direction, not zero")
    return frozen(x / length)


@explained
@dataclass(frozen=True, eq=False)
class PoseGoal(Goal):
    """A frame at the pose X_WF, (..., 4, 4) [m]; `turn` [m/rad] weighs a radian against a metre.

    >>> X = robot.frame_pose(q, "m3")
    >>> robot.reach([mr.PoseGoal("m3", X)]).reached
    array(True)
    """

    frame: str
    X: ArrayLike
    weight: Any = 1.0
    turn: Any = 1.0
    numbers, parameters = 12, ("weight", "turn")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_weights()
        X = _given(self.X, (4, 4), f"pose of {self.frame!r}")
        if not (so3.is_rotation(X[..., :3, :3], 1e-6) and np.all(X[..., 3, :] == (0, 0, 0, 1))):
            raise InputError(f"pose of {self.frame!r}: expected X = [[R, p], [0, 1]] with a rotation R")
        object.__setattr__(self, "X", X)

    def target(self) -> Array:
        X = np.asarray(self.X)
        return X[..., :3, :].reshape(*X.shape[:-2], 12)

    def placed(self, m: Tables) -> list[GoalRow]:
        at = m.frame(self.frame)
        return [GoalRow(self, "pose", at.body, at.X)]

    def features(self, x: Array) -> Array:
        return x[..., :3, :].reshape(*x.shape[:-2], 12)

    def scale(self, turn: float) -> Array:
        return np.tile([self.weight * self.turn * turn] * 3 + [self.weight], 3)

    def rows(self, x: Array, target: Array) -> GoalRows:
        X = target.reshape(*target.shape[:-1], 3, 4)
        way = X[..., 3] - se3.position(x)
        spin, half = short_turn(se3.rotation(x), X[..., :3])
        error = np.concatenate([self.weight * way, self.weight * self.turn * spin], axis=-1)
        on = self.weight * np.array([1, 1, 1, self.turn, self.turn, self.turn])
        T = on[:, None] * np.concatenate([point_rows(se3.position(x)), _turns(x)], axis=-2)
        turned = dot(spin, spin)
        cost = self.weight * self.weight * (dot(way, way) / 2 + self.turn * self.turn * turned / (1 + half / 2))
        return GoalRows(error, T, cost, dot(way, way) + turned)


def short_turn(R: Array, goal: Array) -> tuple[Array, Array]:
    """2 sin(angle / 2) along the axis that turns R to the goal, (..., 3), in world axes, and 2 cos(angle / 2), (...).

    It is the gradient of 4 (1 - cos(angle / 2)) = |spin|² / (1 + cos(angle / 2)).
    """
    twice = sum(cross(R[..., :, k], goal[..., :, k]) for k in range(3))
    trace = dot(R[..., :, 0], goal[..., :, 0]) + dot(R[..., :, 1], goal[..., :, 1]) + dot(R[..., :, 2], goal[..., :, 2])
    half = sqrt(maximum(1 + trace, np.array(HALF_TURN)))
    return twice / half[..., None], half


def point_rows(p: Array) -> Array:
    """(1, -[p]): the velocity of a point from a twist at the origin, (..., 3, 6)."""
    return np.concatenate([np.eye(3) + 0 * so3.skew(p), -so3.skew(p)], axis=-1)


def _turns(x: Array) -> Array:
    """(0, 1), (..., 3, 6)."""
    zero = 0 * se3.rotation(x)
    return np.concatenate([zero, np.eye(3) + zero], axis=-1)


@explained
@dataclass(frozen=True, eq=False)
class PointGoal(Goal):
    """A point of a frame, given in its axes (3,), at the place `p`, (..., 3) in world axes [m].

    >>> robot.reach([mr.PointGoal("m3", [0.105, 0.2, 0.05])]).residual.shape
    (1,)
    """

    frame: str
    p: ArrayLike
    point: ArrayLike = (0.0, 0.0, 0.0)
    weight: Any = 1.0
    numbers = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_weights()
        object.__setattr__(self, "p", _given(self.p, (3,), f"place of {self.frame!r}"))
        object.__setattr__(self, "point", _given(self.point, (3,), f"point of {self.frame!r}"))

    def target(self) -> Array:
        return np.asarray(self.p)

    def placed(self, m: Tables) -> list[GoalRow]:
        at = m.frame(self.frame)
        return [GoalRow(self, "pose", at.body, at.X @ se3.pose(None, np.asarray(self.point)))]

    def features(self, x: Array) -> Array:
        return se3.position(x)

    def rows(self, x: Array, target: Array) -> GoalRows:
        way = target - se3.position(x)
        square = dot(way, way)
        return GoalRows(
            self.weight * way, self.weight * point_rows(se3.position(x)), self.weight * self.weight * square / 2, square
        )


@explained
@dataclass(frozen=True, eq=False)
class DirectionGoal(Goal):
    """An axis of a frame, given in its axes (3,), along `d`, (..., 3) in world axes; lengths do not matter.

    >>> found = robot.reach([mr.DirectionGoal("m1", [0.0, 0.6, 0.8], axis=(0, 1, 0))])
    >>> robot.frame_pose(found.q[0], "m1")[:3, 1].round(6)
    array([0. , 0.6, 0.8])
    """

    frame: str
    d: ArrayLike
    axis: ArrayLike = (0.0, 0.0, 1.0)
    weight: Any = 1.0
    numbers = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_weights()
        d = _given(self.d, (3,), f"direction of {self.frame!r}")
        axis = _given(self.axis, (3,), f"axis of {self.frame!r}")
        object.__setattr__(self, "d", _unit(d, f"direction of {self.frame!r}"))
        object.__setattr__(self, "axis", _unit(axis, f"axis of {self.frame!r}"))

    def target(self) -> Array:
        return np.asarray(self.d)

    def placed(self, m: Tables) -> list[GoalRow]:
        at, z = m.frame(self.frame), np.asarray(self.axis)
        R = np.stack([*so3.perpendicular(z), z], axis=-1)
        return [GoalRow(self, "pose", at.body, at.X @ se3.pose(R))]

    def features(self, x: Array) -> Array:
        return se3.rotation(x)[..., 2]

    def scale(self, turn: float) -> Array:
        return np.full(3, self.weight * turn)

    def rows(self, x: Array, target: Array) -> GoalRows:
        a = se3.rotation(x)[..., 2]
        across = np.eye(3) - a[..., :, None] * a[..., None, :]
        T = self.weight * np.concatenate([0 * across, across], axis=-1)
        apart = a - target
        square = dot(apart, apart)
        return GoalRows(self.weight * cross(a, target), T, self.weight * self.weight * square / 2, square)


@explained
@dataclass(frozen=True, eq=False)
class CentreGoal(Goal):
    """The centre of mass of the moving bodies at the place `p`, (..., 3) in world axes [m].

    >>> where = robot.centre_of_mass(q)
    >>> found = robot.reach([mr.CentreGoal(where)], q0=[0.2, 0.0, 0.3])
    >>> bool(np.allclose(robot.centre_of_mass(found.q[0]), where))
    True
    """

    p: ArrayLike
    weight: Any = 1.0
    numbers = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_weights()
        object.__setattr__(self, "p", _given(self.p, (3,), "place of the centre of mass"))

    def target(self) -> Array:
        return np.asarray(self.p)

    def placed(self, m: Tables) -> list[GoalRow]:
        if not m.inertia[1:, 0, 0].sum() > 0:
            raise InputError(f"{m.name} moves no mass: it has no centre of mass to bring anywhere")
        return [GoalRow(self, "centre")]

    def rows(self, x: Array, target: Array) -> GoalRows:
        way = target - x
        square = dot(way, way)
        T = self.weight * np.eye(3, 6) + 0 * way[..., None]
        return GoalRows(self.weight * way, T, self.weight * self.weight * square / 2, square)


@explained
@dataclass(frozen=True, eq=False)
class JointGoal(Goal):
    """Joints of coordinates at these values, by name [rad or m]; as a `secondary` goal, a posture to stay close to.

    >>> robot.reach([mr.JointGoal({"m2/hinge": 0.4})]).q.round(6)[0, 1]
    np.float64(0.4)
    """

    joints: Mapping[str, ArrayLike]
    weight: Any = 1.0
    numbers = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_weights()
        if not isinstance(self.joints, Mapping) or not self.joints:
            raise InputError(
                f"JointGoal of {self.joints!r:.60}: expected names of joints with values, {{'hinge': 0.1}}"
            )
        kept = {name: _given(x, (), f"value of joint {name!r}") for name, x in self.joints.items()}
        object.__setattr__(self, "joints", kept)

    def target(self) -> Array:
        return np.stack(np.broadcast_arrays(*map(np.asarray, self.joints.values())), axis=-1)

    def placed(self, m: Tables) -> list[GoalRow]:
        found = []
        for name in self.joints:
            joint = m.joint(name)
            if joint.type.nq != 1 or joint.type.nv != 1 or joint.mimics:
                raise InputError(
                    f"JointGoal of {name!r} ({joint.kind}): expected joints of one coordinate of their own"
                )
            one = replace(self, joints={name: 0.0})
            found.append(GoalRow(one, "coordinate", coordinate=joint.q_slice.start, rate=joint.v_slice.start))
        return found

    def rows(self, x: Array, target: Array) -> GoalRows:
        way = target - x
        T = self.weight + 0 * way[..., None]
        return GoalRows(self.weight * way, T, self.weight * self.weight * dot(way, way) / 2, dot(way, way))
