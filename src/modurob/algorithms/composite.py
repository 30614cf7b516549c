"""The mass matrix by composite bodies (von Stryk 5.6.1.3, corrected)."""

from modurob.algorithms.interpreter import interpret
from modurob.algorithms.joint_space import MASS_MATRIX_BY_PAIRS, with_rotors
from modurob.algorithms.kinematics import together
from modurob.algorithms.program import SYMMETRIC, Climb, Inward, Program, Run, View
from modurob.algorithms.steps import transposed
from modurob.mechanism.tables import Tables
from modurob.spatial import inertia, se3
from modurob.spatial.scalars import Array


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


MASS_MATRIX = Program(
    "mass_matrix",
    inputs={"q": "coordinates"},
    results={"M": "matrix"},
    passes=(Inward(composite_inertia), Climb("momentum", projected, transformed)),
    sent={"I": SYMMETRIC},
    columns={"momentum": 6},
)


def mass_matrix(m: Tables, q: Array, run: Run = interpret) -> Array:
    """M(q), (..., nv, nv) [kg m², kg m, kg]: symmetric, positive definite where every degree of freedom moves inertia.

    The composite inertia of joint i is that of its subtree; its momentum per unit rate, propagated to the ancestors and projected
    on each, is column i. Kernels use vectors in world axes, of which the entries are inner products.
    """
    program = MASS_MATRIX if run is interpret else MASS_MATRIX_BY_PAIRS
    M = run(program, m, {"q": together(q)[0]}).results["M"]
    return with_rotors(m, M)
