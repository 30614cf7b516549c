"""The C function that corrects the rates of a free joint, so that a floating robot keeps its momentum over a step."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from modurob.algorithms.momenta import displacement, floating_pairs, mutual_turns, rate_correction, roots
from modurob.kernels.lowering import Store
from modurob.kernels.registers import Register
from modurob.kernels.units import Unit, loaded
from modurob.kernels.writer import Code, Layout, Table, function
from modurob.spatial.scalars import Array
from modurob.trace import Graph, Place

if TYPE_CHECKING:
    from modurob.kernels.arena import Arena

DISPLACEMENT_SLOTS = ("dt", "X0", "p0", "w0", "inertia", "own")
TURN_SLOTS = ("dt", "f", "own a", "own b", "turn a", "turn b")
SLOTS = ("dt", "X0", "X1", "p0", "w0", "p1", "inertia", "own", "turn", "v")


def displacement_unit(lanes: int, single: bool) -> Unit:
    """The function that finds the displacement of the centre of mass of what a free joint carries."""

    def stores(graph: Graph) -> list[Store]:
        p0, w0 = (graph.inputs(name, (1, 6)) for name in ("p0", "w0"))
        found = displacement(_pose(graph, "X0"), p0, w0, graph.inputs("inertia", (1, 6, 6)), graph.inputs("dt", 1))
        return [Store(Place("own", k), x, False) for k, x in enumerate(found[0])]

    return _unit("displacement", DISPLACEMENT_SLOTS, stores, lanes, single)


def turn_unit(lanes: int, single: bool) -> Unit:
    """The function that adds to the angular impulses of two robots in contact."""

    def stores(graph: Graph) -> list[Store]:
        a, b = (graph.inputs(f"own {end}", (1, 4)) for end in "ab")
        found = mutual_turns(graph.inputs("f", (1, 3)), a, b, graph.inputs("dt", 1))
        return [
            Store(Place(f"turn {end}", k), x, True)
            for end, turn in zip("ab", found, strict=True)
            for k, x in enumerate(turn[0])
        ]

    return _unit("turns", TURN_SLOTS, stores, lanes, single)


def correction_unit(lanes: int, single: bool) -> Unit:
    """The function that corrects the six rates of a free joint."""

    def stores(graph: Graph) -> list[Store]:
        p0, w0, p1 = (graph.inputs(name, (1, 6)) for name in ("p0", "w0", "p1"))
        own, turn = graph.inputs("own", (1, 4)), graph.inputs("turn", (1, 3))
        X0, X1, I = _pose(graph, "X0"), _pose(graph, "X1"), graph.inputs("inertia", (1, 6, 6))
        found = rate_correction(X0, X1, p0, w0, p1, I, own, turn, graph.inputs("dt", 1))
        return [Store(Place("v", k), x, True) for k, x in enumerate(found[0])]

    return _unit("correct", SLOTS, stores, lanes, single)


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
    """A floating robot: the place of its rates, and registers of its inertia, displacement and additional angular impulse."""

    first: int
    inertia: Register
    own: Register
    turn: Register


def lay_momentum_correction(
    e: "Arena",
    before: tuple[Register, ...],
    after: tuple[Register, ...],
    v: Register,
    dt: Register,
    between: Any,
) -> Register:
    """As `algorithms.momenta.momentum_corrected`."""
    (X0, p0, w0), (X1, p1, M) = before, after
    new = e.register(e.m.nv)
    e.assign(new, v)
    kinds = displacement_unit, turn_unit, correction_unit
    displace, turn, correct = loaded([kind(e.lanes, e.single) for kind in kinds])
    floating = {i: _floating(e, i, M) for i in roots(e.m)}
    for i, x in floating.items():
        at = X0.place + 12 * (i - 1), p0.place + x.first, w0.place + x.first
        e.row(displace, [dt.place, *at, x.inertia.place, x.own.place], {})
    for k, (i, j) in floating_pairs(e.m):
        a, b = floating[i], floating[j]
        e.row(turn, [dt.place, between.place + 3 * k, *(x.place for x in (a.own, b.own, a.turn, b.turn))], {})
    for i, x in floating.items():
        poses = [X.place + 12 * (i - 1) for X in (X0, X1)]
        rates = [p.place + x.first for p in (p0, w0, p1)]
        e.row(correct, [dt.place, *poses, *rates, x.inertia.place, x.own.place, x.turn.place, new.place + x.first], {})
    return new


def _floating(e: "Arena", i: int, M: Register) -> _Floating:
    first, n = e.m.joints[i - 1].v_slice.start, e.m.nv
    found = _Floating(first, e.register(36), e.register(4), e.register(3))
    for k in range(6):
        e.op("copy", [M.place + (first + k) * n + first, found.inertia.place + 6 * k, 6])
    e.op("clear", [found.turn.place, 3])
    return found
