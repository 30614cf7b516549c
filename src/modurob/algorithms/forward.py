"""Forward dynamics of any mechanism."""

import numpy as np

from modurob.algorithms.articulated import articulated_dynamics
from modurob.algorithms.composite import mass_matrix
from modurob.algorithms.inverse import External, inverse_dynamics
from modurob.algorithms.kinematics import together
from modurob.algorithms.loops import constrained_dynamics
from modurob.errors import SingularError
from modurob.mechanism.tables import Tables
from modurob.spatial.scalars import Array, is_numeric, solve


def forward_dynamics(m: Tables, q: Array, v: Array, tau: Array, external: External = None) -> Array:
    """vdot = M^-1 (tau + J^T F - C v - N), (..., nv), loops kept closed.

    Trees go through articulated bodies; loops through their constraints; joints that mimic share a coordinate, which only the
    mass matrix knows of.
    """
    if m.loops:
        return constrained_dynamics(m, q, v, tau, external)
    if m.coupled:
        q, v, tau = together(q, v, tau)
        push = tau - inverse_dynamics(m, q, v, np.zeros(m.nv), external)
        M = mass_matrix(m, q)
        if is_numeric(M) and np.any(np.linalg.eigvalsh(np.real(M)) <= 0):
            raise SingularError(f"{m.name}: a freedom moves no inertia, so forward dynamics has no answer")
        return solve(M, push[..., None])[..., 0]
    return articulated_dynamics(m, q, v, tau, external)
