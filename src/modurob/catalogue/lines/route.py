"""The nodes of a line, and the shortest path over them.

A node has a frame of its own on a body. A line passes it at a point, around a pulley of fixed axis, or over a pulley on
a swivel that faces the next node. The path is a shortest one: its length changes as if the points where it touches
pulleys were fixed on their bodies (Lieskovsky chapter 3; Pott, Cable-Driven Parallel Robots, chapter 7).
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from modurob.catalogue.forces.force import Motion, Numbers
from modurob.registry import Registry
from modurob.spatial import se3
from modurob.spatial.scalars import Array, atan2, dot, maximum, minimum, select, sqrt

NODES: Registry[type["Node"]] = Registry("node of a line")

# points closer than this have no direction between them [m]
TOUCHING = 1e-9


class Node(Numbers):
    """A point on the route of a line. `drum` [m] is the length that its winch takes in per radian, at the ends of a
    line.
    """

    drum: Any = 0.0
    turns: ClassVar[bool] = False  # whether the line bends around it in a fixed plane


@NODES.register("point")
@dataclass(frozen=True)
class Point(Node):
    """The origin of the frame: an anchor, or a ring the line slips through."""

    drum: Any = 0.0
    kind = "point"

    def __post_init__(self) -> None:
        self._require(drum=self.drum)


@NODES.register("pulley")
@dataclass(frozen=True)
class Pulley(Node):
    """A pulley about z of the frame; the line runs around it counter-clockwise (side 1) or clockwise (side -1).

    Out of its plane the line winds as on a cylinder. A line that would not touch the pulley leaves it.

    >>> mr.Pulley(radius=0.05, side=-1).kind
    'pulley'
    """

    radius: Any
    side: int = 1
    kind, turns = "pulley", True

    def __post_init__(self) -> None:
        self._require(radius=self.radius)


@NODES.register("swivel")
@dataclass(frozen=True)
class Swivel(Node):
    """A pulley that turns about z of the frame to face the next node; its centre is at `offset` [m] from the axis,
    towards that node.

    The line arrives along the axis, up to the origin, and leaves the pulley on its +z side. With `offset` = `radius` it
    stays on the axis, as in the blocks of cable robots; with `offset` = 0 the pulley is a drum on the axis (Lieskovsky
    chapter 5).

    >>> mr.Swivel(radius=0.05, offset=0.05).kind
    'swivel'
    """

    radius: Any
    offset: Any = 0.0
    drum: Any = 0.0
    kind = "swivel"

    def __post_init__(self) -> None:
        self._require(radius=self.radius, offset=self.offset, drum=self.drum)


class Span(NamedTuple):
    """A straight part, from node a to node b, in world axes, (..., 3) each."""

    a: int
    p_a: Array
    b: int
    p_b: Array


class Facing(NamedTuple):
    """A pulley on a swivel: the point where the line touches it, its elevation, the direction that raises it, and the
    free length, in world axes.
    """

    p: Array  # (..., 3)
    elevation: Array  # (...)
    up: Array  # unit vector, (..., 3)
    free: Array  # (...)
    node: int
    target: int


class Path(NamedTuple):
    """The path of a line: its straight parts, the length of all arcs, and of those on drums, (...) [m], and its swivels."""

    spans: list[Span]
    arcs: Array
    on_drums: Array
    swivels: list[Facing]


def path(nodes: tuple[Node, ...], motions: tuple[Motion, ...]) -> Path:
    """The path over the nodes, whose frames are at `motions`."""
    origins = [se3.position(m.X) for m in motions]
    arrive, leave = list(origins), list(origins)
    arcs = on_drums = 0 * origins[0][..., 0]
    swivels = []
    for k, node in enumerate(nodes):
        if isinstance(node, Swivel):
            last = k == len(nodes) - 1
            seen = _facing(node, motions[k].X, origins, k, k - 1 if last else k + 1)
            (arrive if last else leave)[k] = seen.p
            arc = node.radius * (np.pi / 2 - seen.elevation)
            arcs = arcs + arc
            if _winds(node):
                on_drums = on_drums + arc
            swivels.append(seen)
    for first, last in _runs(nodes):
        bends = _around(nodes[first : last + 1], motions[first].X, origins[first - 1 : last + 2])
        arcs = arcs + bends.arcs
        arrive[first : last + 1], leave[first : last + 1] = bends.arrive, bends.leave
    spans = [Span(k, leave[k], k + 1, arrive[k + 1]) for k in range(len(nodes) - 1)]
    return Path(spans, arcs, on_drums, swivels)


def _winds(node: Node) -> bool:
    """Whether it is a drum; a traced number counts as one."""
    return not (isinstance(node.drum, int | float | np.number) and node.drum == 0)


def _runs(nodes: tuple[Node, ...]) -> list[tuple[int, int]]:
    """First and last of each row of pulleys of fixed axis."""
    turning = [k for k, node in enumerate(nodes) if node.turns]
    starts = [k for k in turning if k - 1 not in turning]
    return [(k, next(j for j in range(k, len(nodes)) if j + 1 not in turning)) for k in starts]


# ---- pulleys on a swivel ----


def _facing(node: Swivel, X: Array, origins: list[Array], k: int, target: int) -> Facing:
    """rho from the axis, z along it: l = sqrt(h² + z² - R²) with h = rho - offset, elevation = atan2(z, h) - atan2(R, l)."""
    R = se3.rotation(X)
    d = _into(R, origins[target] - origins[k])
    rho = sqrt(maximum(d[..., 0] * d[..., 0] + d[..., 1] * d[..., 1], np.array(TOUCHING**2)))
    out = np.stack([d[..., 0] / rho, d[..., 1] / rho, 0 * rho], axis=-1)
    h, z, r = rho - node.offset, d[..., 2], node.radius
    free = sqrt(maximum(h * h + z * z - r * r, np.array(TOUCHING**2)))
    square = h * h + z * z
    # the unit vector along the line, by the angle sum
    c, s = (h * free + z * r) / square, (z * free - h * r) / square
    size = sqrt(c * c + s * s)
    c, s = c / size, s / size
    axis = np.array([0.0, 0.0, 1.0])
    up = c[..., None] * axis - s[..., None] * out
    touch = _column(node.offset) * out + _column(r) * up
    return Facing(origins[k] + _out_of(R, touch), atan2(s, c), _out_of(R, up), free, k, target)


def _column(x: Any) -> Array:
    """A number, or numbers, to multiply vectors with."""
    return np.asarray(x)[..., None]


def _into(R: Array, x: Array) -> Array:
    return (np.swapaxes(R, -1, -2) @ x[..., None])[..., 0]


def _out_of(R: Array, x: Array) -> Array:
    return (R @ x[..., None])[..., 0]


# ---- pulleys of fixed axis ----


class _Bends(NamedTuple):
    arcs: Array
    arrive: list[Array]
    leave: list[Array]


def _around(pulleys: tuple[Node, ...], X: Array, origins: list[Array]) -> _Bends:
    """A row of pulleys between two points, in the plane of the first; along its axis the path climbs evenly.

    Circles of signed radius r at distance D are tangent to a line of direction n: D = t n - dr m, t² = D² - dr², m = n turned
    by -90 degrees.
    """
    R = se3.rotation(X)
    places = [_into(R, p - se3.position(X)) for p in origins]
    radii: list[Any] = [0.0, *(p.side * p.radius for p in pulleys), 0.0]  # type: ignore[attr-defined]
    lines = [_tangent(*pair) for pair in zip(places, places[1:], radii, radii[1:], strict=False)]
    wraps = [_wrap(a[0], b[0], p) for a, b, p in zip(lines, lines[1:], pulleys, strict=False)]
    touches = [
        [places[k] + _column(radii[k]) * _right(lines[j][0]) for j in (k - 1, k)] for k in range(1, len(places) - 1)
    ]
    arcs = [w * p.radius for w, p in zip(wraps, pulleys, strict=True)]  # type: ignore[attr-defined]
    lengths = [line[1] for line in lines]
    if len(pulleys) == 1:
        touches, arcs, lengths = _unless_lifted(places, pulleys[0], touches, arcs, lengths)
    return _climbing(R, se3.position(X), places, touches, arcs, lengths)


def _tangent(a: Array, b: Array, r_a: Any, r_b: Any) -> tuple[Array, Array]:
    """Direction, (..., 3), and length, (...), of the straight part between two circles of signed radius."""
    x, y = (b - a)[..., 0], (b - a)[..., 1]
    dr = r_b - r_a
    square = maximum(x * x + y * y, np.array(TOUCHING**2))
    t = sqrt(maximum(square - dr * dr, np.array(TOUCHING**2)))
    return np.stack([(x * t + y * dr) / square, (y * t - x * dr) / square, 0 * x], axis=-1), t


def _right(n: Array) -> Array:
    """n turned by -90 degrees about z."""
    return np.stack([n[..., 1], -n[..., 0], 0 * n[..., 0]], axis=-1)


def _wrap(before: Array, after: Array, pulley: Node) -> Array:
    """The angle turned on the side of the pulley, from 0 up to 2 pi."""
    side: Any = pulley.side  # type: ignore[attr-defined]
    turn = side * atan2(
        before[..., 0] * after[..., 1] - before[..., 1] * after[..., 0],
        before[..., 0] * after[..., 0] + before[..., 1] * after[..., 1],
    )
    return select(turn, np.zeros(()), turn + 2 * np.pi, turn)


def _unless_lifted(
    places: list[Array], pulley: Any, touches: list, arcs: list[Array], lengths: list[Array]
) -> tuple[list, list[Array], list[Array]]:
    """The straight line where it passes on the side of the pulley without touching it, the foot of the centre between its ends."""
    a, c, b = (p * np.array([1.0, 1.0, 0.0]) for p in places)
    way, to = b - a, c - a
    square = maximum(dot(way, way), np.array(TOUCHING**2))
    part = dot(way, to) / square
    beside = pulley.side * (way[..., 0] * to[..., 1] - way[..., 1] * to[..., 0]) / sqrt(square)
    zero, one = np.zeros(()), np.ones(())
    # positive where all of them hold: beside by the radius, and the foot between the ends
    free = minimum(beside - pulley.radius, minimum(part, one - part))
    foot = a + part[..., None] * way
    whole = sqrt(square)
    touches = [[select(zero, free[..., None], foot, p) for p in touches[0]]]
    arcs = [select(zero, free, zero * arcs[0], arcs[0])]
    ends = part * whole, (1 - part) * whole
    return touches, arcs, [select(zero, free, x, y) for x, y in zip(ends, lengths, strict=True)]


def _climbing(
    R: Array, origin: Array, places: list[Array], touches: list, arcs: list[Array], lengths: list[Array]
) -> _Bends:
    """The touching points at the heights that an even slope gives them, in world axes."""
    total = sum([*lengths, *arcs[1:]], arcs[0])
    rise = places[-1][..., 2] - places[0][..., 2]
    slope = rise / total
    z = np.array([0.0, 0.0, 1.0])
    done, arrive, leave = lengths[0], [], []
    for (p_in, p_out), arc, length in zip(touches, arcs, lengths[1:], strict=True):
        for points, p, at in ((arrive, p_in, done), (leave, p_out, done + arc)):
            flat = p * np.array([1.0, 1.0, 0.0])
            height = places[0][..., 2] + slope * at
            points.append(origin + _out_of(R, flat + height[..., None] * z))
        done = done + arc + length
    return _Bends(sum(arcs[1:], arcs[0]) * sqrt(1 + slope * slope), arrive, leave)


def around(pulley: Any, X: Array, a: Array, b: Array, corners: int = 8) -> Array:
    """Points on the arc about z of the frame X from a to b, on the side of the pulley, (..., corners, 3)."""
    R = se3.rotation(X)
    p, r = (_into(R, x - se3.position(X)) for x in (a, b))
    start, end = (np.arctan2(x[..., 1], x[..., 0])[..., None] for x in (p, r))
    s = np.linspace(0, 1, corners)
    angle = start + s * pulley.side * np.mod(pulley.side * (end - start), 2 * np.pi)
    reach, height = np.hypot(p[..., 0], p[..., 1])[..., None], p[..., 2, None] * (1 - s) + r[..., 2, None] * s
    local = np.stack([reach * np.cos(angle), reach * np.sin(angle), height], axis=-1)
    return local @ np.swapaxes(R, -1, -2) + se3.position(X)[..., None, :]
