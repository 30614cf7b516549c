"""What joints slide along or turn about that have no body of their own, such as virtual joints: rails and turntables."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from modurob.mechanism import Tables
from modurob.mechanism.tables import Joint
from modurob.spatial.scalars import Array
from modurob.viewer import drawing


def axis(joint: Joint) -> tuple[Array, bool] | None:
    """What a joint of one rate moves along or about, a unit vector in the frame of its body, and whether it turns; else None."""
    if joint.type.nq != 1 or joint.type.nv != 1:
        return None
    linear, angular = np.split(np.asarray(joint.type.motion_subspace(np.zeros(1)), float).ravel(), 2)
    turns = bool(np.linalg.norm(angular) > 0.0)
    along = angular if turns else linear
    size = np.linalg.norm(along)  # the ratio of a joint that mimics is in it
    return (along / size, turns) if size else None


def guides(robot: Tables, joints: Iterable[int]) -> list[dict[str, Any]]:
    """A rail or a turntable for each of these joints, numbered as the bodies they move, which stands on the body before it."""
    return [_guide(robot, body, *found) for body in joints if (found := axis(robot.joints[body - 1]))]


def _guide(robot: Tables, body: int, along: Array, turns: bool) -> dict[str, Any]:
    return {
        "name": robot.joints[body - 1].name,
        "parent": robot.parent[body],
        "body": body,
        "X": drawing.rows(robot.X_PJ[body]),
        "axis": along.tolist(),
        "turns": turns,
    }
