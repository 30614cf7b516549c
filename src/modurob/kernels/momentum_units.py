"""The C function that corrects the rates of a free joint, so that what floats keeps its momentum over a step."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from modurob.algorithms.momenta import carried, meetings, missing, mutual_turns, roots
from modurob.kernels.lowering import Store
from modurob.kernels.registers import Register
from modurob.kernels.units import Unit, loaded
from modurob.kernels.writer import Code, Layout, Table, function
from modurob.spatial.scalars import Array
from modurob.trace import Graph, Place

if TYPE_CHECKING:
    from modurob.kernels.arena import Arena

CARRIED_SLOTS = ("dt", "X0", "p0", "w0", "felt", "own")
TURN_SLOTS = ("dt", "f", "own a", "own b", "turn a", "turn b")
SLOTS = ("dt", "X0", "X1", "p0", "w0", "p1", "felt", "own", "turn", "v")


def carried_unit(lanes: int, single: bool) -> Unit:
    """The function of what hangs on a free joint."""

    def stores(graph: Graph) -> list[Store]:
        p0, w0 = (graph.inputs(name, (1, 6)) for name in ("p0", "w0"))
        found = carried(_pose(graph, "X0"), p0, w0, graph.inputs("felt", (1, 6, 6)), graph.inputs("dt", 1))
        return [Store(Place("own", k), x, False) for k, x in enumerate(found[0])]

    return _unit("carried", CARRIED_SLOTS, stores, lanes, single)


def turn_unit(lanes: int, single: bool) -> Unit:
    """The function that adds to angular impulses what two that touch lack."""

    def stores(graph: Graph) -> list[Store]:
        a, b = (graph.inputs(f"own {end}", (1, 4)) for end in "ab")
        found = mutual_turns(graph.inputs("f", (1, 3)), a, b, graph.inputs("dt", 1))
        return [
            Store(Place(f"turn {end}", k), x, True)
            for end, turn in zip("ab", found, strict=True)
            for k, x in enumerate(turn[0])
        ]

    return _unit("turns", TURN_SLOTS, stores, lanes, single)


def balance_unit(lanes: int, single: bool) -> Unit:
    """The function that adds to six rates what they lack."""

    def stores(graph: Graph) -> list[Store]:
        p0, w0, p1 = (graph.inputs(name, (1, 6)) for name in ("p0", "w0", "p1"))
        own, turn = graph.inputs("own", (1, 4)), graph.inputs("turn", (1, 3))
        X0, X1, I = _pose(graph, "X0"), _pose(graph, "X1"), graph.inputs("felt", (1, 6, 6))
        found = missing(X0, X1, p0, w0, p1, I, own, turn, graph.inputs("dt", 1))
        return [Store(Place("v", k), x, True) for k, x in enumerate(found[0])]

    return _unit("balance", SLOTS, stores, lanes, single)


def _unit(name: str, slots: tuple[str, ...], stores: Callable[[Graph], list[Store]], lanes: int, single: bool) -> Unit:
    def write() -> tuple[str, Code]:
        graph = Graph()
        table, layout = Table(graph), Layout({slot: k for k, slot in enumerate(slots)}, {}, {})
        return function(name, graph, stores(graph), layout, table), Code([name], graph, table.nodes, 0)

    return Unit(name, name, lanes, single, write)


def _pose(graph: Graph, array: str) -> Array:
    X = np.eye(4, dtype=object)[None]
    X[0, :3] = graph.inputs(array, (3, 4))
    return X


class _Floating(NamedTuple):
    """What floats: the place of its rates, and registers of its inertia, of what `carried` finds, and of its turn."""

    first: int
    felt: Register
    own: Register
    turn: Register


def lay_balance(
    e: "Arena",
    before: tuple[Register, ...],
    after: tuple[Register, ...],
    v: Register,
    dt: Register,
    between: Any,
) -> Register:
    """As `algorithms.momenta.balanced`."""
    (X0, p0, w0), (X1, p1, M) = before, after
    new = e.register(e.m.nv)
    e.assign(new, v)
    kinds = carried_unit, turn_unit, balance_unit
    carry, turn, balance = loaded([kind(e.lanes, e.single) for kind in kinds])
    all_ = {i: _floating(e, i, M) for i in roots(e.m)}
    for i, x in all_.items():
        at = X0.place + 12 * (i - 1), p0.place + x.first, w0.place + x.first
        e.row(carry, [dt.place, *at, x.felt.place, x.own.place], {})
    for k, (i, j) in meetings(e.m):
        a, b = all_[i], all_[j]
        e.row(turn, [dt.place, between.place + 3 * k, *(x.place for x in (a.own, b.own, a.turn, b.turn))], {})
    for i, x in all_.items():
        poses = [X.place + 12 * (i - 1) for X in (X0, X1)]
        rates = [p.place + x.first for p in (p0, w0, p1)]
        e.row(balance, [dt.place, *poses, *rates, x.felt.place, x.own.place, x.turn.place, new.place + x.first], {})
    return new


def _floating(e: "Arena", i: int, M: Register) -> _Floating:
    first, n = e.m.joints[i - 1].v_slice.start, e.m.nv
    found = _Floating(first, e.register(36), e.register(4), e.register(3))
    for k in range(6):
        e.op("copy", [M.place + (first + k) * n + first, found.felt.place + 6 * k, 6])
    e.op("clear", [found.turn.place, 3])
    return found
