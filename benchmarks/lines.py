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


def manipulator(console: Console, seconds: float = 1.0, rounds: int = 4) -> None:
    """CPU of the path under the whole-body controller at 1 kHz, and how much faster than time the models move alone."""
    path, start = simplex.PATHS["horizontal"], simplex.standing()
    simplex.followed(path, cured=True, duration=0.02, start=start)
    times = []
    for _ in range(rounds):
        started = time.process_time()
        run, _ = simplex.followed(path, cured=True, duration=seconds, start=start)
        times.append((time.process_time() - started) / seconds * 20)
        assert run.status.ok
    console.print(
        f"manipulator, path of 20 s at 1 kHz with a quadratic programme a sample: {min(times):.1f} s of CPU (goal 20)"
    )
    for name, (robot, q) in {"manipulator": start, "single strut": strut.stretched(2e9)}.items():
        rates = " and ".join(f"{_faster(robot, q, dt):.0f} with steps of {dt * 1e3:g} ms" for dt in (1e-3, 5e-3))
        console.print(f"{name} alone, RungeKutta4: times real time {rates} (goal 100)")
    errors = ", ".join(f"{_error(*start, dt):.0e} rad with {dt * 1e3:g} ms" for dt in (1e-3, 5e-3))
    console.print(f"manipulator pulled out of balance, off after 0.6 s: {errors}")


def _faster(robot: mr.Mechanism, q: np.ndarray, dt: float, seconds: float = 2.0) -> float:
    """Of several runs the fastest, recorded every 20 ms."""
    times = []
    for _ in range(4):
        started = time.process_time()
        run = mr.simulate(robot, q, duration=seconds, stepper=mr.RungeKutta4(dt), tick=2e-2)
        times.append(time.process_time() - started)
        assert run.status.ok
    return seconds / min(times)


def _error(robot: mr.Mechanism, q: np.ndarray, dt: float) -> float:
    """How far struts, links and end effector are off after 0.6 s from those of steps of 0.1 ms, the torque of one winch 2 % above
    balance and all cables taut."""
    drums, tau = [robot.joint(f"drum {row.name}").v_slice.start for row in robot.lines], np.zeros(robot.nv)
    tau[drums] = simplex.RADIUS * robot.line_tensions(q, np.zeros(robot.nv))
    tau[drums[0]] *= 1.02
    ends = [
        mr.simulate(robot, q, duration=0.6, stepper=mr.RungeKutta4(step), tick=2e-2, controller=lambda t, q, v: tau)
        for step in (dt, 1e-4)
    ]
    assert min(robot.line_tensions(run.q, run.v).min() for run in ends) > 0
    off = np.delete(ends[0].q[-1] - ends[1].q[-1], drums)
    assert np.abs(np.delete(ends[1].q[-1] - q, drums)).max() > 0.1
    return float(np.abs(off).max())


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
