"""The estimate of a filter with its covariance, and its update by a measurement."""

from typing import NamedTuple

import numpy as np

from modurob.algorithms import bracket
from modurob.algorithms.steps import apply, transposed
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array


class Belief(NamedTuple):
    """The state (q, v), (..., nq) and (..., nv), and the covariance P, (..., 2 nv, 2 nv), of its error dx = (dq, dv)."""

    q: Array
    v: Array
    P: Array


class Innovation(NamedTuple):
    """Measured minus expected readings, (..., m), and its covariance S, (..., m, m). Readings that were lost count as zero."""

    e: Array
    S: Array


def through(F: Array, P: Array) -> Array:
    """F P F^T, the covariance of F x, symmetric to the last bit."""
    P = F @ P @ transposed(F)
    return (P + transposed(P)) / 2


def displaced(robot: Mechanism, belief: Belief, dx: Array) -> Belief:
    """The belief moved by dx, (..., 2 nv); errors in axes that turn are turned along, to first order: (1 - [dq, .] / 2) dq."""
    nv = robot.nv
    dq, dv = dx[..., :nv], dx[..., nv:]
    P = belief.P
    if robot.nq != nv:
        turn = np.zeros_like(P) + np.eye(2 * nv)
        turn[..., :nv, :nv] -= bracket(robot, dq) / 2
        P = through(turn, P)
    return Belief(robot.integrate(belief.q, dq), belief.v + dv, P)


def corrected(robot: Mechanism, belief: Belief, innovation: Innovation, H: Array, R: Array) -> Belief:
    """The estimate after an innovation e = H dx + noise of covariance R (Meister, Gutenkunst, Levi (51)).

    K = P H^T S^-1, and Joseph's form of P, (1 - K H) P (1 - K H)^T + K R K^T, which remains a covariance under
    rounding.
    """
    P = belief.P
    K = transposed(np.linalg.solve(innovation.S, H @ P))
    P = through(np.eye(2 * robot.nv) - K @ H, P) + through(K, R)
    return displaced(robot, belief._replace(P=P), apply(K, innovation.e))
