"""Friction in a joint: viscous, Coulomb, stiction and Stribeck's effect (von Stryk 5.8.1)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from modurob.catalogue.forces.force import FORCES, JointForce, there
from modurob.errors import InputError
from modurob.spatial.scalars import Array, absolute, as_array, exp


@FORCES.register("friction")
@dataclass(frozen=True)
class Friction(JointForce):
    """F(v) = viscous v + (coulomb + (static - coulomb) exp(-|v| / stribeck)) sign(v), against the motion [N m or N].

    At rest friction balances whatever is applied, up to `static`: a joint at rest stays exactly at rest. Without a
    Stribeck velocity the force falls from `static` to `coulomb` as soon as the joint moves. `static` is by default
    `coulomb`.

    >>> import modurob as mr
    >>> mr.Friction(viscous=0.1, coulomb=0.5, static=0.8, stribeck=0.05).holding()
    0.8
    >>> rusty = mr.load("crab").mechanism().with_force("rust", mr.Friction(coulomb=0.5), joint="m0/hinge")
    """

    viscous: Any = 0.0  # [N m s/rad or N s/m]
    coulomb: Any = 0.0  # [N m or N]
    static: Any = None  # [N m or N], not less than coulomb
    stribeck: Any = 0.0  # velocity [rad/s or m/s]
    kind, positional = "friction", False

    def __post_init__(self) -> None:
        if self.static is None:
            object.__setattr__(self, "static", self.coulomb)
        self._require(viscous=self.viscous, coulomb=self.coulomb, static=self.static, stribeck=self.stribeck)
        if (
            isinstance(self.static, int | float)
            and isinstance(self.coulomb, int | float)
            and self.static < self.coulomb
        ):
            raise InputError(
                f"friction: static {self.static} is below coulomb {self.coulomb}: expected at least as much"
            )

    def effort(self, t: Any, q: Array, v: Array, x: Array) -> Array:
        return -self.viscous * v

    def dry(self, v: Array) -> Array:
        return as_array(self.coulomb + (self.static - self.coulomb) * fading(v, self.stribeck))

    def holding(self) -> Any:
        return self.static


def fading(v: Array, stribeck: Any) -> Array:
    """The share of the excess of static over Coulomb friction that is left at rate v, (...): exp(-|v| / stribeck), or
    nothing without a Stribeck velocity.
    """
    return exp(-absolute(v) / stribeck) if there(stribeck) else np.zeros(())
