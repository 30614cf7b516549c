"""Step responses of a robot under control, and of the linear system it should behave like."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import signal

from modurob.robot import Mechanism
from modurob.simulation import Controller, Recording, RungeKutta4, simulate
from modurob.spatial.scalars import Array
from reproduce.check import Check, apart
from reproduce.engine import MISSING, Engine, installed


class StepResponse(NamedTuple):
    """A run whose torques were held for a sample, and its angles without the error that holding makes."""

    run: Recording
    q: Array  # (ticks, nq)


def step_response(
    robot: Mechanism,
    controller: Callable[[float], Controller],
    duration: float,
    sample_time: float,
    v0: Array | None = None,
) -> StepResponse:
    """The robot from rest at zero, or from v0, under the controller made for a sample time [s].

    Held torques lag by half a sample, which changes q in proportion to the sample time T. Of two runs 2 q(T/2) - q(T) is free of
    that, to second order (Richardson).
    """
    coarse, fine = (
        simulate(robot, None, v0, duration, controller(T), RungeKutta4(T)) for T in (sample_time, sample_time / 2)
    )
    return StepResponse(coarse, 2 * fine.q[::2] - coarse.q)


def on_the_engine(
    figure: str,
    what: str,
    plant: str,
    robot: Mechanism,
    controller: Callable[[float], Controller],
    judged: Array,
    sample_time: float,
    tolerance: float,
    v0: Array | None = None,
) -> Check:
    """The line of MuJoCo's own robot under a law that was made for ours: how far from what is judged, (ticks, nq).

    Where our model errs, in mass, place, axis or Coriolis force, its torques no longer make that robot linear.
    """
    if not installed():
        return Check.skipped(figure, what, MISSING)
    engine, duration = Engine.load(plant), sample_time * (len(judged) - 1)
    coarse, fine = (
        engine.run(robot.neutral(), duration, T, law=controller(T).on(robot), v0=v0).q
        for T in (sample_time, sample_time / 2)
    )
    return Check(figure, what, 0.0, apart(2 * fine[::2] - coarse, judged), tolerance, "rad")


def linear_step(numerator: Sequence[float], denominator: Sequence[float], t: Array) -> Array:
    """The response of a transfer function to a step of one at t = 0, by SciPy, (times,)."""
    return np.asarray(signal.step((numerator, denominator), T=t)[1])
