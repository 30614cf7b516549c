"""Equations in one to three angles with all of their solutions, over any scalars and leading axes.

Paden and Kahan's subproblems as extended by Elias and Wen (IK-Geo: Unified robot inverse kinematics using subproblem
decomposition). R(k, t) is a turn by t about the unit vector k. Angles are carried as cosine and sine. An equation without
a solution is solved in least squares; `room` is then negative. Lengths are relative to the size of the chain.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from modurob.spatial.scalars import Array, absolute, atan2, cross, dot, maximum, minimum, rint, select, sqrt

# a squared lever below which an angle is free: its equation holds at any angle
FREE = 1e-20
FREE_TWICE = 1e-14  # the same for two levers, as vectors that are turned onto each other have
ZERO, ONE = np.zeros(()), np.ones(())
TURN = 2 * np.pi


class Turn(NamedTuple):
    """An angle of a solution.

    `room` is how far it is from having none, the squared sine between its two solutions: negative if there is none. `lever` is what
    the equation gives to hold on to: the angle is free where it vanishes.
    """

    c: Array
    s: Array
    room: Array = ONE
    lever: Array = ONE
    angle: Array | None = None  # in [-pi, pi] [rad], where it is known

    @property
    def value(self) -> Array:
        """The angle in [-pi, pi] [rad]."""
        return atan2(self.s, self.c) if self.angle is None else self.angle

    def rotate(self, k: Array, p: Array) -> Array:
        """R(k, t) p."""
        c, s = np.asarray(self.c)[..., None], np.asarray(self.s)[..., None]
        along = dot(k, p)[..., None] * k
        return along + c * (p - along) + s * cross(k, p)

    def back(self) -> "Turn":
        """The turn the other way."""
        return self._replace(s=-self.s, angle=None if self.angle is None else -self.angle)

    def opposite(self, lever: Array) -> "Turn":
        """Half a turn on, unless it is free for want of that lever."""
        sign = held(lever, FREE_TWICE, ONE, -ONE)
        angle = held(lever, FREE_TWICE, self.value, _half_a_turn_on(self.value))
        return self._replace(c=sign * self.c, s=sign * self.s, angle=angle)

    def then(self, other: "Turn") -> "Turn":
        """Both turns about one axis."""
        c, s = self.c * other.c - self.s * other.s, self.c * other.s + self.s * other.c
        return Turn(c, s, minimum(self.room, other.room), minimum(self.lever, other.lever))


class Slide(NamedTuple):
    """A displacement of a solution; see `Turn`."""

    value: Array
    room: Array = ONE
    lever: Array = ONE

    def back(self) -> "Slide":
        """The slide the other way."""
        return self._replace(value=-self.value)


Coordinate = Turn | Slide
NONE = Turn(ONE, ZERO)


def held(lever: Array, free: float, otherwise: Array, x: Array) -> Array:
    """x, or `otherwise` where the lever is below `free`; traced it is x, since kernels leave such poses to the definition."""
    return x if np.asarray(lever).dtype == object else select(lever, np.asarray(free), otherwise, x)


def wrapped(angle: Array) -> Array:
    """An angle by whole turns in [-pi, pi]."""
    return angle - rint(angle * (1 / TURN)) * TURN


def _below(angle: Array) -> Array:
    """The same for one in [-pi, 2 pi]."""
    return select(np.asarray(TURN / 2), angle, angle - TURN, angle)


def _half_a_turn_on(angle: Array) -> Array:
    """Half a turn from one in [-pi, pi], and in there too."""
    return select(angle, ZERO, angle + TURN / 2, angle - TURN / 2)


def linear(a: Array, b: Array, c: Array) -> tuple[Turn, Turn]:
    """a cos t + b sin t = c: t = atan2(b, a) +- acos(c / |(a, b)|)."""
    squared = a * a + b * b
    where = lambda x, otherwise: held(squared, FREE, otherwise, x)  # noqa: E731
    each = 1 / sqrt(where(squared, ONE))
    a, b, near = where(a, ONE) * each, where(b, ZERO) * each, c * each
    room = where(1 - near * near, FREE - c * c)
    w = sqrt(maximum(where(room, ZERO), ZERO))
    near = maximum(minimum(where(near, ONE), ONE), -ONE)
    return either_side(a, b, near, w, room, squared)


def either_side(a: Array, b: Array, near: Array, w: Array, room: Array, lever: Array) -> tuple[Turn, Turn]:
    """atan2(b, a) +- atan2(w, near), of two unit vectors, w >= 0."""
    middle, half = atan2(b, a), atan2(w, near)
    ends = (w, _below(middle + half)), (-w, -_below(half - middle))
    found = ((a * near - b * v, b * near + a * v, angle) for v, angle in ends)
    first, second = (Turn(c, s, room, lever, angle) for c, s, angle in found)
    return first, second


def sp1(k: Array, p1: Array, p2: Array) -> Turn:
    """R(k, t) p1 = p2."""
    return towards(dot(across(k, p1), p2), dot(cross(k, p1), p2))


def across(k: Array, p: Array) -> Array:
    """What of p lies across the unit vector k."""
    return p - dot(k, p)[..., None] * k


def towards(x: Array, y: Array) -> Turn:
    """(cos t, sin t) along (x, y)."""
    lever = absolute(x) + absolute(y)
    x, y = held(lever, FREE_TWICE, ONE, x), held(lever, FREE_TWICE, ZERO, y)
    each = 1 / sqrt(x * x + y * y)
    return Turn(x * each, y * each, ONE, lever)


def sp4(h: Array, k: Array, p: Array, d: Array) -> tuple[Turn, Turn]:
    """h . R(k, t) p = d."""
    return linear(dot(across(k, h), p), dot(cross(h, k), p), d - dot(h, k) * dot(k, p))


def sp3(k: Array, p1: Array, p2: Array, squared: Array) -> tuple[Turn, Turn]:
    """|R(k, t) p1 - p2|² = squared."""
    return sp4(p2, k, p1, (dot(p1, p1) + dot(p2, p2) - squared) / 2)


def sp2(k1: Array, p1: Array, k2: Array, p2: Array) -> Iterator[tuple[Turn, Turn]]:
    """R(k1, t1) p1 = R(k2, t2) p2."""
    for t1 in sp4(k2, k1, p1, dot(k2, p2)):
        yield t1, sp1(k2, p2, t1.rotate(k1, p1))


def waves(k: Array, p: Array) -> Array:
    """R(k, t) p = W (1, cos t, sin t): the columns of W, (..., 3, 3)."""
    along = dot(k, p)[..., None] * k
    return np.stack(np.broadcast_arrays(along, p - along, cross(k, p)), axis=-1)


def sp6(A: Array, B: Array, e: Array) -> Iterator[tuple[Turn, Turn]]:
    """A (cos t1, sin t1) + B (cos t2, sin t2) = e: |B^-1 (e - A (cos t1, sin t1))| = 1, or the same with A and B changed over where
    A is farther from singular."""
    a, b = _least_stretch(A), _least_stretch(B)
    wide_a, wide_b = (np.asarray(x)[..., None, None] for x in (a, b))
    for t, other in _sp6(select(wide_a, wide_b, A, B), select(wide_a, wide_b, B, A), e):
        yield _both_polished(A, B, e, _chosen(a, b, t, other), _chosen(a, b, other, t))


def _both_polished(A: Array, B: Array, e: Array, t1: Turn, t2: Turn) -> tuple[Turn, Turn]:
    """Both angles after a step of Newton's method; a root that it does not confirm stays where it is."""
    at = lambda M, c, s: (M[..., 0, 0] * c + M[..., 0, 1] * s, M[..., 1, 0] * c + M[..., 1, 1] * s)  # noqa: E731
    (a1, a2), (b1, b2) = at(A, t1.c, t1.s), at(B, t2.c, t2.s)
    (u1, u2), (v1, v2) = at(A, -t1.s, t1.c), at(B, -t2.s, t2.c)
    f1, f2, det = e[..., 0] - a1 - b1, e[..., 1] - a2 - b2, u1 * v2 - u2 * v1
    each = held(absolute(det), 1e-300, ZERO, 1 / held(absolute(det), 1e-300, ONE, det))
    steps = (f1 * v2 - f2 * v1) * each, (u1 * f2 - u2 * f1) * each
    far = absolute(steps[0]) + absolute(steps[1])
    near = lambda x, otherwise: select(far, np.asarray(CONFIRMED), np.asarray(x), np.asarray(otherwise))  # noqa: E731
    first, second = (_shifted(t, near(step, ZERO)) for t, step in zip((t1, t2), steps, strict=True))
    # where both move the sum the same way two roots are one
    apart = det * det / ((u1 * u1 + u2 * u2) * (v1 * v1 + v2 * v2) + 1e-300)
    return first._replace(lever=near(minimum(first.lever, apart), UNCONFIRMED)), second


def _advanced(t: Turn, step: Array) -> Turn:
    """A small angle on."""
    c, s = t.c - t.s * step, t.s + t.c * step
    each = 1 / sqrt(c * c + s * s)
    return t._replace(c=c * each, s=s * each, angle=None)


def _shifted(t: Turn, step: Array) -> Turn:
    """An angle of at most `CONFIRMED` on."""
    c, s, each = t.c - t.s * step, t.s + t.c * step, 1 - step * step / 2
    return t._replace(c=c * each, s=s * each, angle=None)


def _least_stretch(A: Array) -> Array:
    """The square of the least singular value of a 2x2 matrix, nearly."""
    det = A[..., 0, 0] * A[..., 1, 1] - A[..., 0, 1] * A[..., 1, 0]
    return det * det / (dot(A[..., 0, :], A[..., 0, :]) + dot(A[..., 1, :], A[..., 1, :]) + 1e-300)


def _chosen(a: Array, b: Array, x: Turn, y: Turn) -> Turn:
    """x where a < b, else y; both are of one solution, with the same room and lever."""
    room, lever = minimum(x.room, y.room), minimum(x.lever, y.lever)
    return Turn(select(a, b, x.c, y.c), select(a, b, x.s, y.s), room, lever)


def _sp6(A: Array, B: Array, e: Array) -> Iterator[tuple[Turn, Turn]]:
    a, b, c, d = (np.asarray(B[..., i, j])[..., None] for i in range(2) for j in range(2))
    rows = np.concatenate([e[..., None], -A], axis=-1)
    x = (d * rows[..., 0, :] - b * rows[..., 1, :]) / (a * d - b * c)
    y = (a * rows[..., 1, :] - c * rows[..., 0, :]) / (a * d - b * c)
    Q = x[..., :, None] * x[..., None, :] + y[..., :, None] * y[..., None, :]
    for t1 in quadric(Q - np.diag([1.0, 0, 0]), 0):
        c, s = (row[..., 0] + row[..., 1] * t1.c + row[..., 2] * t1.s for row in (x, y))
        r = sqrt(maximum(c * c + s * s, np.asarray(FREE)))
        yield t1, Turn(c / r, s / r)


def quadratic(a: Array, b: Array, c: Array) -> tuple[Slide, Slide]:
    """a x² + 2 b x + c = 0, each root by the formula in which nothing cancels; a root at infinity is far away."""
    room = b * b - a * c
    w = sqrt(maximum(room, ZERO))
    far = b + select(b, ZERO, -w, w)
    tiny = np.asarray(1e-150)
    divided = lambda x, y: x / select(absolute(y), tiny, tiny, y)  # noqa: E731
    return Slide(divided(-far, a), room), Slide(divided(-c, far), room)


# steps to one root of a cubic, in kernels and else at most; the last of them must be as short, for a cubic of size one
CUBIC_STEPS, CUBIC_STEPS_AT_MOST, LAST_STEP = 6, 16, 1e-4
# steps of Newton's method for the angles that come of it
POLISH_STEPS = 2
# a longer step does not confirm where it begins [rad], and leaves so much of the lever: too little for
# kernels, too much for an angle that is free
CONFIRMED, UNCONFIRMED = 1e-6, np.asarray(1e-11)


def quadric(Q: Array, steps: int = POLISH_STEPS) -> list[Turn]:
    """m^T Q m = 0 with m = (1, cos t, sin t), Q symmetric, (..., 3, 3): four angles.

    A conic cuts the unit circle. Of the conics through the same points, Q - x diag(-1, 1, 1), one with x between the
    eigenvalues of the
    lower right block is a pair of real lines; each cuts the circle twice.
    """
    # principal axes of the block: t = t' + psi
    mean, half, off = (Q[..., 1, 1] + Q[..., 2, 2]) / 2, (Q[..., 1, 1] - Q[..., 2, 2]) / 2, Q[..., 1, 2]
    spread = sqrt(half * half + off * off)
    size = absolute(Q[..., 0, 0]) + absolute(Q[..., 0, 1]) + absolute(Q[..., 0, 2]) + absolute(mean) + spread
    round_block = 1e-14 * size
    wide = maximum(spread, round_block + 1e-300)
    psi = _half(select(spread, round_block, -ONE, -half / wide), select(spread, round_block, ZERO, -off / wide))
    d = psi.c * Q[..., 0, 1] + psi.s * Q[..., 0, 2]
    e = psi.c * Q[..., 0, 2] - psi.s * Q[..., 0, 1]
    low, high, z = mean - spread, mean + spread, Q[..., 0, 0]
    x, last_step = _pair_of_lines(low, high, d, e, z)
    # -m² c² + n² s² + 2 d c + 2 e s + z + x = (n s + m c + u)(n s - m c + w)
    m2, n2 = maximum(x - low, ZERO), maximum(high - x, ZERO)
    m, n, tiny = sqrt(m2), sqrt(n2), sqrt(round_block + 1e-300)
    total, apart = 2 * e / maximum(n, tiny), 2 * d / maximum(m, tiny)
    # of these the one by the larger divisor is right; the other also follows by a root, which is better where it loses fewer digits
    by_n = _signed(d, sqrt(maximum(total * total - 4 * (z + x), ZERO)))
    by_m = _signed(e, sqrt(maximum(apart * apart + 4 * (z + x), ZERO)))
    finer_apart = select(4 * size * d * d, (total * m2) * (total * m2), apart, by_n)
    finer_total = select(4 * size * e * e, (apart * n2) * (apart * n2), total, by_m)
    total, apart = select(n, m, finer_total, total), select(n, m, apart, finer_apart)
    u, w = (total - apart) / 2, (total + apart) / 2
    # the block is round: one line
    is_line = lambda line, other: select(spread, round_block, line, other)  # noqa: E731
    first = linear(is_line(2 * d, m), is_line(2 * e, n), -is_line(z + mean, u))
    second = linear(is_line(2 * d, -m), is_line(2 * e, n), -is_line(z + mean, w))
    # what has not come to rest may have solutions or none: it is left to the definition
    rests = lambda x, otherwise: select(last_step, LAST_STEP * size, x, otherwise)  # noqa: E731
    found = [t.then(psi) for t in (*first, *second)]
    unsure = [t._replace(room=rests(t.room, ZERO), lever=rests(t.lever, UNCONFIRMED)) for t in found]
    return [_polished(Q, t, steps) for t in unsure]


def _half(c: Array, s: Array) -> Turn:
    """Half of an angle."""
    big = sqrt(maximum((1 + absolute(c)) / 2, ZERO))
    small = absolute(s) / (2 * big)
    cosine = select(c, ZERO, small, big)
    return Turn(cosine, _signed(s, select(c, ZERO, big, small)))


def _signed(sign: Array, x: Array) -> Array:
    return select(sign, ZERO, -x, x)


def _pair_of_lines(low: Array, high: Array, d: Array, e: Array, z: Array) -> tuple[Array, Array]:
    """x in [low, high] with f(x) = (low - x)(high - x)(z + x) - (low - x) e² - (high - x) d² = 0, and how far the last step went.

    f(low) <= 0 <= f(high). On the side of the point of inflection where it changes sign, f bends away from zero at the end of the
    interval, from where the iteration cannot pass the root: dx = -f G_4 / G_5 with 1 / f(x + h) = sum G_k (-h)^k / f^(k+1), of
    sixth order (König).
    """
    d2, e2 = d * d, e * e

    def at(x: Array) -> tuple[Array, Array, Array]:
        """f, f' and f'' / 2."""
        left, right, up = low - x, high - x, z + x
        return (
            left * right * up - left * e2 - right * d2,
            left * right - (left + right) * up + e2 + d2,
            up - left - right,
        )

    bent = maximum(low, minimum(high, (low + high - z) * (1 / 3)))
    x = select(ZERO, at(bent)[0], low, high)
    step, tiny = ZERO, np.asarray(1e-300)
    for _ in range(CUBIC_STEPS if np.asarray(x).dtype == object else CUBIC_STEPS_AT_MOST):
        f, slope, bend = at(x)
        bf, ff, G = bend * f, f * f, (ZERO, ZERO, ONE)
        for _ in range(5):
            G = G[1], G[2], slope * G[2] - bf * G[1] + ff * G[0]
        step = f * G[1] / select(absolute(G[2]), tiny, tiny, G[2])
        x = x - step
    return x, absolute(step)


def _polished(Q: Array, t: Turn, steps: int) -> Turn:
    """The angle after a few steps of Newton's method; the lever is the slope before the last."""
    lever = t.lever
    for _ in range(steps):
        f, slope, size = _value(Q, t)
        weak = 1e-8 * size
        step = select(absolute(slope), weak, ZERO, f / select(absolute(slope), weak, weak + 1e-300, slope))
        t = _advanced(t, -maximum(minimum(step, np.asarray(0.1)), np.asarray(-0.1)))
        lever = minimum(t.lever, slope * slope / (size * size + 1e-300))
    return t._replace(lever=lever)


def _value(Q: Array, t: Turn) -> tuple[Array, Array, Array]:
    """f = m^T Q m, its slope by the angle, and a size of Q."""
    row = [Q[..., i, 0] + Q[..., i, 1] * t.c + Q[..., i, 2] * t.s for i in range(3)]
    size = sum(absolute(Q[..., i, j]) for i in range(3) for j in range(i, 3))
    return row[0] + row[1] * t.c + row[2] * t.s, 2 * (row[2] * t.c - row[1] * t.s), size  # type: ignore[return-value]
