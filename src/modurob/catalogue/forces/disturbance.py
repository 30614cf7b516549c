"""An unknown torque: a state of its own, for filters that estimate it."""

from dataclasses import dataclass
from typing import Any

from modurob.catalogue.forces.force import FORCES, JointForce
from modurob.spatial.scalars import Array


@FORCES.register("disturbance")
@dataclass(frozen=True)
class Disturbance(JointForce):
    """tau = x, a constant state [N m or N]: zero in simulations; in a `DriveFilter` the estimated unknown torque.

    >>> import modurob as mr
    >>> mr.load("crab").mechanism().with_force("push", mr.Disturbance(), joint="m0/hinge").forces[-1].name
    'push'
    """

    kind, nx, positional = "disturbance", 1, False

    def effort(self, t: Any, q: Array, v: Array, x: Array) -> Array:
        return x[..., 0] + 0 * v

    def rate(self, t: Any, q: Array, v: Array, x: Array) -> Array:
        return 0 * x
