"""Six turns whose first three axes are parallel: what lies along them is kept by the first three joints.

With h the direction of axes 1, 2, 3 and E_1 E_2 E_3 E_4 E_5 E_6 = T: h . R_4 R_5 R_6 v = h . R v for every direction v, and
h . E_4 E_5 E_6 p = h . T p for every point p. Where two neighbours of axes 4, 5, 6 meet or are parallel these give q4, q5, q6 by
square roots; the rest is an arm of three joints in the plane. Over any scalars and leading axes; lengths are relative to the size.
"""

from collections.abc import Callable, Iterator, Sequence

from modurob.kinematics.inverse.axes import Axis, Motion, meeting_point, parallel
from modurob.kinematics.inverse.points import Solutions, in_the_plane, moved, moved_by, turned_back_by, turned_by
from modurob.kinematics.inverse.subproblems import Turn, sp2, sp4, wrapped
from modurob.spatial.scalars import Array, dot

Axes = Sequence[Axis]
Wrist = tuple[Turn, Turn, Turn]
Wrists = Callable[[Axes, Motion], Iterator[Wrist]]


def wrists_of(axes: Axes, size: float) -> tuple[str, Axes, Wrists] | None:
    """Words, the axes by the points that are wanted, and how q4, q5, q6 are found; None if no neighbours meet or are parallel."""
    a4, a5, a6 = axes[3:]
    last, first = meeting_point([a5, a6], size), meeting_point([a4, a5], size)
    if last is not None:
        return "5 and 6 meet", (*axes[:4], a5.through(last), a6.through(last)), _last_meet
    if first is not None:
        return "4 and 5 meet", (*axes[:3], a4.through(first), a5.through(first), a6), _first_meet
    if parallel(a5, a6):
        return "5 and 6 parallel", axes, _last_parallel
    return ("4 and 5 parallel", axes, _first_parallel) if parallel(a4, a5) else None


def solutions(wrists: Wrists, axes: Axes, to: Motion) -> Solutions:
    """All angles, given how q4, q5, q6 are found."""
    for wrist in wrists(axes, to):
        u, p = to.seen[0].u, to.seen[2].o
        # E_1 E_2 E_3 = T E_6^-1 E_5^-1 E_4^-1
        for a, t in zip(to.seen[3:], wrist, strict=True):
            u, p = t.back().rotate(a.h, u), moved(a, t.back(), p)
        for arm in in_the_plane(axes[:3], turned_by(to.X, u), moved_by(to.X, p)):
            yield (*arm, *wrist)


def _last_meet(axes: Axes, to: Motion) -> Iterator[Wrist]:
    """The point p of axes 5 and 6: h . E_4 p = h . T p, then R_5^T (R_4^T h) = R_6 (R^T h)."""
    h, a4, p, (b4, b5, b6) = axes[0].h, axes[3], axes[4].o, to.seen[3:]
    goal = turned_back_by(to.X, h)
    for t4 in sp4(h, a4.h, p - a4.o, dot(h, moved_by(to.X, b5.o) - a4.o)):
        for back5, t6 in sp2(b5.h, t4.back().rotate(b4.h, to.seen[0].h), b6.h, goal):
            yield t4, back5.back(), t6


def _first_meet(axes: Axes, to: Motion) -> Iterator[Wrist]:
    """The point p of axes 4 and 5: h . p = h . T E_6^-1 p, then R_4^T h = R_5 (R_6 R^T h)."""
    h, p, (b4, b5, b6) = axes[0].h, axes[3].o, to.seen[3:]
    goal = turned_back_by(to.X, h)
    for t6 in sp4(b4.o - b6.o, b6.h, goal, dot(h, p - moved_by(to.X, b6.o))):
        for back4, t5 in sp2(b4.h, to.seen[0].h, b5.h, t6.rotate(b6.h, goal)):
            yield back4.back(), t5, t6


def _last_parallel(axes: Axes, to: Motion) -> Iterator[Wrist]:
    """With s = q5 + q6: R_4^T h = R_5(s) R^T h, then h . R_4 R_5 (o6 - o5) = h . (T o6 - E_4 o5)."""
    h, a4, a5, (b4, b5, b6) = axes[0].h, axes[3], axes[4], to.seen[3:]
    sign, there = dot(b5.h, b6.h), moved_by(to.X, b6.o)
    for back4, total in sp2(b4.h, to.seen[0].h, b5.h, turned_back_by(to.X, h)):
        t4, seen = back4.back(), back4.rotate(b4.h, to.seen[0].h)
        for back5 in sp4(b6.o - b5.o, b5.h, seen, dot(h, there - moved(a4, t4, a5.o))):
            t5 = back5.back()
            yield t4, t5, _difference(total, t5, sign)


def _first_parallel(axes: Axes, to: Motion) -> Iterator[Wrist]:
    """With s = q4 + q5: R_4(s)^T h = R_6 R^T h, then h . R_4 (o5 - o4) = h . (T o6 - o4 - R_4(s) (o6 - o5))."""
    h, (a4, a5, a6), (b4, b5, b6) = axes[0].h, axes[3:], to.seen[3:]
    sign, there = dot(b4.h, b5.h), moved_by(to.X, b6.o)
    for back, t6 in sp2(b4.h, to.seen[0].h, b6.h, turned_back_by(to.X, h)):
        total = back.back()
        for t4 in sp4(h, a4.h, a5.o - a4.o, dot(h, there - a4.o - total.rotate(a4.h, a6.o - a5.o))):
            yield t4, _difference(total, t4, sign), t6


def _difference(total: Turn, t: Turn, sign: Array) -> Turn:
    """What is left of a sum of two turns, about an axis that may point the other way."""
    rest = total.then(t.back())
    return Turn(rest.c, rest.s * sign, angle=wrapped(sign * (total.value - t.value)))
