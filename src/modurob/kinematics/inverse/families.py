"""Six joints whose geometry allows a closed form, found by themselves: E_1 ... E_6 = T with all solutions.

The families are those of Pieper (three axes that meet, or are parallel) as Elias and Wen solve them (IK-Geo). A family looks at the
axes and answers with how it solves them, or None. Solutions are over any scalars and leading axes; lengths are relative
to the size of the chain.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from modurob.kinematics.inverse import outer_parallel, points
from modurob.kinematics.inverse.axes import Axis, Motion, common_normal, meeting_point, parallel
from modurob.kinematics.inverse.points import (
    Solutions,
    in_the_plane,
    moved,
    moved_by,
    turned,
    turned_back_by,
    turned_by,
)
from modurob.kinematics.inverse.subproblems import (
    FREE_TWICE,
    ONE,
    ZERO,
    Coordinate,
    Slide,
    Turn,
    either_side,
    held,
    sp1,
    sp4,
    sp6,
    waves,
)
from modurob.spatial import se3
from modurob.spatial.scalars import Array, cross, dot, maximum, sqrt

Axes = Sequence[Axis]
# how nearly axes are perpendicular to count as such
ACROSS = 1e-14


@dataclass(frozen=True, eq=False)
class Way:
    """How a chain is solved: a function of axes and motion, the axes by the points that it wants, and words."""

    name: str
    axes: tuple[Axis, ...]
    solve: Callable[[Axes, Motion], Solutions]
    detail: str = (
        ""  # what else the solution depends on: with the name, the same for two arms only if their solution is
    )


# ---- three turns about one point give an orientation ----


Orientation = tuple[Turn, Turn, Turn]


def orientations(axes: Axes, R: Array) -> Iterator[Orientation]:
    """R_1 R_2 R_3 = R, (..., 3, 3); see `about_point`."""
    return about_point(axes, turned_by(R, axes[2].h), turned_by(R, axes[2].u))


def about_point(axes: Axes, tip: Array, side: Array) -> Iterator[Orientation]:
    """R_1 R_2 R_3 = R by tip = R h3 and side = R u3: q2 from h1 . R_2 h3 = h1 . tip, then q1, then q3; q1 is free where
    h1 and R_2 h3 are one line."""
    a1, a2, a3 = axes
    for t2 in sp4(a1.h, a2.h, a3.h, dot(a1.h, tip)):
        yield _ends(axes, tip, side, t2)


def about_point_across(axes: Axes, tip: Array, side: Array) -> Iterator[Orientation]:
    """The same where h2 is across h1 and h3, by tip = R h3 and side = R h2 along (h2, h1 x h2, h1): the second solution
    has q1 and q3 half a turn on."""
    a1, a2, a3 = axes
    x, y, near = (tip[..., k] for k in range(3))
    squared = x * x + y * y
    each = 1 / sqrt(maximum(squared, np.asarray(1e-300)))
    # R_2 h3 = (0, -w, near), R_2 (h3 x h2) = (0, near, w); the length of R h2 across h3 is one
    w = squared * each
    c, s = held(squared, FREE_TWICE, ONE, -y * each), held(squared, FREE_TWICE, ZERO, x * each)
    along, over = c * side[..., 0] + s * side[..., 1], c * side[..., 1] - s * side[..., 0]
    t1, t3 = Turn(c, s, ONE, squared), Turn(along, near * over + w * side[..., 2])
    first, second = either_side(dot(a1.h, a3.h), dot(cross(a1.h, a2.h), a3.h), near, w, squared, ONE)
    yield t1, first, t3
    yield t1.opposite(squared), second, t3.opposite(squared)


def _ends(axes: Axes, tip: Array, side: Array, t2: Turn) -> Orientation:
    """q1 and q3 by q2."""
    a1, a2, a3 = axes
    t1 = sp1(a1.h, t2.rotate(a2.h, a3.h), tip)
    t3 = sp1(a3.h, a3.u, t2.back().rotate(a2.h, t1.back().rotate(a1.h, side)))
    return t1, t2, t3._replace(lever=ONE)


def _are_across(axes: Axes) -> bool:
    """Whether the middle axis of three is across the other two."""
    a1, a2, a3 = axes
    return max(abs(float(a1.h @ a2.h)), abs(float(a2.h @ a3.h))) < ACROSS


def _components(
    axes: Axes, found: Sequence[Coordinate], basis: Sequence[Array], vectors: Sequence[Array]
) -> list[Array]:
    """(R_1 ... R_n)^T v along two unit vectors across each other and their product, (..., 3) each."""
    for a, t in zip(axes[:0:-1], found[:0:-1], strict=True):
        basis = [turned(a, t, e) for e in basis]
    back = [turned(axes[0], found[0].back(), v) for v in vectors]
    whole = (*basis, cross(*basis))
    return [np.stack([dot(e, v) for e in whole], axis=-1) for v in back]


def spherical_wrist(axes: Axes, size: float) -> Way | None:
    """The last three axes meet in a point, which the first three joints put in place."""
    if len(axes) != 6 or not all(a.turns for a in axes[3:]):
        return None
    centre = meeting_point(axes[3:], size)
    if centre is None or parallel(axes[3], axes[4]) or parallel(axes[4], axes[5]):
        return None
    way = points.chosen(axes[:3], size)
    if way is None:
        return None
    place, first, words = way
    across = _are_across(axes[3:])
    wrists = about_point_across if across else about_point

    def solve(axes: Axes, to: Motion) -> Solutions:
        (a4, a5, _), (b4, b5, b6) = axes[3:], to.seen[3:]
        basis, side = ((a5.h, cross(a4.h, a5.h)), b5.h) if across else (tuple(np.eye(3)[:2]), b6.u)
        goals = turned_by(to.X, b6.h), turned_by(to.X, side)
        for found in place(axes[:3], a4.o, moved_by(to.X, b4.o)):
            for wrist in wrists(axes[3:], *_components(axes[:3], found, basis, goals)):
                yield (*found, *wrist)

    detail = f"{place.__name__}, {wrists.__name__}"
    return Way(f"spherical wrist, {words}", (*first, *(a.through(centre) for a in axes[3:])), solve, detail)


# ---- three parallel axes ----


def three_parallel(axes: Axes, size: float) -> Way | None:
    """Axes 2, 3, 4 are parallel: what lies along them gives q1 and q5."""
    if len(axes) != 6 or not all(a.turns for a in axes) or not parallel(*axes[1:4]):
        return None
    a1, a2, _, _, a5, a6 = axes
    if parallel(a1, a2) or parallel(a2, a5):
        return None
    centre = meeting_point([a5, a6], size)
    if centre is not None:
        return Way(
            "2, 3, 4 parallel, 5 and 6 meet", (*axes[:4], a5.through(centre), a6.through(centre)), _with(_meeting)
        )
    if parallel(a5, a6):
        return Way("2, 3, 4 parallel, 5 and 6 parallel", tuple(axes), _with(_wrist_parallel))
    o5, o6 = common_normal(a5, a6)
    return Way("2, 3, 4 parallel", (*axes[:4], a5.through(o5), a6.through(o6)), _with(_skew))


Ends = Callable[[Axes, Array, Array], Iterator[tuple[Turn, Turn]]]


def _with(ends: Ends) -> Callable[[Axes, Motion], Solutions]:
    """All angles, given how q1 and q5 are found from the direction T h6 and the point T o6."""

    def solve(axes: Axes, to: Motion) -> Solutions:
        b6 = to.seen[5]
        for t1, t5 in ends(axes, turned_by(to.X, b6.h), moved_by(to.X, b6.o)):
            yield from _middle(axes, to, t1, t5)

    return solve


def _meeting(axes: Axes, tip: Array, p: Array) -> Iterator[tuple[Turn, Turn]]:
    """h2 . R_1^T (p - o1) = h2 . (o5 - o1), then h2 . R_5 h6 = h2 . R_1^T T h6."""
    a1, a2, _, _, a5, a6 = axes
    for back in sp4(a2.h, a1.h, p - a1.o, dot(a2.h, a5.o - a1.o)):
        for t5 in sp4(a2.h, a5.h, a6.h, dot(a2.h, back.rotate(a1.h, tip))):
            yield back.back(), t5


def _wrist_parallel(axes: Axes, tip: Array, p: Array) -> Iterator[tuple[Turn, Turn]]:
    """h2 . R_1^T T h6 = h2 . h6, then h2 . R_5 (o6 - o5) = h2 . (R_1^T (p - o1) + o1 - o5)."""
    a1, a2, _, _, a5, a6 = axes
    for back in sp4(a2.h, a1.h, tip, dot(a2.h, a6.h)):
        for t5 in sp4(a2.h, a5.h, a6.o - a5.o, dot(a2.h, moved(a1, back, p) - a5.o)):
            yield back.back(), t5


def _skew(axes: Axes, tip: Array, p: Array) -> Iterator[tuple[Turn, Turn]]:
    """Both equations together."""
    a1, a2, _, _, a5, a6 = axes
    rows = lambda W: np.stack([dot(a2.h, W[..., :, k]) for k in range(3)], axis=-1)  # noqa: E731
    first, second = rows(waves(-a1.h, tip)), rows(waves(-a1.h, p - a1.o))
    third, fourth = rows(waves(a5.h, a6.h)), rows(waves(a5.h, a6.o - a5.o))
    A = np.stack(np.broadcast_arrays(first[..., 1:], second[..., 1:]), axis=-2)
    B = -np.stack(np.broadcast_arrays(third[..., 1:], fourth[..., 1:]), axis=-2)
    e = np.stack(
        np.broadcast_arrays(third[..., 0] - first[..., 0], fourth[..., 0] - second[..., 0] + dot(a2.h, a5.o - a1.o)),
        axis=-1,
    )
    yield from sp6(A, B, e)


def _middle(axes: Axes, to: Motion, t1: Turn, t5: Turn) -> Solutions:
    """q6 from R_6 T^-1 R_1 h2 = R_5^T h2, the sum q2 + q3 + q4 from the rotation, then two links in the plane."""
    a1, a2, (_, b2, _, b4, b5, b6) = axes[0], axes[1], to.seen
    t6 = sp1(b6.h, turned_back_by(to.X, t1.rotate(a1.h, a2.h)), t5.back().rotate(b5.h, b2.h))
    # E_2 E_3 E_4 = E_1^-1 T E_6^-1 E_5^-1
    u = turned_by(to.X, t6.back().rotate(b6.h, t5.back().rotate(b5.h, b2.u)))
    p = moved_by(to.X, moved(b6, t6.back(), moved(b5, t5.back(), b4.o)))
    u, target = t1.back().rotate(a1.h, u), moved(a1, t1.back(), p)
    for arm in in_the_plane(axes[1:4], u, target):
        yield t1, *arm, t5, t6


def three_outer_parallel(axes: Axes, size: float) -> Way | None:
    """Axes 1, 2, 3 are parallel, and two neighbours of the others meet or are parallel."""
    if len(axes) != 6 or not all(a.turns for a in axes) or not parallel(*axes[:3]):
        return None
    found = outer_parallel.wrists_of(axes, size)
    if found is None:
        return None
    words, axes, wrists = found
    return Way(f"1, 2, 3 parallel, {words}", tuple(axes), partial(outer_parallel.solutions, wrists))


# ---- three turns and three slides ----


def three_slides(axes: Axes, size: float) -> Way | None:
    """Three turns give the orientation, whatever the order; the slides are then linear."""
    turning = [k for k, a in enumerate(axes) if a.turns]
    if len(axes) != 6 or len(turning) != 3:
        return None
    t = [axes[k] for k in turning]
    if parallel(t[0], t[1]) or parallel(t[1], t[2]) or not _are_independent(axes):
        return None

    def solve(axes: Axes, to: Motion) -> Solutions:
        T = to.T
        for found in orientations([axes[k] for k in turning], se3.rotation(T)):
            angles = dict(zip(turning, found, strict=True))
            yield _with_slides(axes, T, [angles.get(k) for k in range(6)])

    return Way("three turns and three slides", tuple(axes), solve)


# angles at which directions are looked at that depend on them
ANGLES = (0.7390851, -1.1341217, 2.0287578)


def _are_independent(axes: Axes) -> bool:
    """Whether three slides move a point in three directions, unless the turns between them stand in a special way."""
    angles = iter(ANGLES)
    turns = [Turn(np.cos(x), np.sin(x)) if a.turns and (x := next(angles)) else None for a in axes]
    h1, h2, h3 = _directions(axes, turns)[1]
    return abs(float(dot(h1, cross(h2, h3)))) > ACROSS


def _directions(axes: Axes, found: Sequence[Turn | None]) -> tuple[Array, list[Array]]:
    """Where the slides leave the origin at zero, and along what they move it, the last first."""
    p, directions = np.zeros(3), []
    for a, t in zip(axes[::-1], found[::-1], strict=True):
        if t is None:
            directions.append(a.h)
        else:
            directions = [turned(a, t, h) for h in directions]
            p = moved(a, t, p)
    return p, directions


def _with_slides(axes: Axes, T: Array, found: list[Turn | None]) -> tuple[Coordinate, ...]:
    """The slides: T 0 = E_1 ... E_6 0 is linear in them."""
    p, (h3, h2, h1) = _directions(axes, found)
    gap = se3.position(T) - p
    normals = cross(h2, h3), cross(h3, h1), cross(h1, h2)
    det = dot(h1, normals[0])
    slides = iter([Slide(dot(n, gap) / det) for n in normals])
    return tuple(next(slides) if t is None else t for t in found)


# ---- from either end ----


def reversed_way(family: Callable[[Axes, float], Way | None]) -> Callable[[Axes, float], Way | None]:
    """The family seen from the tip: the axes in reverse, for the inverse motion."""

    def seen_from_tip(axes: Axes, size: float) -> Way | None:
        way = family([a.reversed() for a in axes[::-1]], size)
        if way is None:
            return None

        def solve(axes: Axes, to: Motion) -> Solutions:
            for found in way.solve([a.reversed() for a in to.seen[::-1]], to.back(axes)):
                yield found[::-1]

        return Way(
            f"{way.name}, from the tip", tuple(a.reversed() for a in way.axes[::-1]), solve, f"reversed {way.detail}"
        )

    return seen_from_tip


# the best first: those of square roots alone, then those with a quartic
FAMILIES = (
    spherical_wrist,
    reversed_way(spherical_wrist),
    three_parallel,
    reversed_way(three_parallel),
    three_outer_parallel,
    reversed_way(three_outer_parallel),
    three_slides,
)
QUARTIC = ("three axes", "slide turn", "turn slide turn")


def way_of(axes: Axes, size: float) -> Way | None:
    """How six joints are solved in closed form, or None."""
    found = [way for way in (family(axes, size) for family in FAMILIES) if way is not None]
    return min(found, key=effort) if found else None


def effort(way: Way) -> int:
    """0 for square roots alone, 1 for a quartic."""
    return int(
        way.name in ("2, 3, 4 parallel", "2, 3, 4 parallel, from the tip") or any(w in way.name for w in QUARTIC)
    )
