"""Torques are linear in the inertial parameters: tau = Y(q, v, vdot) pi."""

import numpy as np

from modurob.algorithms.articulated import at_rest
from modurob.algorithms.interpreter import interpret
from modurob.algorithms.inverse import INVERSE_DYNAMICS, body_motion
from modurob.algorithms.jacobians import body_jacobians
from modurob.algorithms.kinematics import dyads, together
from modurob.algorithms.program import Outward, Program, View
from modurob.algorithms.steps import transposed
from modurob.mechanism.tables import Tables
from modurob.spatial import inertia, so3
from modurob.spatial.scalars import Array


def inertial_parameters(m: Tables) -> Array:
    """pi: ten numbers a moving body, (10 n,): (m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) in its frame about its origin."""
    return inertia.parameters(m.inertia[1:]).ravel()


def body_wrench_regressor(j: View) -> None:
    """Outward: the motion of the body, and W with I A + gyroscopic(I, w) = W pi, (..., 6, 10)."""
    body_motion(j)
    j.emit(W=_wrench_regressor(j.own("w"), j.own("A")))


WRENCH_REGRESSORS = Program(
    "wrench_regressors",
    inputs=INVERSE_DYNAMICS.inputs,
    results={"W": "bodies"},
    passes=(Outward(body_wrench_regressor),),
    shared=INVERSE_DYNAMICS.shared,
    world=at_rest,
)


def regressor(m: Tables, q: Array, v: Array, vdot: Array) -> Array:
    """Y, (..., nv, 10 n), with Y pi the inverse dynamics of the tree (without rotors): body i adds J_i^T W(V_i, A_i) pi_i.

    It is the derivative of inverse dynamics by the inertial parameters; that of forward dynamics is -M^-1 Y.
    """
    q, v, vdot = together(q, v, vdot)
    W = interpret(WRENCH_REGRESSORS, m, {"q": q, "v": v, "vdot": vdot}).results["W"]
    J = body_jacobians(m, dyads(m, q))
    parts = [transposed(J[i + 1]) @ W[..., i, :, :] for i in range(len(m.joints))]
    return np.concatenate([np.zeros((*v.shape, 0), W.dtype), *parts], axis=-1)


def _wrench_regressor(w: Array, A: Array) -> Array:
    """W, (..., 6, 10): I A + gyroscopic(I, w) = W pi.

    f = m a + ([dw/dt] + [w]²) m c and n = -[a] m c + I_o dw/dt + w x I_o w.
    """
    a, wdot = A[..., :3], A[..., 3:]
    spin = so3.skew(w)
    W = np.zeros((*a.shape[:-1], 6, 10), dtype=a.dtype)
    W[..., :3, 0] = a
    W[..., :3, 1:4] = so3.skew(wdot) + spin @ spin
    W[..., 3:, 1:4] = -so3.skew(a)
    W[..., 3:, 4:] = _symmetric(wdot) + spin @ _symmetric(w)
    return W


def _symmetric(x: Array) -> Array:
    """(..., 3, 6): I x as a function of (Ixx, Ixy, Iyy, Ixz, Iyz, Izz)."""
    L = np.zeros((*x.shape[:-1], 3, 6), dtype=x.dtype)
    for k, (i, j) in enumerate(((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))):
        L[..., i, k] = x[..., j]
        L[..., j, k] = x[..., i]
    return L
