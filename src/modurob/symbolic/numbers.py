"""Numbers of a robot as exact ones: 0.105 is 21/200, 0.7071067811865476 is sqrt(2)/2."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from modurob.errors import NotExactError
from modurob.symbolic.ring import Expr, Polynomial, Ring

# a float stands for the simplest number this close to it, in units of its last place
ULPS = 3
# a fraction is taken for what was meant if its denominator is at most this,
LARGEST_DENOMINATOR = 10**6
# or if a small multiple of it is a decimal of at most so many digits
SMALL_MULTIPLES = (1, 2, 3, 4, 6, 8, 9, 12, 15, 16, 24, 32, 48)
DIGITS = 11
LARGEST_RADICAND = 10**4
# entries of rotations that rounding kept from being zero
NOTHING = 1e-15


def simplest_fraction(x: float, scale: float = 0.0) -> Fraction | None:
    """The fraction with the smallest denominator that rounds to x, or None if that denominator is large.

    `scale` is the size of the numbers whose sum or difference x is: their rounding is allowed for.
    """
    slack = ULPS * np.spacing(max(abs(x), scale))
    if abs(x) <= slack:
        return Fraction(0)
    low, high = Fraction(abs(x)) - Fraction(slack), Fraction(abs(x)) + Fraction(slack)
    found: Fraction | None = _simplest_between(low, high)
    if found is not None and found.denominator > LARGEST_DENOMINATOR:
        found = _short_decimal(low, high)
    return found if found is None or x > 0 else -found


def _short_decimal(low: Fraction, high: Fraction) -> Fraction | None:
    """A decimal of few digits over a small whole number, in [low, high]."""
    middle = (low + high) / 2
    for multiple in SMALL_MULTIPLES:
        candidate = Fraction(f"{float(middle * multiple):.{DIGITS - 1}e}") / multiple
        if low <= candidate <= high:
            return candidate
    return None


def _simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest denominator in [low, high], 0 < low, by continued fractions."""
    whole = low.numerator // low.denominator
    if low == whole:
        return Fraction(whole)
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / _simplest_between(1 / (high - whole), 1 / (low - whole))


def exact(ring: Ring, x: Any, where: str, digits: int | None, scale: float = 0.0) -> Polynomial:
    """A number or SymPy expression as an element of the ring.

    Floats become fractions or roots of fractions; others are refused, or rounded to `digits` decimals if asked. `scale` is
    that of the numbers x was made of.
    """
    if isinstance(x, Polynomial):
        return x
    if isinstance(x, sympy.Expr):
        return from_expression(ring, x)
    if isinstance(x, Fraction):
        return ring.constant(x)
    x = float(x)
    if abs(x) < NOTHING * max(scale, 1):
        return ring.constant(0)
    if digits is not None:
        return ring.constant(Fraction(str(round(x, digits))))
    found = simplest_fraction(x, scale)
    if found is not None:
        return ring.constant(found)
    square = simplest_fraction(x * x)
    if square is not None and square.numerator * square.denominator <= LARGEST_RADICAND:
        return from_expression(ring, sympy.sign(x) * sympy.sqrt(sympy.Rational(square.numerator, square.denominator)))
    raise NotExactError(
        f"{where} is {x!r}: no short fraction and no root of one; build the robot with exact numbers or symbols, "
        f"or round with equations(digits=...)"
    )


Trigonometry = Callable[[Expr], tuple[Polynomial, Polynomial]]


def from_expression(ring: Ring, expression: Expr, trigonometry: Trigonometry | None = None) -> Polynomial:
    """A SymPy expression that is polynomial in symbols, square roots, and cosines and sines of what `trigonometry` knows."""

    def convert(expression: Expr) -> Polynomial:
        e: Any = expression
        match expression:
            case sympy.Float():
                return exact(ring, float(e), str(e), None)
            case sympy.Rational():
                return ring.constant(Fraction(int(e.p), int(e.q)))
            case sympy.Symbol():
                return ring.symbol(e)
            case sympy.Add():
                return sum((convert(x) for x in e.args), start=ring.constant(0))
            case sympy.Mul():
                return math.prod((convert(x) for x in e.args), start=ring.constant(1))
            case sympy.Pow() if e.exp.is_Integer and e.exp >= 0:
                return convert(e.base) ** int(e.exp)
            case sympy.Pow() if e.exp.is_Rational and e.exp.q == 2 and e.base.is_Rational and e.base > 0:
                return _root(ring, e)
            case sympy.cos() if trigonometry:
                return trigonometry(e.args[0])[0]
            case sympy.sin() if trigonometry:
                return trigonometry(e.args[0])[1]
        raise NotExactError(f"{e} is not a polynomial in symbols, fractions, square roots, cosines and sines")

    return convert(sympy.sympify(expression))


def _root(ring: Ring, power: Expr) -> Polynomial:
    """(p/q)^(k/2) as a fraction times the root of a square-free integer."""
    parts: Any = sympy.sqrt(power.base).as_coeff_Mul()
    coefficient, radical = parts
    root = ring.constant(Fraction(int(coefficient.p), int(coefficient.q)))
    # roots of primes, so that sqrt(6) and sqrt(2) sqrt(3) are one
    for prime in sympy.primefactors(int(radical**2)):
        root = root * ring.root(prime)
    k = int(power.exp.p)
    if k > 0:
        return root**k
    # x^(-k/2) = x^(k/2) / x^k
    square = power.base**-k
    return root**-k / Fraction(int(square.p), int(square.q))
