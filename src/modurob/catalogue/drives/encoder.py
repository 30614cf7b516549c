"""Where a drive reads its angle."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from modurob.catalogue.drives.numbers import positive, require
from modurob.errors import CatalogueError, choices

SIDES = ("motor", "joint")


@dataclass(frozen=True)
class Encoder:
    """Counts of one turn of its own shaft, four for each line where `quadrature`; on the motor's side, or on the joint's.

    `ratio` is how many turns the encoder makes for one of the shaft it reads. An encoder on the motor of an elastic drive does not
    see the deflection.

    >>> mr.Encoder(counts=500, ratio=3.0).quantum(gear_ratio=160.0)  # at the joint [rad]
    2.617993877991494e-05
    """

    counts: float
    side: Literal["motor", "joint"] = "motor"
    ratio: float = 1.0
    quadrature: bool = False

    def __post_init__(self) -> None:
        if self.side not in SIDES:
            raise CatalogueError(f"encoder: side {self.side!r:.60}: {choices(str(self.side), SIDES)}")
        if not isinstance(self.quadrature, bool):
            raise CatalogueError(f"encoder: quadrature {self.quadrature!r:.60}: expected true or false")
        require("encoder", self, words=("side", "quadrature"))
        positive("encoder", self, "counts", "ratio")

    def quantum(self, gear_ratio: float = 1.0) -> float:
        """The angle of one count at the joint [rad]."""
        turns = self.ratio * (gear_ratio if self.side == "motor" else 1.0)
        return 2 * np.pi / (self.counts * turns * (4 if self.quadrature else 1))
