"""Forward dynamics in maximal coordinates: every body by itself, held together by the wrenches its joints transmit."""

import numpy as np

from modurob.spatial import se3


def forward_dynamics(m, q, v, tau):
    """Solve for all body accelerations A_i and joint wrenches f_i at once, then read vdot off the joints.

    I A_i - ad(V_i)^T I V_i = f_i - sum of Ad_j^T f_j; S^T f_i = tau_i; T^T (A_i - Ad A_p - drift) = 0.
    """
    n = len(m.joints)
    system, right = np.zeros((12 * n, 12 * n)), np.zeros(12 * n)
    V, gravity = [np.zeros(6)], np.concatenate([-m.gravity, np.zeros(3)])
    parts = []
    for i, joint in enumerate(m.joints, start=1):
        q_i, v_i = q[joint.q_slice], v[joint.v_slice]
        Ad = se3.Ad(se3.inverse(m.X_PJ[i] @ joint.type.pose(q_i)))
        S, T = joint.type.motion_subspace(q_i), joint.type.constraint_subspace(q_i)
        V.append(Ad @ V[m.parent[i]] + S @ v_i)
        drift = joint.type.bias(q_i, v_i) + se3.ad(V[i]) @ S @ v_i
        parts.append((Ad, S, drift))
        a, f, p = 6 * (i - 1), 6 * (n + i - 1), m.parent[i]
        balance, hold = slice(a, a + 6), slice(f, f + 6 - S.shape[1])
        drive = slice(f + 6 - S.shape[1], f + 6)
        # Newton and Euler of body i; its reaction on the parent
        system[balance, a : a + 6] = m.inertia[i]
        system[balance, f : f + 6] -= np.eye(6)
        right[balance] = se3.ad(V[i]).T @ m.inertia[i] @ V[i]
        if p:
            system[6 * (p - 1) : 6 * p, f : f + 6] += Ad.T
        # the joint holds along T and drives along S
        system[hold, a : a + 6] = T.T
        right[hold] = T.T @ (drift if p else drift + Ad @ gravity)
        if p:
            system[hold, 6 * (p - 1) : 6 * p] = -T.T @ Ad
        system[drive, f : f + 6] = S.T
        right[drive] = tau[joint.v_slice]
    A = np.linalg.solve(system, right)[: 6 * n].reshape(n, 6)
    vdot = np.zeros(m.nv)
    for i, (joint, (Ad, S, drift)) in enumerate(zip(m.joints, parts, strict=True), start=1):
        A_P = A[m.parent[i] - 1] if m.parent[i] else gravity
        vdot[joint.v_slice] = np.linalg.lstsq(S, A[i - 1] - Ad @ A_P - drift, rcond=None)[0]
    return vdot
