"""Compiled dynamics beside Pinocchio and MuJoCo: one process, interleaved rounds, CPU time of the thread, error beside time."""

import gc
import resource
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import modurob as mr
from benchmarks.motion import stepped
from benchmarks.robots import binary_tree, organism, real_robots, snake
from benchmarks.timing import interleaved
from modurob.judges.mujoco import MujocoTwin
from modurob.judges.pinocchio import PinocchioTwin

# compiled packages, whose types say nothing
mujoco: Any = import_module("mujoco")
rollout: Any = import_module("mujoco.rollout")
pinocchio: Any = import_module("pinocchio")
BATCH = 4096
SIZES = (6, 12, 30, 100, 300, 1000)
# Pinocchio's data grow with the cube of the number of joints
LARGEST_FOR_PINOCCHIO = 300
LARGEST_FOR_MUJOCO = 100


def robots() -> Iterator[tuple[str, mr.Mechanism]]:
    """Everything that is measured."""
    for n in SIZES:
        yield f"chain {n}", snake(n).mechanism()
    for n in SIZES:
        yield f"binary tree {n}", binary_tree(n)
    for n in SIZES:
        yield f"organism {n}", organism(n)
    yield from real_robots()


def states(robot: mr.Mechanism, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v and torques, away from zero."""
    rng = np.random.default_rng(0)
    q = robot.integrate(robot.neutral(), rng.normal(size=(n, robot.nv)))
    return q, *rng.normal(size=(2, n, robot.nv))


def difference(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference relative to the largest entry of a state."""
    return float((np.abs(a - b).max(axis=-1) / np.abs(b).max(axis=-1)).max())


def batches(robot: mr.Mechanism, large: bool) -> dict[str, Any]:
    """Nanoseconds per state on one core, and errors against Pinocchio."""
    n = BATCH if robot.nv <= 300 else 1024
    q, v, u = states(robot, n)
    single, ideal = [x.astype(np.float32) for x in (q, v, u)], robot.ideal()
    calls: dict[str, Callable[[], object]] = {
        "fd": lambda: robot.forward_dynamics(q, v, u),
        "id": lambda: robot.inverse_dynamics(q, v, u),
        "fd32": lambda: robot.forward_dynamics(*single),
        "step": lambda: stepped(ideal, q, v, u, 1),
    }
    error = float("nan")
    if large:
        twin = PinocchioTwin(robot)
        pool = pinocchio.ModelPool(twin.model, 1)
        qp = np.stack([twin._q(x) for x in q]).T
        Q, V, U = (np.asfortranarray(x) for x in (qp, v.T[twin.v_index], u.T[twin.v_index]))
        out = np.empty_like(V, order="F")
        rows = [tuple(np.ascontiguousarray(x[:, i]) for x in (Q, V, U)) for i in range(64)]
        calls |= {
            "pin fd": lambda: pinocchio.abaInParallel(1, pool, Q, V, U, out),
            "pin id": lambda: pinocchio.rneaInParallel(1, pool, Q, V, U, out),
            "pin fd plain": lambda: [pinocchio.aba(twin.model, twin.data, *row) for row in rows],
        }
        pinocchio.abaInParallel(1, pool, Q, V, U, out)
        error = difference(robot.forward_dynamics(q, v, u)[:, twin.v_index], out.T)
    if robot.nv <= LARGEST_FOR_MUJOCO:
        calls["mujoco step"] = _mujoco_step(robot, q, v)
    times = interleaved(calls)
    per_state = {name: t / (64 if name.endswith("plain") else n) * 1e9 for name, t in times.items()}
    return per_state | {"error": error}


def _mujoco_step(robot: mr.Mechanism, q: np.ndarray, v: np.ndarray) -> Callable[[], object]:
    twin = MujocoTwin(robot)
    model, data = twin.model, mujoco.MjData(twin.model)
    start = np.zeros((len(q), mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1 : 1 + model.nq], start[:, 1 + model.nq : 1 + model.nq + model.nv] = q[:, : model.nq], v
    return lambda: rollout.rollout(model, data, start, nstep=1)


def dynamics(console: Console) -> None:
    """The table of batches."""
    table = Table(
        "robot",
        "ns/joint",
        "forward",
        "(plain)",
        "inverse",
        "float32",
        "MuJoCo",
        "error",
        title=f"batch of {BATCH} on one core: ns per joint and state, and how many times faster than Pinocchio (abaInParallel, aba,"
        " rneaInParallel) and a step of MuJoCo's rollout",
    )
    mr.set_threads(1)
    for name, robot in robots():
        t = batches(robot, robot.nv <= LARGEST_FOR_PINOCCHIO)

        def ratio(theirs: str, ours: str, t: dict = t) -> str:
            return f"{t[theirs] / t[ours]:.1f}" if theirs in t else "-"

        table.add_row(
            name,
            f"{t['fd'] / robot.nv:.1f}",
            ratio("pin fd", "fd"),
            ratio("pin fd plain", "fd"),
            ratio("pin id", "id"),
            ratio("pin fd", "fd32"),
            ratio("mujoco step", "step"),
            f"{t['error']:.0e}",
        )
    mr.set_threads(None)
    console.print(table)


def two_cores(console: Console) -> None:
    """Wall time of two threads over one, ten calls in a row: a core that has been idle takes some calls to wake."""
    robot = snake(30).mechanism()
    q, v, u = states(robot, 8 * BATCH)
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(15):
        for threads in times:
            mr.set_threads(threads)
            start = time.perf_counter()
            for _ in range(10):
                robot.forward_dynamics(q, v, u)
            times[threads].append(time.perf_counter() - start)
    mr.set_threads(None)
    console.print(f"two cores over one: {min(times[1]) / min(times[2]):.2f}x (best of 15, wall time)")


def single_calls(console: Console) -> None:
    """One state, and eight, from Python."""
    title = "one state, and eight, called from Python"
    table = Table("joints", "function", "modurob [µs]", "Pinocchio [µs]", "ratio", title=title)
    for n in (6, 30, 100):
        times = _single_times(snake(n).mechanism())
        for name in ("forward", "inverse", "mass matrix", "forward, eight"):
            ours, theirs = times[name] * 1e6, times[f"pin {name}"] * 1e6
            table.add_row(str(n), name, f"{ours:.2f}", f"{theirs:.2f}", f"{theirs / ours:.1f}")
    console.print(table)


def _single_times(robot: mr.Mechanism) -> dict[str, float]:
    many = states(robot, 8)
    q, v, u = rows = [np.ascontiguousarray(x[0]) for x in many]
    twin = PinocchioTwin(robot)
    model, data = twin.model, twin.data
    return interleaved(
        {
            "forward": lambda: robot.forward_dynamics(q, v, u),
            "inverse": lambda: robot.inverse_dynamics(q, v, u),
            "mass matrix": lambda: robot.mass_matrix(q),
            "forward, eight": lambda: robot.forward_dynamics(*many),
            "pin forward, eight": lambda: [pinocchio.aba(model, data, *rows) for _ in range(8)],
            "pin forward": lambda: pinocchio.aba(model, data, q, v, u),
            "pin inverse": lambda: pinocchio.rnea(model, data, q, v, u),
            "pin mass matrix": lambda: pinocchio.crba(model, data, q),
        }
    )


def docking(console: Console) -> None:
    """From docking one more module, each time elsewhere, to the first answer of a kernel: no two robots are the same."""
    table = Table("modules", "dock one more and evaluate [ms]", "goal [ms]")
    for n, goal in ((30, 3), (100, 10), (1000, 150)):
        assembly = snake(n)
        places = iter([(f"m{k}/{face}", roll) for face in "25" for roll in (0, 90, 180, 270) for k in range(1, n)])

        def once(assembly: mr.Assembly = assembly, places: Any = places) -> None:
            at, roll = next(places)
            robot = assembly.dock("new", "backbone", at=at, by="4", roll=roll).mechanism()
            zero = np.zeros(robot.nv)
            robot.forward_dynamics(zero, zero, zero)

        once()  # once in the life of a machine, the types of joints are compiled
        table.add_row(str(n), f"{interleaved({'dock': once}, rounds=9)['dock'] * 1e3:.1f}", str(goal))
    console.print(table)


def _resident() -> float:
    """Memory of this process [MB]."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def memory(console: Console) -> None:
    """What a robot of a thousand joints takes: its modules, its tables, and its kernel at work."""
    small = snake(100).mechanism()  # with all the libraries that a large one needs
    small.forward_dynamics(*states(small, 512))
    before = _resident()
    assembly = snake(1000)
    robot = assembly.mechanism()
    q, v, u = states(robot, 512)
    vdot = robot.forward_dynamics(q, v, u)
    held = sum(x.nbytes for x in (q, v, u, vdot)) / 1e6
    console.print(f"memory of a robot of 1000 joints: {_resident() - before - held:.0f} MB (goal 50), the states apart")


def main() -> None:
    """Print everything."""
    console = Console()
    memory(console)
    dynamics(console)
    two_cores(console)
    single_calls(console)
    docking(console)


if __name__ == "__main__":
    main()
