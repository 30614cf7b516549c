"""Walkers without drives that walk down a slope (McGeer)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from modurob.errors import InputError, explained
from modurob.locomotion.numbers import numbers, one_number, one_positive
from modurob.locomotion.orbits import Phase, Stride, stride
from modurob.spatial.scalars import Array


@explained
@dataclass(frozen=True)
class RimlessWheel:
    """A wheel of spokes without a rim, with its mass at the hub, that rolls down a slope [rad] from spoke to spoke; in
    closed form.

    `half_angle` is half the angle between spokes [rad]. The rate after an impact is cos(2 alpha) times the one before.

    >>> wheel = mr.RimlessWheel(half_angle=np.pi / 8, slope=0.08)
    >>> round(wheel.fixed_point, 4), round(wheel.multiplier, 4)
    (1.0955, 0.5)
    """

    half_angle: float
    slope: float
    length: float = 1.0
    gravity: float = 9.81

    def __post_init__(self) -> None:
        if not 0 < one_positive(self.half_angle, "half_angle") < np.pi / 4:
            raise InputError(f"half_angle = {self.half_angle:g} rad: expected less than pi/4, five spokes or more")
        if not 0 <= one_number(self.slope, "slope") < np.pi / 2:
            raise InputError(f"slope = {self.slope:g} rad: expected between 0 and pi/2, downhill")
        for name in ("length", "gravity"):
            one_positive(getattr(self, name), name)

    def _rise(self, a: float, b: float) -> float:
        """Gain of the rate squared from the angle a to b [1/s²]."""
        return 2 * self.gravity / self.length * (np.cos(a) - np.cos(b))

    def map(self, rate: ArrayLike) -> Array:
        """The rate after the next impact [rad/s] from that after the last: cos(2 alpha) sqrt(w² + 4 g/l sin(alpha) sin(gamma)); NaN
        if it does not come over its spoke."""
        w = numbers(rate, "rate")
        a, g = self.half_angle, self.slope
        after = np.cos(2 * a) * np.sqrt(np.maximum(w**2 + self._rise(g - a, g + a), 0.0))
        return np.where(w >= self.least, after, np.nan)

    @property
    def least(self) -> float:
        """The smallest rate that brings it over its spoke [rad/s]."""
        return (
            float(np.sqrt(max(self._rise(0.0, self.slope - self.half_angle), 0.0)))
            if self.slope < self.half_angle
            else 0.0
        )

    @property
    def fixed_point(self) -> float:
        """The rate after impact of steady rolling [rad/s]: cot(2 alpha) sqrt(4 g/l sin(alpha) sin(gamma)); NaN if it stops."""
        a, g = self.half_angle, self.slope
        rate = float(np.sqrt(self._rise(g - a, g + a)) / np.tan(2 * a))
        return rate if rate > self.least else np.nan

    @property
    def multiplier(self) -> float:
        """cos²(2 alpha): the factor by which one step reduces a small error."""
        return float(np.cos(2 * self.half_angle) ** 2)

    def phase(self) -> Phase:
        """The same as a phase of `modurob.locomotion.stride`: (angle from the vertical, rate), ahead positive."""
        a, g = self.half_angle, self.slope
        slope = lambda x: np.array([x[1], self.gravity / self.length * np.sin(x[0])])  # noqa: E731
        return Phase(slope, lambda x: g + a - x[0], lambda x: np.array([g - a, np.cos(2 * a) * x[1]]))


@explained
@dataclass(frozen=True)
class Compass:
    """Two straight legs and a hip on a slope [rad]: masses of the hip and of each leg [kg], the leg's at `below` from the foot and
    `above` it to the hip [m] (Goswami, Thuilot and Espiau). Leg mass zero at the foot is the simplest walker (Garcia and others).

    Angles are from the vertical, counter-clockwise, of the swing leg and of the stance leg; downhill is clockwise of it. States are
    (swing, stance, swing rate, stance rate), (4,) [rad, rad/s].

    >>> walker = mr.Compass(slope=np.radians(3), hip=10.0, leg=5.0, below=0.5, above=0.5)
    >>> gait = mr.fixed_point(walker.map, [0.22, -0.38, -1.09])
    >>> gait.round(4)
    array([ 0.2187, -0.3774, -1.0924])
    """

    slope: float
    hip: float = 1.0
    leg: float = 0.0
    below: float = 0.0
    above: float = 1.0
    gravity: float = 9.81

    def __post_init__(self) -> None:
        for name in ("hip", "above", "gravity"):
            one_positive(getattr(self, name), name)
        for name in ("leg", "below"):
            if one_number(getattr(self, name), name) < 0:
                raise InputError(f"{name} = {getattr(self, name):g}: expected zero or more")
        if not 0 <= one_number(self.slope, "slope") < np.pi / 2:
            raise InputError(f"slope = {self.slope:g} rad: expected between 0 and pi/2, downhill")

    def rate(self, x: Array) -> Array:
        """dx/dt of a state, stance foot at rest; the swing leg's equation is divided by its mass, which may be zero."""
        m, M, a, b, l, g = self.leg, self.hip, self.below, self.above, self.below + self.above, self.gravity
        swing, stance, w, s = x
        c, d = np.cos(stance - swing), np.sin(stance - swing)
        A = b * b, -l * b * c, -m * l * b * c, (M + m) * l * l + m * a * a
        falling = -l * b * d * s * s - b * g * np.sin(swing)
        tipping = m * l * b * d * w * w + (M * l + m * a + m * l) * g * np.sin(stance)
        return np.array([w, s, *_solved(A, falling, tipping)])

    def impact(self, x: Array) -> Array:
        """The state after the impact of the swing foot, with the legs exchanged; the angular momenta about the new
        foot, and of the new swing leg about the hip, are conserved.
        """
        m, M, a, b, l = self.leg, self.hip, self.below, self.above, self.below + self.above
        swing, stance, w, s = x
        c = np.cos(stance - swing)
        Q = m * b * (b - l * c), (M + m) * l * l + m * a * a - m * b * l * c, b * b, -b * l * c
        whole = -m * a * b * w + (-m * a * b + (M * l * l + 2 * m * a * l) * c) * s
        return np.array([stance, swing, *_solved(Q, whole, -a * b * s)])

    def phase(self) -> Phase:
        """A step as a phase of `modurob.locomotion.stride`: it ends when both feet are on the slope again, the swing leg ahead."""
        return Phase(self.rate, lambda x: x[0] + x[1] + 2 * self.slope, self.impact)

    def state(self, section: ArrayLike) -> Array:
        """The state (4,) with both feet on the slope, from (stance angle, swing rate, stance rate), (3,)."""
        stance, w, s = numbers(section, "section", 3)
        return np.array([-2 * self.slope - stance, stance, w, s])

    def step(self, section: ArrayLike) -> Stride:
        """One step from just after an impact to just after the next; `section` as in `map`."""
        return stride(
            [self.phase()], self.state(section), longest=20 * np.sqrt((self.below + self.above) / self.gravity)
        )

    def map(self, section: ArrayLike) -> Array:
        """The return map: (stance angle, swing rate, stance rate) after an impact from those after the last, (3,)."""
        return self.step(section).end[1:]


def _solved(A: tuple[float, float, float, float], f: float, g: float) -> tuple[float, float]:
    """x and y of [[a, b], [c, d]] (x, y) = (f, g), by Cramer's rule."""
    a, b, c, d = A
    det = a * d - b * c
    return (f * d - b * g) / det, (a * g - f * c) / det
