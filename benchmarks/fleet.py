"""Fleets of unlike organisms beside one organism with as many states, and new organisms from their assembly to first dynamics."""

import multiprocessing
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from rich.console import Console

import modurob as mr
from benchmarks.robots import of_cubes
from modurob.judges.pinocchio import PinocchioTwin

ROBOTS, STATES, JOINTS = 1000, 1000, 12
NEW = 300


def organism(seed: int, n: int = JOINTS) -> mr.Mechanism:
    """Cubes docked at random onto one of the last eight, on their hinges in one of sixteen random orders of ways."""
    rng = np.random.default_rng(seed)
    return of_cubes(n, [int(rng.integers(max(0, i - 8), i)) if i else -1 for i in range(n)], seed % 16)


def best(functions: dict[str, Callable[[], object]], clock: Callable[[], float], rounds: int = 9) -> dict[str, float]:
    """The least seconds of each, the functions taking turns."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, f in functions.items():
            start = clock()
            f()
            times[name].append(clock() - start)
    return {name: min(t) for name, t in times.items()}


def unlike(console: Console, robots: int = ROBOTS) -> None:
    """The rate of unlike organisms over that of one."""
    fleet = mr.Fleet([organism(s) for s in range(robots)])
    rng = np.random.default_rng(0)
    states = [rng.normal(size=(3, STATES, r.nv)) for r in fleet]
    q, v, u = ([s[k] for s in states] for k in range(3))
    together = [np.concatenate(x) for x in (q, v, u)]
    functions: dict[str, Callable[[], object]] = {
        "fleet": lambda: fleet.forward_dynamics(q, v, u),
        "one": lambda: fleet[0].forward_dynamics(*together),
        "one by one": lambda: [r.forward_dynamics(*s) for r, s in zip(fleet, states, strict=True)],
    }
    for f in functions.values():
        f()
    for threads, clock in ((1, time.thread_time), (2, time.perf_counter)):
        mr.set_threads(threads)
        t = best(functions, clock)
        console.print(
            f"{robots} organisms of {JOINTS} joints x {STATES} states, {threads} thread(s): "
            f"{robots * STATES / t['fleet'] / 1e6:.2f} M/s, {t['one'] / t['fleet']:.2f} of the rate of one organism; "
            f"one by one {t['one'] / t['one by one']:.2f}"
        )
    mr.set_threads(None)


def random_organism(rng: np.random.Generator, modules: int) -> mr.Assembly:
    """Backbones docked one after another at random free ports."""
    assembly = mr.Assembly.single("m0", "backbone")
    while len(assembly) < modules:
        free = assembly.free_ports
        at, by = free[rng.integers(len(free))], str(rng.integers(1, 5))
        try:
            assembly = assembly.dock(f"m{len(assembly)}", "backbone", at, by)
        except mr.ModurobError:
            continue
    return assembly


def first_dynamics(organisms: list[mr.Assembly]) -> tuple[list[mr.Mechanism], float, float]:
    """Their mechanisms, CPU time until forward dynamics of one state of each, and until their tables [s]."""
    start = time.process_time()
    made = [a.mechanism() for a in organisms]
    tables = time.process_time() - start
    zeros = [np.zeros((1, r.nv)) for r in made]
    mr.Fleet(made).forward_dynamics(zeros, zeros, zeros)
    return made, time.process_time() - start, tables


OWN: list[mr.Assembly] = []  # organisms of a process


def prepare() -> None:
    """Organisms for this process, of which it meets the first half at once: types of joints are compiled then."""
    rng = np.random.default_rng(os.getpid())
    OWN.extend(random_organism(rng, 12) for _ in range(2 * NEW))
    first_dynamics(OWN[:NEW])


def others(_: int) -> int:
    return len(first_dynamics(OWN[NEW:])[0])


def side_by_side(console: Console) -> None:
    """Wall time of two processes with organisms of their own, which they have met the like of before."""
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn"), prepare) as pool:
        list(pool.map(time.sleep, [1.0, 1.0]))  # both are prepared
        start = time.perf_counter()
        made = sum(pool.map(others, range(2)))
        rate = made / (time.perf_counter() - start)
    console.print(f"12 Backbones, modurob in two processes: {rate:.0f} new organisms a second")


def newcomers(console: Console) -> None:
    """CPU time from assemblies to forward dynamics of one state each, and of Pinocchio and MuJoCo from their files to their own."""
    import mujoco

    rng = np.random.default_rng(1)
    found = [random_organism(rng, 12) for _ in range(2 * NEW)]
    first_dynamics(found[:NEW])  # types of joints are compiled with the first of them
    made, whole, tables = first_dynamics(found[NEW:])
    side_by_side(console)
    zeros = [np.zeros((1, r.nv)) for r in made]
    times = {"modurob": whole, "its tables": tables}
    start = time.process_time()
    for robot, zero in zip(made, zeros, strict=True):
        PinocchioTwin(robot).forward_dynamics(zero[0], zero[0], zero[0])
    times["Pinocchio, from our tables"] = time.process_time() - start
    texts = [mr.mjcf(robot) for robot in made]
    start = time.process_time()
    for text in texts:
        model: Any = mujoco.MjModel.from_xml_string(text)  # pyright: ignore
        mujoco.mj_forward(model, mujoco.MjData(model))  # pyright: ignore
    times["MuJoCo, from our MJCF"] = time.process_time() - start
    for name, t in times.items():
        console.print(f"12 Backbones, {name}: {t / NEW * 1e3:.2f} ms of CPU time each, {NEW / t:.0f} a second and core")


def main() -> None:
    """Print everything."""
    console = Console()
    unlike(console)
    newcomers(console)


if __name__ == "__main__":
    main()
