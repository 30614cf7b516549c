"""How long drives take: the LWA 4P with six elastic drives, loops at 1 kHz around current loops at 10 kHz, alone and in a batch."""

import time
from dataclasses import replace

import numpy as np
from rich.console import Console

import modurob as mr
from modurob.algorithms.forces import acting
from modurob.simulation.stepping import Mover
from modurob.simulation.system import State
from reproduce.lwa_arm import GOAL, arm, drive

RUNS, DURATION = 1000, 0.02


def elastic_arm() -> mr.Mechanism:
    """Six elastic servos, a load of 1 kg at the flange."""
    drives = []
    for k in range(6):
        own = drive(k)
        gains = mr.cascade(own, (0.8, 1.2, 0.25, 0.05, 0.05, 0.05)[k], settling_time=0.5, current_time=5e-4)
        gear = replace(own.gear, stiffness=1e4, damping=5.0)
        loops = gains.loops(sample_time=1e-3, loop_time=1e-4)
        drives.append(replace(own, gear=gear, loops=loops, encoder=None, input="position"))
    return arm(drives).with_payload("link6", mr.spatial.inertia.sphere(1.0, 0.08))


def one_run(console: Console, robot: mr.Mechanism) -> None:
    """1 s, a reference at 1 kHz from Python."""
    times = []
    for _ in range(5):
        started = time.process_time()
        run = mr.simulate(robot, duration=1.0, controller=lambda t, q, v: GOAL * min(t, 1.0) * 0.3, tick=1e-3)
        times.append(time.process_time() - started)
    assert run.status.ok
    console.print(f"1 s of the LWA 4P with six elastic servos: {min(times):.2f} s of CPU (goal 0.15)")


def many_runs(console: Console, robot: mr.Mechanism) -> None:
    """A thousand side by side on one core, commands held."""
    mr.set_threads(1)
    q = np.zeros((RUNS, robot.nq))
    state = State(q, q.copy(), acting(robot).start_at(q))
    mover, u = Mover(robot, mr.ExponentialRungeKutta4(1e-4)), np.broadcast_to(0.1 * GOAL, q.shape)
    times = []
    for _ in range(4):
        started = time.thread_time()
        mover.advance(0.0, state, u, DURATION)
        times.append(time.thread_time() - started)
    console.print(f"{RUNS} of them in a batch: {RUNS * DURATION / min(times):.0f} times real time a core (goal 200)")


def main() -> None:
    """Both."""
    console, robot = Console(), elastic_arm()
    one_run(console, robot)
    many_runs(console, robot)


if __name__ == "__main__":
    main()
