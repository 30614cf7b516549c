"""Arrays in the arena of a sequence, and its rows."""

from typing import TYPE_CHECKING, NamedTuple

from modurob.kernels.units import Step
from modurob.spatial.scalars import Array

if TYPE_CHECKING:
    from modurob.kernels.arena import Arena


class Rows(NamedTuple):
    """Some rows: their steps, or the name of one of the driver's, places, (rows, slots), and where the constants of each begin."""

    steps: list[Step] | str
    at: Array
    constants: Array
    starts: Array
    in_bytes: bool = True  # whether places of steps count bytes, or vectors as those of the driver's do


class Term(NamedTuple):
    """One array of a sum: factor times scale, or factor times weights entry by entry, times the array."""

    factor: float
    scale: int  # where one number for all entries stands; 0: none
    weights: int  # where a number for each entry stands; 0: none
    place: int

    @property
    def plain(self) -> bool:
        """Whether it is the array itself."""
        return self[:3] == (1.0, 0, 0)


class Register:
    """An array in the arena, or a sum of such arrays that is not yet there."""

    def __init__(self, engine: "Arena", terms: list[Term], n: int):
        self.engine, self.terms, self.n = engine, terms, n

    @property
    def place(self) -> int:
        """Where it stands, which it does from now on."""
        if len(self.terms) != 1 or not self.terms[0].plain:
            at = self.engine.allocate(self.n)
            self.engine.combine(at, self)
            self.terms = [Term(1.0, 0, 0, at)]
        return self.terms[0].place

    def numbered(self) -> list[Term]:
        """Its terms with factors alone, so that they can be scaled or weighed."""
        return [Term(1.0, 0, 0, self.place)] if any(t.scale or t.weights for t in self.terms) else self.terms

    def __add__(self, other: "Register") -> "Register":
        return Register(self.engine, [*self.terms, *other.terms], self.n)

    def __sub__(self, other: "Register") -> "Register":
        return self + other * -1.0

    def __mul__(self, factor: "float | Register") -> "Register":
        if isinstance(factor, Register):
            scale = factor.place
            return Register(self.engine, [t._replace(scale=scale) for t in self.numbered()], self.n)
        return Register(self.engine, [t._replace(factor=t.factor * factor) for t in self.terms], self.n)

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> "Register":
        return self * (1 / divisor)
