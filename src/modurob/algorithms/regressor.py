"""Torques are linear in the inertial parameters: tau = Y(q, v, vdot) pi."""

from dataclasses import replace

import numpy as np

from modurob.algorithms.articulated import at_rest
from modurob.algorithms.interpreter import interpret
from modurob.algorithms.inverse import INVERSE_DYNAMICS, body_motion
from modurob.algorithms.jacobians import body_jacobians
from modurob.algorithms.joint_space import EQUATIONS, world_motion
from modurob.algorithms.kinematics import dyads, together
from modurob.algorithms.program import Outward, Paths, PathView, Program, Run, View
from modurob.algorithms.steps import apply, transposed
from modurob.mechanism.tables import Tables
from modurob.spatial import inertia, se3, so3
from modurob.spatial.scalars import Array, is_numeric

# entries of the tensor, in the order of the inertial parameters
_TENSOR = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))


def inertial_parameters(m: Tables) -> Array:
    """pi: ten numbers a moving body, (10 n,): (m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) in its frame about its origin."""
    return inertia.parameters(m.inertia[1:]).ravel()


def parameter_wrenches(X: Array, a: Array, w: Array, wdot: Array) -> tuple[Array, Array]:
    """The wrenches that move a body of unit inertial parameters: for m and m c, (..., 4, 6), for the tensor their torques,
    (..., 6, 3).

    X is the pose of its frame, a the acceleration of its origin. f = m a + wdot x h + w x (w x h) with h = R m c, and
    n = p x f + h x a + J wdot + w x J w, in which the entries ij and ji make J = r_i r_j^T + r_j r_i^T of the columns r of R.
    """
    r, p = transposed(se3.rotation(X)), se3.position(X)
    w, wdot = w[..., None, :], wdot[..., None, :]
    u = so3.cross(w, r)
    f = so3.cross(wdot, r) + so3.cross(w, u)
    h = np.concatenate([0 * p[..., None, :], r], axis=-2)
    f = np.concatenate([np.broadcast_to(a[..., None, :], (*f.shape[:-2], 1, 3)), f], axis=-2)
    n = so3.cross(p[..., None, :], f) + so3.cross(h, a[..., None, :])
    # P_ij = r_i (r_j . wdot) + u_i (r_j . w)
    P = _outer(r, apply(r, wdot[..., 0, :])) + _outer(u, apply(r, w[..., 0, :]))
    tensor = [P[..., i, j, :] + P[..., j, i, :] if i != j else P[..., i, i, :] for i, j in _TENSOR]
    return np.concatenate([f, n], axis=-1), np.stack(tensor, axis=-2)


def _outer(r: Array, x: Array) -> Array:
    """r_i x_j of vectors r, (..., 3, 3, 3)."""
    return r[..., :, None, :] * x[..., None, :, None]


def body_parameter_wrenches(j: View) -> None:
    """Outward: the motion of the body, and its `parameter_wrenches` in world axes at the reference point."""
    X = world_motion(j)[0] @ j.frame
    (v, w), (a, wdot) = (np.split(j.own(name), 2, axis=-1) for name in ("V", "A"))
    p = se3.position(X)
    F, n = parameter_wrenches(X, a + so3.cross(wdot, p) + so3.cross(w, v + so3.cross(w, p)), w, wdot)
    j.keep(F=F, n=n)


def regressor_entries(p: PathView) -> None:
    """Y_ab = S_a . F_b for the ten parameters of a body b and the rates a on its path."""
    S = p.rates("S")
    p.emit(Y=np.concatenate([S @ transposed(p.body("F")), S[..., 3:] @ transposed(p.body("n"))], axis=-1))


def _world(m: Tables) -> dict[str, Array]:
    return {**EQUATIONS.world(m), "F": np.zeros((4, 6)), "n": np.zeros((6, 3))}


REGRESSOR = Program(
    "regressor",
    inputs={"q": "coordinates", "v": "rates", "vdot": "rates", "reference": "reference"},
    results={"Y": "regressor"},
    passes=(Outward(body_parameter_wrenches), Paths(regressor_entries)),
    shared={**EQUATIONS.shared, "F": (4, 6), "n": (6, 3)},
    columns={"S": 6},
    world=_world,
    in_body_axes=False,
)

# W Y, for a matrix W
REGRESSOR_PRODUCT = replace(
    REGRESSOR,
    name="regressor_product",
    inputs={**REGRESSOR.inputs, "W": "matrix"},
    passes=(Outward(body_parameter_wrenches), Paths(regressor_entries, weights="W")),
)


def regressor(m: Tables, q: Array, v: Array, vdot: Array, run: Run = interpret) -> Array:
    """Y, (..., nv, 10 n), with Y pi the inverse dynamics of the tree (without rotors): the derivative of its torques by pi.

    Numbers are in world axes; exact scalars in body axes, where products do not bring in joints of which they cancel.
    """
    q, v, vdot = together(q, v, vdot)
    if not is_numeric(q):
        return _exact_regressor(m, q, v, vdot)
    return run(REGRESSOR, m, {"q": q, "v": v, "vdot": vdot}).results["Y"]


# ---- in body axes ----


def own_parameter_wrenches(j: View) -> None:
    """Outward: the motion of the body, and W with I A + gyroscopic(I, w) = W pi, (..., 6, 10)."""
    body_motion(j)
    A = j.own("A")
    F, n = parameter_wrenches(np.eye(4, dtype=int), A[..., :3], j.own("w"), A[..., 3:])
    j.emit(W=transposed(np.concatenate([F, np.concatenate([0 * n, n], axis=-1)], axis=-2)))


EXACT_WRENCHES = Program(
    "exact_wrenches",
    inputs=INVERSE_DYNAMICS.inputs,
    results={"W": "bodies"},
    passes=(Outward(own_parameter_wrenches),),
    shared=INVERSE_DYNAMICS.shared,
    world=at_rest,
)


def _exact_regressor(m: Tables, q: Array, v: Array, vdot: Array) -> Array:
    """Body i adds J_i^T W_i."""
    W = interpret(EXACT_WRENCHES, m, {"q": q, "v": v, "vdot": vdot}).results["W"]
    J = body_jacobians(m, dyads(m, q))
    parts = [transposed(J[i + 1]) @ W[..., i, :, :] for i in range(len(m.joints))]
    return np.concatenate([np.zeros((*v.shape, 0), W.dtype), *parts], axis=-1)
