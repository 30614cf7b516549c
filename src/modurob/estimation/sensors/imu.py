"""Inertial measurement units: gyroscope and accelerometer on a frame."""

from dataclasses import dataclass

import numpy as np

from modurob.estimation.checks import number
from modurob.estimation.sensors.sensor import SENSORS, Reading, Sensor
from modurob.robot import Mechanism
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array


@SENSORS.register("imu")
@dataclass(frozen=True)
class IMU(Sensor):
    """(w, a - g) of a frame, in its own axes, (6,): angular velocity [rad/s], and the acceleration of its origin minus
    gravity [m/s²].

    `noise` and `accelerometer_noise` are standard deviations [rad/s, m/s²].

    >>> ekf = mr.ExtendedKalmanFilter(sensors=[mr.HallSensors(), mr.IMU(frame="m3", noise=1e-3)])
    >>> mr.simulate(robot, q, duration=0.01, estimator=ekf).status.ok
    True
    """

    noise: float = 1e-3  # of the gyroscope [rad/s]
    frame: str = ""
    accelerometer_noise: float = 1e-2  # [m/s²]
    kind, unit = "imu", "rad/s"

    def __post_init__(self) -> None:
        super().__post_init__()
        number(self.accelerometer_noise, "accelerometer_noise", "m/s²")

    def reading(self, robot: Mechanism) -> "IMUReading":
        self._require_frame(robot, self.frame)
        return IMUReading(self, robot)


class IMUReading(Reading):
    """The unit on one robot; readings are (w, a - g), (..., 6)."""

    accelerates = True

    def __init__(self, sensor: IMU, robot: Mechanism):
        super().__init__(sensor, robot, 6)
        self._frame, self._noises = sensor.frame, np.repeat([sensor.noise, sensor.accelerometer_noise], 3)

    @property
    def covariance(self) -> Array:
        return np.diag(self._noises**2 + self.sensor.resolution**2 / 12)

    def _expected(self, q: Array, v: Array, vdot: Array) -> Array:
        robot, frame = self.robot, self._frame
        V, A, g = robot.frame_twist(q, v, frame), robot.frame_acceleration(q, v, vdot, frame), self._gravity(q)
        return np.concatenate([V[..., 3:], A[..., :3] + so3.cross(V[..., 3:], V[..., :3]) - g], axis=-1)

    def _gravity(self, q: Array) -> Array:
        """In the axes of the frame, (..., 3) [m/s²]."""
        R = se3.rotation(self.robot.frame_pose(q, self._frame))
        return (np.swapaxes(R, -1, -2) @ self.robot.gravity[:, None])[..., 0]

    def sample(self, q: Array, v: Array, vdot: Array, rng: np.random.Generator) -> Array:
        y = self._expected(q, v, vdot) + self._noises * rng.normal(size=(*v.shape[:-1], 6))
        return np.where(self._lost(v.shape[:-1], rng), np.nan, self._rounded(y))

    def innovation(self, reading: Array, q: Array, v: Array, vdot: Array) -> Array:
        return self._checked(reading, (*v.shape[:-1], 6)) - self._expected(q, v, vdot)

    def slope(self, q: Array, v: Array, vdot: Array) -> tuple[Array, Array]:
        by, V = self.robot.frame_derivatives(q, v, vdot, self._frame), self.robot.frame_twist(q, v, self._frame)
        w, u = so3.skew(V[..., 3:]), so3.skew(V[..., :3])

        def read(twist: Array, acceleration: Array) -> Array:
            """d (w, a + w x u) from d twist and d acceleration."""
            turned = w @ twist[..., :3, :] - u @ twist[..., 3:, :]
            return np.concatenate([twist[..., 3:, :], acceleration[..., :3, :] + turned], axis=-2)

        by_q, by_v = read(by.twist_q, by.acceleration_q), read(by.twist_v, by.acceleration_v)
        # gravity turns in the axes of a frame that turns
        by_q[..., 3:, :] -= so3.skew(self._gravity(q)) @ by.twist_v[..., 3:, :]
        still = np.zeros_like(by.twist_v)
        return np.concatenate([by_q, by_v], axis=-1), read(still, by.acceleration_vdot)
