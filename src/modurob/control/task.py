"""A task of a frame: its error, the derivative of the error with respect to the joints, and its commanded rate.

A task is chosen by name: "pose" is the body twist to the goal (R^T (p_d - p), the rotation vector of R^T R_d);
"position" the origin in world axes; an angle sequence such as "zyx" the origin and three angles (the analytic
Jacobian).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from modurob.errors import ControlError, choices
from modurob.robot import Mechanism
from modurob.spatial import angles, se3, so3
from modurob.spatial.scalars import Array

POSE, POSITION = "pose", "position"
TASKS = (POSE, POSITION, *angles.SEQUENCES)


class Wanted(NamedTuple):
    """Where a frame should be, (..., 4, 4), and how it should move there: its body twist, (..., 6)."""

    pose: Array
    twist: Array


class Errand(NamedTuple):
    """The error of a task, (..., m), its Jacobian, (..., m, nv), and the rate that the goal has, (..., m)."""

    error: Array
    jacobian: Array
    rate: Array


Task = Callable[[Array, Wanted], Errand]


def task(name: str, robot: Mechanism, frame: str) -> Task:
    """The task of that name for a frame of a robot, (q, goal) -> errand."""
    if name not in TASKS:
        raise ControlError(f"no task {name!r}: {choices(str(name), TASKS)}")
    if name == POSE:
        return lambda q, wanted: _pose(robot, frame, q, wanted)
    if name == POSITION:
        return lambda q, wanted: _position(robot, frame, q, wanted)
    return lambda q, wanted: _angles(robot, frame, name, q, wanted)


def _pose(robot: Mechanism, frame: str, q: Array, wanted: Wanted) -> Errand:
    X = robot.frame_pose(q, frame)
    E = se3.inverse(X) @ wanted.pose
    error = np.concatenate([se3.position(E), so3.log(se3.rotation(E))], axis=-1)
    return Errand(error, robot.body_jacobian(q, frame), (se3.Ad(E) @ wanted.twist[..., None])[..., 0])


def _position(robot: Mechanism, frame: str, q: Array, wanted: Wanted) -> Errand:
    error = se3.position(wanted.pose) - se3.position(robot.frame_pose(q, frame))
    return Errand(error, robot.jacobian(q, frame)[..., :3, :], _in_world(wanted)[..., :3])


def _angles(robot: Mechanism, frame: str, sequence: str, q: Array, wanted: Wanted) -> Errand:
    X, J, V = robot.frame_pose(q, frame), robot.jacobian(q, frame), _in_world(wanted)
    now, then = (angles.euler_angles(sequence, se3.rotation(Y)).first for Y in (X, wanted.pose))
    turn = np.mod(then - now + np.pi, 2 * np.pi) - np.pi
    error = np.concatenate([se3.position(wanted.pose) - se3.position(X), turn], axis=-1)
    J_A = np.concatenate([J[..., :3, :], np.linalg.solve(angle_rates(sequence, now), J[..., 3:, :])], axis=-2)
    rate = np.linalg.solve(angle_rates(sequence, then), V[..., 3:, None])[..., 0]
    return Errand(error, J_A, np.concatenate([V[..., :3], rate], axis=-1))


def angle_rates(sequence: str, a: Array) -> Array:
    """B with w = B da/dt in fixed axes, (..., 3, 3), of R = euler(sequence, a): the columns are the present axes."""
    i, j, k = ("xyz".index(letter) for letter in sequence)
    unit = np.eye(3)
    first = so3.about(unit[i], a[..., 0])
    second = first @ so3.about(unit[j], a[..., 1])
    fixed = np.broadcast_to(unit[i], (*a.shape[:-1], 3))
    return np.stack([fixed, first[..., :, j], second[..., :, k]], axis=-1)


def _in_world(wanted: Wanted) -> Array:
    """The twist of the goal in world axes, (..., 6)."""
    R = se3.rotation(wanted.pose)
    return np.concatenate([(R @ wanted.twist[..., part, None])[..., 0] for part in (slice(3), slice(3, 6))], axis=-1)
