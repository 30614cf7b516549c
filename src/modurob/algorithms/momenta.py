"""Momentum over a step: a floating robot ends the step with its initial momentum plus the impulse of all external forces.

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
    """Bodies of `roots` that may touch each other, together: the impulses between them must cancel."""
    return [roots(m)] if m.body_contacts else [[i] for i in roots(m)]


def displaced_mass(X0: Array, p0: Array, w0: Array, I: Array, dt: Array) -> Array:
    """Mass times displacement of the centre of mass over a step, in world axes [kg m], and mass [kg], of all that a free joint
    carries, (..., 4); arguments are those of `rate_correction`."""
    moved = dt[..., None] * apply(se3.rotation(X0), p0[..., :3] + dt[..., None] / 2 * w0[..., :3])
    return np.concatenate([moved, I[..., 0, :1]], axis=-1)


def rate_correction(
    X0: Array, X1: Array, p0: Array, w0: Array, weight: Array, p1: Array, I: Array, own: Array, common: Array, dt: Array
) -> Array:
    """Correction of the rates of a free joint after a step of dt, (...): I^-1 (p* - p1), (..., 6), p* the momentum p0 at the start
    plus the impulse of the wrench w0, of which `weight` is a part.

    X0 and X1 are the poses of its body at the start and at the end, I the inertia of all that it carries at the end; all in the
    axes of the body at its origin. Weight acts at the centre of mass of the robot half way through the step, other forces at
    that of its group: `own` and `common` are the displaced masses of the robot and of its group.
    """
    P = se3.to_parent(X0, p0 + dt[..., None] * w0)
    f, g = (apply(se3.rotation(X0), x[..., :3]) for x in (w0 - weight, weight))
    turn = dt[..., None] / 2 * (cross(_displacement(common), f) + cross(_displacement(own), g))
    P = P + np.concatenate([0 * turn, turn], axis=-1)
    return solve(I, (se3.to_parent(se3.inverse(X1), P) - p1)[..., None])[..., 0]


def _displacement(displaced_mass: Array) -> Array:
    return displaced_mass[..., :3] / displaced_mass[..., 3:]


def momentum_corrected(m: Tables, before: tuple[Array, ...], after: tuple[Array, ...], v: Array, dt: Array) -> Array:
    """v, (..., nv), with the rates of all free joints corrected.

    `before` the step: poses of the bodies that move, momenta M v, generalised forces, and the part of weight in these; `after` it:
    poses, momenta and the mass matrix.
    """
    (X0, p0, w0, weight), (X1, p1, M) = before, after
    new = np.array(v)
    for group in groups(m):
        own = {i: m.joints[i - 1].v_slice for i in group}
        at = {i: _rigid(X0[..., i - 1, :, :]) for i in group}
        parts = {i: displaced_mass(at[i], p0[..., k], w0[..., k], M[..., k, k], dt) for i, k in own.items()}
        common = np.sum([*parts.values()], axis=0)
        for i, k in own.items():
            then = _rigid(X1[..., i - 1, :, :])
            begun, ended = (p0[..., k], w0[..., k], weight[..., k]), (p1[..., k], M[..., k, k])
            new[..., k] += rate_correction(at[i], then, *begun, *ended, parts[i], common, dt)
    return new


def _rigid(X: Array) -> Array:
    return se3.pose(X[..., :3], X[..., 3])
