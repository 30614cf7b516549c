"""Torques from the model beside linear feedback: gravity compensation and feed-forward."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modurob.control.drives import Drives
from modurob.control.feedback_linearisation import inverse_model
from modurob.control.reference import Reference, target
from modurob.control.tracking import errors_of
from modurob.control.values import PerJoint, checked_sample_time, gain, limiter
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array


@dataclass(frozen=True, eq=False)
class GravityCompensation:
    """tau = N(q) + Kp e + Kd e_v: with gains of zero the robot stays where it is put, with others it goes to its reference.

    Gains [N m/rad, N m s/rad; N/m, N s/m] are as in ComputedTorque. Freedoms without a drive get no torque.
    """

    kp: PerJoint = 0.0
    kd: PerJoint = 0.0
    reference: Reference = 0.0
    sample_time: float | None = None  # [s]
    saturation: PerJoint | None = None  # largest torques [N m or N], or "effort" for the joints' own limits
    actuated: Sequence[str] | None = None  # joints with a drive; None: all but a floating base

    def __post_init__(self) -> None:
        checked_sample_time(self.sample_time)

    def on(self, robot: Mechanism) -> "GravityCompensationLaw":
        """The law for this robot."""
        return GravityCompensationLaw(self, Drives.of(robot, self.actuated))


class GravityCompensationLaw:
    """Gravity compensation for one robot; it has no memory."""

    def __init__(self, recipe: GravityCompensation, drives: Drives):
        self._gravity_forces = drives.robot.gravity_forces
        self._target, self._errors = target(recipe.reference, drives), errors_of(drives)
        self._kp, self._kd = gain(recipe.kp, drives, "kp"), gain(recipe.kd, drives, "kd")
        self._limited = limiter(recipe.saturation, drives)

    def torque(self, t: float, q: Array, v: Array) -> Array:
        """Generalised forces, (..., nv)."""
        e, e_v, _ = self._errors(self._target(t), q, v)
        return self._limited(self._gravity_forces(q) + self._kp(e) + self._kd(e_v))


@dataclass(frozen=True, eq=False)
class FeedForward:
    """tau = M(q_d) vdot_d + C(q_d, v_d) v_d + D v_d + N(q_d) + Kp e + Kd e_v; with gains of zero feed-forward alone (001 6.3.1).

    Freedoms without a drive get no torque; the model takes their positions and rates from the robot.
    """

    reference: Reference
    kp: PerJoint = 0.0
    kd: PerJoint = 0.0
    sample_time: float | None = None  # [s]
    saturation: PerJoint | None = None  # largest torques [N m or N], or "effort" for the joints' own limits
    actuated: Sequence[str] | None = None  # joints with a drive; None: all but a floating base

    def __post_init__(self) -> None:
        checked_sample_time(self.sample_time)

    def on(self, robot: Mechanism) -> "FeedForwardLaw":
        """The law for this robot."""
        return FeedForwardLaw(self, Drives.of(robot, self.actuated))


class FeedForwardLaw:
    """Feed-forward for one robot; it has no memory."""

    def __init__(self, recipe: FeedForward, drives: Drives):
        self._inverse = inverse_model(drives.robot)
        self._target, self._errors = target(recipe.reference, drives), errors_of(drives)
        self._kp, self._kd = gain(recipe.kp, drives, "kp"), gain(recipe.kd, drives, "kd")
        self._limited = limiter(recipe.saturation, drives)
        self._q_driven = np.isin(np.arange(drives.robot.nq), drives.q)
        self._v_driven = np.isin(np.arange(drives.robot.nv), drives.v)

    def torque(self, t: float, q: Array, v: Array) -> Array:
        """Generalised forces, (..., nv)."""
        q_d, v_d, vdot_d = motion = self._target(t)
        e, e_v, _ = self._errors(motion, q, v)
        ahead = self._inverse(np.where(self._q_driven, q_d, q), np.where(self._v_driven, v_d, v), vdot_d)
        return self._limited(ahead + self._kp(e) + self._kd(e_v))
