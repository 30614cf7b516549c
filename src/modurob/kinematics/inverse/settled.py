"""The nearest configurations to goals that nothing reaches: local minima of the cost, by Newton's method with limits."""

import numpy as np

from modurob import kernels
from modurob.algorithms.configuration import integrate
from modurob.algorithms.descent import freedom, margins
from modurob.kinematics.inverse.problem import Problem
from modurob.spatial.scalars import Array

# steps at most, how often each is halved, and the gradient that ends them, over the root of the cost
STEPS, HALVINGS, FLAT = 30, 12, 1e-11
# displacement by which second derivatives are taken, and the least that counts, over the largest
SHIFT, LEAST = 1e-5, 1e-9
# longest step in any coordinate [rad or m]
LONGEST = 0.5


def settled(p: Problem, q: Array, target: Array) -> tuple[Array, Array]:
    """Configurations (k, nq) at local minima of the cost next to those given, and the cost there, (k,).

    dq = -|H|^-1 g with g = -J^T e and H its derivative, whose eigenvalues are taken by their magnitudes, so that every step leads
    downhill; coordinates that are pushed against their limits are held.
    """
    q, cost, going = np.array(q), np.array(p.look(q, target).cost), np.arange(len(q))
    for _ in range(STEPS):
        dq, steep = _step(p, q[going], target[going])
        going, dq = going[steep > FLAT], dq[steep > FLAT]
        moved, todo = np.zeros(len(going), dtype=bool), np.arange(len(going))
        for _ in range(HALVINGS):
            if not len(todo):
                break
            at = going[todo]
            tried = integrate(p.m, q[at], dq[todo], kernels.run)
            new = p.look(tried, target[at]).cost
            better = new < cost[at]
            q[at[better]], cost[at[better]] = tried[better], new[better]
            moved[todo[better]] = True
            todo = todo[~better]
            dq[todo] /= 2
        going = going[moved]
        if not len(going):
            break
    return q, cost


def _step(p: Problem, q: Array, target: Array) -> tuple[Array, Array]:
    """The step within limits, (k, nv), and the largest slope along which it may go, (k,)."""
    low, high = margins(p.m, q, p.bounds)
    g, H = _gradient(p, q, target), _hessian(p, q, target)
    free = freedom(-g, low, high)
    g = g * free
    w, V = np.linalg.eigh(H * free[:, None] * free[..., None])
    w = np.abs(w)
    along = (np.swapaxes(V, -1, -2) @ g[..., None])[..., 0] / np.maximum(
        w, LEAST * w.max(axis=-1, keepdims=True) + 1e-300
    )
    dq = -(V @ along[..., None])[..., 0] * free
    dq = dq * np.minimum(1.0, LONGEST / (np.abs(dq).max(axis=-1, keepdims=True) + 1e-300))
    return np.minimum(np.maximum(dq, low), high), np.abs(g).max(axis=-1, initial=0.0)


def _gradient(p: Problem, q: Array, target: Array) -> Array:
    """Of the cost by the rates, -J^T e, (k, nv)."""
    rows = p.look(q, target)
    return -(np.swapaxes(rows.J, -1, -2) @ rows.error[..., None])[..., 0]


def _hessian(p: Problem, q: Array, target: Array) -> Array:
    """The derivative of the gradient, by central differences, (k, nv, nv)."""
    n = p.m.nv
    shifts = SHIFT * np.concatenate([np.eye(n), -np.eye(n)])
    around = np.repeat(q, 2 * n, axis=0)
    shifted = integrate(p.m, around, np.tile(shifts, (len(q), 1)), kernels.run)
    g = _gradient(p, shifted, np.repeat(target, 2 * n, axis=0)).reshape(len(q), 2, n, n)
    H = (g[:, 0] - g[:, 1]) / (2 * SHIFT)
    return (H + np.swapaxes(H, -1, -2)) / 2
