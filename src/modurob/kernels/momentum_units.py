"""The C function that corrects the rates of a free joint, so that what floats keeps its momentum over a step."""

from typing import TYPE_CHECKING

import numpy as np

from modurob.algorithms.momenta import missing, roots
from modurob.kernels.lowering import Store
from modurob.kernels.registers import Register
from modurob.kernels.units import Unit, loaded
from modurob.kernels.writer import Code, Layout, Table, function
from modurob.spatial.scalars import Array
from modurob.trace import Graph, Place

if TYPE_CHECKING:
    from modurob.kernels.arena import Arena

SLOTS = ("dt", "X0", "X1", "p0", "w0", "p1", "felt", "v")


def balance_unit(lanes: int, single: bool) -> Unit:
    """The function that adds to six rates what they lack."""

    def write() -> tuple[str, Code]:
        graph = Graph()
        p0, w0, p1 = (graph.inputs(name, (1, 6)) for name in ("p0", "w0", "p1"))
        I, dt = graph.inputs("felt", (1, 6, 6)), graph.inputs("dt", 1)
        found = missing(_pose(graph, "X0"), _pose(graph, "X1"), p0, w0, p1, I, dt)
        stores = [Store(Place("v", k), x, True) for k, x in enumerate(found[0])]
        table, layout = Table(graph), Layout({name: k for k, name in enumerate(SLOTS)}, {}, {})
        return function("balance", graph, stores, layout, table), Code(["balance"], graph, table.nodes, 0)

    return Unit("balance", "balance", lanes, single, write)


def _pose(graph: Graph, array: str) -> Array:
    X = np.eye(4, dtype=object)[None]
    X[0, :3] = graph.inputs(array, (3, 4))
    return X


def lay_balance(
    e: "Arena", before: tuple[Register, ...], after: tuple[Register, ...], v: Register, dt: Register
) -> Register:
    """As `algorithms.momenta.balanced`."""
    (X0, p0, w0), (X1, p1, M), n = before, after, e.m.nv
    new = e.register(n)
    e.assign(new, v)
    (unit,) = loaded([balance_unit(e.lanes, e.single)])
    for i in roots(e.m):
        first, block = e.m.joints[i - 1].v_slice.start, e.register(36)
        for k in range(6):
            e.op("copy", [M.place + (first + k) * n + first, block.place + 6 * k, 6])
        poses = [X.place + 12 * (i - 1) for X in (X0, X1)]
        rates = [x.place + first for x in (p0, w0, p1)]
        e.row(unit, [dt.place, *poses, *rates, block.place, new.place + first], {})
    return new
