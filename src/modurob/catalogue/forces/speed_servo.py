"""A servo that keeps its joint turning: the drive of wheels that are simulated in batches."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from modurob.catalogue.forces.force import FORCES, JointForce
from modurob.errors import InputError
from modurob.spatial.scalars import Array, maximum, minimum


@FORCES.register("speed servo")
@dataclass(frozen=True)
class SpeedServo(JointForce):
    """A servo that moves its joint at `speed` [rad/s or m/s]: kd (speed - v), at most `limit` [N m or N]. The speed
    grows from zero during the first second.

    The speed is a constant state, so that the runs of a batch can have different values.

    >>> import modurob as mr
    >>> robot = mr.load("crab").mechanism(gravity=(0, 0, 0)).ideal()
    >>> turned = robot.with_force("turn", mr.SpeedServo(kd=5.0, speed=0.5), joint="m0/hinge")
    >>> round(float(mr.simulate(turned, duration=3.0).v[-1, 0]), 3)
    0.5
    """

    kd: Any  # [N m s/rad or N s/m]
    speed: Any = 0.0  # [rad/s or m/s]
    limit: Any = np.inf  # [N m or N]
    kind, nx, positional = "speed servo", 1, False

    def __post_init__(self) -> None:
        self._require(kd=self.kd)
        self._require(-np.inf, speed=self.speed)
        if isinstance(self.limit, int | float) and not self.limit > 0:
            raise InputError(f"speed servo: limit {self.limit!r}: expected more than zero [N m or N]")

    def start(self) -> Array:
        return np.array([self.speed], dtype=float)

    def effort(self, t: Any, q: Array, v: Array, x: Array) -> Array:
        grown = minimum(np.asarray(t), np.ones(()))
        tau = self.kd * (x[..., 0] * grown - v)
        return minimum(maximum(tau, np.asarray(-self.limit)), np.asarray(self.limit))
