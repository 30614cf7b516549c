"""The C functions of goals, one for each kind; and the rows of all goals laid out in the arena of an engine."""

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from modurob.algorithms.descent import GoalRow, Rows, Seen, path
from modurob.fingerprints import fingerprint, text_of
from modurob.kernels.lowering import Store
from modurob.kernels.registers import Register
from modurob.kernels.units import Unit, loaded
from modurob.kernels.writer import Code, Layout, Table, function
from modurob.spatial.scalars import Array
from modurob.trace import Graph, Place

if TYPE_CHECKING:
    from modurob.kernels.sequence import Engine

# what the functions point to
SLOTS = ("seen", "target", "T", "error", "cost", "size")
SEEN = {"pose": (3, 4), "centre": (3,), "coordinate": (1,)}


def goal_unit(row: GoalRow, lanes: int, single: bool) -> Unit:
    """The function of a goal: its error and wrenches, its cost and squared distance added to those of the others."""

    def write() -> tuple[str, Code]:
        graph, goal = Graph(), copy(row.goal)
        for k, name in enumerate(goal.parameters):
            object.__setattr__(goal, name, graph.input("parameter", k))
        found = goal.rows(_seen(graph, row.sees), graph.inputs("target", (1, goal.numbers)))
        stores = [
            *_stores("error", found.error),
            *_stores("cost", found.cost, True),
            *_stores("size", found.size, True),
        ]
        stores += _stores("T", found.T) if row.sees != "coordinate" else []
        table = Table(graph)
        text = function("goal", graph, stores, Layout({name: k for k, name in enumerate(SLOTS)}, {}, {}), table)
        return text, Code(["goal"], graph, table.nodes, 0)

    kind = type(row.goal)
    return Unit("goal", f"goal {fingerprint(kind)} {text_of(kind.__module__)}", lanes, single, write)


def _seen(graph: Graph, sees: str) -> Array:
    x = graph.inputs("seen", (1, *SEEN[sees]))
    if sees != "pose":
        return x
    body, frame = np.eye(4, dtype=object)[None].repeat(2, axis=0)[:, None]
    body[0, :3], frame[0, :3] = x[0], graph.inputs("frame", (3, 4))
    return body @ frame


def _stores(array: str, values: Any, add: bool = False) -> list[Store]:
    return [Store(Place(array, k), x, add) for k, x in enumerate(np.asarray(values, dtype=object).ravel())]


def laid_goals(e: "Engine", rows: tuple[GoalRow, ...], seen: Seen, target: Register) -> Rows:
    """As `algorithms.descent.goal_rows`."""
    m, n = e.m, e.m.nv
    sizes = [len(row.goal.rows(_zero(row), np.zeros((1, row.goal.numbers))).error[0]) for row in rows]
    closing = 0 if seen.closure is None else seen.closure["error"].n
    total = sum(sizes) + closing
    error, J = e.register(total), e.register(total * n)
    cost, size, T = e.register(1), e.register(1), e.allocate(36)
    for x in (cost, size):
        e.op("clear", [x.place, 1])
    units = loaded([goal_unit(row, e.lanes, e.single) for row in rows])
    first = numbers = 0
    for k, (row, unit, r) in enumerate(zip(rows, units, sizes, strict=True)):
        at = [_place(e, row, seen), target.place + numbers, T, error.place + first, cost.place, size.place]
        parameters = np.array([getattr(row.goal, name) for name in row.goal.parameters], dtype=float)
        e.row(unit, at, {"parameter": parameters, "frame": row.X[:3].ravel()})
        block = J.place + first * n
        if row.sees == "coordinate":
            e.start[block + row.rate] = float(row.goal.weight)
        else:
            S = (seen.S[k] if row.sees == "pose" else seen.centre["P"]).place
            rates = path(m, row.body) if row.sees == "pose" else range(n)
            e.op("project", [r, n, T, block, 0, len(rates), *(x for i in rates for x in (S + 6 * i, i, 1))])
            if row.sees == "centre":
                e.op("combine", [block, r * n, 1, block, 0], [1 / float(m.inertia[1:, 0, 0].sum())])
        first, numbers = first + r, numbers + row.goal.numbers
    if seen.closure is not None:
        _lay_closure(e, seen.closure, error.place + first, J.place + first * n, cost, size)
    return Rows(error, J, cost, size)


def _zero(row: GoalRow) -> Array:
    return np.eye(4)[None] if row.sees == "pose" else np.zeros((1, *SEEN[row.sees]))


def _place(e: "Engine", row: GoalRow, seen: Seen) -> int:
    """The place of the quantity that a goal depends on."""
    if row.sees == "coordinate":
        return seen.q.place + row.coordinate
    if row.sees == "centre":
        at, bodies = e.allocate(3), len(e.m.joints)
        for k, name in enumerate("xyz"):
            terms = [x for i in range(bodies) for x in (seen.centre[name].place + i, 0)]
            e.op("combine", [at + k, 1, bodies, *terms], [1 / float(e.m.inertia[1:, 0, 0].sum())] * bodies)
        return at
    return seen.X.place + 12 * (row.body - 1) if row.body else e.still()[0]


def _lay_closure(e: "Engine", closure: dict[str, Register], error: int, J: int, cost: Register, size: Register) -> None:
    gap, K = closure["error"], closure["K"]
    e.op("combine", [error, gap.n, 1, gap.place, 0], [-1.0])
    e.op("copy", [K.place, J, K.n])
    square = e.allocate(1)
    e.op("product", [1, gap.n, gap.place, gap.place, square])
    for to, factor in ((cost.place, 0.5), (size.place, 1.0)):
        e.op("combine", [to, 1, 2, to, 0, square, 0], [1.0, factor])
