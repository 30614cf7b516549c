"""Inverse dynamics: the two-step Newton-Euler recursion (Gutenkunst 3.4.2; Meister, Gutenkunst, Levi V.A; von Stryk 5.3)."""

from functools import partial

import numpy as np

from modurob.algorithms.articulated import at_rest
from modurob.algorithms.constraints.torques import driven_torques
from modurob.algorithms.interpreter import interpret
from modurob.algorithms.joint_space import motion_inputs
from modurob.algorithms.program import Inward, Outward, Program, Run, View
from modurob.algorithms.steps import apply, gyroscopic, spin, transposed
from modurob.algorithms.wrenches import External
from modurob.mechanism.tables import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array


def body_motion(j: View) -> None:
    """Outward: angular velocity and acceleration of the body, A_i = Ad A_p + S vdot + drift, and the wrench F on the body alone.

    F = I A + gyroscopic(I, w) - F_ext (Gutenkunst (3.22)-(3.25), corrected).
    """
    v = j.given("v")
    w, drift = spin(j.X, j.S, j.parent("w"), v, j.bias(v))
    A = se3.to_child(j.X, j.parent("A")) + apply(j.S, j.given("vdot")) + drift
    j.keep(w=w, A=A, F=apply(j.inertia, A) + gyroscopic(j.inertia, w) - j.given("external"))


def joint_torque(j: View) -> None:
    """Inward: the wrench F that the joint transmits, summed over the subtree; tau = S^T F + rotor inertia times vdot."""
    F = j.own("F") + j.children("F")
    j.emit(tau=apply(transposed(j.S), F) + j.armature * j.given("vdot"))
    j.send(F=se3.to_parent(j.X, F))


INVERSE_DYNAMICS = Program(
    "inverse_dynamics",
    inputs={"q": "coordinates", "v": "rates", "vdot": "rates", "external": "wrenches"},
    results={"tau": "rates"},
    passes=(Outward(body_motion), Inward(joint_torque)),
    shared={"w": (3,), "A": (6,)},
    sent={"F": (6,)},
    world=at_rest,
)


def inverse_dynamics(
    m: Tables, q: Array, v: Array, vdot: Array, external: External = None, run: Run = interpret
) -> Array:
    """tau = M vdot + C v + N - J^T F, (..., nv): the torques for a given motion.

    With loops, the torques are those of the joints with a drive (effort above zero), the smallest in the least-squares
    sense if there are more of these than the motion needs; a motion that they cannot produce is refused.
    """
    inputs = motion_inputs(m, q, v, vdot, external)
    of_tree = partial(_of_tree, m, inputs, run)
    return driven_torques(m, inputs, of_tree, run) if m.constraints else of_tree()


def tree_inverse_dynamics(
    m: Tables, q: Array, v: Array, vdot: Array, external: External = None, run: Run = interpret
) -> Array:
    """tau = M vdot + C v + N - J^T F of the tree, its constraints left out, (..., nv)."""
    return _of_tree(m, motion_inputs(m, q, v, vdot, external), run)


def _of_tree(m: Tables, inputs: dict[str, Array], run: Run) -> Array:
    return run(INVERSE_DYNAMICS, m, inputs).results["tau"]


def bias_forces(m: Tables, q: Array, v: Array, run: Run = interpret) -> Array:
    """C v + N: torques of the tree that hold vdot = 0, (..., nv)."""
    return tree_inverse_dynamics(m, q, v, np.zeros(m.nv), run=run)


def gravity_forces(m: Tables, q: Array, run: Run = interpret) -> Array:
    """N(q): torques of the tree that hold it at rest, the gradient of the potential energy, (..., nv)."""
    return tree_inverse_dynamics(m, q, np.zeros(m.nv), np.zeros(m.nv), run=run)
