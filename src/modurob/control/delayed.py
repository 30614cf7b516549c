"""Controllers whose torques come late."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from modurob.control.around import Around
from modurob.control.recipe import LAWS, BoundLaw
from modurob.errors import ControlError
from modurob.robot import Mechanism
from modurob.simulation import Measured
from modurob.spatial.scalars import Array


@LAWS.register("delayed")
@dataclass(frozen=True, eq=False)
class Delayed(Around):
    """Another controller with its torques delayed by `samples` samples; zero before the first.

    >>> law = mr.Delayed(mr.PID(reference=[0.3, 0.2, -0.4]), samples=2)
    >>> mr.simulate(robot, q, duration=0.05, controller=law).tau[:2].tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """

    samples: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.samples, bool) or not isinstance(self.samples, int) or self.samples < 0:
            raise ControlError(f"samples = {self.samples!r:.60}: expected a whole number, zero or more")

    def on(self, robot: Mechanism) -> "DelayedLaw":
        return DelayedLaw(self, robot)


class DelayedLaw(BoundLaw):
    """The law for one robot; its memory is that of the other law, and the delayed torques."""

    def __init__(self, recipe: Delayed, robot: Mechanism):
        super().__init__(recipe, robot)
        self._law = recipe.inner.on(robot)

    def start(self) -> tuple[Any, tuple[Array, ...]]:
        return self._law.start(), (np.zeros(self.drives.robot.nv),) * self.recipe.samples

    def step(self, memory: tuple[Any, tuple[Array, ...]], t: float, measured: Measured) -> tuple[Any, Array]:
        inner, tau = self._law.step(memory[0], t, measured)
        first, *waiting = (*memory[1], tau)
        return (inner, tuple(waiting)), first + 0 * tau
