"""Sequences of rows: programs laid out for one mechanism in one arena, and rows over whole arrays between them.

It is an `Engine`: a flow that runs on it is recorded as rows.
"""

import numpy as np

from modurob.algorithms.constraints.solver import LOST, ROUNDING, SETTLED
from modurob.algorithms.constraints.units import units_of
from modurob.algorithms.descent import GoalRow, Seen
from modurob.algorithms.descent import Rows as GoalRows
from modurob.algorithms.program import SINGULAR
from modurob.kernels.constraint_units import elimination, sloped_entries, sloped_tiles
from modurob.kernels.force_rows import ForceRows
from modurob.kernels.goal_units import laid_goals
from modurob.kernels.registers import Register
from modurob.mechanism.tables import Limits, Tables
from modurob.spatial.scalars import Array

# a limit that is never reached, in place of infinity
LARGEST = 1e30


class Engine(ForceRows):
    """The engine that records flows as rows."""

    def __init__(self, m: Tables, lanes: int, single: bool):
        super().__init__(m, lanes, single)
        self._solved: dict[tuple[int, int], int] = {}  # the work of `constrained` for a matrix and rows

    def constrained(
        self, M: Register, K: Register, force: tuple[Register, Register], k: Register
    ) -> tuple[Register, Register]:
        return self._constrained(M, K, force, k, self.m.armature)

    def free_inertia(self, M: Register, free: Register) -> Register:
        out = self.register(M.n)
        self.op("free_inertia", [self.m.nv, M.place, free.place, out.place])
        return out

    def free_rows(self, K: Register, free: Register) -> Register:
        out, n = self.register(K.n), self.m.nv
        self.op("free_rows", [K.n // n, n, K.place, free.place, out.place], [self._in_precision(LOST) ** 2])
        return out

    def nearest(self, K: Register, k: Register) -> Register:
        n = self.m.nv
        one, zero = self.register(n * n), self.zeros("rates")
        self.start |= {one.place + i * (n + 1): float(x**-2) for i, x in enumerate(units_of(self.m).rates)}
        return self._constrained(one, K, (zero, zero), k, np.zeros(n))[0]

    def product(self, A: Register, x: Register) -> Register:
        rows = A.n // x.n
        out = self.register(rows)
        self.op("product", [rows, x.n, A.place, x.place, out.place])
        return out

    def product_transposed(self, A: Register, y: Register) -> Register:
        out = self.register(self.m.nv)
        self.op("product_transposed", [y.n, out.n, A.place, y.place, out.place])
        return out

    def _constrained(
        self, M: Register, K: Register, force: tuple[Register, Register], k: Register, rotors: Array
    ) -> tuple[Register, Register]:
        n, r, course = self.m.nv, k.n, elimination(self.m)
        vdot, multipliers = self.zeros("rates"), self.register(r)
        work = self.allocate(n * n + n + n * (r + 1) + n + r * r + 5 * r)
        self._solved[M.place, K.place] = work
        head = [n, r, M.place, K.place, force[0].place, force[1].place, k.place, vdot.place, multipliers.place, work]
        lists = [course.in_row, course.sides, course.of_rows, course.of_M]
        begins = len(head) + len(lists) + n + np.cumsum([0, *(len(x) for x in lists[:-1])])
        at = [*head, *begins, *course.order, *np.concatenate(lists)]
        tolerances = map(self._in_precision, (SINGULAR, ROUNDING, SETTLED))
        self.op("constrain", at, [*tolerances, *rotors, *units_of(self.m).rates ** 2])
        return vdot, multipliers

    def constrained_slopes(
        self, M: Register, K: Register, by_q: tuple[Register, Register], by_v: tuple[Register, Register]
    ) -> Register:
        n, course = self.m.nv, elimination(self.m)
        r = K.n // n
        out, work = self.register(3 * n * n), self.allocate(2 * n * r + r * r + max(3 * r * r, 2 * n * n))
        tiles = np.concatenate(
            [sloped_tiles(n, *x, start) for x, start in zip(sloped_entries(self.m), (0, n), strict=True)]
        )
        slopes = [x.place for pair in zip(by_q, by_v, strict=True) for x in pair]
        head = [n, r, self._solved[M.place, K.place], *slopes, out.place, work]
        lists = [course.sides, course.of_rows, course.of_M, tiles]
        begins = len(head) + len(lists) + n + np.cumsum([0, *(len(x) for x in lists[:-1])])
        self.op("constrain_slopes", [*head, *begins, *course.order, *np.concatenate(lists)], [])
        return out

    def solved_slopes(self, M: Register, by_q: Register, by_v: Register) -> Register:
        n = self.m.nv
        out, inverse = self.register(3 * n * n), self.allocate(n)
        at = [n, M.place, inverse, out.place, by_q.place, by_v.place, *self.anatomy.pattern]
        self.op("solve_slopes", at, [self._in_precision(SINGULAR), *self.m.armature])
        return out

    def inverse_inertia(self, M: Register) -> Register:
        n = self.m.nv
        out, inverse = self.register(n * n), self.allocate(n)
        at = [n, M.place, inverse, out.place, *self.anatomy.pattern]
        self.op("invert_inertia", at, [self._in_precision(SINGULAR), *self.m.armature])
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
        self.op("damped_step", at, limits)
        return dq

    def _in_precision(self, rounding: float) -> float:
        """A bound on rounding errors of doubles, for the numbers at hand."""
        return rounding * 2.0**29 if self.single else rounding
