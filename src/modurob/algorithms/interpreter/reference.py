"""Where a robot stands: the point that positions are taken from, so that nothing large cancels."""

import numpy as np

from modurob.catalogue.joints import Free
from modurob.mechanism.tables import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array


def reference(m: Tables, q: Array) -> Array:
    """A point near the robot, (..., 3): where its floating base is, else where it stands. About it nothing large cancels."""
    return q[..., :3] if floats(m) else stand(m)


def stand(m: Tables) -> Array:
    """Where the first joint of a robot that does not float stands in the world, (3,)."""
    return se3.position(m.X_PJ[1]) if m.joints else np.zeros(3)


def floats(m: Tables) -> bool:
    """Whether the first coordinates are the position of a body in the world."""
    return bool(m.joints) and isinstance(m.joints[0].type, Free) and np.array_equal(m.X_PJ[1], np.eye(4))
