"""Energies, momentum and the centre of mass of the moving bodies."""

import numpy as np

from modurob.algorithms.composite import MASS_MATRIX, inertia_terms
from modurob.algorithms.interpreter import interpret, reference
from modurob.algorithms.jacobians import mass_with_centre
from modurob.algorithms.joint_space import world_inertia
from modurob.algorithms.kinematics import at_origin, body_poses, dyads, together, with_pose
from modurob.algorithms.program import Inward, Outward, Program, Run, View
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


def rate_momentum(j: View) -> None:
    """Inward: momentum I S per unit rate of all that a joint carries, and mass times position of the body, about the
    reference point, in world axes."""
    own = world_inertia(j)
    I = own + j.children("I")
    j.send(I=I)
    j.emit(h=transposed(inertia.momentum(I[..., None, :], j.own("S"))), x=own[..., 1], y=own[..., 2], z=own[..., 3])


MOMENTA = Program(
    "momenta",
    inputs=MASS_MATRIX.inputs,
    results={"h": "vectors", "x": "bodies", "y": "bodies", "z": "bodies"},
    passes=(Outward(inertia_terms), Inward(rate_momentum)),
    shared=MASS_MATRIX.shared,
    sent=MASS_MATRIX.sent,
    columns={"S": 6},
    world=MASS_MATRIX.world,
    in_body_axes=False,
)


def _about(h: Array, arm: Array) -> Array:
    """Momenta h, (..., 6, nv), about another point, from which the first is at `arm`."""
    p = transposed(h)[..., :3]
    return np.concatenate([h[..., :3, :], h[..., 3:, :] + transposed(so3.cross(arm[..., None, :], p))], axis=-2)


def momentum_matrix(m: Tables, q: Array, run: Run = interpret) -> Array:
    """6 x nv: the momentum about the world origin, in world axes, is this times v."""
    q = as_array(q)
    return _about(run(MOMENTA, m, {"q": q}).results["h"], reference(m, q))


def momentum(m: Tables, q: Array, v: Array, run: Run = interpret) -> Array:
    """Linear and angular momentum (p, L), L about the world origin, in world axes, (..., 6)."""
    q, v = together(q, v)
    return apply(momentum_matrix(m, q, run), v)


def centroidal_momentum_matrix(m: Tables, q: Array, run: Run = interpret) -> Array:
    """6 x nv: the momentum about the centre of mass, in world axes, is this times v."""
    h, *moments = run(MOMENTA, m, {"q": as_array(q)}).results.values()
    return _about(h, -np.stack([x.sum(axis=-1) for x in moments], axis=-1) / mass_with_centre(m))


def centroidal_momentum(m: Tables, q: Array, v: Array, run: Run = interpret) -> Array:
    """Linear and angular momentum (p, L), L about the centre of mass, in world axes, (..., 6)."""
    q, v = together(q, v)
    return apply(centroidal_momentum_matrix(m, q, run), v)


def centre_of_mass_jacobian(m: Tables, q: Array, run: Run = interpret) -> Array:
    """3 x nv: velocity of the centre of mass in world axes."""
    return run(MOMENTA, m, {"q": as_array(q)}).results["h"][..., :3, :] / mass_with_centre(m)


def _first_moment(m: Tables, q: Array) -> Array:
    """Sum of mass times position over the bodies, in the world, (..., 3)."""
    X_WB = body_poses(m, dyads(m, q))
    return sum((first_moment(X, I) for I, X in zip(m.inertia[1:], X_WB[1:], strict=True)), start=np.zeros(3))
