"""The C functions of contacts with the ground: what a shape does to its body, and its bristles after a step.

Each begins with the gaps of its points, and is left where none of them is reached in any lane.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from modurob.algorithms.forces import acting
from modurob.catalogue.contact import Contact, Moves, Touch
from modurob.kernels.force_units import nonzero
from modurob.kernels.lowering import Store, packed
from modurob.kernels.registers import Register
from modurob.kernels.units import Loaded, Unit, loaded
from modurob.kernels.writer import Code, Layout, Table, function
from modurob.mechanism.tables import ContactRow, Tables
from modurob.registry import fingerprint
from modurob.spatial import inertia
from modurob.spatial.scalars import Array
from modurob.trace import Graph, Place

if TYPE_CHECKING:
    from modurob.kernels.arena import Arena

# what the functions point to
PUSH_SLOTS = ("dt", "X", "start", "known", "x", "on", "added")
STATE_SLOTS = ("dt", "X", "start", "known", "end", "x", "new")


def push_unit(law: Contact, last: bool, lanes: int, single: bool) -> Unit:
    """The function that adds the wrench of a shape on its body, and the inertia that it adds to it."""

    def stores(graph: Graph, own: Contact, touch: Touch, moves: Moves) -> list[Store]:
        F, H = own.push(touch, moves, graph.inputs("x", (1, law.nx)), last)
        F = F - (H @ (moves.start - moves.known)[..., None])[..., 0]
        return [*_stores("on", F, True), *_stores("added", packed(moves.dt[0] * H[0]), True)]

    return _unit(law, f"push {last}", PUSH_SLOTS, stores, lanes, single)


def states_unit(law: Contact, lanes: int, single: bool) -> Unit:
    """The function of the bristles at the end of a step; where nothing touches they are left as they are."""

    def stores(graph: Graph, own: Contact, touch: Touch, moves: Moves) -> list[Store]:
        return _stores("new", own.settled(touch, moves, graph.inputs("end", (1, 6)), graph.inputs("x", (1, law.nx))))

    return _unit(law, "states", STATE_SLOTS, stores, lanes, single)


def _unit(
    law: Contact, what: str, slots: tuple[str, ...], stores: Callable[..., list[Store]], lanes: int, single: bool
) -> Unit:
    def write() -> tuple[str, Code]:
        graph = Graph()
        own = law.with_parameters({name: graph.input("parameter", k) for k, name in enumerate(nonzero(law))})  # type: ignore[arg-type]
        X, frame = (_rows(graph, name) for name in ("X", "frame"))
        V0, V, centre = (graph.inputs(name, (1, n)) for name, n in (("start", 6), ("known", 6), ("offset", 3)))
        moves, touch = Moves(V0, V, graph.inputs("magnitude", 1), centre, graph.inputs("dt", 1)), own.touch(X, frame)
        near = own.nearness(touch, moves)
        table = Table(graph)
        layout = Layout({name: k for k, name in enumerate(slots)}, {}, {})
        text = function("contact", graph, stores(graph, own, touch, moves), layout, table, near[0], quick=True)
        return text, Code(["contact"], graph, table.nodes, 0)

    parts = [fingerprint(type(part)) for part in law.parts.values()]
    return Unit("contact", f"{what} {parts} {law.nx} {nonzero(law)}", lanes, single, write)  # type: ignore[arg-type]


def _rows(graph: Graph, array: str) -> Array:
    X = np.eye(4, dtype=object)[None]
    X[0, :3] = graph.inputs(array, (3, 4))
    return X


def _stores(array: str, values: Any, add: bool = False) -> list[Store]:
    return [Store(Place(array, k), x, add) for k, x in enumerate(np.asarray(values, dtype=object).ravel())]


def constants(m: Tables, row: ContactRow) -> dict[str, Array]:
    """The table of a contact."""
    numbers = row.force.parameters()
    own = np.array([numbers[name] for name in nonzero(row.force)], dtype=float)  # type: ignore[arg-type]
    I = m.inertia[row.frame.body]
    heft = {"magnitude": np.array([inertia.mass(I)]), "offset": inertia.centre(I)}
    return {"parameter": own, "frame": row.frame.X[:3].ravel(), **heft}


# ---- rows ----


def lay_pushes(
    e: "Arena", start: dict[str, Register], known: Register, x: Register, dt: Register, last: bool
) -> tuple[Register, Register]:
    """As `algorithms.contact.contact_pushes`, times dt for the inertias."""
    on, added = e.cleared("wrenches"), e.cleared("inertias")
    for state, row, unit in _rows_of(e, lambda law: push_unit(law, last, e.lanes, e.single)):
        body = row.frame.body - 1
        places = [start["X"].place + 12 * body, *(V.place + 6 * body for V in (start["V"], known)), x.place + state]
        at = [dt.place, *places, on.place + 6 * (body + 1), added.place + 21 * (body + 1)]
        e.row(unit, at, constants(e.m, row))
    return on, added


def lay_states(
    e: "Arena", start: dict[str, Register], known: Register, end: Register, x: Register, dt: Register
) -> Register:
    """As `algorithms.contact.contact_states`: bristles that touch nothing are zero."""
    new = e.register(x.n)
    e.op("copy", [x.place, new.place, x.n])
    for state, row, unit in _rows_of(e, lambda law: states_unit(law, e.lanes, e.single)):
        e.op("clear", [new.place + state, row.force.nx])
        body = row.frame.body - 1
        places = [start["X"].place + 12 * body, *(V.place + 6 * body for V in (start["V"], known, end))]
        e.row(unit, [dt.place, *places, x.place + state, new.place + state], constants(e.m, row))
    return new


def _rows_of(e: "Arena", unit: Callable[[Contact], Unit]) -> list[tuple[int, ContactRow, Loaded]]:
    """Where the states of each contact begin, the contact, and its code."""
    own = acting(e.m)
    units = loaded([unit(row.force) for _, row in own.contact_rows])
    return [(own.x_starts[k], row, code) for (k, row), code in zip(own.contact_rows, units, strict=True)]
