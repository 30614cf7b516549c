"""Base parameters in closed form: the sums of inertial parameters that torques depend on, exact (Gautier and Khalil 1990)."""

from typing import Any

import sympy
from sympy.polys.matrices import DomainMatrix

from modurob.spatial.scalars import Array
from modurob.symbolic.coordinates import Coordinates
from modurob.symbolic.ring import Expr, Polynomial

NUMBERS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


def inertial_symbols(bodies: int) -> list[sympy.Symbol]:
    """m1, mx1, my1, mz1, Ixx1, ...: mass, first moments and tensor about the origin of each body, in its frame."""
    return [sympy.Symbol(f"{name}{i + 1}") for i in range(bodies) for name in NUMBERS]


def base_parameters(Y: Array, coordinates: Coordinates) -> list[Expr]:
    """Of a regressor in normal form, (nv, 10 bodies): sums of inertial parameters, the first of each with the factor one.

    Cosines, sines and rates are independent functions, so that the rank of Y is that of its coefficients, row by row and
    monomial by monomial; the rows of their reduced echelon form, over the field of lengths, are the sums.
    """
    matrix = DomainMatrix.from_Matrix(sympy.Matrix(_coefficients(Y, coordinates))).to_field()
    reduced, pivots = matrix.rref()
    pi = sympy.Matrix(inertial_symbols(Y.shape[1] // len(NUMBERS)))
    return list((reduced.to_Matrix()[: len(pivots), :] * pi).applyfunc(sympy.expand))


def _coefficients(Y: Array, coordinates: Coordinates) -> list[list[Expr]]:
    """The coefficient of each monomial of coordinates and rates, a row for each row of Y and monomial."""
    moving = {*coordinates.q_symbols, *coordinates.v_symbols, *coordinates.vdot_symbols}
    rows: dict[tuple[int, Expr], list[Expr]] = {}
    for (i, k), p in _entries(Y):
        for motion, constant in _split(p, moving):
            row = rows.setdefault((i, motion), [sympy.Integer(0)] * Y.shape[1])
            row[k] += constant
    return list(rows.values()) or [[sympy.Integer(0)] * Y.shape[1]]


def _entries(Y: Array) -> list[tuple[tuple[int, int], Polynomial]]:
    return [((i, k), Y[i, k]) for i in range(Y.shape[0]) for k in range(Y.shape[1])]


def _split(p: Polynomial, moving: set[Any]) -> list[tuple[Expr, Expr]]:
    """The terms of a polynomial as products of what moves and what does not."""
    parts = []
    for monomial, c in p.coefficients().items():
        motion, constant = sympy.Integer(1), sympy.Rational(c.numerator, c.denominator)
        for generator, power in p.ring.exponents(monomial):
            if generator.expression.free_symbols & moving:
                motion *= generator.expression**power
            else:
                constant *= generator.expression**power
        parts.append((motion, constant))
    return parts
