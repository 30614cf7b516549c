"""The pose that a user sets: coordinates and rates within the limits, loops closed."""

import numpy as np

from modurob.errors import SingularError, StudioError
from modurob.mechanism.tables import Joint
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array
from modurob.studio import closing
from modurob.studio.carrying import Posed

OPEN = 1e-6  # error of a loop that is not closed [m, rad]
SHORTEST = 1e-6  # length of a quaternion that still has a direction


def moved(robot: Mechanism, q: Array, index: int, value: float) -> tuple[Array, str]:
    """The pose with one coordinate changed, others following where loops ask for it; and why it did not get there, or nothing."""
    joint = _owner(robot, index)
    _require_limits(joint, index, value)
    if robot.loops:
        return _closed(robot, joint, q, index, value)
    changed = q.copy()
    changed[index] = value
    if joint.type.nq > joint.type.nv:
        changed[joint.q_slice.stop - 4 : joint.q_slice.stop] = _turn(joint, changed)
    return changed, ""


def checked(robot: Mechanism, q: list[float]) -> Array:
    """A whole pose, if it has all coordinates, within their limits, and keeps the loops closed."""
    if len(q) != robot.nq:
        raise StudioError(f"a pose of {len(q)} coordinates: this robot has {robot.nq}")
    for joint in robot.joints:
        if not joint.mimics and joint.type.nq == joint.type.nv:
            for index in range(joint.q_slice.start, joint.q_slice.stop):
                _require_limits(joint, index, q[index])
    pose = np.array(q, dtype=float)
    if robot.loops and np.abs(robot.loop_error(pose)).max() > OPEN:
        raise StudioError("this pose opens a loop")
    return pose


def _owner(robot: Mechanism, index: int) -> Joint:
    """The joint of a coordinate; not one that mimics it."""
    for joint in robot.joints:
        if joint.q_slice.start <= index < joint.q_slice.stop and not joint.mimics:
            return joint
    raise StudioError(f"coordinate {index}: this robot has {robot.nq}, counted from 0")


def _require_limits(joint: Joint, index: int, value: float) -> None:
    lower, upper = (float(bound[index - joint.q_slice.start]) for bound in joint.limits)
    if not lower <= value <= upper:
        raise StudioError(f"{joint.name} cannot be at {value:.4g}: its limits are {lower:.4g} to {upper:.4g}")


def _turn(joint: Joint, q: Array) -> Array:
    """The quaternion of a joint, of length one."""
    quaternion = q[joint.q_slice][-4:]
    length = np.linalg.norm(quaternion)
    if length < SHORTEST:
        raise StudioError(f"the quaternion of {joint.name} would be zero")
    return quaternion / length


def _closed(robot: Mechanism, joint: Joint, q: Array, index: int, value: float) -> tuple[Array, str]:
    """A coordinate of a robot with loops, moved as far as they stay closed."""
    found, reached = closing.moved(robot, joint, q, index, value)
    if reached:
        return found, ""
    loops = ", ".join(loop.name for loop in robot.loops)
    return found, (
        f"{joint.name} cannot go to {value:.4g}: no pose within the limits was found there that keeps the loops "
        f"closed ({loops}); it stays at {found[index]:.4g}"
    )


def with_rate(robot: Mechanism, q: Array, v: Array, index: int, value: float) -> Array:
    """The rates with one changed; where there are loops, those next to them that keep the loops closed."""
    if index >= robot.nv:
        raise StudioError(f"rate {index}: this robot has {robot.nv}, counted from 0")
    return closed_rates(robot, q, np.where(np.arange(robot.nv) == index, value, v))


def closed_rates(robot: Mechanism, q: Array, v: Array) -> Array:
    """The rates next to v that keep the loops closed; none where the robot has no answer."""
    if not robot.loops or not v.any():
        return v
    try:
        return robot.close_velocity(q, v)
    except (SingularError, np.linalg.LinAlgError):
        return np.zeros_like(v)


def rest(robot: Mechanism) -> tuple[Array, Array]:
    """All coordinates neutral, or as near as loops let them be; all rates zero."""
    return closing.closed(robot, robot.neutral()), np.zeros(robot.nv)


def within(before: Mechanism, now: Posed) -> Posed:
    """The state with coordinates brought within limits that are other ones than before."""
    q, known = now.q.copy(), {joint.name: joint for joint in before.joints}
    for joint in now.robot.joints:
        old = known.get(joint.name, joint)
        if old.kind == joint.kind and not joint.mimics and not np.array_equal(old.limits, joint.limits):
            q[joint.q_slice] = np.clip(q[joint.q_slice], *joint.limits)
    return now._replace(q=q)


def closed(now: Posed) -> Posed:
    """The state next to this one with loops closed."""
    q = closing.closed(now.robot, now.q)
    return now._replace(q=q, v=closed_rates(now.robot, q, now.v))
