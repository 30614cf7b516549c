"""Paths of poses as paths of joints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from modurob.errors import ControlError, explained
from modurob.motion.numbers import one_positive
from modurob.motion.paths import PosePath
from modurob.motion.poses import PoseTrajectory
from modurob.motion.trajectory import Trajectory
from modurob.robot import Mechanism
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array

# points of a path at first, and at most
FEWEST, MOST = 64, 4096
# the largest step of a coordinate between neighbours; larger ones are jumps to another solution [rad or m]
JUMP = 0.5


@explained
def joint_path(
    robot: Mechanism,
    path: PosePath | PoseTrajectory,
    frame: str,
    q0: ArrayLike | None = None,
    tolerance: float = 1e-6,
) -> Trajectory:
    """The joints along a path of poses, q(s) with s from 0 to 1 in place of time: a cubic spline through solutions of
    inverse kinematics, each the nearest to the previous one, the first to q0.

    It has as many points as necessary to follow the path within `tolerance` [m and rad] halfway between them.

    >>> arm = mr.load("lwa4p").robot()
    >>> start = arm.frame_pose([0.3, 0.5, 1.2, 0.2, 0.9, 0.1], "wrist/out")
    >>> line = mr.PoseTrajectory.line(start, start @ mr.spatial.se3.pose(p=[0.1, 0.05, -0.1]), 1.0)
    >>> q = mr.motion.joint_path(arm, line, "wrist/out", q0=[0.3, 0.5, 1.2, 0.2, 0.9, 0.1])
    >>> np.abs(arm.frame_pose(q(0.37).position, "wrist/out") - line.path(0.37)[0]).max() < 1e-6
    np.True_
    """
    curve: Any = path.path if isinstance(path, PoseTrajectory) else path
    if not isinstance(curve, PosePath):
        raise ControlError(f"path {path!r:.60}: expected a path of poses, such as PoseTrajectory.line(...)")
    close, n, q = one_positive(tolerance, "tolerance"), FEWEST, q0
    while True:
        s = np.unique(np.concatenate([np.linspace(0, 1, n + 1), np.clip(curve.knots, 0, 1)]))
        q = _solutions(robot, frame, s, curve(s)[0], q0)
        spline = CubicSpline(s, q)
        between = (s[1:] + s[:-1]) / 2
        off = _apart(robot.frame_pose(spline(between), frame), curve(between)[0])
        jump = np.abs(np.diff(q, axis=0)).max(axis=1)
        if off.max() <= close and jump.max() < JUMP:
            return Trajectory(spline.x, spline.c)
        n *= 2
        if n > MOST:
            at = between[int(np.argmax(np.maximum(off / close, jump / JUMP)))]
            raise ControlError(f"{frame} cannot follow the path smoothly at s = {at:.4f}: joints turn too fast there")


def _solutions(robot: Mechanism, frame: str, s: Array, X: Array, q0: ArrayLike | None) -> Array:
    """Configurations along the path, (n, nq)."""
    found, near = np.empty((len(s), robot.nq)), q0
    for k, x in enumerate(X):
        answer = robot.inverse_kinematics(frame, np.ascontiguousarray(x), near)
        if not answer.reached:
            why = answer.note or "not reached"
            raise ControlError(f"path of {frame} at s = {s[k]:.4f}: {why}: expected poses that {robot.name} reaches")
        near = found[k] = answer.q[0]
    return found


def _apart(A: Array, B: Array) -> Array:
    """Distance of poses, (n,): m or rad, the larger."""
    turn = np.linalg.norm(so3.log(np.swapaxes(se3.rotation(A), -1, -2) @ se3.rotation(B)), axis=-1)
    return np.maximum(np.linalg.norm(se3.position(A) - se3.position(B), axis=-1), turn)
