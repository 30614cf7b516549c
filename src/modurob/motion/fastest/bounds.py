"""Local steps of `reachability`, for one bound on u or one interval; the C that walks over intervals is traced from these."""

from typing import Any

from modurob.spatial.scalars import Array, absolute, clip, maximum

# steps of Newton's method: each takes another pair of rows, of which there are few
STEPS = 200
# how far the bounds on u may cross, relative to them: rounding
CROSSING = 1e-12
# the least step, relative to x
LEAST = 1e-14


def bound(slope: Array, offset: Array, x: Any) -> Array:
    """The bound of a row on u."""
    return offset + slope * x


def last_bound(end: Any, x: Any, h: Any) -> tuple[Any, Any]:
    """The u with which an interval ends at `end`, and its derivative with respect to x."""
    return (end - x) / (2 * h), -1 / (2 * h)


def room(gap: Any, highest: Any) -> Any:
    """What is left of a gap beyond rounding: some u is feasible where it is not negative."""
    return gap + CROSSING * absolute(highest)


def newton_step(gap: Any, slope: Any, x: Any) -> Any:
    """How far from x the gap closes, or a little further than rounding, so that the search ends inside."""
    return maximum(-gap / absolute(slope), LEAST * absolute(x))


def outer_end(x: Any, gap: Any, slope: Any, inwards: Any) -> Any:
    """Where the gap closes outside of x, but for rounding."""
    return x - inwards * gap / absolute(slope) * (1 - LEAST)


def later_speed(x: Any, u: Any, h: Any, low: Any, high: Any) -> Any:
    """x after an interval, between low and high."""
    return clip(x + 2 * h * u, low, high)


def acceleration(x: Any, later: Any, h: Any) -> Any:
    """u that leads from x to a later one."""
    return (later - x) / (2 * h)
