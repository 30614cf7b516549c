"""Kinematic control: rates of the joints from the error of a frame, integrated, and followed by a servo of the joints.

Sepp, Feldotto, Attawia, Heinze 2.6 (transpose), von Stryk 4.4 (inverse, damped): v = J' (rate of the goal + K error), J' one of
J^T, J^+ and J^T (J J^T + damping² 1)^-1.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.control.drives import Drives
from modurob.control.feedback_linearisation import feedback_linearisation
from modurob.control.recipe import LAWS, BoundLaw, Recipe
from modurob.control.reference import Reference, target
from modurob.control.task import POSE, POSITION, Wanted, task
from modurob.control.tracking import errors_of
from modurob.control.values import PerJoint, gain, limiter
from modurob.errors import ControlError
from modurob.kinematics.inverse import InverseKinematics
from modurob.motion.numbers import numbers, one_positive, positive
from modurob.motion.paths import checked_pose
from modurob.registry import Registry
from modurob.robot import Mechanism
from modurob.simulation import Measured
from modurob.spatial import se3
from modurob.spatial.scalars import Array, as_array, select, solve

# J, (..., m, nv), and x, (..., m), and the damping to rates, (..., nv)
Scheme = Callable[[Array, Array, float], Array]
SCHEMES: Registry[Scheme] = Registry("scheme", ControlError)


@SCHEMES.register("transpose")
def transpose(J: Array, x: Array, damping: float = 0.0) -> Array:
    """J^T x: needs no inversion; x = K e makes e^T K e decrease. `damping` is not used."""
    return (np.swapaxes(J, -1, -2) @ x[..., None])[..., 0]


@SCHEMES.register("inverse")
def inverse(J: Array, x: Array, damping: float = 0.0) -> Array:
    """J^+ x: the least rates that do it, or come closest; without bound near singularities. `damping` is not used."""
    return (np.linalg.pinv(J) @ x[..., None])[..., 0]


@SCHEMES.register("damped")
def damped(J: Array, x: Array, damping: float) -> Array:
    """J^T (J J^T + damping² 1)^-1 x: the least |J v - x|² + damping² |v|² (von Stryk 4.4.2)."""
    Jt = np.swapaxes(J, -1, -2)
    return (Jt @ solve(J @ Jt + damping**2 * np.eye(J.shape[-2]), x[..., None]))[..., 0]


@LAWS.register("kinematic")
@dataclass(frozen=True, eq=False)
class KinematicControl(Recipe):
    """v_d = J' (rate of the goal + gain e), q_d its integral from the initial configuration; computed torque makes q
    follow q_d (Sepp et al. 2.6; von Stryk 4.4.1).

    `reference` is the target of `frame`: a pose, (4, 4), a PoseTrajectory, or a joint reference as for other laws; then
    the target is the pose of the frame at these coordinates. `scheme` is "transpose", "inverse" or "damped", `task`
    "pose", "position" or an angle sequence such as "zyx". `frame` is by default that of the last body.

    >>> there = mr.spatial.se3.pose(p=[0.1, 0.0, 0.3])
    >>> law = mr.KinematicControl(there, frame="m3", task="position")
    >>> mr.simulate(robot, q, duration=0.05, controller=law).status.ok
    True
    """

    reference: Any = 0.0
    frame: str | None = None
    task: str = POSE
    scheme: str = "damped"
    gain: ArrayLike = 10.0  # of the task [1/s]
    damping: float = 0.05  # of the damped scheme, in units of J
    kp: PerJoint = 400.0  # of the servo [1/s²]
    kd: PerJoint = 40.0  # [1/s]
    partial: bool = False
    sample_time: float = field(default=1e-3, kw_only=True)  # type: ignore[assignment]  # [s]

    def __post_init__(self) -> None:
        super().__post_init__()
        one_positive(self.sample_time, "sample_time")
        one_positive(self.damping, "damping")
        if positive(self.gain, "gain").ndim > 1:
            raise ControlError(
                f"gain has shape {np.shape(self.gain)}: expected one number, or one for each row of the task"
            )
        _ = SCHEMES[self.scheme]

    def on(self, robot: Mechanism) -> "KinematicLaw":
        return KinematicLaw(self, robot)


class KinematicMemory(NamedTuple):
    """Time of the last sample [s], and the joints' reference then: (..., nq) and (..., nv); None before the first."""

    t: float | None = None
    q: Array | None = None
    v: Array | None = None


class KinematicLaw(BoundLaw):
    """Kinematic control for one robot."""

    def __init__(self, recipe: KinematicControl, robot: Mechanism):
        super().__init__(recipe, robot)
        drives = self.drives
        if drives.robot.constraints:
            raise ControlError(f"KinematicControl on {robot.name}: it has loops: expected a tree")
        self.model, self.frame = drives.robot, recipe.frame or drives.robot.bodies[-1]
        self.model.frame(self.frame)
        self._goal = goal(recipe.reference, drives, self.frame)
        self._task, self._scheme = task(recipe.task, self.model, self.frame), SCHEMES[recipe.scheme]
        self._gain = np.asarray(recipe.gain, dtype=float)
        rows = self._task(self.model.neutral(), self._goal(0.0)).error.shape[-1]
        if self._gain.shape not in ((), (rows,)):
            raise ControlError(
                f"gain has shape {self._gain.shape}: expected one number, or ({rows},) for {recipe.task!r}"
            )
        self._inverse = feedback_linearisation(drives, recipe.partial, "KinematicControl")
        self._errors, self._limited = errors_of(drives), limiter(recipe.saturation, drives)
        self._kp, self._kd = gain(recipe.kp, drives, "kp"), gain(recipe.kd, drives, "kd")
        self._q_driven = np.isin(np.arange(self.model.nq), drives.q)
        self._v_driven = np.isin(np.arange(self.model.nv), drives.v)

    def reach(self, q: ArrayLike | None = None, t: float = 0.0) -> InverseKinematics:
        """Whether the goal at time t can be reached at all, known before anything moves: configurations that reach it, the nearest
        to q first; .reached, .note and .residual say if none does, and how near the robot gets.

        >>> far = mr.KinematicControl(mr.spatial.se3.pose(p=[0.9, 0.6, 0.3]), "wrist/centre").on(mr.load("lwa4p").robot()).reach()
        >>> bool(far.reached), far.note, round(float(far.residual[0]), 5)
        (False, 'out of reach', 0.43083)
        """
        X = self._goal(t).pose
        aim = se3.position(X) if self.recipe.task == POSITION else X
        return self.model.inverse_kinematics(self.frame, aim, q)

    def error(self, t: float, q: Array) -> Array:
        """The error of the task at time t in configurations q, (..., m)."""
        return self._task(as_array(q), self._goal(t)).error

    def rates(self, t: float, q: Array) -> Array:
        """v_d at time t in configurations q, (..., nv); zero where there is no drive."""
        e, J, rate = self._task(as_array(q), self._goal(t))
        return self._scheme(J * self._v_driven, rate + self._gain * e, self.recipe.damping)

    def advanced(self, t: float, q: Array, dt: float) -> Array:
        """q after dt [s] of its rates, by the Runge-Kutta rule of fourth order."""
        k1 = self.rates(t, q)
        k2 = self.rates(t + dt / 2, self.model.integrate(q, k1 * dt / 2))
        k3 = self.rates(t + dt / 2, self.model.integrate(q, k2 * dt / 2))
        k4 = self.rates(t + dt, self.model.integrate(q, k3 * dt))
        return self.model.integrate(q, (k1 + 2 * k2 + 2 * k3 + k4) * dt / 6)

    def motion(self, q: ArrayLike, times: ArrayLike) -> Array:
        """The joints' reference alone at the times, (k,) [s], from q, (..., nq), at the first: (k, ..., nq)."""
        t = numbers(times, "times")
        found = [np.asarray(q, dtype=float)]
        for start, dt in zip(t[:-1].tolist(), np.diff(t).tolist(), strict=True):
            found.append(self.advanced(start, found[-1], dt))
        return np.stack(found)

    def start(self) -> KinematicMemory:
        return KinematicMemory()

    def step(self, memory: KinematicMemory, t: float, measured: Measured) -> tuple[KinematicMemory, Array]:
        q, v = measured
        dt = 0.0 if memory.t is None else t - memory.t
        q_d = q if memory.q is None else self.advanced(t - dt, np.where(self._q_driven, memory.q, q), dt)
        v_d = self.rates(t, q_d)
        # a sample that comes at once changes nothing
        pace = select(0.0, dt, 1.0, 0.0) / select(0.0, dt, dt, 1.0)
        vdot_d = np.zeros(v.shape) if memory.v is None else (v_d - memory.v) * pace
        e, e_v, ahead = self._errors((q_d, v_d, vdot_d), q, v)
        tau = self._inverse(q, v, ahead + self._kd(e_v) + self._kp(e))
        return KinematicMemory(t, q_d, v_d), self._limited(tau)


def goal(reference: Any, drives: Drives, frame: str) -> Callable[[float], Wanted]:
    """Where the frame should be over time: from a pose, a PoseTrajectory or a function like it, or a reference of joints."""
    poses: Any = reference
    if callable(reference):
        first = poses(0.0)
        if isinstance(first, tuple) and np.shape(first[0])[-2:] == (4, 4):
            return lambda t: Wanted(*poses(t)[:2])
    elif not isinstance(reference, dict) and np.shape(reference)[-2:] == (4, 4):
        still = Wanted(checked_pose(reference, "reference"), np.zeros(6))
        return lambda t: still
    return _of_joints(poses, drives, frame)


def _of_joints(reference: Reference, drives: Drives, frame: str) -> Callable[[float], Wanted]:
    """Where the frame is for a reference of the joints."""
    motion, robot = target(reference, drives), drives.robot

    def wanted(t: float) -> Wanted:
        q, v, _ = motion(t)
        return Wanted(robot.frame_pose(q, frame), robot.frame_twist(q, v, frame))

    return wanted
