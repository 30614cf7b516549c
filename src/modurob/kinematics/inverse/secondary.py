"""Secondary goals: brought as near as the first ones leave room for, in the null space of their Jacobian."""

import numpy as np

from modurob import kernels
from modurob.algorithms.configuration import integrate
from modurob.algorithms.descent import freedom, margins
from modurob.algorithms.steps import apply
from modurob.kinematics.inverse.flow import DAMPING
from modurob.kinematics.inverse.problem import Problem
from modurob.spatial.scalars import Array

# steps along the null space at most, steps back to the first goals after each, and the gain that ends them
MOST, BACK, GAIN = 60, 4, 1e-12
# singular values below this part of the largest span no row
RANK = 1e-7


def follow(first: Problem, second: Problem, q: Array, target: Array, tolerance: float) -> Array:
    """Configurations (k, nq) moved along dq = N (J2 N)^+ e2, N = 1 - J1^+ J1, and back onto the first goals.

    A step that takes the second goals no nearer is made again, half as long (Nakamura, Hanafusa and Yoshikawa, Task-priority
    based redundancy control).
    """
    own = np.broadcast_to(second.target, (*target.shape[:-1], second.target.shape[-1]))
    q, step = np.array(q), np.ones(len(q))
    cost = second.look(q, own).cost
    for _ in range(MOST):
        going = np.flatnonzero(step > 1e-4)
        if not len(going):
            break
        dq = step[going, None] * _direction(first, second, q[going], target[going], own[going])
        tried = _back(first, integrate(first.m, q[going], dq, kernels.run), target[going], tolerance)
        found = np.where(np.isnan(tried).any(axis=-1), np.inf, second.look(np.nan_to_num(tried), own[going]).cost)
        better = found < cost[going] * (1 - GAIN)
        at = going[better]
        q[at], cost[at] = tried[better], found[better]
        step[going] = np.where(better, np.minimum(2 * step[going], 1), step[going] / 4)
    return q


def _direction(first: Problem, second: Problem, q: Array, target: Array, own: Array) -> Array:
    """dq, (k, nv), within the limits; rates that are pushed against them are held."""
    low, high = margins(first.m, q, first.bounds)
    J1, J2, e2 = first.look(q, target).J, *second.look(q, own)[1::-1]
    free = np.ones((len(q), 1, first.m.nv))
    dq = np.zeros((len(q), first.m.nv))
    for _ in range(3):
        A1 = J1 * free
        N = free * (np.eye(first.m.nv) - np.linalg.pinv(A1, rcond=RANK) @ A1)
        dq = apply(N @ np.linalg.pinv(J2 @ N, rcond=RANK), e2)
        own = freedom(dq, low, high)
        if own.all():
            break
        free = free * own[:, None, :]
    return np.minimum(np.maximum(dq, low), high)


def _back(first: Problem, q: Array, target: Array, tolerance: float) -> Array:
    """Back onto the first goals; not a number where that fails."""
    found = first.descend(q, target, DAMPING, BACK)
    return np.where(found["size"] <= tolerance**2, found["q"], np.nan)
