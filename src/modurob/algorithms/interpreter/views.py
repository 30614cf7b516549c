"""What the local steps of a program see: a joint, a pair of rates, a loop joint, over arrays."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from modurob.algorithms.interpreter.reference import reference
from modurob.algorithms.program import SINGULAR
from modurob.algorithms.steps import Dyad, dyad
from modurob.caching import cached_property
from modurob.mechanism.tables import Frame, Joint, Loop
from modurob.spatial import se3
from modurob.spatial.scalars import Array, is_numeric

if TYPE_CHECKING:
    from modurob.algorithms.interpreter.passes import ProgramRun

# a complex step loses nothing to rounding, and nothing above it counts
TINY = 1e-20


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


class NumPyPair:
    """Rate k of one joint against all rates of a joint it hangs on, or of its own."""

    def __init__(self, run: "ProgramRun", below: NumPyView, k: int, above: NumPyView):
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


class NumPyLoop:
    """A loop joint between two bodies."""

    def __init__(self, run: "ProgramRun", loop: Loop):
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
        K = np.zeros((*self._run.shape, T.shape[-2], m.nv), dtype=np.result_type(T, self._run.dtype()))
        for bodies, sign in ((below - above, 1), (above - below, -1)):
            for i in bodies:
                K[..., m.joints[i - 1].v_slice] += sign * (T @ np.swapaxes(self._run.columns[i]["S"], -1, -2))
        self._run.rows["K"].append(K)

    def emit(self, **rows: Array) -> None:
        for name, x in rows.items():
            self._run.rows[name].append(x)
