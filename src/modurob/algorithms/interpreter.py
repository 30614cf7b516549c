"""The interpreter: programs run with NumPy, over leading axes and any scalars."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from modurob.algorithms.constraints.solver import constrained_solution, held_solution
from modurob.algorithms.decay import decays
from modurob.algorithms.program import (
    SINGULAR,
    Answer,
    Climb,
    Constraints,
    Flow,
    Forces,
    Inward,
    Outward,
    Pairs,
    Program,
    Run,
    Sweep,
)
from modurob.algorithms.steps import Dyad, apply, dyad, transposed
from modurob.caching import cached_property
from modurob.catalogue.joints import Free
from modurob.mechanism.tables import Coupling, Frame, Joint, Limits, Loop, Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array, dot, is_numeric, solve

# a complex step loses nothing to rounding, and nothing above it counts
TINY = 1e-20


def interpret(program: Program | Flow, m: Tables, inputs: dict[str, Array]) -> Answer:
    """Run a program or a flow; inputs have equal leading axes."""
    if isinstance(program, Program):
        return _Run(program, m, inputs).answer()
    engine = NumPyEngine(m, leading(program.inputs, inputs))
    return Answer(program.define(engine, dict(inputs)), engine.singular)


def leading(kinds: Mapping[str, str | int], inputs: Mapping[str, Array]) -> tuple[int, ...]:
    """The leading axes that the inputs have in common."""
    return next((x.shape[: x.ndim - _axes(kinds[name])] for name, x in inputs.items()), ())


class NumPyEngine:
    """Runs flows with NumPy, as `Engine` says; programs in them by `run`."""

    def __init__(self, m: Tables, shape: tuple[int, ...], run: Run | None = None):
        self.m, self.singular, self._shape = m, np.zeros(shape, dtype=int), shape
        self._run = run or interpret

    def run(self, program: Program | Flow, **inputs: Any) -> dict[str, Any]:
        answer = self._run(program, self.m, {name: x for name, x in inputs.items() if x is not None})
        self._note(answer.singular)
        return answer.results

    def _note(self, singular: Array) -> None:
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
        from modurob.algorithms import descent  # which is found with programs

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
        from modurob.algorithms import forces as own  # which are found with programs

        tau = own.joint_efforts(self.m, t, q, v, x, ahead)
        if slide is not None:
            tau = tau - slide * own.dry_friction(self.m, v)
        pushes = own.frame_pushes(self.m, t, q, v, x, self._run, contacts)
        external, tau = (None, tau) if pushes is None else (pushes.wrenches, tau + pushes.tau)
        rate = own.force_rates(self.m, t, q, v, x, self._run)
        slope = None if ahead is None else own.slope_ahead(self.m, t, q, v, x, ahead)
        return Forces(tau, external, rate, slope)

    def lines(self, q: Array, v: Array) -> dict[str, Array]:
        from modurob.algorithms import lines as own

        return own.standing(self.m, q, v, self._run)

    def line_drifts(self, q: Array, v: Array) -> Array:
        from modurob.algorithms import lines as own

        return own.drifts(self.m, q, v)

    def contact_pushes(self, start: Any, known: Any, x: Array, dt: Array, last: bool) -> tuple[Array, Array]:
        from modurob.algorithms import contact

        return contact.contact_pushes(self.m, start, known, x, dt[..., 0], last)

    def contact_states(self, start: Any, known: Any, end: Any, x: Array, rate: Array, dt: Array) -> Array:
        from modurob.algorithms import contact

        return contact.contact_states(self.m, start, known, end, x + rate * dt, dt[..., 0])

    def pair_pushes(self, q: Array, start: Any, known: Any, x: Array, dt: Array, last: bool) -> tuple[Array, Array]:
        from modurob.algorithms import pairs

        return pairs.pair_pushes(self.m, q, start, known, x, dt[..., 0], last)

    def pair_bias(self, q: Array, start: Any, G: Array, rates: Array) -> Array:
        from modurob.algorithms import pairs

        return pairs.pair_bias(self.m, q, start, G, rates)

    def coupled(self, M: Array, q: Array, G: Array) -> Array:
        from modurob.algorithms import pairs

        return M + pairs.coupling(self.m, self.run(pairs.COLUMNS, q=q)["S"], G)

    def balanced(self, before: Any, after: Any, v: Array, dt: Array) -> Array:
        from modurob.algorithms import momenta

        return momenta.balanced(self.m, before, after, v, dt[..., 0])

    def pair_states(self, start: Any, known: Any, end: Any, x: Array, dt: Array) -> Array:
        from modurob.algorithms import pairs

        return pairs.pair_states(self.m, start, known, end, x, dt[..., 0])

    def advanced(self, V: Array, rate: Array, dt: Array) -> Array:
        return V + rate * dt[..., None]

    def resisted(self, M: Array, resistance: Array) -> Array:
        return M + resistance[..., None] * np.eye(self.m.nv)

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

    def constrained(self, M: Array, K: Array, push: tuple[Array, Array], k: Array) -> tuple[Array, Array]:
        vdot, multipliers, singular = constrained_solution(M + np.diag(self.m.armature), K, push[0] - push[1], k)
        self._note(-singular.astype(int))
        return vdot, multipliers

    def nearest(self, K: Array, k: Array) -> Array:
        one = np.broadcast_to(np.eye(self.m.nv), (*K.shape[:-2], self.m.nv, self.m.nv))
        return constrained_solution(one, K, np.zeros(K.shape[:-2] + K.shape[-1:]), k).vdot

    def product(self, A: Array, x: Array) -> Array:
        return apply(A, x)

    def held(self, terms: dict[str, Array], tau: Array, free: Array) -> tuple[Array, Array]:
        """Accelerations of constrained motion with some rates held, and the forces that hold them, beside tau."""
        M = terms["M"] + np.diag(self.m.armature)
        vdot, reaction, singular = held_solution(M, terms["K"], tau - terms["bias"], terms["k"], free)
        self._note(-singular.astype(int))
        return vdot, reaction

    def solved_slopes(self, M: Array, by_q: Array, by_v: Array) -> Array:
        one = np.broadcast_to(np.eye(self.m.nv), M.shape)
        return solve(M + np.diag(self.m.armature), np.concatenate([-by_q, -by_v, one], axis=-1))


class _Run:
    """One run: fields and sums of all bodies, and the results."""

    def __init__(self, program: Program, m: Tables, inputs: dict[str, Array]):
        self.program, self.m, self.inputs = program, m, inputs
        self.shape = leading(program.inputs, inputs)
        self.fields: list[dict[str, Array]] = [program.world(m), *({} for _ in m.joints)]
        self.sums: list[dict[str, Any]] = [{} for _ in m.bodies]
        self.emitted: list[dict[str, Array]] = [{} for _ in m.bodies]
        self.columns: list[dict[str, Array]] = [{} for _ in m.bodies]
        self.singular = np.zeros(self.shape, dtype=int)
        n, kinds = m.nv, program.results
        wide = {"matrix": n, "slopes": 3 * n}
        self.matrices = {
            name: np.zeros((*self.shape, n, wide[k]), self._dtype()) for name, k in kinds.items() if k in wide
        }
        self.rows: dict[str, list[Array]] = {name: [] for name, kind in kinds.items() if kind in ("rows", "row matrix")}
        self.shared = {j.v_slice.start for j in m.joints if j.mimics}
        self.views = [_NumPyView(self, i) for i in range(1, len(m.bodies))]

    def answer(self) -> Answer:
        for walk in self.program.passes:
            if isinstance(walk, Outward | Inward):
                for view in self.views if isinstance(walk, Outward) else reversed(self.views):
                    walk.step(view)
            elif isinstance(walk, Climb):
                self._climb(walk)
            elif isinstance(walk, Pairs):
                self._pairs(walk)
            elif isinstance(walk, Sweep):
                self._sweep()
            else:
                self._constraints(walk)
        return Answer({name: self._result(name, kind) for name, kind in self.program.results.items()}, self.singular)

    # ---- passes over pairs of joints ----

    def _climb(self, walk: Climb) -> None:
        (M,) = self.matrices.values()
        for view in self.views:
            column = view.own(walk.start)
            own = view.joint.v_slice
            M[..., own, own] += np.swapaxes(walk.felt(view, column), -1, -2)
            column = walk.lifted(view, column)
            for i in self.m.ancestors[view.body][1:]:
                above = self.views[i - 1]
                block = np.swapaxes(walk.felt(above, column), -1, -2)
                M[..., above.joint.v_slice, own] += block
                M[..., own, above.joint.v_slice] += np.swapaxes(block, -1, -2)
                column = walk.lifted(above, column)

    def _pairs(self, walk: Pairs) -> None:
        for view in self.views:
            for k in range(view.nv):
                for i in self.m.ancestors[view.body]:
                    walk.step(_NumPyPair(self, view, k, self.views[i - 1]))

    def _sweep(self) -> None:
        """All columns at once: (..., 6, 3 nv)."""
        n, (out,) = self.m.nv, self.matrices.values()
        out[..., 2 * n :] -= np.eye(n)
        wrenches = [np.zeros((*self.shape, 6, 3 * n), out.dtype) for _ in self.m.bodies]
        for view in reversed(self.views):
            p, own = wrenches[view.body], view.joint.v_slice
            by_v = slice(n + own.start, n + own.stop)
            p[..., own] += transposed(view.own("by_q"))
            p[..., by_v] += transposed(view.own("by_v"))
            for k in reversed(range(view.nv)):
                S, U, r = (view.own(name)[..., k, :] for name in ("S", "U", "r"))
                row = -r * (dot(S[..., None, :], transposed(p)) + out[..., own.start + k, :])
                out[..., own.start + k, :] = row
                p += U[..., :, None] * row[..., None, :]
            p[..., own] += transposed(view.own("F"))
            wrenches[self.m.parent[view.body]] += p
        self._sweep_out(out)

    def _sweep_out(self, out: Array) -> None:
        n = self.m.nv
        zero = np.zeros((*self.shape, 6, 3 * n), out.dtype)
        motion = [(zero, zero[..., :3, :])]
        for view in self.views:
            A, w = (x.copy() for x in motion[self.m.parent[view.body]])
            own = view.joint.v_slice
            for k in range(view.nv):
                S, U, C, r = (view.own(name)[..., k, :] for name in ("S", "U", "C", "r"))
                row = out[..., own.start + k, :]
                row -= r * (dot(U[..., None, :], transposed(A)) + dot(C[..., None, :], transposed(w)))
                A += S[..., :, None] * row[..., None, :]
            for start, a, turn in ((0, "dd", view.own("dw")), (n, "e", view.own("S")[..., 3:])):
                mine = slice(start + own.start, start + own.stop)
                A[..., mine] += transposed(view.own(a))
                w[..., mine] += transposed(turn)
            motion.append((A, w))

    def _constraints(self, walk: Constraints) -> None:
        for c in self.m.constraints:
            if isinstance(c, Loop):
                walk.step(_NumPyLoop(self, c))
            else:
                self._couple(c)

    def _couple(self, c: Coupling) -> None:
        """sum of ratio times coordinate = offset."""
        K, error = np.zeros((1, self.m.nv)), np.array([-c.offset])
        for i, ratio in zip(c.joints, c.ratios, strict=True):
            j = self.m.joints[i]
            K[0, j.v_slice] += ratio * j.ratio
            error = error + ratio * (j.ratio * self.inputs["q"][..., j.q_slice] + j.offset)
        for name, x in (("K", K), ("error", error), ("k", np.zeros(1))):
            if name in self.rows:
                self.rows[name].append(x)

    def _dtype(self) -> Any:
        return np.result_type(*self.inputs.values(), self.m.inertia, self.m.X_PJ)

    # ---- results ----

    def _result(self, name: str, kind: str) -> Array:
        if kind in ("matrix", "slopes"):
            return self.matrices[name]
        if kind in ("rows", "row matrix"):
            return self._stacked(self.rows[name], () if kind == "rows" else (self.m.nv,))
        each = [e[name] for e in self.emitted[1:]]
        dtype = np.result_type(self._dtype(), *each)
        if kind in ("rates", "coordinates", "vectors"):
            return self._gathered(each, kind, dtype)
        tail = each[0].shape[len(self.shape) :] if each else {"poses": (3, 4), "twists": (6,), "bodies": ()}[kind]
        out = np.empty((*self.shape, len(each), *tail), dtype=dtype)
        for i, x in enumerate(each):
            out[(..., i, *[slice(None)] * len(tail))] = x
        return out

    def _stacked(self, rows: list[Array], tail: tuple[int, ...]) -> Array:
        empty = np.zeros((*self.shape, 0, *tail), dtype=self._dtype())
        whole = [np.broadcast_to(x, (*self.shape, *x.shape[x.ndim - 1 - len(tail) :])) for x in rows]
        return np.concatenate([empty, *whole], axis=-1 - len(tail))

    def _gathered(self, each: list[Array], kind: str, dtype: Any) -> Array:
        """What each joint has, stacked; a mimic adds to its source."""
        if kind == "vectors":
            out = np.zeros((*self.shape, 6, self.m.nv), dtype=dtype)
        else:
            out = np.zeros((*self.shape, self.m.nq if kind == "coordinates" else self.m.nv), dtype=dtype)
        for joint, x in zip(self.m.joints, each, strict=True):
            if kind == "coordinates":
                out[..., joint.q_slice] = x
            else:
                out[..., joint.v_slice] += x
        return out


def _axes(kind: str | int) -> int:
    """Axes of an input behind the leading ones."""
    return {"wrenches": 2, "inertias": 3}.get(str(kind), 1)


def reference(m: Tables, q: Array) -> Array:
    """A point near the robot, (..., 3): where its floating base is, else where it stands. About it nothing large cancels."""
    return q[..., :3] if floats(m) else stand(m)


def stand(m: Tables) -> Array:
    """Where the first joint of a robot that does not float stands in the world, (3,)."""
    return se3.position(m.X_PJ[1]) if m.joints else np.zeros(3)


def floats(m: Tables) -> bool:
    """Whether the first coordinates are the position of a body in the world."""
    return bool(m.joints) and isinstance(m.joints[0].type, Free) and np.array_equal(m.X_PJ[1], np.eye(4))


class _NumPyView:
    """A joint, as `View` says."""

    def __init__(self, run: _Run, body: int):
        self._run, self.body = run, body
        self.joint: Joint = run.m.joints[body - 1]
        self.type, self.nv = self.joint.type, self.joint.type.nv
        self.follows, self.hub, self.ratio = self.joint.mimics, body in run.m.hubs, 1.0
        self.shares = self.joint.v_slice.start in run.shared

    @cached_property
    def link(self) -> Dyad:
        return dyad(self.type, self._run.m.X_PJ[self.body], self._q)

    @cached_property
    def _q(self) -> Array:
        return self._run.inputs["q"][..., self.joint.q_slice]

    @property
    def X(self) -> Array:
        return self.link.X

    @property
    def S(self) -> Array:
        return self.link.S

    @property
    def inertia(self) -> Array:
        return self._run.m.inertia[self.body]

    @property
    def armature(self) -> Array:
        return self.joint.ratio**2 * self.joint.armature

    @property
    def gravity(self) -> Array:
        return self._run.m.gravity

    def bias(self, v: Array) -> Array:
        return self.type.bias(self._q, v)

    def given(self, name: str) -> Array:
        kind, x = self._run.program.inputs[name], self._run.inputs.get(name)
        if kind == "reference":
            return reference(self._run.m, self._run.inputs["q"])
        if kind in ("wrenches", "inertias"):
            shape = (6,) if kind == "wrenches" else (6, 6)
            return np.zeros(shape) if x is None else x[(..., self.body, *[slice(None)] * len(shape))]
        assert x is not None
        if isinstance(kind, int):
            return x
        if kind == "bodies":
            return x[..., self.body]
        return x[..., self.joint.q_slice if kind == "coordinates" else self.joint.v_slice]

    def parent(self, name: str) -> Array:
        return self._run.fields[self._run.m.parent[self.body]][name]

    def children(self, name: str) -> Any:
        return self._run.sums[self.body].get(name, 0.0)

    def own(self, name: str) -> Array:
        kept = self._run.fields[self.body]
        return kept[name] if name in kept else self._run.columns[self.body][name]

    def keep(self, **fields: Array) -> None:
        self._run.fields[self.body].update(fields)

    def send(self, **sums: Array) -> None:
        above = self._run.sums[self._run.m.parent[self.body]]
        for name, x in sums.items():
            above[name] = above[name] + x if name in above else x

    def emit(self, **results: Array) -> None:
        self._run.emitted[self.body].update({name: np.asarray(x) for name, x in results.items()})

    def columns(self, **columns: Array) -> None:
        self._run.columns[self.body].update(columns)

    def add_block(self, **blocks: Array) -> None:
        for name, x in blocks.items():
            self._run.matrices[name][..., self.joint.v_slice, self.joint.v_slice] += x

    def column(self, name: str) -> Array:
        return self._run.columns[self.body][name]

    def slope(self, function: Callable[[Array], Array]) -> Array:
        """By complex steps along the rates of the joint."""
        directions = 1j * TINY * np.eye(self.nv)
        return np.stack([np.imag(function(self.type.integrate(self._q, d))) / TINY for d in directions], axis=-1)

    def require(self, pivot: Array, scale: Array) -> None:
        pivot = np.asarray(pivot)
        if is_numeric(pivot):
            bad = (np.real(pivot) <= SINGULAR * np.real(scale)).any(axis=-1)
            self._run.singular = np.where((self._run.singular == 0) & bad, self.body, self._run.singular)


class _NumPyPair:
    """Rate k of one joint against all rates of a joint it hangs on, or of its own."""

    def __init__(self, run: _Run, below: _NumPyView, k: int, above: _NumPyView):
        self._run, self._below, self._k, self._above = run, below, k, above

    def a(self, name: str) -> Array:
        """A column of the rate below, (..., 1, k)."""
        return self._below.column(name)[..., self._k : self._k + 1, :]

    def b(self, name: str) -> Array:
        """The columns of the joint above, (..., nv, k)."""
        return self._above.column(name)

    def emit(self, **results: Array) -> None:
        """Entries of row a and columns b, (..., nv)."""
        row = self._below.joint.v_slice.start + self._k
        for name, x in results.items():
            self._run.matrices[name][..., row, self._above.joint.v_slice] += x

    def emit_above(self, **results: Array) -> None:
        """Entries of rows b and column a, (..., nv); those of the own joint are all rows a."""
        if self._above is not self._below:
            column = self._below.joint.v_slice.start + self._k
            for name, x in results.items():
                self._run.matrices[name][..., self._above.joint.v_slice, column] += x


class _NumPyLoop:
    """A loop joint between two bodies."""

    def __init__(self, run: _Run, loop: Loop):
        self._run, self._loop, self.type = run, loop, loop.type

    def _frame(self, end: str) -> Frame:
        return getattr(self._loop, end)

    def pose(self, end: str) -> Array:
        """The frame at an end, from the reference point in world axes, (..., 4, 4)."""
        frame, origin = self._frame(end), reference(self._run.m, self._run.inputs["q"])
        rows = self._run.fields[frame.body]["X"]
        X = se3.pose(rows[..., :3], rows[..., 3] - origin)
        return X @ frame.X

    def motion(self, end: str) -> tuple[Array, Array]:
        """Twist and acceleration of the body at an end."""
        fields = self._run.fields[self._frame(end).body]
        return fields["V"], fields["A"]

    def wrenches(self, T: Array) -> None:
        """Rows of K: T . S for the rates that move the successor alone, -T . S for those that move the predecessor alone."""
        m = self._run.m
        below, above = (set(m.ancestors[self._frame(end).body]) for end in ("successor", "predecessor"))
        K = np.zeros((*self._run.shape, T.shape[-2], m.nv), dtype=np.result_type(T, self._run._dtype()))
        for bodies, sign in ((below - above, 1), (above - below, -1)):
            for i in bodies:
                K[..., m.joints[i - 1].v_slice] += sign * (T @ np.swapaxes(self._run.columns[i]["S"], -1, -2))
        self._run.rows["K"].append(K)

    def emit(self, **rows: Array) -> None:
        for name, x in rows.items():
            self._run.rows[name].append(x)
