"""Torques that produce a motion of a robot with constraints."""

import numpy as np

from modurob.algorithms.constraints.closure import loop_jacobian
from modurob.algorithms.interpreter import interpret
from modurob.algorithms.program import Run
from modurob.algorithms.steps import apply, transposed
from modurob.errors import InputError
from modurob.mechanism.tables import Tables
from modurob.spatial.scalars import Array

# singular values of the constraints this much smaller than the largest are none
RANK = 1e-7
# torques that no drive can give, of all torques, before a motion is refused
MISSING = 1e-6


def driven_torques(m: Tables, q: Array, tau: Array, run: Run = interpret) -> Array:
    """The torques of the joints with a drive that do what torques tau at all joints of the tree would do, (..., nv).

    Torques K^T lambda do nothing; G^T tau, with K G = 0, is what counts. Of all torques at the drives that have it, the smallest.
    """
    driven = m.effort_limit > 0
    G = free_motions(loop_jacobian(m, q, run))
    wanted = apply(transposed(G), tau)
    B = transposed(G)[..., driven]
    given = (np.linalg.pinv(B, rcond=RANK) @ wanted[..., None])[..., 0]
    missing = np.abs(apply(B, given) - wanted).max(axis=-1, initial=0.0)
    if np.any(missing > MISSING * np.maximum(np.abs(tau).max(axis=-1, initial=0.0), 1e-300)):
        without = ", ".join(j.name for j in m.joints if not j.mimics and not np.any(j.effort_limit > 0))
        raise InputError(
            f"{m.name}: no torques at the joints with a drive bring about this motion; without one are {without or 'none'}: "
            "give more of them an effort above zero"
        )
    out = np.zeros(tau.shape)
    out[..., driven] = given
    return out


def free_motions(K: Array) -> Array:
    """Orthonormal velocities that keep the constraints, (..., nv, n); states with fewer than others have zero columns."""
    _, s, Vt = np.linalg.svd(np.real(K), full_matrices=True)
    n, nv = s.shape[-1], Vt.shape[-1]
    largest = np.maximum(s.max(axis=-1, initial=0.0), 1e-300)[..., None]
    bound = np.zeros((*s.shape[:-1], nv), dtype=bool)
    bound[..., :n] = s > RANK * largest
    free = np.where(bound[..., None], 0.0, Vt)
    least = int(bound.sum(axis=-1).min(initial=nv))
    return transposed(free[..., least:, :])
