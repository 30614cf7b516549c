"""Nested loops as linear systems: margins, step responses, and the largest sample time. With python-control."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.linalg import expm

from modurob.control.cascade_design import CascadeGains
from modurob.errors import ControlError, choices
from modurob.spatial.scalars import Array

DIFFERENCES = ("backward", "tustin")


def python_control() -> Any:
    """The package `control`."""
    try:
        return import_module("control")
    except ImportError:
        raise ControlError("this needs python-control: pip install 'modurob[control]'") from None


class Step(NamedTuple):
    """The characteristics of a step response."""

    overshoot: float  # share of the step
    rise: float  # 90 % first reached [s]
    settled: float  # within 2 % from then on [s]


class Margins(NamedTuple):
    """How far an open loop is from instability."""

    gain: float
    phase: float  # [rad]
    delay: float  # [s]
    crossover: float  # [rad/s]
    sensitivity: float  # the largest |S|


def open_loop(gains: CascadeGains, current_loop: bool = False) -> Any:
    """The loop cut at the angle, a transfer function: (Kp + s) (K s + Ki)/s / (I s + b) / s.

    >>> loop = mr.control.open_loop(mr.cascade_of(inertia=0.24, viscous=0.8))
    >>> len(loop.poles())
    3
    """
    tf = python_control().tf
    torque = tf([gains.speed_gain, gains.speed_integral], [1.0, 0.0])
    if current_loop and gains.current_time:
        torque = torque * tf([1.0], [gains.current_time, 1.0])
    return tf([1.0, gains.position_gain], [1.0]) * torque * tf([1.0], [gains.inertia, gains.viscous, 0.0])


def reference_response(gains: CascadeGains) -> Any:
    """The angle over its reference, a transfer function: Kp L/((Kp + s) (1 + L)) with L the open loop."""
    control, loop = python_control(), open_loop(gains)
    return control.minreal(
        control.tf([gains.position_gain], [1.0, gains.position_gain]) * loop / (1 + loop), verbose=False
    )


def disturbance_response(gains: CascadeGains) -> Any:
    """The angle over a torque on the joint, a transfer function [rad/(N m)]."""
    control = python_control()
    joint = control.tf([1.0], [gains.inertia, gains.viscous, 0.0])
    return control.minreal(joint / (1 + open_loop(gains)), verbose=False)


def margins(gains: CascadeGains) -> Margins:
    """Margins of the loop cut at the angle, by python-control.

    >>> round(float(np.rad2deg(mr.control.margins(mr.cascade_of(inertia=0.24, viscous=0.8)).phase)), 1)
    73.5
    """
    control, loop = python_control(), open_loop(gains)
    gain, phase, _, _, crossover, _ = control.stability_margins(loop)
    w = np.logspace(-2, 3, 2000) * crossover
    S = 1 / (1 + loop(1j * w))
    return Margins(gain, np.deg2rad(phase), np.deg2rad(phase) / crossover, crossover, float(np.abs(S).max()))


def step_of(system: Any, duration: float, ticks: int = 20001) -> Step:
    """Overshoot, rise and settling of a step response, by python-control."""
    t = np.linspace(0, duration, ticks)
    return step_in(t, np.asarray(python_control().step_response(system, t).outputs))


def step_in(t: Array, y: Array) -> Step:
    """The same of a recorded response to a unit step."""
    outside = np.flatnonzero(np.abs(y - 1) > 0.02)
    settled = t[min(outside[-1] + 1, len(t) - 1)] if len(outside) else t[0]
    return Step(float(y.max() - 1), float(t[np.argmax(y >= 0.9)]), float(settled))


def sampled_loop(
    gains: CascadeGains,
    sample_time: float,
    rule: Literal["backward", "tustin"] = "tustin",
    delay: int = 0,
    differenced: bool = False,
) -> tuple[Array, Array]:
    """The loop sampled every `sample_time` [s], x' = A x + B r with x = (q, v, integral, last error, last angle, torques
    on their way).

    The joint is taken exactly (zero-order hold); the integral by the rule; `delay` is in samples; `differenced` takes the speed
    from the last two angles.
    """
    if rule not in DIFFERENCES:
        raise ControlError(f"rule {rule!r:.60}: {choices(str(rule), DIFFERENCES)}")
    T, own = sample_time, np.zeros((3, 3))
    own[0, 1], own[1, 1], own[1, 2] = 1.0, -gains.viscous / gains.inertia, 1 / gains.inertia
    held = expm(own * T)
    n = 5 + delay
    one, r = np.eye(n), n
    q, v, z, last, seen = (np.append(row, 0.0) for row in one[:5])
    reference = np.append(np.zeros(n), 1.0)
    rate = (q - seen) / T if differenced else v
    e = gains.position_gain * (reference - q) - rate
    total = z + gains.speed_integral * T * (e if rule == "backward" else (e + last) / 2)
    torque = gains.speed_gain * e + total
    waiting = [np.append(row, 0.0) for row in one[5:]]
    acting = waiting[0] if delay else torque
    rows = [held[0, 0] * q + held[0, 1] * v + held[0, 2] * acting, held[1, 1] * v + held[1, 2] * acting]
    rows += [total, e, q, *waiting[1:], *([torque] if delay else [])]
    whole = np.array(rows)
    return whole[:, :r], whole[:, r]


def largest_sample_time(gains: CascadeGains, **how: Any) -> float:
    """The longest sample time with which the loops are stable [s], by the spectral radius of `sampled_loop`.

    >>> round(mr.control.largest_sample_time(mr.cascade_of(inertia=0.24, viscous=0.8)), 4)
    0.2537
    """

    def stable(T: float) -> bool:
        return bool(np.abs(np.linalg.eigvals(sampled_loop(gains, T, **how)[0])).max() < 1)

    return _last(stable, 1e-5 / gains.position_gain)


def largest_delay(gains: CascadeGains, sample_time: float, **how: Any) -> int:
    """How many samples torques may come late before the loops are unstable."""

    def stable(samples: int) -> bool:
        A = sampled_loop(gains, sample_time, delay=samples, **how)[0]
        return bool(np.abs(np.linalg.eigvals(A)).max() < 1)

    low, high = 0, 1
    while stable(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if stable(middle) else (low, middle)
    return low


def _last(stable: Callable[[float], bool], start: float) -> float:
    """Where a property ends, by doubling and halving."""
    low = start
    while stable(2 * low):
        low *= 2
    high = 2 * low
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if stable(middle) else (low, middle)
    return low
