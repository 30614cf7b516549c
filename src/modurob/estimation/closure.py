"""Beliefs of robots with closed loops: a state that opens a loop is none."""

import numpy as np

from modurob.algorithms import integrate, loop_jacobian
from modurob.algorithms.complex_steps import complex_step
from modurob.algorithms.steps import apply, transposed
from modurob.estimation.belief import Belief, through
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array


def _inverse(robot: Mechanism, K: Array) -> Array:
    """The pseudo-inverse of the loop Jacobian, (..., nv, constraints), whose rank is known: planar loops have rows to spare."""
    U, s, Vt = np.linalg.svd(K, full_matrices=False)
    rank = robot.loop_rank()
    return transposed(Vt[..., :rank, :]) / s[..., None, :rank] @ transposed(U[..., :rank])


def allowed(robot: Mechanism, q: Array, v: Array) -> Array:
    """T, (..., 2 nv, 2 nv), that projects errors dx = (dq, dv) onto those that keep the loops closed.

    loop_error(q) = 0 and K(q) v = 0 allow errors with K dq = 0 and K dv + d(K v)/dq dq = 0.
    """
    K = robot.loop_jacobian(q)
    inverse = _inverse(robot, K)
    slope = complex_step(lambda d: apply(loop_jacobian(robot, integrate(robot, q, d)), v), robot.nv, v.ndim - 1)
    along = np.eye(robot.nv) - inverse @ K
    return np.block([[along, np.zeros_like(along)], [-inverse @ slope @ along, along]])


def closed(robot: Mechanism, belief: Belief) -> Belief:
    """The belief projected onto the states that close the loops, to first order: P' = T P T^T."""
    if not robot.constraints:
        return belief
    q, v, P = belief
    K, T = robot.loop_jacobian(q), allowed(robot, q, v)
    inverse = _inverse(robot, K)
    return Belief(robot.integrate(q, -apply(inverse, robot.loop_error(q))), v - apply(inverse @ K, v), through(T, P))
