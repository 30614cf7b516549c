"""Inverse kinematics for the page: a frame is pulled to a point, and all ways to hold its pose are listed."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modurob.errors import StudioError, choices
from modurob.kinematics.inverse.goals import PointGoal
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array

NEAR = 1e-4  # a point that is reached [m]
STARTS = 4  # a pull is answered at once, and followed by others
MOST = 32  # solutions that are listed


def pulled(robot: Mechanism, q: Array, frame: str, point: Sequence[float]) -> tuple[Array, str]:
    """The pose nearby that brings the frame's origin to a point of the world [m], or as near as was found; and why not there."""
    _require_frame(robot, frame)
    found = robot.reach(PointGoal(frame, np.array(point)), q, tolerance=NEAR, attempts=STARTS)
    there = np.asarray(found.q, dtype=float).reshape(-1, robot.nq)[0]
    if found.reached:
        return there, ""
    away = float(np.linalg.norm(robot.frame_pose(there, frame)[:3, 3] - point))
    return there, f"{frame} does not get there: the nearest pose found is {away:.3g} m away"


def solutions(robot: Mechanism, q: Array, frame: str) -> dict[str, Any]:
    """All ways in which the frame has the pose that it has at q, nearest first: their coordinates, and whether these are all."""
    _require_frame(robot, frame)
    found = robot.inverse_kinematics(frame, robot.frame_pose(q, frame), q)
    rows = np.asarray(found.q, dtype=float).reshape(-1, robot.nq)[: int(found.count)][:MOST]
    return {"frame": frame, "q": rows.tolist(), "exact": bool(found.exact), "note": str(found.note or "")}


def _require_frame(robot: Mechanism, frame: str) -> None:
    if frame not in robot.frames or frame == "world":
        raise StudioError(f"no frame {frame!r:.60}: {choices(frame, [f for f in robot.frames if f != 'world'])}")
    if not robot.nv:
        raise StudioError("nothing moves: dock a module so that a hinge has something to carry")
