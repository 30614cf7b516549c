"""Contact flags: a frame that touches the ground has its height."""

from dataclasses import dataclass

import numpy as np

from modurob.errors import EstimateError
from modurob.estimation.sensors.sensor import SENSORS, Reading, Sensor
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array


@SENSORS.register("contact")
@dataclass(frozen=True)
class ContactSensor(Sensor):
    """A flag that is set while the origin of a frame is at or below the height z = `ground` [m] in the world; its
    height is then known.

    `noise` is the standard deviation of the height at contact [m]. A flag that is not set gives no information.

    >>> feet = [mr.ContactSensor(frame="m3"), mr.ContactSensor(frame="m5")]
    >>> ekf = mr.ExtendedKalmanFilter(sensors=[mr.HallSensors(), *feet])
    """

    frame: str = ""
    ground: float = 0.0  # [m]
    kind, unit, rounds = "contact", "m", False

    def __post_init__(self) -> None:
        super().__post_init__()
        if (
            isinstance(self.ground, bool)
            or not isinstance(self.ground, int | float | np.number)
            or not np.isfinite(self.ground)
        ):
            raise EstimateError(f"ground is {self.ground!r}: expected a finite number [m]")

    def reading(self, robot: Mechanism) -> "ContactReading":
        self._require_frame(robot, self.frame)
        return ContactReading(self, robot)


class ContactReading(Reading):
    """The flag of one robot; readings are 1, or NaN while the flag is down, (..., 1)."""

    def __init__(self, sensor: ContactSensor, robot: Mechanism):
        super().__init__(sensor, robot, 1)
        self._frame, self._ground = sensor.frame, sensor.ground

    def _height(self, q: Array) -> Array:
        return self.robot.frame_pose(q, self._frame)[..., 2, 3][..., None] - self._ground

    def sample(self, q: Array, v: Array, vdot: Array, rng: np.random.Generator) -> Array:
        up = (self._height(q) <= 0) & ~self._lost(v.shape[:-1], rng)
        return np.where(up, 1.0, np.nan)

    def innovation(self, reading: Array, q: Array, v: Array, vdot: Array) -> Array:
        reading = self._checked(reading, (*v.shape[:-1], 1))
        return np.where(np.isnan(reading), np.nan, -self._height(q))

    def slope(self, q: Array, v: Array, vdot: Array) -> tuple[Array, None]:
        J = self.robot.jacobian(q, self._frame)[..., 2:3, :]
        return np.concatenate([J, np.zeros_like(J)], axis=-1), None
