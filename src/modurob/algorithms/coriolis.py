"""Two matrices C with the same product C v: by Christoffel symbols, and by the two-step recursion."""

import numpy as np

from modurob.algorithms.interpreter import interpret
from modurob.algorithms.jacobians import body_jacobian_rates, body_jacobians
from modurob.algorithms.joint_space import changed_wrench, velocity_tensor, world_inertia, world_velocity
from modurob.algorithms.kinematics import dyads, together
from modurob.algorithms.program import Inward, Outward, Pairs, PairView, Program, Run, View
from modurob.algorithms.recursion import outward
from modurob.algorithms.steps import apply, transposed
from modurob.mechanism.tables import Tables
from modurob.spatial import inertia, se3, so3
from modurob.spatial.scalars import Array, dot, is_numeric


def column_rates(j: View) -> None:
    """Outward: twist V of the body, and dS/dt of each rate, V x S where S is constant in the frame of the body."""
    X, _, c = world_velocity(j)
    j.columns(Sdot=c + transposed(se3.Ad(X) @ j.subspace_rate(j.given("v"))) if j.type.turns else c)


def coriolis_sums(j: View) -> None:
    """Inward: composite inertia I and terms of B of the subtree, B x = (x_w x P, N x_w) as in `velocity_tensor`; and
    h = I S, g, the angular part of B^T S, and f = I dS/dt + B S."""
    S, Sdot, own, V = j.own("S"), j.own("Sdot"), world_inertia(j), j.own("V")
    alone = own, inertia.momentum(own, V)[..., :3], velocity_tensor(own, V)
    I, P, N = (x + j.children(name) for x, name in zip(alone, ("I", "P", "N"), strict=True))
    j.send(I=I, P=P, N=N)
    j.columns(
        h=inertia.momentum(I[..., None, :], S),
        g=so3.cross(P[..., None, :], S[..., :3]) + S[..., 3:] @ N,
        f=changed_wrench(I, P / 2, N / 2, Sdot, S[..., 3:]),
    )


def coriolis_entry(p: PairView) -> None:
    """C_ab = S_a . (I dS_b/dt + B S_b) and C_ba = S_b . (I dS_a/dt + B S_a), of the subtree of a."""
    S = p.b("S")
    p.emit(C=dot(p.a("h"), p.b("Sdot")) + dot(p.a("g"), S[..., 3:]))
    p.emit_above(C=dot(p.a("f"), S))


CORIOLIS_MATRIX = Program(
    "coriolis_matrix",
    inputs={"q": "coordinates", "v": "rates", "reference": "reference"},
    results={"C": "matrix"},
    passes=(Outward(column_rates), Inward(coriolis_sums), Pairs(coriolis_entry)),
    shared={"X": (3, 4), "V": (6,)},
    sent={"I": (10,), "P": (3,), "N": (3, 3)},
    columns={"S": 6, "Sdot": 6, "h": 6, "g": 3, "f": 6},
    world=lambda m: {"X": np.eye(4)[:3], "V": np.zeros(6)},
    in_body_axes=False,
)


def coriolis_matrix(m: Tables, q: Array, v: Array, run: Run = interpret) -> Array:
    """C(q, v), (..., nv, nv), with dM/dt - 2 C skew-symmetric and C v + N the bias forces.

    C = sum over bodies of J^T (I dJ/dt + B J), B = (ad(-V)^T I + I ad(V) + coad(I V)) / 2, which is skew. For joints whose
    rates are dq/dt these are the Christoffel symbols, C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k / 2
    (von Stryk 5.4); where v is a body velocity (spherical, free) they are those of its frame.
    (Echeandia and Wensing, J. Computational and Nonlinear Dynamics 16(9), 2021.)

    Numbers are in world axes, where J is S and B loses I ad(V), with composite bodies; exact scalars in body axes.
    """
    q, v = together(q, v)
    if is_numeric(q):
        return run(CORIOLIS_MATRIX, m, {"q": q, "v": v}).results["C"]
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
