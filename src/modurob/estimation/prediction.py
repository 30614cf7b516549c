"""The model of a filter: one sample ahead with torques held, and the propagation of errors."""

from functools import lru_cache

import numpy as np

from modurob.algorithms.forces import acting
from modurob.control.linear import slopes
from modurob.robot import Mechanism
from modurob.simulation.steppers import RungeKutta4
from modurob.simulation.stepping import Mover
from modurob.simulation.system import State
from modurob.spatial.scalars import Array


@lru_cache(maxsize=64)
def _mover(robot: Mechanism, dt: float) -> Mover:
    return Mover(robot, RungeKutta4(dt))


def step(robot: Mechanism, q: Array, v: Array, tau: Array, dt: float) -> tuple[Array, Array]:
    """(q, v) after dt by one step of Runge and Kutta's fourth order rule, with all forces of the robot's own."""
    shape = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], np.shape(tau)[:-1])
    q, v = np.broadcast_to(q, (*shape, robot.nq)), np.broadcast_to(v, (*shape, robot.nv))
    x = np.broadcast_to(acting(robot).start(), (*shape, acting(robot).nx))
    state = (
        _mover(robot, dt)
        .advance(0.0, State(np.array(q), np.array(v), np.array(x)), np.asarray(tau, dtype=float), dt)
        .state
    )
    return state.q, state.v


def transition(robot: Mechanism, q: Array, v: Array, tau: Array, dt: float) -> Array:
    """F, (..., 2 nv, 2 nv), with dx' = F dx over a step from (q, v): the A of Meister, Gutenkunst, Levi (40).

    The variational equation dF/dt = A F, carried along the step by the rule of the step itself, to its order; exact where the
    system is linear.
    """
    half, one = dt / 2, np.eye(2 * robot.nv)
    visited = [(q, v), step(robot, q, v, tau, half), step(robot, q, v, tau, dt)]
    at, rates = (np.stack(np.broadcast_arrays(*x)) for x in zip(*visited, strict=True))
    A1, A2, A4 = slopes(robot, at, rates, tau).A
    K1 = A1
    K2 = A2 @ (one + half * K1)
    K3 = A2 @ (one + half * K2)
    K4 = A4 @ (one + dt * K3)
    return one + dt / 6 * (K1 + 2 * K2 + 2 * K3 + K4)
