"""The reference point of a robot: positions relative to it are small, so that no digits are lost by cancellation."""

import numpy as np

from modurob.catalogue.joints import Free
from modurob.mechanism.tables import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array


def reference(m: Tables, q: Array) -> Array:
    """A point near the robot, (..., 3): the position of its floating base, else that of its first joint in the world."""
    return q[..., :3] if floats(m) else stand(m)


def stand(m: Tables) -> Array:
    """The position of the first joint in the world, (3,), for robots that do not float."""
    return se3.position(m.X_PJ[1]) if m.joints else np.zeros(3)


def floats(m: Tables) -> bool:
    """Whether the first coordinates are the position of a body in the world."""
    return bool(m.joints) and isinstance(m.joints[0].type, Free) and np.array_equal(m.X_PJ[1], np.eye(4))
