"""Swinging up: torques that bring the energy of a robot to a wanted value."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modurob.control.assumptions import require
from modurob.control.recipe import LAWS, BoundLaw, Recipe
from modurob.control.values import PerJoint, limiter, per_rate
from modurob.errors import ControlError
from modurob.robot import Mechanism
from modurob.simulation import Memoryless
from modurob.spatial.scalars import Array


@LAWS.register("swing-up")
@dataclass(frozen=True, eq=False)
class SwingUp(Recipe):
    """tau = -gain (E - energy) v at driven joints: dE/dt = -(E - energy) v^T gain v, so that |E - energy| never grows.

    E is kinetic and potential energy; that of an upright rest brings a pendulum to the motion that ends there (Astrom and Furuta
    2000; energy shaping). Joints without a drive swing along. For robots without friction, springs and loops.

    >>> law = mr.SwingUp(energy=float(robot.potential_energy(np.zeros(3))), gain=5.0)
    """

    energy: float | None = None  # [J]
    gain: PerJoint = 1.0  # [s/rad² per joint]
    needs: ClassVar[str] = "the energy to swing up to"
    assumes: ClassVar[tuple[str, ...]] = ("tree", "conservative")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.energy is None or isinstance(self.energy, bool) or not np.isfinite(self.energy):
            raise ControlError(f"energy = {self.energy!r:.60}: expected a finite number [J]")

    def on(self, robot: Mechanism) -> "SwingUpLaw":
        return SwingUpLaw(self, robot)


class SwingUpLaw(BoundLaw, Memoryless):
    """Swinging up for one robot."""

    def __init__(self, recipe: SwingUp, robot: Mechanism):
        super().__init__(recipe, robot)
        require(self.drives, "SwingUp", *recipe.assumes)
        self._gain = per_rate(recipe.gain, self.drives, "gain")
        self._limited = limiter(recipe.saturation, self.drives)

    def torque(self, t: float, q: Array, v: Array) -> Array:
        m = self.drives.robot
        excess = m.kinetic_energy(q, v) + m.potential_energy(q) - self.recipe.energy
        return self._limited(-np.asarray(excess)[..., None] * self._gain * v)
