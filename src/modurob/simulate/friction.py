"""Friction in joints (foundations 5.8.1): viscous, Coulomb, stiction and Stribeck's effect.

All of it opposes the motion: M vdot + C v + N + F(v) = tau.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from modurob.errors import SimulationError
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array, as_array


@dataclass(frozen=True, eq=False)
class Friction:
    """F(v) = (coulomb + (static - coulomb) exp(-|v / stribeck_velocity|)) sign(v) + viscous v.

    Each is one number or one for each rate, (nv,). At rest friction holds against whatever is applied, up to `static`. A
    Stribeck velocity of zero lets the force fall from `static` to `coulomb` as soon as the joint moves. `static` not given is
    `coulomb`: no stiction.
    """

    viscous: Any = 0.0  # [N m s/rad or N s/m]
    coulomb: Any = 0.0  # [N m or N]
    static: Any = None  # [N m or N], not less than coulomb
    stribeck_velocity: Any = 0.0  # [rad/s or m/s]

    def __post_init__(self) -> None:
        if self.static is None:
            object.__setattr__(self, "static", self.coulomb)
        for field in fields(self):
            object.__setattr__(self, field.name, _not_negative(getattr(self, field.name), field.name))
        if np.any(self.static < self.coulomb):
            raise SimulationError(
                f"static friction {self.static} is below coulomb {self.coulomb}: expected at least as much"
            )

    @classmethod
    def of(cls, robot: Mechanism) -> "Friction":
        """The damping and Coulomb friction that the robot's joints have, (nv,)."""
        own = [joint.friction for joint in robot.joints if not joint.mimics]
        return cls(viscous=robot.damping, coulomb=np.concatenate([np.zeros(0), *own]))

    def torque(self, v: Array, applied: Array) -> Array:
        """F, (..., nv), against rates v and, at rest, against the `applied` force that would set the joint in motion."""
        v = as_array(v)
        held = np.clip(applied, -self.static, self.static)
        return np.where(v == 0, held, self._dry(v) * np.sign(v) + self.viscous * v)

    def smooth(self, v: Array, smoothing: float) -> Array:
        """F, (..., nv), with tanh(v / smoothing) for sign(v): steppers can follow it, and a stuck joint creeps.

        It differs from `torque` by less than 1e-8 of `static` beyond 10 times the velocity `smoothing`.
        """
        if not (np.isfinite(smoothing) and smoothing > 0):
            raise SimulationError(f"smoothing {smoothing!r}: expected a velocity above zero, in rad/s or m/s")
        v = as_array(v)
        return self._dry(v) * np.tanh(v / smoothing) + self.viscous * v

    def _dry(self, v: Array) -> Array:
        """What is left of static friction at rate v, on top of Coulomb's."""
        speed = np.where(np.real(v) < 0, -v, v)
        slow = np.where(self.stribeck_velocity > 0, self.stribeck_velocity, 1.0)
        left = np.where(self.stribeck_velocity > 0, np.exp(-speed / slow), 0.0)
        return self.coulomb + (self.static - self.coulomb) * left


def _not_negative(value: Any, name: str) -> Array:
    try:
        array = as_array(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        raise SimulationError(f"{name} {value!r}: expected a number, or one for each rate") from None
    if array.ndim > 1 or not np.all(np.isfinite(array) & (array >= 0)):
        raise SimulationError(f"{name} {value!r}: expected finite numbers, zero or more, one or (nv,)")
    return array
