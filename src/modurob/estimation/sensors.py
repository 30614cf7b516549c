"""Sensors that see the angles of joints and nothing else, as the hall sensors in the hinges of 003 VIII.B."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from modurob.errors import EstimateError, choices
from modurob.estimation.checks import number
from modurob.estimation.manifold import between, moved
from modurob.mechanism.tables import Joint
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array


@dataclass(frozen=True)
class HallSensors:
    """Angle sensors in the joints of any robot: noisy, rounded, late, and some samples lost on the way."""

    noise: float = 1e-3  # standard deviation [rad or m]
    resolution: float = 2 * np.pi / 4096  # step between two readings [rad or m]; 0 for none
    delay: int = 0  # samples between measuring and arriving
    dropped: float = 0.0  # probability that a sample is lost
    joints: tuple[str, ...] | None = None  # which joints have one; None for all but free ones

    def __post_init__(self) -> None:
        number(self.noise, "noise", "rad or m")
        number(self.resolution, "resolution", "rad or m")
        if number(self.delay, "delay", "samples") != int(self.delay):
            raise EstimateError(f"delay is {self.delay!r}: expected a whole number of samples")
        if number(self.dropped, "dropped", "probability") >= 1:
            raise EstimateError(f"dropped is {self.dropped!r}: expected a probability in [0, 1)")

    @property
    def variance(self) -> float:
        """Of one reading: noise² + resolution²/12, rounding spread evenly over a step."""
        return self.noise**2 + self.resolution**2 / 12

    def on(self, robot: Mechanism) -> "Readings":
        """The sensors of this robot."""
        return Readings(self, robot)

    def measured_joints(self, robot: Mechanism) -> list[Joint]:
        """The joints with a sensor; a free joint holds nothing, so no sensor can sit in it."""
        able = {j.name: j for j in robot.joints if j.kind != "free" and j.type.nv and not j.mimics}
        for name in self.joints or ():
            if name not in able:
                raise EstimateError(f"joint {name!r} of {robot.name} cannot be measured: {choices(name, able)}")
        found = list(able.values()) if self.joints is None else [j for n, j in able.items() if n in self.joints]
        if not found:
            raise EstimateError(f"{robot.name} has no joint to measure: expected one that is not free or fixed")
        return found


class Readings:
    """Hall sensors of one robot, and the samples on their way."""

    def __init__(self, sensors: HallSensors, robot: Mechanism):
        joints = sensors.measured_joints(robot)
        self.sensors, self._robot = sensors, robot
        self.rates = np.concatenate([np.arange(robot.nv)[j.v_slice] for j in joints])  # measured entries of dq, (m,)
        # for each of them an entry of q, NaN if its joint was not read, (m,)
        self.witness = np.concatenate([np.full(j.type.nv, j.q_slice.start) for j in joints])
        self._unseen = np.ones(robot.nq, dtype=bool)
        for j in joints:
            self._unseen[j.q_slice] = False
        self._on_the_way: deque[Array] = deque(maxlen=int(sensors.delay) + 1)

    def read(self, q: Array, rng: np.random.Generator) -> Array | None:
        """A configuration, (..., nq), with NaN where nothing was seen; None if nothing arrives at all.

        Measured at q now, it arrives `delay` calls later.
        """
        robot, (noise, step) = self._robot, (self.sensors.noise, self.sensors.resolution)
        q = np.asarray(q, dtype=float)
        y = moved(robot, q, rng.normal(scale=noise, size=(*q.shape[:-1], robot.nv)))
        if step:
            zero = robot.neutral()
            y = moved(robot, zero, step * np.round(between(robot, zero, y) / step))
        lost = np.asarray(rng.random(q.shape[:-1]) < self.sensors.dropped)[..., None]
        self._on_the_way.append(np.where(self._unseen | lost, np.nan, y))
        if len(self._on_the_way) <= self.sensors.delay or np.isnan(self._on_the_way[0]).all():
            return None
        return self._on_the_way[0]
