"""Coordinates beyond their limits."""

import numpy as np

from modurob.robot import Mechanism
from modurob.spatial.scalars import Array


def rates_beyond_limits(robot: Mechanism, q: Array) -> Array:
    """Which rates belong to coordinates beyond their limits, (..., nv)."""
    at, coordinate = robot.limits, robot.coordinate_of
    x = q[..., np.maximum(coordinate, 0)]
    return (coordinate >= 0) & ((x < at.lower) | (x > at.upper))


def joint_of_rate(robot: Mechanism, k: int) -> str:
    """The name of the joint that rate k of v belongs to."""
    return next(j.name for j in robot.joints if j.v_slice.start <= k < j.v_slice.stop)
