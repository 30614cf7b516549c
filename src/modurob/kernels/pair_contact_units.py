"""The C functions of contacts between bodies: what two shapes do to their bodies, how that couples them, and their bristles.

Each begins with the spheres about its shapes, and is left where they are apart in all lanes.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from modurob.algorithms.forces import acting
from modurob.algorithms.interpreter import floats
from modurob.algorithms.pairs import COLUMNS, bias, coupled, heft, mutual_mass, settled, signs
from modurob.catalogue.contact import PairContact, Side, relative
from modurob.kernels.compiler import quick_flags
from modurob.kernels.force_units import nonzero
from modurob.kernels.lowering import Store, packed, unpacked
from modurob.kernels.registers import Register
from modurob.kernels.units import Loaded, Unit, loaded
from modurob.kernels.writer import Code, Layout, Table, function
from modurob.mechanism.tables import PairRow, Tables
from modurob.registry import fingerprint
from modurob.spatial.scalars import Array
from modurob.trace import Graph, Place

if TYPE_CHECKING:
    from modurob.kernels.arena import Arena

ENDS = ("X a", "X b", "start a", "start b", "known a", "known b")
PUSH_SLOTS = ("dt", *ENDS, "x", "reference", "on a", "on b", "G")
STATE_SLOTS = ("dt", *ENDS, "end a", "end b", "x", "new")
BIAS_SLOTS = ("X a", "X b", "known a", "known b", "reference", "G", "on a", "on b")


class _Traced:
    """A pair with numbers from its table: those of its law, then of each body the pose of the shape, and the centre of mass, and
    their mass against each other."""

    def __init__(self, law: PairContact):
        self.graph, names = Graph(), nonzero(law)  # type: ignore[arg-type]
        self.own = law.with_parameters({name: self._number(k) for k, name in enumerate(names)})
        first = len(names)
        a, b = (self._side(end, first + 15 * k) for k, end in enumerate("ab"))
        self.a, self.b = a, b
        self.mass, self.dt = np.array([self._number(first + 30)]), self.graph.inputs("dt", 1)
        self.x = self.graph.inputs("x", (1, law.nx))

    def _number(self, k: int) -> Any:
        return self.graph.input("parameter", k)

    def _side(self, end: str, first: int) -> Side:
        numbers = np.array([self._number(first + k) for k in range(15)], dtype=object)
        frame = np.eye(4, dtype=object)[None]
        frame[0, :3] = numbers[:12].reshape(3, 4)
        V0, V = (self.graph.inputs(f"{name} {end}", (1, 6)) for name in ("start", "known"))
        return Side(_pose(self.graph, f"X {end}"), frame, V0, V, np.zeros(1), numbers[None, 12:])

    def unit(self, slots: tuple[str, ...], stores: list[Store]) -> tuple[str, Code]:
        """The function that makes these stores, left where the shapes are apart."""
        near = self.own.nearness(*relative(self.a, self.b, self.dt, self.mass))
        table, layout = Table(self.graph), Layout({name: k for k, name in enumerate(slots)}, {}, {})
        text = function("contact", self.graph, stores, layout, table, near[0], quick=True)
        return text, Code(["contact"], self.graph, table.nodes, 0)


def _pose(graph: Graph, array: str) -> Array:
    X = np.eye(4, dtype=object)[None]
    X[0, :3] = graph.inputs(array, (3, 4))
    return X


def _stores(array: str, values: Any, add: bool = False) -> list[Store]:
    return [Store(Place(array, k), x, add) for k, x in enumerate(np.asarray(values, dtype=object).ravel())]


def _unit(law: PairContact, what: str, write: Callable[[], tuple[str, Code]], lanes: int, single: bool) -> Unit:
    parts = [fingerprint(type(part)) for part in law.parts.values()]
    # the longest code there is, left early by most pairs
    flags = quick_flags() if lanes == 1 else ()
    return Unit("pair", f"{what} {parts} {nonzero(law)}", lanes, single, write, flags)  # type: ignore[arg-type]


def push_unit(law: PairContact, last: bool, lanes: int, single: bool) -> Unit:
    """The function that adds the wrenches of a pair on its bodies, and writes what couples them."""

    def write() -> tuple[str, Code]:
        t = _Traced(law)
        found = coupled(t.own, t.a, t.b, t.dt, t.mass, t.graph.inputs("reference", (1, 3)), t.x, last)
        stores = [*_stores("on a", found.on_a, True), *_stores("on b", found.on_b, True)]
        return t.unit(PUSH_SLOTS, [*stores, *_stores("G", packed(found.G[0]))])

    return _unit(law, f"push {last}", write, lanes, single)


def states_unit(law: PairContact, lanes: int, single: bool) -> Unit:
    """The function of the bristles at the end of a step; where nothing touches they are left as they are."""

    def write() -> tuple[str, Code]:
        t = _Traced(law)
        ends = t.graph.inputs("end a", (1, 6)), t.graph.inputs("end b", (1, 6))
        return t.unit(STATE_SLOTS, _stores("new", settled(t.own, t.a, t.b, ends, t.dt, t.mass, t.x)))

    return _unit(law, "states", write, lanes, single)


def bias_unit(lanes: int, single: bool) -> Unit:
    """The function of the wrenches of what couples two bodies against the rates of their twists."""

    def write() -> tuple[str, Code]:
        graph = Graph()
        G = unpacked(graph.inputs("G", 21))[None]
        ends = [(_pose(graph, f"X {end}"), graph.inputs(f"known {end}", (1, 6))) for end in "ab"]
        on = bias(G, ends[0], ends[1], graph.inputs("reference", (1, 3)))
        stores = [x for end, W in zip("ab", on, strict=True) for x in _stores(f"on {end}", W, True)]
        table, layout = Table(graph), Layout({name: k for k, name in enumerate(BIAS_SLOTS)}, {}, {})
        there = -(G[0, 0, 0] + G[0, 1, 1] + G[0, 2, 2])
        return function("contact", graph, stores, layout, table, there), Code(["contact"], graph, table.nodes, 0)

    return Unit("pair", "bias", lanes, single, write)


def constants(m: Tables, row: PairRow) -> dict[str, Array]:
    """The table of a pair."""
    numbers = row.force.parameters()
    own = [numbers[name] for name in nonzero(row.force)]  # type: ignore[arg-type]
    ends = [np.concatenate([frame.X[:3].ravel(), heft(m, frame.body)[1]]) for frame in (row.a, row.b)]
    return {"parameter": np.array([*own, *ends[0], *ends[1], mutual_mass(m, row)], dtype=float)}


# ---- rows ----


def lay_pushes(
    e: "Arena", q: Register, start: dict[str, Register], known: Register, x: Register, dt: Register, last: bool
) -> tuple[Register, Register]:
    """As `algorithms.pairs.pair_pushes`."""
    rows = _rows_of(e, lambda law: push_unit(law, last, e.lanes, e.single))
    on, G = e.cleared("wrenches"), e.register(21 * len(rows))
    e.op("clear", [G.place, G.n])
    for k, (state, row, unit) in enumerate(rows):
        bodies = row.a.body, row.b.body
        at = [dt.place, *_ends(e, row, start, known), x.place + state, _reference(e, q)]
        e.row(unit, [*at, *(on.place + 6 * i for i in bodies), G.place + 21 * k], constants(e.m, row))
    return on, G


def lay_bias(e: "Arena", q: Register, start: dict[str, Register], G: Register, rates: Register) -> Register:
    """As `algorithms.pairs.pair_bias`."""
    on = e.cleared("wrenches")
    (unit,) = loaded([bias_unit(e.lanes, e.single)])
    for k, (_, row) in enumerate(acting(e.m).pair_rows):
        bodies = row.a.body, row.b.body
        at = [*(_pose_at(e, i, start) for i in bodies), *(_twist_at(e, i, rates) for i in bodies)]
        e.row(unit, [*at, _reference(e, q), G.place + 21 * k, *(on.place + 6 * i for i in bodies)], {})
    return on


def lay_coupling(e: "Arena", M: Register, q: Register, G: Register) -> Register:
    """As `algorithms.pairs.coupling`, added to M."""
    S, n = e.run(COLUMNS, q=q)["S"], e.m.nv
    out = e.register(M.n)
    e.assign(out, M)
    at = [n, out.place, S.place, len(e.m.body_contacts)]
    for k, sign in enumerate(signs(e.m)):
        rates = np.flatnonzero(sign)
        at += [G.place + 21 * k, len(rates), *(int(sign[i]) * (int(i) + 1) for i in rates)]
    e.op("couple", at)
    return out


def lay_states(
    e: "Arena", start: dict[str, Register], known: Register, end: Register, x: Register, dt: Register
) -> Register:
    """As `algorithms.pairs.pair_states`: bristles that touch nothing are zero."""
    new = e.register(x.n)
    e.assign(new, x)
    for state, row, unit in _rows_of(e, lambda law: states_unit(law, e.lanes, e.single)):
        e.op("clear", [new.place + state, row.force.nx])
        ends = [_twist_at(e, i, end) for i in (row.a.body, row.b.body)]
        at = [dt.place, *_ends(e, row, start, known), *ends, x.place + state, new.place + state]
        e.row(unit, at, constants(e.m, row))
    return new


def _ends(e: "Arena", row: PairRow, start: dict[str, Register], known: Register) -> list[int]:
    bodies = row.a.body, row.b.body
    poses = [_pose_at(e, i, start) for i in bodies]
    return [*poses, *(_twist_at(e, i, V) for V in (start["V"], known) for i in bodies)]


def _pose_at(e: "Arena", body: int, start: dict[str, Register]) -> int:
    return start["X"].place + 12 * (body - 1) if body else e.still()[0]


def _twist_at(e: "Arena", body: int, V: Register) -> int:
    return V.place + 6 * (body - 1) if body else e.still()[1]


def _reference(e: "Arena", q: Register) -> int:
    """As `algorithms.interpreter.reference`."""
    return q.place if floats(e.m) else e.stand()


def _rows_of(e: "Arena", unit: Callable[[PairContact], Unit]) -> list[tuple[int, PairRow, Loaded]]:
    """Where the states of each pair begin, the pair, and its code."""
    own = acting(e.m)
    units = loaded([unit(row.force) for _, row in own.pair_rows])
    return [(own.x_starts[k], row, code) for (k, row), code in zip(own.pair_rows, units, strict=True)]
