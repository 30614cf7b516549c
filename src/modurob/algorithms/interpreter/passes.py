"""The passes of one program over all bodies of a mechanism, and its results."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from modurob.algorithms.interpreter.views import NumPyLoop, NumPyPair, NumPyPath, NumPyView, NumPyWeightedPath
from modurob.algorithms.program import Answer, Climb, Constraints, Inward, Outward, Pairs, Paths, Program, Sweep
from modurob.algorithms.steps import transposed
from modurob.mechanism.tables import Coupling, Loop, Tables
from modurob.spatial.scalars import Array


class ProgramRun:
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
        wide = {"matrix": n, "slopes": 3 * n, "regressor": 10 * len(m.joints)}
        self.matrices = {
            name: np.zeros((*self.shape, n, wide[k]), self.dtype()) for name, k in kinds.items() if k in wide
        }
        self.rows: dict[str, list[Array]] = {name: [] for name, kind in kinds.items() if kind in ("rows", "row matrix")}
        self.shared = {j.v_slice.start for j in m.joints if j.mimics}
        self.views = [NumPyView(self, i) for i in range(1, len(m.bodies))]

    def answer(self) -> Answer:
        for walk in self.program.passes:
            if isinstance(walk, Outward | Inward):
                for view in self.views if isinstance(walk, Outward) else reversed(self.views):
                    walk.step(view)
            elif isinstance(walk, Climb):
                self._climb(walk)
            elif isinstance(walk, Pairs):
                self._pairs(walk)
            elif isinstance(walk, Paths):
                self._paths(walk)
            elif isinstance(walk, Sweep):
                self._sweep(walk)
            else:
                self._constraints(walk)
        return Answer({name: self._result(name, kind) for name, kind in self.program.results.items()}, self.singular)

    # ---- passes over pairs of joints ----

    def _climb(self, walk: Climb) -> None:
        (M,) = self.matrices.values()
        for view in self.views:
            column = view.own(walk.start)
            own = view.joint.v_slice
            M[..., own, own] += np.swapaxes(walk.projected(view, column), -1, -2)
            column = walk.transformed(view, column)
            for i in self.m.ancestors[view.body][1:]:
                above = self.views[i - 1]
                block = np.swapaxes(walk.projected(above, column), -1, -2)
                M[..., above.joint.v_slice, own] += block
                M[..., own, above.joint.v_slice] += np.swapaxes(block, -1, -2)
                column = walk.transformed(above, column)

    def _pairs(self, walk: Pairs) -> None:
        for view in self.views:
            for k in range(view.nv):
                for i in self.m.ancestors[view.body]:
                    walk.step(NumPyPair(self, view, k, self.views[i - 1]))

    def _paths(self, walk: Paths) -> None:
        for view in self.views:
            path = [self.views[i - 1] for i in self.m.ancestors[view.body]]
            if walk.weights:
                walk.step(NumPyWeightedPath(self, view, path, self.inputs[walk.weights]))
                continue
            for above in path:
                walk.step(NumPyPath(self, view, above))

    def _sweep(self, walk: Sweep) -> None:
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
                S, K, r = (view.own(name)[..., k, :] for name in ("S", "K", "r"))
                row = out[..., own.start + k, :]
                row[...], p = walk.inward(S, K, r, p, row)
            p[..., own] += transposed(view.own("F"))
            wrenches[self.m.parent[view.body]] += p
        self._sweep_out(walk, out)

    def _sweep_out(self, walk: Sweep, out: Array) -> None:
        n = self.m.nv
        zero = np.zeros((*self.shape, 6, 3 * n), out.dtype)
        motion = [(zero, zero[..., :3, :])]
        for view in self.views:
            A, w = (x.copy() for x in motion[self.m.parent[view.body]])
            own = view.joint.v_slice
            for k in range(view.nv):
                S, K, C = (view.own(name)[..., k, :] for name in ("S", "K", "C"))
                row = out[..., own.start + k, :]
                row[...], A = walk.outward(S, K, A, C, w, row)
            for start, a, turn in ((0, "dd", view.own("dw")), (n, "e", view.own("S")[..., 3:])):
                mine = slice(start + own.start, start + own.stop)
                A[..., mine] += transposed(view.own(a))
                w[..., mine] += transposed(turn)
            motion.append((A, w))

    def _constraints(self, walk: Constraints) -> None:
        first = 0
        for c in self.m.constraints:
            if isinstance(c, Loop):
                walk.step(NumPyLoop(self, c, first, walk))
            else:
                self._couple(c)
            first += c.rows

    def _couple(self, c: Coupling) -> None:
        """sum of ratio times coordinate = offset."""
        K, error = np.zeros((1, self.m.nv)), np.array([-c.offset])
        for i, ratio in zip(c.joints, c.ratios, strict=True):
            j = self.m.joints[i]
            K[0, j.v_slice] += ratio * j.ratio
            error = error + ratio * (j.ratio * self.inputs["q"][..., j.q_slice] + j.offset)
        own = {"K": K, "error": error, "k": np.zeros(1)}
        for name, rows in self.rows.items():
            rows.append(own.get(name, np.zeros((1, self.m.nv))))

    def dtype(self) -> Any:
        return np.result_type(*self.inputs.values(), self.m.inertia, self.m.X_PJ)

    def require_floats(self, what: str) -> None:
        """For complex steps, which are of real numbers alone."""
        if self.dtype().kind != "f":
            raise TypeError(f"{what}: expected real numbers, found entries of type {self.dtype()}")

    # ---- results ----

    def _result(self, name: str, kind: str) -> Array:
        if name in self.matrices:
            return self.matrices[name]
        if kind in ("rows", "row matrix"):
            return self._stacked(self.rows[name], () if kind == "rows" else (self.m.nv,))
        each = [e[name] for e in self.emitted[1:]]
        dtype = np.result_type(self.dtype(), *each)
        if kind in ("rates", "coordinates", "vectors"):
            return self._gathered(each, kind, dtype)
        tail = each[0].shape[len(self.shape) :] if each else {"poses": (3, 4), "twists": (6,), "bodies": ()}[kind]
        out = np.empty((*self.shape, len(each), *tail), dtype=dtype)
        for i, x in enumerate(each):
            out[(..., i, *[slice(None)] * len(tail))] = x
        return out

    def _stacked(self, rows: list[Array], tail: tuple[int, ...]) -> Array:
        empty = np.zeros((*self.shape, 0, *tail), dtype=self.dtype())
        whole = [np.broadcast_to(x, (*self.shape, *x.shape[x.ndim - 1 - len(tail) :])) for x in rows]
        return np.concatenate([empty, *whole], axis=-1 - len(tail))

    def _gathered(self, each: list[Array], kind: str, dtype: Any) -> Array:
        """The results of all joints, stacked; those of a mimic joint are added to those of its source."""
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


def leading(kinds: Mapping[str, str | int], inputs: Mapping[str, Array]) -> tuple[int, ...]:
    """The leading axes that the inputs have in common."""
    return next((x.shape[: x.ndim - _axes(kinds[name])] for name, x in inputs.items()), ())


def _axes(kind: str | int) -> int:
    """Axes of an input behind the leading ones."""
    return {"wrenches": 2, "matrix": 2, "inertias": 3}.get(str(kind), 1)
