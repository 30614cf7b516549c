"""Evaluation of programs: compiled where that is possible, otherwise by NumPy."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.checks import require_inputs
from modurob.algorithms.interpreter import interpret
from modurob.algorithms.program import Answer, Flow, Program
from modurob.kernels.dyad_units import OPTIONAL
from modurob.kernels.evaluator import evaluator, lanes_of, lay_ahead, tail
from modurob.kernels.lowering import packed
from modurob.kernels.single import once
from modurob.kernels.threads import threads_for
from modurob.mechanism import Tables
from modurob.spatial.scalars import Array, read_only

# the status of a state whose results are not finite
NOT_FINITE = -2


def run(program: Program | Flow, m: Tables, inputs: dict[str, Array]) -> Answer:
    """As `algorithms.interpreter.interpret`, compiled where that is possible; inputs have equal leading axes.

    Inputs that are not finite, and quaternions of length zero, are errors; they are looked for only if results are not finite.
    """
    return _run(program, m, inputs, require_inputs)


def run_any(program: Program | Flow, m: Tables, inputs: dict[str, Array]) -> Answer:
    """The same without errors: states that are not finite have results that are not, and do not affect the others."""
    return _run(program, m, inputs, lambda m, inputs: None)


def _run(
    program: Program | Flow, m: Tables, inputs: dict[str, Array], require: Callable[[Tables, Any], None]
) -> Answer:
    answer = _of_few_states(program, m, inputs, 1)
    if answer is not None:
        return answer
    return _completed(_of_many_states(program, m, inputs, 1), program, m, inputs, require)


def run_singly(program: Program | Flow, m: Tables, inputs: dict[str, Array]) -> Answer:
    """As `run_any`, by the code of single states, for what is asked for once beside a single state: no other code is compiled."""
    found = _of_many_states(program, m, inputs, 1, singly=True)
    return _completed(found, program, m, inputs, lambda m, inputs: None)


def _completed(
    answer: Answer | None,
    program: Program | Flow,
    m: Tables,
    inputs: dict[str, Array],
    require: Callable[[Tables, Any], None],
) -> Answer:
    """The answer of kernels; that of NumPy where there is none, and for states in which it is not finite."""
    if answer is None:
        require(m, inputs)
        return _interpreted(program, m, inputs)
    if (answer.singular == NOT_FINITE).any():
        require(m, inputs)
        return _repaired(answer, program, m, inputs)
    return answer


def prepare(program: Program | Flow, m: Tables, states: int) -> None:
    """Load the code of a program for so many states of float64, compiled if necessary."""
    evaluator(m, program, frozenset(), False, 1 if states == 1 else lanes_of(False))


def begin(program: Program | Flow, m: Tables, states: int, given: frozenset[str] = frozenset()) -> None:
    """Start the compilation of a program for so many states of float64 that will run after others, so that several are compiled
    side by side. Of the inputs that may be left out, those in `given` are there."""
    if states:
        lay_ahead(m, program, given, False, 1 if states == 1 else lanes_of(False))


def repeated(program: Program | Flow, m: Tables, inputs: dict[str, Array], times: int) -> Answer | None:
    """A program so many times on end, its results taken for its inputs; None if there is no kernel for it.

    States whose results are not finite have NOT_FINITE for what is singular: NumPy may still have an answer for them.
    """
    answer = _of_few_states(program, m, inputs, times)
    return _of_many_states(program, m, inputs, times) if answer is None else answer


def _of_many_states(
    program: Program | Flow, m: Tables, inputs: dict[str, Array], times: int, singly: bool = False
) -> Answer | None:
    """The same for any leading axes and numbers of either precision, on as many threads as are worth it; `singly` by the code of
    single states."""
    dtypes = {x.dtype for x in inputs.values()}
    if not dtypes <= _FLOATS:
        return None
    single = dtypes == {np.dtype(np.float32)}
    if single and m.constraints:  # rows that depend on each other leave nothing of single precision
        found = _of_many_states(program, m, {name: x.astype(float) for name, x in inputs.items()}, times, singly)
        return None if found is None else _rounded(found)
    rows, shape = _as_rows(program, inputs)
    states = int(np.prod(shape))
    given = frozenset(n for n in inputs if program.inputs[n] in OPTIONAL)
    lanes = 1 if states == 1 or singly else lanes_of(single)
    found = evaluator(m, program, given, single, lanes) if states else None
    if found is None:
        return None
    results, status = found(rows, states, threads_for(states * times * m.nv), times)
    named = {name: shaped(program.results[name], x, m, shape) for name, x in zip(found.outputs, results, strict=True)}
    singular = np.zeros(shape, dtype=int) if status is None else status.astype(int).reshape(shape)
    return Answer(named, singular)


def _of_few_states(program: Program | Flow, m: Tables, inputs: dict[str, Array], times: int) -> Answer | None:
    """The answer for one state, with leading axes () or (1,), or for a few along one axis, by the short way; None if anything is
    unusual."""
    made = _layout(program)
    for name in made.bodies:
        inputs = {**inputs, name: np.ascontiguousarray(inputs[name][..., 1:])}
    arrays = [inputs[name] for name in made.inputs if name in inputs]
    axes, states = arrays[0].ndim, len(arrays[0])
    if axes == 2 and states == 1:
        arrays = [x[0] for x in arrays]
    elif axes > 2 or (axes == 2 and times > 1):
        return None
    found = once(program, m, *arrays, repeats=times)
    if found is None:
        return None
    named = dict(zip(program.results, found if isinstance(found, tuple) else (found,), strict=True))
    for name in made.vectors:
        named[name] = np.swapaxes(named[name], -1, -2)
    if axes == 1:
        return Answer(named, _FINE)
    if states == 1:
        return Answer({n: x[None] for n, x in named.items()}, _FINE[None])
    return Answer(named, np.zeros(states, dtype=int))


class _Layout(NamedTuple):
    """Names of the inputs of a program, of those that run over bodies, and of results that are vectors of rates."""

    inputs: tuple[str, ...]
    bodies: tuple[str, ...]
    vectors: tuple[str, ...]


@lru_cache(maxsize=512)
def _layout(program: Program | Flow) -> _Layout:
    bodies = tuple(name for name, kind in program.inputs.items() if kind == "bodies")
    vectors = tuple(name for name, kind in program.results.items() if kind == "vectors")
    return _Layout(tuple(program.inputs), bodies, vectors)


def _interpreted(program: Program | Flow, m: Tables, inputs: dict[str, Array]) -> Answer:
    """By NumPy, in double precision."""
    if {x.dtype for x in inputs.values()} != {np.dtype(np.float32)}:
        return interpret(program, m, inputs)
    return _rounded(interpret(program, m, {name: x.astype(float) for name, x in inputs.items()}))


def _rounded(answer: Answer) -> Answer:
    """In single precision."""
    return Answer({name: x.astype(np.float32) for name, x in answer.results.items()}, answer.singular)


_FINE = read_only(np.zeros((), dtype=int))
_FLOATS = {np.dtype(np.float32), np.dtype(np.float64)}


def _as_rows(program: Program | Flow, inputs: dict[str, Array]) -> tuple[dict[str, Array], tuple[int, ...]]:
    """Inputs as (states, entries), copied only where they must be, and their leading axes."""
    rows, shape = {}, ()
    for name, x in inputs.items():
        kind = program.inputs[name]
        if kind == "inertias":
            x = np.moveaxis(packed(np.moveaxis(x, (-2, -1), (0, 1))), 0, -1)
        if kind in OPTIONAL or kind == "matrix":
            x = x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1])
        if kind == "bodies":
            x = x[..., 1:]
        shape = x.shape[:-1]
        rows[name] = x.reshape(int(np.prod(shape)), x.shape[-1]) if x.ndim != 2 else x
    return rows, shape


def shaped(kind: str, x: Array, m: Tables, shape: tuple[int, ...]) -> Array:
    """A result, (states, entries), as the interpreter gives it."""
    x = x.reshape(*shape, *tail(kind, m))
    return np.swapaxes(x, -1, -2) if kind == "vectors" else x


def _repaired(answer: Answer, program: Program | Flow, m: Tables, inputs: dict[str, Array]) -> Answer:
    """The answer with states that are not finite evaluated by NumPy: angles beyond a million radians, or states without one."""
    at = answer.singular == NOT_FINITE
    with np.errstate(all="ignore"):
        again = interpret(program, m, {name: x[at].astype(float) for name, x in inputs.items()})
    singular = np.array(answer.singular)
    singular[at] = again.singular
    results = {name: np.array(x) for name, x in answer.results.items()}
    for name, x in results.items():
        x[at] = again.results[name]
    return Answer(results, singular)
