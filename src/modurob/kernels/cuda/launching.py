"""Fleets on a device: their tables stand there, and states are taken by blocks of threads."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from modurob.algorithms.program import Program
from modurob.errors import InputError
from modurob.kernels.cuda.layout import laid
from modurob.kernels.cuda.lean import inputs_of, supported
from modurob.kernels.cuda.scratch import EVERY
from modurob.kernels.cuda.text import arrays_of
from modurob.kernels.cuda.unrolled import unrolled
from modurob.kernels.cuda.walking import walking
from modurob.kernels.dyad import DyadType
from modurob.kernels.evaluator import tail
from modurob.mechanism import Tables
from modurob.spatial.scalars import Array

# numbers of a robot before those of its arrays
HEAD = 7
# bytes between entries of a state
FARTHEST = 2**31 - 1


class Device(Protocol):
    """What runs kernels: a GPU, or what plays one in a test."""

    processors: int
    shared_bytes: int  # that a block may have
    name: str
    kind: int  # of its arrays, as DLPack counts

    def array(self, x: Array) -> Any:
        """A copy of a NumPy array on the device."""
        ...

    def adopted(self, x: Any) -> Any:
        """An array of another library that is there already, by DLPack."""
        ...

    def host(self, x: Any) -> Array:
        """A copy as a NumPy array."""
        ...

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """A new array there."""
        ...

    def address(self, x: Any) -> int:
        """Of its first number."""
        ...

    def kernel(self, text: str) -> Callable[..., None]:
        """The compiled kernel: kernel(blocks, threads, shared bytes, arguments)."""
        ...


class Shape(NamedTuple):
    """How a kernel is launched."""

    threads: int  # of a block
    near: int  # words of a state's scratch that are in shared memory, EVERY, or 0
    blocks: int = 1  # on each processor
    fetches: bool = False  # whether inputs are brought there before the first pass
    waves: bool = True  # whether sines and cosines are kept there, or computed again in each pass
    in_step: bool = False  # whether the threads of a block are at the same joint, so that they fetch the same code


@dataclass(frozen=True, eq=False)
class Resident:
    """A program of some robots whose tables are on the device."""

    device: Device
    robots: tuple[Tables, ...]
    program: Program
    single: bool
    shape: Shape
    kernel: Callable[..., None]
    table: Array  # a row of numbers for each robot
    near: int  # words of scratch that a state has in shared memory
    far: int  # and in memory of the device
    table_bytes: int  # of the largest robot
    keep: tuple[Any, ...]  # arrays on the device
    whole: bool = False  # unrolled

    def bound(
        self, inputs: Sequence[Sequence[Any]], states: Sequence[int], strides: Any, out: Sequence[Sequence[Any]]
    ) -> "Bound":
        """A launch that fills `out`, arrays (states, entries) by robot, from inputs on the device, any number of times.

        `strides` gives the strides of an array in entries.
        """
        dtype = np.dtype(np.float32 if self.single else np.float64)
        starts = np.concatenate([[0], np.cumsum(states)])
        status = self.device.empty((int(starts[-1]),), dtype)
        rows = self.table.copy()
        rows[:, 5] = states
        rows[:, 6] = self.device.address(status) + dtype.itemsize * starts[:-1]
        rows[:, HEAD:] = [
            [n for x in (*given, *left) for n in (self.device.address(x), *strides(x))]
            for given, left in zip(inputs, out, strict=True)
        ]
        apart = max(np.abs(rows[:, HEAD + k :: 3]).max(initial=0) for k in (1, 2))
        if apart > FARTHEST // dtype.itemsize:
            raise InputError(
                f"entries of a state {apart} numbers apart: a GPU takes {FARTHEST // dtype.itemsize} states of a robot at once"
            )
        return Bound(self.kernel, status, *self._arguments(rows, np.asarray(states), dtype), (inputs, out))

    def run(
        self, inputs: Sequence[Sequence[Any]], states: Sequence[int], strides: Any, out: Sequence[Sequence[Any]]
    ) -> Any:
        """Fill `out` once; returns the status of all states, robot by robot."""
        return self.bound(inputs, states, strides, out).launch()

    def _arguments(self, rows: Array, states: Array, dtype: Any) -> tuple[int, int, int, tuple[Any, ...]]:
        """Blocks, threads, bytes of shared memory, and what the kernel is called with."""
        threads, device = self.shape.threads, self.device
        pieces = -(-states // threads)
        total, on_device = int(pieces.sum()), device.array(rows)
        bytes_ = self.table_bytes + self.near * threads * dtype.itemsize
        if self.whole:
            return total, threads, bytes_, (on_device, on_device, 0, 0, on_device)
        blocks = min(total, device.processors * self.shape.blocks)
        work = device.empty((max(1, blocks * self.far * threads),), dtype)
        # after the tasks, how many have been begun
        tasks = np.concatenate([tasks_of(rows[:, 2], pieces), np.zeros((1, 2), np.int32)])
        return blocks, threads, bytes_, (on_device, device.array(tasks), total, self.far, work)


def tasks_of(sizes: Array, pieces: Array) -> Array:
    """Robot and piece of each task, (tasks, 2); larger robots first, so that none is left for the end."""
    order = np.argsort(-sizes, kind="stable")
    first = np.concatenate([[0], np.cumsum(pieces[order])[:-1]])
    piece = np.arange(pieces.sum()) - np.repeat(first, pieces[order])
    return np.stack([np.repeat(order, pieces[order]), piece], axis=-1).astype(np.int32)


class Bound(NamedTuple):
    """A launch with all its arguments on the device."""

    kernel: Callable[..., None]
    status: Any
    blocks: int
    threads: int
    shared: int
    arguments: tuple[Any, ...]
    keep: Any

    def launch(self) -> Any:
        """Run it; returns the status of all states."""
        self.kernel(self.blocks, self.threads, self.shared, self.arguments)
        return self.status


# kernels by device and all else that makes them: what parts they know
_KERNELS: dict[Hashable, list[tuple[dict[Any, int], Callable[..., None]]]] = {}


def kernel_for(
    key: Hashable, parts: set[Any], named: Callable[[Any], str], made: Callable[[list[Any]], Callable[..., None]]
) -> tuple[dict[Any, int], Callable[..., None]]:
    """A kernel that knows all these parts, and the number of each there; if none does, one is made of them in the order of their
    names."""
    known = _KERNELS.setdefault(key, [])
    fitting = [found for found in known if parts <= found[0].keys()]
    if fitting:
        return min(fitting, key=lambda found: len(found[0]))
    order = sorted(parts, key=named)
    known.append(({part: k for k, part in enumerate(order)}, made(order)))
    return known[-1]


def _walking_kernel(
    device: Device, program: Program, single: bool, shape: Shape, kinds: set[DyadType]
) -> tuple[dict[DyadType, int], Callable[..., None]]:
    """A kernel that knows all these types."""

    def made(types: list[DyadType]) -> Callable[..., None]:
        return device.kernel(walking(program, types, single, *shape))

    # how much is near is in the tables, whether it is in the code
    mode = shape._replace(near=min(shape.near, 1) if shape.near < EVERY else EVERY)
    return kernel_for((device, program, single, mode), kinds, lambda kind: kind.key, made)


def obstacle(m: Tables, program: Any) -> str:
    """Why a robot does not go to a GPU; empty if it does."""
    if not supported(program):
        return f"{program.name} has no kernel for GPUs"
    if m.coupled or m.constraints:
        return f"{m.name} has mimic joints or loops"
    return "" if m.nv else f"{m.name} does not move"


def resident(
    device: Device, robots: Sequence[Tables], program: Program, single: bool, shape: Shape | None = None
) -> Resident:
    """Robots moved to the device, for a kernel that walks tables."""
    item = 4 if single else 8
    types = {kind for m in robots for kind in laid(m, program).kinds}
    shape = shape or chosen_shape(device, needs(robots, program, item), item, len(types))
    found = [laid(m, program, shape.near, shape.fetches, shape.waves) for m in robots]
    numbers, kernel = _walking_kernel(device, program, single, shape, types)
    tables = [x.table(numbers, item * shape.threads) for x in found]
    dtype = np.float32 if single else np.float64
    rows = device.array(np.concatenate([r.ravel() for r, _ in tables]).astype(np.int32))
    constants = device.array(np.concatenate([c for _, c in tables]).astype(dtype))
    table = np.zeros((len(robots), HEAD + 3 * len(arrays_of(program))), np.int64)
    table[:, 0] = device.address(rows) + 4 * _begins([r.size for r, _ in tables])
    table[:, 1] = device.address(constants) + item * _begins([len(c) for _, c in tables])
    table[:, 2] = [len(x.kinds) for x in found]
    table[:, 3] = [len(c) for _, c in tables]
    table[:, 4] = [x.near for x in found]
    table_bytes = max(x.bytes(item) for x in found) + port_bytes(program)
    room = max(x.near for x in found), max(x.words - x.near for x in found)
    return Resident(device, tuple(robots), program, single, shape, kernel, table, *room, table_bytes, (rows, constants))


def staying(device: Device, m: Tables, program: Program, single: bool, shape: Shape | None = None) -> Resident:
    """One robot with a kernel of its own, all loops unrolled: compiled in a second, and about twice as fast."""
    shape = shape or unrolled_shape(device, laid(m, program).words, single, len(program.passes))
    found = laid(m, program, shape.near, busiest=False)
    kernel = device.kernel(unrolled(program, found, single, shape.threads, shape.blocks))
    table = np.zeros((1, HEAD + 3 * len(arrays_of(program))), np.int64)
    return Resident(device, (m,), program, single, shape, kernel, table, found.near, 0, 0, (), whole=True)


def port_bytes(program: Program) -> int:
    """Of what a block knows of its arrays and of its next task."""
    return 16 * (len(arrays_of(program)) + 1)


def _begins(sizes: Sequence[int]) -> Array:
    return np.concatenate([[0], np.cumsum(sizes)[:-1]])


def near_words(device: Device, words: int, item: int, table_bytes: int, threads: int, blocks: int) -> int:
    """How many words of a state fit in shared memory if so many blocks are on each processor."""
    # a processor has a little more than a block may have, and keeps 1 kB of each block for itself
    bytes_ = (device.shared_bytes + 1024) // blocks - 1024 - table_bytes
    fitting = max(0, bytes_ // (item * threads))
    return EVERY if fitting >= words else fitting


# robots of more types ask for more code than a processor keeps at hand
FEW_TYPES = 4


class Need(NamedTuple):
    """What the scratch and the table of a state take in a way of keeping fields."""

    words: int
    table_bytes: int


def needs(robots: Sequence[Tables], program: Program, item: int) -> Callable[[bool, bool], Need]:
    """What robots take at most, by whether inputs are fetched and sines and cosines kept."""

    @cache
    def need(fetches: bool, waves: bool) -> Need:
        found = [laid(m, program, EVERY, fetches, waves) for m in robots]
        return Need(max(x.words for x in found), max(x.bytes(item) for x in found) + port_bytes(program))

    return need


def chosen_shape(device: Device, need: Callable[[bool, bool], Need], item: int, types: int) -> Shape:
    """All scratch in shared memory, with inputs if many states still fit beside each other; else as much of it as fits.

    What does not fit is read from far away, so little is kept: sines and cosines are computed again. In float32 blocks of robots of
    many types stay in step, since the code of all steps does not fit in the instruction cache. Measured on an H200.
    """
    single = item == 4

    def shape(threads: int, blocks: int, fetches: bool = False, waves: bool = True, in_step: bool = False) -> Shape:
        words, table_bytes = need(fetches, waves)
        near = near_words(device, words, item, table_bytes, threads, blocks)
        return Shape(threads, near, blocks, fetches, waves, in_step)

    whole = [shape(128, b, True) for b in ((6, 5, 4, 3) if single else (4, 3))]
    for found in [*whole, *([shape(128, 3)] if single else [])]:
        if found.near == EVERY:
            return found
    if not single and shape(128, 2, True).near == EVERY:
        return shape(128, 4, True)
    if types <= FEW_TYPES:
        return shape(128, 8 if single else 4, waves=False)
    return shape(256, 3 if single else 2, waves=False, in_step=single)


# blocks of unrolled code on each processor, by the most words that a state keeps: in single precision, and in double precision for
# programs of two passes and of more
UNROLLED_BLOCKS = {"single": {50: 5, 160: 4}, "two passes": {50: 3}, "double": {130: 3}}


def unrolled_shape(device: Device, words: int, single: bool, passes: int) -> Shape:
    """As many threads as what a state keeps leaves registers for; two thirds of it are in shared memory, as far as they fit."""
    found = UNROLLED_BLOCKS["single" if single else "two passes" if passes < 3 else "double"]
    blocks = next((number for most, number in found.items() if words <= most), 2)
    return Shape(128, min(2 * words // 3, near_words(device, words, 4 if single else 8, 0, 128, blocks)), blocks)


def entries(program: Program, m: Tables) -> tuple[list[int], list[int]]:
    """How many numbers of a state each input has, and each result."""
    sizes = {"coordinates": m.nq, "rates": m.nv}
    ins = [sizes[str(program.inputs[name])] for name in inputs_of(program)]
    return ins, [int(np.prod(tail(kind, m))) for kind in program.results.values()]
