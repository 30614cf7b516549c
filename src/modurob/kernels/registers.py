"""Arrays in the arena of a sequence, and its rows."""

from typing import TYPE_CHECKING, NamedTuple

from modurob.spatial.scalars import Array

if TYPE_CHECKING:
    from modurob.kernels.sequence import Engine


class Rows(NamedTuple):
    """Some rows: addresses of steps, or the name of one of the driver's, places, (rows, slots), and where the constants of
    each begin."""

    steps: Array | str
    at: Array
    constants: Array
    starts: Array
    climbers: Array | None = None  # of a climb: steps of each joint, and where its constants begin


class Register:
    """An array in the arena, or a sum of such arrays that is not yet there."""

    def __init__(self, engine: "Engine", terms: list[tuple[float, int, int]], n: int):
        self.engine, self.terms, self.n = engine, terms, n  # factor, place of another factor (0: none), place

    @property
    def place(self) -> int:
        """Where it stands, which it does from now on."""
        if len(self.terms) != 1 or self.terms[0][:2] != (1.0, 0):
            at = self.engine.allocate(self.n)
            self.engine.combine(at, self)
            self.terms = [(1.0, 0, at)]
        return self.terms[0][2]

    def __add__(self, other: "Register") -> "Register":
        return Register(self.engine, [*self.terms, *other.terms], self.n)

    def __sub__(self, other: "Register") -> "Register":
        return self + other * -1.0

    def __mul__(self, factor: "float | Register") -> "Register":
        if isinstance(factor, Register):
            scale, terms = factor.place, self.terms if not any(s for _, s, _ in self.terms) else [(1.0, 0, self.place)]
            return Register(self.engine, [(f, scale, p) for f, _, p in terms], self.n)
        return Register(self.engine, [(f * factor, s, p) for f, s, p in self.terms], self.n)

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> "Register":
        return self * (1 / divisor)
