"""Plain C functions of arrays, compiled and called for one state or for many: what `kernels.single` does for robots."""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from modurob.errors import KernelError
from modurob.kernels.compiler import announced, library, notes_of
from modurob.kernels.evaluator import give_up
from modurob.kernels.single import extension
from modurob.kernels.writer import function_of_arrays
from modurob.spatial.scalars import Array
from modurob.trace import Graph


class Stepped(NamedTuple):
    """A compiled function of arrays of float64: each returns a tuple of arrays, or None where it must be evaluated otherwise."""

    one: Callable[[tuple[Any, ...]], Any]  # of inputs (n,) each
    many: Callable[[tuple[Any, ...]], Any]  # (states, n)


def stepped(
    name: str, text: str, function: str, scalars: Sequence[int], inputs: Sequence[int], outputs: Sequence[int]
) -> Stepped | None:
    """The function of that name in a C text, of inputs and outputs of these sizes, in this order; None, and a warning once, if
    there is no compiler. Inputs at `scalars` are passed as numbers, all others as pointers."""
    given = [f"in[{i}][k]" if i in scalars else f"in[{i}] + (k) * {n}" for i, n in enumerate(inputs)]
    call = f"#define CALL(k) {function}({', '.join([*given, *(f'ROW({i}, {n}, k)' for i, n in enumerate(outputs))])})"
    driver = (resources.files("modurob.kernels") / "c" / "stepped.c").read_text(encoding="utf-8")
    try:
        return _loaded(name, "\n".join([text, call, driver]), tuple(inputs), tuple((n,) for n in outputs))
    except (KernelError, ImportError, OSError) as error:
        give_up(str(error))
        return None


def _loaded(name: str, text: str, inputs: tuple[int, ...], outputs: tuple[tuple[int], ...]) -> Stepped:
    at, module = library(name, text, 1, False), extension()
    with announced(f"compiling {name}, once on this machine"):
        notes_of(at, lambda: (text, None))
    loaded = ctypes.CDLL(str(at.path))

    def handle(run: str, many: bool) -> Any:
        address = ctypes.cast(getattr(loaded, run), ctypes.c_void_p).value
        return module.bind(0, 0, address, many, False, inputs, outputs, (), 0.0, 0.0, loaded)

    return Stepped(*(partial(module.call, handle(*f), 1) for f in (("one_state", False), ("many_states", True))))


class CompiledGraph:
    """Straight-line code of named arrays, (n,) each, compiled: it returns its results as a tuple of arrays.

    Without a compiler, and for inputs that are not finite, it is evaluated by NumPy.
    """

    def __init__(self, name: str, graph: Graph, inputs: Mapping[str, int], results: Mapping[str, Array]):
        self._graph, self._inputs, self._results = graph, tuple(inputs), tuple(results.values())
        text = "\n".join(["#include <math.h>", function_of_arrays("static void run", graph, inputs, results)])
        sizes = [len(xs) for xs in results.values()]
        self._compiled = stepped(name, text, "run", (), list(inputs.values()), sizes)

    def __call__(self, *given: Array) -> tuple[Array, ...]:
        found = self._compiled and self._compiled.one(given)
        return found or self._evaluated(dict(zip(self._inputs, given, strict=True)))

    def _evaluated(self, given: dict[str, Array]) -> tuple[Array, ...]:
        nodes = [[self._graph.index(x) for x in xs] for xs in self._results]
        values = self._graph.evaluate([i for xs in nodes for i in xs], given)
        return tuple(np.array([values[i] for i in xs], dtype=float) for xs in nodes)
