"""Forward dynamics of trees with mimic joints beside their source, in time linear in the number of bodies.

Joints that share a coordinate and have the same parent body, as the fingers of a gripper do, are eliminated together at
that body (`Tables.hubs`): its inertia includes theirs, reduced by the elimination of their one rate.
(Clusters of joints: Chignoli, Adrian, Kim and Wensing 2023.)
"""

import numpy as np

from modurob.algorithms.articulated import FORWARD_DYNAMICS, at_rest, pivot_scale
from modurob.algorithms.program import Inward, Outward, Program, View
from modurob.algorithms.steps import apply, gyroscopic, spin, transposed
from modurob.spatial import inertia, se3
from modurob.spatial.scalars import Array, pivots, solve


def sibling_velocity(j: View) -> None:
    """Outward: angular velocity, velocity-product acceleration, and the bias wrench of the body: gyroscopic less external."""
    v = j.given("v")
    w, drift = spin(j.X, j.S, j.parent("w"), v, j.bias(v))
    j.keep(w=w, drift=drift, p=gyroscopic(j.inertia, w) - j.given("external"))


def sibling_inertia(j: View) -> None:
    """Inward, as `articulated.articulated_inertia`; joints that share a rate leave its elimination to their common
    parent body.

    They pass on U = I S, D = S^T U and the effort tau - S^T (p + I drift), which are summed over all joints that share
    the rate.
    """
    I, p = j.inertia + j.children("I"), j.own("p") + j.children("p")
    if j.hub:
        U, effort = j.children("U")[..., None], j.children("effort")
        D = j.children("D")[..., None]
        K, k = solve(D, transposed(U)), solve(D, effort[..., None])[..., 0]
        j.require(pivots(D), np.zeros(D.shape[:-1]))
        j.keep(K_shared=K, k_shared=k)
        I, p = inertia.mirrored(I - U @ K), p + apply(U, k)
    U = I @ j.S
    D = transposed(j.S) @ U + np.diag(j.armature)
    if j.shares:
        p = p + apply(I, j.own("drift"))
        effort = (0 if j.follows else j.given("tau")) - apply(transposed(j.S), p)
        _send(j, I, p, j.ratio * U[..., 0], j.ratio * j.ratio * D[..., 0], j.ratio * effort)
        return
    j.require(pivots(D), pivot_scale(I, j.S))
    effort = j.given("tau") - apply(transposed(j.S), p)
    K, k = solve(D, transposed(U)), solve(D, effort[..., None])[..., 0]
    j.keep(K=K, k=k)
    I = inertia.mirrored(I - U @ K)
    _send(j, I, p + apply(U, k) + apply(I, j.own("drift")), np.zeros(6), np.zeros(1), np.zeros(1))


def _send(j: View, I: Array, p: Array, U: Array, D: Array, effort: Array) -> None:
    """The contribution to the parent, in its own frame."""
    j.send(I=inertia.to_parent(j.X, I), p=se3.to_parent(j.X, p), U=se3.to_parent(j.X, U), D=D, effort=effort)


def sibling_acceleration(j: View) -> None:
    """Outward: vdot of the joint and the acceleration of the body, and of the rate that joints on it share."""
    A = se3.to_child(j.X, j.parent("A")) + j.own("drift")
    vdot = j.ratio * j.parent("shared") if j.shares else j.own("k") - apply(j.own("K"), A)
    A = A + apply(j.S, vdot)
    j.emit(vdot=0 * vdot if j.follows else vdot)
    j.keep(A=A, shared=j.own("k_shared") - apply(j.own("K_shared"), A) if j.hub else np.zeros(1))


SIBLING_DYNAMICS = Program(
    "sibling_dynamics",
    inputs=FORWARD_DYNAMICS.inputs,
    results=FORWARD_DYNAMICS.results,
    passes=(Outward(sibling_velocity), Inward(sibling_inertia), Outward(sibling_acceleration)),
    shared={**FORWARD_DYNAMICS.shared, "shared": (1,)},
    sent={**FORWARD_DYNAMICS.sent, "U": (6,), "D": (1,), "effort": (1,)},
    world=lambda m: {**at_rest(m), "shared": np.zeros(1)},
    mimics=True,
)
