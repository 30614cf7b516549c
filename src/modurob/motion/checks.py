"""What recipes for any robot share: is this a robot?"""

from typing import Any

from modurob.errors import ModurobError
from modurob.robot import Mechanism


def require_robot(robot: Any, what: str, error: type[ModurobError]) -> Mechanism:
    """`robot`, or an error if it is none."""
    if not isinstance(robot, Mechanism):
        hint = ", assembly.robot() or assembly.mechanism(...)" if hasattr(robot, "mechanism") else ""
        raise error(f"{what} on {robot!r:.60}: expected a robot, a Mechanism{hint}")
    return robot
