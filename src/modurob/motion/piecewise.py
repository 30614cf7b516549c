"""A motion over time as a piecewise polynomial: the value, its derivatives, its extremes, and the same motion later or slower."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BPoly, PPoly

from modurob.caching import cached_property
from modurob.errors import ControlError
from modurob.motion.numbers import numbers, one_positive, positive
from modurob.spatial.scalars import Array, read_only, select
from modurob.values import Value

# limits are kept in spite of rounding
MARGIN = 1e-12
DERIVATIVES = ("position", "velocity", "acceleration", "jerk")


class Point(NamedTuple):
    """A trajectory at one time, or at many."""

    position: Array
    velocity: Array
    acceleration: Array


@dataclass(frozen=True, eq=False)
class Piecewise(Value):
    """x(t) of a number or an array, at rest before its start and after its end.

    From breaks[i] to breaks[i + 1] x is the sum over k of coefficients[k, i] (t - breaks[i])^(order - k), as in SciPy's PPoly.
    """

    breaks: Array  # (pieces + 1,) [s]
    coefficients: Array  # (order + 1, pieces, ...)

    def __repr__(self) -> str:
        shape = "a number" if self.coefficients.ndim == 2 else f"shape {self.coefficients.shape[2:]}"
        pieces = len(self.breaks) - 1
        span = f"{self.breaks[0]:g} to {self.breaks[-1]:g} s"
        return f"{type(self).__name__}({shape}, {span}, {pieces} piece{'s' * (pieces != 1)} of order {len(self.coefficients) - 1})"

    def __post_init__(self) -> None:
        breaks, c = numbers(self.breaks, "breaks"), numbers(self.coefficients, "coefficients")
        if breaks.ndim != 1 or c.shape[1:2] != (len(breaks) - 1,) or not np.all(np.diff(breaks) > 0):
            raise ControlError(
                f"breaks {breaks.tolist()!r:.60} and coefficients of shape {c.shape}: expected times that increase, (k + 1,), "
                "and (order + 1, k, ...)"
            )
        object.__setattr__(self, "breaks", read_only(breaks))
        object.__setattr__(self, "coefficients", read_only(c))

    def __call__(self, t: ArrayLike) -> Point:
        """Position, velocity and acceleration at time t [s]."""
        x = self._at(t) if isinstance(t, float) else self._at_all(numbers(t, "t"))
        return Point(x[0], x[1], x[2])

    def _at_all(self, t: Array) -> Array:
        """The curve at times, (3, ..., ...), or at a traced one."""
        return self._chosen(t) if t.dtype == object else np.moveaxis(self._curve(t), t.ndim, 0)

    def _at(self, t: float) -> Array:
        """The curve at one time, (3, ...): what SciPy works out, in a fraction of the time."""
        starts, powers, tables = self._pieces
        i = max(bisect_right(starts, t) - 1, 0)
        return np.dot((t - starts[i]) ** powers, tables[i]).reshape(3, *self.shape)

    def _chosen(self, t: Array) -> Array:
        """The same at a traced time: the numbers of its piece are chosen by comparisons with the starts of the pieces."""
        starts, _, tables = self._pieces
        start, table = np.array(starts[0]), tables[0]
        for s, c in zip(starts[1:], tables[1:], strict=True):
            start, table = select(t, s, start, s), select(t, s, table, c)
        x = table[0]
        for row in table[1:]:
            x = x * (t - start) + row
        return x.reshape(3, *self.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of a position; () for a number.

        >>> mr.Trajectory.cubic([0.0, 0.0], [1.0, 2.0], 1.0).shape
        (2,)
        """
        return self.coefficients.shape[2:]

    @property
    def duration(self) -> float:
        """Time from start to end [s].

        >>> mr.Trajectory.cubic(0.0, 1.0, 2.5).duration
        2.5
        """
        return float(self.breaks[-1] - self.breaks[0])

    @cached_property
    def _pieces(self) -> tuple[list[float], Array, list[Array]]:
        """Where the pieces of the curve start, the powers in them, and their coefficients, (order + 1, 3 entries)."""
        c = self._curve.c
        powers = np.arange(len(c))[::-1].astype(float)
        return self._curve.x[:-1].tolist(), powers, [np.array(c[:, i].reshape(len(c), -1)) for i in range(c.shape[1])]

    @cached_property
    def _curve(self) -> PPoly:
        """x and its first two derivatives as one polynomial, (3, ...), with a piece of rest on either side."""
        x = PPoly(self.coefficients, self.breaks)
        order, pieces = self.coefficients.shape[0] - 1, len(self.breaks) - 1
        c = np.zeros((order + 1, pieces + 2, 3, *self.shape))
        for k in range(min(order, 2) + 1):
            c[k:, 1:-1, k] = x.derivative(k).c
        c[-1, 0, 0], c[-1, -1, 0] = x(self.breaks[0]), x(self.breaks[-1])
        # the end belongs to the motion
        start, end = self.breaks[0], np.nextafter(self.breaks[-1], np.inf)
        return PPoly(c, np.concatenate([[start - 1], self.breaks[:-1], [end, end + 1]]))

    def jerk(self, t: ArrayLike) -> Array:
        """The third derivative at time t [s], of shape t.shape + x.shape [rad/s³ or m/s³]; zero before the start and after the end.

        >>> float(mr.Trajectory.quintic(0.0, 1.0, 2.0).jerk(0.0))
        7.5
        """
        t = numbers(t, "t")
        inside = (t >= self.breaks[0]) & (t <= self.breaks[-1])
        jerk = PPoly(self.coefficients, self.breaks).derivative(3)(t)
        return np.where(inside.reshape(t.shape + (1,) * len(self.shape)), jerk, 0.0)

    # ---- from others ----

    def delayed(self, seconds: float) -> Self:
        """The same motion delayed by that many seconds: x(t - seconds).

        >>> float(mr.Trajectory.cubic(0.0, 1.0, 2.0).delayed(1.0)(2.0).position)
        0.5
        """
        return type(self)(self.breaks + numbers(seconds, "seconds"), self.coefficients)

    def slowed(self, factor: float) -> Self:
        """The same path in `factor` times the time: velocities divide by it, accelerations by its square.

        >>> mr.Trajectory.cubic(0.0, 1.0, 2.0).slowed(3.0).duration
        6.0
        """
        by = one_positive(factor, "factor")
        powers = np.arange(len(self.coefficients))[::-1].reshape(-1, *[1] * (self.coefficients.ndim - 1))
        return type(self)(self.breaks[0] + (self.breaks - self.breaks[0]) * by, self.coefficients / by**powers)

    def within(
        self,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        jerk: ArrayLike | None = None,
    ) -> Self:
        """The same path, slowed down as far as it takes to keep these limits, numbers or arrays of the shape of x; None is none.

        Velocities are in rad/s or m/s, accelerations in rad/s² or m/s², jerks in rad/s³ or m/s³ (within a piece: where
        accelerations jump, no jerk is counted).

        >>> round(mr.Trajectory.cubic(0.0, 1.0, 1.0).within(velocity=0.5, acceleration=10.0).duration, 6)
        3.0
        """
        limits = {1: (velocity, "velocity"), 2: (acceleration, "acceleration"), 3: (jerk, "jerk")}
        over = [
            (self.largest(k) / self._limit(limit, what)).max(initial=0.0) ** (1 / k)
            for k, (limit, what) in limits.items()
            if limit is not None
        ]
        factor = max([1.0, *over])
        return self if factor == 1.0 else self.slowed(factor * (1 + MARGIN))

    def _limit(self, value: ArrayLike, what: str) -> Array:
        limit = positive(value, what)
        if limit.shape not in ((), self.shape):
            raise ControlError(f"{what} limit has shape {limit.shape}: expected one number or shape {self.shape}")
        return limit

    def largest(self, derivative: int) -> Array:
        """Largest magnitude over time of position (0), velocity (1), acceleration (2) or jerk (3), of the shape of x.

        It is evaluated at the ends of the pieces and where the next derivative vanishes, so that no maximum in between
        is missed.

        >>> float(mr.Trajectory.cubic(0.0, 1.0, 1.0).largest(1))
        1.5
        """
        if derivative not in range(len(DERIVATIVES)):
            valid = ", ".join(f"{k} ({name})" for k, name in enumerate(DERIVATIVES))
            raise ControlError(f"derivative {derivative!r}: expected one of {valid}")
        c = PPoly(self.coefficients, self.breaks).derivative(derivative).c
        c = c.reshape(*c.shape[:2], -1)
        largest = np.zeros(c.shape[2])
        for (i, length), j in product(enumerate(np.diff(self.breaks)), range(c.shape[2])):
            extremes = np.clip(np.roots(np.polyder(c[:, i, j])).real, 0, length)
            values = np.polyval(c[:, i, j], np.concatenate([[0, length], extremes]))
            largest[j] = max(largest[j], np.abs(values).max())
        return largest.reshape(self.shape)

    @classmethod
    def _of(cls, curve: PPoly | BPoly) -> Self:
        curve = PPoly.from_bernstein_basis(curve) if isinstance(curve, BPoly) else curve
        return cls(curve.x, curve.c)


def alike(**values: ArrayLike) -> list[Array]:
    """The values as arrays of one shape: all that are not single numbers have it."""
    arrays = {name: numbers(value, name) for name, value in values.items()}
    if len({x.shape for x in arrays.values() if x.ndim}) > 1:
        shapes = ", ".join(f"{name} {x.shape}" for name, x in arrays.items())
        raise ControlError(f"shapes that do not fit together: {shapes}: expected one shape, or numbers")
    return [np.array(x) for x in np.broadcast_arrays(*arrays.values())]


def timed(times: ArrayLike, points: ArrayLike) -> tuple[Array, Array]:
    """Times, (k,), that increase, and points, (k, ...)."""
    t, x = numbers(times, "times"), numbers(points, "points")
    if t.ndim != 1 or x.shape[:1] != t.shape or len(t) < 2:
        raise ControlError(
            f"times of shape {t.shape} and points of shape {x.shape}: expected (k,) and (k, ...), k at least 2"
        )
    if np.any(np.diff(t) <= 0):
        i = int(np.argmin(np.diff(t)))
        raise ControlError(
            f"times[{i}] = {t[i]:g}, times[{i + 1}] = {t[i + 1]:g}: expected every time after the one before"
        )
    return t, x
