"""Polynomials of the equations of motion for reading: for SymPy, and as text."""

from typing import Any

import numpy as np
import sympy

from modurob.caching import cached_property
from modurob.spatial.scalars import Array
from modurob.symbolic.derivation import Derivation
from modurob.symbolic.display import Display, natural_order
from modurob.symbolic.model import Quantity
from modurob.symbolic.printing import TextPrinter, text_name
from modurob.symbolic.ring import Matrix, Polynomial


class Reading(Derivation):
    """The parts of the equations of motion with their symbols, factored, angles summed along parallel axes."""

    # ---- symbols ----

    @property
    def q(self) -> list[sympy.Symbol]:
        """The coordinates q1, q2, ... [rad or m]."""
        return self.coordinates.q_symbols

    @property
    def v(self) -> list[sympy.Symbol]:
        """The rates qd1, qd2, ... [rad/s or m/s]."""
        return self.coordinates.v_symbols

    @property
    def parameters(self) -> list[sympy.Symbol]:
        """The symbols that are neither coordinates nor rates, in the order of their names.

        >>> import modurob as mr
        >>> mr.load("crab").mechanism().equations(("masses", "gravity")).parameters
        [g, m1, m2, m3]
        """
        moving = {*self.q, *self.v, *self.coordinates.vdot_symbols}
        found = {s for g in self.ring.generators for s in g.expression.free_symbols} - moving
        return sorted(found, key=lambda e: natural_order(e.name))

    @property
    def quantities(self) -> dict[sympy.Symbol, Quantity]:
        """Meaning, unit and number of the symbols that stand for numbers of this robot.

        >>> import modurob as mr
        >>> eq = mr.load("crab").mechanism().equations("gravity")
        >>> eq.quantities[sympy.Symbol("g")]
        Quantity(meaning='gravity', unit='m/s²', value=9.81)
        """
        return {**self._given, **self._exact.quantities}

    @property
    def values(self) -> dict[sympy.Symbol, float]:
        """The numbers of this robot that symbols stand for, in SI units."""
        return {symbol: quantity.value for symbol, quantity in self.quantities.items()}

    # ---- polynomials ----

    def displayed(self, p: Polynomial) -> Polynomial:
        """A polynomial in the cosines and sines that are printed: of angles summed along parallel axes."""
        return self._printed.polynomial(p)

    @cached_property
    def _printed(self) -> Display:
        return Display(self.coordinates)

    def expression(self, p: Polynomial) -> sympy.Expr:
        """A polynomial for SymPy, with angles summed along parallel axes."""
        return self.displayed(p).expression()

    def matrix(self, polynomials: Array) -> Matrix:
        """An array of polynomials for SymPy; vectors become columns."""
        rows = polynomials if polynomials.ndim == 2 else polynomials[:, None]
        with self.ring.budget.running():
            return sympy.Matrix(rows.shape[0], rows.shape[1], [self.expression(p) for p in rows.ravel()])

    def parts(self) -> tuple[str, ...]:
        """The names of the matrices to be read: M, C, N, D where there is friction, and S where there are springs."""
        return tuple(
            part for part in ("M", "C", "D", "S", "N") if part not in ("D", "S") or any(self.polynomial(part).ravel())
        )

    def terms(self, *parts: str) -> int:
        """How many terms these parts have, M, C and N by default."""
        return sum(len(p.terms) for part in parts or ("M", "C", "N") for p in self.polynomial(part).ravel())

    def entries(self, *parts: str, longest: int | None = None) -> list[tuple[str, str]]:
        """Name and text of every entry, factored, with angles summed along parallel axes; M, C and N by default.

        Entries with more than `longest` terms are only counted.

        >>> import modurob as mr
        >>> dict(mr.load("crab").mechanism().equations(("lengths", "masses")).entries("M"))["M[1, 2]"]
        '147/80000 + l1**2*m2*(1 + cos(q2))'
        """
        found = []
        with self.ring.budget.running():
            for part in parts or ("M", "C", "N"):
                array: Any = self.polynomial(part)
                known: dict[tuple[int, ...], str] = {}
                for i, at in enumerate(np.ndindex(array.shape)):
                    self._progress(f"writing {part}", i / array.size)
                    # a symmetric matrix has half of its entries twice
                    known[at] = known[at[::-1]] if part == "M" and at[0] > at[1] else self.text(array[at], longest)
                    found.append((entry_name(part, at), known[at]))
        return found

    def text(self, p: Polynomial, longest: int | None = None) -> str:
        """A polynomial as text, factored; with more than `longest` terms it is only counted."""
        if longest is not None and len(p.terms) > longest:
            return f"a sum of {len(p.terms)} terms"
        return TextPrinter(text_name).polynomial(self.displayed(p))


def entry_name(part: str, at: tuple[int, ...]) -> str:
    """M[1, 2]: rows and columns are counted from one."""
    return f"{part}[{', '.join(str(i + 1) for i in at)}]"
