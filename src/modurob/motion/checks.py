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


def require_model(model: Mechanism, robot: Mechanism, error: type[ModurobError]) -> Mechanism:
    """`model`, or an error if its coordinates are not those of the robot: others in number, joints of one name at other places,
    quaternions where the robot has none."""
    if (model.nq, model.nv) != (robot.nq, robot.nv):
        raise error(
            f"model {model.name} has nq = {model.nq}, nv = {model.nv}: expected {robot.nq}, {robot.nv}, as {robot.name} has"
        )
    places = {joint.name: joint.q_slice for joint in robot.joints}
    moved = any(places.get(joint.name, joint.q_slice) != joint.q_slice for joint in model.joints)
    if moved or (model.coordinate_of != robot.coordinate_of).any():
        mine, theirs = (", ".join(joint.name for joint in m.joints) for m in (model, robot))
        raise error(f"model {model.name} has the joints {mine}: expected those of {robot.name} in its order, {theirs}")
    return model


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal, arrays in them by their numbers; functions are if they are one."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return type(a) is type(b) and np.array_equal(a, b)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and type(a) is type(b):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)
