"""Forward and inverse dynamics on a GPU: states a second, results poisoned first and compared with the CPU in double precision."""

import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import modurob as mr
from benchmarks.robots import binary_tree, of_cubes, snake
from modurob.algorithms.articulated import FORWARD_DYNAMICS
from modurob.algorithms.inverse import INVERSE_DYNAMICS
from modurob.algorithms.program import Program
from modurob.kernels.cuda.arrays import strides_of
from modurob.kernels.cuda.device import cuda_device
from modurob.kernels.cuda.launching import Resident, entries, resident, staying

STATES = 2**20
SAMPLE = 500
# unrolled code of larger robots takes long to compile, and is slower
LARGEST_UNROLLED = 30
ROBOTS = 1000


def inputs_for(device: Any, robots: list[mr.Mechanism], states: int, single: bool) -> list[list[Any]]:
    """q, v, torques of each robot on the device, entry by entry."""
    cp, dtype = device.cupy, np.float32 if single else np.float64
    cp.random.seed(0)
    return [[cp.random.standard_normal((n, states), dtype=dtype).T for n in (r.nq, r.nv, r.nv)] for r in robots]


def measured(r: Resident, inputs: list[list[Any]], rounds: int = 9) -> tuple[float, float]:
    """States a second, the median, and the largest relative error in a sample."""
    cp, dtype = r.device.cupy, inputs[0][0].dtype  # type: ignore[attr-defined]
    states = [len(x[0]) for x in inputs]
    out = [
        [cp.full((n, k), cp.nan, dtype).T for n in entries(r.program, m)[1]]
        for m, k in zip(r.robots, states, strict=True)
    ]
    bound = r.bound(inputs, states, strides_of, out)
    assert not bound.launch().any()
    error = max(_error(r, i, inputs[i], out[i][0]) for i in range(0, len(states), max(1, len(states) // 50)))
    times = []
    for _ in range(rounds):
        begin, end = cp.cuda.Event(), cp.cuda.Event()
        begin.record()
        bound.launch()
        end.record()
        end.synchronize()
        times.append(cp.cuda.get_elapsed_time(begin, end) / 1e3)
    return sum(states) / float(np.median(times)), error


def _error(r: Resident, i: int, inputs: list[Any], out: Any) -> float:
    assert bool(np.isfinite(out.get()).all())
    every = max(1, len(out) // SAMPLE)
    expected = getattr(r.robots[i], r.program.name)(*(x[::every].get().astype(float) for x in inputs))
    return float((np.abs(out[::every].get() - expected).max(axis=-1) / np.abs(expected).max(axis=-1)).max())


def one_robot(console: Console, device: Any, program: Program) -> None:
    """The table of robots by themselves."""
    heads = ("robot", "float32", "unrolled", "float64", "unrolled", "errors", "compiled [s]")
    table = Table(*heads, title=f"{program.name}, {STATES} states: millions a second on {device.name}")
    trees = {f"binary tree {n}": binary_tree(n) for n in (12, 30)}
    robots = {f"chain {n}": snake(n).mechanism() for n in (6, 12, 30, 100)} | trees
    for name, robot in robots.items():
        cells, errors, took = [], [], 0.0
        for single in (True, False):
            inputs = inputs_for(device, [robot], STATES, single)
            rate, error = measured(resident(device, [robot], program, single), inputs)
            cells.append(f"{rate / 1e6:.0f}")
            errors.append(error)
            if robot.nv > LARGEST_UNROLLED:
                cells.append("-")
                continue
            start = time.perf_counter()
            own = staying(device, robot, program, single)
            took = max(took, time.perf_counter() - start)
            rate, error = measured(own, inputs)
            cells.append(f"{rate / 1e6:.0f}")
        table.add_row(name, *cells, ", ".join(f"{e:.0e}" for e in errors), f"{took:.2f}")
    console.print(table)


def limbs(seed: int, n: int) -> mr.Mechanism:
    """A random tree of cubes: a body hangs on the one before it with probability 0.75, else on any before."""
    rng = np.random.default_rng(seed)
    parents = [-1 if not i else i - 1 if rng.random() < 0.75 else int(rng.integers(i)) for i in range(n)]
    return of_cubes(n, parents, seed % 16)


def unlike(console: Console, device: Any) -> None:
    """Unlike robots, a thousand states each, in one launch, beside one robot of their mean size."""
    rng = np.random.default_rng(0)
    robots = [limbs(s, int(rng.integers(12, 31))) for s in range(ROBOTS)]
    joints = sum(m.nv for m in robots) / ROBOTS
    one = limbs(3, round(joints))
    for single in (True, False):
        rate, error = measured(
            resident(device, robots, FORWARD_DYNAMICS, single), inputs_for(device, robots, 1000, single)
        )
        alone = inputs_for(device, [one], 1000 * ROBOTS, single)
        same, _ = measured(resident(device, [one], FORWARD_DYNAMICS, single), alone)
        console.print(
            f"{ROBOTS} unlike trees of 12 to 30 joints x 1000 states, {'float32' if single else 'float64'}: {rate / 1e6:.0f} M/s, "
            f"per joint {rate * joints / same / one.nv:.2f} of one robot's rate, error {error:.0e}"
        )


def main() -> None:
    """Print everything."""
    console, device = Console(width=120), cuda_device()
    if isinstance(device, str):
        console.print(f"benchmarks of GPUs left out: {device}")
        return
    unlike(console, device)
    for program in (FORWARD_DYNAMICS, INVERSE_DYNAMICS):
        one_robot(console, device, program)


if __name__ == "__main__":
    main()
