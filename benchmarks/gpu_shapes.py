"""Which shape of launch suits dynamics on a GPU: threads, blocks, scratch in shared memory; and quicker functions of the chip."""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

import modurob as mr
from benchmarks.robots import binary_tree, snake
from modurob.algorithms.articulated import FORWARD_DYNAMICS
from modurob.kernels.cuda.launching import (
    Resident,
    Shape,
    chosen_shape,
    near_words,
    resident,
    staying,
    unrolled_shape,
)
from modurob.kernels.cuda.layout import EVERY, Laid, laid

QUICK_WAVES = (
    "INLINED void sine_cosine(vec angle, vec *sine, vec *cosine)\n{",
    "INLINED void sine_cosine(vec angle, vec *sine, vec *cosine)\n{\n__sincosf(angle, sine, cosine);\nreturn;",
)
QUICK_RECIPROCAL = (
    "return __drcp_rn(x);",
    'double y; asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));\n'
    "y += y * (1.0 - x * y);\nreturn y + y * (1.0 - x * y);",
)
QUICKER_RECIPROCAL = ("return __frcp_rn(x);", "return __fdividef(1.0f, x);")


HEADS = ("precision", "kernel", "threads", "blocks", "words near", "registers", "spilled", "M/s", "error", "s")


class Altered:
    """A device that changes the text of kernels before it compiles them."""

    def __init__(self, device: Any, *changes: tuple[str, str]):
        self.device, self.changes = device, changes

    def __getattr__(self, name: str) -> Any:
        return getattr(self.device, name)

    def kernel(self, text: str) -> Any:
        for old, new in self.changes:
            assert old in text
            text = text.replace(old, new)
        return self.device.kernel(text)


class Trial(NamedTuple):
    """A way to compute."""

    what: str
    device: Any
    shape: Shape
    whole: bool

    def on(self, robots: list[mr.Mechanism], single: bool) -> Resident:
        """Robots moved to the device that way."""
        if self.whole:
            return staying(self.device, robots[0], FORWARD_DYNAMICS, single, self.shape)
        return resident(self.device, robots, FORWARD_DYNAMICS, single, self.shape)


def shapes(device: Any, x: Laid, single: bool, whole: bool) -> Iterator[Shape]:
    """Shapes worth a trial, the one that is chosen now first."""
    item = 4 if single else 8
    tables = 0 if whole else item * (len(x.world) + sum(len(c) for c in x.constants)) + 4 * x.rows.size
    yield unrolled_shape(x.words, single) if whole else chosen_shape(device, x.words, item, tables)
    some = [Shape(128, near_words(device, x.words, item, tables, 128, blocks), blocks) for blocks in (2, 3, 4, 5, 6)]
    roomy = [shape for shape in some if shape.near == EVERY]
    yield from roomy[-1:]
    yield from (shape for shape in some if shape.near < EVERY)
    yield from (Shape(128, 0, blocks) for blocks in ((3, 4, 5) if whole else (4,)))
    if not whole:
        yield Shape(256, 0, 3)
        yield Shape(64, near_words(device, x.words, item, tables, 64, 8), 8)


def trials(device: Any, x: Laid, single: bool, whole: bool) -> Iterator[Trial]:
    """Each shape once."""
    for shape in dict.fromkeys(shapes(device, x, single, whole)):
        yield Trial("unrolled" if whole else "tables", device, shape, whole)


def altered(device: Any, best: Trial, single: bool) -> Iterator[Trial]:
    """The best shape with quicker functions."""
    changes = {"quick 1/x": QUICKER_RECIPROCAL if single else QUICK_RECIPROCAL}
    changes |= {"__sincosf": QUICK_WAVES} if single else {}
    for name, change in changes.items():
        yield best._replace(what=f"{best.what}, {name}", device=Altered(device, change))


def compared(console: Console, device: Any, measured: Any, inputs_for: Any, states: int) -> None:
    """Every trial of some robots; `measured` and `inputs_for` are those of benchmarks.gpu."""
    robots = {"chain 12": snake(12).mechanism(), "chain 30": snake(30).mechanism(), "tree 12": binary_tree(12)}
    for name, robot in robots.items():
        x = laid(robot, FORWARD_DYNAMICS)
        table = Table(*HEADS, title=f"forward dynamics, {name}, {x.words} words a state")
        for single in (True, False):
            inputs = inputs_for(device, [robot], states, single)
            for whole in (False, True):
                if whole and name != "chain 12":
                    continue
                rates = {t: _row(table, t, [robot], single, inputs, measured) for t in trials(device, x, single, whole)}
                best = max(rates, key=lambda trial: rates[trial])
                for trial in altered(device, best, single):
                    _row(table, trial, [robot], single, inputs, measured)
        console.print(table)


def compared_unlike(console: Console, device: Any, robots: list[mr.Mechanism], measured: Any, inputs_for: Any) -> None:
    """Some shapes for unlike robots in one launch."""
    table = Table(*HEADS, title=f"forward dynamics, {len(robots)} unlike trees")
    largest = max((laid(robot, FORWARD_DYNAMICS) for robot in robots), key=lambda x: x.words)
    for single in (True, False):
        inputs = inputs_for(device, robots, 1000, single)
        tried = [t for t in trials(device, largest, single, False) if t.shape.threads == 128 and t.shape.near]
        now = next(trials(device, largest, single, False))
        for trial in [now, *(t for t in tried if 3 <= t.shape.blocks <= 5)]:
            _row(table, trial, robots, single, inputs, measured)
    console.print(table)


def _row(table: Table, trial: Trial, robots: list[mr.Mechanism], single: bool, inputs: Any, measured: Any) -> float:
    """Add a trial to the table; returns its rate."""
    start = time.perf_counter()
    shape = trial.shape
    near = "all" if shape.near >= EVERY else str(shape.near)
    cells = ["float32" if single else "float64", trial.what, str(shape.threads), str(shape.blocks), near]
    try:
        found = trial.on(robots, single)
        rate, error = measured(found, inputs, 5)
    except Exception as failed:  # a shape that the device refuses is no reason to stop
        table.add_row(*cells, "-", "-", "-", type(failed).__name__, f"{time.perf_counter() - start:.1f}")
        return 0.0
    kernel = found.kernel.function  # type: ignore[attr-defined]
    registers, spilled = str(kernel.num_regs), str(kernel.local_size_bytes)
    table.add_row(*cells, registers, spilled, f"{rate / 1e6:.0f}", f"{error:.0e}", f"{time.perf_counter() - start:.1f}")
    return rate
