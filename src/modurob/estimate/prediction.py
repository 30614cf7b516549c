"""The model of a filter: one sample ahead, torques held, and how errors go along."""

import numpy as np

from modurob.estimate.manifold import carried, moved
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array


def state_matrix(robot: Mechanism, q: Array, v: Array, tau: Array) -> Array:
    """A, (..., 2 nv, 2 nv), with d(dx)/dt = A dx for small errors dx = (dq, dv) under held torques, joints damped."""
    by = robot.forward_dynamics_derivatives(q, v, tau - robot.damping * v)
    nv = robot.nv
    A = np.zeros((*by.q.shape[:-2], 2 * nv, 2 * nv))
    A[..., :nv, :nv], A[..., :nv, nv:] = carried(robot, v), np.eye(nv)
    A[..., nv:, :nv], A[..., nv:, nv:] = by.q, by.v - by.tau * robot.damping
    return A


def step(robot: Mechanism, q: Array, v: Array, tau: Array, dt: float) -> tuple[Array, Array]:
    """(q, v) after dt by one step of Runge and Kutta's fourth order rule."""
    return robot.advance(q, v, tau, dt)


def transition(robot: Mechanism, q: Array, v: Array, v_next: Array, tau: Array, dt: float) -> Array:
    """F, (..., 2 nv, 2 nv), with dx' = F dx over a step from (q, v) to a state with v_next: the A of 003 (40).

    exp(A dt) with A in the middle of the step, so to second order in dt; the series ends where that of the step does, so F is
    exact where the system is linear.
    """
    v = (v + v_next) / 2
    Z = dt * state_matrix(robot, moved(robot, q, dt / 2 * v), v, tau)
    one = np.eye(2 * robot.nv)
    return one + Z @ (one + Z @ (one + Z @ (one + Z / 4) / 3) / 2)
