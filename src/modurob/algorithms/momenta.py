"""Momentum over a step: a floating robot ends the step with its initial momentum plus the impulse of all external forces.

A first-order step moves joints and bodies consistently only to first order, and the same holds for their momentum. The
rates of the free joint of an organism are corrected by the error, dv = I^-1 (p* - p), with I the inertia of all that it
carries: linear and angular momentum are then conserved to rounding, whatever the motion of the joints.
"""

from typing import Any

import numpy as np

from modurob.algorithms.steps import apply
from modurob.catalogue.joints import Free
from modurob.mechanism.tables import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array, cross, solve


def roots(m: Tables) -> list[int]:
    """Bodies that float: free joints in the world."""
    return [i for i, j in enumerate(m.joints, start=1) if isinstance(j.type, Free) and m.parent[i] == 0]


def root_of(m: Tables, body: int) -> int:
    """The floating body of the robot that a body belongs to, or 0."""
    first = min(m.ancestors[body], default=0)
    return first if first in roots(m) else 0


def floating_pairs(m: Tables) -> list[tuple[int, tuple[int, int]]]:
    """The contact pairs between two floating robots: the number of each pair, and the floating bodies of both."""
    found = [(root_of(m, row.a.body), root_of(m, row.b.body)) for row in m.body_contacts]
    return [(k, (i, j)) for k, (i, j) in enumerate(found) if i and j and i != j]


def displacement(X0: Array, p0: Array, w0: Array, I: Array, dt: Array) -> Array:
    """Displacement of the centre of mass over a step, in world axes [m], and mass [kg], of all that a free joint carries, (..., 4);
    arguments are those of `rate_correction`."""
    moved = dt[..., None] * apply(se3.rotation(X0), p0[..., :3] + dt[..., None] / 2 * w0[..., :3])
    mass = I[..., 0, :1]
    return np.concatenate([moved / mass, mass], axis=-1)


def mutual_turns(f: Array, a: Array, b: Array, dt: Array) -> tuple[Array, Array]:
    """Corrections of the angular impulses of two robots in contact, in world axes, (..., 3) each, where f acts on the first and -f
    on the second, each half way of its own displacement (a and b of `displacement`): both act at one place, near that of the
    lighter.
    """
    turn = dt[..., None] / 2 * cross(b[..., :3] - a[..., :3], f)
    share = a[..., 3:] / (a[..., 3:] + b[..., 3:])
    return share * turn, turn - share * turn


def rate_correction(
    X0: Array, X1: Array, p0: Array, w0: Array, p1: Array, I: Array, own: Array, turn: Array, dt: Array
) -> Array:
    """Correction of the rates of a free joint after a step of dt, (...): I^-1 (p* - p1), (..., 6), p* the momentum p0 at the start
    plus the impulse of the wrench w0.

    X0 and X1 are the poses of its body at the start and at the end, I the inertia of all that it carries at the end; all in the
    axes of the body at its origin. Forces act at the centre of mass half way through the step, `own` of `displacement`; `turn`
    adds the angular impulse of `mutual_turns`.
    """
    P = se3.to_parent(X0, p0 + dt[..., None] * w0)
    f = apply(se3.rotation(X0), w0[..., :3])
    turn = turn + dt[..., None] / 2 * cross(own[..., :3], f)
    P = P + np.concatenate([0 * turn, turn], axis=-1)
    return solve(I, (se3.to_parent(se3.inverse(X1), P) - p1)[..., None])[..., 0]


def momentum_corrected(
    m: Tables, before: tuple[Array, ...], after: tuple[Array, ...], v: Array, dt: Array, between: Any
) -> Array:
    """v, (..., nv), with the rates of all free joints corrected.

    `before` the step: poses of the bodies that move, momenta M v, and generalised forces; `after` it: poses, momenta and the mass
    matrix; `between`: forces on the first body of each contact pair, in world axes, (..., pairs, 3).
    """
    (X0, p0, w0), (X1, p1, M) = before, after
    new, own = np.array(v), {i: m.joints[i - 1].v_slice for i in roots(m)}
    at, then = ({i: _rigid(X[..., i - 1, :, :]) for i in own} for X in (X0, X1))
    parts = {i: displacement(at[i], p0[..., k], w0[..., k], M[..., k, k], dt) for i, k in own.items()}
    turns = {i: np.zeros((*v.shape[:-1], 3)) for i in own}
    for n, (i, j) in floating_pairs(m):
        for k, turn in zip((i, j), mutual_turns(between[..., n, :], parts[i], parts[j], dt), strict=True):
            turns[k] += turn
    for i, k in own.items():
        begun, ended = (p0[..., k], w0[..., k]), (p1[..., k], M[..., k, k])
        new[..., k] += rate_correction(at[i], then[i], *begun, *ended, parts[i], turns[i], dt)
    return new


def _rigid(X: Array) -> Array:
    return se3.pose(X[..., :3], X[..., 3])
