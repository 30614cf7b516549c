"""Forward and inverse dynamics on a GPU: states a second, outputs poisoned first and compared with the CPU in double precision.

python -m benchmarks.gpu [sweep]
"""

import sys
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import modurob as mr
from benchmarks.robots import binary_tree, of_cubes, snake
from modurob.algorithms.articulated import FORWARD_DYNAMICS
from modurob.algorithms.inverse import INVERSE_DYNAMICS
from modurob.kernels.cuda.device import cuda_device
from modurob.kernels.cuda.launching import Resident, Shape, entries, resident, staying

STATES = 2**20
SHAPES = [
    Shape(threads, shared, blocks)
    for shared in (True, False)
    for threads in (64, 128, 256)
    for blocks in (1, 2, 3, 4, 6, 8)
]


def strides(x: Any) -> tuple[int, ...]:
    """Of an array, in entries."""
    return tuple(s // x.itemsize for s in x.strides)


def inputs_for(device: Any, robots: list[mr.Mechanism], states: int, dtype: Any) -> list[list[Any]]:
    """q, v, torques of each robot, [entry][state] on the device."""
    cp = device.cupy
    cp.random.seed(0)
    return [[cp.random.standard_normal((n, states), dtype=dtype).T for n in (r.nq, r.nv, r.nv)] for r in robots]


def measured(r: Resident, inputs: list[list[Any]], states: list[int], rounds: int = 5) -> tuple[float, float]:
    """States a second, the median, and the largest relative error in a sample."""
    cp, dtype = r.device.cupy, np.float32 if r.single else np.float64  # type: ignore[attr-defined]
    out = [
        [cp.full((n, k), cp.nan, dtype).T for n in entries(r.program, m)[1]]
        for m, k in zip(r.robots, states, strict=True)
    ]
    bound = r.bound(inputs, states, strides, out)
    bound.launch()
    cp.cuda.Device().synchronize()
    error = max(_error(r, i, inputs, out) for i in range(0, len(states), max(1, len(states) // 50)))
    times = []
    for _ in range(rounds):
        begin, end = cp.cuda.Event(), cp.cuda.Event()
        begin.record()
        bound.launch()
        end.record()
        end.synchronize()
        times.append(cp.cuda.get_elapsed_time(begin, end) / 1e3)
    return sum(states) / float(np.median(times)), error


def _error(r: Resident, i: int, inputs: list[list[Any]], out: list[list[Any]]) -> float:
    q, v, u = (x[:: max(1, len(x) // 500)].get().astype(float) for x in inputs[i])
    robot: Any = r.robots[i]
    expected = (
        robot.forward_dynamics(q, v, u) if r.program is FORWARD_DYNAMICS else robot.inverse_dynamics(q, v, u)
    )
    found = out[i][0][:: max(1, len(out[i][0]) // 500)].get()
    assert np.isfinite(out[i][0].sum().get())
    return float((np.abs(found - expected).max(axis=-1) / np.abs(expected).max(axis=-1)).max())


def limbs(seed: int, n: int) -> mr.Mechanism:
    """A random tree of cubes: a body hangs on the one before it with probability 0.75, else on any before."""
    rng = np.random.default_rng(seed)
    return of_cubes(n, [-1 if not i else i - 1 if rng.random() < 0.75 else int(rng.integers(i)) for i in range(n)], seed % 16)


def sweep(console: Console, device: Any) -> None:
    """All ways to launch."""
    robots = {"chain 6": snake(6).mechanism(), "chain 12": snake(12).mechanism(), "chain 30": snake(30).mechanism(), "tree 12": binary_tree(12), "tree 30": binary_tree(30), "chain 100": snake(100).mechanism()}
    for name, robot in robots.items():
        for single in (True, False):
            inputs = inputs_for(device, [robot], STATES, np.float32 if single else np.float64)
            found = []
            for shape in SHAPES:
                try:
                    r = resident(device, [robot], FORWARD_DYNAMICS, single, shape)
                    if shape.shared and (r.words * shape.threads * (4 if single else 8) + r.table_bytes + 1024) * shape.blocks > device.shared_bytes:
                        continue
                    rate, error = measured(r, inputs, [STATES], 3)
                    found.append((rate / 1e6, shape, error, r.kernel.function.num_regs))  # type: ignore[attr-defined]
                except Exception as problem:
                    console.print(name, single, shape, str(problem)[:200])
            found.sort(key=lambda x: -x[0])
            for rate, shape, error, registers in found[:5]:
                console.print(f"{name} {'float32' if single else 'float64'} {rate:.0f} M/s {tuple(shape)} error {error:.1e} registers {registers} words {r.words}")
            for threads in (64, 128, 256):
                if robot.nv <= 30:
                    start = time.perf_counter()
                    own = staying(device, robot, FORWARD_DYNAMICS, single, threads)
                    took = time.perf_counter() - start
                    rate, error = measured(own, inputs, [STATES], 3)
                    f = own.kernel.function  # type: ignore[attr-defined]
                    console.print(f"   unrolled {threads}: {rate / 1e6:.0f} M/s error {error:.1e} compile {took:.2f} s registers {f.num_regs} local {f.local_size_bytes}")


def fleets(console: Console, device: Any, robots: int = 1000) -> None:
    """Unlike robots, a thousand states each, in one launch."""
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    all_ = [limbs(s, int(rng.integers(12, 31))) for s in range(robots)]
    console.print(f"{robots} robots made in {time.perf_counter() - start:.1f} s")
    for single in (True, False):
        dtype = np.float32 if single else np.float64
        inputs = inputs_for(device, all_, 1000, dtype)
        one = limbs(3, 21)
        alone = inputs_for(device, [one], 1000 * robots, dtype)
        for shape in (None, Shape(128, False, 3), Shape(64, False, 8), Shape(256, False, 2)):
            try:
                start = time.perf_counter()
                r = resident(device, all_, FORWARD_DYNAMICS, single, shape)
                took = time.perf_counter() - start
                if r.shape.shared and (r.words * r.shape.threads * (4 if single else 8) + r.table_bytes + 1024) * r.shape.blocks > device.shared_bytes:
                    continue
                rate, error = measured(r, inputs, [1000] * robots)
                same, _ = measured(resident(device, [one], FORWARD_DYNAMICS, single, shape), alone, [1000 * robots])
                joints = sum(m.nv for m in all_) / robots
                console.print(f"fleet {'float32' if single else 'float64'} {rate / 1e6:.0f} M/s error {error:.1e}; per joint over one robot {rate * joints / same / one.nv:.2f} {tuple(r.shape)} types {len({k for x in r.robots for k in _kinds(x)})} tables and compile {took:.1f} s")
            except Exception as problem:
                console.print(shape, str(problem)[:300])


def _kinds(m: Any) -> list[Any]:
    from modurob.kernels.cuda.layout import laid

    return laid(m, FORWARD_DYNAMICS).kinds


def main() -> None:
    """Print everything."""
    console, device = Console(width=200), cuda_device()
    if isinstance(device, str):
        console.print(f"GPU benchmarks left out: {device}")
        return
    console.print(device.name)
    if "sweep" in sys.argv:
        sweep(console, device)
    fleets(console, device, 1000)


if __name__ == "__main__":
    main()
