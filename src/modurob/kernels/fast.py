"""The compiled side of a robot: which calls it can answer, and the answers."""

import importlib.util
import os
import sys
import sysconfig
import warnings
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from modurob.errors import KernelError, ModurobWarning
from modurob.kernels.compiler import find_compiler, library
from modurob.kernels.kernel import Kernel
from modurob.kernels.local import Program
from modurob.kernels.programs import PROGRAMS
from modurob.mechanism import Tables
from modurob.spatial.scalars import Array

# results beyond this are looked at again by the definition: a freedom without inertia answers with rounding errors over nothing
LARGEST = {np.dtype(np.float64): 1e10, np.dtype(np.float32): 1e5}
# single states go through NumPy until so many have been asked for: then compiling pays
PATIENCE = 64
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
    """Threads used for large batches."""
    asked = _threads or int(os.environ.get("MODUROB_THREADS", "0") or 0)
    return asked or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else asked or os.cpu_count() or 1


@cache
def _warn_once(reason: str) -> None:
    warnings.warn(f"no compiled kernels, NumPy serves: {reason}", ModurobWarning, stacklevel=4)


class Fast:
    """Kernels of one mechanism, made when they are first needed."""

    def __init__(self, m: Tables):
        self._m = m
        self._kernels: dict[tuple[str, np.dtype, int | None], Kernel] = {}
        self._once: dict[str, Any] = {}
        self._calls: dict[str, int] = {}

    @property
    def obstacle(self) -> str | None:
        """Why this mechanism has no kernels, or None."""
        m = self._m
        if (
            m.coupled
            or not m.joints
            or m.X_PJ.dtype == object
            or m.inertia.dtype == object
            or m.gravity.dtype == object
        ):
            return "joints that mimic, symbols, or nothing that moves"
        return None

    def kernel(self, name: str, dtype: Any = np.float64, lanes: int | None = None) -> Kernel:
        """The compiled program of that name."""
        key = name, np.dtype(dtype), lanes
        if key not in self._kernels:
            self._kernels[key] = Kernel(self._m, PROGRAMS[name], dtype, lanes)
        return self._kernels[key]

    def batch(self, name: str, *inputs: Array) -> Array | None:
        """The result over the broadcast leading axes, (..., entries), or None where only the definition can answer."""
        dtypes = {x.dtype for x in inputs}
        dtype = np.dtype(np.float32) if dtypes == {np.dtype(np.float32)} else np.dtype(np.float64)
        if self.obstacle or not dtypes <= {np.dtype(np.float32), np.dtype(np.float64)}:
            return None
        try:
            kernel = self.kernel(name, dtype)
        except KernelError as error:
            _warn_once(str(error))
            return None
        shape = np.broadcast_shapes(*(x.shape[:-1] for x in inputs))
        flat = [self._rows(x, shape, dtype) for x in inputs]
        states = int(np.prod(shape))
        flat += [np.zeros((states, 0), dtype)] * (3 - len(flat))
        out = np.empty((states, kernel.entries), dtype)
        threads = thread_count() if states * self._m.nv >= WORTH_A_THREAD else 1
        kernel(flat[0], flat[1], flat[2], out, threads)
        return out.reshape(*shape, kernel.entries)

    @staticmethod
    def _rows(x: Array, shape: tuple[int, ...], dtype: np.dtype) -> Array:
        """x as (states, entries) at any strides, copied only where it must be."""
        x = np.asarray(x, dtype)
        return np.broadcast_to(x, (*shape, x.shape[-1])).reshape(-1, x.shape[-1])

    # ---- one state ----

    def once(self, name: str) -> Any:
        """A handle for `call`, or None until enough states were asked for, or where there is no compiler."""
        if name in self._once:
            return self._once[name]
        self._calls[name] = self._calls.get(name, 0) + 1
        if self._calls[name] < PATIENCE:
            return None
        self._once[name] = self._bound(name)
        return self._once[name]

    def _bound(self, name: str) -> Any:
        program: Program = PROGRAMS[name]
        if self.obstacle or find_compiler() is None:
            return None
        try:
            kernel, module = self.kernel(name, lanes=1), _single()
        except (KernelError, ImportError) as error:
            _warn_once(str(error))
            return None
        sizes = [self._m.nq, *[self._m.nv] * (len(program.inputs) - 1)]
        sizes += [0] * (3 - len(sizes))
        rows = self._m.nv if kernel.mass_matrix_of else kernel.entries
        work = kernel.make_work(*sizes)
        columns = self._m.nv if kernel.mass_matrix_of else 0
        largest = LARGEST[np.dtype(np.float64)]
        return module.bind(work, kernel.address_of_once(), *sizes, rows, columns, kernel.mass_matrix_of, largest)


def call(handle: Any, *inputs: Any) -> Array | None:
    """One state through a handle of `Fast.once`; None where the long way must be taken."""
    return _single().call(handle, *inputs)


@cache
def _single() -> Any:
    """The extension module for single states, compiled against this Python and NumPy."""
    text = (resources.files("modurob.kernels") / "c" / "single.c").read_text(encoding="utf-8")
    includes = (f"-I{sysconfig.get_paths()['include']}", f"-I{np.get_include()}")
    identity = f"/* Python {sys.version}, NumPy {np.__version__} */\n"
    path = library(identity + text, "single", 1, False, includes)
    spec = importlib.util.spec_from_file_location("modurob_single", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
