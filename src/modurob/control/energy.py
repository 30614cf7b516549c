"""Swing-up: torques that bring the energy of a robot to a desired value."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modurob.control.assumptions import require
from modurob.control.recipe import LAWS, BoundLaw, Recipe
from modurob.control.values import PerJoint, limiter, per_rate
from modurob.errors import ControlError
from modurob.robot import Mechanism
from modurob.simulation import Memoryless
from modurob.spatial.scalars import Array, absolute, maximum, select, solve

# below this share of the excess nothing is taken in a sample
TINY = 1e-300


@LAWS.register("swing-up")
@dataclass(frozen=True, eq=False)
class SwingUp(Recipe):
    """tau = -gain (E - energy) (v + kick sgn v) at driven joints: |E - energy| decreases at the rate gain (v² + kick
    |v|).

    E is kinetic plus potential energy; the energy of the upright rest brings a pendulum to the motion that ends there
    (Astrom and Furuta 2000). Joints without a drive, or a floating base, move freely. While energy is missing the
    `kick` starts a robot that hangs at rest and keeps adding energy where driven joints are slow; excess energy is
    removed by v alone, so that no joint chatters. E converges to `energy` unless driven joints come to rest
    permanently, which happens if the remaining motion does not move them (Fantoni and Lozano, Non-linear Control for
    Underactuated Mechanical Systems). When sampled, v is the mean rate over the next sample, and torques are limited so
    that one sample removes no more than all of E - energy. For robots without friction, springs and loops.

    >>> law = mr.SwingUp(energy=float(robot.potential_energy(np.zeros(3))), gain=5.0)
    """

    energy: float | None = None  # [J]
    gain: PerJoint = 1.0  # [s/rad² or s/m²]
    kick: PerJoint = 0.1  # [rad/s or m/s]
    needs: ClassVar[str] = "the energy to swing up to"
    assumes: ClassVar[tuple[str, ...]] = ("tree", "conservative")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.energy is None:
            raise ControlError(
                "energy is missing: expected that of the wanted motion [J], such as robot.potential_energy(q)"
            )

    def on(self, robot: Mechanism) -> "SwingUpLaw":
        return SwingUpLaw(self, robot)


class SwingUpLaw(BoundLaw, Memoryless):
    """Swinging up for one robot."""

    def __init__(self, recipe: SwingUp, robot: Mechanism):
        super().__init__(recipe, robot)
        require(self.drives, "SwingUp", *recipe.assumes)
        self._gain, self._kick = (per_rate(getattr(recipe, x), self.drives, x) for x in ("gain", "kick"))
        self._h = recipe.sample_time or 0.0
        self._limited = limiter(recipe.saturation, self.drives)

    def torque(self, t: float, q: Array, v: Array) -> Array:
        m = self.drives.robot
        excess = np.asarray(m.kinetic_energy(q, v) + m.potential_energy(q) - self.recipe.energy)[..., None]
        w = v + self._h / 2 * m.forward_dynamics(q, v, np.zeros_like(v)) if self._h else v
        along = self._gain * (w + select(excess, 0.0, self._kick * select(w, 0.0, -1.0, 1.0), 0.0))
        return self._limited(-excess * along / (1 + self._cut(q, w, along, excess)))

    def _cut(self, q: Array, w: Array, along: Array, excess: Array) -> Array | float:
        """The factor by which torques are reduced, (..., 1), so that a sample h of them, -excess along, removes at most
        all of the excess.

        The work is tau . (w + M^-1 tau h/2) h: the first part is excess times `taken`, the second, which only adds
        energy, excess times `own`; to remove energy `own` must stay below `taken`.
        """
        if not self._h:
            return 0.0
        lighter = solve(self.drives.robot.mass_matrix(q), along[..., None])[..., 0]
        taken = self._h * np.sum(along * w, axis=-1, keepdims=True)
        own = self._h**2 / 2 * absolute(excess) * np.sum(along * lighter, axis=-1, keepdims=True)
        return taken + own + select(0.0, excess, own / maximum(taken, TINY), 0.0)
