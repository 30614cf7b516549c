"""Paths of a frame, independent of time: lines, circles, screws and splines through poses, with a parameter s from 0 to
1.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from modurob.caching import cached_property
from modurob.errors import ControlError
from modurob.motion import turning
from modurob.motion.numbers import numbers
from modurob.motion.turning import Jet
from modurob.registry import Registry
from modurob.spatial import quaternion, se3, so3
from modurob.spatial.scalars import Array, cross, read_only
from modurob.values import Value

# how far from orthonormal a rotation may be
RIGID = 1e-9

PATHS: Registry[type["PosePath"]] = Registry("path", ControlError)


class PathPoint(NamedTuple):
    """A path at one parameter, or at many: pose, (..., 4, 4), body twist by s and its derivative, (..., 6) each."""

    pose: Array
    twist: Array
    bend: Array


def checked_pose(X: Any, what: str) -> Array:
    """`X` as a pose, (..., 4, 4)."""
    X = numbers(X, what)
    if X.shape[-2:] != (4, 4):
        raise ControlError(f"{what} has shape {X.shape}: expected a pose, (4, 4)")
    if not (so3.is_rotation(se3.rotation(X), RIGID) and np.all(X[..., 3, :] == [0, 0, 0, 1])):
        raise ControlError(f"{what} = {X.tolist()!r:.60}: expected a pose [[R, p], [0, 1]] with a rotation R")
    return X


@dataclass(frozen=True, eq=False)
class PosePath(Value, ABC):
    """A pose X(s), s from 0 to 1: a value."""

    kind: ClassVar[str]

    @property
    def knots(self) -> Array:
        """Where in s, between 0 and 1, the bend may jump."""
        return np.zeros(0)

    @abstractmethod
    def _turn(self, s: Array) -> Jet:
        """The unit quaternion along s, (..., 4) each."""

    @abstractmethod
    def _place(self, s: Array) -> Jet:
        """The origin along s, in world axes, (..., 3) each."""

    def __call__(self, s: Any) -> PathPoint:
        """Pose, body twist by s and its derivative: v = R^T p', v' = R^T p'' - w x v."""
        s = numbers(s, "s")
        R, w, dw = turning.angular(self._turn(s))
        p = self._place(s)
        v, dv = ((np.swapaxes(R, -1, -2) @ y[..., None])[..., 0] for y in (p.rate, p.bend))
        return PathPoint(
            se3.pose(R, p.value), np.concatenate([v, w], axis=-1), np.concatenate([dv - cross(w, v), dw], axis=-1)
        )

    def _keep(self, **arrays: Array) -> None:
        for name, x in arrays.items():
            object.__setattr__(self, name, read_only(np.array(x)))


def along(s: Array) -> Jet:
    """s itself."""
    return Jet(s, np.ones(s.shape), np.zeros(s.shape))


def _even(p: Array, way: Array, s: Array) -> Jet:
    """p + s way."""
    shape = (*s.shape, 3)
    return Jet(p + s[..., None] * way, np.broadcast_to(way, shape), np.zeros(shape))


def _slerp(R0: Array, R1: Array, s: Array) -> Jet:
    """From one rotation to another at constant rate, along the shortest arc."""
    q0, q1 = (np.broadcast_to(quaternion.from_matrix(R), (*s.shape, 4)) for R in (R0, R1))
    return turning.slerp(turning.still(q0), turning.still(q1), along(s))


@PATHS.register("line")
@dataclass(frozen=True, eq=False)
class Line(PosePath):
    """The straight line from one pose to another, with rotation at constant rate along the shortest arc (slerp)."""

    start: Array  # (4, 4)
    end: Array  # (4, 4)
    kind = "line"

    def __post_init__(self) -> None:
        self._keep(start=_one(self.start, "start"), end=_one(self.end, "end"))

    def _turn(self, s: Array) -> Jet:
        return _slerp(se3.rotation(self.start), se3.rotation(self.end), s)

    def _place(self, s: Array) -> Jet:
        return _even(se3.position(self.start), se3.position(self.end) - se3.position(self.start), s)


@PATHS.register("circle")
@dataclass(frozen=True, eq=False)
class Circle(PosePath):
    """An arc of `angle` [rad] about the axis through `centre` [m], from the pose `start`; `angle` may exceed a full
    turn.

    The frame rotates with it (`turning` True), or keeps its orientation.
    """

    start: Array  # (4, 4)
    centre: Array  # (3,) [m]
    axis: Array  # (3,)
    angle: float = 2 * np.pi
    turning: bool = True
    kind = "circle"

    def __post_init__(self) -> None:
        centre, axis = numbers(self.centre, "centre"), numbers(self.axis, "axis")
        if centre.shape != (3,) or axis.shape != (3,) or not axis.any():
            raise ControlError(
                f"circle about {axis.tolist()} through {centre.tolist()}: expected a direction and a point"
            )
        self._keep(start=_one(self.start, "start"), centre=centre, axis=axis / np.linalg.norm(axis))
        object.__setattr__(self, "angle", float(numbers(self.angle, "angle")))

    def _turn(self, s: Array) -> Jet:
        first = turning.still(np.broadcast_to(quaternion.from_matrix(se3.rotation(self.start)), (*s.shape, 4)))
        if not self.turning:
            return first
        # exp(s w) in world axes, whose derivatives are products with w
        w = np.concatenate([[0.0], self.angle * self.axis / 2])
        q = quaternion.exp(s[..., None] * self.angle * self.axis)
        rate = quaternion.multiply(w, q)
        return turning.product(Jet(q, rate, quaternion.multiply(w, rate)), first)

    def _place(self, s: Array) -> Jet:
        arm, w = se3.position(self.start) - self.centre, self.angle * self.axis
        r = (so3.about(self.axis, s * self.angle) @ arm[:, None])[..., 0]
        rate = cross(np.broadcast_to(w, r.shape), r)
        return Jet(self.centre + r, rate, cross(np.broadcast_to(w, r.shape), rate))


@PATHS.register("screw")
@dataclass(frozen=True, eq=False)
class Screw(PosePath):
    """start exp(s twist): a constant body twist, that is a turn about an axis with a slide along it."""

    start: Array  # (4, 4)
    twist: Array  # in body axes, (6,) [m, rad]
    kind = "screw"

    def __post_init__(self) -> None:
        twist = numbers(self.twist, "twist")
        if twist.shape != (6,):
            raise ControlError(f"twist has shape {twist.shape}: expected (6,), linear first")
        self._keep(start=_one(self.start, "start"), twist=twist)

    @classmethod
    def between(cls, start: Any, end: Any) -> "Screw":
        """The screw from one pose to another, with at most half a turn."""
        X0, X1 = _one(start, "start"), _one(end, "end")
        return cls(X0, se3.log(se3.inverse(X0) @ X1))

    def __call__(self, s: Any) -> PathPoint:
        s = numbers(s, "s")
        twist = np.broadcast_to(self.twist, (*s.shape, 6))
        return PathPoint(self.start @ se3.exp(s[..., None] * self.twist), twist, np.zeros(twist.shape))

    def _turn(self, s: Array) -> Jet:
        raise NotImplementedError

    def _place(self, s: Array) -> Jet:
        raise NotImplementedError


@PATHS.register("poses")
@dataclass(frozen=True, eq=False)
class Poses(PosePath):
    """Through the poses, (k, 4, 4), each segment 1/(k - 1) of s: a natural cubic spline of positions, squad of
    rotations.

    Positions have two continuous derivatives, rotations one (Shoemake, Quaternion calculus and fast animation, 1987).
    """

    poses: Array  # (k, 4, 4)
    kind = "poses"

    def __post_init__(self) -> None:
        X = checked_pose(self.poses, "poses")
        if X.ndim != 3 or len(X) < 2:
            raise ControlError(f"poses have shape {X.shape}: expected (k, 4, 4), k at least 2")
        self._keep(poses=X)

    @property
    def knots(self) -> Array:
        return np.linspace(0, 1, len(self.poses))[1:-1]

    @cached_property
    def _quaternions(self) -> tuple[Array, Array]:
        """Those of the poses, each on the side of the one before, and the inner ones between them."""
        q = quaternion.from_matrix(se3.rotation(self.poses))
        flips = np.cumprod(np.where((q[1:] * q[:-1]).sum(axis=-1) < 0, -1.0, 1.0))
        q[1:] *= flips[:, None]
        return q, turning.inner_points(q)

    @cached_property
    def _spline(self) -> CubicSpline:
        return CubicSpline(np.linspace(0, 1, len(self.poses)), se3.position(self.poses), bc_type="natural")

    def _turn(self, s: Array) -> Jet:
        q, inner = self._quaternions
        stretches = len(q) - 1
        i = np.clip(np.floor(s * stretches).astype(int), 0, stretches - 1)
        h = Jet(s * stretches - i, np.full(s.shape, float(stretches)), np.zeros(s.shape))
        return turning.squad(q[i], q[i + 1], inner[i], inner[i + 1], h)

    def _place(self, s: Array) -> Jet:
        return Jet(self._spline(s), self._spline(s, 1), self._spline(s, 2))


def _one(X: Any, what: str) -> Array:
    """One pose, (4, 4)."""
    X = checked_pose(X, what)
    if X.ndim != 2:
        raise ControlError(f"{what} has shape {X.shape}: expected one pose, (4, 4)")
    return X
