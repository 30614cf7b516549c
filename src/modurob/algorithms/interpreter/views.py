"""The views of the local steps of a program, over arrays: a joint, a pair of rates, a loop joint."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from modurob.algorithms.complex_steps import TINY, complex_step
from modurob.algorithms.interpreter.reference import reference
from modurob.algorithms.program import Constraints, is_singular
from modurob.algorithms.steps import Dyad, dyad
from modurob.caching import cached_property
from modurob.mechanism.tables import Frame, Joint, Loop
from modurob.spatial import se3
from modurob.spatial.scalars import Array, is_numeric

if TYPE_CHECKING:
    from modurob.algorithms.interpreter.passes import ProgramRun


class NumPyView:
    """A joint, as `View` says."""

    def __init__(self, run: "ProgramRun", body: int):
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
    def frame(self) -> Array:
        return se3.IDENTITY

    @property
    def armature(self) -> Array:
        return self.joint.ratio**2 * self.joint.armature

    @property
    def gravity(self) -> Array:
        return self._run.m.gravity

    def bias(self, v: Array) -> Array:
        return self.type.bias(self._q, v)

    def subspace_rate(self, v: Array) -> Array:
        return self.type.subspace_rate(self._q, v)

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
        self._run.require_floats(f"derivatives at {self.joint.name}, whose motion subspace turns")
        directions = 1j * TINY * np.eye(self.nv)
        return np.stack([np.imag(function(self.type.integrate(self._q, d))) / TINY for d in directions], axis=-1)

    def require(self, pivot: Array, scale: Array) -> None:
        if is_numeric(np.asarray(pivot)):
            bad = (self._run.singular == 0) & is_singular(pivot, scale)
            self._run.singular = np.where(bad, self.body, self._run.singular)


class NumPyPair:
    """Rate k of one joint, and all rates of one of its ancestors or of itself, as `PairView` says."""

    def __init__(self, run: "ProgramRun", below: NumPyView, k: int, above: NumPyView):
        self._run, self._below, self._k, self._above = run, below, k, above

    def a(self, name: str) -> Array:
        return self._below.column(name)[..., self._k : self._k + 1, :]

    def b(self, name: str) -> Array:
        return self._above.column(name)

    def emit(self, **results: Array) -> None:
        row = self._below.joint.v_slice.start + self._k
        for name, x in results.items():
            self._run.matrices[name][..., row, self._above.joint.v_slice] += x

    def emit_above(self, **results: Array) -> None:
        # entries between rates of one joint are all in rows a
        if self._above is not self._below:
            column = self._below.joint.v_slice.start + self._k
            for name, x in results.items():
                self._run.matrices[name][..., self._above.joint.v_slice, column] += x


class NumPyPath:
    """A body, and the rates of one joint on its path, as `PathView` says."""

    def __init__(self, run: "ProgramRun", view: NumPyView, above: NumPyView):
        self._run, self._body, self._above, self._rows = run, view.body, above, above.joint.v_slice

    def body(self, name: str) -> Array:
        return self._run.fields[self._body][name]

    def rates(self, name: str) -> Array:
        return self._above.column(name)

    def emit(self, **results: Array) -> None:
        for name, x in results.items():
            self._run.matrices[name][..., self._rows, 10 * self._body - 10 : 10 * self._body] += x


class NumPyWeightedPath(NumPyPath):
    """A body, and for all rates weighted sums over those on its path."""

    def __init__(self, run: "ProgramRun", view: NumPyView, path: list[NumPyView], weights: Array):
        super().__init__(run, view, view)
        self._path, self._weights, self._rows = path, weights, slice(None)
        self._coordinates = np.concatenate([np.arange(run.m.nv)[above.joint.v_slice] for above in path])

    def rates(self, name: str) -> Array:
        columns = np.concatenate([above.column(name) for above in self._path], axis=-2)
        return self._weights[..., self._coordinates] @ columns


class NumPyLoop:
    """A loop joint between two bodies, as `LoopView` says."""

    def __init__(self, run: "ProgramRun", loop: Loop, first: int, walk: Constraints):
        self._run, self._loop, self._first, self._walk, self.type = run, loop, first, walk, loop.type

    def _frame(self, end: str) -> Frame:
        return getattr(self._loop, end)

    def pose(self, end: str) -> Array:
        frame, origin = self._frame(end), reference(self._run.m, self._run.inputs["q"])
        rows = self._run.fields[frame.body]["X"]
        X = se3.pose(rows[..., :3], rows[..., 3] - origin)
        return X @ frame.X

    def motion(self, end: str) -> tuple[Array, Array]:
        fields = self._run.fields[self._frame(end).body]
        return fields["V"], fields["A"]

    def given(self, name: str) -> Array:
        return self._run.inputs[name][..., self._first : self._first + self._loop.rows]

    def project(self, **vectors: tuple[Array, ...]) -> None:
        for name, T in vectors.items():
            out = np.zeros((*self._run.shape, self._loop.rows, self._run.m.nv), np.result_type(*T, self._run.dtype()))
            for body, sign in self._between().items():
                for x, column in zip(T, self._walk.projected[name], strict=True):
                    out[..., self._rates(body)] += sign * (x @ np.swapaxes(self._run.columns[body][column], -1, -2))
            self._run.rows[name].append(out)

    def add_wrench(self, F: Array) -> None:
        for end, sign in (("successor", 1), ("predecessor", -1)):
            fields = self._run.fields[self._frame(end).body]
            fields["F"] = fields["F"] + sign * F

    def turn(self, carried: Array, changed: Array | None) -> None:
        between, above = self._between(), dict.fromkeys(self._ancestors("predecessor"), 1)
        for W, rates in ((carried, above), (changed, between)):
            if W is not None:
                self._turn(W, rates, between)

    def _turn(self, W: Array, rates: dict[int, int], between: dict[int, int]) -> None:
        out, columns = self._run.matrices[self._walk.turned], self._run.columns
        for a, up in rates.items():
            for b, down in between.items():
                entries = columns[a]["S"] @ W @ np.swapaxes(columns[b]["S"], -1, -2)
                out[..., self._rates(a), self._rates(b)] -= up * down * entries

    def slopes(self, function: Callable[[Array, Array], Array], X: Array, V: Array) -> tuple[Array, Array]:
        """By complex steps."""
        self._run.require_floats(f"derivatives at the loop joint {self._loop.name}")
        axes = len(np.broadcast_shapes(X.shape[:-2], V.shape[:-1]))
        by_pose = complex_step(lambda d: function(X @ se3.exp(d), V), 6, axes)
        return by_pose, complex_step(lambda d: function(X, V + d), 6, axes)

    def _ancestors(self, end: str) -> set[int]:
        return set(self._run.m.ancestors[self._frame(end).body])

    def _between(self) -> dict[int, int]:
        """Ancestors of one end that are not ancestors of the other: 1 of the successor, -1 of the predecessor."""
        below, above = (self._ancestors(end) for end in ("successor", "predecessor"))
        return dict.fromkeys(below - above, 1) | dict.fromkeys(above - below, -1)

    def _rates(self, body: int) -> slice:
        return self._run.m.joints[body - 1].v_slice

    def emit(self, **rows: Array) -> None:
        for name, x in rows.items():
            self._run.rows[name].append(x)
