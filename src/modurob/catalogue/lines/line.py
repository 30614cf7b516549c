"""A line: a law along a route."""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from modurob.catalogue.forces.force import Force, Motion
from modurob.catalogue.lines.law import Pull, Stretch
from modurob.catalogue.lines.route import TOUCHING, Facing, Node, Path, Span, Swivel, around, path
from modurob.errors import InputError
from modurob.registry import with_values
from modurob.spatial import se3
from modurob.spatial.scalars import Array, cross, dot, maximum, sqrt


class Taken(NamedTuple):
    """What a line does: a wrench on each of its frames, in its axes, (..., 6), and an effort on each of its drums, (...)."""

    wrenches: list[Array]
    efforts: list[Array]


@dataclass(frozen=True)
class Line(Force):
    """A line of one tension along a frictionless route: dL = sum n . (dp_b - dp_a) over its straight parts.

    Every straight part pulls its two ends towards each other at the points where it touches them; a drum of radius r is turned
    with -r T, so that its joint, turned forward, takes the line in.
    """

    nodes: tuple[Node, ...]
    law: Any  # a LineLaw, or a Spring
    kind: ClassVar[str] = "line"

    def __post_init__(self) -> None:
        _require_route(self.nodes)

    @property
    def drums(self) -> tuple[int, ...]:
        """The nodes that are winches."""
        return tuple(k for k, node in enumerate(self.nodes) if _is_there(node.drum))

    def parameters(self) -> dict[str, Any]:
        """All numbers, of the nodes and of the law; choices (true or false, the side of a pulley) are no numbers."""
        owned = [(f"{k} ", node) for k, node in enumerate(self.nodes)] + [("", self.law)]
        return {f"{at}{name}": x for at, part in owned for name, x in part.parameters().items() if _is_number(name, x)}

    def with_parameters(self, numbers: dict[str, Any]) -> "Line":
        """The line with other numbers, traced ones and arrays of them too."""
        nodes = tuple(_changed(node, f"{k} ", numbers) for k, node in enumerate(self.nodes))
        return _set(self, {"nodes": nodes, "law": _changed(self.law, "", numbers)})

    def wound_in(self, length: Any) -> "Line":
        """The line with so much of it wound in [m]."""
        return replace(self, law=self.law.shortened(length))

    # ---- how it stands ----

    def length(self, motions: tuple[Motion, ...]) -> Array:
        """L over the whole route, arcs on pulleys and drums among it, (...) [m]."""
        return _length(path(self.nodes, motions))

    def corners(self, motions: tuple[Motion, ...]) -> list[Array]:
        """Points along the route for drawing, (..., k, 3) each: ends of straight parts, and some on the arcs between them."""
        spans = path(self.nodes, motions).spans
        out = [np.stack([spans[0].p_a, spans[0].p_b], axis=-2)]
        for before, after in pairwise(spans):
            if self.nodes[after.a].turns:
                out.append(around(self.nodes[after.a], motions[after.a].X, before.p_b, after.p_a))
            out.append(np.stack([after.p_a, after.p_b], axis=-2))
        return out

    def stretch(self, motions: tuple[Motion, ...], wound: list[Any], rates: list[Any]) -> Stretch:
        """Stretch and natural length for the coordinates and rates of the drums' joints."""
        return self._stretch(path(self.nodes, motions), motions, wound, rates)

    def _stretch(self, way: Path, motions: tuple[Motion, ...], wound: list[Any], rates: list[Any]) -> Stretch:
        L, Ldot = _length(way), _lengthening(way, motions)
        u, udot = L - self.law.rest, Ldot
        for k, angle, rate in zip(self.drums, wound, rates, strict=True):
            u, udot = u + self.nodes[k].drum * angle, udot + self.nodes[k].drum * rate
        # what lies on a drum is not strained: the natural length is that of the free part
        free, freed = L - way.on_drums, Ldot
        for seen in way.swivels:
            if _is_there(self.nodes[seen.node].drum):
                freed = freed + self._radius(seen) * _raising(seen, motions)
        return Stretch(u, udot, free - u, freed - udot)

    def pull(self, motions: tuple[Motion, ...], wound: list[Any], rates: list[Any]) -> Pull:
        """Tension, and what winding takes, (...) [N]."""
        return Pull(*self.law.pull(self.stretch(motions, wound, rates)))

    def energy(self, motions: tuple[Motion, ...], wound: list[Any]) -> Array:
        """Stored energy, (...) [J]."""
        s = self.stretch(motions, wound, [0.0] * len(wound))
        return self.law.stored(s.u, s.natural)

    # ---- what it does ----

    def taken(self, motions: tuple[Motion, ...], wound: list[Any], rates: list[Any]) -> Taken:
        """Wrenches on the frames, and efforts on the drums."""
        way = path(self.nodes, motions)
        return self._taken(way, motions, Pull(*self.law.pull(self._stretch(way, motions, wound, rates))))

    def unit(self, motions: tuple[Motion, ...]) -> Taken:
        """The same for a tension of one."""
        one = 1.0 + 0 * se3.position(motions[0].X)[..., 0]
        return self._taken(path(self.nodes, motions), motions, Pull(one, 0 * one))

    def _taken(self, way: Path, motions: tuple[Motion, ...], pull: Pull) -> Taken:
        """-T (dL + r dq) + winding dl0, with dl0 = R d(elevation) - r dq on drums, as wrenches and efforts."""
        on: list[Any] = [0.0] * len(self.nodes)
        for span in way.spans:
            f = pull.tension[..., None] * _direction(span)[0]
            on[span.a] = on[span.a] + _at(motions[span.a].X, f, span.p_a)
            on[span.b] = on[span.b] + _at(motions[span.b].X, -f, span.p_b)
        for seen in way.swivels:
            if _is_there(self.nodes[seen.node].drum):
                f = (pull.winding * self._radius(seen) / seen.free)[..., None] * seen.up
                p = se3.position(motions[seen.target].X)
                on[seen.target] = on[seen.target] + _at(motions[seen.target].X, f, p)
                on[seen.node] = on[seen.node] + _at(motions[seen.node].X, -f, p)
        efforts = [-self.nodes[k].drum * (pull.tension + pull.winding) for k in self.drums]
        return Taken(on, efforts)

    def _radius(self, seen: Facing) -> Any:
        node: Any = self.nodes[seen.node]
        return node.radius


def _length(way: Path) -> Array:
    return way.arcs + sum(_direction(span)[1] for span in way.spans)


def _lengthening(way: Path, motions: tuple[Motion, ...]) -> Array:
    """dL/dt, (...): the points where the line touches count as fixed on their bodies."""
    rates = [dot(_direction(s)[0], _velocity(motions[s.b], s.p_b) - _velocity(motions[s.a], s.p_a)) for s in way.spans]
    return sum(rates[1:], rates[0])


def _raising(seen: Facing, motions: tuple[Motion, ...]) -> Array:
    """The rate of a line's elevation on its swivel, (...)."""
    p = se3.position(motions[seen.target].X)
    across = _velocity(motions[seen.target], p) - _velocity(motions[seen.node], p)
    return dot(seen.up, across) / seen.free


def _direction(span: Span) -> tuple[Array, Array]:
    """The unit vector from a to b, (..., 3), and the distance, (...)."""
    way = span.p_b - span.p_a
    distance = sqrt(maximum(dot(way, way), np.array(TOUCHING**2)))
    return way / distance[..., None], distance


def _in_frame(X: Array, p: Array) -> Array:
    """A point of the world in a frame."""
    return _turned(X, p - se3.position(X))


def _turned(X: Array, f: Array) -> Array:
    return (np.swapaxes(se3.rotation(X), -1, -2) @ f[..., None])[..., 0]


def _velocity(frame: Motion, p: Array) -> Array:
    """Of the point of a frame's body at p, in world axes."""
    v = frame.V[..., :3] + cross(frame.V[..., 3:], _in_frame(frame.X, p))
    return (se3.rotation(frame.X) @ v[..., None])[..., 0]


def _at(X: Array, f: Array, p: Array) -> Array:
    """The wrench of a force at p, both in world axes, on a frame in its axes."""
    own = _turned(X, f)
    return np.concatenate([own, cross(_in_frame(X, p), own)], axis=-1)


# ---- numbers and choices ----


def _is_there(drum: Any) -> bool:
    """Whether there is a drum; a traced number counts as one."""
    return not (isinstance(drum, int | float | np.number) and drum == 0)


def _is_number(name: str, x: Any) -> bool:
    return name != "side" and not isinstance(x, bool) and x is not None


def _changed(part: Any, at: str, numbers: dict[str, Any]) -> Any:
    return with_values(part, {name: numbers[f"{at}{name}"] for name in part.parameters() if f"{at}{name}" in numbers})


def _set(part: Any, values: dict[str, Any]) -> Any:
    """A copy with other values, which are not looked at."""
    out = copy(part)
    for name, x in values.items():
        object.__setattr__(out, name, x)
    return out


def _require_route(nodes: tuple[Node, ...]) -> None:
    """An error unless a line can run over these."""
    for complaint in _complaints(nodes):
        raise InputError(f"a line over {' - '.join(node.kind for node in nodes) or 'nothing'}: {complaint}")


def _complaints(nodes: tuple[Node, ...]) -> Iterator[str]:
    if len(nodes) < 2:
        yield f"{len(nodes)} place{'s' * (len(nodes) != 1)}: expected two or more"
    for k, node in enumerate(nodes):
        ends = k in (0, len(nodes) - 1)
        if _is_there(node.drum) and not ends:
            yield f"place {k} is a winch: expected winches at the ends"
        if node.turns and ends:
            yield f"place {k} is a pulley of fixed axis: expected a point, a swivel or a winch at the ends"
        if isinstance(node, Swivel):
            faced = nodes[k - 1 if k == len(nodes) - 1 else k + 1] if len(nodes) > 1 else node
            if faced.turns:
                yield f"the swivel at place {k} faces a pulley of fixed axis: expected a point between them"
