"""The compiled side of a robot: which calls it can answer, and the answers.

Every method returns what the function of the same name in `modurob.algorithms` returns, or None where only that can answer:
robots with loops or joints that mimic, scalars that are not floats, and machines without a compiler.
"""

import importlib.util
import os
import sys
import sysconfig
import warnings
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, cached_property
from importlib import resources
from typing import Any

import numpy as np

from modurob.algorithms.inverse import External, body_wrenches
from modurob.algorithms.kinematics import Poses, together
from modurob.algorithms.stepping import NO_SPRINGS, LimitSprings
from modurob.errors import KernelError, ModurobWarning
from modurob.kernels.compiler import library, notes_of
from modurob.kernels.kernel import Kernel, is_ready
from modurob.kernels.programs import PROGRAMS
from modurob.kernels.stepper import STEPPER_PROGRAMS, Stepper
from modurob.mechanism import Tables
from modurob.spatial.scalars import Array

# accelerations beyond this are left to the definition: a freedom without inertia answers with rounding errors over nothing
LARGEST = {np.dtype(np.float64): 1e10, np.dtype(np.float32): 1e6}
UNBOUNDED = {np.dtype(np.float64): np.inf, np.dtype(np.float32): np.inf}
# calls are answered by NumPy until so many single states, or states in batches, have been asked for: then compiling pays
PATIENCE = 64
BATCH_PATIENCE = 512
# fewer states times freedoms are not worth a second thread
WORTH_A_THREAD = 20_000

_threads = 0


def set_threads(threads: int | None) -> None:
    """Use so many threads for batches; None for all cores. Results do not depend on it."""
    global _threads
    if threads is not None and threads < 1:
        raise KernelError(f"{threads} threads: expected one or more, or None for all cores")
    _threads = threads or 0


def thread_count() -> int:
    """Threads used for large batches: those of `set_threads`, else of MODUROB_THREADS, else all cores."""
    asked = _threads or int(os.environ.get("MODUROB_THREADS") or 0)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return asked or cores


@cache
def _warn_once(reason: str) -> None:
    warnings.warn(f"no compiled kernels, NumPy serves: {reason}", ModurobWarning, stacklevel=5)


class Fast:
    """Kernels of one mechanism, made when they are first needed."""

    def __init__(self, m: Tables, patient: bool = True):
        """Not `patient`: batches are compiled for at once."""
        self._m, self._patient = m, patient
        self._kernels: dict[tuple[str, np.dtype, int | None], Any] = {}
        self._handles: dict[str, Any] = {}
        self._asked: dict[tuple[str, np.dtype, int | None], int] = {}
        self._ready: set[tuple[str, np.dtype, int | None]] = set()
        self._coming: dict[str, Future[Any]] = {}

    @cached_property
    def _possible(self) -> bool:
        """Whether there are kernels for this mechanism: it moves, in numbers, each joint by itself."""
        m = self._m
        exact = any(x.dtype == object for x in (m.X_PJ, m.inertia, m.gravity, m.armature, m.damping))
        return m.nv > 0 and not m.coupled and not exact

    def kernel(self, name: str, dtype: Any = np.float64, lanes: int | None = None) -> Any:
        """The compiled program of that name, or the stepper for "advance"."""
        key = name, np.dtype(dtype), lanes
        if key not in self._kernels:
            make = Stepper(self._m, *key[1:]) if name == "advance" else Kernel(self._m, PROGRAMS[name], *key[1:])
            self._kernels[key] = make
        return self._kernels[key]

    def _kernel_for(self, name: str, inputs: tuple[Array, ...]) -> Any:
        """The kernel for a batch of these types, or None."""
        dtypes = {x.dtype for x in inputs}
        if not self._possible or not dtypes <= {np.dtype(np.float32), np.dtype(np.float64)}:
            return None
        dtype = np.dtype(np.float32) if dtypes == {np.dtype(np.float32)} else np.dtype(np.float64)
        states = max(x.size // max(1, x.shape[-1]) for x in inputs)
        if not self._pays(name, dtype, None, states, BATCH_PATIENCE):
            return None
        try:
            return self.kernel(name, dtype)
        except KernelError as error:
            _warn_once(str(error))
            return None

    # ---- answers ----

    def forward_dynamics(self, q: Array, v: Array, tau: Array, external: External = None) -> Array | None:
        if self._m.loops:
            return None
        return self._answer("forward_dynamics", *_together(q, v, tau), external=external, largest=LARGEST)

    def inverse_dynamics(self, q: Array, v: Array, vdot: Array, external: External = None) -> Array | None:
        return self._answer("inverse_dynamics", *_together(q, v, vdot), external=external)

    def bias_forces(self, q: Array, v: Array) -> Array | None:
        return self.inverse_dynamics(q, v, np.zeros(self._m.nv, v.dtype))

    def gravity_forces(self, q: Array) -> Array | None:
        return self.bias_forces(q, np.zeros(self._m.nv, q.dtype))

    def mass_matrix(self, q: Array) -> Array | None:
        M = self._answer("mass_matrix", q)
        return None if M is None else self.with_rotors(M.reshape(*q.shape[:-1], self._m.nv, self._m.nv))

    def with_rotors(self, M: Array) -> Array:
        """M with the rotor inertias on its diagonal."""
        return M if self._rotors is None else M + self._rotors.astype(M.dtype)

    @cached_property
    def _rotors(self) -> Array | None:
        return np.diag(self._m.armature) if self._m.armature.any() else None

    def forward_kinematics(self, q: Array) -> Poses | None:
        X = self._body_poses(q)
        return None if X is None else Poses(self._m, list(np.moveaxis(X, -3, 0)))

    def _body_poses(self, q: Array) -> Array | None:
        """X_WB of all bodies, (..., bodies, 4, 4)."""
        rows = self._answer("forward_kinematics", q)
        if rows is None:
            return None
        X = np.empty((*q.shape[:-1], len(self._m.bodies), 4, 4), rows.dtype)
        X[...] = np.eye(4)
        X[..., 1:, :3, :] = rows.reshape(*q.shape[:-1], -1, 3, 4)
        return X

    def jacobian(self, q: Array, frame: str) -> Array | None:
        at = self._m.frame(frame)
        X = self._body_poses(q)
        if X is None:
            return None
        point = (X[..., at.body, :, :] @ at.X.astype(X.dtype))[..., :3, 3]
        columns = self._answer("jacobian", q, np.zeros((*q.shape[:-1], self._m.nv), q.dtype), point)
        if columns is None:
            return None
        J = np.swapaxes(columns.reshape(*q.shape[:-1], self._m.nv, 6), -1, -2)
        return J * self._moves(at.body).astype(J.dtype)

    def _moves(self, body: int) -> Array:
        """1 for the rates that move a body, 0 for the others, (nv,)."""
        moves = np.zeros(self._m.nv)
        while body > 0:
            moves[self._m.joints[body - 1].v_slice] = 1
            body = self._m.parent[body]
        return moves

    def kinetic_energy(self, q: Array, v: Array) -> Array | None:
        each = self._answer("kinetic_energy", *_together(q, v))
        return None if each is None else each.sum(axis=-1)

    def potential_energy(self, q: Array) -> Array | None:
        each = self._answer("potential_energy", q)
        return None if each is None else each.sum(axis=-1)

    def integrate(self, q: Array, dq: Array) -> Array | None:
        # coordinates alone are added up quickly enough
        return None if self._m.nq == self._m.nv else self._answer("integrate", *_together(q, dq))

    def rate(self, q: Array, v: Array) -> Array | None:
        return None if self._m.nq == self._m.nv else self._answer("rate", *_together(q, v))

    def advance(
        self,
        q: Array,
        v: Array,
        tau: Array,
        dt: float,
        steps: int = 1,
        method: str = "runge_kutta_4",
        springs: LimitSprings = NO_SPRINGS,
        tabulated: bool = False,
    ) -> tuple[Array, Array] | None:
        nq, nv = self._m.nq, self._m.nv
        if self._m.loops or not steps:
            return None
        if q.ndim == v.ndim == tau.ndim == 1:
            handle = self._handle("advance")
            if handle is None:
                return None
            stepper = self.kernel("advance", lanes=1)
            with stepper.lock:
                stepper.set_once(dt, method, springs)
                state = _single().call(handle, q, v, tau, steps)
            return None if state is None else (state[:nq], state[nq:])
        stepper = self._kernel_for("advance", (q, v, tau))
        if stepper is None:
            return None
        table = tau.shape[-2:] if tabulated else tau.shape[-1:]
        shape = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], tau.shape[: -len(table)])
        states = int(np.prod(shape))
        torques = np.broadcast_to(np.asarray(tau, stepper.dtype), (*shape, *table)).reshape(states, *table)
        q_out, v_out = np.empty((states, nq), stepper.dtype), np.empty((states, nv), stepper.dtype)
        rows = [_rows(np.broadcast_to(x, (*shape, x.shape[-1])), stepper.dtype) for x in (q, v)]
        stepper(*rows, torques, q_out, v_out, dt, steps, method, springs, self._threads(states * steps))
        return q_out.reshape(*shape, nq), v_out.reshape(*shape, nv)

    def _threads(self, states: int) -> int:
        return thread_count() if states * self._m.nv >= WORTH_A_THREAD else 1

    def _answer(
        self, name: str, *inputs: Array, external: External = None, largest: Mapping[np.dtype, float] = UNBOUNDED
    ) -> Array | None:
        """Entries of the result, (..., entries), for inputs of equal leading axes; None if one is beyond `largest` or no number."""
        if external is not None:
            name, inputs = f"{name}_pushed", (*inputs[:2], self._with_wrenches(inputs[2], external))
            shape = inputs[2].shape[:-1]
            inputs = tuple(np.broadcast_to(x, (*shape, x.shape[-1])) for x in inputs)
        if inputs[0].ndim == 1:
            handle = self._handle(name)
            return None if handle is None else _single().call(handle, *map(np.ascontiguousarray, inputs))
        kernel = self._kernel_for(name, inputs)
        if kernel is None:
            return None
        rows = [_rows(x, kernel.dtype) for x in inputs]
        states = rows[0].shape[0]
        rows += [np.zeros((states, 0), kernel.dtype)] * (3 - len(rows))
        out = np.empty((states, kernel.entries), kernel.dtype)
        threads = self._threads(states)
        if not kernel(rows[0], rows[1], rows[2], out, threads, largest[kernel.dtype]):
            return None
        return out.reshape(*inputs[0].shape[:-1], kernel.entries)

    def _with_wrenches(self, tau: Array, external: External) -> Array:
        """Each joint's entries of tau followed by the wrench on its body, (..., nv + 6 joints)."""
        wrenches = body_wrenches(self._m, external)[1:]
        shape = np.broadcast_shapes(tau.shape[:-1], *(w.shape[:-1] for w in wrenches))
        pieces = [x for j, w in zip(self._m.joints, wrenches, strict=True) for x in (tau[..., j.v_slice], w)]
        return np.concatenate([np.broadcast_to(x, (*shape, x.shape[-1])) for x in pieces], axis=-1).astype(tau.dtype)

    # ---- one state ----

    def once(self, name: str, *inputs: Any) -> Array | None:
        """The result for one state of float64 arrays, unchecked arguments welcome; None where the long way must be taken."""
        handle = self._handles.get(name)
        return None if handle is None else _single().call(handle, *inputs)

    def _handle(self, name: str) -> Any:
        """What `call` takes, once enough states were asked for and the compiler, in the background, is done."""
        if name in self._handles:
            return self._handles[name]
        if not self._possible or not self._pays(name, np.dtype(np.float64), 1, 1, PATIENCE):
            return None
        if name not in self._coming:
            self._coming[name] = _background().submit(self._bound, name)
            if (name, np.dtype(np.float64), 1) in self._ready:
                self._coming[name].result()  # nothing to compile: worth waiting for
        if self._coming[name].done():
            self._handles[name] = self._coming.pop(name).result()
        return self._handles.get(name)

    def _pays(self, name: str, dtype: np.dtype, lanes: int | None, states: int, patience: int) -> bool:
        """Whether to go through compiled code: it is there already, or enough states were asked for to compile it."""
        key = name, dtype, lanes
        if not self._patient or key in self._ready:
            return True
        if key not in self._asked:
            programs = STEPPER_PROGRAMS if name == "advance" else (PROGRAMS[name],)
            if all(is_ready(self._m, program, dtype, lanes) for program in programs):
                self._ready.add(key)
                return True
        self._asked[key] = self._asked.get(key, 0) + states
        return self._asked[key] >= patience

    def compile(self, wanted: Iterable[tuple[str, int | None]]) -> None:
        """Have functions ready from now on, for single states (1) or batches (None); nothing happens where there are no kernels."""
        if not self._possible:
            return None
        for name, lanes in wanted:
            if self._m.loops and name in ("forward_dynamics", "advance"):
                continue
            try:
                self.kernel(name, lanes=lanes)
            except KernelError as error:
                return _warn_once(str(error))
            self._ready.add((name, np.dtype(np.float64), lanes))
        return self.wait()

    def wait(self) -> None:
        """Until what is compiled in the background is there."""
        for future in self._coming.values():
            future.result()

    def _bound(self, name: str) -> Any:
        nq, nv = self._m.nq, self._m.nv
        try:
            kernel, module = self.kernel(name, lanes=1), _single()
        except (KernelError, ImportError) as error:
            _warn_once(str(error))
            return None
        if name == "advance":
            return module.bind(*kernel.once(), nq, nv, nv, nq + nv, 0, 1, LARGEST[kernel.dtype])
        inputs = len(PROGRAMS[name].inputs)
        sizes = (*kernel.input_entries[:inputs], *[0] * (3 - inputs))
        shape = (nv, nv) if kernel.mass_matrix_of else (kernel.entries, 0)
        return module.bind(*kernel.once(*sizes), *sizes, *shape, kernel.mass_matrix_of, LARGEST[kernel.dtype])


def _together(*inputs: Array) -> list[Array]:
    """Inputs with equal leading axes, of the types they have."""
    if len({x.shape[:-1] for x in inputs}) == 1:
        return list(inputs)
    shape = together(*inputs)[0].shape[:-1]
    return [np.broadcast_to(x, (*shape, x.shape[-1])) for x in inputs]


def _rows(x: Array, dtype: np.dtype) -> Array:
    """x as (states, entries) at any strides, copied only where it must be."""
    return np.asarray(x, dtype).reshape(-1, x.shape[-1])


@cache
def _background() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="modurob-compiler")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_background.cache_clear)


@cache
def _single() -> Any:
    """The extension module for single states, compiled against this Python and NumPy."""
    text = (resources.files("modurob.kernels") / "c" / "single.c").read_text(encoding="utf-8")
    includes = (f"-I{sysconfig.get_paths()['include']}", f"-I{np.get_include()}")
    identity = f"/* Python {sys.version}, NumPy {np.__version__} */\n"
    at = library("single", identity + text, 1, False, includes)
    notes_of(at, lambda: (text, None))
    spec = importlib.util.spec_from_file_location("modurob_single", at.path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{at.path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
