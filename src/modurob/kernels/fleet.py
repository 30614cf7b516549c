"""A program over different mechanisms: one list of tasks for all threads, without the Python interpreter in between.

Every robot keeps its own evaluator, so that each state of a fleet is computed by the very instructions that the robot alone is
computed by: results have the same bits, whatever the order of the robots and the number of threads.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.program import Flow, Program
from modurob.errors import KernelError
from modurob.kernels.evaluator import Evaluator, Strided, _pool
from modurob.kernels.memory import address, memory
from modurob.kernels.running import shaped
from modurob.kernels.single import extension
from modurob.kernels.threads import threads_for
from modurob.mechanism import Tables
from modurob.spatial.scalars import Array

# states that a thread takes at a time: a multiple of all widths of vectors
PIECE = 1024
TASK = np.dtype(
    [(name, np.uintp) for name in ("sequence", "inputs", "outputs", "statuses")]
    + [(name, np.int64) for name in ("states", "repeats", "next", "found")]
)
# results begin with a line of the cache
LINE = 64


class Group(NamedTuple):
    """The evaluators of one program each for some robots, all at one width, and what the driver needs of them."""

    evaluators: list[Evaluator]
    sequences: Array  # their addresses
    vectors: int  # of the largest arena
    widths: Array  # entries of the results, (robots, results)

    @classmethod
    def of(cls, evaluators: list[Evaluator]) -> "Group":
        """The group of some evaluators."""
        addresses = np.array([e.address for e in evaluators], np.uintp)
        return cls(
            evaluators, addresses, max(e.sequence.vectors for e in evaluators), np.array([e.widths for e in evaluators])
        )

    def run(self, inputs: Sequence[Sequence[Array]], states: Array, repeats: Array) -> tuple[list[list[Array]], Array]:
        """Results of each robot, (states, entries), for its inputs in the order of its evaluator's, in one block of memory.

        And which robots have a state with a status. `repeats` says how often the rows of each robot run.
        """
        first = self.evaluators[0]
        views = _views([x for robot in inputs for x in robot]).reshape(len(inputs), -1)
        out, results = _results(states, self.widths, first.dtype)
        status = np.zeros(int(states.sum()), first.dtype)
        tasks: Any = np.zeros(len(inputs), TASK)
        tasks["sequence"], tasks["states"], tasks["repeats"] = self.sequences, states, repeats
        tasks["inputs"] = address(views) + views.strides[0] * np.arange(len(inputs))
        tasks["outputs"] = address(out) + out.strides[0] * np.arange(len(inputs))
        tasks["statuses"] = address(status) + first.dtype.itemsize * (np.cumsum(states) - states)
        self._work(tasks, int((states * repeats * self.widths.max(axis=-1)).sum()))
        return results, tasks["found"]

    def _work(self, tasks: Array, amount: int) -> None:
        """All tasks, by as many threads as that is worth."""
        call = self.evaluators[0].driver.library.work
        arguments = address(tasks), len(tasks), self.vectors, PIECE
        threads = threads_for(amount)
        done = _pool(threads).map(lambda _: call(*arguments), range(threads)) if threads > 1 else [call(*arguments)]
        if not all(done):
            raise MemoryError("no memory for the states of a kernel")


def _views(arrays: list[Array]) -> Array:
    """What the driver needs of arrays (states, entries)."""
    views = np.zeros(len(arrays), np.dtype(Strided))
    fill = _filling()
    if fill is None:
        views[:] = [(address(x), *x.strides, x.shape[1], x.shape[0]) for x in arrays]
    else:
        fill(arrays, address(views))
    return views


@cache
def _filling() -> Callable[[list[Array], int], None] | None:
    """The function that does this ten times as fast; None where there are no headers of Python to compile it with."""
    try:
        return extension().views
    except (KernelError, ImportError, OSError):
        return None


def _results(states: Array, widths: Array, dtype: Any) -> tuple[Array, list[list[Array]]]:
    """Arrays for the results of each robot, in one block of memory, and what the driver needs of them."""
    sizes = states[:, None] * widths * dtype.itemsize
    padded = -(-sizes // LINE) * LINE
    ends = np.cumsum(padded.ravel()).reshape(padded.shape)
    whole = memory(int(padded.sum()) + LINE)
    begin = -address(whole) % LINE
    starts = begin + ends - padded
    views: Any = np.zeros(widths.shape, np.dtype(Strided))
    views["data"] = address(whole) + starts
    views["state_stride"], views["entry_stride"] = widths * dtype.itemsize, dtype.itemsize
    views["entries"], views["states"] = widths, states[:, None]
    numbers = whole[begin : begin + int(padded.sum())].view(dtype)
    at = ((starts - begin) // dtype.itemsize).tolist()
    found = [
        [numbers[a : a + k * n].reshape(k, n) for a, n in zip(row, ns, strict=True)]
        for row, ns, k in zip(at, widths.tolist(), states.tolist(), strict=True)
    ]
    return views, found


def named_results(program: Program | Flow, m: Tables, raw: Sequence[Array]) -> dict[str, Array]:
    """Results by name, as the interpreter gives them."""
    return {name: shaped(kind, x, m, x.shape[:1]) for (name, kind), x in zip(program.results.items(), raw, strict=True)}
