"""Three joints that bring a point to a place: E_1 E_2 E_3 p = target, with all solutions, for turns and slides in any order.

Over any scalars and leading axes. Lengths are relative to the size of the chain.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from modurob.kinematics.inverse.axes import Axis, common_normal, meeting_point, parallel
from modurob.kinematics.inverse.subproblems import (
    Coordinate,
    Slide,
    Turn,
    quadratic,
    quadric,
    sp1,
    sp2,
    sp3,
    sp4,
    sp6,
    waves,
    wrapped,
)
from modurob.spatial.scalars import Array, cross, dot

Axes = Sequence[Axis]
Solutions = Iterator[tuple[Coordinate, ...]]
Solve = Callable[[Axes, Array, Array], Solutions]
# how nearly two directions are perpendicular for a slide to have no part along the other
ACROSS = 1e-5


def moved(a: Axis, t: Coordinate, p: Array) -> Array:
    """E p."""
    if isinstance(t, Slide):
        return p + np.asarray(t.value)[..., None] * a.h
    return a.o + t.rotate(a.h, p - a.o)


def turned(a: Axis, t: Coordinate, v: Array) -> Array:
    """The direction v, turned with E."""
    return v if isinstance(t, Slide) else t.rotate(a.h, v)


def turned_by(X: Array, v: Array) -> Array:
    """R v of a pose or rotation X."""
    return np.stack([dot(X[..., i, :3], v) for i in range(3)], axis=-1)


def turned_back_by(X: Array, v: Array) -> Array:
    """R^T v."""
    return np.stack([dot(X[..., :3, i], v) for i in range(3)], axis=-1)


def moved_by(X: Array, p: Array) -> Array:
    """X p."""
    return turned_by(X, p) + X[..., :3, 3]


def backwards(solve: Solve) -> Solve:
    """The same joints from the place to the point: E_3^-1 E_2^-1 E_1^-1 target = p."""

    def solve_backwards(axes: Axes, p: Array, target: Array) -> Solutions:
        for found in solve([a.reversed() for a in axes[::-1]], target, p):
            yield found[::-1]

    solve_backwards.__name__ = f"{solve.__name__} backwards"
    return solve_backwards


# ---- three turns ----


def last_two_parallel(axes: Axes, p: Array, target: Array) -> Solutions:
    """h2 = h3: the part along h2 gives q1, the distance from axis 2 gives q3, then q2."""
    a1, a2, a3 = axes
    for back in sp4(a2.h, a1.h, target - a1.o, dot(a2.h, p - a1.o)):
        yield from _planar(back.back(), a2, a3, p, moved(a1, back, target))


def _planar(t1: Turn, a2: Axis, a3: Axis, p: Array, target: Array) -> Solutions:
    """E_2 E_3 p = target, axes parallel; what lies along them is right already."""
    across = lambda v: v - dot(a2.h, v)[..., None] * a2.h  # noqa: E731
    to, away = across(target - a2.o), across(a3.o - a2.o)
    arm = across(p - a3.o)
    for t3 in sp3(a3.h, arm, -away, dot(to, to)):
        yield t1, sp1(a2.h, away + t3.rotate(a3.h, arm), to), t3


def in_the_plane(axes: Axes, u: Array, target: Array) -> Iterator[tuple[Turn, Turn, Turn]]:
    """Three parallel axes that take their common u to the direction u and the point of the last axis to the target: the sum of the
    angles, then two links in the plane."""
    a1, a2, a3 = axes
    total = sp1(a1.h, a1.u, u)
    across = lambda v: v - dot(a1.h, v)[..., None] * a1.h  # noqa: E731
    to, away, arm = across(target - a1.o), across(a2.o - a1.o), across(a3.o - a2.o)
    for t2 in sp3(a2.h, arm, -away, dot(to, to)):
        t1 = sp1(a1.h, away + t2.rotate(a2.h, arm), to)
        yield t1, t2, _rest(total, (a1, t1), (a2, t2), a3)


def _rest(total: Turn, first: tuple[Axis, Turn], second: tuple[Axis, Turn], a3: Axis) -> Turn:
    """q3 = total - q1 - q2, about an axis that may point the other way, as that of q2 may; nothing new to go wrong."""
    (a1, t1), (a2, t2) = first, second
    sign2, sign3 = dot(a1.h, a2.h), dot(a1.h, a3.h)
    rest = total.then(t1.back()).then(t2._replace(s=t2.s * sign2).back())
    return Turn(rest.c, rest.s * sign3, angle=wrapped(sign3 * (total.value - t1.value - sign2 * t2.value)))


def first_two_meet(axes: Axes, p: Array, target: Array) -> Solutions:
    """o1 = o2: the distance from there gives q3, then q1 and q2."""
    a1, a2, a3 = axes
    to = target - a1.o
    for t3 in sp3(a3.h, p - a3.o, a1.o - a3.o, dot(to, to)):
        arm = moved(a3, t3, p) - a1.o
        for back, t2 in sp2(a1.h, to, a2.h, arm):
            yield back.back(), t2, t3


def three_turns(axes: Axes, p: Array, target: Array) -> Solutions:
    """q2 keeps the part along h2 and the distance from o2: two equations in q1 and q3."""
    a1, a2, a3 = axes
    # o2 + to(q1), seen before turn 2, and o2 + arm(q3)
    to, arm = waves(-a1.h, target - a1.o), waves(a3.h, p - a3.o)
    to0, arm0 = to[..., :, 0] + a1.o - a2.o, arm[..., :, 0] + a3.o - a2.o
    lengths = lambda W, w0: 2 * np.stack([dot(w0, W[..., :, k]) for k in (1, 2)], axis=-1)  # noqa: E731
    along = lambda W: np.stack([dot(a2.h, W[..., :, k]) for k in (1, 2)], axis=-1)  # noqa: E731
    squared = lambda W, w0: dot(w0, w0) + dot(W[..., :, 1], W[..., :, 1])  # noqa: E731
    A = np.stack(np.broadcast_arrays(along(to), lengths(to, to0)), axis=-2)
    B = np.stack(np.broadcast_arrays(-along(arm), -lengths(arm, arm0)), axis=-2)
    e = np.stack(np.broadcast_arrays(dot(a2.h, arm0 - to0), squared(arm, arm0) - squared(to, to0)), axis=-1)
    for t1, t3 in sp6(A, B, e):
        yield t1, sp1(a2.h, moved(a3, t3, p) - a2.o, moved(a1, t1.back(), target) - a2.o), t3


# ---- with slides ----


def slide_turn_turn(axes: Axes, p: Array, target: Array) -> Solutions:
    """The part along h2 gives q1 by q3, the distance from o2 gives q3."""
    a1, a2, a3 = axes
    arm = _shifted(waves(a3.h, p - a3.o), a3.o - a2.o)
    rise = np.stack([dot(a2.h, arm[..., :, k]) for k in range(3)], axis=-1)
    height = dot(a2.h, target - a2.o)
    lean = dot(a2.h, a1.h)
    q1 = (_first(height) - rise) / lean[..., None]
    to = _first(target - a2.o) - a1.h[:, None] * q1[..., None, :]
    for t3 in quadric(_gram(to) - _gram(arm)):
        yield _finished_slide(a1, a2, a3, Slide(_at(q1, t3)), t3, p, target)


def slide_turn_turn_across(axes: Axes, p: Array, target: Array) -> Solutions:
    """The same for h1 across h2: the part along h2 gives q3, the distance from o2 gives q1."""
    a1, a2, a3 = axes
    to = target - a2.o
    for t3 in sp4(a2.h, a3.h, p - a3.o, dot(a2.h, target - a3.o)):
        arm = moved(a3, t3, p) - a2.o
        for x in quadratic(dot(a1.h, a1.h), -dot(a1.h, to), dot(to, to) - dot(arm, arm)):
            yield _finished_slide(a1, a2, a3, x, t3, p, target)


def _finished_slide(
    a1: Axis, a2: Axis, a3: Axis, x: Slide, t3: Turn, p: Array, target: Array
) -> tuple[Coordinate, ...]:
    return x, sp1(a2.h, moved(a3, t3, p) - a2.o, moved(a1, x.back(), target) - a2.o), t3


def turn_slide_turn(axes: Axes, p: Array, target: Array) -> Solutions:
    """The part along h1 gives q2 by q3, the distance from o1 gives q3."""
    a1, a2, a3 = axes
    arm = _shifted(waves(a3.h, p - a3.o), a3.o - a1.o)
    rise = np.stack([dot(a1.h, arm[..., :, k]) for k in range(3)], axis=-1)
    to = target - a1.o
    q2 = (_first(dot(a1.h, to)) - rise) / dot(a1.h, a2.h)[..., None]
    Q = _gram(arm + a2.h[:, None] * q2[..., None, :])
    for t3 in quadric(Q - _first(dot(to, to))[..., None] * np.eye(3)[0]):
        yield _finished_between(a1, a2, a3, Slide(_at(q2, t3)), t3, p, target)


def turn_slide_turn_across(axes: Axes, p: Array, target: Array) -> Solutions:
    """The same for h2 across h1: the part along h1 gives q3, the distance from o1 gives q2."""
    a1, a2, a3 = axes
    to = target - a1.o
    for t3 in sp4(a1.h, a3.h, p - a3.o, dot(a1.h, target - a3.o)):
        arm = moved(a3, t3, p) - a1.o
        for x in quadratic(dot(a2.h, a2.h), dot(a2.h, arm), dot(arm, arm) - dot(to, to)):
            yield _finished_between(a1, a2, a3, x, t3, p, target)


def _finished_between(
    a1: Axis, a2: Axis, a3: Axis, x: Slide, t3: Turn, p: Array, target: Array
) -> tuple[Coordinate, ...]:
    return sp1(a1.h, moved(a2, x, moved(a3, t3, p)) - a1.o, target - a1.o), x, t3


def turn_slide_slide(axes: Axes, p: Array, target: Array) -> Solutions:
    """The part across both slides gives q1, the others are linear."""
    a1, a2, a3 = axes
    n = cross(a2.h, a3.h)
    for back in sp4(n, a1.h, target - a1.o, dot(n, p - a1.o)):
        gap = moved(a1, back, target) - p
        yield back.back(), _part(gap, a2.h, cross(a3.h, n)), _part(gap, a3.h, cross(n, a2.h))


def slide_turn_slide(axes: Axes, p: Array, target: Array) -> Solutions:
    """The part along h2 is linear in both slides, the distance from o2 quadratic."""
    a1, a2, a3 = axes
    lean1, lean3 = dot(a2.h, a1.h), dot(a2.h, a3.h)
    to, arm = target - a2.o, p - a2.o
    share = dot(a2.h, to - arm) / (lean1 * lean1 + lean3 * lean3)
    # (q1, q3) = share (lean1, lean3) + x (-lean3, lean1)
    times = lambda x, h: np.asarray(x)[..., None] * h  # noqa: E731
    to, arm = to - times(share * lean1, a1.h), arm + times(share * lean3, a3.h)
    a, b = times(lean3, a1.h), times(lean1, a3.h)
    for x in quadratic(dot(a, a) - dot(b, b), dot(a, to) - dot(b, arm), dot(to, to) - dot(arm, arm)):
        first = Slide(share * lean1 - x.value * lean3, x.room)
        last = Slide(share * lean3 + x.value * lean1)
        yield first, sp1(a2.h, moved(a3, last, p) - a2.o, moved(a1, first.back(), target) - a2.o), last


def three_slides(axes: Axes, p: Array, target: Array) -> Solutions:
    """Linear."""
    h1, h2, h3 = (a.h for a in axes)
    gap = target - p
    yield _part(gap, h1, cross(h2, h3)), _part(gap, h2, cross(h3, h1)), _part(gap, h3, cross(h1, h2))


def _part(gap: Array, h: Array, n: Array) -> Slide:
    """The part of a gap along h, others being across n."""
    return Slide(dot(n, gap) / dot(n, h))


def _first(x: Array) -> Array:
    """x as the constant of (1, cos t, sin t), on a new last axis."""
    return np.stack([x, 0 * x, 0 * x], axis=-1)


def _shifted(W: Array, by: Array) -> Array:
    return W + _first(by)


def _gram(W: Array) -> Array:
    """W^T W, (..., 3, 3)."""
    return np.stack([np.stack([dot(W[..., :, i], W[..., :, j]) for j in range(3)], axis=-1) for i in range(3)], axis=-2)


def _at(row: Array, t: Turn) -> Array:
    return row[..., 0] + row[..., 1] * t.c + row[..., 2] * t.s


# ---- which of them ----


def chosen(axes: Axes, size: float) -> tuple[Solve, list[Axis], str] | None:
    """How three joints are solved: the function, the axes by the points that it wants, and words; None if they cannot be."""
    kinds: list[str] = ["turn" if a.turns else "slide" for a in axes]
    found = _ways(axes, kinds, size)
    if found is None:
        back = _ways([a.reversed() for a in axes[::-1]], kinds[::-1], size)
        if back is not None:
            solve, other, words = back
            found = backwards(solve), [a.reversed() for a in other[::-1]], f"{words}, from the tip"
    return found


def _ways(axes: Axes, kinds: list[str], size: float) -> tuple[Solve, list[Axis], str] | None:
    a1, a2, a3 = axes
    lean = lambda a, b: abs(a.h @ b.h) > ACROSS  # noqa: E731
    match kinds:
        case ["turn", "turn", "turn"]:
            return _turns(a1, a2, a3, size)
        case ["slide", "turn", "turn"]:
            solve = slide_turn_turn if lean(a1, a2) else slide_turn_turn_across
        case ["turn", "slide", "turn"]:
            solve = turn_slide_turn if lean(a1, a2) else turn_slide_turn_across
        case ["turn", "slide", "slide"]:
            solve = turn_slide_slide if not parallel(a2, a3) else None
        case ["slide", "turn", "slide"]:
            solve = slide_turn_slide if lean(a1, a2) or lean(a2, a3) else None
        case ["slide", "slide", "slide"]:
            solve = three_slides if abs(np.linalg.det([a.h for a in axes])) > ACROSS else None
        case _:
            solve = None
    return (solve, list(axes), " ".join(kinds)) if solve else None


def _turns(a1: Axis, a2: Axis, a3: Axis, size: float) -> tuple[Solve, list[Axis], str] | None:
    """The special ways first, from either end; the general way only where neither end has one."""
    if parallel(a2, a3):
        return (last_two_parallel, [a1, a2, a3], "two parallel axes") if not parallel(a1, a2) else None
    point = meeting_point([a1, a2], size)
    if point is not None:
        return first_two_meet, [a1.through(point), a2.through(point), a3], "two axes that meet"
    if parallel(a1, a2) or meeting_point([a2, a3], size) is not None:
        return None
    (_, p2), (_, p3) = common_normal(a1, a2), common_normal(a2, a3)
    return three_turns, [a1, a2.through(p2), a3.through(p3)], "three axes"
