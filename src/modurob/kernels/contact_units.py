"""The C functions of contacts with the ground: the wrench of a shape on its body, and its bristles after a step.

Each begins with the least gap of its points, and is left where none of them is reached in any lane; so is what each point does.
The vertices of a hull are taken a few at a time, so that code does not grow with their number, and all hulls share it.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from modurob.algorithms.forces import acting
from modurob.catalogue.contact import Contact, StepMotion, Touch, Vertices
from modurob.fingerprints import fingerprint
from modurob.kernels.compiler import quick_flags
from modurob.kernels.force_units import nonzero
from modurob.kernels.loops import Looped, Points, found_here, function_of_points
from modurob.kernels.lowering import Store, packed
from modurob.kernels.registers import Register
from modurob.kernels.units import Loaded, Unit, loaded
from modurob.kernels.writer import POINT, TABULAR, Code, Layout, Table
from modurob.mechanism.tables import ContactRow, Tables
from modurob.spatial import inertia
from modurob.spatial.scalars import Array
from modurob.trace import Graph, Place

if TYPE_CHECKING:
    from modurob.kernels.arena import Arena

# what the functions point to; bristles along the second tangents stand apart
WRENCH_SLOTS = ("dt", "X", "start", "known", "x", "across", "on", "added")
STATE_SLOTS = ("dt", "X", "start", "known", "end", "x", "across", "new", "new across")
# vertices of a hull that are taken at once; those that are left over, one by one
TOGETHER = 4


def wrench_unit(law: Contact, first: bool, last: bool, lanes: int, single: bool) -> Unit:
    """The function that adds the wrench of a shape on its body, and the inertia that it adds to it; in the first solve the twists
    known so far are those of the start."""

    def stores(own: Contact, touch: Touch, motion: StepMotion, x: Array) -> list[Store]:
        F, added = own.wrench(touch, motion, x, last)
        return [*_stores("on", F, add=True), *_stores("added", packed(added[0]), add=True)]

    return _unit(law, f"wrench {first} {last}", WRENCH_SLOTS, first, stores, lanes, single)


def states_unit(law: Contact, first: bool, lanes: int, single: bool) -> Unit:
    """The function of the bristles at the end of a step, zero where nothing touches."""

    def stores(own: Contact, touch: Touch, motion: StepMotion, x: Array) -> list[Store]:
        end = x[0, 0].graph.inputs("end", (1, 6))
        z = own.end_states(touch, motion, end, x)[0]
        return [Store(Place(array, 0), value) for array, value in zip(("new", "new across"), z, strict=True)]

    return _unit(law, f"states {first}", STATE_SLOTS, first, stores, lanes, single)


# the stores of a unit for one point, from the law, the point, the motion of the body, and its bristles
Stores = Callable[[Contact, Touch, StepMotion, Array], list[Store]]
# of which each point has an entry
OF_POINTS = frozenset({POINT, TABULAR, "x", "across", "new", "new across"})


def _unit(
    law: Contact, what: str, slots: tuple[str, ...], first: bool, stores: Stores, lanes: int, single: bool
) -> Unit:
    def write() -> tuple[str, Code]:
        graph = Graph(times=law.count, varying=OF_POINTS if law.count > 1 else frozenset())
        own = law.with_parameters({name: graph.input("parameter", k) for k, name in enumerate(_numbers(law))})
        X, frame = (_rows(graph, name) for name in ("X", "frame"))
        V0, V, centre = (graph.inputs(name, (1, n)) for name, n in (("start", 6), ("known", 6), ("offset", 3)))
        motion = StepMotion(V0, V0 if first else V, graph.inputs("magnitude", 1), centre, graph.inputs("dt", 1))
        touch, table = own.touch(X, frame), Table(graph)
        points = Points(graph, table)
        point = _one(points, touch)
        x = np.concatenate([graph.inputs(name, (1, 1)) for name in ("x", "across")], axis=-1)
        layout = Layout({name: k for k, name in enumerate(slots)}, {}, {}, graph.varying)
        looped = Looped(graph, own.clearance(point, motion)[0], stores(own, point, motion, x), layout, table)
        found = found_here(points, looped)
        text = function_of_points("contact", own.clearance(touch, motion)[0], points, found, looped, leave=False)
        return text, Code(["contact"], graph, table.nodes, 0)

    parts = [fingerprint(type(part)) for part in law.parts.values()]
    flags = quick_flags() if lanes == 1 else ()
    return Unit("contact", f"{what} {parts} {law.nx} {_numbers(law)}", lanes, single, write, flags)


def _one(points: Points, touch: Touch) -> Touch:
    """The point that stands for all of them."""
    p, carrier, n, *t = (points.one(x, -2) for x in (touch.p, touch.carrier, touch.n, *touch.t))
    return Touch(p, carrier, points.one(touch.gap, -1), n, (t[0], t[1]))


def _numbers(law: Contact) -> list[str]:
    """The numbers of a contact that its table holds: those that are not zero, and all of vertices."""
    known = {*nonzero(law)}  # type: ignore[arg-type]
    hull = isinstance(law.shape, Vertices)
    return [name for name in law.parameters() if name in known or (hull and name.startswith("shape "))]


def _rows(graph: Graph, array: str) -> Array:
    X = np.eye(4, dtype=object)[None]
    X[0, :3] = graph.inputs(array, (3, 4))
    return X


def _stores(array: str, values: Any, add: bool = False) -> list[Store]:
    return [Store(Place(array, k), x, add) for k, x in enumerate(np.asarray(values, dtype=object).ravel())]


class Piece(NamedTuple):
    """Points of a contact that one function takes: a contact of their own, and where the bristles of their tangents stand."""

    law: Contact
    x: int
    across: int


def pieces(law: Contact, state: int) -> Iterator[Piece]:
    """A contact in pieces, from the place of its states on: hulls a few vertices at a time, unless resistance to rolling goes by
    all that they press."""
    n, shape = law.count, law.shape
    if not isinstance(shape, Vertices) or law.ground.rolling:
        yield Piece(law, state, state + n)
        return
    whole = n - n % TOGETHER
    for k in (*range(0, whole, TOGETHER), *range(whole, n)):
        own = shape.numbers[3 * k : 3 * (k + (TOGETHER if k < whole else 1))]
        yield Piece(replace(law, shape=Vertices(own)), state + k, state + n + k)


class Alike(NamedTuple):
    """Pieces of a contact that one function takes one after the other: the body, the first of them, where the bristles of all of
    them stand, (pieces, 2), and their tables, (entries, pieces)."""

    body: int
    law: Contact
    bristles: Array
    constants: dict[str, Array]


@lru_cache(maxsize=64)
def alike(m: Tables) -> tuple[Alike, ...]:
    """All contacts of a mechanism."""
    own = acting(m)
    return tuple(
        _alike(m, row, [*some])
        for k, row in own.contact_rows
        for _, some in groupby(pieces(row.force, own.x_starts[k]), key=lambda piece: piece.law.count)
    )


def _alike(m: Tables, row: ContactRow, some: list[Piece]) -> Alike:
    law, I = some[0].law, m.inertia[row.frame.body]
    names, numbers = _numbers(law), [piece.law.parameters() for piece in some]
    parameter = np.array([[own[name] for own in numbers] for name in names], dtype=float)
    same = {"frame": row.frame.X[:3].ravel(), "magnitude": [inertia.mass(I)], "offset": inertia.centre(I)}
    rest = {name: np.repeat(np.reshape(x, (-1, 1)), len(some), axis=1) for name, x in same.items()}
    bristles = np.array([(piece.x, piece.across) for piece in some])
    return Alike(row.frame.body, law, bristles, {"parameter": parameter, **rest})


# ---- rows ----


def lay_wrenches(
    e: "Arena", start: dict[str, Register], known: Register, x: Register, dt: Register, last: bool
) -> tuple[Register, Register]:
    """As `algorithms.contact.contact_wrenches`; the next solve writes over what this one finds."""
    on, added = (e.cleared(kind, scratch="contact") for kind in ("wrenches", "inertias"))
    first = known.place == start["V"].place
    for some, unit in _rows_of(e, lambda law: wrench_unit(law, first, last, e.lanes, e.single)):
        at = [dt.place, *_places(some.body, start["X"], start["V"], known)]
        ends = [on.place + 6 * some.body, added.place + 21 * some.body]
        e.alike(unit, [[*at, *(x.place + some.bristles[k]), *ends] for k in range(len(some.bristles))], some.constants)
    return on, added


def lay_states(
    e: "Arena", start: dict[str, Register], known: Register, end: Register, x: Register, rate: Register, dt: Register
) -> Register:
    """As `algorithms.contact.contact_states`, written over the states of the start, which nothing reads after a step."""
    first, moving = known.place == start["V"].place, np.ones(x.n, dtype=bool)
    for some, unit in _rows_of(e, lambda law: states_unit(law, first, e.lanes, e.single)):
        moving[some.bristles[..., None] + np.arange(some.law.count)] = False
        at = [dt.place, *_places(some.body, start["X"], start["V"], known, end)]
        e.alike(unit, [[*at, *own, *own] for own in x.place + some.bristles], some.constants)
    edges = np.flatnonzero(np.diff(moving, prepend=False, append=False))
    for a, b in edges.reshape(-1, 2):
        e.op("combine", [x.place + a, b - a, 2, x.place + a, 0, rate.place + a, dt.place], [1.0, 1.0])
    return x


def _places(body: int, X: Register, *V: Register) -> list[int]:
    """Of the pose and twists of a body."""
    return [X.place + 12 * (body - 1), *(x.place + 6 * (body - 1) for x in V)]


def _rows_of(e: "Arena", unit: Callable[[Contact], Unit]) -> list[tuple[Alike, Loaded]]:
    """The contacts, and the code of each."""
    found = alike(e.m)
    return list(zip(found, loaded([unit(some.law) for some in found]), strict=True))
