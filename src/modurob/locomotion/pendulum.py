"""The linear inverted pendulum: a walker whose centre of mass stays at one height (von Stryk 5.9.2; Kajita and others).

x'' = omega² (x - p), omega = sqrt(g / z), for each horizontal direction; p is the zero-moment point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.errors import InputError, explained
from modurob.locomotion.numbers import numbers, one_number, one_positive, whole
from modurob.spatial.scalars import Array


class Centre(NamedTuple):
    """Position [m] and velocity [m/s] of the centre of mass, of one shape."""

    x: Array
    v: Array


@explained
@dataclass(frozen=True)
class LinearPendulum:
    """A centre of mass at a constant `height` above the ground [m], `rise` its vertical acceleration if it has one [m/s²].

    >>> walker = mr.LinearPendulum(height=0.8)
    >>> round(walker.omega, 10)
    3.501785259
    >>> walker.capture_point(0.0, 0.7).round(4)
    np.float64(0.1999)
    """

    height: float
    gravity: float = 9.81
    rise: float = 0.0

    def __post_init__(self) -> None:
        one_positive(self.height, "height")
        if one_number(self.rise, "rise") + one_positive(self.gravity, "gravity") <= 0:
            raise InputError(f"rise = {self.rise:g} m/s²: it leaves the ground; expected more than {-self.gravity:g}")

    @property
    def omega(self) -> float:
        """sqrt((g + z'') / z) [1/s]."""
        return float(np.sqrt((self.gravity + self.rise) / self.height))

    def after(self, time: ArrayLike, x: ArrayLike, v: ArrayLike, zmp: ArrayLike = 0.0) -> Centre:
        """The centre after a time [s] over a fixed zero-moment point: p + (x0 - p) cosh(omega t) + v0 / omega
        sinh(omega t).

        >>> mr.LinearPendulum(9.81).after(1.0, x=1.0, v=-1.0)  # on the stable way in: both fall with exp(-t)
        Centre(x=np.float64(0.36787944117144233), v=np.float64(-0.36787944117144233))
        """
        t, x, v, p = (numbers(a, n) for a, n in ((time, "time"), (x, "x"), (v, "v"), (zmp, "zmp")))
        w = self.omega
        # along exp(omega t) and exp(-omega t), so that what decays stays exact
        out, back = (x - p + v / w) / 2 * np.exp(w * t), (x - p - v / w) / 2 * np.exp(-w * t)
        return Centre(p + out + back, w * (out - back))

    def capture_point(self, x: ArrayLike, v: ArrayLike) -> Array:
        """The foot position at which the walker comes to rest: x + v / omega [m] (Pratt and others; the extrapolated
        centre of mass of Hof).
        """
        return numbers(x, "x") + numbers(v, "v") / self.omega

    def orbital_energy(self, x: ArrayLike, v: ArrayLike, zmp: ArrayLike = 0.0) -> Array:
        """v²/2 - omega² (x - p)²/2 [J/kg], constant between steps; the centre passes over the foot if it is positive (Kajita)."""
        return (numbers(v, "v") ** 2 - (self.omega * (numbers(x, "x") - numbers(zmp, "zmp"))) ** 2) / 2

    def time_between(self, start: Centre, end: Centre) -> Array:
        """The time from one state of an orbit over p = 0 to a later one [s], from the part that grows: ln(r1 / r0) / omega.

        >>> w = mr.LinearPendulum(0.8)
        >>> w.time_between(mr.locomotion.Centre(-0.1, 0.5), w.after(0.3, -0.1, 0.5)).round(12)
        np.float64(0.3)
        """
        (x0, v0), (x1, v1) = start, end
        return np.log(self.capture_point(x1, v1) / self.capture_point(x0, v0)) / self.omega

    def capture_radius(self, step_length: float, step_time: float, steps: int | None = None) -> float:
        """The largest distance [m] of the capture point from the foot at which a walker with point feet can stop within
        the given number of steps (Koolen and others): l (q + ... + q^N), q = exp(-omega T), for steps of length up to l
        that take T or more; None for any number of them.

        >>> w = mr.LinearPendulum(0.8)
        >>> [round(w.capture_radius(0.6, 0.4, n), 4) for n in (1, 2, None)]
        [0.1479, 0.1843, 0.1962]
        """
        l, q = one_positive(step_length, "step_length"), np.exp(-self.omega * one_positive(step_time, "step_time"))
        left = 0.0 if steps is None else q ** whole(steps, "steps", 0)
        return float(l * q * (1 - left) / (1 - q))
