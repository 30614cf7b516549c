"""Progress from 0 to 1, from rest to rest in the least time: constant acceleration, constant jerk; and lines joined by blends."""

from math import cbrt, sqrt

import numpy as np

from modurob.motion.piecewise import MARGIN
from modurob.spatial.scalars import Array

# breaks, (pieces + 1,), and coefficients, (order + 1, pieces, ...)
Pieces = tuple[Array, Array]


def trapezoid(v: float, a: float) -> Pieces:
    """s(t) with speed at most v [1/s] and acceleration at most a [1/s²]: a trapezoid of speed, or a triangle."""
    v = min(v, sqrt(a))
    return integrated([a, 0.0, -a], [v / a, 1 / v - v / a, v / a], order=2)


def s_curve(v: float, a: float, j: float) -> Pieces:
    """s(t) with jerk at most j [1/s³] too: seven pieces of constant jerk (Biagiotti and Melchiorri 3.4)."""
    ramp, rise = _rising(v, a, j)
    cruise = 1 / v - rise
    if cruise < 0:  # the way is too short for full speed
        ramp, rise = _rising_half_way(a, j)
        cruise = 0.0
    flat = rise - 2 * ramp
    return integrated([j, 0, -j, 0, -j, 0, j], [ramp, flat, ramp, cruise, ramp, flat, ramp], order=3)


def _rising(v: float, a: float, j: float) -> tuple[float, float]:
    """How long the jerk lasts, and how long it takes to reach the speed v [s]."""
    ramp = min(a / j, sqrt(v / j))
    return ramp, v / (ramp * j) + ramp


def _rising_half_way(a: float, j: float) -> tuple[float, float]:
    """The duration of the jerk, and the time to cover half of the distance 1 from rest [s]."""
    ramp = min(a / j, cbrt(1 / (2 * j)))
    return ramp, ramp / 2 + sqrt(ramp * ramp / 4 + 1 / (ramp * j))


def integrated(highest: list[float], durations: list[float], order: int) -> Pieces:
    """The motion from rest at 0 whose derivative of that order is constant in each piece; pieces of no length are left out."""
    total = sum(durations)
    pieces = [(h, d) for h, d in zip(highest, durations, strict=True) if d > MARGIN * total]
    c, state = np.zeros((order + 1, len(pieces))), np.zeros(order)  # state: s, s', ..., one below the highest
    scale = np.cumprod([1.0, *range(1, order + 1)])
    for i, (h, d) in enumerate(pieces):
        derivatives = np.append(state, h)
        c[:, i] = (derivatives / scale)[::-1]
        state = np.array([np.polyval((derivatives[k:] / scale[: order + 1 - k])[::-1], d) for k in range(order)])
    return np.append(0, np.cumsum([d for _, d in pieces])), c


def along_line(progress: Pieces, start: Array, way: Array) -> Pieces:
    """start + s(t) way, from the progress s(t)."""
    breaks, s = progress
    c = np.multiply.outer(s, way)
    c[-1] += start
    return breaks, c


def blended(times: Array, points: Array, blend: float, smooth: bool) -> Pieces:
    """Straight lines from point to point, whose speeds turn into each other over `blend` seconds around each time.

    With V the speeds before and after a time, the speed in its blend is V0 + (V1 - V0) h, h = r, or r² (3 - 2 r) for `smooth`
    accelerations, r from 0 to 1. Before the first point and after the last the motion is at rest, half a blend further.
    """
    rest = np.zeros((1, *points.shape[1:]))
    V = np.concatenate([rest, np.diff(points, axis=0) / _column(np.diff(times), points), rest])
    turns, before, change = len(times), V[:-1], np.diff(V, axis=0)
    c = np.zeros((5, 2 * turns - 1, *points.shape[1:]))
    if smooth:
        c[0, ::2], c[1, ::2] = -change / (2 * blend**3), change / blend**2
    else:
        c[2, ::2] = change / (2 * blend)
    c[3, ::2], c[4, ::2] = before, points - before * blend / 2
    c[3, 1::2], c[4, 1::2] = V[1:-1], points[:-1] + V[1:-1] * blend / 2
    ends = np.stack([times - blend / 2, times + blend / 2], axis=1).ravel()
    lasting = np.diff(ends) > MARGIN * (ends[-1] - ends[0])
    breaks = np.append(ends[:-1][lasting], ends[-1]) - ends[0]
    return breaks, c[:, lasting]


def _column(x: Array, like: Array) -> Array:
    return x.reshape(-1, *[1] * (like.ndim - 1))
