"""Dynamics and steps with contact on a GPU: states a second, results poisoned first, beside the CPU in double precision.

python -m benchmarks.gpu [check] [dynamics] [matrices] [unlike] [steps]: all if none is named.
"""

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import modurob as mr
from benchmarks.robots import binary_tree, of_cubes, snake
from modurob.algorithms.acceleration_slopes import FORWARD_DERIVATIVES
from modurob.algorithms.articulated import FORWARD_DYNAMICS
from modurob.algorithms.composite import MASS_MATRIX
from modurob.algorithms.forces import acting
from modurob.algorithms.inverse import INVERSE_DYNAMICS
from modurob.algorithms.joint_space import SLOPES
from modurob.algorithms.program import Program
from modurob.kernels import repeated
from modurob.kernels import run as kernels_run
from modurob.kernels.cuda.arrays import strides_of
from modurob.kernels.cuda.device import cuda_device
from modurob.kernels.cuda.launching import Resident, entries, resident, staying
from modurob.kernels.cuda.rows import laid_for, walker
from modurob.simulation.stepping import step_flow
from tests.robots import random_assembly, random_mechanism

STATES = 2**20
MATRIX_STATES = 2**17
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
    return sum(states) / median_seconds(cp, bound.launch, rounds), error


def median_seconds(cp: Any, launch: Callable[[], Any], rounds: int) -> float:
    """How long a launch takes, by the clock of the device."""
    times = []
    for _ in range(rounds):
        begin, end = cp.cuda.Event(), cp.cuda.Event()
        begin.record()
        launch()
        end.record()
        end.synchronize()
        times.append(cp.cuda.get_elapsed_time(begin, end) / 1e3)
    return float(np.median(times))


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
        fleet = resident(device, robots, FORWARD_DYNAMICS, single)
        rate, error = measured(fleet, inputs_for(device, robots, 1000, single))
        alone = inputs_for(device, [one], 1000 * ROBOTS, single)
        same, best = (
            rate * joints / one.nv / measured(resident(device, [one], FORWARD_DYNAMICS, single, shape), alone)[0]
            for shape in (fleet.shape, None)
        )
        console.print(
            f"{ROBOTS} unlike trees of 12 to 30 joints x 1000 states, {'float32' if single else 'float64'}: {rate / 1e6:.0f} M/s, "
            f"per joint {same:.2f} of one robot's rate by the same kernel, {best:.2f} of the best for it, error {error:.0e}"
        )


def walkers(device: Any, robots: list[mr.Mechanism], states: int, stepper: mr.LinearlyImplicit, single: bool) -> Any:
    """Steps of robots on the ground: what runs them, and their inputs near where they stand."""
    dtype, rng = np.float32 if single else np.float64, np.random.default_rng(0)
    flows = [step_flow(stepper, acting(m).nx, False) for m in robots]
    found = walker(device, [laid_for(m, flow, single) for m, flow in zip(robots, flows, strict=True)], single)  # type: ignore[misc]
    inputs = []
    for m in robots:
        some = m.integrate(m.standing(), 0.01 * rng.normal(size=(SAMPLE, m.nv)))
        every = np.arange(states) % SAMPLE
        x, u = np.tile(acting(m).start(), (states, 1)), np.zeros((states, m.nv))
        given = [np.zeros((states, 1)), np.full((states, 1), stepper.dt), some[every], 0 * u, x, u]
        inputs.append([device.array(np.ascontiguousarray(a.T.astype(dtype))).T for a in given])
    return found, inputs, flows


def steps_a_second(found: Any, inputs: list[Any], flows: list[Any], robots: list[mr.Mechanism]) -> tuple[float, float]:
    """Steps of all states a second, the median of five, and the largest error of q after twenty steps, beside the CPU in double."""
    cp = found.device.cupy
    states = [len(x[0]) for x in inputs]
    out = [
        [cp.full((n, k), cp.nan, x[0].dtype).T for _, n in own.results]
        for own, k, x in zip(found.robots, states, inputs, strict=True)
    ]
    assert not found.run(inputs, states, strides_of, out, 20).any()
    error = 0.0
    for m, flow, x, left in list(zip(robots, flows, inputs, out, strict=True))[:: max(1, len(robots) // 10)]:
        few = {name: a[:SAMPLE].get().astype(float) for name, a in zip(flow.inputs, x, strict=True)}
        error = max(error, float(np.abs(left[1][:SAMPLE].get() - repeated(flow, m, few, 20).results["q"]).max()))
    seconds = median_seconds(cp, lambda: found.run(inputs, states, strides_of, out, 200), 5)
    return 200 * sum(states) / seconds, error


def on_the_ground(console: Console, device: Any) -> None:
    """Snakes of Backbones on the ground, and unlike ones in one launch."""
    table = Table(
        "robots", "step", "float32", "error", "float64", "error", title="steps with contact: millions a second"
    )
    ways = [("2 ms, one solve", mr.LinearlyImplicit(2e-3, solves=1)), ("5 ms, two solves", mr.LinearlyImplicit(5e-3))]
    ground = mr.Ground()
    cases = [(f"{n} modules", [snake(n - 1).mechanism(floating=True).on_ground(ground)], 2**17) for n in (6, 12)]
    unlike = [snake(n - 1).mechanism(floating=True).on_ground(ground) for n in range(6, 16)]
    for name, robots, states in [*cases, ("10 unlike, 6 to 15 modules", unlike, 2**14)]:
        for way, stepper in ways:
            cells = []
            for single in (True, False):
                rate, error = steps_a_second(*walkers(device, robots, states, stepper, single), robots)
                cells += [f"{rate / 1e6:.1f}", f"{error:.0e}"]
            table.add_row(name, way, *cells)
    console.print(table)


MATRICES = {
    "mass matrices": MASS_MATRIX,
    "inverse dynamics derivatives": SLOPES,
    "forward dynamics derivatives": FORWARD_DERIVATIVES,
}


def matrices(console: Console, device: Any) -> None:
    """Mass matrices and derivatives of chains."""
    heads = ("robot", *(f"float{n}" for n in (32, 64)), "errors")
    for name, program in MATRICES.items():
        table = Table(*heads, title=f"{name}, {MATRIX_STATES} states: millions a second")
        for n in (6, 12, 30):
            robot = snake(n).mechanism()
            rates = [matrix_rate(device, robot, program, single) for single in (True, False)]
            seen = (f"{rate / 1e6:.1f}" for rate, _ in rates)
            table.add_row(f"chain {n}", *seen, ", ".join(f"{error:.0e}" for _, error in rates))
        console.print(table)


def matrix_rate(device: Any, robot: mr.Mechanism, program: Program, single: bool) -> tuple[float, float]:
    """States a second, the median, and the largest error in a sample beside the largest entry of a state."""
    cp, dtype = device.cupy, np.float32 if single else np.float64
    found = walker(device, [laid_for(robot, program, single)], single)  # type: ignore[list-item]
    inputs = inputs_for(device, [robot], MATRIX_STATES, single)[0][: len(found.robots[0].inputs)]
    out = [cp.full((n, MATRIX_STATES), cp.nan, dtype).T for _, n in found.robots[0].results]
    arguments = [inputs], [MATRIX_STATES], strides_of, [out], 1
    assert not found.run(*arguments).any()
    every = MATRIX_STATES // SAMPLE
    few = {name: x[::every].get().astype(float) for name, x in zip(program.inputs, inputs, strict=False)}
    expected = kernels_run(program, robot, few).results.values()
    error = 0.0
    for x, right in zip(out, expected, strict=True):
        difference = np.abs(x[::every].get().reshape(right.shape) - right).max(axis=(-2, -1))
        error = max(error, float((difference / np.abs(right).max(axis=(-2, -1))).max()))
    return MATRIX_STATES / median_seconds(cp, lambda: found.run(*arguments), 5), error


def check(console: Console, device: Any) -> None:
    """Random trees of all kinds of joints and organisms on the GPU, in one fleet, beside the CPU."""
    rng = np.random.default_rng(0)
    robots = [
        random_mechanism(rng, int(rng.integers(2, 12)), floating=k % 2 == 0, armature=k % 3 == 0) for k in range(20)
    ]
    robots += [random_assembly(rng, int(rng.integers(3, 14))).mechanism(floating=k % 2 == 0) for k in range(60)]
    robots = [robot for robot in robots if robot.nv]
    for dtype in (np.float32, np.float64):
        fleet, given = mr.Fleet(robots, device="cuda"), [_states(rng, robot, dtype) for robot in robots]
        for name in FUNCTIONS:
            arguments = [list(x) for x in zip(*given, strict=True)][: 1 if name == "mass_matrix" else 3]
            seen = getattr(fleet, name)(*arguments)
            exact = getattr(mr.Fleet(robots), name)(*([x.astype(float) for x in xs] for xs in arguments))
            errors = np.array([_relative(a, b) for a, b in zip(seen, exact, strict=True)])
            bound = 1e-5 if dtype is np.float32 else 1e-12
            console.print(
                f"{name}, {len(robots)} random robots, {dtype.__name__}: largest error {errors.max():.0e}, "
                f"{int((errors > bound).sum())} above {bound:.0e}"
            )


FUNCTIONS = (
    "forward_dynamics",
    "inverse_dynamics",
    "mass_matrix",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
)


def _states(rng: np.random.Generator, robot: mr.Mechanism, dtype: Any) -> list[Any]:
    k = int(rng.integers(1, 20))
    q = robot.integrate(robot.neutral(), rng.normal(size=(k, robot.nv)))
    return [x.astype(dtype) for x in (q, *rng.normal(size=(2, k, robot.nv)))]


def _relative(seen: Any, exact: Any) -> float:
    """The largest error beside the largest entry, of all parts of a result."""
    pairs = list(zip(seen, exact, strict=True)) if isinstance(exact, tuple) else [(seen, exact)]
    return float(max(np.abs(a - b).max() for a, b in pairs) / max(np.abs(b).max() for _, b in pairs))


def dynamics(console: Console, device: Any) -> None:
    """Forward and inverse dynamics."""
    for program in (FORWARD_DYNAMICS, INVERSE_DYNAMICS):
        one_robot(console, device, program)


SECTIONS = {
    "check": check,
    "dynamics": dynamics,
    "matrices": matrices,
    "unlike": unlike,
    "steps": on_the_ground,
}


def main(names: Sequence[str] = ()) -> None:
    """Print some sections, or all."""
    console, device = Console(width=120), cuda_device()
    if isinstance(device, str):
        console.print(f"benchmarks of GPUs left out: {device}")
        return
    for name in names or SECTIONS:
        start = time.perf_counter()
        SECTIONS[name](console, device)
        console.print(f"{name}: {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
