"""Polynomials in normal form: over the rationals, in symbols, roots, and cosines and sines of angles.

A monomial is one integer: each generator has a field of bits for its exponent, so monomials multiply by adding. Some generators
have a rule for their square (sin² = 1 - cos², sqrt(2)² = 2), which is applied whenever a square arises. Two polynomials of
a ring are equal exactly if their dictionaries are.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy

from modurob.errors import CancelledError, TooLargeError

FIELD = 8  # bits of an exponent; the largest that occurs is far below 2**7
_ONE = sympy.QQ(1)
Terms = dict[int, Any]
# SymPy's, whose types say too little to check
Expr = Any
Matrix = Any


def rational(number: Any) -> Any:
    """A number as an exact fraction; floats stand for themselves, so only those that algorithms write (0, 1, 1/2) should come."""
    if isinstance(number, float):
        return sympy.QQ(*number.as_integer_ratio())
    return sympy.QQ.convert(number)


@dataclass(frozen=True)
class Generator:
    """What a field of the monomials stands for."""

    name: str
    expression: Expr  # in the angles and symbols that users see


@dataclass
class Budget:
    """What a computation may use, asked for at every product."""

    seconds: float | None = None
    terms: int | None = None
    cancelled: Callable[[], bool] = lambda: False
    started: float = field(default_factory=time.monotonic)

    def require(self, terms: int) -> None:
        """An error if the time is up, a polynomial is too large, or somebody cancelled."""
        if self.terms is not None and terms > self.terms:
            raise TooLargeError(
                f"an entry grew past {self.terms} terms: give numbers for parameters, or use the numeric model"
            )
        if self.seconds is not None and time.monotonic() - self.started > self.seconds:
            raise CancelledError(f"stopped after {self.seconds:g} s, as asked")
        if self.cancelled():
            raise CancelledError("cancelled")


class Ring:
    """The generators, their rules, and the budget of computations with them."""

    def __init__(self, budget: Budget | None = None):
        self.generators: list[Generator] = []
        self.budget = budget or Budget()
        self._index: dict[str, int] = {}
        # bit that is set when a generator's square arises, and what to put in its place
        self._square_bits = 0
        self._rules: list[tuple[int, Terms]] = []

    def __getitem__(self, name: str) -> "Polynomial":
        return Polynomial(self, {self.field(name): _ONE})

    def __contains__(self, name: str) -> bool:
        return name in self._index

    def field(self, name: str) -> int:
        """The monomial of one generator."""
        return 1 << (FIELD * self._index[name])

    def exponent(self, monomial: int, name: str) -> int:
        """The exponent of a generator in a monomial."""
        return (monomial >> (FIELD * self._index[name])) & ((1 << FIELD) - 1)

    def exponents(self, monomial: int) -> Iterator[tuple[Generator, int]]:
        """The generators in a monomial and their exponents."""
        i = 0
        while monomial:
            exponent = monomial & ((1 << FIELD) - 1)
            if exponent:
                yield self.generators[i], exponent
            monomial >>= FIELD
            i += 1

    def symbol(self, expression: Expr) -> "Polynomial":
        """A generator without a rule; the same expression gives the same generator."""
        return self._generator(str(expression), expression)

    def angle(self, expression: Expr) -> tuple["Polynomial", "Polynomial"]:
        """Cosine and sine of an angle, with sin² = 1 - cos²."""
        cosine = self._generator(f"cos({expression})", sympy.cos(expression, evaluate=False))
        sine_name = f"sin({expression})"
        if sine_name in self:
            return cosine, self[sine_name]
        sine = self._generator(sine_name, sympy.sin(expression, evaluate=False))
        self._rule(sine_name, {0: _ONE, 2 * self.field(cosine.name): -_ONE})
        return cosine, sine

    def root(self, n: int) -> "Polynomial":
        """The square root of a prime, with root² = n."""
        name = f"sqrt({n})"
        if name in self:
            return self[name]
        root = self._generator(name, sympy.sqrt(n))
        self._rule(name, {0: sympy.QQ(n)})
        return root

    def constant(self, number: Any) -> "Polynomial":
        """A rational number."""
        value = rational(number)
        return Polynomial(self, {0: value} if value else {})

    def _generator(self, name: str, expression: Expr) -> "Polynomial":
        if name not in self._index:
            self._index[name] = len(self.generators)
            self.generators.append(Generator(name, expression))
        return self[name]

    def _rule(self, name: str, square: Terms) -> None:
        bit = 2 * self.field(name)
        self._square_bits |= bit
        self._rules.append((bit, square))

    def reduced(self, monomial: int, coefficient: Any) -> list[tuple[int, Any]]:
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
        bits, total = self._square_bits, {}
        get = total.get
        for m_a, c_a in a.items():
            for m_b, c_b in b.items():
                m, c = m_a + m_b, c_a * c_b
                if m & bits:
                    for m_r, c_r in self.reduced(m, c):
                        total[m_r] = get(m_r, 0) + c_r
                else:
                    total[m] = get(m, 0) + c
        total = {m: c for m, c in total.items() if c}
        self.budget.require(len(total))
        return total


class Polynomial:
    """An element of a ring; a scalar for the algorithms. Constants are taken in by every operation."""

    __slots__ = ("ring", "terms")

    def __init__(self, ring: Ring, terms: Terms):
        self.ring, self.terms = ring, terms

    @property
    def name(self) -> str:
        """Of a single generator."""
        (monomial,) = self.terms
        ((generator, _),) = self.ring.exponents(monomial)
        return generator.name

    def _terms(self, other: Any) -> Terms:
        if isinstance(other, Polynomial):
            return other.terms
        return {0: rational(other)} if other else {}

    def __add__(self, other: Any) -> "Polynomial":
        if isinstance(other, np.ndarray):
            return NotImplemented
        a, b = self.terms, self._terms(other)
        if len(a) < len(b):
            a, b = b, a
        if not b:
            return Polynomial(self.ring, a)
        total = dict(a)
        for m, c in b.items():
            value = total.get(m, 0) + c
            if value:
                total[m] = value
            else:
                del total[m]
        return Polynomial(self.ring, total)

    __radd__ = __add__

    def __neg__(self) -> "Polynomial":
        return Polynomial(self.ring, {m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Any) -> "Polynomial":
        return NotImplemented if isinstance(other, np.ndarray) else self + (-other)

    def __rsub__(self, other: Any) -> "Polynomial":
        return -self + other

    def __mul__(self, other: Any) -> "Polynomial":
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Polynomial):
            return Polynomial(self.ring, self.ring.product(self.terms, other.terms))
        if not other:
            return Polynomial(self.ring, {})
        factor = rational(other)
        return Polynomial(self.ring, {m: c * factor for m, c in self.terms.items()})

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Polynomial":
        if isinstance(other, Polynomial):
            raise TypeError("polynomials cannot be divided: forward dynamics has no polynomial form")
        return self * (1 / rational(other))

    def __pow__(self, power: int) -> "Polynomial":
        result = self.ring.constant(1)
        for _ in range(power):
            result = result * self
        return result

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Polynomial) and other.ring is not self.ring:
            return False
        return self.terms == self._terms(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return str(self.expression())

    def derivative(self, rates: Mapping[str, "Polynomial"]) -> "Polynomial":
        """The derivative by what moves the generators at these rates; the others stand still."""
        total = Polynomial(self.ring, {})
        for name, rate in rates.items():
            field_ = self.ring.field(name)
            partial = {}
            for m, c in self.terms.items():
                exponent = self.ring.exponent(m, name)
                if exponent:
                    partial[m - field_] = c * exponent
            if partial:
                total = total + Polynomial(self.ring, partial) * rate
        return total

    def expression(self) -> sympy.Expr:
        """As a SymPy expression, term by term."""
        return sympy.Add(
            *(
                sympy.Mul(_number(c), *(g.expression**e for g, e in self.ring.exponents(m)))
                for m, c in self.terms.items()
            )
        )


def _number(value: Any) -> Expr:
    return sympy.Rational(int(value.numerator), int(value.denominator))
