"""Sequences of rows: programs laid out for one mechanism in one arena, and rows over whole arrays between them.

A row is the address of a step, the places it reads and writes, and its constants; so code does not grow with the robot, and
a new robot is a new table. The sequence is an `Engine`: flows written for NumPy are written down as rows by running on it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from modurob.algorithms.constraints.solver import FILTERS, ITERATIONS, PROXIMAL, ROUNDING
from modurob.algorithms.decay import Decays
from modurob.algorithms.descent import AT_LIMIT, LEAST_DAMPING, GoalRow, Seen
from modurob.algorithms.descent import Rows as GoalRows
from modurob.algorithms.forces import Acting, acting
from modurob.algorithms.lines import STANDING
from modurob.algorithms.motions import ACCELERATIONS, MOTIONS
from modurob.algorithms.program import SINGULAR, Flow, Forces, Program
from modurob.kernels import pair_contact_units as pairs
from modurob.kernels.anatomy import anatomy
from modurob.kernels.constraint_units import elimination
from modurob.kernels.contact_units import lay_pushes, lay_states
from modurob.kernels.force_units import (
    decay_unit,
    drift_unit,
    frame_constants,
    frame_unit,
    joint_constants,
    joint_unit,
    law_constants,
    law_unit,
    line_constants,
    line_unit,
    sampled_unit,
    standing_unit,
)
from modurob.kernels.goal_units import laid_goals
from modurob.kernels.laying import Laid
from modurob.kernels.momentum_units import lay_balance
from modurob.kernels.registers import Register, Rows
from modurob.kernels.units import FILE_OF, Driver, Loaded, beside, driver, loaded
from modurob.mechanism import Tables
from modurob.mechanism.tables import Limits, LineRow
from modurob.spatial.scalars import Array

# stands for no limit
LARGEST = 1e30


class Engine:
    """Rows for one mechanism at one width, in the order they are to run."""

    def __init__(self, m: Tables, lanes: int, single: bool):
        self.m, self.lanes, self.single = m, lanes, single
        self.anatomy, self._files = anatomy(m), dict[str, Callable[[], Driver]]()
        self.need("driver")
        self.size = 1  # the status stands first
        self.vector_bytes = np.int32(lanes * (4 if single else 8))
        self._origin = self._one = self._world = 0
        self.rows: list[Rows] = []
        self.start: dict[int, float] = {}  # numbers that stand in the arena from the start

    @property
    def driver(self) -> Driver:
        """What runs the rows."""
        return self._files["driver"]()

    def need(self, file: str) -> None:
        """A file of C by hand, which is compiled from now on if it is not yet."""
        if file not in self._files:
            self._files[file] = beside(driver, file, self.lanes, self.single)

    def address(self, name: str) -> int:
        """Of a row over whole arrays."""
        return self._files[FILE_OF[name]]().address(name)

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
        return self.register(n)

    def _at(self, place: int, n: int) -> Register:
        return Register(self, [(1.0, 0, place)], n)

    def register(self, n: int) -> Register:
        """A new register of so many numbers, zero at the start."""
        return self._at(self.allocate(n), n)

    def zeros(self, kind: str) -> Register:
        n = self.entries(kind)
        return self.register(n)

    def ones(self, kind: str) -> Register:
        register = self.zeros(kind)
        self.start |= {register.place + i: 1.0 for i in range(register.n)}
        return register

    def constant(self, kind: str, values: Array) -> Register:
        values = values[1:] if kind == "bodies" else values
        register = self.register(len(values))
        self.start |= {register.place + i: float(x) for i, x in enumerate(values) if x}
        return register

    def smaller(self, a: Register, b: Register, x: Register, y: Register) -> Register:
        out = self.register(x.n)
        self.op("smaller", [x.n, a.place, b.place, x.place, y.place, out.place])
        return out

    def times(self, a: Register, b: Register) -> Register:
        out = self.register(a.n)
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
            "lines": len(m.lines),
            "vectors": 6 * m.nv,
            "matrix": m.nv**2,
            "slopes": 3 * m.nv**2,
            "rows": rows,
            "row matrix": rows * m.nv,
        }
        return int(kind) if isinstance(kind, int) or kind.isdigit() else sizes[kind]

    # ---- rows over arrays ----

    def op(self, name: str, at: Any, constants: Any = ()) -> None:
        """A row over whole arrays."""
        at, c = np.asarray(at, dtype=np.int32)[None], np.asarray(constants, dtype=float)
        self.whole(Rows(name, at, c, np.zeros(1, dtype=np.int64)))

    def whole(self, rows: Rows) -> None:
        """Rows over whole arrays, by the name of what runs them."""
        self.need(FILE_OF[str(rows.steps)])
        self.rows.append(rows)

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
        return Laid(self, program, {name: x for name, x in inputs.items() if x is not None}).results()

    def constrained(
        self, M: Register, K: Register, push: tuple[Register, Register], k: Register
    ) -> tuple[Register, Register]:
        return self._constrained(M, K, push, k, self.m.armature)

    def nearest(self, K: Register, k: Register) -> Register:
        n = self.m.nv
        one, zero = self.register(n * n), self.zeros("rates")
        self.start |= {one.place + i * (n + 1): 1.0 for i in range(n)}
        return self._constrained(one, K, (zero, zero), k, np.zeros(n))[0]

    def product(self, A: Register, x: Register) -> Register:
        rows = A.n // x.n
        out = self.register(rows)
        self.op("product", [rows, x.n, A.place, x.place, out.place])
        return out

    def _constrained(
        self, M: Register, K: Register, push: tuple[Register, Register], k: Register, rotors: Array
    ) -> tuple[Register, Register]:
        n, r, course = self.m.nv, k.n, elimination(self.m)
        vdot, multipliers = self.zeros("rates"), self.register(r)
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
        out, inverse = self.register(3 * n * n), self.allocate(n)
        at = [n, M.place, inverse, out.place, by_q.place, by_v.place, *self.anatomy.pattern]
        self.op("solve_slopes", at, [self._in_precision(SINGULAR), *self.m.armature])
        return out

    # ---- goals ----

    def goal_rows(self, rows: tuple[GoalRow, ...], seen: Seen, target: Register) -> GoalRows:
        return laid_goals(self, rows, seen, target)

    def damped_step(self, rows: GoalRows, q: Register, damping: Register, bounds: Limits) -> Register:
        m, n, r = self.m, self.m.nv, rows.error.n
        dq, k = self.zeros("rates"), min(n, r)
        work = self.allocate(r * n + n + k * k + k)
        at = [n, r, rows.J.place, rows.error.place, rows.cost.place, damping.place, dq.place, work]
        limited = np.isfinite(bounds.lower) | np.isfinite(bounds.upper)
        at += [q.place + c if held else 0 for c, held in zip(m.coordinate_of.tolist(), limited, strict=True)]
        limits = [*np.maximum(bounds.lower, -LARGEST), *np.minimum(bounds.upper, LARGEST)]
        self.op("damped_step", at, [LEAST_DAMPING, AT_LIMIT, *limits])
        return dq

    # ---- forces ----

    def forces(
        self,
        t: Register,
        q: Register,
        v: Register,
        x: Register,
        slide: Register | None = None,
        slopes: bool = False,
        contacts: bool = True,
    ) -> Forces:
        """All forces of the mechanism's own, contacts among them or not."""
        own = acting(self.m)
        contacts = contacts and own.touching
        between = bool(own.frame_rows or self.m.lines or contacts)
        out = Forces(
            self.cleared("rates"),
            self.cleared("wrenches") if between else None,
            self.register(own.nx),
            self.cleared("rates") if slopes else None,
            self.cleared("rates") if slopes else None,
        )
        self._joint_forces(own, out, t, q, v, x, slide)
        if between:
            found = self.run(MOTIONS, q=q, v=v)
            self._frame_forces(own, out, t, x, found)
            self._lines(out, q, v, found)
            if contacts:
                now = self.register(1)
                push, _ = lay_pushes(self, found, found["V"], x, now, False)
                between, _ = pairs.lay_pushes(self, q, found, found["V"], x, now, False)
                out = out._replace(external=out.external + push + between)
        return out

    def contact_pushes(
        self, start: dict[str, Register], known: Register, x: Register, dt: Register, last: bool
    ) -> tuple[Register, Register]:
        return lay_pushes(self, start, known, x, dt, last)

    def contact_states(
        self, start: dict[str, Register], known: Register, end: Register, x: Register, dt: Register
    ) -> Register:
        return lay_states(self, start, known, end, x, dt)

    def pair_pushes(
        self, q: Register, start: dict[str, Register], known: Register, x: Register, dt: Register, last: bool
    ) -> tuple[Register, Register]:
        return pairs.lay_pushes(self, q, start, known, x, dt, last)

    def pair_bias(self, q: Register, start: dict[str, Register], G: Register, rates: Register) -> Register:
        return pairs.lay_bias(self, q, start, G, rates)

    def coupled(self, M: Register, q: Register, G: Register) -> Register:
        return pairs.lay_coupling(self, M, q, G)

    def balanced(
        self, before: tuple[Register, ...], after: tuple[Register, ...], v: Register, dt: Register
    ) -> Register:
        return lay_balance(self, before, after, v, dt)

    def pair_states(
        self, start: dict[str, Register], known: Register, end: Register, x: Register, dt: Register
    ) -> Register:
        return pairs.lay_states(self, start, known, end, x, dt)

    def advanced(self, V: Register, rate: Register, dt: Register) -> Register:
        return V + rate * dt

    def resisted(self, M: Register, resistance: Register) -> Register:
        out, n = self.register(M.n), self.m.nv
        self.assign(out, M)
        ends = [x for k in range(n) for x in (resistance.place + k, out.place + k * (n + 1))]
        self.op("scatter", [n, *ends])
        return out

    def sampled(self, q: Register, v: Register, x: Register, dt: Register) -> Register:
        """States of the forces, those of loops that sample as they are after it."""
        own, out = acting(self.m), self.register(x.n)
        self.op("copy", [x.place, out.place, x.n])
        rows = [(k, row) for k, row in own.joint_rows if row.force.samples]
        units = loaded([sampled_unit(row.force, self.lanes, self.single) for _, row in rows])
        for (k, row), unit in zip(rows, units, strict=True):
            joint = self.m.joints[row.joint]
            rate, state = joint.v_slice.start + row.rate, own.x_starts[k]
            places = [dt.place, q.place + max(0, int(self.m.coordinate_of[rate])), v.place + rate]
            at = [*places, x.place + state, out.place + state]
            self.row(unit, at, joint_constants(row.force, joint.ratio, joint.offset))
        return out

    def decays(self, dt: Register) -> Decays:
        """Weights for the states of the forces: each fast one has a row of its own, the others share theirs."""
        rate = acting(self.m).decay
        fast, slow, own = np.flatnonzero(rate), self._constants(np.where(rate, 0.0, 1.0)), self._constants(rate)
        weights = [self.register(len(rate)) for _ in Decays._fields[1:]]
        for k, unit in zip(fast, loaded([decay_unit(self.lanes, self.single)] * len(fast)), strict=True):
            self.row(unit, [dt.place, *(w.place + int(k) for w in weights)], {"parameter": rate[k : k + 1]})
        plain = [slow, slow, slow * dt * 0.5, slow * dt * (1 / 6), slow * dt * (1 / 3), slow * dt * (1 / 6)]
        return Decays(own, *(w + p for w, p in zip(weights, plain, strict=True)))

    def _constants(self, numbers: Array) -> Register:
        """A register that holds these numbers from the start."""
        register = self.register(len(numbers))
        self.start |= {register.place + i: float(x) for i, x in enumerate(numbers) if x}
        return register

    def cleared(self, kind: str) -> Register:
        """A register of zeros, whatever ran before."""
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
            self.row(unit, at, joint_constants(row.force, joint.ratio, joint.offset))
        self._joint_laws(own, out, t, q, v, x)

    def _joint_laws(self, own: Acting, out: Forces, t: Register, q: Register, v: Register, x: Register) -> None:
        for k, row in own.law_rows:
            joint = self.m.joints[row.joint]
            (unit,) = loaded([law_unit(row.force, joint.type, self.lanes, self.single)])
            starts = [joint.q_slice.start, joint.v_slice.start, own.x_starts[k], joint.v_slice.start, own.x_starts[k]]
            registers = (q, v, x, out.tau, out.rate)
            at = [t.place, *(r.place + start for r, start in zip(registers, starts, strict=True))]
            self.row(unit, at, law_constants(row.force, joint.type))

    def _frame_forces(self, own: Acting, out: Forces, t: Register, x: Register, found: dict[str, Register]) -> None:
        units = loaded([frame_unit(row.force, self.lanes, self.single) for _, row in own.frame_rows])
        for (k, row), unit in zip(own.frame_rows, units, strict=True):
            state = own.x_starts[k]
            at = [t.place]
            for frame in (row.a, row.b):
                at += self._moving(frame.body, found)
            assert out.external is not None
            at += [x.place + state, *(out.external.place + 6 * f.body for f in (row.a, row.b)), out.rate.place + state]
            self.row(unit, at, frame_constants(row.force, row.a.X, row.b.X))

    def _moving(self, body: int, found: dict[str, Register]) -> list[int]:
        """Where the pose, the twist and, if it was found, its rate of a body stand."""
        rates = [name for name in ("V", "A") if name in found]
        if not body:
            return [self.still()[0], *(self.still()[1] for _ in rates)]
        return [found["X"].place + 12 * (body - 1), *(found[name].place + 6 * (body - 1) for name in rates)]

    def _lines(self, out: Forces, q: Register, v: Register, found: dict[str, Register]) -> None:
        lines = self.m.lines
        for row, unit in zip(lines, loaded([line_unit(x.force, self.lanes, self.single) for x in lines]), strict=True):
            at = [n for frame in row.frames for n in self._moving(frame.body, found)]
            at += [out.external.place + 6 * frame.body for frame in row.frames]
            at += [place for i in row.joints for place in self._drum(i, q, v, out.tau)]
            self.row(unit, at, self._line_constants(row))

    def _line_constants(self, row: LineRow) -> dict[str, Array]:
        joints = [self.m.joints[i] for i in row.joints]
        ratios = [(j.ratio, j.offset) if i >= 0 else (0.0, 0.0) for i, j in zip(row.joints, joints, strict=True)]
        return line_constants(row.force, [f.X for f in row.frames], ratios)

    def lines(self, q: Register, v: Register) -> dict[str, Register]:
        out = {name: self.zeros("lines") for name in STANDING}
        found = self.run(MOTIONS, q=q, v=v)
        self._standing(standing_unit, list(out.values()), q, v, found)
        return out

    def line_drifts(self, q: Register, v: Register) -> Register:
        out = self.zeros("lines")
        found = self.run(ACCELERATIONS, q=q, v=v, vdot=self.zeros("rates"))
        self._standing(drift_unit, [out], q, v, found)
        return out

    def _standing(self, unit_of: Any, out: list[Register], q: Register, v: Register, found: dict[str, Any]) -> None:
        """A row for each line that writes numbers of its own."""
        rows = self.m.lines
        units = loaded([unit_of(row.force, self.lanes, self.single) for row in rows])
        for k, (row, unit) in enumerate(zip(rows, units, strict=True)):
            at = [n for frame in row.frames for n in self._moving(frame.body, found)]
            at += [place for i in row.joints for place in self._drum(i, q, v, v)[:2]]
            self.row(unit, [*at, *(x.place + k for x in out)], self._line_constants(row))

    def _drum(self, i: int, q: Register, v: Register, tau: Register) -> list[int]:
        """Where the coordinate, the rate and the torque of a winch stand; of one that is held, where nothing is read."""
        if i < 0:
            return [self.origin(), self.origin(), self.allocate(1)]
        joint = self.m.joints[i]
        return [q.place + joint.q_slice.start, *(x.place + joint.v_slice.start for x in (v, tau))]

    def row(self, unit: Loaded, at: list[int], constants: dict[str, Array]) -> None:
        """A row of a traced step."""
        places = np.array([at], dtype=np.int32) * self.vector_bytes
        self.rows.append(
            Rows(np.array(unit.steps[:1], np.uint64), places, unit.code.row(constants), np.zeros(1, np.int64))
        )

    def still(self) -> list[int]:
        """Where the pose and the twist of the world stand."""
        if not self._world:
            self._world = self.allocate(18)
            self.start |= {self._world + 5 * k: 1.0 for k in range(3)}
        return [self._world, self._world + 12]

    def _in_precision(self, rounding: float) -> float:
        """A bound on rounding errors of doubles, for the numbers at hand."""
        return rounding * 2.0**29 if self.single else rounding
