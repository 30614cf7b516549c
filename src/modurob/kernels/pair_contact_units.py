"""The C functions of contacts between bodies: the wrenches of two shapes on their bodies, the coupling G, and their bristles.

Each begins with the spheres about its shapes, and is left where they are apart in all lanes. The contact points are computed by a
function of its own, which the others call.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from modurob.algorithms.forces import acting
from modurob.algorithms.interpreter import floats
from modurob.algorithms.pairs import (
    COLUMNS,
    bias,
    end_states,
    mass_and_centre,
    mutual_mass,
    pair_wrench,
    signs,
    withheld,
)
from modurob.catalogue.contact import PairContact, PairPoints, Side, relative
from modurob.fingerprints import fingerprint
from modurob.kernels.compiler import quick_flags
from modurob.kernels.force_units import nonzero
from modurob.kernels.loops import Looped, Points, finder, function_of_points
from modurob.kernels.lowering import Store, packed, unpacked
from modurob.kernels.registers import Register
from modurob.kernels.units import Loaded, Unit, loaded
from modurob.kernels.writer import POINT, TABULAR, Code, Layout, Table, function
from modurob.mechanism.tables import PairRow, Tables
from modurob.spatial.scalars import Array, minimum
from modurob.trace import Graph, Place

if TYPE_CHECKING:
    from modurob.kernels.arena import Arena

ENDS = ("X a", "X b", "start a", "start b", "known a", "known b")
WRENCH_SLOTS = ("dt", *ENDS, "x", "reference", "on a", "on b", "f", "G")
STATE_SLOTS = ("dt", *ENDS, "end a", "end b", "x", "new")
BIAS_SLOTS = ("X a", "X b", "known a", "known b", "reference", "G", "on a", "on b")
FORCE_SLOTS = (*BIAS_SLOTS[:6], "f")


class _Traced:
    """A pair with numbers from its table: those of its law, then of each body the pose of the shape, and the centre of mass, and
    their reduced mass."""

    def __init__(self, law: PairContact):
        varying = frozenset({POINT, TABULAR}) if law.count > 1 else frozenset()
        self.graph, names = Graph(times=law.count, varying=varying), nonzero(law)  # type: ignore[arg-type]
        self.own = law.with_parameters({name: self._number(k) for k, name in enumerate(names)})
        first = len(names)
        a, b = (self._side(end, first + 15 * k) for k, end in enumerate("ab"))
        self.a, self.b, self.x = a, b, self.graph.inputs("x", (1, law.nx))
        self.X, self.motion = relative(a, b, self.graph.inputs("dt", 1), np.array([self._number(first + 30)]))
        self.table = Table(self.graph)
        self.points = Points(self.graph, self.table, apart=True)
        self.touch = _one(self.points, self.own.touch(self.X))

    def _number(self, k: int) -> Any:
        return self.graph.input("parameter", k)

    def _side(self, end: str, first: int) -> Side:
        numbers = np.array([self._number(first + k) for k in range(15)], dtype=object)
        frame = np.eye(4, dtype=object)[None]
        frame[0, :3] = numbers[:12].reshape(3, 4)
        V0, V = (self.graph.inputs(f"{name} {end}", (1, 6)) for name in ("start", "known"))
        return Side(_pose(self.graph, f"X {end}"), frame, V0, V, np.zeros(1), numbers[None, 12:])

    def wrench(self, last: bool) -> list[Store]:
        """Wrenches on both bodies, added, the force on the first, and what couples them."""
        at = self.graph.inputs("reference", (1, 3))
        found = pair_wrench(self.own, self.touch, self.motion, self.a, self.b, at, self.x, last)
        stores = [*_stores("on a", found.on_a, True), *_stores("on b", found.on_b, True)]
        return [*stores, *_stores("f", found.f), *_stores("G", packed(found.G[0]))]

    def states(self) -> list[Store]:
        """The bristles at the end of a step."""
        ends = self.graph.inputs("end a", (1, 6)), self.graph.inputs("end b", (1, 6))
        return _stores("new", end_states(self.own, self.touch, self.motion, self.a, self.b, ends, self.x))

    def function(self, name: str, slots: tuple[str, ...], stores: list[Store]) -> str:
        """The function that makes these stores, left where the shapes are apart."""
        looped, apart = self._looped(slots, stores), self.own.clearance(self.X, self.motion)[0]
        return function_of_points(name, apart, self.points, [self.points.call()], looped, leave=True)

    def finder(self) -> str:
        """The function that finds the points, called by the others."""
        return finder(self.points, self._looped(WRENCH_SLOTS, []))

    def _looped(self, slots: tuple[str, ...], stores: list[Store]) -> Looped:
        near = minimum(*self.own.gaps_ahead(self.touch, self.motion))[0, 0]
        layout = Layout({name: k for k, name in enumerate(slots)}, {}, {}, self.graph.varying)
        return Looped(self.graph, near, stores, layout, self.table)


def _one(points: Points, touch: PairPoints) -> PairPoints:
    """The point that stands for all of them."""
    p, carrier, seat, n, *t = (points.one(x, -2) for x in (touch.p, touch.carrier, touch.seat, touch.n, *touch.t))
    return PairPoints(p, carrier, seat, points.one(touch.gap, -1), n, (t[0], t[1]))


def _pose(graph: Graph, array: str) -> Array:
    X = np.eye(4, dtype=object)[None]
    X[0, :3] = graph.inputs(array, (3, 4))
    return X


def _stores(array: str, values: Any, add: bool = False) -> list[Store]:
    return [Store(Place(array, k), x, add) for k, x in enumerate(np.asarray(values, dtype=object).ravel())]


# the functions of a unit, by their numbers
WRENCH, STATES = 0, 1


def pair_unit(law: PairContact, last: bool, lanes: int, single: bool) -> Unit:
    """Two functions: one adds the wrenches of a pair on its bodies, and writes the force on the first and what couples them; one
    writes the bristles at the end of a step, which where nothing touches are left as they are. Both call one that finds where
    shapes meet."""

    def write() -> tuple[str, Code]:
        t = _Traced(law)
        wrench, states = (
            t.function("wrench", WRENCH_SLOTS, t.wrench(last)),
            t.function("states", STATE_SLOTS, t.states()),
        )
        return "\n".join([t.finder(), wrench, states]), Code(["wrench", "states"], t.graph, t.table.nodes, 0)

    parts = [fingerprint(type(part)) for part in law.parts.values()]
    # the longest code there is, left early by most pairs
    flags = quick_flags() if lanes == 1 else ()
    return Unit("pair", f"{last} {parts} {nonzero(law)}", lanes, single, write, flags)  # type: ignore[arg-type]


def bias_unit(lanes: int, single: bool) -> Unit:
    """The function of the wrenches of what couples two bodies against the rates of their twists."""

    def stores(*given: Any) -> list[Store]:
        return [x for end, W in zip("ab", bias(*given), strict=True) for x in _stores(f"on {end}", W, True)]

    return _coupling_unit("bias", BIAS_SLOTS, stores, lanes, single)


def force_unit(lanes: int, single: bool) -> Unit:
    """The function that takes that from the force on the first body."""
    return _coupling_unit(
        "forces", FORCE_SLOTS, lambda *given: _stores("f", -withheld(*given)[..., :3], True), lanes, single
    )


def _coupling_unit(
    name: str, slots: tuple[str, ...], stores: Callable[..., list[Store]], lanes: int, single: bool
) -> Unit:
    """A function of what couples two bodies, left where they do not touch."""

    def write() -> tuple[str, Code]:
        graph = Graph()
        G = unpacked(graph.inputs("G", 21))[None]
        ends = [(_pose(graph, f"X {end}"), graph.inputs(f"known {end}", (1, 6))) for end in "ab"]
        found = stores(G, ends[0], ends[1], graph.inputs("reference", (1, 3)))
        table, layout = Table(graph), Layout({slot: k for k, slot in enumerate(slots)}, {}, {})
        there = -(G[0, 0, 0] + G[0, 1, 1] + G[0, 2, 2])
        return function("contact", graph, found, layout, table, there), Code(["contact"], graph, table.nodes, 0)

    return Unit("pair", name, lanes, single, write)


def constants(m: Tables, row: PairRow) -> dict[str, Array]:
    """The table of a pair."""
    numbers = row.force.parameters()
    own = [numbers[name] for name in nonzero(row.force)]  # type: ignore[arg-type]
    ends = [np.concatenate([frame.X[:3].ravel(), mass_and_centre(m, frame.body)[1]]) for frame in (row.a, row.b)]
    return {"parameter": np.array([*own, *ends[0], *ends[1], mutual_mass(m, row)], dtype=float)}


# ---- rows ----


def lay_wrenches(
    e: "Arena", q: Register, start: dict[str, Register], known: Register, x: Register, dt: Register, last: bool
) -> tuple[Register, Register, Register]:
    """As `algorithms.pairs.pair_wrenches`."""
    rows = _rows_of(e, last)
    on, f, G = e.cleared("wrenches"), e.register(3 * len(rows)), e.register(21 * len(rows))
    for each in (f, G):
        e.op("clear", [each.place, each.n])
    for k, (state, row, unit) in enumerate(rows):
        bodies = row.a.body, row.b.body
        at = [dt.place, *_ends(e, row, start, known), x.place + state, _reference(e, q)]
        to = [*(on.place + 6 * i for i in bodies), f.place + 3 * k, G.place + 21 * k]
        e.row(unit, [*at, *to], constants(e.m, row), WRENCH)
    return on, f, G


def lay_bias(e: "Arena", q: Register, start: dict[str, Register], G: Register, rates: Register) -> Register:
    """As `algorithms.pairs.pair_bias`."""
    on = e.cleared("wrenches")
    (unit,) = loaded([bias_unit(e.lanes, e.single)])
    for k, (_, row) in enumerate(acting(e.m).pair_rows):
        bodies = row.a.body, row.b.body
        at = [*_rated(e, row, start, rates), _reference(e, q), G.place + 21 * k]
        e.row(unit, [*at, *(on.place + 6 * i for i in bodies)], {})
    return on


def lay_forces(
    e: "Arena", q: Register, start: dict[str, Register], f: Register, G: Register, rates: Register
) -> Register:
    """As `algorithms.pairs.pair_forces`."""
    out = e.register(f.n)
    e.assign(out, f)
    (unit,) = loaded([force_unit(e.lanes, e.single)])
    for k, (_, row) in enumerate(acting(e.m).pair_rows):
        at = [*_rated(e, row, start, rates), _reference(e, q), G.place + 21 * k]
        e.row(unit, [*at, out.place + 3 * k], {})
    return out


def _rated(e: "Arena", row: PairRow, start: dict[str, Register], rates: Register) -> list[int]:
    bodies = row.a.body, row.b.body
    return [*(_pose_at(e, i, start) for i in bodies), *(_twist_at(e, i, rates) for i in bodies)]


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
    for state, row, unit in _rows_of(e, False):
        e.op("clear", [new.place + state, row.force.nx])
        ends = [_twist_at(e, i, end) for i in (row.a.body, row.b.body)]
        at = [dt.place, *_ends(e, row, start, known), *ends, x.place + state, new.place + state]
        e.row(unit, at, constants(e.m, row), STATES)
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


def _rows_of(e: "Arena", last: bool) -> list[tuple[int, PairRow, Loaded]]:
    """Where the states of each pair begin, the pair, and its code."""
    own = acting(e.m)
    units = loaded([pair_unit(row.force, last, e.lanes, e.single) for _, row in own.pair_rows])
    return [(own.x_starts[k], row, code) for (k, row), code in zip(own.pair_rows, units, strict=True)]
