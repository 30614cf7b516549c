"""Exact solutions of M x = b, for matrices of numbers and of polynomials in parameters."""

from functools import cache
from typing import Any

import numpy as np
import sympy
from sympy.polys.matrices import DomainMatrix
from sympy.polys.matrices.exceptions import DMNonInvertibleMatrixError

from modurob.errors import EquationsError
from modurob.spatial.scalars import Array
from modurob.symbolic.numbers import from_expression
from modurob.symbolic.printing import ratio
from modurob.symbolic.ring import Budget, Matrix, Polynomial, Ring

SINGULAR = "the mass matrix is singular there: a degree of freedom moves no inertia"


def solved(M: Matrix, right: Matrix, budget: Budget) -> Matrix:
    """M^-1 right, in lowest terms; an error if M is singular."""
    if not right.rows or not right.cols:
        return right
    both = sympy.Matrix.hstack(M, right)
    inexact = both.has(sympy.Float)
    if inexact and not both.free_symbols:
        return sympy.Matrix(np.linalg.solve(*(np.array(X.evalf().tolist(), dtype=float) for X in (M, right))))
    if inexact:
        both = both.applyfunc(lambda x: sympy.nsimplify(x, rational=True))
    found = _by_minors(both, budget) if both.free_symbols else _by_elimination(both)
    return found.evalf() if inexact else found


def _by_elimination(both: Matrix) -> Matrix:
    """Numbers alone: in the field of their roots."""
    n, system = both.rows, DomainMatrix.from_Matrix(both, extension=True).to_field()
    try:
        return system[:, :n].lu_solve(system[:, n:]).to_Matrix()
    except DMNonInvertibleMatrixError:
        raise EquationsError(SINGULAR) from None


def _by_minors(both: Matrix, budget: Budget) -> Matrix:
    """Polynomials in parameters: adj(M) right / det(M), where factors of the determinant cancel."""
    n, ring = both.rows, Ring(budget)
    entries = np.empty(both.shape, dtype=object)
    for at in np.ndindex(both.shape):
        entries[at] = from_expression(ring, both[at], other=ring.symbol)
    adjugate, determinant = adjugate_and_determinant(entries[:, :n])
    if not determinant:
        raise EquationsError(SINGULAR)
    above = adjugate @ entries[:, n:]
    return sympy.Matrix(*above.shape, [ratio(p, determinant) for p in above.ravel()])


def adjugate_and_determinant(M: Array) -> tuple[Array, Polynomial]:
    """The adjugate of a small symmetric matrix of polynomials and its determinant, by minors."""
    n = len(M)

    @cache
    def minor(rows: tuple[int, ...], columns: tuple[int, ...]) -> Any:
        if not rows:
            return M[0, 0].ring.constant(1)
        first, *others = rows
        parts = (
            (-1) ** k * M[first, column] * minor(tuple(others), columns[:k] + columns[k + 1 :])
            for k, column in enumerate(columns)
        )
        return sum(parts, start=M[0, 0].ring.constant(0))

    every = tuple(range(n))
    adjugate = np.empty((n, n), dtype=object)
    for i, j in np.ndindex(n, n):
        adjugate[i, j] = (-1) ** (i + j) * minor(every[:j] + every[j + 1 :], every[:i] + every[i + 1 :])
    return adjugate, minor(every, every)
