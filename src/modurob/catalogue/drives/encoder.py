"""Where a drive reads its angle."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from modurob.catalogue.drives.numbers import positive, require
from modurob.errors import CatalogueError, choices, explained

SIDES = ("motor", "joint")
# noise of readings: x' = 16807 x modulo this, exact in doubles (Park and Miller 1988)
PERIOD, FACTOR = 2**31 - 1, 16807


@explained
@dataclass(frozen=True)
class Encoder:
    """Counts per turn of its own shaft, four for each line with `quadrature`; on the motor's side, or on the joint's.

    `ratio` is the number of turns of the encoder for one turn of the shaft it measures. An encoder on the motor of an
    elastic drive does not measure the deflection. Loops inside the drive use counts with white `noise`, drawn at each
    sample from the `seed`: give joints different seeds. An encoder with an `index` counts from zero at the start, and
    its angle is absolute once it has passed the index; without an index it is absolute from the start.

    >>> mr.Encoder(counts=500, ratio=3.0).quantum(gear_ratio=160.0)  # at the joint [rad]
    2.617993877991494e-05
    """

    counts: float
    side: Literal["motor", "joint"] = "motor"
    ratio: float = 1.0
    quadrature: bool = False
    noise: float = 0.0  # deviation of a reading, at the joint [rad]
    seed: int = 1
    index: float | None = None  # the angle at the joint where its index is [rad]

    def __post_init__(self) -> None:
        if self.side not in SIDES:
            raise CatalogueError(f"encoder: side {self.side!r:.60}: {choices(str(self.side), SIDES)}")
        if not isinstance(self.quadrature, bool):
            raise CatalogueError(f"encoder: quadrature {self.quadrature!r:.60}: expected true or false")
        require("encoder", self, words=("side", "quadrature", "seed", "index"))
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or not 0 < self.seed < PERIOD:
            raise CatalogueError(f"encoder: seed {self.seed!r:.60}: expected a whole number from 1 to {PERIOD - 1}")
        if self.index is not None and not (isinstance(self.index, int | float) and np.isfinite(self.index)):
            raise CatalogueError(f"encoder: index {self.index!r:.60}: expected an angle at the joint [rad], or None")
        positive("encoder", self, "counts", "ratio")

    @property
    def first_draw(self) -> float:
        """The start of its noise sequence, such that sequences of neighbouring seeds do not overlap."""
        return float(1 + int(np.random.SeedSequence(self.seed).generate_state(1)[0]) % (PERIOD - 1))

    def quantum(self, gear_ratio: float = 1.0) -> float:
        """The angle of one count at the joint [rad]."""
        turns = self.ratio * (gear_ratio if self.side == "motor" else 1.0)
        return 2 * np.pi / (self.counts * turns * (4 if self.quadrature else 1))
