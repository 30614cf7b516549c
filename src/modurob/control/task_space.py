"""Laws for a frame of the robot: operational space, impedance, and force in one direction with motion in the others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from modurob import kernels
from modurob.algorithms import passive_forces
from modurob.algorithms.steps import apply, transposed
from modurob.control.assumptions import require
from modurob.control.coupling import coupling
from modurob.control.feedback_linearisation import without_stops
from modurob.control.recipe import LAWS, BoundLaw, Recipe
from modurob.control.values import limiter
from modurob.errors import ControlError
from modurob.motion.numbers import numbers, one_bound, one_positive
from modurob.robot import Mechanism
from modurob.simulation import Memoryless
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array, as_array, dot, is_numeric, solve, sqrt

ROWS = {"position": 3, "pose": 6}
# eigenvalues of J M^-1 J^T below this share of the largest are those of directions in which a frame cannot move
SINGULAR = 1e-12


@dataclass(frozen=True, eq=False)
class TaskRecipe(Recipe):
    """Common properties of laws for a frame: the frame, and whether its position alone or its orientation too is
    controlled.

    `goal` is a point (3,) in the world, a pose (4, 4), or a function of time that returns one of these and the rate and
    acceleration of the controlled quantity, (3,) or (6,), world axes at the frame's origin.
    """

    frame: str = ""
    goal: Any = None
    task: Literal["position", "pose"] = "position"
    joint_damping: float = 0.0  # of motions that do not move the frame [N m s/rad or N s/m]
    needs: ClassVar[str] = "a frame and its goal"
    assumes: ClassVar[tuple[str, ...]] = ("driven", "tree")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.task not in ROWS:
            raise ControlError(f"task {self.task!r:.60}: expected 'position' or 'pose'")
        if self.goal is None:
            raise ControlError("goal is missing: expected a point (3,), a pose (4, 4), or a function of time")
        for name in ("joint_damping", "kp", "kd"):
            one_bound(getattr(self, name, 0.0), name)


class TaskLaw(BoundLaw, Memoryless):
    """A law for a frame of one robot."""

    def __init__(self, recipe: Any, robot: Mechanism):
        super().__init__(recipe, robot)
        require(self.drives, type(recipe).__name__, *recipe.assumes)
        self._model, self._own = self.drives.robot, without_stops(self.drives.robot)
        self._model.frame(recipe.frame)
        self._n, self._limited = ROWS[recipe.task], limiter(recipe.saturation, self.drives)
        self._goal, self._coupling = _goal(recipe.goal, self._n), coupling(self.drives)
        self._driven = np.isin(np.arange(self._model.nv), self.drives.v)

    def state(self, t: float, q: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        """Error and its rate, (..., n), the desired acceleration, and J, (..., n, nv)."""
        place, rate, acceleration = self._goal(t)
        X = self._model.frame_pose(q, self.recipe.frame)
        J = self._model.jacobian(q, self.recipe.frame)[..., : self._n, :]
        return _apart(X, place, self._n), rate - apply(J, v), acceleration, J

    def against(self, q: Array, v: Array, velocity: bool = True) -> Array:
        """C v + N - passive: what holds the robot up, (..., nv)."""
        own = passive_forces(self._own, q, v, run=kernels.run) if self._own.forces else 0.0
        return (self._model.bias_forces(q, v) if velocity else self._model.gravity_forces(q)) - own

    def mobility(self, q: Array, J: Array) -> tuple[Array, Array]:
        """The inertia that the frame has, (J M^-1 J^T)^-1, and M^-1 J^T times it, (..., nv, n)."""
        through = solve(self._model.mass_matrix(q), np.swapaxes(J, -1, -2))
        inverse = J @ through
        self._require_reach(inverse)
        inertia = solve(inverse, np.broadcast_to(np.eye(self._n), inverse.shape))
        return inertia, through @ inertia

    def _require_reach(self, inverse: Array) -> None:
        """An error where the frame cannot move in all directions that are controlled; `inverse` is that of its inertia.

        A law that is traced has no state yet to be wrong.
        """
        if not is_numeric(inverse):
            return
        sizes = np.linalg.eigvalsh(inverse)
        if np.any(sizes[..., 0] <= SINGULAR * sizes[..., -1]):
            raise ControlError(
                f"{type(self.recipe).__name__}: {self.recipe.frame} of {self._model.name} cannot move in all {self._n} directions "
                "of its task here: expected another frame or configuration, or Impedance, which inverts nothing"
            )

    def drift(self, q: Array, v: Array) -> Array:
        """Jdot v, (..., n)."""
        return apply(self._model.jacobian_rate(q, v, self.recipe.frame)[..., : self._n, :], v)

    def idle(self, v: Array, J: Array, through: Array) -> Array:
        """Damping of motions that do not move the frame: (1 - J^T through^T) (-d v)."""
        tau = -self.recipe.joint_damping * np.where(self._driven, v, 0.0)
        return tau - apply(np.swapaxes(J, -1, -2), apply(np.swapaxes(through, -1, -2), tau))


@LAWS.register("operational-space")
@dataclass(frozen=True, eq=False)
class OperationalSpace(TaskRecipe):
    """tau = J^T L (xddot_d + kd e' + kp e - Jdot v) + C v + N - passive, L = (J M^-1 J^T)^-1: e'' + kd e' + kp e = 0
    (Khatib 1987).

    For frames that can move in all controlled directions; near singularities L grows without bound. On a floating base
    J is the generalised Jacobian J P (Umetani and Yoshida 1989; see `Coupling`), and the acceleration of the frame with
    the falling base, J M^-1 (P^T - 1) (C v + N), is subtracted: e satisfies the same equation until the arm is
    stretched.

    >>> law = mr.OperationalSpace(frame="m3", goal=robot.frame_pose(q, "m3")[:3, 3], kp=100.0, kd=20.0)
    """

    kp: float = 100.0  # [1/s²]
    kd: float = 20.0  # [1/s]

    def on(self, robot: Mechanism) -> "OperationalSpaceLaw":
        return OperationalSpaceLaw(self, robot)


class OperationalSpaceLaw(TaskLaw):
    """Operational space for one robot."""

    def torque(self, t: float, q: Array, v: Array) -> Array:
        e, e_v, ahead, J = self.state(t, q, v)
        between, h = self._coupling(q), self.against(q, v)
        G, held = between.jacobian(J), between.torque(h)
        L, through = self.mobility(q, G)
        drift = self.drift(q, v) + (0.0 if held is h else self._falling(q, J, held - h))
        F = apply(L, ahead + self.recipe.kd * e_v + self.recipe.kp * e - drift)
        return self._limited(apply(transposed(G), F) + self.idle(v, G, through) + held)

    def _falling(self, q: Array, J: Array, tau: Array) -> Array:
        """J M^-1 tau, (..., n)."""
        return apply(J, solve(self._model.mass_matrix(q), tau[..., None])[..., 0])


@LAWS.register("impedance")
@dataclass(frozen=True, eq=False)
class Impedance(TaskRecipe):
    """tau = J^T (K e + D e') + N - passive - joint_damping v: the frame is held as by springs, K e = -F at rest under a
    force F.

    `stiffness` and `damping` are one number, one for each direction, or a matrix: [N/m, N m/rad], [N s/m, N m s/rad],
    in world axes (Hogan 1985, with the natural inertia of the robot).

    >>> law = mr.Impedance(frame="m3", goal=robot.frame_pose(q, "m3")[:3, 3], stiffness=200.0, damping=20.0)
    """

    stiffness: ArrayLike = 200.0
    damping: ArrayLike = 20.0
    assumes: ClassVar[tuple[str, ...]] = ("driven", "held", "tree")

    def on(self, robot: Mechanism) -> "ImpedanceLaw":
        return ImpedanceLaw(self, robot)


class ImpedanceLaw(TaskLaw):
    """Impedance for one robot."""

    def __init__(self, recipe: Impedance, robot: Mechanism):
        super().__init__(recipe, robot)
        self._K, self._D = (_matrix(getattr(recipe, x), self._n, x) for x in ("stiffness", "damping"))

    def torque(self, t: float, q: Array, v: Array) -> Array:
        e, e_v, _, J = self.state(t, q, v)
        held = apply(np.swapaxes(J, -1, -2), apply(self._K, e) + apply(self._D, e_v))
        return self._limited(held + self.against(q, v, velocity=False) - self.recipe.joint_damping * v)


@LAWS.register("hybrid")
@dataclass(frozen=True, eq=False)
class HybridForcePosition(TaskRecipe):
    """A force along `normal`, motion across it: tau = J^T (L (P a - Jdot v) + n force) + C v + N - passive, P = 1 - n
    n^T.

    a = xddot_d + kd e' + kp e as in OperationalSpace. On a flat, frictionless wall across n the reaction of the wall is
    `force` [N], as exactly as the model is (Raibert and Craig 1981; Khatib 1987). Along n motion is damped by
    `approach` [N s/m], by default critically for a wall of about the stiffness `wall` [N/m] and the effective mass m of
    the frame along n: whatever the mass of the robot, it settles as exp(-sqrt(wall/m) t). Before contact it approaches
    at force/approach.

    >>> law = mr.HybridForcePosition(frame="m3", goal=robot.frame_pose(q, "m3")[:3, 3], normal=(0, 1, 0), force=2.0)
    """

    normal: Sequence[float] = (0.0, 0.0, -1.0)
    force: float = 0.0  # pushed with, along the normal [N]
    kp: float = 100.0  # [1/s²]
    kd: float = 20.0  # [1/s]
    approach: float | None = None  # [N s/m]; None: 2 sqrt(wall m)
    wall: float = 1e4  # [N/m]
    assumes: ClassVar[tuple[str, ...]] = ("driven", "held", "tree")

    def __post_init__(self) -> None:
        super().__post_init__()
        one_positive(self.wall, "wall")

    def on(self, robot: Mechanism) -> "HybridForcePositionLaw":
        return HybridForcePositionLaw(self, robot)


class HybridForcePositionLaw(TaskLaw):
    """Force and motion for one robot."""

    def __init__(self, recipe: HybridForcePosition, robot: Mechanism):
        super().__init__(recipe, robot)
        n = numbers(recipe.normal, "normal")
        if n.shape != (3,) or not np.linalg.norm(n) > 0:
            raise ControlError(f"normal = {recipe.normal!r:.60}: expected three numbers, not all zero")
        self._normal = np.zeros(self._n)
        self._normal[:3] = n / np.linalg.norm(n)

    def torque(self, t: float, q: Array, v: Array) -> Array:
        e, e_v, ahead, J = self.state(t, q, v)
        n, r = self._normal, self.recipe
        wanted = ahead + r.kd * e_v + r.kp * e
        across = wanted - dot(wanted, n)[..., None] * n
        L, through = self.mobility(q, J)
        push = np.asarray(r.force - self._damping(L) * dot(apply(J, v), n))
        tau = apply(np.swapaxes(J, -1, -2), apply(L, across - self.drift(q, v)) + push[..., None] * n)
        return self._limited(tau + self.idle(v, J, through) + self.against(q, v))

    def _damping(self, L: Array) -> Array | float:
        """Of motion along the normal [N s/m]: 2 sqrt(wall m), m = 1/(n^T L^-1 n) the mass that the frame has there."""
        if self.recipe.approach is not None:
            return self.recipe.approach
        n = np.broadcast_to(self._normal, L.shape[:-1])
        return 2 * sqrt(self.recipe.wall / dot(solve(L, n[..., None])[..., 0], self._normal))


def _goal(goal: Any, n: int) -> Callable[[float], tuple[Array, Array, Array]]:
    """t -> position, rate and acceleration."""
    if callable(goal):
        return lambda t: tuple(as_array(x) for x in goal(t))  # type: ignore[return-value]
    place = numbers(goal, "goal")
    if place.shape not in ((3,), (4, 4)) or (n == 6 and place.shape == (3,)):
        expected = "a pose (4, 4)" if n == 6 else "a point (3,) or a pose (4, 4)"
        raise ControlError(f"goal has shape {place.shape}: expected {expected}, or a function of time")
    still = np.zeros(n)
    return lambda t: (place, still, still)


def _apart(X: Array, place: Array, n: int) -> Array:
    """The error of the frame, (..., n), in world axes: displacement, and rotation about the world's axes."""
    way = (place if place.shape[-1] == 3 else se3.position(place)) - se3.position(X)
    if n == 3:
        return way
    turn = so3.log(se3.rotation(place) @ np.swapaxes(se3.rotation(X), -1, -2))
    return np.concatenate([way, turn], axis=-1)


def _matrix(x: ArrayLike, n: int, what: str) -> Array:
    K = numbers(x, what)
    if K.ndim < 2:
        if K.shape not in ((), (n,)):
            raise ControlError(f"{what} has shape {K.shape}: expected one number, ({n},) or ({n}, {n})")
        K = np.diag(np.broadcast_to(K, (n,)))
    if K.shape != (n, n) or np.linalg.eigvalsh((K + K.T) / 2).min() < 0:
        raise ControlError(f"{what}: expected a positive semidefinite matrix ({n}, {n})")
    return K
