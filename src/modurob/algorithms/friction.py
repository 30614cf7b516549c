"""Which joints move that dry friction held until now: Coulomb's law for all of them together."""

import numpy as np

from modurob.algorithms.steps import apply
from modurob.spatial.scalars import Array

# what is added to the diagonal, as a part of it: friction of joints that hold the same motion is shared as evenly as it can be
SHARED = 1e-11
# rounding, of friction as a part of what it may be, and of accelerations as a part of those that friction causes
ROUNDING, STILL = 1e-12, 1e-10
# exchanges of all that is out of bounds without progress; after these one at a time is exchanged, which comes to an end
PATIENCE = 3


def breakaway(A: Array, a: Array, kinetic: Array) -> tuple[Array, Array]:
    """Friction y of joints at rest, and accelerations w = A y + a, zero where they stay there, (..., n).

    Forces are in units of what holds each joint, h, and accelerations times these: a = h vdot without friction, and column j of A,
    (..., n, n), what friction of joint j adds to it at h. Joints that move are braked by `kinetic`, (..., n), one or less: what
    they lose may be too much for others, or leave others at rest.
    """
    bound = np.ones(a.shape)
    y, w = limited_friction(A, a, bound)
    for _ in range(a.shape[-1] + 1):
        before, bound = bound, np.where(w != 0, kinetic, 1.0)
        if (bound == before).all():
            break
        y, w = limited_friction(A, a, bound)
    return y, w


def limited_friction(A: Array, a: Array, bound: Array) -> tuple[Array, Array]:
    """Friction y and accelerations w = A y + a, (..., n), with |y| <= bound, w = 0 where |y| < bound, and y = -sign(w) bound
    elsewhere; A is symmetric and positive semidefinite.

    y minimises y^T A y / 2 + a^T y, which is Gauss' principle, so that w is unique; where it is rounding alone, it is zero. By
    block principal pivoting (Júdice and Pires 1994).
    """
    n = a.shape[-1]
    diagonal = np.einsum("...ii->...i", A)
    B = A + np.eye(n) * np.where(diagonal > 0, SHARED * diagonal, 1.0)[..., None, :]
    slack = ROUNDING * (np.abs(B).sum(axis=-1) + np.abs(a))
    y, at = np.zeros(a.shape), np.zeros(a.shape)
    least, patience = np.full(a.shape[:-1], n + 1), np.full(a.shape[:-1], PATIENCE)
    for _ in range(10 * n + 10):
        y = _between(B, a, at, bound)
        w = apply(B, y) + a
        wrong = np.where(at == 0, np.abs(y) > bound + ROUNDING, at * w > slack)
        count = wrong.sum(axis=-1)
        if not count.any():
            break
        patience = np.where(count < least, PATIENCE, patience - 1)
        least = np.minimum(count, least)
        changed = np.where((patience > 0)[..., None], wrong, _last(wrong))
        at = np.where(changed, np.where(at == 0, np.sign(y), 0.0), at)
    y = np.clip(y, -bound, bound)
    w = apply(A, y) + a
    return y, np.where(np.abs(w) > STILL * np.abs(A).sum(axis=-1) + ROUNDING * np.abs(a), w, 0.0)


def _between(B: Array, a: Array, at: Array, bound: Array) -> Array:
    """y with B y + a = 0 where `at` is zero, and y = at bound elsewhere."""
    inside, outside = at == 0, at * bound
    both = inside[..., :, None] & inside[..., None, :]
    own = np.where(both, B, np.eye(B.shape[-1]))
    right = np.where(inside, -a - apply(B, outside), outside)
    return np.linalg.solve(own, right[..., None])[..., 0]


def _last(wrong: Array) -> Array:
    """Only the last one of each row."""
    return wrong & (np.cumsum(wrong[..., ::-1], axis=-1)[..., ::-1] == 1)
