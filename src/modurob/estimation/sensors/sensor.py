"""What a sensor is. A new kind is a new file that registers itself."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from modurob.errors import EstimateError, choices
from modurob.estimation.checks import number
from modurob.motion.checks import require_robot
from modurob.registry import Registry
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array

SENSORS: Registry[type["Sensor"]] = Registry("sensor", EstimateError)


@dataclass(frozen=True)
class Sensor(ABC):
    """A sensor for any robot, with noise, quantisation, delay and lost samples. `on(robot)` makes its model for one."""

    kind: ClassVar[str]
    unit: ClassVar[str]  # of `noise`
    rounds: ClassVar[bool] = True  # whether readings have a resolution
    noise: float = 1e-3  # standard deviation, in the units of the reading
    resolution: float = 0.0  # step between two readings; 0 for none
    delay: int = 0  # samples between measuring and arriving
    dropped: float = 0.0  # probability that a sample is lost

    def __post_init__(self) -> None:
        number(self.noise, "noise", self.unit)
        if number(self.resolution, "resolution", self.unit) and not self.rounds:
            raise EstimateError(f"resolution is {self.resolution!r}: expected 0, as {self.kind} sensors have none")
        if number(self.delay, "delay", "samples") != int(self.delay):
            raise EstimateError(f"delay is {self.delay!r}: expected a whole number of samples")
        if number(self.dropped, "dropped", "probability") >= 1:
            raise EstimateError(f"dropped is {self.dropped!r}: expected a probability in [0, 1)")

    @property
    def variance(self) -> float:
        """Variance of one reading: noise² + resolution²/12, with the rounding error distributed uniformly over a step."""
        return self.noise**2 + self.resolution**2 / 12

    def on(self, robot: Mechanism) -> "Reading":
        """The model for this robot."""
        return self.reading(require_robot(robot, f"{self.kind} sensor", EstimateError))

    @abstractmethod
    def reading(self, robot: Mechanism) -> "Reading":
        """The model for a robot."""

    def _require_frame(self, robot: Mechanism, frame: str) -> None:
        if frame not in robot.frames:
            raise EstimateError(
                f"{self.kind} sensor on frame {frame!r} of {robot.name}: {choices(str(frame), robot.frames)}"
            )


class Reading(ABC):
    """The model of a sensor on one robot: its reading in a state, and the information of a reading about the state."""

    # whether it reads accelerations
    accelerates: ClassVar[bool] = False

    def __init__(self, sensor: Sensor, robot: Mechanism, size: int):
        self.sensor, self.robot, self.size = sensor, robot, size

    @property
    def covariance(self) -> Array:
        """Of a reading, (size, size)."""
        return self.sensor.variance * np.eye(self.size)

    @abstractmethod
    def sample(self, q: Array, v: Array, vdot: Array, rng: np.random.Generator) -> Array:
        """A noisy reading in a true state; NaN where nothing is measured."""

    @abstractmethod
    def innovation(self, reading: Array, q: Array, v: Array, vdot: Array) -> Array:
        """The reading minus its prediction from the state, (..., size); NaN where nothing was measured."""

    @abstractmethod
    def slope(self, q: Array, v: Array, vdot: Array) -> tuple[Array, Array | None]:
        """H, (..., size, 2 nv), of readings by errors (dq, dv); and by vdot, (..., size, nv), if it reads accelerations."""

    def _checked(self, reading: Any, shape: tuple[int, ...]) -> Array:
        """A reading as numbers of that shape, NaN where nothing was measured."""
        try:
            y = np.asarray(reading, dtype=float)
        except (TypeError, ValueError):
            y = np.array(np.inf)
        if y.shape != shape or np.isinf(y).any():
            raise EstimateError(
                f"a measurement {reading!r:.80} of {self.sensor.kind}: expected finite numbers, or NaN if lost, of shape {shape}"
            )
        return y

    def _rounded(self, y: Array) -> Array:
        step = self.sensor.resolution
        return step * np.round(y / step) if step else y

    def _lost(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Which runs lose this sample, (..., 1)."""
        return np.asarray(rng.random(shape) < self.sensor.dropped)[..., None]
