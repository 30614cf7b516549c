"""Single states, and several that one thread computes: the evaluator is called with as little Python in between as possible."""

import importlib.util
import sys
import sysconfig
from functools import cache, partial
from importlib import resources
from typing import Any

import numpy as np

from modurob.algorithms.checks import LONGEST, SHORTEST
from modurob.algorithms.program import Flow, Program
from modurob.errors import KernelError
from modurob.kernels.compiler import library, notes_of
from modurob.kernels.evaluator import ON_EVICTION, Key, compilable, evaluator, give_up, lanes_of, tail
from modurob.kernels.memory import LARGE, memory
from modurob.kernels.threads import WORTH_A_THREAD, thread_count
from modurob.kernels.units import beside
from modurob.mechanism import Tables
from modurob.mechanism.tables import current

# handles of evaluators by program and robot, for one state, and for several of float64 and of float32
_HANDLES: dict[str, dict[bytes, Any]] = {}
_SEVERAL: dict[str, dict[bytes, Any]] = {}
_SEVERAL_FLOATS: dict[str, dict[bytes, Any]] = {}
_call: Any = None
NOTHING: frozenset[str] = frozenset()


def once(program: Program | Flow, m: Tables, *inputs: Any, repeats: int = 1) -> Any:
    """The results for one state of float64 arrays, or for several of one precision, arguments unchecked; None where `running.run`
    must do it.

    It holds the interpreter's lock, and with it the one arena that all calls share; while a call for many states has released the
    lock, another call returns None.
    """
    try:
        handle = _HANDLES[program.name][m.key]
    except KeyError:
        if not _are_plain(inputs, 1):
            return _several(program, m, inputs) if repeats == 1 else None
        handle = _bound(_HANDLES, program, m, 1)
    found = None if handle is False else _call(handle, repeats, inputs)
    return _several(program, m, inputs) if found is None and repeats == 1 else found


def _several(program: Program | Flow, m: Tables, inputs: Any) -> Any:
    """The results for several states, (states, entries) each; None where `running.run` must do it."""
    first = inputs[0]
    if not (isinstance(first, np.ndarray) and first.ndim == 2 and len(first) > 1):
        return None
    if first.size >= WORTH_A_THREAD and thread_count() > 1:  # threads share them
        return None
    floats = first.dtype == np.float32
    if floats and m.constraints:  # these are computed in double precision
        return None
    handles = _SEVERAL_FLOATS if floats else _SEVERAL
    try:
        handle = handles[program.name][m.key]
    except KeyError:
        if not _are_plain(inputs, 2, np.float32 if floats else np.float64):
            return None
        handle = _bound(handles, program, m, lanes_of(floats))
    return None if handle is False else _call(handle, 1, inputs)


def _are_plain(inputs: Any, axes: int, dtype: Any = np.float64) -> bool:
    return all(isinstance(x, np.ndarray) and x.dtype == dtype and x.ndim == axes for x in inputs)


def _bound(handles: dict[str, dict[bytes, Any]], program: Program | Flow, m: Tables, lanes: int) -> Any:
    """The handle of a function of a robot; False where there is none."""
    known, many = handles.setdefault(program.name, {}), handles is not _HANDLES
    floats, m = handles is _SEVERAL_FLOATS, current(m)
    if m.key in known:
        return known[m.key]
    if many and lanes == 1:
        return known.setdefault(m.key, False)
    load = beside(extension) if compilable(m) else None
    found = evaluator(m, program, NOTHING, floats, lanes)
    if found is None or load is None:
        return known.setdefault(m.key, False)
    global _call
    try:
        module = load()
        _call = module.call
    except (KernelError, ImportError, OSError) as error:
        give_up(str(error))
        return known.setdefault(m.key, False)
    shapes = tuple(tail(program.results[name], m) for name in found.outputs)
    run = found.driver.address("several" if many else "once")
    ports = tuple(found.sizes), shapes, _quaternions(program.inputs[found.inputs[0]], m), SHORTEST, LONGEST
    return known.setdefault(m.key, module.bind(found.address, found.arena(), run, many, floats, *ports, found))


def _quaternions(kind: Any, m: Tables) -> tuple[int, ...]:
    """Where quaternions begin in an input of this kind: none but in coordinates."""
    return tuple(j.q_slice.stop - 4 for j in m.joints if kind == "coordinates" and j.type.nq > j.type.nv)


def row_function(run: int, data: int, entries: tuple[int, int], shape: tuple[int, int], owner: Any) -> Any:
    """The function of a pose (4, 4) and a start that answers with rows, as many as `pose_once` of poses.c counts, or with None
    where the definition must find them; None if there is no such function."""
    try:
        module = extension()
    except (KernelError, ImportError, OSError) as error:
        give_up(str(error))
        return None
    arena = np.empty(shape)
    handle = module.bind(data, arena.ctypes.data, run, False, False, entries, (shape,), (), 0.0, 0.0, (owner, arena))
    return partial(module.rows, handle)


def _drop(key: Key) -> None:
    for handles in (_HANDLES, _SEVERAL, _SEVERAL_FLOATS):
        handles.get(key.name, {}).pop(key.robot, None)


ON_EVICTION.append(_drop)


@cache
def extension() -> Any:
    """The extension module that takes arrays from Python, compiled against this Python and NumPy."""
    text = (resources.files("modurob.kernels") / "c" / "single.c").read_text(encoding="utf-8")
    includes = (f"-I{sysconfig.get_paths()['include']}", f"-I{np.get_include()}")
    identity = f"/* Python {sys.version}, NumPy {np.__version__} */\n"
    at = library("single", identity + text, 1, False, ("-O1", *includes))
    notes_of(at, lambda: (text, None))
    spec = importlib.util.spec_from_file_location("modurob_single", at.path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{at.path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.use(memory, LARGE)
    return module
