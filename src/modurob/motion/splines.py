"""Smooth curves through points at given times, with the continuity one chooses."""

import numpy as np
from scipy.interpolate import BPoly, CubicHermiteSpline, CubicSpline, PPoly, make_interp_spline

from modurob.errors import ControlError
from modurob.spatial.scalars import Array

# continuous derivatives of the splines from rest to rest: C1 is Hermite's cubic, the others have the least
# integral of acceleration, jerk or snap squared
CONTINUITIES = (1, 2, 4, 6)


def hermite(times: Array, derivatives: Array) -> BPoly:
    """The spline with these derivatives at the times, (k, d, ...): order 2 d - 1, with d - 1 continuous derivatives."""
    return BPoly.from_derivatives(times, derivatives)


def through(times: Array, points: Array, continuity: int) -> PPoly | BPoly:
    """From rest to rest through the points, with the given number of continuous derivatives, one of CONTINUITIES."""
    if continuity not in CONTINUITIES:
        valid = ", ".join(map(str, CONTINUITIES))
        raise ControlError(f"continuity {continuity!r}: expected a number of continuous derivatives, one of {valid}")
    if continuity == 1:
        return CubicHermiteSpline(times, points, _parabolic_rates(times, points))
    if continuity == 2:
        return CubicSpline(times, points, bc_type="clamped")
    return _least(times, points, continuity // 2)


def _least(times: Array, points: Array, rests: int) -> BPoly:
    """The spline with the least integral of its derivative rests + 1 squared, and `rests` derivatives zero at its ends."""
    rest = [(k + 1, np.zeros(points.shape[1:])) for k in range(rests)]
    spline = make_interp_spline(times, points, k=2 * rests + 1, bc_type=(rest, rest))
    return hermite(times, np.stack([spline(times, k) for k in range(rests + 1)], axis=1))


def _parabolic_rates(times: Array, points: Array) -> Array:
    """At each point the rate of the parabola through it and its neighbours; zero at the ends."""
    h = np.diff(times).reshape(-1, *[1] * (points.ndim - 1))
    slope, rates = np.diff(points, axis=0) / h, np.zeros(points.shape)
    rates[1:-1] = (h[1:] * slope[:-1] + h[:-1] * slope[1:]) / (h[1:] + h[:-1])
    return rates
