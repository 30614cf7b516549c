"""Robots with cables: a step of motion beside MuJoCo's tendons, a thousand struts side by side, and the manipulator of
Lieskovsky under its controller and alone."""

import time

import mujoco
import numpy as np
from rich.console import Console
from rich.table import Table

import modurob as mr
from benchmarks.timing import interleaved
from tests.oracles import simplex, strut
from tests.oracles.mujoco_tendons import Tendons
from tests.robots import random_mechanism

BATCH, STEPS = 1000, 20


def tied(rng: np.random.Generator, cables: int) -> mr.Mechanism:
    """A random robot of eight bodies under cables."""
    robot = random_mechanism(rng, 8, kinds=("revolute", "prismatic")).ideal()
    for k in range(cables):
        route = [("world", rng.normal(size=3) * 5), (str(rng.choice(robot.bodies[1:])), rng.normal(size=3))]
        robot = robot.with_line(f"cable{k}", route, mr.Elastic(stiffness=20.0, rest=1.0))
    return robot


def beside_mujoco(cables: int) -> list[str]:
    """Steps of RK4 of a thousand states at once, against MuJoCo's one after the other."""
    rng = np.random.default_rng(0)
    robot = tied(rng, cables)
    q = np.stack([robot.random_configuration(rng) for _ in range(BATCH)])
    judge = Tendons(robot, q[0])
    judge.place(q[0], np.zeros(robot.nv))
    judge.model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    t = interleaved(
        {
            "ours": lambda: moved(robot, q),
            "mujoco": lambda: [mujoco.mj_step(judge.model, judge.data) for _ in range(STEPS)],
        },
        rounds=5,
    )
    ours, theirs = t["ours"] / (STEPS * BATCH) * 1e6, t["mujoco"] / STEPS * 1e6
    return [f"8 bodies, {cables} cables", f"{ours:.2f}", f"{theirs:.2f}", f"{theirs / ours:.1f}"]


def struts() -> list[str]:
    """A thousand single struts with winches."""
    robot = strut.strung()
    q, _ = strut.tree_state(np.array([0.0, 0, 0.1, 0.1, 0.1]))
    many = np.tile(q[[0, 1, 3, 7, 11]], (BATCH, 1))
    many[:, 0] += np.random.default_rng(0).normal(size=BATCH) * 0.01
    seconds = interleaved({"ours": lambda: moved(robot, many)}, rounds=5)["ours"]
    return ["1000 single struts, lines", f"{seconds / (STEPS * BATCH) * 1e6:.2f}", "", ""]


def manipulator(console: Console, seconds: float = 2.0) -> None:
    """CPU of the path under the whole-body controller at 1 kHz, and how much faster than time the models move alone."""
    path = simplex.PATHS["horizontal"]
    simplex.followed(path, cured=True, duration=0.02)
    started = time.process_time()
    run, _ = simplex.followed(path, cured=True, duration=seconds)
    assert run.status.ok
    taken = (time.process_time() - started) / seconds * 20
    console.print(
        f"manipulator, path of 20 s at 1 kHz with a quadratic programme a sample: {taken:.0f} s of CPU (goal 20)"
    )
    for name, (robot, q) in {"manipulator": simplex.standing(), "single strut": strut.stretched(2e9)}.items():
        rates = " and ".join(f"{_faster(robot, q, dt):.0f} with steps of {dt * 1e3:g} ms" for dt in (1e-3, 5e-3))
        console.print(f"{name} alone, RungeKutta4: times real time {rates} (goal 100)")


def _faster(robot: mr.Mechanism, q: np.ndarray, dt: float, seconds: float = 0.3) -> float:
    """Of several runs the fastest, recorded every 20 ms."""
    times = []
    for _ in range(6):
        started = time.process_time()
        mr.simulate(robot, q, duration=seconds, stepper=mr.RungeKutta4(dt), tick=2e-2)
        times.append(time.process_time() - started)
    return seconds / min(times)


def moved(robot: mr.Mechanism, q: np.ndarray) -> mr.Recording:
    """A batch moved by so many steps; a run that ended early would be no measure."""
    stepper, tick = mr.RungeKutta4(1e-3), STEPS * 1e-3
    run = mr.simulate(robot, q, np.zeros_like(q), duration=tick, stepper=stepper, tick=tick)
    assert len(run.t) == 2, run.status
    assert np.isfinite(run.q).all()
    assert np.abs(run.q[-1] - run.q[0]).max() > 1e-6
    return run


def main() -> None:
    # times are those of one thread
    mr.set_threads(1)
    table = Table("a step of RK4 in a batch of 1000", "ours [µs]", "MuJoCo [µs]", "ratio", title="Lines")
    for cables in (2, 8):
        table.add_row(*beside_mujoco(cables))
    table.add_row(*struts())
    console = Console()
    console.print(table)
    manipulator(console)
    mr.set_threads(None)


if __name__ == "__main__":
    main()
