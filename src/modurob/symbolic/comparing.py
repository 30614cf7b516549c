"""Whether two derivations of the equations of motion are identical, decided exactly, on normal forms."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import sympy

from modurob.errors import InputError, NotExactError
from modurob.spatial.scalars import Array
from modurob.symbolic.derivation import Derivation
from modurob.symbolic.numbers import exact, from_expression
from modurob.symbolic.reading import Reading, entry_name
from modurob.symbolic.ring import Expr, Polynomial


class Line(NamedTuple):
    """One entry of a proof: its name, whether both ways give the same polynomial, and how many terms that has."""

    entry: str
    equal: bool
    terms: int


class Comparing(Reading):
    """The equations of motion beside others."""

    def equals(self, other: "Derivation | Mapping[str, Any]") -> bool:
        """Whether all that `other` has is identical: other equations, or SymPy matrices by name (M, C, C_two_step, D, S, N).

        Decided exactly, on normal forms; symbols are compared by name.

        >>> import modurob as mr
        >>> robot = mr.load("crab").mechanism()
        >>> robot.equations("masses").equals(robot.equations("masses", method="lagrange"))
        True
        """
        if not isinstance(other, Derivation | Mapping):
            raise InputError(
                f"equations are compared with {type(other).__name__}: expected Equations, or matrices by name"
            )
        parts = ("M", "C", "D", "S", "N") if isinstance(other, Derivation) else tuple(other)
        for part in parts:
            mine = self.polynomial(part)
            theirs: Any = other.polynomial(part) if isinstance(other, Derivation) else _rows(other[part], mine.ndim)
            if theirs.shape != mine.shape:
                return False
            for at in np.ndindex(mine.shape):
                if mine[at] != self.normal_form(theirs[at]):
                    return False
        return True

    def normal_form(self, expression: Any) -> Polynomial:
        """A SymPy expression, or a polynomial of other equations, in this ring: equal exactly if the normal forms are.

        >>> import modurob as mr
        >>> eq = mr.load("crab").mechanism().equations()
        >>> q1 = eq.q[0]
        >>> eq.normal_form(sympy.cos(2 * q1)) == eq.normal_form(1 - 2 * sympy.sin(q1) ** 2)
        True
        """
        if isinstance(expression, Polynomial):
            same = expression if expression.ring is self.ring else self.ring.adopted(expression)
            if same is not None:
                return same
            expression = expression.expression()
        if isinstance(expression, sympy.Expr):
            return from_expression(self.ring, expression, self.coordinates.trigonometry, self._distance)
        return exact(self.ring, expression, "the number", self._digits)

    def _distance(self, expression: Expr) -> Polynomial:
        """The length of a spring between frames, or one over it, to some power."""
        half = 2 * expression.exp if expression.is_Pow else sympy.Integer(0)
        for _, squared, length, inverse in self.coordinates.distances:
            if half.is_Integer and half and self.normal_form(expression.base) == squared:
                return (length if half > 0 else inverse) ** abs(int(half))
        raise NotExactError(f"{expression} is not a polynomial in symbols, fractions, square roots, cosines and sines")

    def _compared(self, twin: Derivation) -> list[Line]:
        """Entry by entry, these equations and the same derived otherwise: the Coriolis matrices by their products with v."""
        lines = [
            self._line(entry_name(part, at), mine, theirs)
            for part in (("M", "S", "N") if "S" in self.parts() else ("M", "N"))
            for (at, mine), theirs in zip(
                np.ndenumerate(self.polynomial(part)), twin.polynomial(part).ravel(), strict=True
            )
        ]
        mine = self.polynomial("C_two_step") @ self.coordinates.v
        theirs = twin.polynomial("C") @ twin.coordinates.v
        return lines + [self._line(entry_name("C v", (i,)), mine[i], theirs[i]) for i in range(self.robot.nv)]

    def _line(self, name: str, mine: Polynomial, theirs: Polynomial) -> Line:
        self._progress(f"comparing {name}", 1.0)
        return Line(name, mine == self.normal_form(theirs), len(mine.terms))


def _rows(matrix: Any, ndim: int) -> Array:
    """A SymPy matrix or nested list as an array of objects."""
    array = np.array(matrix.tolist() if isinstance(matrix, sympy.MatrixBase) else matrix, dtype=object)
    return array[:, 0] if ndim == 1 and array.ndim == 2 else array
