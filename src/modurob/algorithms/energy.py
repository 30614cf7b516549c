"""Energies, momentum and the centre of mass of the moving bodies."""

import numpy as np

from modurob.algorithms.interpreter import interpret
from modurob.algorithms.jacobians import body_jacobians, mass_with_centre
from modurob.algorithms.kinematics import at_origin, body_poses, dyads, together, with_pose
from modurob.algorithms.program import Outward, Program, Run, View
from modurob.algorithms.steps import apply, transposed
from modurob.mechanism.tables import Tables
from modurob.spatial import inertia, se3, so3
from modurob.spatial.scalars import Array, as_array, dot


def body_kinetic_energy(j: View) -> None:
    """Outward: V_i = Ad V_p + S v, and the energy of body and rotors, V^T I V / 2."""
    v = j.given("v")
    V = se3.to_child(j.X, j.parent("V")) + apply(j.S, v)
    j.keep(V=V)
    j.emit(energy=(dot(V, apply(j.inertia, V)) + dot(j.armature * v, v)) / 2)


KINETIC_ENERGY = Program(
    "kinetic_energy",
    inputs={"q": "coordinates", "v": "rates"},
    results={"energy": "bodies"},
    passes=(Outward(body_kinetic_energy),),
    shared={"V": (6,)},
    world=lambda m: {"V": np.zeros(6)},
)


def kinetic_energy(m: Tables, q: Array, v: Array, run: Run = interpret) -> Array:
    """Sum of V^T I V / 2 over the bodies, and of the rotors, (...) [J]."""
    q, v = together(q, v)
    return run(KINETIC_ENERGY, m, {"q": q, "v": v}).results["energy"].sum(axis=-1)


def body_potential_energy(j: View) -> None:
    """Outward: -g . (m p + R m c)."""
    X = with_pose(j)
    j.emit(energy=-dot(first_moment(X, j.inertia), j.gravity))


def first_moment(X: Array, I: Array) -> Array:
    """Mass times position of the centre of mass, in the world, (..., 3)."""
    return I[..., 0, 0] * se3.position(X) + apply(se3.rotation(X), so3.vee(I[..., 3:, :3]))


POTENTIAL_ENERGY = Program(
    "potential_energy",
    inputs={"q": "coordinates"},
    results={"energy": "bodies"},
    passes=(Outward(body_potential_energy),),
    shared={"X": (3, 4)},
    world=at_origin,
)


def potential_energy(m: Tables, q: Array, run: Run = interpret) -> Array:
    """-m g . c of the moving bodies, zero with the centre of mass at the world origin, (...) [J]."""
    return run(POTENTIAL_ENERGY, m, {"q": as_array(q)}).results["energy"].sum(axis=-1)


def centre_of_mass(m: Tables, q: Array) -> Array:
    """Centre of mass of the moving bodies in the world, (..., 3) [m]."""
    return _first_moment(m, as_array(q)) / mass_with_centre(m)


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
    return sum((first_moment(X, I) for I, X in zip(m.inertia[1:], X_WB[1:], strict=True)), start=np.zeros(3))
