"""What recipes for any robot share: is this a robot, and are two things that users wrote the same?"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from modurob.errors import ModurobError
from modurob.robot import Mechanism


def require_robot(robot: Any, what: str, error: type[ModurobError]) -> Mechanism:
    """`robot`, or an error if it is none."""
    if not isinstance(robot, Mechanism):
        hint = ", assembly.robot() or assembly.mechanism(...)" if hasattr(robot, "mechanism") else ""
        raise error(f"{what} on {robot!r:.60}: expected a robot, a Mechanism{hint}")
    return robot


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal, arrays in them by their numbers; functions are if they are one."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return type(a) is type(b) and np.array_equal(a, b)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and type(a) is type(b):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)
