"""State feedback of least cost about a set point, also for robots with fewer drives than degrees of freedom."""

from dataclasses import dataclass, field

import numpy as np

from modurob import kernels
from modurob.algorithms import passive_forces
from modurob.control.design import lqr
from modurob.control.drives import Drives, movable
from modurob.control.feedback_linearisation import without_stops
from modurob.control.linear import linearised
from modurob.control.recipe import LAWS, BoundLaw, Recipe
from modurob.control.reference import Motion, Reference, target
from modurob.control.tracking import errors_of
from modurob.control.values import PerJoint, limiter, per_rate
from modurob.errors import ControlError
from modurob.robot import Mechanism
from modurob.simulation import Memoryless
from modurob.spatial.scalars import Array

# torques that a passive joint may need at rest, of the largest torque at all
NOTHING = 1e-9


@LAWS.register("lqr")
@dataclass(frozen=True, eq=False)
class LQR(Recipe):
    """tau = tau_d + K (e, -v), with K minimising the integral of dq² position + v² velocity + dtau² effort near the set
    point.

    The set point is an equilibrium under tau_d: joints without a drive must be in equilibrium there by themselves.
    Weights are one number, numbers by joint name or an array, for all joints [1/rad² or 1/m²; s²/rad²; 1/(N m)²]; a
    floating base is one of them. K is that of the robot sampled every `sample_time`; None: of one in continuous time, whose
    torques steps can hold too long where a joint moves little inertia.

    >>> law = mr.LQR(reference=[0.3, 0.2, -0.4], position=100.0, effort=0.1)
    >>> law.on(robot).K.shape
    (3, 6)
    """

    reference: Reference = 0.0
    position: PerJoint = 1.0  # [1/rad² or 1/m²]
    velocity: PerJoint = 1.0  # [s²/rad² or s²/m²]
    effort: PerJoint = 1.0  # [1/(N m)² or 1/N²], of the driven joints
    sample_time: float | None = field(default=1e-3, kw_only=True)  # [s]

    def on(self, robot: Mechanism) -> "LQRLaw":
        return LQRLaw(self, robot)


class LQRLaw(BoundLaw, Memoryless):
    """State feedback for one robot."""

    def __init__(self, recipe: LQR, robot: Mechanism):
        super().__init__(recipe, robot)
        robot = without_stops(self.drives.robot)
        if robot.constraints:
            raise ControlError(f"LQR on {robot.name}, which has loops: expected a tree")
        drives = Drives(robot, self.drives.joints)
        everywhere = Drives(robot, movable(robot))
        self._set_point = _set_point(recipe, everywhere)
        self._tau = _holding(self._set_point[0], drives)
        weights = [per_rate(getattr(recipe, name), everywhere, name) for name in ("position", "velocity")]
        effort = per_rate(recipe.effort, drives, "effort")[drives.v]
        A, B = linearised(robot, self._set_point[0], tau=self._tau, actuated=recipe.actuated)
        self.K = np.zeros((robot.nv, 2 * robot.nv))
        self.K[drives.v] = lqr(A, B, np.diag(np.concatenate(weights)), np.diag(effort), recipe.sample_time)
        self._errors = errors_of(everywhere)
        self._limited = limiter(recipe.saturation, drives)

    def torque(self, t: float, q: Array, v: Array) -> Array:
        e, e_v, _ = self._errors(self._set_point, q, v)
        return self._limited(self._tau + np.concatenate([e, e_v], axis=-1) @ self.K.T)


def _set_point(recipe: LQR, everywhere: Drives) -> Motion:
    """The configuration to hold, at rest."""
    at = target(recipe.reference, everywhere)
    if at(0.0) is not at(1.0) or at(0.0)[0].ndim > 1:
        raise ControlError(
            "LQR holds one set point: expected numbers as reference, not a motion and not many set points"
        )
    return at(0.0)


def _holding(q: Array, drives: Drives) -> Array:
    """The torques that hold the robot there, (nv,)."""
    robot = drives.robot
    tau = robot.gravity_forces(q) - passive_forces(robot, q, np.zeros(robot.nv), run=kernels.run)
    for joint in movable(robot):
        needed = np.abs(tau[joint.v_slice]).max()
        if joint not in drives.joints and needed > NOTHING * max(1.0, np.abs(tau).max()):
            raise ControlError(
                f"LQR on {robot.name}: joint {joint.name} has no drive, but needs {needed:.3g} to rest at the set point: "
                "expected an equilibrium"
            )
    return tau
