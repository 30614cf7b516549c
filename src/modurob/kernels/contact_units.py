"""The C functions of contacts with the ground: what a shape does to its body, and its bristles after a step.

Each begins with the least gap of its points, and is left where none of them is reached in any lane; so is what each point does.
The vertices of a hull are taken a few at a time, so that code does not grow with their number, and all hulls share it.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from modurob.algorithms.forces import acting
from modurob.catalogue.contact import Contact, Moves, Touch, Vertices
from modurob.kernels.compiler import quick_flags
from modurob.kernels.force_units import nonzero
from modurob.kernels.loops import Looped, Points, found_here, function_of_points
from modurob.kernels.lowering import Store, packed
from modurob.kernels.registers import Register
from modurob.kernels.units import Loaded, Unit, loaded
from modurob.kernels.writer import POINT, Code, Layout, Table
from modurob.mechanism.tables import ContactRow, Tables
from modurob.registry import fingerprint
from modurob.spatial import inertia
from modurob.spatial.scalars import Array
from modurob.trace import Graph, Place

if TYPE_CHECKING:
    from modurob.kernels.arena import Arena

# what the functions point to; bristles along the second tangents stand apart
PUSH_SLOTS = ("dt", "X", "start", "known", "x", "across", "on", "added")
STATE_SLOTS = ("dt", "X", "start", "known", "end", "x", "across", "new", "new across")
# vertices of a hull that are taken at once; those that are left over, one by one
TOGETHER = 4


def push_unit(law: Contact, first: bool, last: bool, lanes: int, single: bool) -> Unit:
    """The function that adds the wrench of a shape on its body, and the inertia that it adds to it; in the first solve the twists
    known so far are those of the start."""

    def stores(own: Contact, touch: Touch, moves: Moves, x: Array) -> list[Store]:
        F, added = own.push(touch, moves, x, last)
        return [*_stores("on", F, add=True), *_stores("added", packed(added[0]), add=True)]

    return _unit(law, f"push {first} {last}", PUSH_SLOTS, first, stores, lanes, single)


def states_unit(law: Contact, first: bool, lanes: int, single: bool) -> Unit:
    """The function of the bristles at the end of a step, zero where nothing touches."""

    def stores(own: Contact, touch: Touch, moves: Moves, x: Array) -> list[Store]:
        end = x[0, 0].graph.inputs("end", (1, 6))
        z = own.settled(touch, moves, end, x)[0]
        return [Store(Place(array, 0), value) for array, value in zip(("new", "new across"), z, strict=True)]

    return _unit(law, f"states {first}", STATE_SLOTS, first, stores, lanes, single)


# what a unit does to a point, from the law, where it touches, how the body moves, and its bristles
Stores = Callable[[Contact, Touch, Moves, Array], list[Store]]
# of which each point has an entry
OF_POINTS = frozenset({POINT, "x", "across", "new", "new across"})


def _unit(
    law: Contact, what: str, slots: tuple[str, ...], first: bool, stores: Stores, lanes: int, single: bool
) -> Unit:
    def write() -> tuple[str, Code]:
        graph = Graph(times=law.count, varying=OF_POINTS if law.count > 1 else frozenset())
        own = law.with_parameters({name: graph.input("parameter", k) for k, name in enumerate(_numbers(law))})
        X, frame = (_rows(graph, name) for name in ("X", "frame"))
        V0, V, centre = (graph.inputs(name, (1, n)) for name, n in (("start", 6), ("known", 6), ("offset", 3)))
        moves = Moves(V0, V0 if first else V, graph.inputs("magnitude", 1), centre, graph.inputs("dt", 1))
        touch, points, table = own.touch(X, frame), Points(graph), Table(graph)
        point = _one(points, touch)
        x = np.concatenate([graph.inputs(name, (1, 1)) for name in ("x", "across")], axis=-1)
        layout = Layout({name: k for k, name in enumerate(slots)}, {}, {}, graph.varying)
        looped = Looped(graph, own.nearness(point, moves)[0], stores(own, point, moves, x), layout, table)
        found = found_here(points, looped)
        text = function_of_points("contact", own.nearness(touch, moves)[0], points, found, looped, leave=False)
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
    row: ContactRow
    x: int
    across: int


def pieces(row: ContactRow, state: int) -> Iterator[Piece]:
    """A contact in pieces, from the place of its states on: hulls a few vertices at a time, unless resistance to rolling goes by
    all that they press."""
    law = row.force
    n, shape = law.count, law.shape
    if not isinstance(shape, Vertices) or law.ground.rolling:
        yield Piece(law, row, state, state + n)
        return
    whole = n - n % TOGETHER
    for k in (*range(0, whole, TOGETHER), *range(whole, n)):
        own = shape.numbers[3 * k : 3 * (k + (TOGETHER if k < whole else 1))]
        yield Piece(replace(law, shape=Vertices(own)), row, state + k, state + n + k)


def constants(m: Tables, law: Contact, row: ContactRow) -> dict[str, Array]:
    """The table of a piece of a contact."""
    numbers = law.parameters()
    own = np.array([numbers[name] for name in _numbers(law)], dtype=float)
    I = m.inertia[row.frame.body]
    heft = {"magnitude": np.array([inertia.mass(I)]), "offset": inertia.centre(I)}
    return {"parameter": own, "frame": row.frame.X[:3].ravel(), **heft}


# ---- rows ----


def lay_pushes(
    e: "Arena", start: dict[str, Register], known: Register, x: Register, dt: Register, last: bool
) -> tuple[Register, Register]:
    """As `algorithms.contact.contact_pushes`; the next solve writes over what this one finds."""
    on, added = (e.cleared(kind, scratch="contact") for kind in ("wrenches", "inertias"))
    first = known.place == start["V"].place
    for piece, unit in _rows_of(e, lambda law: push_unit(law, first, last, e.lanes, e.single)):
        body = piece.row.frame.body - 1
        places = [start["X"].place + 12 * body, *(V.place + 6 * body for V in (start["V"], known))]
        bristles = x.place + piece.x, x.place + piece.across
        at = [dt.place, *places, *bristles, on.place + 6 * (body + 1), added.place + 21 * (body + 1)]
        e.row(unit, at, constants(e.m, piece.law, piece.row))
    return on, added


def lay_states(
    e: "Arena", start: dict[str, Register], known: Register, end: Register, x: Register, rate: Register, dt: Register
) -> Register:
    """As `algorithms.contact.contact_states`, written over the states of the start, which nothing reads after a step."""
    first, moving = known.place == start["V"].place, np.ones(x.n, dtype=bool)
    for piece, unit in _rows_of(e, lambda law: states_unit(law, first, e.lanes, e.single)):
        for place in (piece.x, piece.across):
            moving[place : place + piece.law.count] = False
        body = piece.row.frame.body - 1
        places = [start["X"].place + 12 * body, *(V.place + 6 * body for V in (start["V"], known, end))]
        bristles = x.place + piece.x, x.place + piece.across
        e.row(unit, [dt.place, *places, *bristles, *bristles], constants(e.m, piece.law, piece.row))
    edges = np.flatnonzero(np.diff(moving, prepend=False, append=False))
    for a, b in edges.reshape(-1, 2):
        e.op("combine", [x.place + a, b - a, 2, x.place + a, 0, rate.place + a, dt.place], [1.0, 1.0])
    return x


def _rows_of(e: "Arena", unit: Callable[[Contact], Unit]) -> list[tuple[Piece, Loaded]]:
    """The contacts in pieces, and the code of each."""
    own = acting(e.m)
    found = [piece for k, row in own.contact_rows for piece in pieces(row, own.x_starts[k])]
    return list(zip(found, loaded([unit(piece.law) for piece in found]), strict=True))
