"""Sequences of rows: programs laid out for one mechanism in one arena, and rows over whole arrays between them.

A row is the address of a step, the places it reads and writes, and its constants; so code does not grow with the robot, and
a new robot is a new table. The sequence is an `Engine`: flows written for NumPy are written down as rows by running on it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.constraints.solver import FILTERS, ITERATIONS, PROXIMAL, ROUNDING
from modurob.algorithms.forces import MOTIONS, Acting, acting
from modurob.algorithms.interpreter import floats
from modurob.algorithms.program import SINGULAR, Climb, Constraints, Flow, Forces, Inward, Outward, Pairs, Program
from modurob.kernels.anatomy import anatomy
from modurob.kernels.constraint_units import elimination, loop_constants, loop_unit
from modurob.kernels.dyad import DyadType
from modurob.kernels.force_units import frame_constants, frame_unit, joint_constants, joint_unit
from modurob.kernels.lowering import lowered, size
from modurob.kernels.pair_units import column_offsets, matrices, pair_unit
from modurob.kernels.units import Driver, Loaded, Unit, beside, driver, loaded
from modurob.kernels.writer import Code, Layout, Table, function
from modurob.mechanism import Coupling, Loop, Tables
from modurob.spatial.scalars import Array
from modurob.trace import Place

# inputs that may be left out
OPTIONAL = ("wrenches", "inertias")
# results that a joint or body leaves by itself, and entries of each
PER_JOINT = ("rates", "coordinates", "vectors", "poses", "twists", "bodies")


class Rows(NamedTuple):
    """Some rows: addresses of steps, or the name of one of the driver's, places, (rows, slots), and where the constants of
    each begin."""

    steps: Array | str
    at: Array
    constants: Array
    starts: Array
    climbers: Array | None = None  # of a climb: steps of each joint, and where its constants begin


class Register:
    """An array in the arena, or a sum of such arrays that is not yet there."""

    def __init__(self, engine: "Engine", terms: list[tuple[float, int, int]], n: int):
        self.engine, self.terms, self.n = engine, terms, n  # factor, place of another factor (0: none), place

    @property
    def place(self) -> int:
        """Where it stands, which it does from now on."""
        if len(self.terms) != 1 or self.terms[0][:2] != (1.0, 0):
            at = self.engine.allocate(self.n)
            self.engine.combine(at, self)
            self.terms = [(1.0, 0, at)]
        return self.terms[0][2]

    def __add__(self, other: "Register") -> "Register":
        return Register(self.engine, [*self.terms, *other.terms], self.n)

    def __sub__(self, other: "Register") -> "Register":
        return self + other * -1.0

    def __mul__(self, factor: "float | Register") -> "Register":
        if isinstance(factor, Register):
            scale, terms = factor.place, self.terms if not any(s for _, s, _ in self.terms) else [(1.0, 0, self.place)]
            return Register(self.engine, [(f, scale, p) for f, _, p in terms], self.n)
        return Register(self.engine, [(f * factor, s, p) for f, s, p in self.terms], self.n)

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> "Register":
        return self * (1 / divisor)


class Engine:
    """Rows for one mechanism at one width, in the order they are to run."""

    def __init__(self, m: Tables, lanes: int, single: bool):
        self.m, self.lanes, self.single = m, lanes, single
        self.anatomy, self._driver = anatomy(m), beside(driver, lanes, single)
        self.size = 1  # the status stands first
        self.vector_bytes = np.int32(lanes * (4 if single else 8))
        self._origin = self._one = self._world = 0
        self.rows: list[Rows] = []
        self.start: dict[int, float] = {}  # numbers that stand in the arena from the start

    @property
    def driver(self) -> Driver:
        """The functions that rows of its own call."""
        return self._driver()

    # ---- memory ----

    def origin(self) -> int:
        """Where three zeros stand."""
        if not self._origin:
            self._origin = self.allocate(3)
        return self._origin

    def one(self) -> int:
        """Where a one stands."""
        if not self._one:
            self._one = self.allocate(1)
            self.start[self._one] = 1.0
        return self._one

    def allocate(self, n: int) -> int:
        """Place for so many vectors."""
        self.size += n
        return self.size - n

    def input(self, kind: str | int) -> Register:
        """A register for an input."""
        n = self.entries(kind)
        return self._register(self.allocate(n), n)

    def _register(self, place: int, n: int) -> Register:
        return Register(self, [(1.0, 0, place)], n)

    def zeros(self, kind: str) -> Register:
        n = self.entries(kind)
        return self._register(self.allocate(n), n)

    def ones(self, kind: str) -> Register:
        register = self.zeros(kind)
        self.start |= {register.place + i: 1.0 for i in range(register.n)}
        return register

    def times(self, a: Register, b: Register) -> Register:
        out = self._register(self.allocate(a.n), a.n)
        self.op("multiply", [a.n, a.place, b.place, out.place])
        return out

    def entries(self, kind: str | int) -> int:
        """How many numbers an array of that kind has."""
        m, bodies = self.m, len(self.m.joints)
        rows = sum(c.rows for c in m.constraints)
        sizes = {
            "coordinates": m.nq,
            "rates": m.nv,
            "wrenches": 6 * (bodies + 1),
            "inertias": 21 * (bodies + 1),
            "bodies": bodies,
            "poses": 12 * bodies,
            "twists": 6 * bodies,
            "vectors": 6 * m.nv,
            "matrix": m.nv**2,
            "slopes": 3 * m.nv**2,
            "rows": rows,
            "row matrix": rows * m.nv,
        }
        return int(kind) if isinstance(kind, int) or kind.isdigit() else sizes[kind]

    # ---- rows over arrays ----

    def op(self, name: str, at: Any, constants: Any = ()) -> None:
        """A row of the driver's own."""
        at, c = np.asarray(at, dtype=np.int32)[None], np.asarray(constants, dtype=float)
        self.rows.append(Rows(name, at, c, np.zeros(1, dtype=np.int64)))

    def combine(self, to: int, x: Register) -> None:
        """Write a sum of arrays down."""
        terms = [n for _, scale, place in x.terms for n in (place, scale)]
        self.op("combine", [to, x.n, len(x.terms), *terms], [factor for factor, _, _ in x.terms])

    def assign(self, to: Register, x: Register) -> None:
        """Let a register hold a value from now on."""
        if len(x.terms) == 1 and x.terms[0][:2] == (1.0, 0):
            self.op("copy", [x.place, to.place, to.n])
        else:
            self.combine(to.place, x)

    # ---- flows ----

    def run(self, program: Program | Flow, **inputs: Register | None) -> dict[str, Register]:
        """The rows of a program, or of another flow."""
        if isinstance(program, Flow):
            return program.define(self, dict(inputs))
        return _Laid(self, program, {name: x for name, x in inputs.items() if x is not None}).results()

    def constrained(
        self, M: Register, K: Register, push: tuple[Register, Register], k: Register
    ) -> tuple[Register, Register]:
        return self._constrained(M, K, push, k, self.m.armature)

    def nearest(self, K: Register, k: Register) -> Register:
        n = self.m.nv
        one, zero = self._register(self.allocate(n * n), n * n), self.zeros("rates")
        self.start |= {one.place + i * (n + 1): 1.0 for i in range(n)}
        return self._constrained(one, K, (zero, zero), k, np.zeros(n))[0]

    def product(self, A: Register, x: Register) -> Register:
        rows = A.n // x.n
        out = self._register(self.allocate(rows), rows)
        self.op("product", [rows, x.n, A.place, x.place, out.place])
        return out

    def _constrained(
        self, M: Register, K: Register, push: tuple[Register, Register], k: Register, rotors: Array
    ) -> tuple[Register, Register]:
        n, r, course = self.m.nv, k.n, elimination(self.m)
        vdot, multipliers = self.zeros("rates"), self._register(self.allocate(r), r)
        work = self.allocate(n * n + n + n * (r + 1) + n + 2 * r * r + 4 * r)
        head = [n, r, M.place, K.place, push[0].place, push[1].place, k.place, vdot.place, multipliers.place, work]
        lists = [course.in_row, course.sides, course.of_rows, course.of_M]
        begins = len(head) + len(lists) + n + np.cumsum([0, *(len(x) for x in lists[:-1])])
        at = [*head, *begins, *course.order, *np.concatenate(lists)]
        own = [self._in_precision(SINGULAR), PROXIMAL, ITERATIONS, FILTERS, self._in_precision(ROUNDING)]
        self.op("constrain", at, [*own, *rotors])
        return vdot, multipliers

    def solved_slopes(self, M: Register, by_q: Register, by_v: Register) -> Register:
        n = self.m.nv
        out, inverse = self._register(self.allocate(3 * n * n), 3 * n * n), self.allocate(n)
        at = [n, M.place, inverse, out.place, by_q.place, by_v.place, *self.anatomy.pattern]
        self.op("solve_slopes", at, [self._in_precision(SINGULAR), *self.m.armature])
        return out

    # ---- forces ----

    def forces(
        self, t: Register, q: Register, v: Register, x: Register, slide: Register | None = None, slopes: bool = False
    ) -> Forces:
        """All forces of the mechanism's own."""
        own = acting(self.m)
        out = Forces(
            self._cleared("rates"),
            self._cleared("wrenches") if own.frame_rows else None,
            self._register(self.allocate(own.nx), own.nx),
            self._cleared("rates") if slopes else None,
            self._cleared("rates") if slopes else None,
        )
        self._joint_forces(own, out, t, q, v, x, slide)
        if own.frame_rows:
            self._frame_forces(own, out, t, q, v, x)
        return out

    def _cleared(self, kind: str) -> Register:
        register = self.zeros(kind)
        self.op("clear", [register.place, register.n])
        return register

    def _joint_forces(
        self, own: Acting, out: Forces, t: Register, q: Register, v: Register, x: Register, slide: Any
    ) -> None:
        slopes = out.by_q is not None
        forces = [row.force for _, row in own.joint_rows]
        units = loaded([joint_unit(f, slopes, slide is not None, self.lanes, self.single) for f in forces])
        for (k, row), unit in zip(own.joint_rows, units, strict=True):
            joint = self.m.joints[row.joint]
            rate, state = joint.v_slice.start + row.rate, own.x_starts[k]
            arrays = [(t, 0), (q, max(0, int(self.m.coordinate_of[rate]))), (v, rate), (x, state), (slide, rate)]
            arrays += [(out.tau, rate), (out.rate, state), (out.by_q, rate), (out.by_v, rate)]
            at = [0 if register is None else register.place + place for register, place in arrays]
            self._row(unit, at, joint_constants(row.force, joint.ratio, joint.offset))

    def _frame_forces(self, own: Acting, out: Forces, t: Register, q: Register, v: Register, x: Register) -> None:
        found = self.run(MOTIONS, q=q, v=v)
        units = loaded([frame_unit(row.force, self.lanes, self.single) for _, row in own.frame_rows])
        for (k, row), unit in zip(own.frame_rows, units, strict=True):
            state = own.x_starts[k]
            at = [t.place]
            for frame in (row.a, row.b):
                at += (
                    [found["X"].place + 12 * (frame.body - 1), found["V"].place + 6 * (frame.body - 1)]
                    if frame.body
                    else self._still()
                )
            assert out.external is not None
            at += [x.place + state, *(out.external.place + 6 * f.body for f in (row.a, row.b)), out.rate.place + state]
            self._row(unit, at, frame_constants(row.force, row.a.X, row.b.X))

    def _row(self, unit: Loaded, at: list[int], constants: dict[str, Array]) -> None:
        """A row of a traced step."""
        places = np.array([at], dtype=np.int32) * self.vector_bytes
        self.rows.append(
            Rows(np.array(unit.steps[:1], np.uint64), places, unit.code.row(constants), np.zeros(1, np.int64))
        )

    def _still(self) -> list[int]:
        """Where the pose and the twist of the world stand."""
        if not self._world:
            self._world = self.allocate(18)
            self.start |= {self._world + 5 * k: 1.0 for k in range(3)}
        return [self._world, self._world + 12]

    def _in_precision(self, rounding: float) -> float:
        """A bound on rounding errors of doubles, for the numbers at hand."""
        return rounding * 2.0**29 if self.single else rounding


def slot_names(program: Program, given: frozenset[str]) -> list[str]:
    """What the functions of a type point to, in the order of their places."""
    inputs = [f"in {name}" for name, kind in program.inputs.items() if kind not in OPTIONAL or name in given]
    results = [f"out {name}" for name, kind in program.results.items() if kind in PER_JOINT]
    blocks = [f"block {name}" for name in matrices(program)]
    return [*inputs, "parent", "own", "children", "sent", "columns", *results, *blocks, "carried", "felt", "lifted"]


def dyad_unit(kind: DyadType, program: Program, given: frozenset[str], lanes: int, single: bool) -> Unit:
    """The functions of a program at a type; where joints have nothing to do with each other, placements do not count."""
    kind = kind if program.shared or program.sent else kind.alone

    def write() -> tuple[str, Code]:
        steps = lowered(kind, program, given)
        table = Table(steps.graph)
        layout = _layout(kind, program, given, steps.places)
        names = [f"step_{i}" for i in range(len(steps.passes))]
        texts = [function(n, steps.graph, s, layout, table) for n, s in zip(names, steps.passes, strict=True)]
        return "\n".join(texts), Code(names, steps.graph, table.nodes, steps.size)

    inputs = "+".join(sorted(given))
    return Unit(program.name, f"{program.name}+{inputs} {kind.key}", lanes, single, write)


def _layout(kind: DyadType, program: Program, given: frozenset[str], places: Mapping[Any, int]) -> Layout:
    offsets, at = {}, 0
    for name, shape in program.sent.items():
        offsets |= {f"children {name}": at, f"sent {name}": at}
        at += size(shape)
    # the columns of a rate stand together
    columns, width = column_offsets(program), sum(program.columns.values())
    spread = {
        Place(f"columns {name}", r * n + k): r * width + columns[name] + k
        for name, n in program.columns.items()
        for r in range(kind.joint.nv)
        for k in range(n)
    }
    slots = {name: k for k, name in enumerate(slot_names(program, given))}
    return Layout(slots, offsets, {**places, **spread})


class _Laid:
    """A program laid out in the arena of an engine."""

    def __init__(self, engine: Engine, program: Program, inputs: dict[str, Register]):
        self.engine, self.program, self.inputs, self.a = engine, program, inputs, engine.anatomy
        self.given = frozenset(name for name in inputs if program.inputs[name] in OPTIONAL)
        self.units = self._units()
        self.out = {name: engine.allocate(engine.entries(kind)) for name, kind in program.results.items()}
        self.columns = engine.allocate(int(self.a.tree_starts[-1]) * self._width)
        self.fields = self._fields()
        self.blocks: dict[str, int] = {}
        self._constants()
        self._lay()

    def results(self) -> dict[str, Register]:
        entries = self.engine.entries
        return {n: self.engine._register(self.out[n], entries(kind)) for n, kind in self.program.results.items()}

    @property
    def _width(self) -> int:
        return sum(self.program.columns.values())

    def _units(self) -> list[Loaded]:
        """All code that the program needs, compiled in one go where it is not there."""
        e, walks = self.engine, self.program.passes
        units = [dyad_unit(kind, self.program, self.given, e.lanes, e.single) for kind in self.a.kinds]
        more = [pair_unit(self.program, w, e.m.coupled, e.lanes, e.single) for w in walks if isinstance(w, Pairs)]
        more += [
            loop_unit(c.type, self.program, w, e.lanes, e.single)
            for w in walks
            if isinstance(w, Constraints)
            for c in e.m.loops
        ]
        found = loaded([*units, *more])
        self._more = found[len(units) :]
        return found[: len(units)]

    def _fields(self) -> Array:
        """Where the fields of each body begin, the world first."""
        shared = sum(size(shape) for shape in self.program.shared.values())
        sizes = [shared, *(u.code.size for u in self.units)]
        start = self.engine.allocate(int(sum(sizes)))
        world = self.program.world(self.engine.m)
        at = start
        for name, shape in self.program.shared.items():
            values = np.ravel(world[name])
            self.engine.start |= {at + k: float(x) for k, x in enumerate(values) if x}
            at += size(shape)
        return (start + np.concatenate([[0], np.cumsum(sizes)[:-1]])).astype(np.int32)

    def _constants(self) -> None:
        rows = [self.a.row(i, unit.code) for i, unit in enumerate(self.units)]
        self.table = np.concatenate([np.zeros(0), *rows])
        self.starts = (
            np.concatenate([[0], np.cumsum([len(r) for r in rows])[:-1]]).astype(np.int64)
            if rows
            else np.zeros(0, np.int64)
        )

    # ---- places of each joint ----

    def _places(self) -> Array:
        """(joints, slots)."""
        e, a, n = self.engine, self.a, len(self.a.kinds)
        names = slot_names(self.program, self.given)
        at = np.zeros((n, len(names)), dtype=np.int32)
        slot_size = sum(size(shape) for shape in self.program.sent.values())
        slots = e.allocate(a.slots.number * slot_size)
        carried, felt = e.allocate(12), e.allocate(6)
        self._buffers = carried, carried + 6, felt
        columns: dict[str, Any] = {
            "parent": self.fields[a.parents],
            "own": self.fields[1:],
            "children": slots + a.slots.children * slot_size,
            "sent": slots + a.slots.sent * slot_size,
            "columns": self.columns + a.tree_starts[:-1] * self._width,
            "carried": carried,
            "lifted": carried + 6,
            "felt": felt,
        }
        for k, name in enumerate(names):
            what, _, array = name.partition(" ")
            if what == "in":
                at[:, k] = self._input_places(array)
            elif what == "out":
                at[:, k] = self._output_places(array)
            elif what == "block":
                at[:, k] = self._block_places(array)
            else:
                at[:, k] = columns[name]
        return at * e.vector_bytes

    def _input_places(self, name: str) -> Any:
        a, kind, bodies = self.a, self.program.inputs[name], np.arange(len(self.a.kinds))
        if kind == "reference":
            return self._reference
        place = self.inputs[name].place
        steps = {
            "coordinates": a.q_starts,
            "rates": a.v_starts,
            "wrenches": 6 * (bodies + 1),
            "inertias": 21 * (bodies + 1),
        }
        return place + (bodies if kind == "bodies" else steps.get(str(kind), 0))

    @property
    def _reference(self) -> int:
        """A point near the robot: its floating base, or the zeros behind the status."""
        if floats(self.engine.m):
            return self.inputs["q"].place
        return self.engine.origin()

    def _output_places(self, name: str) -> Array:
        a, bodies = self.a, np.arange(len(self.a.kinds))
        steps = {
            "rates": a.v_starts,
            "coordinates": a.q_starts,
            "vectors": 6 * a.v_starts,
            "poses": 12 * bodies,
            "twists": 6 * bodies,
            "bodies": bodies,
        }
        return self.out[name] + steps[self.program.results[name]]

    def _block_places(self, name: str) -> Array:
        squares = np.array([k.joint.nv**2 if k.joint.turns else 0 for k in self.a.kinds])
        self.blocks[name] = self.engine.allocate(int(squares.sum()))
        return self.blocks[name] + np.concatenate([[0], np.cumsum(squares)[:-1]]).astype(np.int32)

    # ---- rows ----

    def _lay(self) -> None:
        self.at = self._places()
        self._clear_sums()
        function, order = 0, np.arange(len(self.units))
        for walk in self.program.passes:
            if isinstance(walk, Outward | Inward):
                self._pass(function, order if isinstance(walk, Outward) else order[::-1])
                function += 1
            elif isinstance(walk, Climb):
                self._climb(function)
                function += 2
            elif isinstance(walk, Pairs):
                self._pairs()
            else:
                self._constraints(walk)

    def _clear_sums(self) -> None:
        """Where joints share coordinates, what they leave adds up from zero."""
        if self.engine.m.coupled:
            for name, kind in self.program.results.items():
                if kind in ("rates", "vectors", "matrix", "row matrix"):
                    self.engine.op("clear", [self.out[name], self.engine.entries(kind)])

    def _pass(self, function: int, order: Array) -> None:
        steps = np.array([u.steps[function] for u in self.units], dtype=np.uint64)
        self.engine.rows.append(Rows(steps[order], self.at[order], self.table, self.starts[order]))

    def _climb(self, function: int) -> None:
        a, n = self.a, len(self.units)
        first, second, felt = self._buffers
        names = slot_names(self.program, self.given)
        swapped = self.at.copy()
        swapped[:, names.index("carried")] = second * self.engine.vector_bytes
        swapped[:, names.index("lifted")] = first * self.engine.vector_bytes
        (matrix,) = matrices(self.program)
        head, width = 6 + 6 * n, self.at.shape[1]
        index = head + width * np.arange(n)
        own = np.stack(
            [
                a.parents - 1,
                a.v_starts,
                a.rates,
                self.columns + a.tree_starts[:-1] * self._width,
                index,
                index + width * n,
            ],
            axis=-1,
        )
        at = np.concatenate(
            [
                [n, self.engine.m.nv, self.out[matrix], first, second, felt],
                own.ravel(),
                self.at.ravel(),
                swapped.ravel(),
            ]
        )
        steps = np.array([u.steps[function : function + 2] for u in self.units], dtype=np.uint64).reshape(n, 2)
        climbers = np.concatenate([steps, self.starts[:, None].astype(np.uint64)], axis=-1)
        self.engine.rows.append(Rows("climb", at.astype(np.int32)[None], self.table, np.zeros(1, np.int64), climbers))

    def _pairs(self) -> None:
        """A row for each rate of the tree."""
        e, a, n = self.engine, self.a, self.engine.m.nv
        step = np.array([next(u for u in self._more if u.code.functions == ["pairs"]).steps[0]], dtype=np.uint64)
        bases = [self.out[name] for name in matrices(self.program)]
        place = self.columns + np.arange(a.tree_starts[-1]) * self._width
        above: list[list[int]] = [[]]  # for each body the rates of the joints it hangs on
        for i in range(1, len(e.m.bodies)):
            above.append([*above[e.m.parent[i]], *range(a.tree_starts[i - 1], a.tree_starts[i])])
        coordinate = [c for _, c in a.rate_names]
        for rate, (i, c) in enumerate(a.rate_names):
            higher, own = above[e.m.parent[i + 1]], range(a.tree_starts[i], a.tree_starts[i + 1])
            lists = [x for b in higher for x in (place[b], c * n + coordinate[b], coordinate[b] * n + c)]
            lists += [x for b in own for x in (place[b], c * n + coordinate[b])]
            at = np.array([place[rate], len(higher), len(own), *bases, *lists], dtype=np.int32)
            e.rows.append(Rows(step, at[None], np.zeros(0), np.zeros(1, np.int64)))
        self._add_blocks()

    def _add_blocks(self) -> None:
        """What turning joints add between their own rates."""
        n = self.engine.m.nv
        for name, place in self.blocks.items():
            ends: list[int] = []
            for i, kind in enumerate(self.a.kinds):
                nv, v = kind.joint.nv, int(self.a.v_starts[i])
                if kind.joint.turns:
                    for r in range(nv):
                        ends += [
                            x for c in range(nv) for x in (place + r * nv + c, self.out[name] + (v + r) * n + v + c)
                        ]
                    place += nv * nv
            if ends:
                self.engine.op("scatter", [len(ends) // 2, *ends])

    def _constraints(self, walk: Constraints) -> None:
        row, units = 0, [u for u in self._more if u.code.functions == ["loop"]]
        for c in self.engine.m.constraints:
            if isinstance(c, Loop):
                self._loop(c, units.pop(0), row)
            else:
                self._couple(c, row)
            row += c.rows

    def _loop(self, c: Loop, unit: Loaded, row: int) -> None:
        e, a, m = self.engine, self.a, self.engine.m
        T = e.allocate(6 * c.rows)
        ends = c.predecessor, c.successor
        places = [self.fields[f.body] for f in ends]
        outputs = [self.out[name] + row if name in self.out else 0 for name in ("error", "k")]
        e._row(
            unit,
            [*places, self._reference, T, *outputs],
            loop_constants(c.type, *(a.chosen(f.body, f.X) for f in ends)),
        )
        above, below = (set(m.ancestors[f.body]) for f in ends)
        list_ = [
            x
            for bodies, sign in ((below - above, 1), (above - below, -1))
            for i in sorted(bodies)
            for r in range(a.tree_starts[i - 1], a.tree_starts[i])
            for x in (self.columns + r * self._width, a.rate_names[r][1], sign)
        ]
        K = self.out["K"] + row * m.nv
        e.op("project", [c.rows, m.nv, T, K, int(m.coupled), len(list_) // 3, *list_])

    def _couple(self, c: Coupling, row: int) -> None:
        """sum of ratio times coordinate = offset."""
        e, m = self.engine, self.engine.m
        K = self.out["K"] + row * m.nv
        joints = [m.joints[i] for i in c.joints]
        weights: dict[int, float] = {}
        for j, ratio in zip(joints, c.ratios, strict=True):
            weights[j.v_slice.start] = weights.get(j.v_slice.start, 0.0) + ratio * j.ratio
        e.op("set", [len(weights), *(K + v for v in weights)], list(weights.values()))
        offset = -c.offset + sum(ratio * j.offset for j, ratio in zip(joints, c.ratios, strict=True))
        if "error" in self.out:
            q = self.inputs["q"].place
            terms = [x for j in joints for x in (q + j.q_slice.start, 0)]
            factors = [ratio * j.ratio for j, ratio in zip(joints, c.ratios, strict=True)]
            e.op("combine", [self.out["error"] + row, 1, len(joints) + 1, *terms, e.one(), 0], [*factors, offset])
