"""Momentum over a step: a floating robot ends the step with its initial momentum plus the impulse of all external
forces.

A first-order step moves joints and bodies consistently only to first order, and the same holds for their momentum. The
rates of the free joint of an organism are corrected by the error, dv = I^-1 (p* - p), with I the inertia of all that it
carries: linear and angular momentum are then conserved to rounding, whatever the motion of the joints.
"""

import numpy as np

from modurob.algorithms.steps import apply
from modurob.catalogue.joints import Free
from modurob.mechanism.tables import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array, cross, solve


def roots(m: Tables) -> list[int]:
    """Bodies that float: free joints in the world."""
    return [i for i, j in enumerate(m.joints, start=1) if isinstance(j.type, Free) and m.parent[i] == 0]


def groups(m: Tables) -> list[list[int]]:
    """Those that may touch each other, whose forces on each other act at one place."""
    return [roots(m)] if m.body_contacts else [[i] for i in roots(m)]


def carried(X0: Array, p0: Array, w0: Array, I: Array, dt: Array) -> Array:
    """Mass times displacement over a step, in the world, and mass, of what hangs on a free joint, (..., 4): see `missing`."""
    moved = dt[..., None] * apply(se3.rotation(X0), p0[..., :3] + dt[..., None] / 2 * w0[..., :3])
    return np.concatenate([moved, I[..., 0, :1]], axis=-1)


def missing(
    X0: Array, X1: Array, p0: Array, w0: Array, weight: Array, p1: Array, I: Array, own: Array, common: Array, dt: Array
) -> Array:
    """Rates of a free joint, (..., 6), that a step of dt, (...), lacks: with momentum p0, wrench w0 and weight, a part of that, at
    its start at the pose X0, momentum p1 and inertia I at its end at X1, in the axes of the body at its origin.

    Weight acts where the centre of mass is half way, other forces half way of the group: `own` and `common` are what they carry.
    """
    P = se3.to_parent(X0, p0 + dt[..., None] * w0)
    f, g = (apply(se3.rotation(X0), x[..., :3]) for x in (w0 - weight, weight))
    turn = dt[..., None] / 2 * (cross(_displaced(common), f) + cross(_displaced(own), g))
    P = P + np.concatenate([0 * turn, turn], axis=-1)
    return solve(I, (se3.to_parent(se3.inverse(X1), P) - p1)[..., None])[..., 0]


def _displaced(carried: Array) -> Array:
    return carried[..., :3] / carried[..., 3:]


def balanced(m: Tables, before: tuple[Array, ...], after: tuple[Array, ...], v: Array, dt: Array) -> Array:
    """v, (..., nv), with the rates of all free joints corrected. `before` and `after`: poses of the bodies that move, momenta M v,
    then wrenches along the rates and the part of weight in them, and the mass matrix."""
    (X0, p0, w0, weight), (X1, p1, M) = before, after
    new = np.array(v)
    for group in groups(m):
        own = {i: m.joints[i - 1].v_slice for i in group}
        at = {i: _rigid(X0[..., i - 1, :, :]) for i in group}
        parts = {i: carried(at[i], p0[..., k], w0[..., k], M[..., k, k], dt) for i, k in own.items()}
        common = np.sum([*parts.values()], axis=0)
        for i, k in own.items():
            then = _rigid(X1[..., i - 1, :, :])
            begun, ended = (p0[..., k], w0[..., k], weight[..., k]), (p1[..., k], M[..., k, k])
            new[..., k] += missing(at[i], then, *begun, *ended, parts[i], common, dt)
    return new


def _rigid(X: Array) -> Array:
    return se3.pose(X[..., :3], X[..., 3])
