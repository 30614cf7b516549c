"""The quantities of one joint that the recursions share.

A body's acceleration is here (a, dw/dt): the acceleration of its origin and its angular acceleration, in its own axes. Then the
dynamics do not depend on the linear velocity (von Stryk 5.3), and only the angular velocity w is propagated outward.
"""

from typing import NamedTuple

import numpy as np

from modurob.catalogue.joints import JointType
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array


def apply(A: Array, x: Array) -> Array:
    """A x for stacks of matrices (..., n, k) and vectors (..., k)."""
    return (A @ x[..., None])[..., 0]


def transposed(A: Array) -> Array:
    """A^T over the last two axes."""
    return np.swapaxes(A, -1, -2)


class Dyad(NamedTuple):
    """A joint at a configuration."""

    X: Array  # X_PB, the body in its parent, (..., 4, 4)
    S: Array  # motion subspace, (..., 6, nv)


def dyad(kind: JointType, X_PJ: Array, q: Array) -> Dyad:
    """X_PB = X_PJ X_J(q) and S(q)."""
    return Dyad(X_PJ @ kind.pose(q), kind.motion_subspace(q))


class Spin(NamedTuple):
    """Angular velocity of a body, (..., 3), and its acceleration relative to its parent's at vdot = 0, (..., 6)."""

    w: Array
    drift: Array


def spin(X: Array, S: Array, w_P: Array, v: Array, bias: Array) -> Spin:
    """From the parent's angular velocity, the joint's rates and its bias (dS/dt) v.

    With the joint's twist (v_J, w_J) = S v and w' the parent's w in the body's axes: w = w' + w_J, and the drift is
    (R^T w_P x (w_P x p) + 2 w' x v_J + w_J x v_J, w' x w_J) + bias (von Stryk (5.1)-(5.4)).
    """
    Rt, p = transposed(se3.rotation(X)), se3.position(X)
    V_J = apply(S, v)
    v_J, w_J = V_J[..., :3], V_J[..., 3:]
    w_parent = apply(Rt, w_P)
    centripetal = apply(Rt, so3.cross(w_P, so3.cross(w_P, p)))
    coriolis = so3.cross(2 * w_parent + w_J, v_J)
    return Spin(w_parent + w_J, np.concatenate([centripetal + coriolis, so3.cross(w_parent, w_J)], axis=-1) + bias)


def gyroscopic(I: Array, w: Array) -> Array:
    """(w x (w x m c), w x I_o w): the wrench on a body that turns with constant w, (..., 6)."""
    momentum = apply(I[..., 3:], w)
    return np.concatenate([so3.cross(w, momentum[..., :3]), so3.cross(w, momentum[..., 3:])], axis=-1)
