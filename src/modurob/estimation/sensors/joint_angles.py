"""Angle sensors in the joints, as the hall sensors in the hinges of Meister, Gutenkunst and Levi VIII.B."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from modurob.catalogue.joints import Free
from modurob.errors import EstimateError, choices
from modurob.estimation.sensors.sensor import SENSORS, Reading, Sensor
from modurob.mechanism import Joint
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array


@SENSORS.register("joint angles")
@dataclass(frozen=True)
class HallSensors(Sensor):
    """The coordinates of joints: angles [rad], displacements [m], attitudes of ball joints.

    `noise` is the standard deviation, `resolution` the quantisation step of the readings [rad or m]; `joints` names the
    measured joints, by default all.

    >>> mr.HallSensors(noise=1e-3, joints=("m0/hinge", "m2/hinge")).joints
    ('m0/hinge', 'm2/hinge')
    """

    resolution: float = 2 * np.pi / 4096  # [rad or m]
    joints: tuple[str, ...] | None = None  # which joints have one; None for all but free ones
    kind, unit = "joint angles", "rad or m"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "joints", joint_names(self.joints))

    def reading(self, robot: Mechanism) -> "JointReadings":
        return JointReadings(self, robot, measured_joints(robot, self.joints))


def joint_names(given: Any) -> tuple[str, ...] | None:
    """Names of joints, from one or many; None for all."""
    if given is None or isinstance(given, str):
        return None if given is None else (given,)
    if not isinstance(given, Iterable) or not all(isinstance(name, str) for name in given):
        raise EstimateError(f"joints = {given!r:.60}: expected names of joints, or None for all")
    return tuple(given)


def measured_joints(robot: Mechanism, names: tuple[str, ...] | None) -> list[Joint]:
    """The joints with a sensor; a free joint holds nothing, so no sensor can sit in it."""
    able = {j.name: j for j in robot.joints if not isinstance(j.type, Free) and j.type.nv and not j.mimics}
    for name in names or ():
        if name not in able:
            raise EstimateError(f"joint {name!r} of {robot.name} cannot be measured: {choices(str(name), able)}")
    found = list(able.values()) if names is None else [j for n, j in able.items() if n in names]
    if not found:
        raise EstimateError(f"{robot.name} has no joint to measure: expected one that is not free or fixed")
    return found


class JointReadings(Reading):
    """Joint angles of one robot. A reading is a configuration, (..., nq), with NaN where nothing is measured."""

    def __init__(self, sensor: HallSensors, robot: Mechanism, joints: list[Joint]):
        self.rates = np.concatenate([np.arange(robot.nv)[j.v_slice] for j in joints])  # measured entries of dq
        super().__init__(sensor, robot, len(self.rates))
        # for each of them an entry of q, NaN if its joint was not read
        self._witness = np.concatenate([np.full(j.type.nv, j.q_slice.start) for j in joints])
        self._unseen = np.ones(robot.nq, dtype=bool)
        for j in joints:
            self._unseen[j.q_slice] = False
        self._H = np.eye(2 * robot.nv)[self.rates]

    def sample(self, q: Array, v: Array, vdot: Array, rng: np.random.Generator) -> Array:
        robot, step = self.robot, self.sensor.resolution
        y = robot.integrate(q, rng.normal(scale=self.sensor.noise, size=(*q.shape[:-1], robot.nv)))
        if step:
            zero = robot.neutral()
            y = robot.integrate(zero, step * np.round(robot.difference(zero, y) / step))
        return np.where(self._unseen | self._lost(q.shape[:-1], rng), np.nan, y)

    def innovation(self, reading: Array, q: Array, v: Array, vdot: Array) -> Array:
        reading = self._checked(reading, q.shape)
        missing = np.isnan(reading)
        e = self.robot.difference(q, np.where(missing, q, reading))[..., self.rates]
        return np.where(missing[..., self._witness], np.nan, e)

    def slope(self, q: Array, v: Array, vdot: Array) -> tuple[Array, None]:
        return self._H, None
