"""Collisions detected by a momentum observer: torques that neither drives nor forces of the robot explain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.caching import cached_property
from modurob.control.momentum import MomentumMemory, MomentumObserver
from modurob.errors import ControlError, explained
from modurob.motion.numbers import one_positive
from modurob.robot import Mechanism
from modurob.simulation import Recording
from modurob.spatial.scalars import Array
from modurob.values import Value


class Contact(NamedTuple):
    """What a detector says of a sample: whether some joint is beyond its threshold, (...), and the external torques, (..., nv)."""

    hit: Array
    torque: Array


@explained
@dataclass(frozen=True, eq=False)
class CollisionDetector(Value):
    """A collision is detected when the external torque of a `MomentumObserver` exceeds `threshold` [N m or N] at some
    joint (De Luca, Albu-Schäffer, Haddadin, Hirzinger 2006).

    Without noise and with an exact model the estimated torque is that of the contact, delayed by 1/gain; the threshold
    covers noise and model errors, above all of friction.

    >>> watch = mr.CollisionDetector(robot.ideal(), threshold=0.5)
    >>> still = mr.simulate(robot.ideal(), q, duration=0.2, controller=mr.GravityCompensation())
    >>> watch.first(still) is None
    True
    """

    robot: Mechanism
    threshold: ArrayLike = 1.0  # [N m or N]
    gain: float = 50.0  # [1/s]
    sample_time: float = 1e-3  # [s]

    def __post_init__(self) -> None:
        one_positive(self.gain, "gain")
        limits = np.asarray(self.threshold, dtype=float)
        if limits.shape not in ((), (self.robot.nv,)) or not np.all(limits > 0):
            raise ControlError(
                f"threshold = {self.threshold!r:.60}: expected a torque above zero, or {self.robot.nv} of them [N m or N]"
            )
        super().__post_init__()

    @cached_property
    def _observer(self) -> MomentumObserver:
        return MomentumObserver(self.robot, self.gain, self.sample_time)

    def start(self) -> MomentumMemory:
        """The memory before the first sample."""
        return self._observer.start()

    def step(self, memory: MomentumMemory, q: Array, v: Array, tau: Array) -> tuple[MomentumMemory, Contact]:
        """The estimate at a sample; `tau` is held until the next."""
        memory, torque = self._observer.step(memory, q, v, tau)
        return memory, Contact(np.any(np.abs(torque) > self.threshold, axis=-1), torque)

    def first(self, run: Recording) -> float | None:
        """The time at which the robot of a recording collided [s]; None if it did not."""
        if abs(run.t[1] - run.t[0] - self.sample_time) > 1e-9 or run.q.ndim != 2:
            raise ControlError(
                f"a recording every {run.t[1] - run.t[0]:g} s of shape {run.q.shape}: expected one run, every "
                f"{self.sample_time:g} s"
            )
        memory = self.start()
        for t, q, v, tau in zip(run.t, run.q, run.v, run.tau, strict=True):
            memory, seen = self.step(memory, q, v, tau)
            if seen.hit:
                return float(t)
        return None
