"""Single states, which are asked for one at a time and often: the evaluator is called without a detour."""

import importlib.util
import sys
import sysconfig
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from modurob.algorithms.program import Flow, Program
from modurob.errors import KernelError
from modurob.kernels.compiler import library, notes_of
from modurob.kernels.evaluator import ON_EVICTION, Key, compilable, evaluator, give_up, tail
from modurob.kernels.units import beside
from modurob.mechanism import Tables

# handles of evaluators by program and robot
_HANDLES: dict[str, dict[bytes, Any]] = {}
_call: Any = None
NOTHING: frozenset[str] = frozenset()


def once(program: Program | Flow, m: Tables, *inputs: Any, repeats: int = 1) -> Any:
    """The results for one state of float64 arrays, unchecked arguments welcome; None where the long way must be taken.

    It holds the interpreter's lock, and with it the one arena that all calls share.
    """
    try:
        handle = _HANDLES[program.name][m.key]
    except KeyError:
        if not all(isinstance(x, np.ndarray) and x.dtype == np.float64 and x.ndim == 1 for x in inputs):
            return None
        handle = _bound(program, m)
    return None if handle is False else _call(handle, repeats, inputs)


def _bound(program: Program | Flow, m: Tables) -> Any:
    """The handle of a function of a robot; False where there is none."""
    known = _HANDLES.setdefault(program.name, {})
    extension = beside(_module) if compilable(m) else None
    found = evaluator(m, program, NOTHING, False, 1)
    if found is None or extension is None:
        return known.setdefault(m.key, False)
    global _call
    try:
        module = extension()
        _call = module.call
    except (KernelError, ImportError, OSError) as error:
        give_up(str(error))
        return known.setdefault(m.key, False)
    shapes = tuple(tail(program.results[name], m) for name in found.outputs)
    run = found.driver.address("once")
    return known.setdefault(m.key, module.bind(found.address, found.arena(), run, tuple(found.sizes), shapes, found))


def bound_function(
    run: int, data: int, inputs: tuple[int, ...], shapes: tuple[tuple[int, ...], ...], owner: Any
) -> Any:
    """The handle of a function of one state that is no evaluator's, with the arguments of `once` in driver.c; None if there is
    none."""
    global _call
    try:
        module = _module()
        _call = module.call
    except (KernelError, ImportError, OSError) as error:
        give_up(str(error))
        return None
    return module.bind(data, data, run, inputs, shapes, owner)


def call(handle: Any, *inputs: Any) -> Any:
    """The results of a bound function for one state; None where the long way must be taken."""
    return _call(handle, 1, inputs)


def _let_go(key: Key) -> None:
    _HANDLES.get(key.name, {}).pop(key.robot, None)


ON_EVICTION.append(_let_go)


@cache
def _module() -> Any:
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
