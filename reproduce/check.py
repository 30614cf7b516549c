"""One line of the table: what a source shows, what comes out here, and whether the two agree."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from modurob.spatial.scalars import Array


@dataclass(frozen=True)
class Check:
    """A number found, and what it should be. Errors, times and ratios should be zero: the tolerance is how large they may be."""

    figure: str  # Gutenkunst Fig. 5.4
    what: str
    expected: float
    found: float
    tolerance: float
    unit: str = ""
    note: str = ""  # why nothing was found

    @classmethod
    def skipped(cls, figure: str, what: str, why: str) -> "Check":
        """A line that could not be filled in, and so is not passed."""
        return cls(figure, what, 0.0, np.nan, 0.0, note=f"skipped: {why}")

    @property
    def passed(self) -> bool:
        """|found - expected| <= tolerance; never so for a number that is not one."""
        return bool(abs(self.found - self.expected) <= self.tolerance)

    @property
    def verdict(self) -> str:
        return "pass" if self.passed else "skipped" if self.note else "FAIL"

    @property
    def expected_text(self) -> str:
        if self.note:
            return ""
        if self.tolerance == 0:
            return f"{self.expected:.6g} {self.unit}".strip()
        if self.expected == 0:
            return f"at most {self.tolerance:.3g} {self.unit}".strip()
        return f"{self.expected:.6g} ± {self.tolerance:.1g} {self.unit}".strip()

    @property
    def found_text(self) -> str:
        digits = 6 if self.expected else 2
        return self.note or f"{self.found:.{digits}g} {self.unit}".strip()


class Reproduction(NamedTuple):
    """A figure or table of a source: its checks, and its picture."""

    checks: list[Check]
    picture: Figure | None  # tables have none


def apart(ours: Array, theirs: ArrayLike) -> float:
    """The largest difference between entries."""
    return float(np.abs(ours - np.asarray(theirs)).max())
