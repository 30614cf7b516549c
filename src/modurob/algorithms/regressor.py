"""Torques are linear in the inertial parameters: tau = Y(q, v, vdot) pi."""

import numpy as np

from modurob.algorithms.jacobians import body_jacobians
from modurob.algorithms.kinematics import Motion, body_motions, dyads, together
from modurob.algorithms.steps import transposed
from modurob.mechanism.tables import Tables
from modurob.spatial import inertia, so3
from modurob.spatial.scalars import Array


def inertial_parameters(m: Tables) -> Array:
    """pi: ten numbers a moving body, (10 n,): (m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) in its frame about its origin."""
    return inertia.parameters(m.inertia[1:]).ravel()


def regressor(m: Tables, q: Array, v: Array, vdot: Array) -> Array:
    """Y, (..., nv, 10 n), with Y pi the inverse dynamics (without rotors): body i adds J_i^T W(V_i, A_i) pi_i."""
    q, v, vdot = together(q, v, vdot)
    links = dyads(m, q)
    motions = body_motions(m, links, q, v, vdot)
    J = body_jacobians(m, links)
    return np.concatenate([transposed(J[i]) @ _wrench_regressor(motions[i]) for i in range(1, len(J))], axis=-1)


def _wrench_regressor(motion: Motion) -> Array:
    """W, (..., 6, 10): I A + gyroscopic(I, w) = W pi.

    f = m a + ([dw/dt] + [w]²) m c and n = -[a] m c + I_o dw/dt + w x I_o w.
    """
    w, a, wdot = motion.w, motion.A[..., :3], motion.A[..., 3:]
    spin = so3.skew(w)
    W = np.zeros((*a.shape[:-1], 6, 10), dtype=a.dtype)
    W[..., :3, 0] = a
    W[..., :3, 1:4] = so3.skew(wdot) + spin @ spin
    W[..., 3:, 1:4] = -so3.skew(a)
    W[..., 3:, 4:] = _symmetric(wdot) + spin @ _symmetric(w)
    return W


def _symmetric(x: Array) -> Array:
    """(..., 3, 6): I x as a function of (Ixx, Ixy, Iyy, Ixz, Iyz, Izz)."""
    L = np.zeros((*x.shape[:-1], 3, 6), dtype=x.dtype)
    for k, (i, j) in enumerate(((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))):
        L[..., i, k] = x[..., j]
        L[..., j, k] = x[..., i]
    return L
