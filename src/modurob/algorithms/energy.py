"""Energies, momentum and the centre of mass of the moving bodies."""

import numpy as np

from modurob.algorithms.jacobians import body_jacobians
from modurob.algorithms.kinematics import body_poses, body_twists, dyads, together
from modurob.algorithms.steps import apply, transposed
from modurob.mechanism.tables import Tables
from modurob.spatial import inertia, se3, so3
from modurob.spatial.scalars import Array, as_array, dot


def kinetic_energy(m: Tables, q: Array, v: Array) -> Array:
    """Sum of V^T I V / 2 over the bodies, and of the rotors, (...) [J]."""
    q, v = together(q, v)
    twists = body_twists(m, dyads(m, q), v)
    bodies = sum(dot(V, apply(I, V)) for I, V in zip(m.inertia[1:], twists[1:], strict=True))
    return (bodies + dot(m.armature * v, v)) / 2


def potential_energy(m: Tables, q: Array) -> Array:
    """-m g . c of the moving bodies, zero with the centre of mass at the world origin, (...) [J]."""
    return -dot(_first_moment(m, as_array(q)), m.gravity)


def centre_of_mass(m: Tables, q: Array) -> Array:
    """Centre of mass of the moving bodies in the world, (..., 3) [m]."""
    return _first_moment(m, as_array(q)) / total_mass(m)


def total_mass(m: Tables) -> float:
    """Mass of the moving bodies [kg]."""
    return inertia.mass(m.inertia[1:]).sum()


def momentum_matrix(m: Tables, q: Array) -> Array:
    """6 x nv: the momentum about the world origin, in world axes, is this times v."""
    links = dyads(m, as_array(q))
    J, X_WB = body_jacobians(m, links), body_poses(m, links)
    shares = [transposed(se3.Ad_inverse(X_WB[i])) @ m.inertia[i] @ J[i] for i in range(1, len(J))]
    return sum(shares, start=np.zeros((6, m.nv)))


def momentum(m: Tables, q: Array, v: Array) -> Array:
    """Linear and angular momentum (p, L), L about the world origin, in world axes, (..., 6)."""
    q, v = together(q, v)
    return apply(momentum_matrix(m, q), v)


def centroidal_momentum_matrix(m: Tables, q: Array) -> Array:
    """6 x nv: the momentum about the centre of mass, in world axes, is this times v."""
    q = as_array(q)
    at_centre = transposed(se3.Ad(se3.pose(None, centre_of_mass(m, q))))
    return at_centre @ momentum_matrix(m, q)


def centroidal_momentum(m: Tables, q: Array, v: Array) -> Array:
    """Linear and angular momentum (p, L), L about the centre of mass, in world axes, (..., 6)."""
    q, v = together(q, v)
    return apply(centroidal_momentum_matrix(m, q), v)


def _first_moment(m: Tables, q: Array) -> Array:
    """Sum of mass times position over the bodies, in the world, (..., 3)."""
    X_WB = body_poses(m, dyads(m, q))
    total = np.zeros(3)
    for I, X in zip(m.inertia[1:], X_WB[1:], strict=True):
        total = total + I[0, 0] * se3.position(X) + apply(se3.rotation(X), so3.vee(I[3:, :3]))
    return total
