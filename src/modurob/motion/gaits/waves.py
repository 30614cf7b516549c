"""Waves: what generators make, one for each joint, as smooth functions of s = 2 pi f t."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy.integrate import solve_ivp

from modurob.errors import GaitError
from modurob.motion.gaits.active import Network
from modurob.registry import Registry
from modurob.spatial.scalars import Array

# w, dw/ds and d2w/ds2
Jet = tuple[Array, Array, Array]

KNOTS = 64  # knots a period
BLOCK = 8 * KNOTS  # knots integrated at a time
STEP = 2 * np.pi / KNOTS
TOLERANCE = 1e-9  # of the integration, relative and absolute

# coefficients of u^0..u^5 from w, w', w'' at u = 0, then at u = 1
QUINTIC = np.array(
    [
        [1, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0],
        [0, 0, 0.5, 0, 0, 0],
        [-10, -6, -1.5, 10, -4, 0.5],
        [15, 8, 1.5, -15, 7, -1],
        [-6, -3, -0.5, 6, -3, 0.5],
    ]
)

ORDERS = np.arange(6)
# from (1, u, .., u^5) to itself, its first and its second derivative
DERIVATIVE = np.diag(np.arange(1.0, 6.0), 1)
DERIVATIVES = np.concatenate([np.eye(6), DERIVATIVE, DERIVATIVE @ DERIVATIVE], axis=1)


class Waves(Protocol):
    """The waves of a network, each within -1 and 1 (neurons shoot over by some hundredths while they lock)."""

    def __call__(self, s: Array) -> Jet:
        """w, dw/ds and d2w/ds2, (..., n) each, for s of shape (...)."""
        ...


class Generator(Protocol):
    """A generator of waves for any network."""

    def waves(self, network: Network) -> Waves:
        """The waves of that network: once locked, wave i runs as sin(s + phase[i]) or a like shape."""
        ...


GENERATORS: Registry[type[Generator]] = Registry("generator", GaitError)


def powers(u: Array) -> Array:
    """Rows (1, u, .., u^5) and their first and second derivatives, (..., 3, 6)."""
    return (u[..., None] ** ORDERS @ DERIVATIVES).reshape(*u.shape, 3, 6)


class Flow:
    """Waves of an autonomous system dx/ds = rate(x), integrated as far as they are needed.

    Between knots the wave is the quintic with its value and two derivatives at both ends: w is twice continuously
    differentiable, whatever the system, and independent of the order of calls.
    """

    def __init__(self, rate: Callable[[Array], Array], read: Callable[[Array], Array], start: Array):
        """`read` gives w, dw/ds, d2w/ds2 of states (..., m) as (..., 3, n); `start` is the state at s = 0, (m,)."""
        self._rate, self._read = rate, read
        # the state at the last knot and the pieces up to it, changed as one, so that threads do not disturb each other
        self._known = start, np.zeros((0, 6, read(start).shape[-1]))

    def __call__(self, s: Array) -> Jet:
        s = np.asarray(s, dtype=float)
        k = np.floor(s / STEP).astype(int)
        if k.size and k.min() < 0:
            raise GaitError(f"time {s.min():.3g} (in units of 1 / (2 pi f)): oscillators start at zero")
        known = self._known
        while k.size and k.max() >= len(known[1]):
            known = self._known = self._grown(*known)
        w, dw, ddw = np.moveaxis(powers(s / STEP - k) @ known[1][k], -2, 0)
        return w, dw / STEP, ddw / STEP**2

    def _grown(self, state: Array, pieces: Array) -> tuple[Array, Array]:
        """Another block of knots."""
        at = STEP * np.arange(BLOCK + 1)
        solution = solve_ivp(
            lambda _, x: self._rate(x), (0, at[-1]), state, "LSODA", at, rtol=TOLERANCE, atol=TOLERANCE
        )
        knots = self._read(np.ascontiguousarray(solution.y.T)) * (STEP ** np.arange(3.0))[:, None]
        if not (solution.success and np.all(np.isfinite(knots))):
            raise GaitError(f"the oscillators cannot be followed: {solution.message}")
        more = QUINTIC @ np.concatenate([knots[:-1], knots[1:]], axis=1)
        return solution.y[:, -1], np.concatenate([pieces, more])
