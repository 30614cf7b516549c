"""A path in the intervals of a grid: its polynomials and values there, and the motion along it as a polynomial of time."""

from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import PPoly

from modurob.motion.fastest.limits import Along
from modurob.motion.trajectory import Trajectory
from modurob.spatial.scalars import Array

# points of the grid nearer to a cut are left out, relative to a step; cuts nearer to each other are one, relative to the path
NEAR, SAME = 1e-2, 1e-9
# a path stands still where q' is below this, relative to the mean, and between two points if it does at all of these parts
STILL = 1e-9
BETWEEN = np.linspace(0, 1, 9)
# towards an end where the path stands still, the last interval is cut in half twice, as long as q' has its digits there,
# relative to the mean
HALVES = 0.5 ** np.arange(1, 3)
DIGITS = 1e-7
# where points of the grid are from 0 to 1, by whether the path stands still at its start and at its end
GRADED = {
    (False, False): lambda r: r * r * (3 - 2 * r),
    (True, False): lambda r: r * (2 - r),
    (False, True): lambda r: r * r,
    (True, True): lambda r: r,
}


class Stretch(NamedTuple):
    """The grid, (intervals + 1,), and the path in each interval as a polynomial of s - s_i, (order + 1, intervals, n),
    the lowest power first."""

    s: Array
    c: Array

    @classmethod
    def of(cls, path: Trajectory, points: int) -> "Stretch":
        """The given number of intervals, divided at the breaks of the path and where a coordinate reverses.

        Towards the ends, where a motion starts and stops, their lengths correspond to equal times at constant
        acceleration, unless q' = 0 there: q' has few significant digits next to its zeros.
        """
        r, cuts = np.linspace(0, 1, points + 1), _cuts(path)
        graded = path.breaks[0] + (path.breaks[-1] - path.breaks[0]) * GRADED[_stands(path)](r)
        near = np.abs(graded[:, None] - cuts).min(axis=1) < NEAR * np.gradient(graded)
        s = _halved(path, np.sort(np.concatenate([graded[~near], cuts])))
        piece = np.clip(np.searchsorted(path.breaks, s[:-1], side="right") - 1, 0, len(path.breaks) - 2)
        return cls(s, _shifted(path.coefficients[::-1, piece], s[:-1] - path.breaks[piece]))

    def at(self, part: Array, intervals: Any = slice(None)) -> Along:
        """The path at these fractions of intervals, (points,), by default of all: (intervals, points, n) each."""
        h, c = np.diff(self.s)[intervals, None], self.c[:, intervals]
        q, rate, bend = (_value(_derivative(c, k), (h * part)[..., None]) for k in range(3))
        return Along(q, rate, bend, np.sign(_value(_derivative(c, 1), h[..., None] / 2)))

    def motion(self, y: Array, u: Array) -> Trajectory:
        """The motion with the speeds y at the points and the accelerations u in the intervals, exactly."""
        times = 2 * np.diff(self.s) / (y[:-1] + y[1:])
        c = np.zeros((2 * len(self.c) - 1, *self.c.shape[1:]))
        # Horner's scheme in polynomials of time, s - s_i = y t + u t²/2
        for k in reversed(range(len(self.c))):
            ahead = np.zeros(c.shape)
            ahead[1:] += y[:-1, None] * c[:-1]
            ahead[2:] += u[:, None] / 2 * c[:-2]
            ahead[0] += self.c[k]
            c = ahead
        return Trajectory(np.append(0, np.cumsum(times)), c[::-1])


def _stands(path: Trajectory) -> tuple[bool, bool]:
    """Whether the path is at rest (q' = 0) at its start, and at its end."""
    c, last = path.coefficients, path.breaks[-1] - path.breaks[-2]
    start = c[-2, 0] if len(c) > 1 else 0 * c[0, 0]
    end = sum(k * c[-1 - k, -1] * last ** (k - 1) for k in range(1, len(c)))
    still = _still(path)
    return bool(np.abs(start).max() <= still), bool(np.abs(end).max() <= still)


def _halved(path: Trajectory, s: Array) -> Array:
    """With points between the last two at ends where q' = 0: there s' grows without bound towards the end."""
    start, end = _stands(path)
    more = np.append(s[0] + start * (s[1] - s[0]) * HALVES, s[-1] - end * (s[-1] - s[-2]) * HALVES)
    moves = np.abs(path(more).velocity).max(axis=1) > _still(path) * DIGITS / STILL
    inside = (more > s[0]) & (more < s[-1])
    return np.sort(np.append(s, more[moves & inside]))


def _still(path: Trajectory) -> float:
    """The largest |q'| that is as good as none."""
    return STILL * np.abs(np.diff(path(path.breaks).position, axis=0)).sum() / (path.breaks[-1] - path.breaks[0])


def _cuts(path: Trajectory) -> Array:
    """The breaks of a path, and the points in between at which a coordinate reverses.

    A zero of q' of multiplicity m is computed as m zeros that differ by the m-th root of rounding: they are treated as
    one.
    """
    turns = PPoly(path.coefficients, path.breaks).derivative().roots(extrapolate=False)
    turns = np.concatenate([np.zeros(0), *(np.asarray(z)[np.isfinite(z)] for z in np.ravel(turns))])
    reach = path.breaks[-1] - path.breaks[0]
    cuts, still = path.breaks, _still(path)
    for s in np.sort(turns):
        nearest = cuts[np.abs(cuts - s).argmin()]
        rate = path(s + (nearest - s) * BETWEEN).velocity
        same = abs(nearest - s) < SAME * reach or np.abs(rate).max() <= still
        cuts = cuts if same else np.append(cuts, s)
    return np.sort(cuts)


def progress(s: Array, y: Array, u: Array) -> Trajectory:
    """s(t) with the speeds y at the points s and the accelerations u between them."""
    times = 2 * np.diff(s) / (y[:-1] + y[1:])
    return Trajectory(np.append(0, np.cumsum(times)), np.stack([u / 2, y[:-1], s[:-1]]))


def _derivative(c: Array, order: int) -> Array:
    """Of polynomials, the lowest power first."""
    for _ in range(order):
        c = c[1:] * np.arange(1, len(c)).reshape(-1, 1, 1) if len(c) > 1 else np.zeros(c.shape)
    return c


def _value(c: Array, d: Array) -> Array:
    """The polynomials c, (order + 1, intervals, n), at d, (intervals, points, 1)."""
    total = np.zeros((*d.shape[:2], c.shape[2]))
    for coefficient in c[::-1]:
        total = total * d + coefficient[:, None]
    return total


def _shifted(c: Array, by: Array) -> Array:
    """The polynomials about a point further on."""
    terms, factorial, d = [], 1.0, by[:, None, None]
    for k in range(len(c)):
        factorial *= max(k, 1)
        terms.append(_value(_derivative(c, k), d)[:, 0] / factorial)
    return np.stack(terms)
