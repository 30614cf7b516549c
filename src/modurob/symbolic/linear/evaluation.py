"""Polynomials at a point: coordinates and rates replaced by numbers or expressions, parameters kept."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import sympy

from modurob.spatial.scalars import Array
from modurob.symbolic.ring import FIELD, Expr, Matrix, Polynomial, added

if TYPE_CHECKING:
    from modurob.symbolic.equations import Equations


class Evaluation:
    """Takes arrays of polynomials to SymPy matrices, coordinates and rates replaced by those of a state; parameters stay."""

    def __init__(self, eq: "Equations", q: Sequence[Expr], v: Sequence[Expr]):
        self._ring = eq.ring
        state = dict(zip([*eq.q, *eq.v], [*q, *v], strict=True))
        moving = [g for g in eq.ring.generators if g.expression.free_symbols & state.keys()]
        self._bases = {g.name: _number(g.expression.subs(state)) for g in moving}
        # the bits of a monomial that are exponents of what moves
        self._moving = sum(((1 << FIELD) - 1) * eq.ring.field(name) for name in self._bases)
        self._value, self._parameters = cache(self._product), cache(self._expression)

    def __call__(self, polynomials: Array) -> Matrix:
        """Vectors become columns."""
        rows = polynomials if polynomials.ndim == 2 else polynomials[:, None]
        return sympy.Matrix(rows.shape[0], rows.shape[1], [self._sum(p) for p in rows.ravel()])

    def _sum(self, p: Polynomial) -> Expr:
        """A polynomial at the state: the numbers before each product of parameters are added up first."""
        found = []
        for monomial, x in self._factors(p).items():
            if len(found) % 100 == 0:
                self._ring.budget.look()
            if x:
                found.append(sympy.sympify(x / p.denominator) * self._parameters(monomial))
        return added(found, self._ring.budget)

    def _factors(self, p: Polynomial) -> dict[int, Any]:
        """What stands before each product of parameters."""
        sums: dict[int, Any] = {}
        for i, (m, c) in enumerate(p.terms.items()):
            if i % 1000 == 0:
                self._ring.budget.look()
            constant = m & ~self._moving
            sums[constant] = sums.get(constant, Fraction(0)) + c * self._value(m & self._moving)
        return sums

    def _product(self, monomial: int) -> Any:
        """A product of cosines, sines, coordinates and rates at the state."""
        powers = [self._bases[g.name] ** e for g, e in self._ring.exponents(monomial)]
        if any(isinstance(p, sympy.Expr) for p in powers):
            return sympy.expand(sympy.Mul(*powers))
        return math.prod(powers, start=Fraction(1))

    def _expression(self, monomial: int) -> Expr:
        return Polynomial(self._ring, {monomial: 1}).expression()


def _number(x: Expr) -> Any:
    """A fraction or a float where x is one: these are quick."""
    if x.is_Rational:
        return Fraction(int(x.p), int(x.q))
    return float(x) if x.is_Float else x


def float_value(x: Any, values: Mapping[Any, float]) -> float:
    """The number of an expression; quicker than SymPy where it is a polynomial."""
    if isinstance(x, sympy.Add):
        return sum(float_value(y, values) for y in x.args)
    if isinstance(x, sympy.Mul):
        return math.prod(float_value(y, values) for y in x.args)
    if isinstance(x, sympy.Pow) and isinstance(x.exp, sympy.Integer):
        return float_value(x.base, values) ** int(x.exp)
    if isinstance(x, sympy.Symbol):
        return float(values[x])
    return float(x if not isinstance(x, sympy.Expr) or x.is_Number else x.subs(values))
