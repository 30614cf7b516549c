"""Tasks as accelerations J vdot + (dJ/dt) v = wanted: joints, points and poses that follow a reference."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from modurob import kernels
from modurob.algorithms.jacobians import moving_point
from modurob.errors import ControlError, explained
from modurob.robot import Mechanism
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array
from modurob.values import Value


class Rows(NamedTuple):
    """J vdot = wanted, (rows, nv) and (rows,)."""

    J: Array
    wanted: Array


@dataclass(frozen=True, eq=False, kw_only=True)
class Task(Value, ABC):
    """A goal with the gains of its errors [1/s², 1/s]; a lower number is a higher priority.

    `reference` is a constant, or a function of time that returns value, rate and acceleration, such as a Trajectory.
    """

    reference: Any = None
    kp: float = 100.0
    kd: float = 20.0
    priority: int = 1

    @abstractmethod
    def rows(self, robot: Mechanism, t: float, q: Array, v: Array) -> Rows:
        """The accelerations that the task commands."""

    def _at(self, t: float, size: tuple[int, ...]) -> tuple[Array, Array, Array]:
        """Value, rate and acceleration."""
        if isinstance(self.reference, Callable):
            x, xdot, xddot = self.reference(t)
        else:
            x, xdot, xddot = self.reference, 0.0, 0.0
        x = np.asarray(x, dtype=float)
        if x.shape != size:
            raise ControlError(f"{type(self).__name__}: reference of shape {x.shape}: expected {size}")
        return x, np.asarray(xdot, dtype=float), np.asarray(xddot, dtype=float)


@explained
@dataclass(frozen=True, eq=False)
class JointTask(Task):
    """Joints with plain coordinates, by name, all their rates in a row, follow a reference, (n,) [rad or m].

    >>> law = mr.WholeBody([mr.JointTask(["m0/hinge", "m2/hinge", "m4/hinge"], reference=[0.1, 0.2, 0.3])])
    >>> mr.simulate(robot, q, duration=0.02, controller=law).status.ok
    True
    """

    joints: Any

    def rows(self, robot: Mechanism, t: float, q: Array, v: Array) -> Rows:
        joints = [robot.joint(name) for name in self.joints]
        rates = np.concatenate([np.r_[j.v_slice] for j in joints])
        places = robot.coordinate_of[rates]
        if (places < 0).any():
            raise ControlError(f"JointTask of {', '.join(self.joints)}: expected joints without quaternions")
        x, xdot, xddot = self._at(t, (len(rates),))
        return Rows(np.eye(robot.nv)[rates], xddot + self.kd * (xdot - v[rates]) + self.kp * (x - q[places]))


@explained
@dataclass(frozen=True, eq=False)
class PointTask(Task):
    """A point fixed in a frame, with the coordinates `point` there, follows a reference in world axes, (3,) [m].

    >>> law = mr.WholeBody([mr.PointTask("m3", reference=robot.frame_pose(q, "m3")[:3, 3])])
    >>> mr.simulate(robot, q, duration=0.02, controller=law).status.ok
    True
    """

    frame: str
    point: Any = (0.0, 0.0, 0.0)

    def rows(self, robot: Mechanism, t: float, q: Array, v: Array) -> Rows:
        x, xdot, xddot = self._at(t, (3,))
        at = moving_point(robot, q, v, self.frame, np.asarray(self.point, dtype=float), kernels.run)
        wanted = xddot + self.kd * (xdot - at.velocity) + self.kp * (x - at.position)
        return Rows(at.J, wanted - at.drift)


@explained
@dataclass(frozen=True, eq=False)
class PoseTask(Task):
    """A frame holds a pose X, (4, 4), or follows a function of time: X, its twist and acceleration in its own axes, (6,).

    >>> law = mr.WholeBody([mr.PoseTask("m3", reference=robot.frame_pose(q, "m3"))])
    >>> mr.simulate(robot, q, duration=0.02, controller=law).status.ok
    True
    """

    frame: str

    def rows(self, robot: Mechanism, t: float, q: Array, v: Array) -> Rows:
        X_d, V_d, A_d = self._at(t, (4, 4))
        X, J = robot.frame_pose(q, self.frame), robot.body_jacobian(q, self.frame)
        if not so3.is_rotation(se3.rotation(X_d), 1e-6):
            raise ControlError(f"PoseTask of {self.frame}: the reference is no pose: expected [[R, p], [0, 1]]")
        error, V = se3.log(se3.inverse(X) @ X_d), J @ v
        wanted = A_d + self.kd * (V_d - V) + self.kp * error
        return Rows(J, wanted - robot.frame_acceleration(q, v, np.zeros(robot.nv), self.frame))
