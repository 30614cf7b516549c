"""C(q, v) w with dM/dt - 2 C skew, without the matrix C."""

from collections.abc import Callable

import numpy as np

from modurob.algorithms.steps import apply
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array


def polarised(robot: Mechanism, f: Callable[..., Array], q: Array, v: Array, w: Array, a: Array) -> Array:
    """M a + C(q, v) w + N from f(q, v, a) = M a + C(q, v) v + N, or from its regressor.

    C of Christoffel is bilinear: C(q, v) w + C(q, w) v = h(v + w) - h(v) - h(w) with h = C(q, v) v, and C(q, v) w - C(q, w) v =
    M [v, w], which is zero where rates are those of coordinates.
    """
    a = a if robot.nq == robot.nv else a + apply(brackets(robot, v), w) / 2
    still = np.zeros_like(v)
    rates, accelerations = np.stack([v + w, v, w, still]), np.stack([2 * a, still, still, still])
    found = f(np.broadcast_to(q, (4, *q.shape)), rates, accelerations)
    return (found[0] - found[1] - found[2] + 3 * found[3]) / 2


def brackets(robot: Mechanism, v: Array) -> Array:
    """The matrix of w -> [v, w], (..., nv, nv): ad(v) where rates are a body's, zero where they are those of coordinates."""
    B = np.zeros((*v.shape, v.shape[-1]), v.dtype)
    for joint in robot.joints:
        B[..., joint.v_slice, joint.v_slice] = joint.type.bracket(v[..., joint.v_slice])
    return B
