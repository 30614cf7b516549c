"""Collisions of a robot with itself and with the ground, and how far it is from them.

Distances are found by coal, the successor of hpp-fcl; here are the pairs that matter, and spheres around shapes that say which of
them are near.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from functools import lru_cache
from itertools import count
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modurob import kernels
from modurob.algorithms.configuration import neutral, random_configuration
from modurob.algorithms.interpreter import interpret
from modurob.algorithms.kinematics import forward_kinematics
from modurob.algorithms.program import Run
from modurob.caching import cached_property
from modurob.errors import FormatError, InputError, choices
from modurob.geometry import Mesh, Solid, solid
from modurob.mechanism.tables import Shape, Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array

# shapes may stand in each other by this, as faces do that touch [m]
TOUCHING = 1e-5
# distances that differ by less are equal, as those of symmetric robots are but for rounding [m]
EQUAL = 1e-9
# neighbours that stay as near as this wherever their joint stands are its bearing [m]
BEARING = 5e-3
# configurations that say what always is
SAMPLES = 24


class Closest(NamedTuple):
    """The closest pair of a configuration: names of parts or links, distance [m], and the nearest points in world axes, (3,)."""

    a: str
    b: str
    distance: float
    point_a: Array
    point_b: Array


@dataclass(frozen=True, eq=False)
class CollisionModel:
    """The shapes of a robot, and the pairs of them that can meet, made by `Mechanism.collision_model`.

    >>> model = robot.collision_model()
    >>> bool(model.clear(robot.neutral()))
    True
    """

    m: Tables
    names: tuple[str, ...]  # of each shape the part or link it is on
    solids: tuple[Solid, ...]
    bodies: Array  # of each shape, (k,)
    X_BS: Array  # its pose there, (k, 4, 4)
    pairs: Array  # places of shapes that can meet, (p, 2)
    ground: float | None  # height of the ground along the world's z [m]
    hulls: bool  # whether meshes count as their convex hulls

    @property
    def pair_names(self) -> list[tuple[str, str]]:
        """The names of the two shapes of each pair; those with the ground are behind them, one for each shape that moves.

        >>> len(robot.collision_model().pair_names) == len(robot.collision_model().distances(q))
        True
        """
        own = [(self.names[a], self.names[b]) for a, b in self.pairs]
        return own + [(self.names[k], "ground") for k in self._above]

    def distances(self, q: Any) -> Array:
        """The distance of each of `pair_names`, (..., pairs) [m]; negative values are penetration depths.

        >>> bool((robot.collision_model().distances(q) > -1e-5).all())
        True
        """
        X, lead = self._poses(q)
        out = np.empty((len(X), len(self.pairs)))
        for n, p in np.ndindex(out.shape):
            out[n, p] = self._between(p, X[n])
        return np.concatenate([out, self._heights(X)], axis=-1).reshape(*lead, -1)

    def distance(self, q: Any) -> Array:
        """The smallest distance, (...) [m]; infinite if nothing can meet.

        >>> model = robot.collision_model()
        >>> bool(np.isclose(model.distance(q), model.distances(q).min()))
        True
        """
        X, lead = self._poses(q)
        bounds, heights = self._bounds(X), self._heights(X).min(axis=-1, initial=np.inf)
        return np.array([self._smallest(X[n], bounds[n], heights[n])[0] for n in range(len(X))]).reshape(lead)

    def clear(self, q: Any, margin: float = 0.0) -> Array:
        """Whether nothing comes closer than `margin` [m], (...) bool; faces may touch.

        >>> robot.collision_model(ground=-0.2).clear([[0.5, 0.0, 0.0], [-1.5, 0.0, 0.0]])
        array([ True, False])
        """
        X, lead = self._poses(q)
        least = margin - TOUCHING
        bounds, clear = self._bounds(X), self._heights(X).min(axis=-1, initial=np.inf) >= least
        for n in np.flatnonzero(clear):
            clear[n] = all(self._between(p, X[n]) >= least for p in np.flatnonzero(bounds[n] < least))
        return clear.reshape(lead)

    def closest(self, q: Any) -> Closest:
        """The closest pair of one configuration, (nq,), with the nearest points.

        >>> near = robot.collision_model().closest(robot.neutral())
        >>> near.a, near.b
        ('m1/A', 'm3/A')
        """
        X, lead = self._poses(q)
        if lead:
            raise InputError(f"q with leading axes {lead}: expected one configuration, ({self.m.nq},)")
        heights = self._heights(X)[0]
        d, p = self._smallest(X[0], self._bounds(X)[0], heights.min(initial=np.inf))
        if p >= 0:
            a, b = self.pairs[p]
            return Closest(self.names[a], self.names[b], d, *self._points(p, X[0]))
        if not len(heights):
            raise InputError(f"{self.m.name} has no shapes that can meet: nothing is closest")
        return self._closest_to_ground(X[0], int(heights.argmin()), d)

    # ---- how they stand ----

    def _poses(self, q: Any, run: Run = kernels.run) -> tuple[Array, tuple[int, ...]]:
        """X_WS of all shapes, (n, k, 4, 4), and the leading axes of q."""
        q = np.asarray(q, dtype=float)
        if not q.ndim or q.shape[-1] != self.m.nq:
            raise InputError(f"q has shape {q.shape}: expected (..., {self.m.nq}) for {self.m.name}")
        bodies = forward_kinematics(self.m, q.reshape(prod(q.shape[:-1]), self.m.nq), run).bodies
        return bodies[:, self.bodies] @ self.X_BS, q.shape[:-1]

    @cached_property
    def _balls(self) -> tuple[Array, Array]:
        """Spheres around the shapes: centres in their own frames, (k, 3), and radii, (k,)."""
        centres = np.zeros((len(self.solids), 3))
        radii = np.array([s.radius for s in self.solids])
        for k, s in enumerate(self.solids):
            if isinstance(s, Mesh) and s.points is not None:
                centres[k] = (s.points.min(axis=0) + s.points.max(axis=0)) / 2
                radii[k] = np.linalg.norm(s.points - centres[k], axis=-1).max()
        return centres, radii

    def _bounds(self, X: Array) -> Array:
        """What the distance of each pair is at least, (n, pairs), from spheres around shapes."""
        centres, radii = self._balls
        at = se3.position(X) + (se3.rotation(X) @ centres[..., None])[..., 0]
        a, b = self.pairs.T
        return np.linalg.norm(at[:, a] - at[:, b], axis=-1) - radii[a] - radii[b]

    @cached_property
    def _above(self) -> list[int]:
        """The shapes that can meet the ground: those that move."""
        return [] if self.ground is None else np.flatnonzero(self.bodies > 0).tolist()

    def _heights(self, X: Array) -> Array:
        """Of the lowest point of each shape above the ground, (n, shapes that move)."""
        down = [-X[:, k, 2, :3] for k in self._above]
        reach = [self.solids[k].support(d) for k, d in zip(self._above, down, strict=True)]
        low = [X[:, k, 2, 3] - r - self.ground for k, r in zip(self._above, reach, strict=True)]
        return np.stack(low, axis=-1) if low else np.zeros((len(X), 0))

    # ---- pairs ----

    @cached_property
    def _tool(self) -> Any:
        return _coal()

    @cached_property
    def _geometries(self) -> list[Any]:
        return [_geometry(s, self.hulls) for s in self.solids]

    @cached_property
    def _meeting(self) -> list[Any]:
        return [self._tool.ComputeDistance(self._geometries[a], self._geometries[b]) for a, b in self.pairs]

    def _between(self, p: Any, X: Array) -> float:
        """The distance of one pair."""
        return self._measured(p, X)[0]

    def _measured(self, p: Any, X: Array) -> tuple[float, Any]:
        coal, (a, b) = self._tool, self.pairs[p]
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        ends = (coal.Transform3s(X[k, :3, :3], X[k, :3, 3]) for k in (a, b))
        return self._meeting[p](*ends, request, result), result

    def _always_within(self, p: Any, X: Array, bounds: Array, near: float) -> bool:
        """Whether a pair is as near as that in all states."""
        return all(bounds[n, p] < near and self._between(p, X[n]) < near for n in range(len(X)))

    def _points(self, p: int, X: Array) -> tuple[Array, Array]:
        result = self._measured(p, X)[1]
        return np.array(result.getNearestPoint1()), np.array(result.getNearestPoint2())

    def _smallest(self, X: Array, bounds: Array, best: float) -> tuple[float, int]:
        """The smallest distance of a state, and its pair, -1 if it is `best`: pairs in the order of their bounds, of equal ones the
        first."""
        which = -1
        for p in np.argsort(np.round(bounds / EQUAL), kind="stable"):
            if bounds[p] > best:
                break
            d = self._between(p, X)
            best, which = min(d, best), int(p) if d < best - EQUAL else which
        return float(best), which

    def _closest_to_ground(self, X: Array, which: int, d: float) -> Closest:
        """The lowest corner of a shape is found from its reach along directions next to straight down."""
        k, shape = self._above[which], self.solids[self._above[which]]
        down, h = -X[k, 2, :3], 1e-6
        p = np.array([shape.support(down + h * e) - shape.support(down - h * e) for e in np.eye(3)]) / (2 * h)
        at = X[k, :3, :3] @ p + X[k, :3, 3]
        return Closest(self.names[k], "ground", d, at, at - np.array([0, 0, d]))


# ---- making ----


def collision_model(m: Tables, ground: float | None, ignore: Iterable[tuple[str, str]], hulls: bool) -> CollisionModel:
    """The model of a mechanism: what collides, else what is drawn; pairs that always touch are left out."""
    shapes = m.solids
    names, solids = tuple(shape_names(m, shapes)), tuple(read_solid(s) for s in shapes)
    bodies = np.array([s.frame.body for s in shapes], dtype=int)
    X = np.stack([s.in_body for s in shapes]) if shapes else np.zeros((0, 4, 4))
    if X.dtype == object:
        raise InputError(f"{m.name} has symbols for lengths: give them values to find its collisions")
    a, b = np.triu_indices(len(shapes), 1)
    pairs = np.stack([a, b], axis=-1)[bodies[a] != bodies[b]]
    whole = CollisionModel(m, names, solids, bodies, X, pairs, ground, hulls)
    kept = _that_matter(whole, _required(names, ignore))
    return CollisionModel(m, names, solids, bodies, X, pairs[kept], ground, hulls)


def _required(names: tuple[str, ...], ignore: Iterable[tuple[str, str]]) -> set[frozenset[str]]:
    pairs = [tuple(pair) for pair in ignore]
    for pair in pairs:
        if len(pair) != 2:
            raise InputError(f"ignore {pair!r:.60}: expected pairs of names")
        for name in pair:
            if name not in names:
                raise InputError(f"ignore: no shape on {name!r}: {choices(str(name), dict.fromkeys(names))}")
    return {frozenset(pair) for pair in pairs}


def _that_matter(model: CollisionModel, ignored: set[frozenset[str]]) -> Array:
    """Which pairs are kept, (p,) bool.

    Excluded are neighbours that touch at zero, stay within `BEARING` of each other or are parts of one module that its
    joint keeps apart, and pairs that collide at all joint positions.
    """
    m, pairs = model.m, model.pairs
    near = _neighbours(model)
    beside = np.array([frozenset((int(model.bodies[a]), int(model.bodies[b]))) in near for a, b in pairs], dtype=bool)
    names = [(model.names[a], model.names[b]) for a, b in pairs]
    ruled_out = [
        frozenset(pair) in ignored or (near and _one_module(*pair)) for pair, near in zip(names, beside, strict=True)
    ]
    kept = ~np.array(ruled_out, dtype=bool)
    rng = np.random.default_rng(0)
    q = np.stack([_rest(m), *(random_configuration(m, rng) for _ in range(SAMPLES))])
    # by NumPy: whoever asks for pairs alone should not wait for a compiler
    X = model._poses(q, interpret)[0]
    bounds = model._bounds(X)
    for p in np.flatnonzero(kept & (bounds[0] <= BEARING)):
        at_zero, near = model._between(p, X[0]), BEARING if beside[p] else -TOUCHING
        touches = beside[p] and at_zero <= TOUCHING
        kept[p] = not (touches or (at_zero < near and model._always_within(p, X, bounds, near)))
    return kept


def _one_module(a: str, b: str) -> bool:
    """Whether two names, such as m3/A and m3/B, are parts of one module."""
    module = a.rpartition("/")[0]
    return bool(module) and module == b.rpartition("/")[0]


def _rest(m: Tables) -> Array:
    q, at = neutral(m), m.coordinate_of
    own = at >= 0
    q[at[own]] = np.clip(q[at[own]], m.limits.lower[own], m.limits.upper[own])
    return q


def _neighbours(model: CollisionModel) -> set[frozenset[int]]:
    """Pairs of bodies that a joint or a loop connects, bodies without shapes between them aside."""
    m, shaped = model.m, {0, *model.bodies.tolist()}

    def carrier(body: int) -> int:
        while body not in shaped:
            body = m.parent[body]
        return body

    # a free joint holds nothing together
    held = [i for i, j in enumerate(m.joints, start=1) if j.type.nv < 6]
    own = {frozenset((i, carrier(m.parent[i]))) for i in held}
    return own | {frozenset((carrier(c.predecessor.body), carrier(c.successor.body))) for c in m.loops}


def shape_names(m: Tables, shapes: tuple[Shape, ...]) -> Iterator[str]:
    """The part or link that each shape is on."""
    known: dict[tuple[int, bytes], str] = {}
    for name in sorted(m.frames, key=lambda name: name == "world"):
        frame = m.frames[name]
        known.setdefault((frame.body, np.asarray(frame.X).tobytes()), name)
    for s in shapes:
        yield known.get((s.frame.body, np.asarray(s.frame.X).tobytes()), m.bodies[s.frame.body])


def module_of(name: str) -> str:
    """The module of a part, such as m3 of m3/A; a link is its own."""
    return name.rpartition("/")[0] or name


def numbers_in_modules(names: Iterable[str]) -> list[int]:
    """The number of each shape among those of its module, or link: it does not depend on what else a robot consists of."""
    counts: dict[str, Iterator[int]] = defaultdict(count)
    return [next(counts[module_of(name)]) for name in names]


def read_solid(s: Shape) -> Solid:
    if s.kind != "mesh":
        return solid(s.kind, s.size)
    x, y, z = s.size
    return Mesh(x, y, z, s.file, np.array(_triangles(s.file, s.size).vertices()))


# ---- coal ----


def _coal() -> Any:
    try:
        import coal  # pyright: ignore
    except ImportError:
        raise InputError("collisions need coal: pip install modurob[collision]") from None
    return coal


@lru_cache(maxsize=512)
def _triangles(file: str, scale: tuple[float, ...]) -> Any:
    """The triangles of a mesh file."""
    if not Path(file).is_file():
        raise FormatError(f"no mesh {file!r}: expected the file that the collision geometry names, beside the robot's")
    try:
        return _coal().MeshLoader().load(file, np.array(scale))
    except (RuntimeError, ValueError) as error:
        raise FormatError(f"{file}: cannot be read as a mesh: {error}") from None


def _geometry(s: Solid, hulls: bool) -> Any:
    coal = _coal()
    if isinstance(s, Mesh):
        found = _triangles(s.file, (s.x, s.y, s.z))
        if hulls:
            found.buildConvexHull(True, "Qt")
        return found.convex if hulls else found
    make = {"box": coal.Box, "cylinder": coal.Cylinder, "sphere": coal.Sphere, "capsule": coal.Capsule}[s.kind]
    return make(*astuple(s))  # type: ignore[call-overload]
