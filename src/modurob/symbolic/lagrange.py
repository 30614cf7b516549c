"""The equations of motion from energies: a second derivation, which has only the placement of frames in common with the
recursions.

K = sum of m |dp/dt|² / 2 + w^T R I R^T w / 2 and V = -sum of m g . p, with positions p and rotations R in the world
(von Stryk, section 5.4, with its inertia in the right frame); M from K by second derivatives, N from V by first ones.
"""

import numpy as np

from modurob.mechanism import Tables
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array
from modurob.symbolic.coordinates import Coordinates
from modurob.symbolic.ring import Polynomial


def lagrange(m: Tables, coordinates: Coordinates) -> tuple[Array, Array, Polynomial]:
    """M, N and the potential energy of exact tables."""
    ring, n = coordinates.ring, m.nv
    M = np.full((n, n), ring.constant(0), dtype=object)
    potential = ring.constant(0)
    X_WB = [se3.IDENTITY.astype(object)]
    for i, joint in enumerate(m.joints, start=1):
        X_WB.append(X_WB[m.parent[i]] @ m.X_PJ[i] @ joint.type.pose(coordinates.q[joint.q_slice]))
        I = m.inertia[i]
        mass, first, about_origin = I[0, 0], so3.vee(I[3:, :3]), I[3:, 3:]
        R, p = se3.rotation(X_WB[i]), se3.position(X_WB[i])
        Jp = np.array([[coordinates.derivative(_polynomial(x, coordinates), k) for k in range(n)] for x in p])
        Jw = np.stack([_spin(R, coordinates, k) for k in range(n)], axis=-1)
        lever = R @ first
        # K = m |p'|²/2 + p' . (w x m c) + w^T I_o w / 2, all in the world
        cross = Jp.T @ so3.skew(lever) @ Jw
        M = M + mass * (Jp.T @ Jp) - cross - cross.T + Jw.T @ (R @ about_origin @ R.T) @ Jw
        potential = potential - m.gravity @ (mass * p + lever)
    M = M + np.diag(m.armature)
    N = np.array([coordinates.derivative(potential, k) for k in range(n)], dtype=object)
    return M, N, potential


def _polynomial(x: object, coordinates: Coordinates) -> Polynomial:
    return x if isinstance(x, Polynomial) else coordinates.ring.constant(x)


def _spin(R: Array, coordinates: Coordinates, k: int) -> Array:
    """Angular velocity in the world per unit rate of coordinate k: the vector of dR/dq_k R^T."""
    dR = np.array([[coordinates.derivative(_polynomial(x, coordinates), k) for x in row] for row in R])
    return so3.vee(dR @ R.T)
