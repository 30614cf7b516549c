"""Inverse dynamics: the two-step Newton-Euler recursion (000 3.4.2, 003 V.A, 001 5.3)."""

from collections.abc import Mapping

import numpy as np

from modurob.algorithms.kinematics import body_motions, dyads, together
from modurob.algorithms.recursion import inward
from modurob.algorithms.steps import apply, gyroscopic, transposed
from modurob.errors import InputError
from modurob.mechanism.tables import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array, as_array

External = Mapping[str, Array] | Array | None


def body_wrenches(m: Tables, external: External) -> list[Array]:
    """External wrenches summed on each body, in its own frame.

    `external` names frames, each with the wrench (f, n) that acts on it in its own axes at its origin; or it is an array
    (..., bodies, 6) in body frames.
    """
    if external is None:
        return [np.zeros(6)] * len(m.bodies)
    if isinstance(external, Mapping):
        wrenches = [np.zeros(6)] * len(m.bodies)
        for name, wrench in external.items():
            at = m.frame(name)
            wrenches[at.body] = wrenches[at.body] + se3.to_parent(at.X, as_array(wrench))
        return wrenches
    external = as_array(external)
    if external.shape[-2:] != (len(m.bodies), 6):
        raise InputError(
            f"external wrenches of shape {external.shape}: expected (..., {len(m.bodies)}, 6), the world first"
        )
    return [external[..., i, :] for i in range(len(m.bodies))]


def inverse_dynamics(m: Tables, q: Array, v: Array, vdot: Array, external: External = None) -> Array:
    """tau = M vdot + C v + N - J^T F, (..., nv): torques for a given motion.

    Outward, angular velocities and accelerations; inward, the wrench F_i that each joint transmits:
    F_i = I A_i + gyroscopic(I, w_i) - F_ext + sum over children of Ad^T F_j, tau_i = S_i^T F_i (000 (3.22)-(3.28)).
    """
    q, v, vdot = together(q, v, vdot)
    links = dyads(m, q)
    motions = body_motions(m, links, q, v, vdot)
    own = [
        (apply(I, A) + gyroscopic(I, w) - F_ext,)
        for I, (w, A), F_ext in zip(m.inertia, motions, body_wrenches(m, external), strict=True)
    ]
    F = inward(m, own, lambda i, total: (se3.to_parent(links[i].X, total[0]),))
    return gather(m, [apply(transposed(links[i].S), F[i][0]) for i in range(1, len(F))], v) + m.armature * vdot


def gather(m: Tables, per_joint: list[Array], like: Array) -> Array:
    """Stack what each joint has, (..., nv_i), to (..., nv); a mimic adds to its source."""
    dtype = np.result_type(like, *per_joint)
    shape = np.broadcast_shapes(like.shape[:-1], *(x.shape[:-1] for x in per_joint))
    total = np.zeros((*shape, m.nv), dtype=dtype)
    for joint, x in zip(m.joints, per_joint, strict=True):
        total[..., joint.v_slice] += x
    return total


def bias_forces(m: Tables, q: Array, v: Array) -> Array:
    """C v + N: torques that hold vdot = 0, (..., nv)."""
    return inverse_dynamics(m, q, v, np.zeros(m.nv))


def gravity_forces(m: Tables, q: Array) -> Array:
    """N(q): torques that hold the robot still, the gradient of the potential energy, (..., nv)."""
    return inverse_dynamics(m, q, np.zeros(m.nv), np.zeros(m.nv))
