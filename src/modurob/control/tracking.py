"""How far a robot is from where it should be, on the manifold of its configurations."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from modurob.catalogue.joints.joint import JointType, Reversed
from modurob.control.drives import Drives
from modurob.control.reference import Motion
from modurob.mechanism import Joint
from modurob.spatial import se3
from modurob.spatial.scalars import Array


class Errors(NamedTuple):
    """What a robot lacks to its reference, in the units of v, (..., nv) each."""

    position: Array  # e with integrate(q, e) = q_d
    velocity: Array  # v_d, seen from the robot, less v
    acceleration: Array  # vdot_d, seen from the robot


def errors_of(drives: Drives) -> Callable[[Motion, Array, Array], Errors]:
    """The errors (motion, q, v) -> e of the driven joints; entries of rates without a drive have no meaning."""
    if drives.robot.nq == drives.robot.nv:
        return plain_errors
    turning = [j for j in drives.joints if j.type.nq > j.type.nv]
    column = np.zeros(drives.robot.nv, dtype=int)
    for joint in set(drives.joints).difference(turning):
        column[joint.v_slice] = np.r_[joint.q_slice]

    def errors(motion: Motion, q: Array, v: Array) -> Errors:
        e, e_v, ahead = plain_errors(motion, q, v)
        plain = Errors(e[..., column], e_v, ahead)
        return with_turns(plain, turning, motion, q, v) if turning else plain

    return errors


def plain_errors(motion: Motion, q: Array, v: Array) -> Errors:
    """Differences, for joints with coordinates."""
    q_d, v_d, vdot_d = motion
    return Errors(q_d - q, v_d - v, vdot_d)


def with_turns(plain: Errors, joints: Sequence[Joint], motion: Motion, q: Array, v: Array) -> Errors:
    """The errors with those of joints that turn by quaternions, where velocities are carried into the robot's frame."""
    q_d, v_d, vdot_d = motion
    e, e_v, ahead = (np.array(x, plain.position.dtype) for x in np.broadcast_arrays(*plain))
    for joint in joints:
        at, i = joint.q_slice, joint.v_slice
        e[..., i] = joint.type.difference(q[..., at], q_d[..., at])
        rate, ahead[..., i] = carried(joint.type, q[..., at], v[..., i], q_d[..., at], v_d[..., i], vdot_d[..., i])
        e_v[..., i] = rate - v[..., i]
    return Errors(e, e_v, ahead)


def carried(joint: JointType, q: Array, v: Array, q_d: Array, v_d: Array, vdot_d: Array) -> tuple[Array, Array]:
    """The twist v_d of a body at q_d, expressed in the body frame at q, and its derivative.

    With E = X^-1 X_d they are Ad_E v_d and Ad_E vdot_d - ad_v Ad_E v_d.
    """
    joint = joint.original if isinstance(joint, Reversed) else joint
    S = joint.motion_subspace(q)
    E = se3.Ad(se3.inverse(joint.pose(q)) @ joint.pose(q_d))
    V, A = E @ S @ v_d[..., None], E @ S @ vdot_d[..., None]
    turning = se3.ad((S @ v[..., None])[..., 0]) @ V
    return (S.T @ V)[..., 0], (S.T @ (A - turning))[..., 0]
