"""Small moves of states (q, v): errors are dx = (dq, dv), (..., 2 nv), with dq along `robot.integrate`."""

import numpy as np

from modurob.robot import Mechanism
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array


def moved(robot: Mechanism, q: Array, dq: Array) -> Array:
    """`robot.integrate`; a plain sum, which is faster, where no joint has a quaternion."""
    return q + dq if robot.nq == robot.nv else robot.integrate(q, dq)


def between(robot: Mechanism, q0: Array, q1: Array) -> Array:
    """`robot.difference`; a plain one, which is faster, where no joint has a quaternion."""
    return q1 - q0 if robot.nq == robot.nv else robot.difference(q0, q1)


def carried(robot: Mechanism, v: Array) -> Array:
    """B, (..., nv, nv), with d(dq)/dt = B dq + dv for a small error dq of a configuration that moves with v.

    -ad(v) for free joints, -[w] for spherical ones, whose errors are in axes that turn; zero for coordinates.
    """
    B = np.zeros((*v.shape, robot.nv))
    for joint in robot.joints:
        i = joint.v_slice
        if joint.kind == "free":
            B[..., i, i] = -se3.ad(v[..., i])
        elif joint.kind == "spherical":
            B[..., i, i] = -so3.skew(v[..., i])
    return B
