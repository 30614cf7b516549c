"""Computed torque: feedback linearisation with linear errors around it."""

from collections.abc import Sequence
from dataclasses import dataclass

from modurob.control.drives import Drives
from modurob.control.feedback_linearisation import feedback_linearisation
from modurob.control.reference import Reference, target
from modurob.control.tracking import errors_of
from modurob.control.values import PerJoint, checked_sample_time, gain, limiter
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array


@dataclass(frozen=True, eq=False)
class ComputedTorque:
    """tau = M (vdot_d + Kd e_v + Kp e) + C v + D v + N, so that e'' + Kd e' + Kp e = 0 (000 (6.28)-(6.31), 003 (34)-(36)).

    Every joint must have a drive; `partial` linearises the driven joints alone and leaves the others, and a floating base, to
    themselves. Gains [1/s², 1/s] are one number, numbers by joint name, or an array (nv,) or (nv, nv).
    """

    kp: PerJoint
    kd: PerJoint
    reference: Reference = 0.0
    sample_time: float | None = None  # [s]
    saturation: PerJoint | None = None  # largest torques [N m or N], or "effort" for the joints' own limits
    partial: bool = False
    actuated: Sequence[str] | None = None  # joints with a drive; None: all but a floating base

    def __post_init__(self) -> None:
        checked_sample_time(self.sample_time)

    def on(self, robot: Mechanism) -> "ComputedTorqueLaw":
        """The law for this robot."""
        return ComputedTorqueLaw(self, Drives.of(robot, self.actuated))


class ComputedTorqueLaw:
    """Computed torque for one robot; it has no memory."""

    def __init__(self, recipe: ComputedTorque, drives: Drives):
        self._inverse = feedback_linearisation(drives, recipe.partial, "ComputedTorque")
        self._target, self._errors = target(recipe.reference, drives), errors_of(drives)
        self._kp, self._kd = gain(recipe.kp, drives, "kp"), gain(recipe.kd, drives, "kd")
        self._limited = limiter(recipe.saturation, drives)

    def torque(self, t: float, q: Array, v: Array) -> Array:
        """Generalised forces, (..., nv)."""
        e, e_v, vdot_d = self._errors(self._target(t), q, v)
        return self._limited(self._inverse(q, v, vdot_d + self._kd(e_v) + self._kp(e)))
