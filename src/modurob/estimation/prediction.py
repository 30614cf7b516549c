"""The model of a filter: one sample ahead, torques held, and how errors go along."""

import numpy as np

from modurob.estimation.manifold import carried, moved
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array

# differences of fourth order over such steps are good to some twelve digits
_STEP = 1e-3
_POINTS = np.array([1.0, -1.0, 2.0, -2.0])
_WEIGHTS = np.array([8.0, -8.0, -1.0, 1.0]) / (12 * _STEP)


def state_matrix(robot: Mechanism, q: Array, v: Array, tau: Array) -> Array:
    """A, (..., 2 nv, 2 nv), with d(dx)/dt = A dx for small errors dx = (dq, dv) under held torques, joints damped.

    Accelerations around the state come from one compiled call, which is some twenty times quicker than derivatives by complex
    steps and as good as the rest of the filter.
    """
    nv = robot.nv
    A = np.zeros((*v.shape[:-1], 2 * nv, 2 * nv))
    A[..., :nv, :nv], A[..., :nv, nv:] = carried(robot, v), np.eye(nv)
    # (points, directions, ..., nv)
    small = (_STEP * _POINTS[:, None, None] * np.eye(nv)).reshape(4, nv, *[1] * (v.ndim - 1), nv)
    here = np.zeros((4, nv, *v.shape))
    q_around = np.stack([moved(robot, q + np.zeros((4, nv, *q.shape)), small + here), q + np.zeros((4, nv, *q.shape))])
    v_around = np.stack([v + here, v + small])
    vdot = robot.forward_dynamics(q_around, v_around, tau - robot.damping * v_around)
    by_q, by_v = np.moveaxis(np.einsum("k,skd...->sd...", _WEIGHTS, vdot), 1, -1)
    A[..., nv:, :nv], A[..., nv:, nv:] = by_q, by_v
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
