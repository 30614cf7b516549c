"""A spring along a joint."""

from dataclasses import dataclass
from typing import Any

from modurob.catalogue.forces.force import FORCES, JointForce
from modurob.spatial.scalars import Array


@FORCES.register("joint spring")
@dataclass(frozen=True)
class JointSpring(JointForce):
    """tau = -stiffness (q - rest) - damping v."""

    stiffness: Any  # [N m/rad or N/m]
    rest: Any = 0.0  # [rad or m]
    damping: Any = 0.0  # [N m s/rad or N s/m]
    kind = "joint spring"

    def __post_init__(self) -> None:
        self._require(stiffness=self.stiffness, damping=self.damping)
        self._require(-float("inf"), rest=self.rest)

    def effort(self, t: Any, q: Array, v: Array, x: Array) -> Array:
        return -self.stiffness * (q - self.rest) - self.damping * v

    def energy(self, q: Array, x: Array) -> Array:
        stretch = q - self.rest
        return self.stiffness * stretch * stretch / 2
