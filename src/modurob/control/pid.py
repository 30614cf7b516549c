"""PID: sampled, with filtered derivative, torque limits, and an integral that does not run away at the limits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from modurob.control.drives import Drives
from modurob.control.feedback_linearisation import feedback_linearisation
from modurob.control.reference import Reference, target
from modurob.control.tracking import errors_of
from modurob.control.values import PerJoint, limiter, one_positive, per_freedom
from modurob.errors import ControlError, choices
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array, solve

ANTI_WINDUP = ("clamping", "back-calculation")
DERIVATIVE = ("error", "measurement")


@dataclass(frozen=True, eq=False)
class PID:
    """u = kp e + I + kd d for each joint, with I the integral of ki e and d the filtered rate of e, or of -q (001 6.3.6).

    tau = u; gains are in N m/rad, N m/(rad s), N m s/rad, or the like for joints that slide. With `linearise` u is an acceleration
    and tau = M (vdot_d + u) + C v + D v + N (000 6.2); gains are in 1/s², 1/s³, 1/s.

    The integral is a sum over samples. Where limits cut torques off, "clamping" adds nothing that would drive them further off,
    "back-calculation" takes back what was cut off at the rate 1/tracking_time. d comes from the velocity in the state, through a
    filter of first order; derivative on "measurement" leaves out v_d, so that a moving reference gives no push.
    """

    kp: PerJoint
    ki: PerJoint = 0.0
    kd: PerJoint = 0.0
    reference: Reference = 0.0
    sample_time: float = 1e-3  # [s]
    saturation: PerJoint | None = None  # largest torques [N m or N], or "effort" for the joints' own limits
    anti_windup: Literal["clamping", "back-calculation"] | None = "clamping"
    tracking_time: float | None = None  # [s]; None: the integral time kp/ki
    filter_time: float = 0.0  # time constant [s]
    derivative: Literal["error", "measurement"] = "error"
    linearise: bool = False
    partial: bool = False  # with `linearise`: the driven joints alone, where others have no drive
    actuated: Sequence[str] | None = None  # joints with a drive; None: all but a floating base

    def __post_init__(self) -> None:
        one_positive(self.sample_time, "sample_time")
        if self.anti_windup is not None and self.anti_windup not in ANTI_WINDUP:
            raise ControlError(
                f"anti_windup {self.anti_windup!r}: {choices(str(self.anti_windup), ANTI_WINDUP)}, or None"
            )
        if self.derivative not in DERIVATIVE:
            raise ControlError(f"derivative on {self.derivative!r}: {choices(str(self.derivative), DERIVATIVE)}")
        if self.tracking_time is not None:
            one_positive(self.tracking_time, "tracking_time")
        if self.filter_time != 0:
            one_positive(self.filter_time, "filter_time")

    def on(self, robot: Mechanism) -> "PIDLaw":
        """The law for this robot, with nothing in its memory."""
        return PIDLaw(self, Drives.of(robot, self.actuated))


class PIDLaw:
    """PID for one robot. `integral` is I, in the units of u, (..., nv)."""

    def __init__(self, recipe: PID, drives: Drives):
        self._recipe, self._mass_matrix = recipe, drives.robot.mass_matrix
        self._kp, self._ki, self._kd = (per_freedom(getattr(recipe, k), drives, k) for k in ("kp", "ki", "kd"))
        self._target, self._errors = target(recipe.reference, drives), errors_of(drives)
        self._limited = limiter(recipe.saturation, drives)
        if recipe.linearise:
            self._inverse = feedback_linearisation(drives, recipe.partial, "PID(linearise=True)")
        T = recipe.sample_time
        self._memory = np.exp(-T / recipe.filter_time) if recipe.filter_time else 0.0
        tracking = recipe.tracking_time or np.divide(
            self._kp, self._ki, where=self._ki > 0, out=np.full(drives.robot.nv, np.inf)
        )
        self._taken_back = T / np.maximum(tracking, T)
        self._rate: Array | None = None
        self.integral: Array = np.zeros(drives.robot.nv)

    def torque(self, t: float, q: Array, v: Array) -> Array:
        """Generalised forces, (..., nv), at the next sample."""
        e, e_v, vdot_d = self._errors(self._target(t), q, v)
        rate = e_v if self._recipe.derivative == "error" else -v
        self._rate = rate if self._rate is None else self._memory * self._rate + (1 - self._memory) * rate
        u = self._kp * e + self.integral + self._kd * self._rate
        tau = self._inverse(q, v, vdot_d + u) if self._recipe.linearise else u
        possible = self._limited(tau)
        self.integral = self.integral + self._grown(e, q, tau - possible)
        return possible

    def _grown(self, e: Array, q: Array, cut_off: Array) -> Array:
        """What a sample adds to the integral."""
        added = self._ki * self._recipe.sample_time * e
        if self._recipe.anti_windup is None or not np.any(cut_off):
            return added
        excess = solve(self._mass_matrix(q), cut_off[..., None])[..., 0] if self._recipe.linearise else cut_off
        if self._recipe.anti_windup == "clamping":
            return np.where(excess * added > 0, 0.0, added)
        return added - self._taken_back * excess
