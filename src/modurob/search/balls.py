"""Which arms of three two-axis balls reach a pose, for thousands of arms at once: all solutions, their limits and torques.

Axes 1 and 2, 3 and 4, 5 and 6 meet in points A, B, C. The pose says where C comes to. For an angle q2, the distance from B
to C leaves two angles q1; then two pairs (q3, q4) bring C to its place (subproblem 2 of Paden and Kahan), and what is left
is one equation: axis 6 must come to stand at its angle to axis 5. Where C is on axis 4, q4 does not move it: the equation
then is that axis 3 can bring it to its place, and q4, two of them, follow from axis 6. Where axes 2 and 3 are parallel then,
the equation is in q1 alone, and q2 follows. Where C is near to axis 4, q4 is taken in place of q2. The equation is solved
along that angle for all arms at once.

Vectors are (3, ...), components first.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from modurob.errors import InputError
from modurob.search.arms import Arms
from modurob.spatial.scalars import Array

PLACES = 64  # of the angle at which signs are compared
NARROW = 0.3  # C is as near to axis 4 as this part of its distance from B
EDGE = 24  # halvings that find where solutions end
MEET = 1e-6  # how far axes may be apart that meet, and C from axis 4 to be on it [m]
STEPS = 40  # of the refinement
CLOSE = 1e-9  # of the equation: a cosine, or a length over that from B to C
SIDES = ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))
FREE = [(float(np.cos(x)), float(np.sin(x))) for x in np.linspace(-2.8, 2.8, 8)]  # angles tried where any will do
Turn = tuple[Array, Array]  # cosine and sine


class Solutions(NamedTuple):
    """Angles that bring arms to poses: q[s] of arm `arm[s]` at pose `pose[s]`."""

    arm: Array  # (s,)
    pose: Array  # (s,)
    q: Array  # (s, 6) [rad]


class Centres(NamedTuple):
    """Axes h (6, 3, a) of arms and the points A, B, C (3, a) where they meet in pairs."""

    h: Array
    A: Array
    B: Array
    C: Array


def centres(arms: Arms) -> Centres:
    """Where the axes of arms meet in pairs; an error if they do not."""
    if arms.h.shape[1] != 6:
        raise InputError(f"arms with {arms.h.shape[1]} joints: expected six, in pairs whose axes meet")
    h, o = (np.moveaxis(x, 0, -1) for x in (arms.h, arms.o))
    points = []
    for k in (0, 2, 4):
        a, b, d = h[k], h[k + 1], o[k + 1] - o[k]
        n = cross(a, b)
        size = dot(n, n)
        if (size < 1e-6).any() or (np.abs(dot(n, d)) > MEET * np.sqrt(size)).any():
            raise InputError(f"axes of joints {k + 1} and {k + 2} of some arms do not meet: expected pairs that do")
        points.append(o[k] + a * (dot(cross(d, b), n) / size))
    return Centres(h, *points)


def solutions(arms: Arms, poses: Array) -> Solutions:
    """All angles that bring the ends of arms to poses (p, 4, 4), regardless of limits; double roots may be missing."""
    own = centres(arms)
    a, p = (x.ravel() for x in np.meshgrid(np.arange(len(arms.X)), np.arange(len(poses)), indexing="ij"))
    loop = Loop.of(own, a, poses[p] @ _inverse(arms.X[a]))
    far = np.sqrt(dot(loop.goal, loop.goal)) > np.sqrt(dot(loop.AB, loop.AB)) + np.sqrt(loop.r2)
    C_off_4, B_off_2 = _off(loop.BC, loop.h[3]), _off(loop.AB, loop.h[1])
    parallel, on_4 = _off(loop.h[1], loop.h[2]) < CLOSE, C_off_4 < MEET
    near_4 = (C_off_4 < NARROW * np.sqrt(loop.r2)) & ~on_4 & ~(parallel & (B_off_2 < MEET))
    of_each = np.stack([on_4, parallel & (B_off_2 > MEET), near_4])
    found = [(np.zeros(0, dtype=int), np.zeros((0, 6)))]
    for case in (Case(*x) for x in product((False, True), repeat=3)):
        rows = np.flatnonzero((of_each == np.array(case)[:, None]).all(axis=0) & ~far)
        if len(rows):
            found += [(rows[which], q) for which, q in _along(loop.of_some(rows), case)]
    which, q = (np.concatenate(x) for x in zip(*found, strict=True))
    order = np.lexsort((*q.T[::-1], which))
    return Solutions(a[which[order]], p[which[order]], q[order])


class Case(NamedTuple):
    """What is special about some arms."""

    C_on_4: bool  # q4 does not move C
    along_1: bool  # axes 2 and 3 are parallel, and apart
    narrow: bool  # C is near to axis 4, not on it: solutions are in narrow ranges of q2, so q4 is taken


def _off(p: Array, h: Array) -> Array:
    """How far a point is from the axis h through the origin, (m,)."""
    off = p - dot(p, h) * h
    return np.sqrt(dot(off, off))


class Loop(NamedTuple):
    """Arms with their goals, one each: what the equation is made of."""

    h: Array  # (6, 3, m)
    AB: Array  # B - A, (3, m)
    BC: Array
    r2: Array  # its square, (m,)
    goal: Array  # of C, from A
    six: Array  # of axis 6, (3, m)
    five: Array  # cosine between axes 5 and 6, (m,)
    R: Array  # rotation of the goal, (3, 3, m)

    @classmethod
    def of(cls, own: Centres, a: Array, T: Array) -> "Loop":
        """The loops of arms `a` with motions T (m, 4, 4) from zero."""
        h, A, B, C = own.h[..., a], own.A[:, a], own.B[:, a], own.C[:, a]
        R, t = np.moveaxis(T[:, :3, :3], 0, -1), T[:, :3, 3].T
        goal = np.einsum("ijm,jm->im", R, C) + t - A
        six = np.einsum("ijm,jm->im", R, h[5])
        return cls(h, B - A, C - B, dot(C - B, C - B), goal, six, dot(h[4], h[5]), R)

    def of_some(self, rows: Array) -> "Loop":
        """Some of the loops."""
        return Loop(*(x[..., rows] for x in self))

    def spread(self) -> "Loop":
        """With an axis more, for values of an angle."""
        return Loop(*(x[..., None] for x in self))


def _equation(loop: Loop, x: Array, side: Sequence[float], case: Case) -> tuple[Array, list[Turn], Array]:
    """The equation at an angle, NaN where it has no solution; the first angles, and axis 6 in the frame behind them,
    (3, ...).
    """
    h, given = loop.h, (np.cos(x), np.sin(x))
    if case.narrow:
        return _equation_of_four(loop, given, side)
    if case.C_on_4 and case.along_1:
        first, second = given, _reaching(h[1], _turned(h[0], given, loop.goal, -1), loop.AB, loop.r2, side[0])
    else:
        first, second = _reaching(h[0], loop.goal, _turned(h[1], given, loop.AB), loop.r2, side[0]), given
    v = _turned(h[1], second, _turned(h[0], first, loop.goal, -1), -1) - loop.AB
    six = _turned(h[1], second, _turned(h[0], first, loop.six, -1), -1)
    if case.C_on_4:
        third = _turn(h[2], loop.BC, v)
        return dot(v - loop.BC, h[2]) / np.sqrt(loop.r2), [first, second, third], _turned(h[2], third, six, -1)
    third, fourth = _pair(h[2], h[3], loop.BC, v, side[1])
    six = _turned(h[3], fourth, _turned(h[2], third, six, -1), -1)
    return dot(h[4], six) - loop.five, [first, second, third, fourth], six


def _equation_of_four(loop: Loop, fourth: Turn, side: Sequence[float]) -> tuple[Array, list[Turn], Array]:
    """The equation at q4: q3 from the distance of C from A, then q1 and q2 in pairs."""
    h, b = loop.h, _turned(loop.h[3], fourth, loop.BC)
    third = _reaching(h[2], -loop.AB, b, dot(loop.goal, loop.goal), side[0])
    first, second = _pair(h[0], h[1], loop.AB + _turned(h[2], third, b), loop.goal, side[1])
    turns, six = [first, second, third, fourth], loop.six
    for k, turn in enumerate(turns):
        six = _turned(h[k], turn, six, -1)
    return dot(h[4], six) - loop.five, turns, six


def _reaching(h: Array, g: Array, z: Array, r2: Array, side: float) -> Turn:
    """The turn about h after which z is as far from g as the root of r2: g . R z = (g.g + z.z - r2) / 2."""
    along = dot(g, h) * dot(h, z)
    return _balanced(dot(g, z) - along, dot(g, cross(h, z)), (dot(g, g) + dot(z, z) - r2) / 2 - along, side)


def _balanced(P: Array, Q: Array, M: Array, side: float) -> Turn:
    """Cosine and sine with P c + Q s = M, NaN where there are none."""
    size = P * P + Q * Q
    with np.errstate(invalid="ignore", divide="ignore"):
        W = side * np.sqrt(size - M * M)
        return (P * M - Q * W) / size, (Q * M + P * W) / size


def _pair(h1: Array, h2: Array, p: Array, w: Array, side: float) -> tuple[Turn, Turn]:
    """Turns about h1 and h2 with R1 R2 p = w, NaN where there are none: R2 p = R1^T w = a h1 + b h2 + side g h1 x h2."""
    k, n = dot(h1, h2), cross(h1, h2)
    wide, on1, on2 = 1 - k * k, dot(w, h1), dot(p, h2)
    a, b = (on1 - k * on2) / wide, (on2 - k * on1) / wide
    with np.errstate(invalid="ignore", divide="ignore"):
        g = np.sqrt((dot(p, p) - a * a - b * b - 2 * a * b * k) / wide)
    z = a * h1 + b * h2 + side * g * n
    return _turn(h1, z, w), _turn(h2, p, z)


def _turn(h: Array, a: Array, b: Array) -> Turn:
    """The turn about h from a to b."""
    c, s = dot(a, b) - dot(h, a) * dot(h, b), dot(h, cross(a, b))
    with np.errstate(invalid="ignore", divide="ignore"):
        size = np.sqrt(c * c + s * s)
        return c / size, s / size


def _turned(h: Array, turn: Turn, v: Array, way: float = 1.0) -> Array:
    """v rotated about h; with way -1 in the opposite direction."""
    c, s = turn
    return c * v + way * s * cross(h, v) + (1 - c) * dot(h, v) * h


def _along(loop: Loop, case: Case) -> Iterator[tuple[Array, Array]]:
    """For each side, which loops have solutions, and these, (s,), (s, 6)."""
    step = 2 * np.pi / PLACES
    x = -np.pi + step * (np.arange(PLACES) + 0.437)
    f = {side: _equation(loop.spread(), x, side, case)[0] for side in (SIDES[::2] if case.C_on_4 else SIDES)}
    for side in f:
        rows, *brackets = _brackets(loop, side, case, x, f)
        some = loop.of_some(rows)
        value, turns, six = _equation(some, _refined(some, side, case, *brackets), side, case)
        kept = np.flatnonzero(np.abs(value) < CLOSE)
        last = _angles_on_axis if case.C_on_4 else _angles
        which, q = last(some.of_some(kept), [(c[kept], s[kept]) for c, s in turns], six[:, kept])
        yield rows[kept][which], q


def _brackets(loop: Loop, side: Sequence[float], case: Case, x: Array, sides: Mapping[Any, Array]) -> list[Array]:
    """Loops, two angles each, and the equation there, with different signs; once one angle where it always holds."""
    f, step = sides[tuple(side)], x[1] - x[0]
    after = np.roll(f, -1, axis=-1)
    with np.errstate(invalid="ignore"):
        always = np.abs(f) < CLOSE  # two axes on one line: any angle will do
        rows, place = np.nonzero((f * after <= 0) & ~always)
        free, where = np.nonzero(always)
    found = [
        (free, x[where], x[where], f[free, where], f[free, where]),
        (rows, x[place], x[place] + step, f[rows, place], after[rows, place]),
    ]
    # where solutions of two sides end, they meet: a root is between if their signs differ at the last place
    met = [g for g in ((-side[0], side[1]), (side[0], -side[1])) if g in sides]
    with np.errstate(invalid="ignore"):
        ends = np.logical_or.reduce([f * sides[g] < 0 for g in met])
    for way in (1, -1):
        rows, place = np.nonzero(ends & ~np.isfinite(np.roll(f, -way, axis=-1)))
        found.append(_end(loop.of_some(rows), side, case, rows, x[place], way * step, f[rows, place]))
    return [np.concatenate(x) for x in zip(*found, strict=True)]


def _end(
    loop: Loop, side: Sequence[float], case: Case, rows: Array, start: Array, step: float, f: Array
) -> tuple[Array, ...]:
    """Brackets up to where solutions end, within a step, if the equation has another sign there."""
    good, bad, value = start, start + step, f
    for _ in range(EDGE):
        middle = (good + bad) / 2
        at = _equation(loop, middle, side, case)[0]
        fine = np.isfinite(at)
        good, bad, value = np.where(fine, middle, good), np.where(fine, bad, middle), np.where(fine, at, value)
    kept = np.flatnonzero(value * f <= 0)
    return rows[kept], start[kept], good[kept], f[kept], value[kept]


def _refined(loop: Loop, side: Sequence[float], case: Case, low: Array, high: Array, f: Array, g: Array) -> Array:
    """The root of the equation between two points of different signs: the Illinois method."""
    for _ in range(STEPS):
        with np.errstate(invalid="ignore", divide="ignore"):
            middle = np.where(f == g, (low + high) / 2, (low * g - high * f) / (g - f))
        value = _equation(loop, middle, side, case)[0]
        if not (np.abs(value) > CLOSE / 100).any():
            return middle
        same = value * g > 0
        low, f = np.where(same, low, high), np.where(same, f / 2, g)
        high, g = middle, value
    return high


def _angles(loop: Loop, turns: Sequence[Turn], six: Array) -> tuple[Array, Array]:
    """All six angles, (m, 6): the last two from what axis 6 and a vector across it become."""
    h = loop.h
    fifth = _turn(h[4], h[5], six)
    across = cross(h[5], h[4])
    v = np.einsum("ijm,jm->im", loop.R, across)
    for k, turn in enumerate((*turns, fifth)):
        v = _turned(h[k], turn, v, -1)
    every = [*turns, fifth, _turn(h[5], across, v)]
    return np.arange(v.shape[-1]), np.stack([np.arctan2(s, c) for c, s in every], axis=-1)


def _angles_on_axis(loop: Loop, turns: Sequence[Turn], six: Array) -> tuple[Array, Array]:
    """Both q4 that bring axis 6 to its angle to axis 5, (h5 . R4^T six = five), and with each all six angles; some of all,
    where axes 4 and 5 are on one line and q4 is free."""
    h, found = loop.h, []
    along = dot(h[4], h[3]) * dot(h[3], six)
    P, Q, M = dot(h[4], six) - along, -dot(h[4], cross(h[3], six)), loop.five - along
    one_line = 1 - dot(h[3], h[4]) ** 2 < CLOSE
    tried = [(_balanced(P, Q, M, side), False) for side in (1.0, -1.0)] + [(turn, True) for turn in FREE]
    for turn, free in tried:
        fourth = np.broadcast_to(turn[0], P.shape), np.broadcast_to(turn[1], P.shape)
        kept = one_line & (np.abs(M) < CLOSE) if free else ~one_line & np.isfinite(fourth[0])
        rows = np.flatnonzero(kept)
        some = loop.of_some(rows)
        own = [(c[rows], s[rows]) for c, s in (*turns, fourth)]
        q = _angles(some, own, _turned(some.h[3], own[3], six[:, rows], -1))[1]
        found.append((rows, q))
    rows, q = (np.concatenate(x) for x in zip(*found, strict=True))
    return rows, q


def dot(a: Array, b: Array) -> Array:
    """Scalar product, components first."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Array, b: Array) -> Array:
    """Vector product, components first."""
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _inverse(X: Array) -> Array:
    R = X[:, :3, :3].swapaxes(1, 2)
    out = np.zeros_like(X)
    out[:, :3, :3], out[:, :3, 3], out[:, 3, 3] = R, -(R @ X[:, :3, 3, None])[..., 0], 1.0
    return out
