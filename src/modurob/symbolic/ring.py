"""Polynomials in normal form: over the rationals, in symbols, roots, and cosines and sines of angles.

A monomial is one integer: each generator has a field of bits for its exponent, so monomials multiply by adding. Some generators
have a rule for their square (sin² = 1 - cos², sqrt(2)² = 2), which is applied whenever a square arises. Coefficients are whole
numbers over one denominator. Two polynomials of a ring are equal exactly if their coefficients are.
"""

import functools
import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from modurob.errors import CancelledError, NotExactError, TooLargeError
from modurob.spatial.scalars import Array

FIELD = 8  # bits of an exponent, one byte; the largest that occurs is far below 2**7
# products of terms between two looks at the budget: a few milliseconds of work
BETWEEN_LOOKS = 20_000
# denominators beyond this are cleared of common factors
LARGE_DENOMINATOR = 1 << 64
Terms = dict[int, int]
# SymPy's, whose types say too little to check
Expr = Any
Matrix = Any


def rational(number: Any) -> tuple[int, int]:
    """Numerator and denominator of a number.

    A float stands for itself, so only those that algorithms write (0, 1, 1/2) should come.
    """
    if isinstance(number, float):
        return number.as_integer_ratio()
    return int(number.numerator), int(number.denominator)


@dataclass(frozen=True)
class Generator:
    """The meaning of a field of the monomials."""

    name: str
    expression: Expr  # in the angles and symbols that users see


def never() -> bool:
    """Nobody cancels."""
    return False


@dataclass
class Budget:
    """The limits of a computation: seconds, terms of one polynomial, and a function that may cancel it."""

    seconds: float | None = None
    terms: int | None = None
    cancelled: Callable[[], bool] = never
    started: float = field(default_factory=time.monotonic)
    _depth: int = 0

    def __getstate__(self) -> dict[str, Any]:
        """Without the caller's function, so that it can be pickled."""
        return {**self.__dict__, "cancelled": never, "_depth": 0}

    @contextmanager
    def running(self) -> Iterator[None]:
        """One call: the time counts from its start, also within the calls it makes."""
        if self._depth == 0:
            self.started = time.monotonic()
            self.look()
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def left(self) -> float | None:
        """Seconds that are left."""
        return None if self.seconds is None else max(0.0, self.seconds - (time.monotonic() - self.started))

    def look(self) -> None:
        """An error if the time is up or somebody cancelled."""
        if self.seconds is not None and time.monotonic() - self.started > self.seconds:
            raise CancelledError(f"stopped after {self.seconds:g} s, as asked")
        if self.cancelled():
            raise CancelledError("cancelled")

    def require(self, terms: int) -> None:
        """An error if a polynomial is too large, or as `look`."""
        if self.terms is not None and terms > self.terms:
            raise TooLargeError(
                f"an entry grew past {self.terms} terms: give numbers for parameters, or use the numeric model"
            )
        self.look()


class Ring:
    """The generators, their rules, and the budget of computations with them.

    >>> ring = Ring()
    >>> c, s = ring.angle(sympy.Symbol("q1"))
    >>> (c + s) ** 2 == 1 + 2 * c * s
    True
    """

    def __init__(
        self,
        budget: Budget | None = None,
        symbols: Iterable[sympy.Symbol] = (),
        constants: Mapping[str, Fraction] | None = None,
    ):
        """`symbols` are those to use for symbols of their names, whatever else is known of these; `constants` replace symbols."""
        self.generators: list[Generator] = []
        self.budget = budget or Budget()
        self._preferred = {s.name: s for s in symbols}
        self._constants = dict(constants or {})
        self._index: dict[str, int] = {}
        # bit that is set when a generator's square arises, and what to put in its place
        self._square_bits = 0
        self._rules: list[tuple[int, Terms]] = []

    def __getitem__(self, name: str) -> "Polynomial":
        return Polynomial(self, {self.field(name): 1})

    def __contains__(self, name: str) -> bool:
        return name in self._index

    def shift(self, name: str) -> int:
        """Where the field of a generator begins in a monomial, in bits."""
        return FIELD * self._index[name]

    def field(self, name: str) -> int:
        """The monomial of one generator."""
        return 1 << self.shift(name)

    def exponents(self, monomial: int) -> Iterator[tuple[Generator, int]]:
        """The generators in a monomial and their exponents."""
        for i, exponent in enumerate(monomial.to_bytes(len(self.generators), "little")):
            if exponent:
                yield self.generators[i], exponent

    def symbol(self, expression: Expr) -> "Polynomial":
        """A generator without a rule; the same expression gives the same generator."""
        name = str(expression)
        if name in self._constants:
            return self.constant(self._constants[name])
        return self._generator(name, self._preferred.get(name, expression))

    def defined(self, name: str, expression: Expr) -> "Polynomial":
        """A generator without a rule that represents an expression."""
        return self._generator(name, expression)

    def angle(self, expression: Expr) -> tuple["Polynomial", "Polynomial"]:
        """Cosine and sine of an angle, with sin² = 1 - cos²."""
        cosine = self._generator(f"cos({expression})", sympy.cos(expression, evaluate=False))
        sine_name = f"sin({expression})"
        if sine_name in self:
            return cosine, self[sine_name]
        sine = self._generator(sine_name, sympy.sin(expression, evaluate=False))
        self._rule(sine_name, {0: 1, 2 * self.field(cosine.name): -1})
        return cosine, sine

    def root(self, n: int) -> "Polynomial":
        """The square root of a prime, with root² = n."""
        name = f"sqrt({n})"
        if name in self:
            return self[name]
        root = self._generator(name, sympy.sqrt(n))
        self._rule(name, {0: n})
        return root

    def constant(self, number: Any) -> "Polynomial":
        """A rational number."""
        numerator, denominator = rational(number)
        return Polynomial(self, {0: numerator} if numerator else {}, denominator)

    def adopted(self, p: "Polynomial") -> "Polynomial | None":
        """A polynomial of another ring that has the same generators, by name; None if one is not here."""
        known = {i: self.field(g.name) for i, g in enumerate(p.ring.generators) if g.name in self}
        terms: Terms = {}
        for count, (monomial, c) in enumerate(p.terms.items()):
            if count % BETWEEN_LOOKS == 0:
                self.budget.look()
            powers = [(i, e) for i, e in enumerate(monomial.to_bytes(len(p.ring.generators), "little")) if e]
            if any(i not in known for i, _ in powers):
                return None
            terms[sum(e * known[i] for i, e in powers)] = c
        return Polynomial(self, terms, p.denominator)

    def _generator(self, name: str, expression: Expr) -> "Polynomial":
        if name not in self._index:
            self._index[name] = len(self.generators)
            self.generators.append(Generator(name, expression))
        return self[name]

    def _rule(self, name: str, square: Terms) -> None:
        bit = 2 * self.field(name)
        self._square_bits |= bit
        self._rules.append((bit, square))

    def reduced(self, monomial: int, coefficient: int) -> list[tuple[int, int]]:
        """A product of two monomials in normal form, squares replaced."""
        terms = [(monomial, coefficient)]
        for bit, square in self._rules:
            if monomial & bit:
                terms = [(m - bit + k, c * v) for m, c in terms for k, v in square.items()]
        return terms

    def product(self, a: Terms, b: Terms) -> Terms:
        """The terms of a product."""
        if len(a) > len(b):
            a, b = b, a
        bits, total, work = self._square_bits, {}, 0
        get = total.get
        for m_a, c_a in a.items():
            for m_b, c_b in b.items():
                m = m_a + m_b
                if m & bits:
                    for m_r, c_r in self.reduced(m, c_a * c_b):
                        total[m_r] = get(m_r, 0) + c_r
                else:
                    total[m] = get(m, 0) + c_a * c_b
            work += len(b)
            if work > BETWEEN_LOOKS:
                self.budget.require(len(total))
                work = 0
        total = {m: c for m, c in total.items() if c}
        self.budget.require(len(total))
        return total


def _without_polynomial(name: str) -> Callable[..., Any]:
    def refused(self: "Polynomial", *others: Any) -> Any:
        raise NotExactError(f"{name} of {self} has no polynomial form")

    refused.__doc__ = f"Refused: {name} has no polynomial form."
    return refused


class Polynomial:
    """An element of a ring; a scalar for the algorithms. Constants are taken in by every operation.

    `terms` has a whole number for each monomial; all are over `denominator`, a positive whole number.
    """

    __slots__ = ("denominator", "ring", "terms")

    def __init__(self, ring: Ring, terms: Terms, denominator: int = 1):
        self.ring, self.terms, self.denominator = ring, terms, denominator
        if denominator > LARGE_DENOMINATOR:
            self._cancel_common_factor()

    def _cancel_common_factor(self) -> None:
        common = math.gcd(self.denominator, *self.terms.values())
        if common > 1:
            self.terms = {m: c // common for m, c in self.terms.items()}
            self.denominator //= common

    @property
    def name(self) -> str:
        """Of a single generator."""
        (monomial,) = self.terms
        ((generator, _),) = self.ring.exponents(monomial)
        return generator.name

    def coefficients(self) -> dict[int, Fraction]:
        """The coefficient of each monomial."""
        return {m: Fraction(c, self.denominator) for m, c in self.terms.items()}

    def _scaled(self, factor: int) -> Terms:
        return self.terms if factor == 1 else {m: c * factor for m, c in self.terms.items()}

    def __add__(self, other: Any) -> "Polynomial":
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, Polynomial):
            other = self.ring.constant(other)
        if not self.terms or not other.terms:
            return self if self.terms else other
        a, b = (self, other) if len(self.terms) >= len(other.terms) else (other, self)
        denominator = a.denominator if a.denominator == b.denominator else math.lcm(a.denominator, b.denominator)
        total = dict(a._scaled(denominator // a.denominator))
        get, factor = total.get, denominator // b.denominator
        for m, c in b.terms.items():
            value = get(m, 0) + c * factor
            if value:
                total[m] = value
            else:
                del total[m]
        if len(total) > BETWEEN_LOOKS:
            self.ring.budget.look()
        return Polynomial(self.ring, total, denominator)

    __radd__ = __add__

    def __neg__(self) -> "Polynomial":
        return Polynomial(self.ring, {m: -c for m, c in self.terms.items()}, self.denominator)

    def __sub__(self, other: Any) -> "Polynomial":
        return NotImplemented if isinstance(other, np.ndarray) else self + (-other)

    def __rsub__(self, other: Any) -> "Polynomial":
        return -self + other

    def __mul__(self, other: Any) -> "Polynomial":
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Polynomial):
            terms = self.ring.product(self.terms, other.terms)
            return Polynomial(self.ring, terms, self.denominator * other.denominator)
        numerator, denominator = rational(other)
        if not numerator:
            return Polynomial(self.ring, {})
        return Polynomial(self.ring, self._scaled(numerator), self.denominator * denominator)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Polynomial":
        if isinstance(other, np.ndarray):
            return NotImplemented
        return self * (1 / (other._number() if isinstance(other, Polynomial) else Fraction(*rational(other))))

    def __rtruediv__(self, other: Any) -> "Polynomial":
        return NotImplemented if isinstance(other, np.ndarray) else self.ring.constant(other) / self

    def _number(self) -> Fraction:
        """The value of a constant."""
        if self.terms.keys() - {0}:
            raise TypeError("polynomials cannot be divided: forward dynamics has no polynomial form")
        if not self.terms:
            raise NotExactError("division by zero has no polynomial form")
        return Fraction(self.terms.get(0, 0), self.denominator)

    def __pow__(self, power: int) -> "Polynomial":
        if power != int(power) or power < 0:
            raise NotExactError(f"{self} to the power of {power} has no polynomial form: expected 0, 1, 2, ...")
        result = self.ring.constant(1)
        for _ in range(int(power)):
            result = result * self
        return result

    # what is called of scalars; NumPy and `modurob.spatial.scalars` look for these
    sin, cos, sqrt, exp, log, tanh, atan2, rint = map(
        _without_polynomial, ("sin", "cos", "sqrt", "exp", "log", "tanh", "atan2", "rint")
    )

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, float) or hasattr(other, "numerator"):
            other = self.ring.constant(other)
        if not isinstance(other, Polynomial) or other.ring is not self.ring:
            return False
        if self.denominator == other.denominator:
            return self.terms == other.terms
        return self._scaled(other.denominator) == other._scaled(self.denominator)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return str(self.expression())

    def derivative(self, rates: Mapping[str, "Polynomial"]) -> "Polynomial":
        """The derivative when the generators move at these rates; the others are constant."""
        total, mask = Polynomial(self.ring, {}), (1 << FIELD) - 1
        for name, rate in rates.items():
            shift, one = self.ring.shift(name), self.ring.field(name)
            partial = {m - one: c * (m >> shift & mask) for m, c in self.terms.items() if m >> shift & mask}
            if partial:
                total = total + Polynomial(self.ring, partial, self.denominator) * rate
        return total

    def expression(self) -> sympy.Expr:
        """As a SymPy expression, term by term."""
        terms = []
        for i, (m, c) in enumerate(self.terms.items()):
            if i % 200 == 0:
                self.ring.budget.look()
            powers = (g.expression**e for g, e in self.ring.exponents(m))
            terms.append(sympy.Mul(sympy.Rational(c, self.denominator), *powers))
        return added(terms, self.ring.budget)


def polynomials(ring: Ring, array: Any) -> Array:
    """An array whose entries are polynomials: plain numbers among them are made such."""
    array = np.asarray(array, dtype=object)
    out = np.empty(array.shape, dtype=object)
    for at in np.ndindex(array.shape):
        out[at] = array[at] if isinstance(array[at], Polynomial) else ring.constant(array[at])
    return out


def added(terms: list[Expr], budget: Budget) -> Expr:
    """The sum of expressions no two of which are alike, as SymPy makes it, but it can be cancelled."""
    if len(terms) < 500:
        return sympy.Add(*terms)
    count = itertools.count(1)

    def compare(a: Any, b: Any) -> int:
        if next(count) % 1000 == 0:
            budget.look()
        return a.compare(b)

    # a number first, then the others in SymPy's order
    numbers = [t for t in terms if t.is_Number]
    others = sorted((t for t in terms if not t.is_Number), key=functools.cmp_to_key(compare))
    return sympy.Add._from_args((*numbers, *others))
