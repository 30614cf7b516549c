"""Contact points of two shapes: points between them, the gaps there, and the normal from the second to the first.

All is in the frame of the second shape. Written with `modurob.spatial.scalars`, without branches, so that it can be traced.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from modurob.catalogue.contact.touching import Ball, Corners
from modurob.catalogue.forces.force import Numbers
from modurob.spatial import se3
from modurob.spatial.scalars import Array, absolute, cross, dot, maximum, minimum, select, sqrt

# the gap of points that do not exist [m]
FAR = 1.0
# keeps quotients by a vanishing length finite
TINY = 1e-30
ZERO, ONE = np.zeros(()), np.ones(())
# a face of the first box, and edges of both, are preferred to a face of the second only if the penetration is less by this [m]
FACE_BIAS, EDGE_BIAS = 2e-5, 1e-4
# points this far outside a face still count as on it, in parts of its edges
ON_FACE = 1e-3
# edges within this angle of parallel do not cross [rad]
PARALLEL = 0.05
# halvings that find the point of a rod that is nearest to a box
HALVINGS = 20


class PairPoints(NamedTuple):
    """k points between two bodies, and the points fixed on the first and on the second that carry them, (..., k, 3) [m]; gaps,
    (..., k) [m]; normals towards the first, and two tangents, (..., k, 3), or (..., 1, 3) where they are the same for all."""

    p: Array
    carrier: Array
    seat: Array
    gap: Array
    n: Array
    t: tuple[Array, Array]


@dataclass(frozen=True)
class Rod(Numbers):
    """A capsule of radius r about z, with half the length between its centres [m]."""

    r: Any
    half: Any
    kind = "rod"


PAIR_POINTS: dict[tuple[str, str], tuple[int, Callable[[Any, Any, Array], PairPoints]]] = {}


def points_of(a: str, b: str, count: int) -> Callable[[Any], Any]:
    """Registers the function that returns the `count` contact points of shapes of two kinds."""

    def register(found: Any) -> Any:
        PAIR_POINTS[a, b] = count, found
        return found

    return register


def tangents(n: Array) -> tuple[Array, Array]:
    """Two unit vectors that are orthogonal to n and to each other, (..., 3) (Duff and others, Building an orthonormal basis,
    revisited)."""
    x, y, z = (n[..., i] for i in range(3))
    s = select(z, ZERO, -ONE, ONE)
    a = -1 / (s + z)
    b = x * y * a
    return np.stack([1 + s * x * x * a, s * b, -s * x], axis=-1), np.stack([b, s + y * y * a, -y], axis=-1)


def _between(p: Array, carrier: Array, seat: Array, gap: Array, n: Array) -> PairPoints:
    return PairPoints(p, carrier, seat, gap, n, tangents(n))


def _clamped(x: Array, most: Any) -> Array:
    return minimum(maximum(x, 0 * x - most), 0 * x + most)


# ---- round shapes ----


def _balls(a: Array, b: Array, r_a: Any, r_b: Any) -> PairPoints:
    """Between balls about a and b, (..., k, 3)."""
    d = a - b
    distance = sqrt(dot(d, d) + TINY)
    n, gap = d / distance[..., None], distance - r_a - r_b
    return _between(b + (r_b + gap / 2)[..., None] * n, a, b, gap, n)


@points_of("ball", "ball", 1)
def ball_on_ball(a: Ball, b: Ball, X: Array) -> PairPoints:
    """One point, on the line between the centres."""
    c = se3.position(X)[..., None, :]
    return _balls(c, 0 * c, a.r, b.r)


@points_of("rod", "rod", 5)
def rod_on_rod(a: Rod, b: Rod, X: Array) -> PairPoints:
    """The ends of each next to the other, and where they cross."""
    c, u = se3.position(X), X[..., :3, 2]
    z = np.array([0.0, 0.0, 1.0])
    ends = []
    for sign in (-1, 1):
        t = sign * a.half + 0 * c[..., 2]
        ends.append((t, _clamped(c[..., 2] + t * u[..., 2], b.half)))
        s = sign * b.half + 0 * c[..., 2]
        ends.append((_clamped(dot(u, s[..., None] * z - c), a.half), s))
    sine = 1 - u[..., 2] * u[..., 2]
    t = (u[..., 2] * c[..., 2] - dot(u, c)) / (sine + TINY)
    s = c[..., 2] + t * u[..., 2]
    crossing = (_clamped(t, a.half), _clamped(s, b.half))
    inside = minimum(minimum(a.half - absolute(t), b.half - absolute(s)), sine - PARALLEL**2)
    on_a = np.stack([c + t[..., None] * u for t, _ in (*ends, crossing)], axis=-2)
    on_b = np.stack([s[..., None] * z for _, s in (*ends, crossing)], axis=-2)
    return _apart(_balls(on_a, on_b, a.r, b.r), inside, 4)


def _apart(touch: PairPoints, inside: Array, which: int) -> PairPoints:
    """The points, of which one does not exist where `inside` is not positive."""
    gap = [touch.gap[..., k] for k in range(touch.gap.shape[-1])]
    gap[which] = select(ZERO, inside, gap[which], FAR + 0 * inside)
    return touch._replace(gap=np.stack(gap, axis=-1))


def _ball_in_box(c: Array, r: Any, half: Array) -> PairPoints:
    """Between balls about c, (..., k, 3), and a box."""
    inside = minimum(maximum(c, -half + 0 * c), half + 0 * c)
    d = c - inside
    square = dot(d, d)
    distance = sqrt(square + TINY)
    # next to the centre of a ball that is in the box is the face it is least deep under
    depth = absolute(c) - half
    x, y, z = (depth[..., i] for i in range(3))
    faces = _first_largest([x, y, z])
    out = np.stack(faces, axis=-1) * select(c, ZERO, -ONE, ONE)
    is_out = select(ZERO + 1e-20, square, ONE, ZERO)
    n = is_out[..., None] * d / distance[..., None] + (1 - is_out)[..., None] * out
    gap = is_out * distance + (1 - is_out) * maximum(x, maximum(y, z)) - r
    p = c - (r + gap / 2)[..., None] * n
    return _between(p, c, p, gap, n)


def _first_largest(x: list[Array]) -> list[Array]:
    """1 for the largest of some numbers, the first of equals, and 0 for the others."""
    left, found = ONE, []
    for k, own in enumerate(x):
        most = own
        for other in x[k + 1 :]:
            most = maximum(most, other)
        on = left * select(own, most, ZERO, ONE)
        found.append(on)
        left = left - on
    return found


def _half(b: Corners) -> Array:
    return np.stack([np.asarray(x) for x in (b.x, b.y, b.z)], axis=-1)


@points_of("ball", "corners", 1)
def ball_on_box(a: Ball, b: Corners, X: Array) -> PairPoints:
    """One point, next to the centre of the ball."""
    return _ball_in_box(se3.position(X)[..., None, :], a.r, _half(b))


@points_of("rod", "corners", 3)
def rod_on_box(a: Rod, b: Corners, X: Array) -> PairPoints:
    """The ends of the rod, and the point between them that is nearest to the box."""
    c, u, half = se3.position(X), X[..., :3, 2], _half(b)
    low, high = -a.half + 0 * c[..., 2], a.half + 0 * c[..., 2]
    for _ in range(HALVINGS):
        t = (low + high) / 2
        p = c + t[..., None] * u
        slope = dot(p - minimum(maximum(p, -half + 0 * p), half + 0 * p), u)
        low, high = select(slope, ZERO, t, low), select(slope, ZERO, high, t)
    t = (low + high) / 2
    on = np.stack([c - a.half * u, c + a.half * u, c + t[..., None] * u], axis=-2)
    return _apart(_ball_in_box(on, a.r, half), (1 - ON_FACE) * a.half - absolute(t), 2)


# ---- boxes ----


class _Axes(NamedTuple):
    """How far apart two boxes are along the normals of the faces of the second and of the first, three each, and along the nine
    directions orthogonal to an edge of both."""

    second: list[Array]
    first: list[Array]
    edges: list[Array]
    directions: list[Array]  # of the nine, towards the first box, (..., 3) each


def _axes(R: Array, c: Array, a: Array, b: Array) -> _Axes:
    size = absolute(R)
    second = [absolute(c[..., i]) - b[..., i] - dot(size[..., i, :], a) for i in range(3)]
    along = [dot(c, R[..., :, j]) for j in range(3)]
    first = [absolute(along[j]) - a[..., j] - dot(size[..., :, j], b) for j in range(3)]
    edges, directions = [], []
    for i, j in product(range(3), range(3)):
        unit = np.eye(3)[i] + 0 * c
        across = cross(unit, R[..., :, j])
        square = dot(across, across)
        n = across / sqrt(square + TINY)[..., None]
        n = n * select(dot(n, c), ZERO, -ONE, ONE)[..., None]
        reach = dot(absolute(n), b + 0 * n)
        for k in range(3):
            reach = reach + a[..., k] * absolute(dot(n, R[..., :, k]))
        edges.append(select(square, ZERO + PARALLEL**2, -FAR + 0 * square, dot(n, c) - reach))
        directions.append(n)
    return _Axes(second, first, edges, directions)


def _picked(on: list[Array], x: list[Array]) -> Array:
    """The vectors, or numbers, for which `on` is 1."""
    return np.asarray(sum(w[..., None] * v if v.ndim > w.ndim else w * v for w, v in zip(on, x, strict=True)))


@points_of("corners", "corners", 17)
def box_on_box(a: Corners, b: Corners, X: Array) -> PairPoints:
    """The polygon in which the face of one box intersects the nearest face of the other, sixteen points of which some do not
    exist; or the one point in which two edges cross. The contact is along the axis on which the boxes are farthest apart
    (Gottschalk, Lin and Manocha, OBBTree: a hierarchical structure for rapid interference detection)."""
    R, c = X[..., :3, :3], X[..., :3, 3]
    half_a, half_b = (_half(x) + 0 * c for x in (a, b))
    axes = _axes(R, c, half_a, half_b)
    deepest = [_largest(x) for x in (axes.second, axes.first, axes.edges)]
    of_first = select(deepest[0] + FACE_BIAS, deepest[1], ONE, ZERO)
    of_edges = select(maximum(deepest[0], deepest[1]) + EDGE_BIAS, deepest[2], ONE, ZERO)
    n, p, gap = _faces(R, c, half_a, half_b, axes, of_first)
    n_e, p_e = _crossing(R, c, half_a, half_b, axes)
    n = of_edges[..., None] * n_e + (1 - of_edges)[..., None] * n
    gap = [select(ZERO, of_edges, FAR + 0 * g, g) for g in gap]
    gap = np.stack([*gap, select(ZERO, of_edges, deepest[2], FAR + 0 * deepest[2])], axis=-1)
    p = np.stack([*p, p_e], axis=-2)
    return _between(p, p, p, gap, n[..., None, :])


def _largest(x: list[Array]) -> Array:
    most = x[0]
    for other in x[1:]:
        most = maximum(most, other)
    return most


def _crossing(R: Array, c: Array, a: Array, b: Array, axes: _Axes) -> tuple[Array, Array]:
    """Normal, and point between the two edges that are nearest to each other along the axis of edges."""
    on = _first_largest(axes.edges)
    n = _picked(on, axes.directions)
    u = _picked([sum(on[3 * i : 3 * i + 3]) for i in range(3)], [np.eye(3)[i] + 0 * c for i in range(3)])  # type: ignore[misc]
    v = _picked([sum(on[j::3]) for j in range(3)], [R[..., :, j] for j in range(3)])  # type: ignore[misc]
    # corners of both that are farthest towards the other, and the edges through them
    corner_b = b * select(n, ZERO, -ONE, ONE)
    towards = np.stack([dot(n, R[..., :, k]) for k in range(3)], axis=-1)
    corner_a = c - (R @ (a * select(towards, ZERO, -ONE, ONE))[..., None])[..., 0]
    d = corner_a - corner_b
    uv, ud, vd = dot(u, v), dot(u, d), dot(v, d)
    fall = maximum(1 - uv * uv, ZERO + PARALLEL**2)
    s, t = (ud - uv * vd) / fall, (uv * ud - vd) / fall
    return n, ((corner_b + s[..., None] * u) + (corner_a + t[..., None] * v)) / 2


def _faces(
    R: Array, c: Array, a: Array, b: Array, axes: _Axes, of_first: Array
) -> tuple[Array, list[Array], list[Array]]:
    """Normal, points and gaps of the polygon, in the frame of the second box."""
    # one box has the face, the other comes down on it
    w, W = of_first[..., None], of_first[..., None, None]
    Q = W * np.swapaxes(R, -1, -2) + (1 - W) * R
    d = w * -(np.swapaxes(R, -1, -2) @ c[..., None])[..., 0] + (1 - w) * c
    own, other = w * a + (1 - w) * b, w * b + (1 - w) * a
    face = [
        of_first * x + (1 - of_first) * y
        for x, y in zip(_first_largest(axes.first), _first_largest(axes.second), strict=True)
    ]
    T = _turned(face, d)
    d, own = (T @ d[..., None])[..., 0], absolute((T @ own[..., None])[..., 0])
    points, gap = _polygon(T @ Q, d, other, own)
    # back to the frame of the second box
    back = np.swapaxes(T, -1, -2)
    n = back[..., :, 2]
    points = [(back @ p[..., None])[..., 0] for p in points]
    turned = [(R @ p[..., None])[..., 0] + c for p in points]
    points = [w * y + (1 - w) * x for x, y in zip(points, turned, strict=True)]
    return w * -(R @ n[..., None])[..., 0] + (1 - w) * n, points, gap


def _turned(face: list[Array], d: Array) -> Array:
    """The rotation that turns the axis of a face, towards d, to z, (..., 3, 3): a cyclic permutation, and half a turn."""
    x, y, z = face
    up = select(_picked(face, [d[..., i] for i in range(3)]), ZERO, -ONE, ONE)
    zero = 0 * up
    rows = [[z, x, y], [up * y, up * z, up * x], [up * x, up * y, up * z]]
    return np.stack([np.stack([e + zero for e in row], axis=-1) for row in rows], axis=-2)


def _polygon(Q: Array, d: Array, a: Array, b: Array) -> tuple[list[Array], list[Array]]:
    """Points where a box at (Q, d) with half edges a touches the upper face of one with half edges b, and their heights over it."""
    steep = [absolute(Q[..., 2, j]) for j in range(3)]
    x, y, z = _first_largest(steep)
    # the face that comes down: its centre, and the ways to the middles of its edges
    columns = [Q[..., :, j] * a[..., j, None] for j in range(3)]
    down = _picked([x, y, z], columns)
    middle = d - down * select(down[..., 2], ZERO, -ONE, ONE)[..., None]
    u, v = _picked([z, x, y], columns), _picked([y, z, x], columns)
    corners = [middle + i * u + j * v for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    points = [(p, _within(p, b, ONE + ON_FACE)) for p in corners]
    for p, q in zip(corners, [*corners[1:], corners[0]], strict=True):
        points += _clipped(p, q, b)
    points += _under(middle, u, v, b)
    gap = [select(ZERO, inside, p[..., 2] - b[..., 2], FAR + 0 * inside) for p, inside in points]
    return [p for p, _ in points], gap


def _within(p: Array, b: Array, more: Array) -> Array:
    """Positive where a point is over the rectangle with half edges b."""
    return minimum(more * b[..., 0] - absolute(p[..., 0]), more * b[..., 1] - absolute(p[..., 1]))


def _clipped(p: Array, q: Array, b: Array) -> list[tuple[Array, Array]]:
    """Where the edge from p to q comes over the rectangle, and where it leaves it, if it does between its ends (Liang and
    Barsky)."""
    enter, leave = ZERO, ONE
    for i in range(2):
        way = q[..., i] - p[..., i]
        way = way + select(absolute(way), ZERO + 1e-12, ONE * 1e-12, ZERO)
        ends = [(sign * (1 + ON_FACE) * b[..., i] - p[..., i]) / way for sign in (-1, 1)]
        enter, leave = maximum(enter, minimum(*ends)), minimum(leave, maximum(*ends))
    there = leave - enter
    return [
        (p + t[..., None] * (q - p), minimum(there, minimum(t, 1 - t)))
        for t in (minimum(enter, ONE), maximum(leave, ZERO))
    ]


def _under(middle: Array, u: Array, v: Array, b: Array) -> list[tuple[Array, Array]]:
    """The corners of the rectangle that are under the face (middle, u, v): the points of the face above them."""
    area = u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
    area = select(absolute(area), ZERO + TINY, TINY + 0 * area, area)
    points = []
    for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        x, y = i * b[..., 0] - middle[..., 0], j * b[..., 1] - middle[..., 1]
        s, t = (x * v[..., 1] - y * v[..., 0]) / area, (y * u[..., 0] - x * u[..., 1]) / area
        inside = 1 + ON_FACE - maximum(absolute(s), absolute(t))
        s, t = _clamped(s, 1 + ON_FACE), _clamped(t, 1 + ON_FACE)
        points.append((middle + s[..., None] * u + t[..., None] * v, inside))
    return points
