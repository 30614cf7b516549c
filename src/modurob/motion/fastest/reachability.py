"""The fastest speeds along a path from linear limits in each interval of a grid: reachability analysis.

In interval i, from s_i to s_i + h, the acceleration s'' = u is constant and x = s'² changes from x_i to x_i + 2 h u.
Its limits are rows A u + B x_i + C <= 0. The backward pass finds the x_i from which the end can be reached, the forward
pass chooses the largest of these (Pham and Pham, A new approach to time-optimal path parameterization based on
reachability analysis, 2018).
"""

from typing import NamedTuple

import numpy as np

from modurob.motion.fastest.compiled import passes
from modurob.spatial.scalars import Array

# steps of Newton's method: each takes another pair of rows, of which there are few
STEPS = 200
# how far the bounds on u may cross, relative to them: rounding
CROSSING = 1e-12
# the least step, relative to x
LEAST = 1e-14
# factors of u this much smaller than the largest in their interval are zero: what they would add is less than this of a limit
NOTHING = 1e-8
# intervals at the end in which a motion stops
LAST = 8


class Rows(NamedTuple):
    """Bounds on u for a given x, per interval: slopes and offsets of upper and of lower ones, (intervals, rows) each.

    u <= upper_offset + upper_slope x, u >= lower_offset + lower_slope x; and x is from `floor` to `ceiling`, (intervals,) each.
    """

    upper_slope: Array
    upper_offset: Array
    lower_slope: Array
    lower_offset: Array
    floor: Array
    ceiling: Array

    @classmethod
    def of(cls, A: Array, B: Array, C: Array) -> "Rows":
        """From rows A u + B x + C <= 0, (intervals, rows) each; x is zero or more."""
        A = np.where(np.abs(A) < NOTHING * np.abs(A).max(axis=1, keepdims=True), 0.0, A)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope, offset, limit = -B / A, -C / A, -C / B
        ceiling = np.where((A == 0) & (B > 0), limit, np.inf).min(axis=1, initial=np.inf)
        floor = np.where((A == 0) & (B < 0), limit, 0.0).max(axis=1, initial=0.0)
        # rows of neither that do not hold
        floor[((A == 0) & (B == 0) & (C > 0)).any(axis=1)] = np.inf
        up, down = A > 0, A < 0
        return cls(
            np.where(up, slope, 0.0),
            np.where(up, offset, np.inf),
            np.where(down, slope, 0.0),
            np.where(down, offset, -np.inf),
            floor,
            ceiling,
        )

    def without_falls(self, h: Array) -> "Rows":
        """The same, and x falls to no less than half of it in an interval: u >= -x/(4 h), but for the last few.

        Where all factors of u in a limit are small, the largest x may be one from which only a fall is possible.
        """
        slope, offset = -1 / (4 * h), np.zeros(len(h))
        offset[-LAST:] = -np.inf
        return self._replace(
            lower_slope=np.column_stack([self.lower_slope, slope]),
            lower_offset=np.column_stack([self.lower_offset, offset]),
        )


def falls(x: Array) -> bool:
    """Whether x falls to less than half of it in an interval, but for the last few."""
    return bool(np.any(x[1:-LAST] < x[: -LAST - 1] / 2))


class Interval(NamedTuple):
    """The rows of one interval, which ends with x between `low` and `high`: low <= x + 2 h u <= high."""

    upper_slope: Array
    upper_offset: Array
    lower_slope: Array
    lower_offset: Array
    h: float
    low: float
    high: float

    def gap(self, x: float) -> tuple[float, float, float]:
        """Highest minus lowest u at x, its derivative with respect to x, and the highest u."""
        (highest, slope), (lowest, other) = self.highest(x), self.lowest(x)
        return highest - lowest, slope - other, highest

    def highest(self, x: float) -> tuple[float, float]:
        """The highest u at x, and how it changes with x."""
        bounds = self.upper_offset + self.upper_slope * x
        j, last = bounds.argmin(), (self.high - x) / (2 * self.h)
        return (bounds[j], self.upper_slope[j]) if bounds[j] <= last else (last, -1 / (2 * self.h))

    def lowest(self, x: float) -> tuple[float, float]:
        """The lowest u at x, and how it changes with x."""
        bounds = self.lower_offset + self.lower_slope * x
        j, last = bounds.argmax(), (self.low - x) / (2 * self.h)
        return (bounds[j], self.lower_slope[j]) if bounds[j] >= last else (last, -1 / (2 * self.h))

    def outermost(self, x: float, other: float) -> float:
        """The x nearest to the given one, towards `other`, at which some u is feasible; NaN if there is none.

        The gap is concave in x, so that Newton's method converges from outside and never overshoots, up to rounding.
        """
        gap, slope, u = self.gap(x)
        if gap >= -CROSSING * abs(u):
            return x
        inwards = np.sign(other - x)
        for _ in range(STEPS):
            if slope * inwards <= 0:
                return np.nan
            # a little further than rounding, so that it ends inside
            step = max(-gap / abs(slope), LEAST * abs(x))
            x = x + inwards * step
            if (other - x) * inwards < 0:
                return np.nan
            gap, slope, u = self.gap(x)
            if gap >= -CROSSING * abs(u):
                return self._polished(x, gap, slope, inwards, step)
        return np.nan

    def _polished(self, x: float, gap: float, slope: float, inwards: float, step: float) -> float:
        """x where the gap closes, after a step so long that it ended too far inside by rounding."""
        if slope * inwards <= 0 or step < abs(x):
            return x
        outer = x - inwards * gap / abs(slope) * (1 - LEAST)
        wider, _, u = self.gap(outer)
        return outer if wider >= -CROSSING * abs(u) else x


def interval(rows: Rows, i: int, h: Array, K: Array) -> Interval:
    """Interval i of a grid of steps h that ends at an x in K."""
    bounds = rows.upper_slope[i], rows.upper_offset[i], rows.lower_slope[i], rows.lower_offset[i]
    return Interval(*bounds, float(h[i]), *K[i + 1].tolist())


def controllable(rows: Rows, h: Array, last: float, fastest: float) -> tuple[Array, int]:
    """The least and largest x at each point of the grid from which the end can be reached with x = last, (points, 2).

    Also where it fails: the interval in which no x is left, or -1. `fastest` is the x that nobody exceeds.
    """
    compiled = passes(rows, h)
    return _controllable(rows, h, last, fastest) if compiled is None else compiled.controllable(last, fastest)


def _controllable(rows: Rows, h: Array, last: float, fastest: float) -> tuple[Array, int]:
    K = np.full((len(h) + 1, 2), last)
    for i in reversed(range(len(h))):
        here, ceiling = interval(rows, i, h, K), min(rows.ceiling[i], fastest)
        floor = rows.floor[i]
        high = here.outermost(ceiling, floor) if floor <= ceiling else np.nan
        if np.isnan(high):
            return K, i
        low = here.outermost(floor, high)
        K[i] = high if np.isnan(low) else low, high
    return K, -1


def fastest_speeds(rows: Rows, h: Array, K: Array, first: float) -> tuple[Array, Array]:
    """x at the points of the grid, (points,), and u in the intervals: at each step the largest that is controllable."""
    compiled = passes(rows, h)
    return _fastest_speeds(rows, h, K, first) if compiled is None else compiled.fastest_speeds(K, first)


def _fastest_speeds(rows: Rows, h: Array, K: Array, first: float) -> tuple[Array, Array]:
    x, u = np.empty(len(h) + 1), np.empty(len(h))
    x[0] = first
    for i in range(len(h)):
        u[i], _ = interval(rows, i, h, K).highest(x[i])
        x[i + 1] = min(max(x[i] + 2 * h[i] * u[i], K[i + 1, 0]), K[i + 1, 1])
        u[i] = (x[i + 1] - x[i]) / (2 * h[i])
    return x, u
