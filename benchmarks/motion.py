"""How long motion takes: the crab under computed torque, alone and a thousand at once, and beside MuJoCo's rollout."""

import time
from importlib import import_module
from typing import Any

import numpy as np
from rich.console import Console

import modurob as mr
from benchmarks.timing import interleaved
from modurob.judges.mujoco import MujocoTwin
from modurob.simulation.stepping import Mover
from modurob.simulation.system import State

mujoco: Any = import_module("mujoco")
rollout: Any = import_module("mujoco.rollout")

RUNS, STEPS = 1000, 100


def crab() -> mr.Mechanism:
    """The crab standing on its first module."""
    return mr.load("crab").mechanism(base="m0")


def stepped(robot: mr.Mechanism, q: np.ndarray, v: np.ndarray, tau: np.ndarray, steps: int) -> State:
    """The states of a batch, so many semi-implicit Euler steps of a millisecond later."""
    mover = Mover(robot, mr.SemiImplicitEuler(1e-3))
    return mover.advance(0.0, State(q, v, np.zeros((len(q), 0))), tau, steps * 1e-3).state


def one_run(console: Console) -> None:
    """10 s at 1 kHz control and 1 kHz physics, from Python."""
    robot, law = crab(), mr.ComputedTorque(kp=100, kd=20, reference=0.3, sample_time=1e-3)
    start = np.array([0.4, -0.7, 0.9])
    for stepper in (mr.SemiImplicitEuler(1e-3), mr.RungeKutta4(1e-3)):
        times = []
        for _ in range(4):
            started = time.process_time()
            mr.simulate(robot, start, duration=10.0, controller=law, stepper=stepper)
            times.append(time.process_time() - started)
        console.print(
            f"10 s of the crab, computed torque at 1 kHz, {type(stepper).__name__}: {min(times[1:]):.2f} s (goal 0.5)"
        )
    recipe = mr.ExtendedKalmanFilter(mr.HallSensors(noise=1e-3))
    started = time.process_time()
    mr.simulate(robot, start, duration=1.0, controller=law, estimator=recipe)
    console.print(f"1 s with the extended Kalman filter in the loop: {time.process_time() - started:.2f} s")


def many_runs(console: Console) -> None:
    """A thousand runs side by side on one core."""
    robot, law = crab(), mr.ComputedTorque(kp=100, kd=20, reference=0.3, sample_time=1e-3)
    starts = np.random.default_rng(0).normal(size=(RUNS, robot.nq)) * 0.3
    mr.set_threads(1)
    for stepper in (mr.SemiImplicitEuler(1e-3), mr.RungeKutta4(1e-3)):
        mr.simulate(robot, starts, duration=0.01, controller=law, stepper=stepper)
        started = time.process_time()
        mr.simulate(robot, starts, duration=1.0, controller=law, stepper=stepper)
        speed = RUNS / (time.process_time() - started)
        console.print(
            f"{RUNS} runs in one call, {type(stepper).__name__}: {speed:.0f} times real time per core (goal 500)"
        )
    mr.set_threads(None)


def beside_mujoco(console: Console) -> None:
    """The same crab let fall, semi-implicit Euler at 1 kHz, a hundred steps a call."""
    robot = crab().ideal()
    twin = MujocoTwin(robot)
    model, data = twin.model, mujoco.MjData(twin.model)
    model.opt.timestep = 1e-3
    q = np.random.default_rng(0).normal(size=(RUNS, robot.nq)) * 0.3
    v = tau = np.zeros((RUNS, robot.nv))
    start = np.zeros((RUNS, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1 : 1 + model.nq] = q
    mr.set_threads(1)
    times = interleaved(
        {
            "modurob": lambda: stepped(robot, q, v, tau, STEPS),
            "mujoco": lambda: rollout.rollout(model, data, start, nstep=STEPS),
        }
    )
    mr.set_threads(None)
    rates = {name: RUNS * STEPS / t for name, t in times.items()}
    console.print(
        f"steps/s on one core: modurob {rates['modurob'] / 1e6:.1f} million, MuJoCo rollout {rates['mujoco'] / 1e6:.2f} million, "
        f"ratio {rates['modurob'] / rates['mujoco']:.0f}"
    )


def main() -> None:
    """Print everything."""
    console = Console()
    one_run(console)
    many_runs(console)
    beside_mujoco(console)


if __name__ == "__main__":
    main()
