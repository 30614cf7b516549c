"""The pose of a frame, as measured by motion capture or a camera."""

from dataclasses import dataclass

import numpy as np

from modurob.estimation.checks import number
from modurob.estimation.sensors.sensor import SENSORS, Reading, Sensor
from modurob.robot import Mechanism
from modurob.spatial import se3
from modurob.spatial.scalars import Array


@SENSORS.register("pose")
@dataclass(frozen=True)
class PoseSensor(Sensor):
    """X_WF of a frame in the world, as from a camera: position [m] and orientation [rad] with `noise` and `turn_noise`.

    >>> ekf = mr.ExtendedKalmanFilter(sensors=[mr.HallSensors(), mr.PoseSensor(frame="m3", noise=5e-3)])
    """

    noise: float = 1e-3  # of the position [m]
    frame: str = ""
    turn_noise: float = 1e-3  # of the attitude [rad]
    kind, unit, rounds = "pose", "m", False

    def __post_init__(self) -> None:
        super().__post_init__()
        number(self.turn_noise, "turn_noise", "rad")

    def reading(self, robot: Mechanism) -> "PoseReading":
        self._require_frame(robot, self.frame)
        return PoseReading(self, robot)


class PoseReading(Reading):
    """The pose of a frame of one robot; readings are (..., 4, 4), errors in the axes of the frame."""

    def __init__(self, sensor: PoseSensor, robot: Mechanism):
        super().__init__(sensor, robot, 6)
        self._frame, self._noises = sensor.frame, np.repeat([sensor.noise, sensor.turn_noise], 3)

    @property
    def covariance(self) -> Array:
        return np.diag(self._noises**2)

    def sample(self, q: Array, v: Array, vdot: Array, rng: np.random.Generator) -> Array:
        X = self.robot.frame_pose(q, self._frame)
        seen = X @ se3.exp(self._noises * rng.normal(size=(*v.shape[:-1], 6)))
        return np.where(self._lost(v.shape[:-1], rng)[..., None], np.nan, seen)

    def innovation(self, reading: Array, q: Array, v: Array, vdot: Array) -> Array:
        reading = self._checked(reading, (*v.shape[:-1], 4, 4))
        X, missing = self.robot.frame_pose(q, self._frame), np.isnan(reading)
        gap = se3.log(se3.inverse(X) @ np.where(missing, X, reading))
        return np.where(missing.any(axis=-1).any(axis=-1, keepdims=True), np.nan, gap)

    def slope(self, q: Array, v: Array, vdot: Array) -> tuple[Array, None]:
        J = self.robot.body_jacobian(q, self._frame)
        return np.concatenate([J, np.zeros_like(J)], axis=-1), None
