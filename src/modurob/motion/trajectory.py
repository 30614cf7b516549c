"""Motions over time as piecewise polynomials: position, velocity and acceleration at any time."""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BPoly, CubicHermiteSpline, CubicSpline, PPoly, make_interp_spline

from modurob.caching import cached_property
from modurob.errors import ControlError, explained
from modurob.motion.checks import same
from modurob.motion.numbers import numbers, one_positive, positive
from modurob.spatial.scalars import Array, read_only

# limits are kept in spite of rounding
MARGIN = 1e-12


class Point(NamedTuple):
    """A trajectory at one time, or at many."""

    position: Array
    velocity: Array
    acceleration: Array


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion x(t) of a number or an array [rad or m], at rest before its start and after its end.

    From breaks[i] to breaks[i + 1] x is the sum over k of coefficients[k, i] (t - breaks[i])^(order - k), as in SciPy's PPoly.
    `trajectory(t)` is position, velocity and acceleration, of shape t.shape + x.shape each.

    >>> reach = mr.Trajectory.quintic([0.0, 0.0, 0.0], [0.5, -0.2, 0.3], duration=2.0)
    >>> reach(1.0).position
    array([ 0.25, -0.1 ,  0.15])
    >>> law = mr.ComputedTorque(kp=100, kd=20, reference=reach)
    """

    breaks: Array  # (pieces + 1,) [s]
    coefficients: Array  # (order + 1, pieces, ...)

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
        x = self._at(t) if isinstance(t, float) else np.moveaxis(self._curve(numbers(t, "t")), np.ndim(t), 0)
        return Point(x[0], x[1], x[2])

    def _at(self, t: float) -> Array:
        """The curve at one time, (3, ...): what SciPy works out, in a fraction of the time."""
        starts, powers, tables = self._pieces
        i = max(bisect_right(starts, t) - 1, 0)
        return np.dot((t - starts[i]) ** powers, tables[i]).reshape(3, *self.shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trajectory) and same(
            (self.breaks, self.coefficients), (other.breaks, other.coefficients)
        )

    def __hash__(self) -> int:
        return hash((self.breaks.tobytes(), self.coefficients.tobytes()))

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

    # ---- from others ----

    def delayed(self, seconds: float) -> "Trajectory":
        """The same motion, so many seconds later: x(t - seconds).

        >>> float(mr.Trajectory.cubic(0.0, 1.0, 2.0).delayed(1.0)(2.0).position)
        0.5
        """
        return Trajectory(self.breaks + numbers(seconds, "seconds"), self.coefficients)

    def slowed(self, factor: float) -> "Trajectory":
        """The same path in `factor` times the time: velocities divide by it, accelerations by its square.

        >>> mr.Trajectory.cubic(0.0, 1.0, 2.0).slowed(3.0).duration
        6.0
        """
        by = one_positive(factor, "factor")
        powers = np.arange(len(self.coefficients))[::-1].reshape(-1, *[1] * (self.coefficients.ndim - 1))
        return Trajectory(self.breaks[0] + (self.breaks - self.breaks[0]) * by, self.coefficients / by**powers)

    def within(self, velocity: ArrayLike, acceleration: ArrayLike) -> "Trajectory":
        """The same path, slowed down as far as it takes to keep these limits, numbers or arrays of the shape of x.

        Velocities are in rad/s or m/s, accelerations in rad/s² or m/s².

        >>> round(mr.Trajectory.cubic(0.0, 1.0, 1.0).within(velocity=0.5, acceleration=10.0).duration, 6)
        3.0
        """
        over_velocity = self.largest(1) / self._limit(velocity, "velocity")
        over_acceleration = self.largest(2) / self._limit(acceleration, "acceleration")
        factor = max(1.0, over_velocity.max(initial=0.0), np.sqrt(over_acceleration.max(initial=0.0)))
        return self if factor == 1.0 else self.slowed(factor * (1 + MARGIN))

    def _limit(self, value: ArrayLike, what: str) -> Array:
        limit = positive(value, what)
        if limit.shape not in ((), self.shape):
            raise ControlError(f"{what} limit has shape {limit.shape}: expected one number or shape {self.shape}")
        return limit

    def largest(self, derivative: int) -> Array:
        """Largest magnitude over time of position (0), velocity (1) or acceleration (2), of the shape of x.

        It is taken at the ends of the pieces or where the next derivative vanishes, so nothing in between is missed.

        >>> float(mr.Trajectory.cubic(0.0, 1.0, 1.0).largest(1))
        1.5
        """
        if derivative not in (0, 1, 2):
            raise ControlError(f"derivative {derivative!r}: expected 0 (position), 1 (velocity) or 2 (acceleration)")
        c = PPoly(self.coefficients, self.breaks).derivative(derivative).c
        c = c.reshape(*c.shape[:2], -1)
        largest = np.zeros(c.shape[2])
        for (i, length), j in product(enumerate(np.diff(self.breaks)), range(c.shape[2])):
            extremes = np.clip(np.roots(np.polyder(c[:, i, j])).real, 0, length)
            values = np.polyval(c[:, i, j], np.concatenate([[0, length], extremes]))
            largest[j] = max(largest[j], np.abs(values).max())
        return largest.reshape(self.shape)

    # ---- from one point to another ----

    @classmethod
    @explained
    def cubic(
        cls,
        start: ArrayLike,
        end: ArrayLike,
        duration: float,
        start_velocity: ArrayLike = 0.0,
        end_velocity: ArrayLike = 0.0,
    ) -> "Trajectory":
        """The cubic in t with these positions [rad or m] and velocities [rad/s or m/s] at its ends, over `duration` [s].

        >>> mr.Trajectory.cubic([0.0, 1.0], [1.0, 1.0], duration=2.0)(1.0).position
        array([0.5, 1. ])
        """
        return cls._between(duration, start=start, start_velocity=start_velocity, end=end, end_velocity=end_velocity)

    @classmethod
    @explained
    def quintic(
        cls,
        start: ArrayLike,
        end: ArrayLike,
        duration: float,
        start_velocity: ArrayLike = 0.0,
        end_velocity: ArrayLike = 0.0,
        start_acceleration: ArrayLike = 0.0,
        end_acceleration: ArrayLike = 0.0,
    ) -> "Trajectory":
        """The quintic in t with these positions, velocities and accelerations at its ends, over `duration` [s].

        Of all motions between these ends it has the least integral of jerk squared.

        >>> reach = mr.Trajectory.quintic(0.0, 1.0, duration=2.0)
        >>> float(reach(1.0).position), float(reach(1.0).velocity)
        (0.5, 0.9375)
        """
        return cls._between(
            duration,
            start=start,
            start_velocity=start_velocity,
            start_acceleration=start_acceleration,
            end=end,
            end_velocity=end_velocity,
            end_acceleration=end_acceleration,
        )

    @classmethod
    @explained
    def trapezoid(cls, start: ArrayLike, end: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike) -> "Trajectory":
        """The fastest straight line from rest to rest within these limits: constant acceleration, velocity, deceleration.

        All coordinates start and end together; a way too short to reach the velocity is a triangle. Limits are in
        rad/s and rad/s², or m/s and m/s².

        >>> mr.Trajectory.trapezoid(0.0, 1.0, velocity=0.5, acceleration=1.0).duration
        2.5
        """
        x0, x1, fastest, strongest = _alike(start=start, end=end, velocity=velocity, acceleration=acceleration)
        way, moves = x1 - x0, x1 != x0
        limits = positive(fastest, "velocity"), positive(strongest, "acceleration")
        if not np.any(moves):
            return cls(np.array([0, np.nextafter(0, 1)]), x0[None, None])
        # on the way from 0 to 1 the slowest coordinate sets the limits
        v, a = (float(np.min(limit[moves] / np.abs(way[moves]))) for limit in limits)
        v = min(v, np.sqrt(a))
        ramp, total = v / a, 1 / v + v / a
        breaks = np.array([0, ramp, total - ramp, total])
        s = np.array([[a / 2, 0, -a / 2], [0, v, v], [0, v * ramp / 2, 1 - v * ramp / 2]])
        lasting = np.diff(breaks) > MARGIN * total
        c = np.multiply.outer(s[:, lasting], way)
        c[-1] += x0
        return cls(np.append(0, breaks[1:][lasting]), c)

    @classmethod
    def _between(cls, duration: float, **ends: ArrayLike) -> "Trajectory":
        """The polynomial with so many derivatives at start and end, named in this order."""
        time = one_positive(duration, "duration")
        derivatives = np.stack(_alike(**ends))
        return cls._of(BPoly.from_derivatives([0, time], np.split(derivatives, 2)))

    @classmethod
    def _of(cls, curve: PPoly | BPoly) -> "Trajectory":
        curve = PPoly.from_bernstein_basis(curve) if isinstance(curve, BPoly) else curve
        return cls(curve.x, curve.c)

    # ---- through many points ----

    @classmethod
    @explained
    def hermite(cls, times: ArrayLike, points: ArrayLike, velocities: ArrayLike) -> "Trajectory":
        """The cubic spline through the points, (k, ...), at the times, (k,) [s], with these velocities there, (k, ...).

        >>> wave = mr.Trajectory.hermite([0, 1, 2], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0])
        >>> float(wave(0.5).position)
        0.5
        """
        t, x = _timed(times, points)
        return cls._of(CubicHermiteSpline(t, x, _alike(points=x, velocities=velocities)[1]))

    @classmethod
    @explained
    def minimum_jerk(cls, times: ArrayLike, points: ArrayLike) -> "Trajectory":
        """From rest to rest through the points, (k, ...), at the times, (k,) [s], with the least integral of jerk squared.

        Between two points it is x0 + (x1 - x0) (10 s³ - 15 s⁴ + 6 s⁵); through more the quintic spline with four derivatives.

        >>> float(mr.Trajectory.minimum_jerk([0, 1, 2], [0.0, 1.0, 2.0])(1.0).position)
        1.0
        """
        t, x = _timed(times, points)
        rest = [(1, np.zeros(x.shape[1:])), (2, np.zeros(x.shape[1:]))]
        spline = make_interp_spline(t, x, k=5, bc_type=(rest, rest))
        return cls._of(BPoly.from_derivatives(t, np.stack([spline(t, k) for k in range(3)], axis=1)))

    @classmethod
    @explained
    def through(cls, points: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike) -> "Trajectory":
        """From rest to rest through the points, (k, ...), on a smooth spline that keeps these limits [rad/s, rad/s²].

        Each stretch gets a time in proportion to what it needs at full speed; then all is slowed down as far as the limits ask.

        >>> path = mr.Trajectory.through([[0, 0], [1, 0.5], [0, 1]], velocity=1.0, acceleration=4.0)
        >>> bool((path.largest(1) <= 1.0).all() and (path.largest(2) <= 4.0).all())
        True
        """
        t, x = _timed(np.arange(len(np.atleast_1d(points))), points)
        limit = _alike(point=x[0], velocity=velocity)[1]
        times = (np.abs(np.diff(x, axis=0)) / positive(limit, "velocity")).reshape(len(t) - 1, -1).max(axis=1)
        if np.any(times == 0):
            i = int(np.argmin(times))
            raise ControlError(f"points {i} and {i + 1} coincide: expected every point to differ from the one before")
        spline = CubicSpline(np.append(0, np.cumsum(times)), x, bc_type="clamped")
        return cls._of(spline).within(velocity, acceleration)


def _alike(**values: ArrayLike) -> list[Array]:
    """The values as arrays of one shape."""
    arrays = {name: numbers(value, name) for name, value in values.items()}
    try:
        return [np.array(x) for x in np.broadcast_arrays(*arrays.values())]
    except ValueError:
        shapes = ", ".join(f"{name} {x.shape}" for name, x in arrays.items())
        raise ControlError(f"shapes that do not fit together: {shapes}: expected one shape, or numbers") from None


def _timed(times: ArrayLike, points: ArrayLike) -> tuple[Array, Array]:
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
