"""Step responses of a robot under control, and of the linear system it should behave like."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import signal

from modurob.robot import Mechanism
from modurob.simulation import Controller, Recording, RungeKutta4, simulate
from modurob.spatial.scalars import Array


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


def linear_step(numerator: Sequence[float], denominator: Sequence[float], t: Array) -> Array:
    """The response of a transfer function to a step of one at t = 0, by SciPy, (times,)."""
    return np.asarray(signal.step((numerator, denominator), T=t)[1])
