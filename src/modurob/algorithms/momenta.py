"""Momentum over a step: a floating robot ends the step with its initial momentum plus the impulse of all external
forces.

A first-order step moves joints and bodies consistently only to first order, and the same holds for their momentum. The
rates of the free joint of an organism are corrected by the error, dv = I^-1 (p* - p), with I the inertia of all that it
carries: linear and angular momentum are then conserved to rounding, whatever the motion of the joints.
"""

import numpy as np

from modurob.catalogue.joints import Free
from modurob.mechanism.tables import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array, solve


def roots(m: Tables) -> list[int]:
    """Bodies that float: free joints in the world."""
    return [i for i, j in enumerate(m.joints, start=1) if isinstance(j.type, Free) and m.parent[i] == 0]


def missing(X0: Array, X1: Array, p0: Array, w0: Array, p1: Array, I: Array, dt: Array) -> Array:
    """Rates of a free joint, (..., 6), that a step of dt, (...), lacks: with momentum p0 and wrench w0 at its start at the pose X0,
    momentum p1 and inertia I at its end at X1, in the axes of the body at its origin."""
    P = se3.to_parent(X0, p0 + dt[..., None] * w0)
    return solve(I, (se3.to_parent(se3.inverse(X1), P) - p1)[..., None])[..., 0]


def balanced(m: Tables, before: tuple[Array, ...], after: tuple[Array, ...], v: Array, dt: Array) -> Array:
    """v, (..., nv), with the rates of all free joints corrected. `before` and `after`: poses of the bodies that move, momenta M v,
    then wrenches along the rates, and the mass matrix."""
    (X0, p0, w0), (X1, p1, M) = before, after
    new = np.array(v)
    for i in roots(m):
        own = m.joints[i - 1].v_slice
        at0, at1 = (_rigid(X[..., i - 1, :, :]) for X in (X0, X1))
        new[..., own] += missing(at0, at1, p0[..., own], w0[..., own], p1[..., own], M[..., own, own], dt)
    return new


def _rigid(X: Array) -> Array:
    return se3.pose(X[..., :3], X[..., 3])
