"""Gains of nested loops around current, speed and angle of a drive, for the inertia it moves.

The joint is 1/(I s + b): inertia I with its rotor, viscous friction b; the winding 1/(L s + R). Loops are nested: the current loop
is a PI controller, the speed loop tau = K (1 + 1/(T s)) e, the angle's a gain.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.catalogue.drives import Drive, Loops
from modurob.catalogue.drives.library import drive_of
from modurob.errors import ControlError, choices, explained
from modurob.motion.numbers import one_number, one_positive

METHODS = ("cancellation", "symmetric", "poles")


class CascadeGains(NamedTuple):
    """Gains of the three loops, and the plant they are for."""

    position_gain: float  # [1/s]
    speed_gain: float  # [N m s/rad]
    speed_integral: float  # [N m/rad]
    current_gain: float  # [V/A]; zero: no loop around the current
    current_integral: float  # [V/(A s)]
    inertia: float  # [kg m²]
    viscous: float  # [N m s/rad]
    current_time: float = 0.0  # closed current loop, time constant [s]

    def loops(self, sample_time: float = 0.0, loop_time: float = 0.0, speed_limit: float = np.inf) -> Loops:
        """The gains as loops inside a drive, sampled or continuous.

        >>> mr.cascade(mr.load_drive("powerball-small"), inertia=0.2).loops(sample_time=1e-3).sample_time
        0.001
        """
        return Loops(
            self.current_gain,
            self.current_integral,
            loop_time,
            0.0 if loop_time else self.current_time,
            self.position_gain,
            self.speed_gain,
            self.speed_integral,
            speed_limit,
            sample_time,
        )

    def equivalent_pid(self) -> TwoDegreePID:
        """The PID controller with the same feedback path, and the weight that makes its reference path the same too.

        With T = speed_gain/speed_integral and K = speed_integral: P = Kp K T + K, I = Kp K, D = K T, b = Kp T/(1 + Kp T). On the
        error alone (b = 1, derivative of the error) the reference path gains the factor 1 + s/Kp, and overshoots.

        >>> pid = mr.cascade_of(inertia=0.24, viscous=0.8, damping_ratio=0.9, settling_time=1.0).equivalent_pid()
        >>> [round(x, 4) for x in pid]
        [11.1407, 15.8025, 1.92, 0.4255]
        """
        T = self.speed_gain / self.speed_integral
        Kp, K = self.position_gain, self.speed_integral
        return TwoDegreePID(Kp * K * T + K, Kp * K, K * T, Kp * T / (1 + Kp * T))


class TwoDegreePID(NamedTuple):
    """u = P (b r - y) + I integral(r - y) - D dy/dt."""

    kp: float  # [N m/rad]
    ki: float  # [N m/(rad s)]
    kd: float  # [N m s/rad]
    weight: float  # b


@explained
def cascade(drive: Drive | str, inertia: float, method: str = "cancellation", **wishes: Any) -> CascadeGains:
    """Gains for a drive, or the one of that name, with a load of `inertia` [kg m²], without its rotor; `cascade_of` describes
    the methods and specifications.

    The current loop has the time constant `current_time` [s], by default a tenth of L/R, designed by cancellation: gain
    L/current_time, integral R/current_time.

    >>> gains = mr.cascade(mr.load_drive("powerball-large"), inertia=0.8, damping_ratio=0.9, settling_time=0.5)
    >>> round(gains.position_gain, 3)
    4.938
    """
    drive, load = drive_of(drive), one_number(inertia, "inertia")
    if load < 0:
        raise ControlError(f"inertia = {load}: expected zero or more")
    motor, time = drive.motor, wishes.pop("current_time", None)
    found = cascade_of(load + drive.rotor, drive.viscous, method, **wishes)
    if not motor.inductance:
        return found
    time = motor.electrical_time_constant / 10 if time is None else one_positive(time, "current_time")
    return found._replace(
        current_gain=motor.inductance / time, current_integral=motor.resistance / time, current_time=time
    )


@explained
def cascade_of(
    inertia: float,
    viscous: float = 0.0,
    method: Literal["cancellation", "symmetric", "poles"] | str = "cancellation",
    damping_ratio: float = 0.9,
    settling_time: float = 1.0,
    lag: float = 0.0,
    poles: ArrayLike | None = None,
) -> CascadeGains:
    """Gains of speed and angle loops for 1/(inertia s + viscous).

    "cancellation": the zero of the speed loop cancels the joint's pole, and the angle follows with s² + 2 z w s + w²,
    w = 4/(z settling_time): speed_integral = 2 z w viscous, speed_gain = 2 z w inertia, position_gain = w/(2 z).
    "symmetric": the symmetric optimum of Kessler for an integrating joint behind a `lag` [s] of current loop, sampling
    and filters: speed_gain = inertia/(2 lag), speed_integral = speed_gain/(4 lag), position_gain = 1/(16 lag), well
    damped. "poles": three poles of the closed loop [1/s].

    >>> gains = mr.cascade_of(inertia=0.24, viscous=0.8, damping_ratio=0.9, settling_time=1.0)
    >>> round(gains.speed_integral, 3), round(gains.position_gain, 3)
    (6.4, 2.469)
    """
    I = one_positive(inertia, "inertia")
    b = 0.0 if viscous == 0 else one_positive(viscous, "viscous")
    if method == "cancellation":
        return _by_cancellation(
            I, b, one_positive(damping_ratio, "damping_ratio"), one_positive(settling_time, "settling_time")
        )
    if method == "symmetric":
        return _symmetric(I, b, one_positive(lag, "lag"))
    if method == "poles":
        return _by_poles(I, b, poles)
    raise ControlError(f"method {method!r:.60}: {choices(str(method), METHODS)}")


def _by_cancellation(I: float, b: float, z: float, settling: float) -> CascadeGains:
    w = 4 / (z * settling)
    if b == 0:
        raise ControlError("cancellation needs viscous friction above zero: expected method='symmetric' or 'poles'")
    return CascadeGains(w / (2 * z), 2 * z * w * I, 2 * z * w * b, 0.0, 0.0, I, b)


def _symmetric(I: float, b: float, lag: float) -> CascadeGains:
    gain = I / (2 * lag)
    return CascadeGains(1 / (16 * lag), gain, gain / (4 * lag), 0.0, 0.0, I, b)


def _by_poles(I: float, b: float, poles: Any) -> CascadeGains:
    """I s³ + (b + K) s² + (Ki + K Kp) s + Ki Kp = I times the desired polynomial."""
    p = np.atleast_1d(np.asarray([] if poles is None else poles, dtype=complex))
    if p.shape != (3,) or not np.all(np.real(p) < 0) or not np.allclose(np.sort_complex(p), np.sort_complex(p.conj())):
        raise ControlError(f"poles = {poles!r:.60}: expected three, left of the imaginary axis, complex ones in pairs")
    _, a2, a1, a0 = np.real(np.poly(p))
    K = a2 * I - b
    if not K > 0:
        raise ControlError(
            f"poles {poles!r:.60} are slower than the joint's own friction: expected a sum below {-b / I:g}/s"
        )
    # K Kp² - a1 I Kp + a0 I = 0
    Kp = np.roots([K, -a1 * I, a0 * I])
    real = Kp[np.abs(Kp.imag) < 1e-9 * np.abs(Kp)].real
    good = [x for x in real if x > 0 and a1 * I - K * x > 0]
    if not good:
        raise ControlError(f"poles {poles!r:.60}: no cascade has them: expected one of them slower than the others")
    return CascadeGains(min(good), K, a1 * I - K * min(good), 0.0, 0.0, I, b)
