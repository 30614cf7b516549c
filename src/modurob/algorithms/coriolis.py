"""The Coriolis matrix made from Christoffel symbols."""

import numpy as np

from modurob.algorithms.jacobians import body_jacobian_rates
from modurob.algorithms.kinematics import apply, dyads, together, transposed
from modurob.mechanism.tables import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array


def coriolis_matrix(m: Tables, q: Array, v: Array) -> Array:
    """C(q, v), (..., nv, nv), with dM/dt - 2 C skew-symmetric and C v + N the bias forces.

    C = sum over bodies of J^T (I dJ/dt + B J), B = (ad(-V)^T I + I ad(V) + coad(I V)) / 2, which is skew. For joints whose
    rates are dq/dt these are the Christoffel symbols, C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k / 2
    (001 5.4); where v is a body velocity (spherical, free) they are those of its frame.
    (Echeandia and Wensing, J. Computational and Nonlinear Dynamics 16(9), 2021.)
    """
    q, v = together(q, v)
    C = np.zeros((*v.shape[:-1], m.nv, m.nv))
    for I, (J, Jdot) in zip(m.inertia[1:], body_jacobian_rates(m, dyads(m, q), q, v)[1:], strict=True):
        V = apply(J, v)
        turn = I @ se3.ad(V)
        B = (turn - transposed(turn) + se3.coad(apply(I, V))) / 2
        C = C + transposed(J) @ (I @ Jdot + B @ J)
    return C
