"""PID: sampled, with filtered derivative, torque limits, and an integral that does not run away at the limits."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from modurob.control.default_gains import Inertias, inertias, suiting_kd, suiting_kp
from modurob.control.drives import Drives
from modurob.control.feedback_linearisation import feedback_linearisation
from modurob.control.recipe import LAWS, BoundLaw, Recipe
from modurob.control.reference import Reference, target
from modurob.control.tracking import errors_of
from modurob.control.values import PerJoint, limiter, per_rate
from modurob.errors import ControlError, choices
from modurob.motion.numbers import one_positive
from modurob.robot import Mechanism
from modurob.simulation import Measured
from modurob.spatial.scalars import Array, is_numeric, select, solve

ANTI_WINDUP = ("clamping", "back-calculation")
DERIVATIVE = ("error", "measurement")


@LAWS.register("pid")
@dataclass(frozen=True, eq=False)
class PID(Recipe):
    """u = kp e + I + kd d for each joint, with I the integral of ki e and d the filtered rate of e, or of -q (von Stryk
    6.3.6).

    tau = u; gains are in N m/rad, N m/(rad s), N m s/rad, or the corresponding units of prismatic joints. With
    `linearise` u is an acceleration and tau = M (vdot_d + u) + C v + N - passive(q, v) (Gutenkunst 6.2); gains are in
    1/s², 1/s³, 1/s.

    The integral is a sum over samples. While torques are saturated, "clamping" adds nothing that would increase the
    saturation, and "back-calculation" removes the excess at the rate 1/tracking_time. d is computed from the velocity
    of the state through a first-order filter; derivative on "measurement" omits v_d, so that a moving reference causes
    no kick.

    kp and kd that are not given are chosen for the robot: joints alone would be critically damped, at 20 rad/s or as
    fast as the sample time allows. Given gains are used unchanged: a kd above 2 I/sample_time, I the inertia behind the
    joint, diverges.

    >>> law = mr.PID(reference=[0.3, 0.2, -0.4])
    """

    kp: PerJoint | None = None  # None: suits the robot
    ki: PerJoint = 0.0
    kd: PerJoint | None = None  # None: suits the robot
    reference: Reference = 0.0
    sample_time: float = field(default=1e-3, kw_only=True)  # type: ignore[assignment]  # [s]
    anti_windup: Literal["clamping", "back-calculation"] | None = "clamping"
    tracking_time: float | None = None  # [s]; None: the integral time kp/ki
    filter_time: float = 0.0  # time constant [s]
    derivative: Literal["error", "measurement"] = "error"
    linearise: bool = False
    partial: bool = False  # with `linearise`: the driven joints alone, where others have no drive

    def __post_init__(self) -> None:
        super().__post_init__()
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
        return PIDLaw(self, robot)


def _gains(recipe: PID, drives: Drives) -> tuple[Array, Array]:
    """kp and kd of each rate, (nv,) each; those not given suit the robot."""
    kp, kd = (None if k is None else per_rate(k, drives, name) for k, name in ((recipe.kp, "kp"), (recipe.kd, "kd")))
    if kp is not None and kd is not None:
        return kp, kd
    unit = np.isin(np.arange(drives.robot.nv), drives.v).astype(float)
    own = Inertias(unit, 1.0) if recipe.linearise else inertias(drives)
    kp = suiting_kp(own, recipe.sample_time) if kp is None else kp
    return kp, suiting_kd(kp, own, recipe.sample_time) if kd is None else kd


class PIDMemory(NamedTuple):
    """I in the units of u, (..., nv), and the filtered rate, None before the first sample."""

    integral: Array
    rate: Array | None


class PIDLaw(BoundLaw):
    """PID for one robot."""

    def __init__(self, recipe: PID, robot: Mechanism):
        super().__init__(recipe, robot)
        drives = self.drives
        self._mass_matrix, self._nv = drives.robot.mass_matrix, drives.robot.nv
        self._kp, self._kd = _gains(recipe, drives)
        self._ki = per_rate(recipe.ki, drives, "ki")
        self._target, self._errors = target(recipe.reference, drives), errors_of(drives)
        self._limited = limiter(recipe.saturation, drives)
        if recipe.linearise:
            self._inverse = feedback_linearisation(drives, recipe.partial, "PID(linearise=True)")
        T = recipe.sample_time
        self._left = np.exp(-T / recipe.filter_time) if recipe.filter_time else 0.0
        tracking = recipe.tracking_time or np.divide(
            self._kp, self._ki, where=self._ki > 0, out=np.full(drives.robot.nv, np.inf)
        )
        self._taken_back = T / np.maximum(tracking, T)

    def start(self) -> PIDMemory:
        return PIDMemory(np.zeros(self._nv), None)

    def step(self, memory: PIDMemory, t: float, measured: Measured) -> tuple[PIDMemory, Array]:
        q, v = measured
        e, e_v, vdot_d = self._errors(self._target(t), q, v)
        rate = e_v if self.recipe.derivative == "error" else -v
        rate = rate if memory.rate is None else self._left * memory.rate + (1 - self._left) * rate
        u = self._kp * e + memory.integral + self._kd * rate
        tau = self._inverse(q, v, vdot_d + u) if self.recipe.linearise else u
        possible = self._limited(tau)
        return PIDMemory(memory.integral + self._grown(e, q, tau - possible), rate), possible

    def _grown(self, e: Array, q: Array, cut_off: Array) -> Array:
        """What a sample adds to the integral."""
        added = self._ki * self.recipe.sample_time * e
        if self.recipe.anti_windup is None or (is_numeric(cut_off) and not np.any(cut_off)):
            return added
        excess = solve(self._mass_matrix(q), cut_off[..., None])[..., 0] if self.recipe.linearise else cut_off
        if self.recipe.anti_windup == "clamping":
            return select(0.0, excess * added, 0.0, added)
        return added - self._taken_back * excess
