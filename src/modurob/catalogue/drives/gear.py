"""A gear between a motor and a joint: stiff, or elastic."""

from dataclasses import dataclass

from modurob.catalogue.drives.numbers import positive, require
from modurob.errors import CatalogueError, explained


@explained
@dataclass(frozen=True)
class Gear:
    """Turns of the motor for one turn of the joint, with losses, backlash and elasticity. All values but the ratio are
    at the joint.

    With a `stiffness` the joint is elastic: the angle of the motor is a state, and the joint torque is stiffness
    (theta - q) + damping (theta' - q'), zero within the backlash; theta is the motor's angle over the ratio (von Stryk
    (5.22), (5.23)). Of the torque tau through the gear (1 - efficiency) |tau| is lost to friction, in either direction.

    >>> harmonic = mr.Gear(ratio=160.0, efficiency=0.8, stiffness=1.6e4, damping=20.0)
    """

    ratio: float = 1.0
    efficiency: float = 1.0
    stiffness: float = 0.0  # [N m/rad]; zero: stiff
    damping: float = 0.0  # beside the stiffness [N m s/rad]
    backlash: float = 0.0  # play from stop to stop, at the joint [rad]

    def __post_init__(self) -> None:
        require("gear", self)
        positive("gear", self, "ratio", "efficiency")
        if self.efficiency > 1:
            raise CatalogueError(f"gear: efficiency is {self.efficiency:g}: expected a number up to 1")
        if not self.stiffness and (self.damping or self.backlash):
            raise CatalogueError(
                "gear: damping and backlash act between motor and joint: expected a stiffness [N m/rad] with them"
            )
