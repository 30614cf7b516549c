"""Motions through way points: what the registered trajectories make of them, in the times listed or as fast as limits allow."""

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from modurob.algorithms.forces import dry_friction
from modurob.errors import StudioError
from modurob.motion import TRAJECTORIES, Trajectory, time_optimal
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array
from modurob.studio import offers, posing
from modurob.studio.protocol import Motion

LONGEST = 600.0  # [s]


@lru_cache(maxsize=16)
def planned(robot: Mechanism, motion: Motion) -> Trajectory:
    """q(t) [rad or m] through the way points, or an error in words."""
    times, points = _way(robot, motion)
    limits = {"velocity": speeds(robot, motion), "acceleration": motion.acceleration}
    if motion.timing == "fastest":
        return _short(_fastest(robot, motion, times, points, limits))
    found = _made(motion, times, points, limits["velocity"])
    if motion.timing == "within":
        found = found.within(**limits, robot=robot)
    return _short(found)


def speeds(robot: Mechanism, motion: Motion) -> Array:
    """The largest rates: those of the motion, or of the joints where these are lower, (nv,) [rad/s or m/s]."""
    own = [joint.velocity_limit for joint in robot.joints if not joint.mimics]
    return np.minimum(motion.velocity, np.concatenate([np.zeros(0), *own]))


def torques(robot: Mechanism, q: Array, v: Array, vdot: Array) -> Array:
    """What the drives have to give, (..., nv) [N m or N]: rigid bodies, rotors, springs, and friction that brakes."""
    rigid = robot.inverse_dynamics(q, v, vdot) - robot.passive_forces(q, v)
    way = np.sign(np.where(v == 0, vdot, v))
    return rigid + way * dry_friction(robot, v) if robot.forces else rigid


def _way(robot: Mechanism, motion: Motion) -> tuple[Array, Array]:
    """The times, (k,) [s], and the poses, (k, nq), if the robot can be there and joints alone say where it is."""
    if robot.nq != robot.nv:
        raise StudioError(
            "way points are poses of joints, and this robot floats or has ball joints: fix its base first"
        )
    if robot.loops:
        raise StudioError(
            "way points are for robots without loops: between two poses that keep them closed others do not"
        )
    if len(motion.points) < 2:
        found = "1 way point" if motion.points else "no way points"
        raise StudioError(f"{found}: a motion needs two or more; pose the robot, and add them")
    points = np.stack([posing.checked(robot, list(point.q)) for point in motion.points])
    times = np.array([point.t for point in motion.points])
    for i in np.nonzero(np.diff(times) <= 0)[0]:
        raise StudioError(
            f"way point {i + 2} at {times[i + 1]:g} s: expected a later time than that of the one before, {times[i]:g} s"
        )
    if not np.any(np.diff(points, axis=0)):
        raise StudioError("all way points are the same pose: move the robot between them")
    return times, points


def _made(motion: Motion, times: Array, points: Array, velocity: Array) -> Trajectory:
    """What the interpolation makes of the way points: all at once, or a stretch from each to the next."""
    maker = TRAJECTORIES[motion.interpolation]
    known = {"velocity": velocity, "acceleration": motion.acceleration, "jerk": motion.jerk, "blend": motion.blend}
    needs = offers.asked(maker)
    own = {name: x for name, x in known.items() if name in needs}
    if "points" in needs:
        own |= {"times": times - times[0]} if "times" in needs else {}
        return maker(points=points if "times" in needs else _moving(points), **own)
    timed = [{"duration": float(x)} for x in np.diff(times)] if "duration" in needs else [{}] * (len(times) - 1)
    ways = [maker(start=a, end=b, **time, **own) for (a, b), time in zip(pairwise(points), timed, strict=True)]
    return joined([way for way in ways if way.duration > 1e-9])


def _fastest(robot: Mechanism, motion: Motion, times: Array, points: Array, limits: dict[str, Any]) -> Trajectory:
    """The fastest motion within limits and efforts: along the curve, or from rest to rest on straight lines."""
    if "points" in offers.asked(TRAJECTORIES[motion.interpolation]):
        path = _made(motion, times, points, limits["velocity"])
        return time_optimal(robot, path, **limits).trajectory
    return joined([time_optimal(robot, line, **limits).trajectory for line in pairwise(_moving(points))])


def _moving(points: Array) -> Array:
    """The points without those that are where the one before is."""
    return points[np.append(True, np.any(np.diff(points, axis=0) != 0, axis=1))]


def joined(ways: list[Trajectory]) -> Trajectory:
    """One motion after the other."""
    order = max(len(way.coefficients) for way in ways)
    ends = np.cumsum([way.duration for way in ways])
    breaks = [way.breaks[1:] - way.breaks[0] + end - way.duration for way, end in zip(ways, ends, strict=True)]
    padded = [np.pad(w.coefficients, [(order - len(w.coefficients), 0), (0, 0), (0, 0)]) for w in ways]
    return Trajectory(np.concatenate([[0.0], *breaks]), np.concatenate(padded, axis=1))


def _short(motion: Trajectory) -> Trajectory:
    if motion.duration > LONGEST:
        raise StudioError(f"this motion takes {motion.duration:.4g} s: the studio runs at most {LONGEST:g} s")
    return motion
