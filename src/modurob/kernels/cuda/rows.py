"""Any sequence of rows on a device: the tables of the CPU, walked by one state in each thread.

Steps with forces, drives and contacts go this way, and whatever a flow is made of; `lean.py` has the programs that are worth
code of their own. What is known of functions is their C text, so that a new robot of known functions is not compiled for.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.program import Flow, Program
from modurob.kernels.compiler import prelude
from modurob.kernels.cuda.launching import Device, kernel_for, tasks_of
from modurob.kernels.evaluator import Sequenced, sequenced
from modurob.kernels.units import FILES, Unit, by_hand, text_of
from modurob.mechanism import Tables
from modurob.spatial.scalars import Array

THREADS = 128  # of a block
BLOCKS = {True: 4, False: 2}  # on each processor, in single and in double precision
HEAD = 16  # numbers of a robot before those of its arrays
# of an array: where it is, its strides, its place in the arena, how many entries
PORT = 5
# a number of the arena that is read, what stands before a value in a line of a function, and the lines it begins with
READ = re.compile(r"(p_\w+)\[(\d+)\]")
STORE = re.compile(r"(p_\w+\[\d+\] \+?= )?")
HEADER = re.compile(r"static void|[{}]|\(void\)|const cells")
# the files of C by hand that are written for any kind of cells
ON_GPU = ("rows", "sweeps")
# what a row runs: a function by hand, or one of a unit
Function = str | tuple[Unit, int]


@dataclass(frozen=True, eq=False)
class Laid:
    """The rows of one robot: functions, places and constants."""

    functions: list[Function]
    once: int  # rows at the beginning that need not run again
    at: Array
    begins: Array  # of the places and the constants of each row
    constants: Array
    start: dict[int, float]
    words: int
    inputs: list[tuple[int, int]]  # place and entries
    results: list[tuple[int, int]]


def obstacle(found: Sequenced) -> str:
    """Why rows do not go to a GPU; empty if they do."""
    names = {r.steps for r in [*found.engine.once, *found.engine.rows] if isinstance(r.steps, str)}
    others = sorted(names - {name for file in ON_GPU for name in FILES[file]})
    return f"{', '.join(others)} has no kernel for GPUs" if others else ""


def laid(found: Sequenced) -> Laid:
    """The rows for a device: places in numbers."""
    engine = found.engine
    inputs, results = ([(x.place, x.n) for x in registers.values()] for registers in (found.inputs, found.results))
    functions: list[Function] = []
    at, begins, constants, known = [], [], [], dict[int, int]()
    places = numbers = 0
    for r in [*engine.once, *engine.rows]:
        by_name = isinstance(r.steps, str)
        if id(r.constants) not in known:
            known[id(r.constants)] = numbers
            constants.append(r.constants)
            numbers += len(r.constants)
        functions += [r.steps] if isinstance(r.steps, str) else [(s.of.unit, s.number) for s in r.steps]
        at.append(r.at.ravel() // (1 if by_name or not r.in_bytes else engine.vector_bytes))
        n, width = r.at.shape
        begins.append(np.stack([places + width * np.arange(n), known[id(r.constants)] + r.starts], axis=-1))
        places += r.at.size
    whole = np.concatenate(at), np.concatenate(begins), np.concatenate(constants)
    once = sum(len(r.at) for r in engine.once)
    return Laid(functions, once, *whole, engine.start, engine.size, inputs, results)


# ---- text ----


@cache
def _body(unit: Unit) -> str:
    return unit.write()[0]


def _named(unit: Unit, k: int, name: str) -> str:
    """The text of a function of a unit, alone and under another name."""
    texts = re.split(r"^(?=void )", _body(unit), flags=re.MULTILINE)[1:]
    return _read_first(re.sub(r"^void \w+\(", f"static void {name}(", texts[k]))


def _read_first(body: str) -> str:
    """A function that reads all it needs at its beginning, or where it is not left early: a thread then waits for memory once."""
    lines: list[str] = []
    known: set[str] = set()
    for piece in re.split(r"(?<=return;\n)", body):
        stores = [STORE.match(line) for line in piece.splitlines()]
        parts = [(m[0], m.string[m.end() :]) if m else ("", "") for m in stores]
        read = dict.fromkeys(found for _, value in parts for found in READ.findall(value))
        new = [(p, k) for p, k in read if f"{p}[{k}]" not in known]
        known |= {f"{p}[{k}]" for p, k in new}
        changed = [to + READ.sub(r"\1_\2", value) for to, value in parts]
        begin = next((i for i, line in enumerate(changed) if not HEADER.match(line)), 0)
        lines += [*changed[:begin], *(f"const vec {p}_{k} = {p}[{k}];" for p, k in new), *changed[begin:]]
    return "\n".join([*lines, ""])


def text(functions: Sequence[Function], ports: int, single: bool, shared: bool) -> str:
    """The kernel that knows these functions; tables are read from the memory that a block shares, if they have room there."""
    given = {"LANES": 1, "CELLS": "", "STRIDE": THREADS, "BLOCKS": BLOCKS[single], "PORTS": ports}
    given |= {name: "" for name, is_so in (("SINGLE", single), ("SHARED", shared)) if is_so}
    names = [f if isinstance(f, str) else f"step{k}" for k, f in enumerate(functions)]
    steps = [_named(*f, name) for f, name in zip(functions, names, strict=True) if not isinstance(f, str)]
    cases = [f"case {k}: {name}(arena, at, c); break;" for k, name in enumerate(names)]
    choose = [
        "static void run_row(int32_t step, cells arena, const int32_t *at, const real *c)",
        "{",
        "switch (step) {",
    ]
    parts = [
        *(f"#define {name} {value}" for name, value in given.items()),
        prelude(),
        *(text_of(file) for file in ON_GPU if file == "rows" or {*FILES[file]} & {*names}),
        *steps,
        *choose,
        *cases,
        "}",
        "}",
        by_hand("walk.c"),
    ]
    return "\n".join(parts)


def _name(f: Function) -> str:
    return f if isinstance(f, str) else f"{f[0].name} {f[0].identity} {f[1]}"


def _kernel(
    device: Device, ports: int, single: bool, shared: bool, functions: set[Function]
) -> tuple[dict[Function, int], Callable[..., None]]:
    """A kernel that knows all these functions."""

    def made(order: list[Function]) -> Callable[..., None]:
        return device.kernel(text(order, ports, single, shared))

    return kernel_for((device, ports, single, shared, THREADS, BLOCKS[single]), functions, _name, made)


# ---- robots ----


class Walker(NamedTuple):
    """A program or flow of some robots whose rows are on the device."""

    device: Device
    robots: tuple[Laid, ...]
    kernel: Callable[..., None]
    table: Array  # a row of numbers for each robot
    single: bool
    table_bytes: int  # that a block shares
    keep: tuple[Any, ...]  # arrays on the device

    def run(
        self,
        inputs: Sequence[Sequence[Any]],
        states: Sequence[int],
        strides: Any,
        out: Sequence[Sequence[Any]],
        repeats: Any,
    ) -> Any:
        """Fill `out`, arrays (states, entries) by robot, from inputs on the device; returns the status of all states.

        `repeats` is how often the rows run, for each robot or for all.
        """
        dtype = np.dtype(np.float32 if self.single else np.float64)
        starts = np.concatenate([[0], np.cumsum(states)])
        status = self.device.empty((int(starts[-1]),), dtype)
        rows = self.table.copy()
        rows[:, 9], rows[:, 10] = states, repeats
        rows[:, 15] = self.device.address(status) + dtype.itemsize * starts[:-1]
        for row, own, given, left in zip(rows, self.robots, inputs, out, strict=True):
            ends = zip((*given, *left), (*own.inputs, *own.results), strict=True)
            row[HEAD:] = [n for x, end in ends for n in (self.device.address(x), *strides(x), *end)]
        words = max(x.words for x in self.robots)
        pieces = -(-np.asarray(states) // THREADS)
        total = int(pieces.sum())
        blocks = min(total, self.device.processors * BLOCKS[self.single])
        work = self.device.empty((blocks * words * THREADS,), dtype)
        arguments = self.device.array(rows), self.device.array(tasks_of(rows[:, 5], pieces)), total, words, work
        self.kernel(blocks, THREADS, self.table_bytes, arguments)
        return status


def walker(device: Device, robots: Sequence[Laid], single: bool) -> Walker:
    """Robots moved to the device."""
    ports = len(robots[0].inputs) + len(robots[0].results)
    dtype, item = (np.float32, 4) if single else (np.float64, 8)
    size = max(item * len(x.constants) + 4 * (len(x.at) + 3 * len(x.functions)) for x in robots)
    shared = BLOCKS[single] * size < device.shared_bytes
    ids, kernel = _kernel(device, ports, single, shared, {f for x in robots for f in x.functions})
    rows = [np.column_stack([[ids[f] for f in x.functions], x.begins]) for x in robots]
    whole = [rows, [x.at for x in robots], [list(x.start) for x in robots]]
    numbers = [[x.constants for x in robots], [list(x.start.values()) for x in robots]]
    kinds = [*((x, np.int32, 4) for x in whole), *((x, dtype, item) for x in numbers)]
    table = np.zeros((len(robots), HEAD + PORT * ports), np.int64)
    keep = []
    for k, (parts, kind, bytes_) in enumerate(kinds):
        flat = [np.asarray(x, dtype=kind).ravel() for x in parts]
        keep.append(device.array(np.concatenate([*flat, np.zeros(1, kind)])))
        table[:, k] = device.address(keep[-1]) + bytes_ * np.cumsum([0, *(len(x) for x in flat[:-1])])
    table[:, 5] = [len(x.functions) for x in robots]
    table[:, 6] = [x.once for x in robots]
    table[:, 7] = [len(x.start) for x in robots]
    table[:, 8] = [x.words for x in robots]
    table[:, 11], table[:, 12] = len(robots[0].inputs), ports
    table[:, 13] = [len(x.at) for x in robots]
    table[:, 14] = [len(x.constants) for x in robots]
    return Walker(device, tuple(robots), kernel, table, single, size if shared else 0, tuple(keep))


def laid_for(m: Tables, program: Program | Flow, single: bool) -> Laid | None:
    """The rows of a robot for a device; None if there are none."""
    found = sequenced(m, program, frozenset(), single, 1)
    return None if obstacle(found) else laid(found)
