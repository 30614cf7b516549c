"""The C function that corrects the rates of a free joint, so that what floats keeps its momentum over a step."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from modurob.algorithms.momenta import displaced_mass, groups, rate_correction
from modurob.kernels.lowering import Store
from modurob.kernels.registers import Register
from modurob.kernels.units import Unit, loaded
from modurob.kernels.writer import Code, Layout, Table, function
from modurob.spatial.scalars import Array
from modurob.trace import Graph, Place

if TYPE_CHECKING:
    from modurob.kernels.arena import Arena

DISPLACED_SLOTS = ("dt", "X0", "p0", "w0", "inertia", "own", "common")
SLOTS = ("dt", "X0", "X1", "p0", "w0", "weight", "p1", "inertia", "own", "common", "v")


def displaced_unit(lanes: int, single: bool) -> Unit:
    """The function of `algorithms.momenta.displaced_mass`: of one free joint, and added to that of its group."""

    def stores(graph: Graph) -> list[Store]:
        p0, w0 = (graph.inputs(name, (1, 6)) for name in ("p0", "w0"))
        found = displaced_mass(_pose(graph, "X0"), p0, w0, graph.inputs("inertia", (1, 6, 6)), graph.inputs("dt", 1))[0]
        return [Store(Place(to, k), x, to == "common") for to in ("own", "common") for k, x in enumerate(found)]

    return _unit("displaced_mass", DISPLACED_SLOTS, stores, lanes, single)


def correction_unit(lanes: int, single: bool) -> Unit:
    """The function that adds `algorithms.momenta.rate_correction` to the six rates of a free joint."""

    def stores(graph: Graph) -> list[Store]:
        p0, w0, weight, p1 = (graph.inputs(name, (1, 6)) for name in ("p0", "w0", "weight", "p1"))
        own, common = (graph.inputs(name, (1, 4)) for name in ("own", "common"))
        X0, X1, I = _pose(graph, "X0"), _pose(graph, "X1"), graph.inputs("inertia", (1, 6, 6))
        found = rate_correction(X0, X1, p0, w0, weight, p1, I, own, common, graph.inputs("dt", 1))
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


def lay_momentum_correction(
    e: "Arena", before: tuple[Register, ...], after: tuple[Register, ...], v: Register, dt: Register
) -> Register:
    """As `algorithms.momenta.momentum_corrected`."""
    (X0, p0, w0, weight), (X1, p1, M), n = before, after, e.m.nv
    new = e.register(n)
    e.assign(new, v)
    displace, correct = loaded([displaced_unit(e.lanes, e.single), correction_unit(e.lanes, e.single)])
    for group in groups(e.m):
        common, later = e.register(4), []
        e.op("clear", [common.place, 4])
        for i in group:
            first, block, own = e.m.joints[i - 1].v_slice.start, e.register(36), e.register(4)
            for k in range(6):
                e.op("copy", [M.place + (first + k) * n + first, block.place + 6 * k, 6])
            poses = [X.place + 12 * (i - 1) for X in (X0, X1)]
            begun = [x.place + first for x in (p0, w0, weight)]
            parts = [block.place, own.place, common.place]
            e.row(displace, [dt.place, poses[0], *begun[:2], *parts], {})
            later.append([dt.place, *poses, *begun, p1.place + first, *parts, new.place + first])
        for at in later:
            e.row(correct, at, {})
    return new
