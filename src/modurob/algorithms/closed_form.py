"""The closed form of Gutenkunst and of Meister, Gutenkunst and Levi: M, C and N through the transmission matrix.

V = G S v, Vdot = G_T0 Vdot_0 + G (S vdot + A1 V + dS/dt v), F = G^T (I Vdot + A2 I V), tau = S^T F
(Gutenkunst (3.29)-(3.35), signs as in C = S^T G^T (I G A1 + A2 I) G S). All blocks are 6x6, one row of them a body.
"""

from typing import NamedTuple

import numpy as np

from modurob.algorithms.kinematics import dyads, gravity_acceleration, together
from modurob.algorithms.steps import apply, transposed
from modurob.algorithms.wrenches import External, body_wrenches
from modurob.mechanism.tables import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array, as_array


class Transmission(NamedTuple):
    """The matrices of the closed form at one configuration; n bodies."""

    G: Array  # (..., 6 n, 6 n), unit lower block triangular
    G_T0: Array  # (..., 6 n, 6), from the world to every body
    S: Array  # (..., 6 n, nv)
    inertia: Array  # (6 n, 6 n), block diagonal


def _rows(i: int) -> slice:
    """Rows of body i; the world has none."""
    return slice(6 * (i - 1), 6 * i)


def _block_diagonal(blocks: list[Array]) -> Array:
    n = len(blocks)
    shape = np.broadcast_shapes(*(b.shape[:-2] for b in blocks))
    total = np.zeros((*shape, 6 * n, 6 * n), dtype=np.result_type(*blocks))
    for i, block in enumerate(blocks, start=1):
        total[..., _rows(i), _rows(i)] = block
    return total


def transmission(m: Tables, q: Array) -> Transmission:
    """G, G_T0 and S from the direct transformations T_pi and the indirect ones, T_ki = T_kp T_pi."""
    q = as_array(q)
    links = dyads(m, q)
    n = len(m.joints)
    dtype = np.result_type(q, m.X_PJ)
    G = np.zeros((*q.shape[:-1], 6 * n, 6 * n), dtype=dtype)
    G_T0 = np.zeros((*q.shape[:-1], 6 * n, 6), dtype=dtype)
    S = np.zeros((*q.shape[:-1], 6 * n, m.nv), dtype=dtype)
    for i, joint in enumerate(m.joints, start=1):
        p, Ad = m.parent[i], se3.Ad_inverse(links[i].X)
        S[..., _rows(i), joint.v_slice] = links[i].S
        G[..., _rows(i), _rows(i)] = np.eye(6)
        # direct transformation from the parent, then the indirect ones through it
        if p:
            for k in m.ancestors[p]:
                G[..., _rows(i), _rows(k)] = Ad @ G[..., _rows(p), _rows(k)]
        G_T0[..., _rows(i), :] = Ad @ (G_T0[..., _rows(p), :] if p else np.eye(6))
    return Transmission(G, G_T0, S, _block_diagonal(list(m.inertia[1:])))


def closed_form_mass_matrix(m: Tables, q: Array) -> Array:
    """M = S^T G^T I G S, (..., nv, nv) (Gutenkunst (3.37))."""
    G, _, S, inertia = transmission(m, q)
    J = G @ S
    return transposed(J) @ inertia @ J + np.diag(m.armature)


def closed_form_coriolis_matrix(m: Tables, q: Array, v: Array) -> Array:
    """C = S^T G^T (I G A1 + A2 I) G S, (..., nv, nv), A1 = diag(-ad(S_i v_i)), A2 = diag(-ad(V_i)^T) (Gutenkunst (3.38),
    corrected).

    Joints whose S turns add S^T G^T I G dS/dt.
    """
    q, v = together(q, v)
    G, _, S, inertia = transmission(m, q)
    V = apply(G @ S, v)
    A1 = _block_diagonal(
        [-se3.ad(apply(S[..., _rows(i), j.v_slice], v[..., j.v_slice])) for i, j in enumerate(m.joints, 1)]
    )
    A2 = _block_diagonal([-transposed(se3.ad(V[..., _rows(i)])) for i in range(1, len(m.joints) + 1)])
    Sdot = np.zeros(S.shape, dtype=np.result_type(S, v))
    for i, joint in enumerate(m.joints, start=1):
        Sdot[..., _rows(i), joint.v_slice] = joint.type.subspace_rate(q[..., joint.q_slice], v[..., joint.v_slice])
    J = G @ S
    return transposed(J) @ ((inertia @ G @ A1 + A2 @ inertia) @ J + inertia @ G @ Sdot)


def closed_form_gravity_forces(m: Tables, q: Array, external: External = None) -> Array:
    """N = S^T G^T (I G_T0 Vdot_0 - F_ext), (..., nv) (Gutenkunst (3.39), corrected)."""
    G, G_T0, S, inertia = transmission(m, q)
    wrenches = body_wrenches(m, external)[1:] or [np.zeros(6)] * len(m.joints)
    F_ext = np.concatenate(np.broadcast_arrays(*wrenches), axis=-1)
    return apply(transposed(G @ S), apply(inertia @ G_T0, gravity_acceleration(m)) - F_ext)
