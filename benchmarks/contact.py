"""How fast organisms walk on a plane, alone and in batches, beside MuJoCo's rollout of the same robot with the same servos.

Both sides take the largest step at which they meet one list: six gaits within 10 % and 5 degrees of stiff MuJoCo at 0.2 ms, a block
from 1 m/s slides to 1 %, creep on a slope below 1e-6 m/s, and thrown organisms never sink 2 mm nor gain energy.
`benchmarks.contact_accuracy` shows what either misses at larger steps.
"""

from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import modurob as mr
from benchmarks.timing import interleaved
from modurob.algorithms.forces import acting
from modurob.judges.walking import MujocoWalker
from modurob.simulation.stepping import Mover
from modurob.simulation.system import State

mujoco: Any = import_module("mujoco")
rollout: Any = import_module("mujoco.rollout")

RUNS, TIME = 256, 0.21
# MuJoCo's default step; the largest at which its accurate setting meets the whole list, and gaits and blocks alone
MUJOCO_STEP, WHOLE_STEP, WALKING_STEP = 2e-3, 7.5e-4, 1.5e-3


def snake(n: int) -> mr.Mechanism:
    """n backbones in a row that crawl on the ground."""
    made = mr.Assembly.single("m0", "backbone")
    for i in range(1, n):
        made = made.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4")
    robot = made.mechanism(floating=True)
    gait = mr.gait("snake", amplitude=0.4, frequency=1.0, waves=max(1.0, n / 6))
    return mr.driven(robot, gait).on_ground(mr.Ground(friction=0.8))


def starts(m: mr.Mechanism, runs: int) -> np.ndarray:
    """Configurations that lie on the ground, a tenth of a radian apart."""
    q = np.tile(m.neutral(), (runs, 1))
    q[:, 7:] += 0.1 * np.random.default_rng(0).normal(size=(runs, m.nq - 7))
    return m.standing(q)


NAMES = {
    "mujoco": "MuJoCo, defaults 2 ms",
    "whole": "MuJoCo, whole list 0.75 ms",
    "walking": "MuJoCo, gaits and blocks 1.5 ms",
    "2": "ours, whole list 2 ms",
    "5": "ours, gaits and blocks 5 ms",
    "one": "ours alone, whole list 2 ms",
}
# who is compared with whom: by the whole list, by gaits and blocks alone, and with MuJoCo's defaults
PAIRS = (("2", "whole"), ("one", "whole"), ("5", "walking"), ("2", "walking"), ("2", "mujoco"), ("5", "mujoco"))


def main() -> None:
    """Print the tables."""
    console, table = Console(), Table(title=f"simulated seconds a second of one core, {RUNS} runs of snakes")
    table.add_column("modules")
    found = {n: measured(n) for n in (6, 12, 30)}
    for n in found:
        table.add_column(str(n), justify="right")
    for row in found[6]:
        table.add_row(row, *(figures[row] for figures in found.values()))
    console.print(table)
    piled = Table(title="a stack of ten boxes, simulated seconds a second of one core")
    for column in ("runs", "MuJoCo 2 ms", "ours 2 ms", "ratio", "ours 5 ms", "ratio"):
        piled.add_column(column, justify="right")
    mr.set_threads(1)
    for runs in (1, 64):
        piled.add_row(str(runs), *stacked(runs))
    mr.set_threads(None)
    console.print(piled)


def measured(n: int) -> dict[str, str]:
    """The figures of one snake."""
    m = snake(n)
    q = starts(m, RUNS)
    v, u = np.zeros((2, RUNS, m.nv))
    x = np.tile(acting(m).start(), (RUNS, 1))

    def ours(dt: float, runs: int, threads: int = 1) -> Any:
        mover = Mover(m, mr.LinearlyImplicit(dt))
        s = State(q[:runs], v[:runs], x[:runs]) if runs > 1 else State(q[0], v[0], x[0])

        def run() -> None:
            mr.set_threads(threads)
            mover.advance(2.0, s, u[:runs] if runs > 1 else u[0], TIME)
            mr.set_threads(None)

        return run

    times = interleaved(
        {
            "mujoco": theirs(m, q, False, MUJOCO_STEP),
            "whole": theirs(m, q, True, WHOLE_STEP),
            "walking": theirs(m, q, True, WALKING_STEP),
            "2": ours(2e-3, RUNS),
            "5": ours(5e-3, RUNS),
            "one": ours(2e-3, 1),
        }
    )
    per = {name: TIME * (1 if name == "one" else RUNS) / t for name, t in times.items()}
    return {
        **{NAMES[name]: f"{x:.0f}" for name, x in per.items()},
        **{f"{NAMES[own]}, times {NAMES[peer]}": f"{per[own] / per[peer]:.1f}" for own, peer in PAIRS},
        "two cores, times one": f"{two_cores(ours(2e-3, RUNS), ours(2e-3, RUNS, 2)):.2f}",
    }


def two_cores(one: Any, two: Any, rounds: int = 9) -> float:
    """How many times faster two threads are, by the shortest of rounds that take turns, by the clock: threads take CPU time that is
    not that of the caller."""
    took = np.array([[wall(one), wall(two)] for _ in range(rounds)])
    return float(np.divide(*took.min(axis=0)))


def wall(run: Any) -> float:
    """Of one round by the clock [s]."""
    start = perf_counter()
    run()
    return perf_counter() - start


BOXES, EDGE = 10, 0.1


def stack() -> mr.Mechanism:
    """Boxes of 1 kg that touch each other and the ground."""
    b = mr.Builder("stack")
    for i in range(BOXES):
        b.body(f"b{i}", mr.spatial.inertia.box(1.0, (EDGE,) * 3), joint=mr.Free())
        b.collision("box", (EDGE,) * 3, on=f"b{i}")
    return b.build().on_ground().with_body_contact()


def stacked(runs: int) -> list[str]:
    """The figures of a stack, so many side by side."""
    m = stack()
    q = m.neutral()
    q[2::7] = EDGE * (np.arange(BOXES) + 0.5)
    lead = (runs,) if runs > 1 else ()
    q, v, x = (np.tile(a, (*lead, 1)) if lead else a for a in (q, np.zeros(m.nv), acting(m).start()))

    def ours(dt: float) -> Any:
        mover = Mover(m, mr.LinearlyImplicit(dt))
        return lambda: mover.advance(0.0, State(q, v, x), v, TIME)

    times = interleaved({"mujoco": their_stack(runs), "2": ours(2e-3), "5": ours(5e-3)})
    per = {name: TIME * runs / t for name, t in times.items()}
    return [
        f"{per['mujoco']:.0f}",
        *(x for name in "25" for x in (f"{per[name]:.0f}", f"{per[name] / per['mujoco']:.1f}")),
    ]


def their_stack(runs: int) -> Any:
    """MuJoCo's rollout of the same boxes on a plane."""
    half = EDGE / 2
    bodies = "".join(
        f'<body pos="0 0 {EDGE * (k + 0.5)}"><freejoint/><geom type="box" size="{half} {half} {half}" mass="1"/></body>'
        for k in range(BOXES)
    )
    plane = '<geom type="plane" size="1 1 1" friction="0.8"/>'
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{MUJOCO_STEP}"/><worldbody>{plane}{bodies}</worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    start = np.zeros((runs, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    for row in start:
        mujoco.mj_getState(model, data, row, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    return lambda: rollout.rollout(model, data, start, nstep=round(TIME / MUJOCO_STEP))


def theirs(m: mr.Mechanism, q: np.ndarray, stiff: bool, dt: float) -> Any:
    """MuJoCo's rollout: at its defaults, or with contacts as stiff as the step allows, elliptic cones, and the noslip solver,
    without which blocks creep."""
    walker = MujocoWalker(m, dt, stiff=stiff)
    if stiff:
        walker.model.opt.impratio, walker.model.opt.noslip_iterations = 10, 5
        walker.model.opt.iterations, walker.model.opt.tolerance = 100, 1e-8
    size = mujoco.mj_stateSize(walker.model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    start = np.zeros((len(q), size))
    for k, one in enumerate(q):
        walker._place(one, np.zeros(m.nv))
        mujoco.mj_getState(walker.model, walker.data, start[k], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    control = walker.controls(2.0 + np.arange(round(TIME / dt)) * dt)
    control = np.broadcast_to(control, (len(q), *control.shape))
    return lambda: rollout.rollout(walker.model, walker.data, start, control)


if __name__ == "__main__":
    main()
