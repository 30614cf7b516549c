"""Two matrices C with the same product C v: by Christoffel symbols, and by the two-step recursion."""

import numpy as np

from modurob.algorithms.jacobians import body_jacobian_rates, body_jacobians
from modurob.algorithms.kinematics import dyads, together
from modurob.algorithms.recursion import outward
from modurob.algorithms.steps import apply, transposed
from modurob.mechanism.tables import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array


def coriolis_matrix(m: Tables, q: Array, v: Array) -> Array:
    """C(q, v), (..., nv, nv), with dM/dt - 2 C skew-symmetric and C v + N the bias forces.

    C = sum over bodies of J^T (I dJ/dt + B J), B = (ad(-V)^T I + I ad(V) + coad(I V)) / 2, which is skew. For joints whose
    rates are dq/dt these are the Christoffel symbols, C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k / 2
    (von Stryk 5.4); where v is a body velocity (spherical, free) they are those of its frame.
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


def two_step_coriolis_matrix(m: Tables, q: Array, v: Array) -> Array:
    """C(q, v), (..., nv, nv), as the two-step recursion gives it (Gutenkunst (3.38), corrected).

    C = sum over bodies of J^T (I D - ad(V)^T I J), where D v is the body's acceleration at vdot = 0:
    D_i = Ad D_p - ad(S v) J_i + dS/dt. It has the product C v of `coriolis_matrix` but is another matrix: dM/dt - 2 C is not skew.
    """
    q, v = together(q, v)
    links = dyads(m, q)
    J = body_jacobians(m, links)

    def step(i: int, D_P: Array) -> Array:
        joint, (X, S) = m.joints[i - 1], links[i]
        v_i = v[..., joint.v_slice]
        D = se3.Ad_inverse(X) @ D_P - se3.ad(apply(S, v_i)) @ J[i]
        D[..., joint.v_slice] += joint.type.subspace_rate(q[..., joint.q_slice], v_i)
        return D

    D = outward(m, np.zeros((*v.shape[:-1], 6, m.nv)), step)
    C = np.zeros((*v.shape[:-1], m.nv, m.nv))
    for I, J_i, D_i in zip(m.inertia[1:], J[1:], D[1:], strict=True):
        C = C + transposed(J_i) @ (I @ D_i - transposed(se3.ad(apply(J_i, v))) @ I @ J_i)
    return C
