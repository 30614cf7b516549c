"""Torques from the model beside linear feedback: gravity compensation and feed-forward."""

from dataclasses import dataclass

import numpy as np

from modurob.control.coupling import felt
from modurob.control.feedback_linearisation import inverse_model
from modurob.control.recipe import LAWS, BoundLaw, Recipe
from modurob.control.reference import Reference, target
from modurob.control.tracking import errors_of
from modurob.control.values import PerJoint, gain, limiter
from modurob.robot import Mechanism
from modurob.simulation import Memoryless
from modurob.spatial.scalars import Array


@LAWS.register("gravity")
@dataclass(frozen=True, eq=False)
class GravityCompensation(Recipe):
    """tau = N(q) + Kp e + Kd e_v: with zero gains the robot stays where it is put, otherwise it moves to its reference.

    Gains [N m/rad, N m s/rad; N/m, N s/m] are as in ComputedTorque. Joints without a drive get no torque. In free space
    no weight acts on the joints of a floating robot, P^T N = 0 (see `Coupling`); on the ground they get N.

    >>> rests = mr.simulate(robot, q, duration=0.05, controller=mr.GravityCompensation())
    >>> bool(np.allclose(rests.q[-1], q))
    True
    """

    kp: PerJoint = 0.0
    kd: PerJoint = 0.0
    reference: Reference = 0.0

    def on(self, robot: Mechanism) -> "GravityCompensationLaw":
        return GravityCompensationLaw(self, robot)


class GravityCompensationLaw(BoundLaw, Memoryless):
    """Gravity compensation for one robot."""

    def __init__(self, recipe: GravityCompensation, robot: Mechanism):
        super().__init__(recipe, robot)
        drives = self.drives
        self._gravity_forces, self._felt = drives.robot.gravity_forces, felt(drives, robot)
        self._target, self._errors = target(recipe.reference, drives), errors_of(drives)
        self._kp, self._kd = gain(recipe.kp, drives, "kp"), gain(recipe.kd, drives, "kd")
        self._limited = limiter(recipe.saturation, drives)

    def torque(self, t: float, q: Array, v: Array) -> Array:
        e, e_v, _ = self._errors(self._target(t), q, v)
        return self._limited(self._felt(q).torque(self._gravity_forces(q)) + self._kp(e) + self._kd(e_v))


@LAWS.register("feed-forward")
@dataclass(frozen=True, eq=False)
class FeedForward(Recipe):
    """tau = M(q_d) vdot_d + C(q_d, v_d) v_d + N(q_d) - passive(q_d, v_d) + Kp e + Kd e_v; with zero gains feed-forward
    alone (von Stryk 6.3.1). `passive` are the passive forces of the robot, without dry friction and end stops.

    Gains are in N m/rad and N m s/rad, or N/m and N s/m. Joints without a drive get no torque; the model uses their
    measured positions and velocities, and the motion of a floating base in free space follows from the dynamics.

    >>> reach = mr.Trajectory.quintic(q, [0.0, 0.0, 0.0], duration=0.5)
    >>> moved = mr.simulate(robot, q, duration=0.1, controller=mr.FeedForward(reach, kp=20.0, kd=2.0))
    >>> moved.status.ok
    True
    """

    reference: Reference
    kp: PerJoint = 0.0
    kd: PerJoint = 0.0

    def on(self, robot: Mechanism) -> "FeedForwardLaw":
        return FeedForwardLaw(self, robot)


class FeedForwardLaw(BoundLaw, Memoryless):
    """Feed-forward for one robot."""

    def __init__(self, recipe: FeedForward, robot: Mechanism):
        super().__init__(recipe, robot)
        drives = self.drives
        self._inverse, self._felt = inverse_model(drives.robot), felt(drives, robot)
        self._target, self._errors = target(recipe.reference, drives), errors_of(drives)
        self._kp, self._kd = gain(recipe.kp, drives, "kp"), gain(recipe.kd, drives, "kd")
        self._limited = limiter(recipe.saturation, drives)
        self._q_driven = np.isin(np.arange(drives.robot.nq), drives.q)
        self._v_driven = np.isin(np.arange(drives.robot.nv), drives.v)

    def torque(self, t: float, q: Array, v: Array) -> Array:
        q_d, v_d, vdot_d = motion = self._target(t)
        e, e_v, _ = self._errors(motion, q, v)
        q_d, v_d = np.where(self._q_driven, q_d, q), np.where(self._v_driven, v_d, v)
        ahead = self._felt(q_d).torque(self._inverse(q_d, v_d, vdot_d))
        return self._limited(ahead + self._kp(e) + self._kd(e_v))
