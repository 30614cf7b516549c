"""A program at one dyad type, traced: the values that each step reads, keeps and sends, and their places."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.program import SINGULAR, SYMMETRIC, Inward, Outward, Program
from modurob.algorithms.steps import Dyad, dyad
from modurob.kernels.dyad import CONSTANTS, DyadType, TracedConstants
from modurob.spatial import inertia, se3
from modurob.spatial.scalars import Array, maximum, select
from modurob.trace import Graph, Place, Traced, tangent

TABLE = frozenset(CONSTANTS)
# results that add up where joints share a coordinate
ADDED = ("rates", "vectors")
_UPPER = np.triu_indices(6)


def packed(M: Array) -> Array:
    """The 21 numbers of a symmetric 6x6 matrix."""
    return M[_UPPER]


def unpacked(numbers: Array) -> Array:
    """The symmetric 6x6 matrix of 21 numbers."""
    M = np.empty((6, 6), dtype=object)
    M[_UPPER] = numbers
    M.T[_UPPER] = numbers
    return M


def size(shape: tuple[int, ...]) -> int:
    """How many vectors a field takes."""
    return 21 if shape == SYMMETRIC else int(np.prod(shape))


class Store(NamedTuple):
    """A result, and where it goes; whether it is added to what is there."""

    place: Place
    value: Any
    add: bool = False


@dataclass(frozen=True, eq=False)
class Lowered:
    """The traced steps of a type: the stores of each pass, and the vectors its fields take."""

    graph: Graph
    passes: list[list[Store]]
    places: dict[Place, int]  # of own and parents' fields, among the vectors of a body
    size: int


class Angle:
    """A coordinate whose cosine and sine are known already."""

    def __init__(self, cosine: Any, sine: Any):
        self._cosine, self._sine = cosine, sine

    def cos(self) -> Any:
        return self._cosine

    def sin(self) -> Any:
        return self._sine

    def __neg__(self) -> "Angle":
        return Angle(self._cosine, -self._sine)


class _Both(Traced):
    """A coordinate as a number and as an angle with known cosine and sine."""

    __slots__ = ("_cosine", "_sine")

    def __init__(self, linear: Traced, cosine: Any, sine: Any):
        super().__init__(linear.graph, linear.index)
        self._cosine, self._sine = cosine, sine

    def cos(self) -> Any:
        return self._cosine

    def sin(self) -> Any:
        return self._sine


def lowered(kind: DyadType, program: Program, given: frozenset[str]) -> Lowered:
    """Trace all passes of a program at a type; of the inputs that may be left out, those in `given` are there."""
    view = TracedView(kind, program, given)
    for walk in program.passes:
        for step in _steps(view, walk):
            view.begin()
            step()
    return Lowered(view.graph, view.passes, *_allocated(view))


def _steps(view: "TracedView", walk: Any) -> Iterator[Callable[[], None]]:
    """The functions of a pass at a joint."""
    if isinstance(walk, Outward | Inward):
        yield lambda: walk.step(view)


@dataclass
class _Field:
    """A kept field: its values, constants among them, and the first and the last pass that need it."""

    known: Array
    first: int
    last: int = field(default=-1)


class TracedView:
    """A joint as `View` says, in traced scalars. Values kept by one pass are there in the next; constants are never stored."""

    def __init__(self, kind: DyadType, program: Program, given: frozenset[str]):
        self.kind, self.program, self.graph, self._given = kind, program, Graph(), given
        self._constants = TracedConstants(kind, self.graph)
        self.type, self.nv, self.nq = self._constants.joint, self._constants.joint.nv, self._constants.joint.nq
        self.inertia, self.armature = self._constants.inertia, self._constants.armature
        self.frame = self._constants.back
        self.gravity, self.ratio = self._constants.gravity, self._constants.ratio
        if program.mimics:  # otherwise types do not distinguish them
            self.shares, self.follows, self.hub = kind.shares, kind.follows, kind.hub
        self.passes: list[list[Store]] = []
        self.fields: dict[str, _Field] = {}
        self.reads: dict[str, int] = {}  # the last pass in which children read a shared field of their parent
        self._at_hand: dict[str, Array] = {}
        self._known_columns: dict[str, Array] = {}

    def begin(self) -> None:
        """The next function: what earlier ones kept must be read again."""
        self.passes.append([])
        self._at_hand = {}

    # ---- what a step reads ----

    @property
    def _link(self) -> Dyad:
        return dyad(self.type, self._constants.X_PJ, self._coordinates())

    @property
    def X(self) -> Array:
        return self._link.X

    @property
    def S(self) -> Array:
        return self._link.S if self.program.in_body_axes else self.ratio * self._link.S

    def bias(self, v: Array) -> Array:
        return self.type.bias(self._coordinates(), v)

    def subspace_rate(self, v: Array) -> Array:
        return self.type.subspace_rate(self._coordinates(), v)

    def given(self, name: str) -> Array:
        kind = self.program.inputs[name]
        if kind in ("wrenches", "inertias"):
            return self._on_body(name, kind)
        if kind == "bodies":
            return self.graph.inputs(f"in {name}", ())
        if kind == "reference" and self.kind.base:
            return self.graph.inputs("in q", self.nq)[:3]
        n: Any = {"coordinates": self.nq, "rates": self.nv, "reference": 3}.get(str(kind), kind)
        x = self.graph.inputs(f"in {name}", n)
        return self.ratio * x if kind == "rates" and self.program.in_body_axes and name not in FLAGS else x

    def _on_body(self, name: str, kind: str) -> Array:
        """A wrench or an inertia, from the tables' body frame; zero if it is not given."""
        if name not in self._given:
            return np.zeros((6,) if kind == "wrenches" else (6, 6))
        if kind == "wrenches":
            return se3.to_parent(self._constants.back, self.graph.inputs(f"in {name}", 6))
        return inertia.to_parent(self._constants.back, unpacked(self.graph.inputs(f"in {name}", 21)))

    def parent(self, name: str) -> Array:
        self.reads[name] = len(self.passes) - 1
        if self.kind.base:
            return np.asarray(self.program.world(self)[name], dtype=object)  # type: ignore[arg-type]
        shape = self.program.shared[name]
        return self.graph.inputs(f"parent {name}", shape)

    def children(self, name: str) -> Any:
        shape = self.program.sent[name]
        if self.kind.leaf:
            return np.zeros(shape)
        numbers = self.graph.inputs(f"children {name}", size(shape))
        return unpacked(numbers) if shape == SYMMETRIC else numbers.reshape(shape)

    def own(self, name: str) -> Array:
        if name in self._at_hand:
            return self._at_hand[name]
        if name in self.program.columns:
            return self._known_columns[name]
        self.fields[name].last = len(self.passes) - 1
        return self.fields[name].known

    def _coordinates(self) -> Array:
        """q along the chosen axis, cosines and sines taken once and kept."""
        q = self.ratio * self.graph.inputs("in q", self.nq) + self._constants.offset
        angles = self.type.angles
        if not angles:
            return q
        if "waves" not in self.fields:
            self.keep(waves=np.array([w for i in angles for w in (q[i].cos(), q[i].sin())], dtype=object))
        waves, out = self.own("waves"), q.copy()
        for k, i in enumerate(angles):
            cosine, sine = waves[2 * k : 2 * k + 2]
            out[i] = _Both(q[i], cosine, sine) if self.type.parameters else Angle(cosine, sine)
        return out

    def slope(self, function: Callable[[Array], Array]) -> Array:
        """By the tangent of the function's own trace."""
        q = self.graph.inputs("in q", self.nq)
        value = function(q)
        columns = []
        for direction in np.eye(self.nv):
            rate = self.type.rate(q, direction)
            columns.append(tangent(self.graph, value, dict(zip(q, rate, strict=True))))
        return np.stack(columns, axis=-1)

    # ---- what a step leaves ----

    def store(self, array: str, value: Array, add: bool = False) -> None:
        """Store whole arrays."""
        for k, x in enumerate(np.asarray(value, dtype=object).ravel()):
            self.passes[-1].append(Store(Place(array, k), x, add))

    def keep(self, **fields: Array) -> None:
        for name, value in fields.items():
            value, known = np.asarray(value, dtype=object), np.empty(np.shape(value), dtype=object)
            for k, at in enumerate(np.ndindex(value.shape)):
                if name not in self.program.shared and self._is_constant(value[at]):
                    known[at] = value[at]
                    continue
                self.passes[-1].append(Store(Place(f"own {name}", k), value[at]))
                known[at] = self.graph.input(f"own {name}", k)
            now = len(self.passes) - 1
            self.fields[name], self._at_hand[name] = _Field(known, now, now), value

    def columns(self, **columns: Array) -> None:
        for name, value in columns.items():
            value = self.ratio * value if self.program.in_body_axes else value
            self.store(f"columns {name}", value)
            self._at_hand[name] = value
            again = self.graph.inputs(f"columns {name}", np.shape(value))
            known = [self._is_constant(x) for x in np.ravel(value)]
            self._known_columns[name] = np.where(np.reshape(known, np.shape(value)), value, again)

    def send(self, **sums: Array) -> None:
        for name, value in sums.items() if not self.kind.base else ():
            numbers = packed(value) if self.program.sent[name] == SYMMETRIC else np.ravel(value)
            if self.kind.adds is None:
                numbers = numbers + self.graph.inputs(f"before {name}", len(numbers))
            self.store(f"sent {name}", numbers, bool(self.kind.adds))

    def emit(self, **results: Array) -> None:
        for name, value in results.items():
            kind = self.program.results[name]
            if kind == "poses":
                X = np.eye(4, dtype=object)
                X[:3] = value
                value = (X @ self._constants.back)[:3]
            elif kind == "twists":
                value = se3.to_child(self._constants.back, value)
            elif kind in ADDED and self.program.in_body_axes:
                value = self.ratio * value
            if kind == "vectors":
                value = value.T
            self.store(f"out {name}", value, self.kind.shares and kind in ADDED)

    def add_block(self, **blocks: Array) -> None:
        for name, value in blocks.items():
            self.store(f"block {name}", value)

    def require(self, pivot: Array, scale: Array) -> None:
        """Store the number of the body as the status of a state in which a pivot is singular next to its scale."""
        status: Any = self.graph.input("status")
        for one, whole in zip(pivot, scale, strict=True):
            fine: Any = select(SINGULAR * whole, one, np.zeros(()), self._constants.number)
            status = maximum(status, fine)
        self.store("status", status)

    def _is_constant(self, x: Any) -> bool:
        return not isinstance(x, Traced) or self.graph.depends_only_on(x.index, TABLE)


# inputs by rate that are not components along the axis of a joint
FLAGS = ("free", "resistance")


def _allocated(view: TracedView) -> tuple[dict[Place, int], int]:
    """Where each number of a body's fields stands, and how many vectors that takes.

    Shared fields stand first, in one order for all types. A number takes the first place that no other one needs at the same time;
    results of passes that need not run again are needed to the end.
    """
    busy: list[list[tuple[int, int]]] = []
    places: dict[Place, int] = {}
    for kept in view.fields.values():
        if kept.first < view.program.still:
            kept.last = len(view.passes)
    for name, shape in view.program.shared.items():
        start = len(busy)
        kept = view.fields[name]
        busy += [[(kept.first, max(kept.last, view.reads.get(name, -1)))] for _ in range(size(shape))]
        places |= {Place(f"{whose} {name}", k): start + k for whose in ("own", "parent") for k in range(size(shape))}
    for name, kept in view.fields.items():
        if name in view.program.shared:
            continue
        for k, x in enumerate(kept.known.ravel()):
            if isinstance(x, Traced) and view.graph.nodes[x.index].value == Place(f"own {name}", k):
                places[Place(f"own {name}", k)] = first_free(busy, kept.first, kept.last)
    return places, len(busy)


def first_free(busy: list[list[Any]], first: float, last: float) -> int:
    """The first place that is free in the passes from first to last, from now on busy in them; a new one if there is none."""
    for i, intervals in enumerate(busy):
        if all(last < a or b < first for a, b in intervals):
            intervals.append((first, last))
            return i
    busy.append([(first, last)])
    return len(busy) - 1
