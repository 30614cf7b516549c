"""Sticks for robots that have no shapes: a ball at each joint, and sticks to the joints that hang on it."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from modurob.mechanism import Joint, Tables
from modurob.spatial import inertia, se3, so3
from modurob.spatial.scalars import Array
from modurob.viewer import drawing

THICK = 0.07  # radius of a stick, as part of the usual distance between joints
COLOURS = ("#4a79ac", "#e0a04c")
RAIL = "#64748b"


def piece(kind: str, size: Any, X: Array, body: int) -> dict[str, Any]:
    """A shape in the colour of its body: neighbours differ."""
    return drawing.drawn(kind, size, X, COLOURS[body % len(COLOURS)])


def sticks(robot: Tables, bodies: Iterable[int]) -> Iterator[tuple[int, dict[str, Any]]]:
    """(body, shape) for bodies that have no shapes of their own."""
    thick = THICK * _usual_length(robot)
    for body in bodies:
        for shape in _sticks(robot, body, thick):
            yield body, shape


def rails(robot: Tables, bodies: Iterable[int]) -> Iterator[dict[str, Any]]:
    """What bodies slide along that have no shapes of their own: from where their joint is to where they are."""
    thick = 0.6 * THICK * _usual_length(robot)
    for body in bodies:
        if _slides(robot.joints[body - 1]):
            seat = {"body": robot.parent[body], "at": [float(x) for x in se3.position(robot.X_PJ[body])]}
            places = [seat, {"body": body, "at": [0.0, 0.0, 0.0]}]
            yield {"name": robot.joints[body - 1].name, "colour": RAIL, "places": places, "radius": thick}


def _slides(joint: Joint) -> bool:
    """Whether a joint that holds its body moves the body's origin."""
    S = joint.type.motion_subspace(joint.type.neutral())
    return joint.type.nv < 6 and bool(np.any(S[:3]))


def _ends(robot: Tables, body: int) -> list[Array]:
    """Where the joints are that a body carries, and its centre of mass if it carries none, in its frame."""
    carried = [se3.position(robot.X_PJ[i]) for i, parent in enumerate(robot.parent) if parent == body and i]
    spatial = robot.inertia[body]
    return carried or ([inertia.centre(spatial)] if inertia.mass(spatial) > 0 else [])


def _usual_length(robot: Tables) -> float:
    lengths = [np.linalg.norm(end) for body in range(1, len(robot.bodies)) for end in _ends(robot, body)]
    real = [length for length in lengths if length > 1e-6]
    return float(np.median(real)) if real else 0.2


def _sticks(robot: Tables, body: int, thick: float) -> Iterator[dict[str, Any]]:
    # balls of neighbours in one place are not of one size, so that the outer one is seen
    yield piece("sphere", ((1.5 + 0.1 * (body % 2)) * thick,), np.eye(4), body)
    for end in _ends(robot, body):
        length = float(np.linalg.norm(end))
        if length > thick:
            u, w = so3.perpendicular(end / length)
            turn = np.stack([u, w, end / length], axis=-1)
            yield piece("cylinder", (thick, length), se3.pose(turn, end / 2), body)
