"""Gains that suit a robot, for joints that are controlled one by one."""

from typing import NamedTuple

import numpy as np

from modurob.control.drives import Drives
from modurob.errors import ControlError
from modurob.spatial.scalars import Array

# pulsation of a joint under default gains, damped critically [rad/s]
PULSATION = 20.0
# the rate a sample's damping torque takes away, in parts of the rate; from two on the sampled loop is unstable
TAKEN = 1.0
# configurations at which inertias are looked at, always the same
LOOKS, SEED = 32, 20120509


class Inertias(NamedTuple):
    """What the drives of a robot move."""

    joint: Array  # inertia behind each rate, zero without a drive, (nv,) [kg m² or kg]
    lightest: float  # the least inertia of a motion of all joints together, in parts of these


def inertias(drives: Drives) -> Inertias:
    """The inertias behind the drives, joints without a drive free to move, over configurations within the limits.

    The inertia that drives d feel is ((M^-1)_dd)^-1; I are the means of its diagonal, and `lightest` the least eigenvalue of
    I^-1/2 ((M^-1)_dd)^-1 I^-1/2.
    """
    robot, d = drives.robot, drives.v
    joint = np.zeros(robot.nv)
    if not len(d):
        return Inertias(joint, 1.0)
    rng = np.random.default_rng(SEED)
    q = np.array([robot.neutral(), *(robot.random_configuration(rng) for _ in range(LOOKS - 1))])
    try:
        felt = np.linalg.inv(np.linalg.inv(robot.mass_matrix(q))[:, d[:, None], d])
    except np.linalg.LinAlgError:
        felt = np.full((1, len(d), len(d)), np.nan)
    mean = np.diagonal(felt, axis1=-1, axis2=-2).mean(axis=0)
    if not np.all(mean > 0):
        raise ControlError(f"{robot.name} has a joint that moves no inertia: expected numbers for kp and kd")
    joint[d] = mean
    root = np.sqrt(mean)
    return Inertias(joint, float(np.linalg.eigvalsh(felt / root[:, None] / root).min()))


def suiting_kp(own: Inertias, sample_time: float) -> Array:
    """kp = w² I, (nv,), with w the default pulsation, or what the sample time allows."""
    return min(PULSATION, TAKEN * own.lightest / (2 * sample_time)) ** 2 * own.joint


def suiting_kd(kp: Array, own: Inertias, sample_time: float) -> Array:
    """kd = 2 sqrt(kp I), (nv,), critical damping of a joint alone, or what the sample time allows."""
    return np.minimum(2 * np.sqrt(kp * own.joint), TAKEN * own.lightest / sample_time * own.joint)
