"""Rate sensors in the joints: tachometers."""

from dataclasses import dataclass

import numpy as np

from modurob.estimation.sensors.joint_angles import joint_names, measured_joints
from modurob.estimation.sensors.sensor import SENSORS, Reading, Sensor
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array


@SENSORS.register("joint rates")
@dataclass(frozen=True)
class RateSensors(Sensor):
    """The rates of joints [rad/s or m/s], with a standard deviation `noise`; `joints` names the measured joints, by
    default all.

    >>> ekf = mr.ExtendedKalmanFilter(sensors=[mr.HallSensors(), mr.RateSensors(noise=0.05)])
    """

    noise: float = 1e-2  # [rad/s or m/s]
    joints: tuple[str, ...] | None = None  # which joints have one; None for all but free ones
    kind, unit = "joint rates", "rad/s or m/s"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "joints", joint_names(self.joints))

    def reading(self, robot: Mechanism) -> "RateReadings":
        return RateReadings(self, robot)


class RateReadings(Reading):
    """Joint rates of one robot, (..., size)."""

    def __init__(self, sensor: RateSensors, robot: Mechanism):
        joints = measured_joints(robot, sensor.joints)
        self.rates = np.concatenate([np.arange(robot.nv)[j.v_slice] for j in joints])
        super().__init__(sensor, robot, len(self.rates))
        self._H = np.eye(2 * robot.nv)[robot.nv + self.rates]

    def sample(self, q: Array, v: Array, vdot: Array, rng: np.random.Generator) -> Array:
        y = v[..., self.rates] + rng.normal(scale=self.sensor.noise, size=(*v.shape[:-1], self.size))
        return np.where(self._lost(v.shape[:-1], rng), np.nan, self._rounded(y))

    def innovation(self, reading: Array, q: Array, v: Array, vdot: Array) -> Array:
        return self._checked(reading, (*v.shape[:-1], self.size)) - v[..., self.rates]

    def slope(self, q: Array, v: Array, vdot: Array) -> tuple[Array, None]:
        return self._H, None
