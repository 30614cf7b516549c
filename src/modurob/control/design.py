"""Gains for the error of a linearised joint, e'' = -kp e - kd e' - ki int e: by poles, by damping and settling time, by cost."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, expm, solve_continuous_are, solve_discrete_are
from scipy.optimize import brentq

from modurob.errors import ControlError, explained
from modurob.motion.numbers import checked_sample_time, numbers, one_positive
from modurob.spatial.scalars import Array
from modurob.values import compared

# an error has settled when it stays below this fraction of the step
SETTLED = 0.02


@compared
class Gains(NamedTuple):
    """Gains of one joint or of many, (...) each."""

    kp: Array  # [1/s²]
    kd: Array  # [1/s]
    ki: Array  # [1/s³]


@explained
def gains_by_poles(poles: ArrayLike, sample_time: float | None = None) -> Gains:
    """Gains for given poles of the error dynamics, (..., 2) for kp and kd or (..., 3) with ki [1/s].

    s² + kd s + kp is the characteristic polynomial (Gutenkunst (6.34) has kp and kd swapped), s³ + kd s² + kp s + ki
    with ki (von Stryk 6.3.6). With a sample time [s] the torque is held between samples and the poles of the sampled
    error are z = exp(pole * sample_time), exactly.

    >>> kp, kd, ki = mr.gains_by_poles([-2.0, -3.0])
    >>> float(kp), float(kd)
    (6.0, 5.0)
    """
    checked_sample_time(sample_time)
    p = _stable(poles)
    # in w = (z - 1)/T the sampled error has the polynomial w³ + (kd + kp T/2) w² + (kp + ki T/2) w + ki
    T = sample_time or 0.0
    w = np.expm1(p * T) / T if T else p
    a, b = w[..., 0], w[..., 1]
    c = w[..., 2] if w.shape[-1] == 3 else np.zeros(a.shape)
    ki = np.real(-a * b * c) + 0.0
    kp = np.real(a * b + b * c + c * a) - ki * T / 2
    return Gains(kp, np.real(-a - b - c) - kp * T / 2, ki)


def _stable(poles: ArrayLike) -> Array:
    """Poles, (..., 2) or (..., 3), left of the imaginary axis and closed under conjugation."""
    try:
        p = np.asarray(poles, complex)
    except (TypeError, ValueError):
        raise ControlError(f"poles = {poles!r:.60}: expected numbers") from None
    if p.ndim == 0 or p.shape[-1] not in (2, 3):
        raise ControlError(f"poles have shape {p.shape}: expected (..., 2) for kp and kd, or (..., 3) for ki too")
    if not np.all(np.real(p) < 0) or not np.all(np.isfinite(p)):
        raise ControlError(f"poles = {poles!r:.60}: expected finite numbers with a real part below zero")
    if not np.allclose(np.sort_complex(p), np.sort_complex(p.conj()), rtol=1e-12, atol=0):
        raise ControlError(f"poles = {poles!r:.60}: expected complex poles in conjugate pairs")
    return p


@explained
def gains_by_damping(damping_ratio: float, settling_time: float, sample_time: float | None = None) -> Gains:
    """Gains for e'' + 2 z w e' + w² e = 0 with the damping ratio z, and w such that a step settles to 2 % in the given
    time [s], exactly.

    kp = w² [1/s²], kd = 2 z w [1/s]. The rule of thumb 4/(z w) holds for z well below one; at z = 1 the settling time
    is 5.8/w.

    >>> kp, kd, ki = mr.gains_by_damping(damping_ratio=1.0, settling_time=1.0)
    >>> round(float(kp), 3), round(float(kd), 3)
    (34.035, 11.668)
    """
    z, T = one_positive(damping_ratio, "damping_ratio"), one_positive(settling_time, "settling_time")
    w = settling(z) / T
    root = np.emath.sqrt(z * z - 1)
    return gains_by_poles([w * (-z + root), w * (-z - root)], sample_time)


def settling(z: float) -> float:
    """w times the time after which |e| stays below 2 % of the step, for e'' + 2 z w e' + w² e = 0."""
    A = np.array([[0.0, 1.0], [-1.0, -2 * z]])

    def excess(x: float) -> float:
        return abs(expm(A * x)[0, 0]) - SETTLED

    if z >= 1:
        return brentq(excess, 0, 8 * (1 + z))  # type: ignore[return-value]
    # extremes stand half a swing apart and shrink by one factor: the last one above 2 % is the k-th
    swing = np.pi / np.sqrt(1 - z * z)
    k = np.floor(np.log(1 / SETTLED) / (z * swing))
    return brentq(excess, k * swing, (k + 1) * swing)  # type: ignore[return-value]


@explained
def gains_by_lqr(
    position: float = 1.0, velocity: float = 0.0, acceleration: float = 1.0, sample_time: float | None = None
) -> Gains:
    """Gains that minimise the integral of position e² + velocity e'² + acceleration e''² [1/s², 1/s].

    With a sample time [s] the acceleration is held between samples.

    >>> kp, kd, ki = mr.gains_by_lqr(position=100.0)
    >>> round(float(kp), 3), round(float(kd), 3)
    (10.0, 4.472)
    """
    A, B = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]])
    kp, kd = lqr(A, B, np.diag([position, velocity]), np.array([[acceleration]]), sample_time)[0]
    return Gains(kp, kd, np.zeros(()))


def lqr(A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike, sample_time: float | None = None) -> Array:
    """K, (m, n), with u = -K x: the least integral of x^T Q x + u^T R u for x' = A x + B u.

    With a sample time u is held between samples, and the cost is the sum over samples times the sample time.
    """
    checked_sample_time(sample_time)
    a, b, q, r = numbers(A, "A"), numbers(B, "B"), numbers(Q, "Q"), numbers(R, "R")
    n, m = b.shape if b.ndim == 2 else (-1, -1)
    if (a.shape, q.shape, r.shape) != ((n, n), (n, n), (m, m)):
        shapes = f"A {a.shape}, B {b.shape}, Q {q.shape}, R {r.shape}"
        raise ControlError(f"{shapes}: expected (n, n), (n, m), (n, n), (m, m)")
    if not m:
        return np.zeros((m, n))
    from scipy.signal import cont2discrete  # slow to import

    try:
        if sample_time is None:
            return np.linalg.solve(r, b.T @ solve_continuous_are(a, b, q, r))
        sampled: Any = cont2discrete((a, b, np.eye(n), np.zeros((n, m))), sample_time)
        a, b = sampled[:2]
        P = solve_discrete_are(a, b, q * sample_time, r * sample_time)
        return np.linalg.solve(r * sample_time + b.T @ P @ b, b.T @ P @ a)
    except (LinAlgError, ValueError) as error:
        raise ControlError(
            f"no optimal gains ({error}): expected Q positive semidefinite, R positive definite, and inputs and weights that reach "
            "every motion that does not die out by itself"
        ) from None
