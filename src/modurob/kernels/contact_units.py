"""The C functions of contacts with the ground: what a shape does to its body, and its bristles after a step.

Each begins with the gaps of its points, and is left where none of them is reached in any lane.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from modurob.algorithms.forces import acting
from modurob.catalogue.contact import Contact, Touch
from modurob.kernels.force_units import nonzero
from modurob.kernels.lowering import Store, packed
from modurob.kernels.registers import Register
from modurob.kernels.units import Loaded, Unit, loaded
from modurob.kernels.writer import Code, Layout, Table, function
from modurob.registry import fingerprint
from modurob.spatial.scalars import Array
from modurob.trace import Graph, Place

if TYPE_CHECKING:
    from modurob.kernels.sequence import Engine

# what the functions point to
PUSH_SLOTS = ("dt", "X", "start", "known", "x", "on", "added")
STATE_SLOTS = ("dt", "X", "start", "known", "end", "x", "new")


def push_unit(law: Contact, last: bool, lanes: int, single: bool) -> Unit:
    """The function that adds the wrench of a shape on its body, and the inertia that it adds to it."""

    def stores(graph: Graph, own: Contact, touch: Touch, dt: Array) -> list[Store]:
        V0, V, x = (graph.inputs(name, (1, n)) for name, n in (("start", 6), ("known", 6), ("x", law.nx)))
        F, H = own.push(touch, V0, V, x, dt, last)
        F = F - (H @ (V0 - V)[..., None])[..., 0]
        return [*_stores("on", F, True), *_stores("added", packed(dt[0] * H[0]), True)]

    return _unit(law, f"push {last}", PUSH_SLOTS, stores, lanes, single)


def states_unit(law: Contact, lanes: int, single: bool) -> Unit:
    """The function of the bristles at the end of a step; where nothing touches they are left as they are."""

    def stores(graph: Graph, own: Contact, touch: Touch, dt: Array) -> list[Store]:
        V0, V, V1 = (graph.inputs(name, (1, 6)) for name in ("start", "known", "end"))
        return _stores("new", own.settled(touch, V0, V, V1, graph.inputs("x", (1, law.nx)), dt))

    return _unit(law, "states", STATE_SLOTS, stores, lanes, single)


def _unit(
    law: Contact, what: str, slots: tuple[str, ...], stores: Callable[..., list[Store]], lanes: int, single: bool
) -> Unit:
    def write() -> tuple[str, Code]:
        graph = Graph()
        own = law.with_parameters({name: graph.input("parameter", k) for k, name in enumerate(nonzero(law))})  # type: ignore[arg-type]
        X, frame = (_rows(graph, name) for name in ("X", "frame"))
        dt = graph.inputs("dt", 1)
        touch = own.touch(X, frame)
        near = own.nearness(touch, graph.inputs("start", (1, 6)), graph.inputs("known", (1, 6)), dt)
        table = Table(graph)
        layout = Layout({name: k for k, name in enumerate(slots)}, {}, {})
        text = function("contact", graph, stores(graph, own, touch, dt), layout, table, near[0])
        return text, Code(["contact"], graph, table.nodes, 0)

    parts = [fingerprint(type(part)) for part in law.parts.values()]
    return Unit("contact", f"{what} {parts} {law.nx} {nonzero(law)}", lanes, single, write)  # type: ignore[arg-type]


def _rows(graph: Graph, array: str) -> Array:
    X = np.eye(4, dtype=object)[None]
    X[0, :3] = graph.inputs(array, (3, 4))
    return X


def _stores(array: str, values: Any, add: bool = False) -> list[Store]:
    return [Store(Place(array, k), x, add) for k, x in enumerate(np.asarray(values, dtype=object).ravel())]


def constants(law: Contact, X_BF: Array) -> dict[str, Array]:
    """The table of a contact."""
    numbers = law.parameters()
    return {"parameter": np.array([numbers[name] for name in nonzero(law)], dtype=float), "frame": X_BF[:3].ravel()}  # type: ignore[arg-type]


# ---- rows ----


def lay_pushes(
    e: "Engine", start: dict[str, Register], known: dict[str, Register], x: Register, dt: Register, last: bool
) -> tuple[Register, Register]:
    """As `algorithms.contact.contact_pushes`, times dt for the inertias."""
    on, added = e.cleared("wrenches"), e.cleared("inertias")
    rows = acting(e.m).contact_rows
    units = loaded([push_unit(row.force, last, e.lanes, e.single) for _, row in rows])
    for (state, body), (row, unit) in zip(_places(e, rows), zip(rows, units, strict=True), strict=True):
        places = [dt.place, start["X"].place + 12 * body, *(found["V"].place + 6 * body for found in (start, known))]
        at = [*places, x.place + state, on.place + 6 * (body + 1), added.place + 21 * (body + 1)]
        e.row(unit, at, constants(row[1].force, row[1].frame.X))
    return on, added


def lay_states(
    e: "Engine",
    start: dict[str, Register],
    known: dict[str, Register],
    end: dict[str, Register],
    x: Register,
    dt: Register,
) -> Register:
    """As `algorithms.contact.contact_states`: bristles that touch nothing are zero."""
    rows, new = acting(e.m).contact_rows, e.register(x.n)
    e.op("copy", [x.place, new.place, x.n])
    units: list[Loaded] = loaded([states_unit(row.force, e.lanes, e.single) for _, row in rows])
    for (state, body), (row, unit) in zip(_places(e, rows), zip(rows, units, strict=True), strict=True):
        e.op("clear", [new.place + state, row[1].force.nx])
        places = [dt.place, start["X"].place + 12 * body]
        places += [found["V"].place + 6 * body for found in (start, known, end)]
        e.row(
            unit,
            [*places, x.place + state, new.place + state],
            constants(row[1].force, row[1].frame.X),
        )
    return new


def _places(e: "Engine", rows: list[Any]) -> list[tuple[int, int]]:
    """Where the states of each contact begin, and the place of its body among those that move."""
    starts = acting(e.m).x_starts
    return [(starts[k], row.frame.body - 1) for k, row in rows]
