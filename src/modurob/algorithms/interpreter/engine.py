"""Programs, and flows: programs with vector arithmetic between them, run with NumPy."""

from typing import Any

import numpy as np

from modurob.algorithms.constraints.solver import constrained_inverse, constrained_solution, free_inertia, free_rows
from modurob.algorithms.constraints.units import units_of
from modurob.algorithms.decay import decays
from modurob.algorithms.interpreter.passes import ProgramRun, leading
from modurob.algorithms.program import Answer, Flow, Forces, Program, Run
from modurob.algorithms.steps import apply, transposed
from modurob.mechanism.tables import Limits, Tables
from modurob.spatial.scalars import Array, solve


def interpret(program: Program | Flow, m: Tables, inputs: dict[str, Array]) -> Answer:
    """Run a program or a flow; inputs have equal leading axes."""
    if isinstance(program, Program):
        return ProgramRun(program, m, inputs).answer()
    engine = NumPyEngine(m, leading(program.inputs, inputs))
    return Answer(program.define(engine, dict(inputs)), engine.singular)


class NumPyEngine:
    """Runs flows with NumPy, as `Engine` says; programs in them by `run`."""

    def __init__(self, m: Tables, shape: tuple[int, ...], run: Run | None = None):
        self.m, self.singular, self._shape = m, np.zeros(shape, dtype=int), shape
        self._run = run or interpret

    def run(self, program: Program | Flow, **inputs: Any) -> dict[str, Any]:
        answer = self._run(program, self.m, {name: x for name, x in inputs.items() if x is not None})
        self.note(answer.singular)
        return answer.results

    def note(self, singular: Array) -> None:
        """What is singular in which states, (...); what was found first stays."""
        self.singular = np.where(self.singular == 0, singular, self.singular)

    def run_again(self, program: Program, **inputs: Any) -> dict[str, Any]:
        return self.run(program, **inputs)

    def zeros(self, kind: str) -> Array:
        return np.zeros((*self._shape, self.m.nq if kind == "coordinates" else self.m.nv))

    def ones(self, kind: str) -> Array:
        return self.zeros(kind) + 1

    def constant(self, kind: str, values: Array) -> Array:
        return np.broadcast_to(values, (*self._shape, len(values)))

    def smaller(self, a: Array, b: Array, x: Array, y: Array) -> Array:
        return np.where(a < b, x, y)

    def goal_rows(self, rows: Any, seen: Any, target: Array) -> Any:
        from modurob.algorithms import descent  # which imports this module

        found = descent.goal_rows(self.m, rows, seen, target)
        return found._replace(cost=found.cost[..., None], size=found.size[..., None])

    def damped_step(self, rows: Any, q: Array, damping: Array, bounds: Limits) -> Array:
        from modurob.algorithms import descent

        return descent.damped_step(self.m, rows._replace(cost=rows.cost[..., 0]), q, damping[..., 0], bounds)

    def times(self, a: Array, b: Array) -> Array:
        return a * b

    def forces(
        self,
        t: Any,
        q: Array,
        v: Array,
        x: Array,
        slide: Array | None = None,
        ahead: Array | None = None,
        contacts: bool = True,
    ) -> Forces:
        from modurob.algorithms import forces as own  # which imports this module

        tau = own.joint_efforts(self.m, t, q, v, x, ahead)
        if slide is not None:
            tau = tau - slide * own.dry_friction(self.m, v)
        between = own.frame_wrenches(self.m, t, q, v, x, self._run, contacts)
        external, tau = (None, tau) if between is None else (between.wrenches, tau + between.tau)
        rate = own.force_rates(self.m, t, q, v, x, self._run)
        slope = None if ahead is None else own.slope_ahead(self.m, t, q, v, x, ahead)
        return Forces(tau, external, rate, slope)

    def lines(self, q: Array, v: Array) -> dict[str, Array]:
        from modurob.algorithms import lines as own

        return own.standing(self.m, q, v, self._run)

    def line_drifts(self, q: Array, v: Array) -> Array:
        from modurob.algorithms import lines as own

        return own.drifts(self.m, q, v)

    def contact_wrenches(self, start: Any, known: Any, x: Array, dt: Array, last: bool) -> tuple[Array, Array]:
        from modurob.algorithms import contact

        return contact.contact_wrenches(self.m, start, known, x, dt[..., 0], last)

    def contact_states(self, start: Any, known: Any, end: Any, x: Array, rate: Array, dt: Array) -> Array:
        from modurob.algorithms import contact

        return contact.contact_states(self.m, start, known, end, x + rate * dt, dt[..., 0])

    def pair_wrenches(
        self, q: Array, start: Any, known: Any, x: Array, dt: Array, last: bool
    ) -> tuple[Array, Array, Array]:
        from modurob.algorithms import pairs

        return pairs.pair_wrenches(self.m, q, start, known, x, dt[..., 0], last)

    def pair_forces(self, q: Array, start: Any, f: Array, G: Array, rates: Array) -> Array:
        from modurob.algorithms import pairs

        return pairs.pair_forces(self.m, q, start, f, G, rates)

    def pair_bias(self, q: Array, start: Any, G: Array, rates: Array) -> Array:
        from modurob.algorithms import pairs

        return pairs.pair_bias(self.m, q, start, G, rates)

    def with_pair_coupling(self, M: Array, q: Array, G: Array) -> Array:
        from modurob.algorithms import pairs

        return M + pairs.coupling(self.m, self.run(pairs.COLUMNS, q=q)["S"], G)

    def momentum_corrected(self, before: Any, after: Any, v: Array, dt: Array, between: Any) -> Array:
        from modurob.algorithms import momenta

        return momenta.momentum_corrected(self.m, before, after, v, dt[..., 0], between)

    def pair_states(self, start: Any, known: Any, end: Any, x: Array, dt: Array) -> Array:
        from modurob.algorithms import pairs

        return pairs.pair_states(self.m, start, known, end, x, dt[..., 0])

    def advanced(self, V: Array, rate: Array, dt: Array) -> Array:
        return V + rate * dt[..., None]

    def with_diagonal(self, M: Array, diagonal: Array) -> Array:
        return M + diagonal[..., None] * np.eye(self.m.nv)

    def sampled(self, q: Array, v: Array, x: Array, dt: Array) -> Array:
        from modurob.algorithms import forces as own

        return own.sampled_states(self.m, q, v, x, dt)

    def moving_states(self, x: Array) -> Array:
        return x

    def all_states(self, x: Array) -> Array:
        return x

    def decays(self, dt: Array) -> Any:
        from modurob.algorithms import forces as own

        return decays(own.acting(self.m).decay, dt)

    def constrained(self, M: Array, K: Array, force: tuple[Array, Array], k: Array) -> tuple[Array, Array]:
        vdot, multipliers, singular = constrained_solution(
            M + np.diag(self.m.armature), K, force[0] - force[1], k, units_of(self.m).rates
        )
        self.note(-singular.astype(int))
        return vdot, multipliers

    def nearest(self, K: Array, k: Array) -> Array:
        unit = units_of(self.m).rates
        one = np.broadcast_to(np.diag(unit**-2.0), (*K.shape[:-2], self.m.nv, self.m.nv))
        return constrained_solution(one, K, np.zeros(K.shape[:-2] + K.shape[-1:]), k, unit).vdot

    def product(self, A: Array, x: Array) -> Array:
        return apply(A, x)

    def product_transposed(self, A: Array, y: Array) -> Array:
        return apply(transposed(A), y)

    def free_inertia(self, M: Array, free: Array) -> Array:
        return free_inertia(M, free[..., :, None], free[..., None, :], np.eye(self.m.nv))

    def free_rows(self, K: Array, free: Array) -> Array:
        return free_rows(K, free)

    def solved_slopes(self, M: Array, by_q: Array, by_v: Array) -> Array:
        one = np.broadcast_to(np.eye(self.m.nv), M.shape)
        return solve(M + np.diag(self.m.armature), np.concatenate([-by_q, -by_v, one], axis=-1))

    def inverse_inertia(self, M: Array) -> Array:
        return solve(M + np.diag(self.m.armature), np.broadcast_to(np.eye(self.m.nv), M.shape))

    def constrained_slopes(self, M: Array, K: Array, by_q: tuple[Array, Array], by_v: tuple[Array, Array]) -> Array:
        P, Q = constrained_inverse(M + np.diag(self.m.armature), K, units_of(self.m).rates)
        return np.concatenate([*(-P @ force - Q @ rows for force, rows in (by_q, by_v)), P], axis=-1)
