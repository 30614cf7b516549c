"""Numbers of a robot as exact ones: 0.105 is 21/200, 0.7071067811865476 is sqrt(2)/2.

Robots are described by short decimals, and by products, sums and fractions of them; floats hold these to the last place or so.
A float stands for the simplest number within its rounding error, provided that this is no accident: numbers of that length must lie
so thinly that one of them is not to be expected near any float.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import sympy

from modurob.errors import NotExactError
from modurob.symbolic.ring import Expr, Polynomial, Ring

# rounding error of a float that a few operations made, in units of the last place of its largest part
ULPS = 4
# how many fractions and decimals of the found length may be expected within the rounding error: that of an accident
ACCIDENT = 1e-3
# decimals over small whole numbers: moments of inertia have thirds, twelfths, ...
SMALL_MULTIPLES = (1, 3, 9, 6, 12, 24, 48, 15, 18, 36)
MOST_DIGITS = 18
# rotations by 30, 45 and 60 degrees bring these roots
RADICANDS = (2, 3, 6)
LARGEST_RADICAND = 10**4


def rounding_error(x: float, scale: float = 0.0) -> float:
    """The largest difference between x and the number it represents, if it was computed from numbers as large as
    `scale`.
    """
    largest = max(abs(x), scale)
    return float(ULPS * np.spacing(largest)) if largest else 0.0


@lru_cache(maxsize=4096)
def simplest_fraction(x: float, scale: float = 0.0, accident: float = ACCIDENT) -> Fraction | None:
    """The fraction within the rounding error of x that is least an accident, or None if only accidental ones are there.

    `scale` is the size of the numbers whose sum or difference x is: their rounding is allowed for. Fractions with denominators
    up to d lie about 1/d² apart, decimals with k digits after the point 1/10^k.

    >>> simplest_fraction(0.105 * 0.105 / 6)
    Fraction(147, 80000)
    >>> simplest_fraction(0.9553364891256060)  # cos(0.3)
    """
    slack = rounding_error(x, scale)
    if abs(x) <= slack:
        return Fraction(0)
    low, high = Fraction(abs(x)) - Fraction(slack), Fraction(abs(x)) + Fraction(slack)
    fraction = _simplest_between(low, high)
    found = [(fraction.denominator**2 * slack, fraction), *_decimals(low, high, slack, accident)]
    expected, best = min(found)
    return None if expected >= accident else best if x > 0 else -best


def _decimals(low: Fraction, high: Fraction, slack: float, accident: float) -> list[tuple[float, Fraction]]:
    """For each small multiple the shortest decimal in [low, high], over it, behind how many of its length are expected there."""
    found, middle = [], (low + high) / 2
    for multiple in SMALL_MULTIPLES:
        digits = math.floor(math.log10(accident / (2 * slack * multiple)))
        for k in range(min(digits, MOST_DIGITS) + 1):
            candidate = Fraction(round(middle * multiple * 10**k), multiple * 10**k)
            if low <= candidate <= high:
                found.append((2 * slack * multiple * 10**k, candidate))
                break
    return found


def _simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest denominator in [low, high], 0 < low, by continued fractions."""
    whole = low.numerator // low.denominator
    if low == whole:
        return Fraction(whole)
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / _simplest_between(1 / (high - whole), 1 / (low - whole))


def recognised(ring: Ring, x: float, scale: float = 0.0) -> Polynomial | None:
    """The fraction, or the fraction times a square root, that a float represents; None if there is none."""
    found = simplest_fraction(x, scale)
    if found is not None:
        return ring.constant(found)
    for n in RADICANDS:
        # three more tries: each must be less of an accident
        found = simplest_fraction(x / math.sqrt(n), scale, ACCIDENT / 100)
        if found is not None:
            return _root(ring, sympy.sqrt(n)) * found
    square = simplest_fraction(x * x)
    if square is not None and square.numerator * square.denominator <= LARGEST_RADICAND:
        return _root(ring, sympy.sqrt(sympy.Rational(square.numerator, square.denominator))) * (1 if x > 0 else -1)
    return None


def rounded(x: float, digits: int) -> Fraction:
    """x rounded to the given number of decimals."""
    return Fraction(str(round(x, digits)))


def exact(ring: Ring, x: Any, where: str, digits: int | None = None, scale: float = 0.0) -> Polynomial:
    """A number or SymPy expression as an element of the ring.

    Floats become fractions or roots of fractions; others are refused, or rounded to `digits` decimals if given. `scale`
    is that of the numbers from which x was computed.
    """
    if isinstance(x, Polynomial):
        return x
    if isinstance(x, sympy.Expr):
        return from_expression(ring, x)
    if isinstance(x, Fraction):
        return ring.constant(x)
    found = recognised(ring, float(x), scale)
    if found is None and digits is not None:
        return ring.constant(rounded(float(x), digits))
    if found is None:
        raise NotExactError(
            f"{where} is {float(x)!r}: no short fraction and no root of one; build the robot with exact numbers or symbols, "
            f"or round with equations(digits=...)"
        )
    return found


def direction(ring: Ring, a: np.ndarray) -> list[Polynomial] | None:
    """A unit vector as whole numbers over the root of the sum of their squares; None if they are not short."""
    largest = float(a[np.argmax(np.abs(a))])
    ratios = [simplest_fraction(float(x) / largest, 1.0) for x in a]
    known = [r for r in ratios if r is not None]
    if len(known) < 3:
        return None
    squared = sum(r * r for r in known)
    length = _root(ring, sympy.sqrt(sympy.Rational(squared.numerator, squared.denominator)))
    # 1/length = length / length²
    return [length * (r * (1 if largest > 0 else -1) / squared) for r in known]


Trigonometry = Callable[[Expr], tuple[Polynomial, Polynomial]]


def from_expression(
    ring: Ring,
    expression: Expr,
    trigonometry: Trigonometry | None = None,
    other: Callable[[Expr], Polynomial] | None = None,
) -> Polynomial:
    """A SymPy expression that is polynomial in symbols, square roots, and cosines and sines of the angles in
    `trigonometry`.

    `other` converts the parts in which it is not polynomial; without it these are an error.
    """

    def convert(expression: Expr) -> Polynomial:
        e: Any = expression
        match expression:
            case sympy.Float():
                # a factor of symbols: of a rotation, say, which rounding kept from being zero
                return exact(ring, float(e), str(e), scale=1.0)
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
        if other is not None:
            return other(e)
        raise NotExactError(f"{e} is not a polynomial in symbols, fractions, square roots, cosines and sines")

    return convert(sympy.sympify(expression))


def _root(ring: Ring, power: Expr) -> Polynomial:
    """(p/q)^(k/2), or a fraction that came out of it, as a fraction times the root of a square-free integer."""
    if power.is_Rational:
        return ring.constant(Fraction(int(power.p), int(power.q)))
    if not power.is_Pow:
        coefficient, radical = power.as_coeff_Mul()
        return _root(ring, radical) * Fraction(int(coefficient.p), int(coefficient.q))
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
