"""The mass matrix by composite bodies (von Stryk 5.6.1.3, corrected)."""

import numpy as np

from modurob.algorithms.interpreter import interpret
from modurob.algorithms.joint_space import inertia_entry, with_rotors, world_columns, world_inertia
from modurob.algorithms.kinematics import together
from modurob.algorithms.program import SYMMETRIC, Climb, Inward, Outward, Pairs, Program, Run, View
from modurob.algorithms.steps import transposed
from modurob.mechanism.tables import Tables
from modurob.spatial import inertia, se3
from modurob.spatial.scalars import Array, is_numeric


def inertia_terms(j: View) -> None:
    """Outward: the vectors S of each joint."""
    world_columns(j)


def inertia_sums(j: View) -> None:
    """Inward: composite inertia, and h = I S."""
    I = world_inertia(j) + j.children("I")
    j.columns(h=inertia.momentum(I[..., None, :], j.own("S")))
    j.send(I=I)


MASS_MATRIX = Program(
    "mass_matrix",
    inputs={"q": "coordinates", "reference": "reference"},
    results={"M": "matrix"},
    passes=(Outward(inertia_terms), Inward(inertia_sums), Pairs(inertia_entry)),
    shared={"X": (3, 4)},
    sent={"I": (10,)},
    columns={"S": 6, "h": 6},
    world=lambda m: {"X": np.eye(4)[:3]},
    in_body_axes=False,
)


def mass_matrix(m: Tables, q: Array, run: Run = interpret) -> Array:
    """M(q), (..., nv, nv) [kg m², kg m, kg]: symmetric, positive definite where every degree of freedom moves inertia.

    The composite inertia of joint i is that of its subtree; its momentum per unit rate, h = I S, gives M_ij = h . S_j for each
    rate j between joint i and the root. Numbers are in world axes; exact scalars in body axes, where entries do not bring in
    the joints below j, of which each product would cancel.
    """
    q = together(q)[0]
    program = MASS_MATRIX if is_numeric(q) else EXACT_MASS_MATRIX
    return with_rotors(m, run(program, m, {"q": q}).results["M"])


# ---- in body axes ----


def composite_inertia(j: View) -> None:
    """Inward: the inertia of all bodies that the joint carries, and its momentum per unit rate, (..., nv, 6)."""
    I = j.inertia + j.children("I")
    j.columns(momentum=transposed(I @ j.S))
    j.send(I=inertia.to_parent(j.X, I))


def projected(j: View, momentum: Array) -> Array:
    """S^T h of momenta h, (..., k, 6), in the frame of a joint's body, (..., k, nv)."""
    return momentum @ j.S


def transformed(j: View, momentum: Array) -> Array:
    """Momenta, (..., k, 6), transformed to the frame of the parent."""
    return se3.to_parent(j.X[..., None, :, :], momentum)


EXACT_MASS_MATRIX = Program(
    "exact_mass_matrix",
    inputs={"q": "coordinates"},
    results={"M": "matrix"},
    passes=(Inward(composite_inertia), Climb("momentum", projected, transformed)),
    sent={"I": SYMMETRIC},
    columns={"momentum": 6},
)
