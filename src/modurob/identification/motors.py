"""Resistance, inductance and motor constant from voltages, currents and speeds: L di/dt + R i + k w = V."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.signal import lfilter

from modurob.catalogue.drives import Motor
from modurob.errors import EstimateError, explained, warn_user
from modurob.identification.data import JITTER, _finite
from modurob.spatial.scalars import Array

# rounds in which the current without noise is found from the constants, and the constants with it
ROUNDS = 4


@dataclass(frozen=True, eq=False)
class MotorConstants:
    """R [ohm], L [H] and k [V s/rad = N m/A] of a motor, with their covariance."""

    values: Array  # (3,)
    covariance: Array  # (3, 3)
    noise: float  # what is left of the voltage [V]

    @property
    def resistance(self) -> float:
        """R [ohm]."""
        return float(self.values[0])

    @property
    def inductance(self) -> float:
        """L [H]."""
        return float(self.values[1])

    @property
    def constant(self) -> float:
        """k, of torque and back-EMF [N m/A = V s/rad]: at the joint if the speed was that of the joint."""
        return float(self.values[2])

    @property
    def deviations(self) -> Array:
        """Standard deviations, (3,)."""
        return np.sqrt(np.diag(self.covariance))

    def motor(self, like: Motor) -> Motor:
        """The motor with these constants and the other values of another motor."""
        own = {"resistance": self.resistance, "inductance": max(self.inductance, 0.0), "torque_constant": self.constant}
        return replace(like, **own, back_emf=None)

    def __str__(self) -> str:
        return "; ".join(
            f"{name} {x:.5g} ± {d:.1g} {unit}"
            for name, x, d, unit in zip(
                ("R", "L", "k"), self.values, self.deviations, ("ohm", "H", "N m/A"), strict=True
            )
        )


@explained
def identify_motor(t: ArrayLike, voltage: ArrayLike, current: ArrayLike, speed: ArrayLike) -> MotorConstants:
    """R, L and k of a motor from equally spaced samples, (k,) each [s, V, A, rad/s]; a voltage is held until the next
    sample.

    The instruments are currents of a motor with the constants found so far, under the same voltage and speed; they are
    independent of the measurement noise (Young and Jakeman 1979), so that noise does not bias R and L towards smaller
    values.

    >>> drive = mr.Drive(mr.Motor(0.05, resistance=1.0, inductance=2e-3, inertia=1e-5), input="voltage")
    >>> wheel = mr.Builder("wheel", gravity=(0, 0, 0))
    >>> own = mr.JointProperties(drive=drive)
    >>> rim = wheel.body("rim", mr.spatial.inertia.sphere(0.01, 0.02), joint=mr.Revolute(), properties=own)
    >>> volts = lambda t, q, v: np.array([5 * np.sin(40 * t) + 3 * np.sign(np.sin(7 * t))])
    >>> turned = mr.simulate(wheel.build(), duration=1.0, controller=volts, stepper=mr.ExponentialRungeKutta4(1e-4), tick=1e-4)
    >>> seen = turned.drive("rim")
    >>> found = mr.identify_motor(turned.t, seen.voltage, seen.current, seen.motor_speed)
    >>> bool(np.allclose(found.values, [1.0, 2e-3, 0.05], rtol=1e-3))
    True
    """
    t, V, i, w = (
        _finite(x, name) for x, name in ((t, "t"), (voltage, "voltage"), (current, "current"), (speed, "speed"))
    )
    if any(x.shape != t.shape or x.ndim != 1 for x in (t, V, i, w)) or len(t) < 8:
        shapes = [x.shape for x in (t, V, i, w)]
        raise EstimateError(f"t, voltage, current and speed of shapes {shapes}: expected (k,) each, k at least 8")
    steps = np.diff(t)
    if not steps.min() > 0 or np.ptp(steps) > JITTER * steps.mean():
        raise EstimateError(f"times with steps from {steps.min():g} to {steps.max():g} s: expected equal steps")
    return _constants(float(steps.mean()), V[:-1], i, (w[:-1] + w[1:]) / 2)


def _constants(h: float, V: Array, i: Array, w: Array) -> MotorConstants:
    W = _columns(i, w, h)
    if np.linalg.matrix_rank(W / np.linalg.norm(W, axis=0).clip(1e-300)) < 3:
        raise EstimateError(
            "the motion does not tell R, L and k apart: expected a voltage that changes and a motor that turns"
        )
    x = np.linalg.lstsq(W, V, rcond=None)[0]
    Z = W
    for _ in range(ROUNDS):
        if x[0] > 0 and x[1] > 0:
            Z = _columns(_without_noise(x, V, w, i[0], h), w, h)
        x = np.linalg.solve(Z.T @ W, Z.T @ V)
    found = _judged(x, W, Z, V, h)
    if (x < 0).any():
        warn_user(f"{found}: expected none below zero; look at the signs and the units of voltage, current and speed")
    return found


def _columns(i: Array, w: Array, h: float) -> Array:
    """Of R, L and k, means from one sample to the next."""
    return np.stack([(i[:-1] + i[1:]) / 2, np.diff(i) / h, w], axis=1)


def _without_noise(x: Array, V: Array, w: Array, first: float, h: float) -> Array:
    """The current of a motor with these constants, exact for voltages and speeds that are held."""
    R, L, k = x
    left = np.exp(-R * h / L)
    driven, _ = lfilter([1 - left], [1, -left], (V - k * w) / R, zi=[left * first])
    return np.concatenate([[first], driven])


def _judged(x: Array, W: Array, Z: Array, V: Array, h: float) -> MotorConstants:
    """With the covariance that results from white noise n of the current: e_k = a n_k + b n_k+1, a = L/h - R/2, b =
    -L/h - R/2.
    """
    e = V - W @ x
    a, b = x[1] / h - x[0] / 2, -x[1] / h - x[0] / 2
    A = np.linalg.solve(Z.T @ W, Z.T)
    B = np.pad(a * A, ((0, 0), (0, 1))) + np.pad(b * A, ((0, 0), (1, 0)))
    left = float(np.std(e))
    return MotorConstants(x, left**2 / (a * a + b * b) * B @ B.T, left)
