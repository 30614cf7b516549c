"""The fastest speeds along a path from linear limits in each interval of a grid: reachability analysis.

In interval i, from s_i to s_i + h, the acceleration s'' = u is constant and x = s'² changes from x_i to x_i + 2 h u.
Its limits are rows A u + B x_i + C <= 0. The backward pass finds the x_i from which the end can be reached, the forward
pass chooses the largest of these (Pham and Pham, A new approach to time-optimal path parameterization based on
reachability analysis, 2018).
"""

from typing import NamedTuple

import numpy as np

from modurob.motion.fastest.bounds import (
    STEPS,
    acceleration,
    bound,
    last_bound,
    later_speed,
    newton_step,
    outer_end,
    room,
)
from modurob.motion.fastest.compiled import passes
from modurob.spatial.scalars import Array

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
        """Highest minus lowest u at x, its derivative with respect to x, and how much the gap could be less (`room`)."""
        (highest, slope), (lowest, other) = self.highest(x), self.lowest(x)
        gap = highest - lowest
        return gap, slope - other, room(gap, highest)

    def highest(self, x: float) -> tuple[float, float]:
        """The highest u at x, and how it changes with x."""
        bounds, last = bound(self.upper_slope, self.upper_offset, x), last_bound(self.high, x, self.h)
        j = bounds.argmin()
        return (bounds[j], self.upper_slope[j]) if bounds[j] <= last[0] else last

    def lowest(self, x: float) -> tuple[float, float]:
        """The lowest u at x, and how it changes with x."""
        bounds, last = bound(self.lower_slope, self.lower_offset, x), last_bound(self.low, x, self.h)
        j = bounds.argmax()
        return (bounds[j], self.lower_slope[j]) if bounds[j] >= last[0] else last

    def outermost(self, x: float, other: float) -> float:
        """The x nearest to the given one, towards `other`, at which some u is feasible; NaN if there is none.

        The gap is concave in x, so that Newton's method converges from outside and never overshoots, up to rounding.
        """
        gap, slope, left = self.gap(x)
        if left >= 0:
            return x
        inwards = np.sign(other - x)
        for _ in range(STEPS):
            if slope * inwards <= 0:
                return np.nan
            step = newton_step(gap, slope, x)
            x = x + inwards * step
            if (other - x) * inwards < 0:
                return np.nan
            gap, slope, left = self.gap(x)
            if left >= 0:
                return self._polished(x, gap, slope, inwards, step)
        return np.nan

    def _polished(self, x: float, gap: float, slope: float, inwards: float, step: float) -> float:
        """x where the gap closes, after a step so long that it ended too far inside by rounding."""
        if slope * inwards <= 0 or step < abs(x):
            return x
        outer = outer_end(x, gap, slope, inwards)
        return outer if self.gap(outer)[2] >= 0 else x


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
        highest, _ = interval(rows, i, h, K).highest(x[i])
        x[i + 1] = later_speed(x[i], highest, h[i], *K[i + 1])
        u[i] = acceleration(x[i], x[i + 1], h[i])
    return x, u
