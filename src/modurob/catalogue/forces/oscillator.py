"""A servo that swings its joint: the drive of gaits that are simulated in batches."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from modurob.catalogue.forces.force import FORCES, JointForce
from modurob.errors import InputError
from modurob.spatial.scalars import Array, cos, maximum, minimum, sin


@FORCES.register("oscillator")
@dataclass(frozen=True)
class Oscillator(JointForce):
    """A servo that follows r = centre + amplitude sin(2 pi frequency t + phase): tau = kp (r - q) + kd (r' - v), at
    most `limit` [N m or N]. The amplitude grows from zero during the first second.

    Centre, amplitude, frequency and phase are constant states, so that the runs of a batch can have different values.

    >>> import modurob as mr
    >>> servo = mr.Oscillator(kp=20.0, kd=1.0, amplitude=0.4, frequency=1.0)
    >>> robot = mr.load("crab").mechanism().with_force("swing", servo, joint="m0/hinge")
    >>> run = mr.simulate(robot, duration=3.0)
    >>> bool(abs(run.q[-1000:, 0]).max() > 0.1)
    True
    """

    kp: Any  # [N m/rad or N/m]
    kd: Any = 0.0  # [N m s/rad or N s/m]
    centre: Any = 0.0  # [rad or m]
    amplitude: Any = 0.0  # [rad or m]
    frequency: Any = 1.0  # [Hz]
    phase: Any = 0.0  # [rad]
    limit: Any = np.inf  # [N m or N]
    kind, nx = "oscillator", 4

    def __post_init__(self) -> None:
        self._require(kp=self.kp, kd=self.kd, frequency=self.frequency)
        self._require(-np.inf, centre=self.centre, amplitude=self.amplitude, phase=self.phase)
        if isinstance(self.limit, int | float) and not self.limit > 0:
            raise InputError(f"oscillator: limit {self.limit!r}: expected more than zero [N m or N]")

    def start(self) -> Array:
        return np.array([self.centre, self.amplitude, self.frequency, self.phase], dtype=float)

    def effort(self, t: Any, q: Array, v: Array, x: Array) -> Array:
        centre, amplitude, frequency, phase = (x[..., k] for k in range(4))
        pulsation, grown = 2 * np.pi * frequency, minimum(np.asarray(t), np.ones(()))
        angle = pulsation * t + phase
        missing = centre + amplitude * grown * sin(angle) - q
        tau = self.kp * missing + self.kd * (amplitude * grown * pulsation * cos(angle) - v)
        return minimum(maximum(tau, np.asarray(-self.limit)), np.asarray(self.limit))
