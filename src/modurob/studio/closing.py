"""Poses that close the loops of a robot: the nearest one, one with a coordinate held, or the reason why there is none."""

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from modurob.errors import ClosureError
from modurob.mechanism.tables import Joint, Loop
from modurob.robot import Mechanism
from modurob.spatial import se3
from modurob.spatial.scalars import Array

CLOSED = 1e-9  # loops open by less are closed [m, rad]
NEARLY = 0.2  # so are loops that a pose is expected to close without going far
STRIDE = 0.1  # the longest way that a coordinate goes at once [rad or m]
NEWTON = 25  # steps
PATIENCE = 1.0  # seconds of looking for a pose
STARTS = 4  # random poses that are tried where the present one leads nowhere
WITHIN = 1e-6  # of the limits [rad or m]


def closed(robot: Mechanism, q: Array, thorough: bool = True) -> Array:
    """A pose within the joint limits that closes the loops: the one next to q, or any that is found in time."""
    if not robot.loops:
        return q
    deadline = time.monotonic() + PATIENCE
    for start in _starts(robot, q, thorough):
        with suppress(ClosureError, np.linalg.LinAlgError):
            found = robot.close_loops(start)
            if _beyond(robot, found) is None:
                return found
        if time.monotonic() > deadline:
            break
    gaps = {loop.name: gap(robot, q, loop) for loop in robot.loops}
    worst = max(gaps, key=lambda name: gaps[name])
    raise ClosureError(
        f"no pose within the joint limits was found that closes the loops: {worst} is open by {distance(gaps[worst])}"
    )


def _starts(robot: Mechanism, q: Array, thorough: bool) -> list[Array]:
    """Poses to begin with: q if it is nearly closed, then those that are open the least."""
    starts = [q, *_rings(robot), *(_scattered(robot) if thorough else ())]
    gaps = [float(np.abs(robot.loop_error(start)).max()) for start in starts]
    if gaps[0] < NEARLY:
        gaps[0] = -1.0
    return [starts[i] for i in np.argsort(gaps, kind="stable")]


def _rings(robot: Mechanism) -> Iterator[Array]:
    """The neutral pose, and chains bent to a ring: every hinge turned by a part of the whole turn."""
    yield robot.neutral()
    hinges = [j.q_slice.start for j in robot.joints if j.kind == "revolute" and not j.mimics]
    for turn in (2 * np.pi, -2 * np.pi):
        q = np.array(robot.neutral())
        q[hinges] = turn / max(len(hinges), 1)
        yield q


def _scattered(robot: Mechanism) -> Iterator[Array]:
    """Poses all over the limits."""
    rng = np.random.default_rng(0)
    for _ in range(STARTS):
        q = robot.random_configuration(rng)
        for joint in robot.joints:
            if np.isfinite(joint.limits).all() and not joint.mimics:
                q[joint.q_slice] = rng.uniform(*joint.limits)
        yield q


class Moved(NamedTuple):
    """A pose, and whether the coordinate got where it was to go."""

    q: Array
    reached: bool


def moved(robot: Mechanism, joint: Joint, q: Array, index: int, value: float) -> Moved:
    """The closed pose q with one coordinate of a joint taken to a value, as far as the loops stay closed."""
    strides = max(1, int(np.ceil(abs(value - q[index]) / STRIDE)))
    for target in np.linspace(q[index], value, strides + 1)[1:]:
        ahead = q.copy()
        ahead[index] = target
        found = _closed_with(robot, ahead, _rates(joint, index))
        if found is None or _beyond(robot, found):
            return Moved(q, reached=False)
        q = found
    return Moved(q, reached=True)


Gap = tuple[float, float]  # [m, degrees]


def gap(robot: Mechanism, q: Array, loop: Loop) -> Gap:
    """How far the ends of a loop are apart."""
    X = robot.forward_kinematics(q).bodies
    start, end = (X[frame.body] @ frame.X for frame in (loop.predecessor, loop.successor))
    return apart(start, end)


def apart(one: Array, other: Array) -> Gap:
    """How far two poses are apart."""
    turn = se3.log(se3.inverse(one) @ other)[3:]
    return float(np.linalg.norm(se3.position(other) - se3.position(one))), float(np.rad2deg(np.linalg.norm(turn)))


def distance(gap: Gap) -> str:
    """A gap in words."""
    return f"{gap[0]:.3g} m and {gap[1]:.3g} degrees"


def _closed_with(robot: Mechanism, q: Array, held: Array) -> Array | None:
    """The pose next to q that closes the loops with some rates held at zero, or None."""
    free = np.setdiff1d(np.arange(robot.nv), held)
    for _ in range(NEWTON):
        error = robot.loop_error(q)
        if np.abs(error).max(initial=0.0) <= CLOSED:
            return q
        step = np.zeros(robot.nv)
        step[free] = -np.linalg.lstsq(robot.loop_jacobian(q)[:, free], error, rcond=1e-9)[0]
        q = robot.integrate(q, step)
    return None


def _rates(joint: Joint, index: int) -> Array:
    """The rates that move a coordinate: its own, or all of a joint that turns by a quaternion."""
    rates = np.r_[joint.v_slice]
    return rates if joint.type.nq > joint.type.nv else rates[[index - joint.q_slice.start]]


def _beyond(robot: Mechanism, q: Array) -> Joint | None:
    """The first joint that is not within its limits."""
    for joint in robot.joints:
        x, (lower, upper) = q[joint.q_slice], joint.limits
        if not joint.mimics and np.any((x < lower - WITHIN) | (x > upper + WITHIN)):
            return joint
    return None
