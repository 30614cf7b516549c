"""A spring along a joint."""

from dataclasses import dataclass
from typing import Any

from modurob.catalogue.forces.force import FORCES, JointForce
from modurob.spatial.scalars import Array


@FORCES.register("joint spring")
@dataclass(frozen=True)
class JointSpring(JointForce):
    """A spring along a joint: tau = -stiffness (q - rest) - damping v [N m or N].

    >>> import modurob as mr
    >>> robot = mr.load("crab").mechanism().with_force("soft", mr.JointSpring(stiffness=2.0, rest=0.1), joint="m0/hinge")
    >>> robot.passive_forces([0.3, 0.0, 0.0], [0.0, 0.0, 0.0]).round(9) + 0.0
    array([-0.4,  0. ,  0. ])
    """

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
