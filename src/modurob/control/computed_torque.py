"""Computed torque: feedback linearisation with linear errors around it."""

from dataclasses import dataclass

from modurob.control.feedback_linearisation import feedback_linearisation
from modurob.control.recipe import LAWS, BoundLaw, Recipe
from modurob.control.reference import Reference, target
from modurob.control.tracking import errors_of
from modurob.control.values import PerJoint, gain, limiter
from modurob.robot import Mechanism
from modurob.simulation import Memoryless
from modurob.spatial.scalars import Array


@LAWS.register("computed-torque")
@dataclass(frozen=True, eq=False)
class ComputedTorque(Recipe):
    """tau = M (vdot_d + Kd e_v + Kp e) + C v + N - passive(q, v), so that e'' + Kd e' + Kp e = 0 (Gutenkunst
    (6.28)-(6.31); Meister, Gutenkunst, Levi (34)-(36)). `passive` are the passive forces of the robot, without dry
    friction and end stops.

    Every joint must have a drive; `partial` linearises the driven joints alone and leaves the others, and a floating
    base, uncontrolled. Gains [1/s², 1/s] are one number, numbers by joint name, or an array (nv,) or (nv, nv).

    >>> law = mr.ComputedTorque(kp=100, kd=20, reference=[0.3, 0.2, -0.4], sample_time=1e-3)
    >>> mr.simulate(robot, q, duration=0.05, controller=law).status.ok
    True
    """

    kp: PerJoint
    kd: PerJoint
    reference: Reference = 0.0
    partial: bool = False

    def on(self, robot: Mechanism) -> "ComputedTorqueLaw":
        return ComputedTorqueLaw(self, robot)


class ComputedTorqueLaw(BoundLaw, Memoryless):
    """Computed torque for one robot."""

    def __init__(self, recipe: ComputedTorque, robot: Mechanism):
        super().__init__(recipe, robot)
        drives = self.drives
        self._inverse = feedback_linearisation(drives, recipe.partial, "ComputedTorque")
        self._target, self._errors = target(recipe.reference, drives), errors_of(drives)
        self._kp, self._kd = gain(recipe.kp, drives, "kp"), gain(recipe.kd, drives, "kd")
        self._limited = limiter(recipe.saturation, drives)

    def torque(self, t: float, q: Array, v: Array) -> Array:
        e, e_v, vdot_d = self._errors(self._target(t), q, v)
        return self._limited(self._inverse(q, v, vdot_d + self._kd(e_v) + self._kp(e)))
