"""Polynomials as trees of sums and products with common factors taken out."""

import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import gcd, lcm

from modurob.symbolic.ring import FIELD, Generator, Polynomial, Ring, Terms

_FULL = (1 << FIELD) - 1


@dataclass(frozen=True)
class Power:
    """A generator to a whole power."""

    generator: Generator
    exponent: int


@dataclass(frozen=True)
class Product:
    """A fraction times powers and sums."""

    coefficient: Fraction
    factors: tuple["Power | Sum", ...]


@dataclass(frozen=True)
class Sum:
    """Products added up."""

    terms: tuple[Product, ...]


def is_wave(generator: Generator) -> bool:
    """Whether a generator is a cosine or sine."""
    return generator.name.startswith(("cos(", "sin("))


def horner(p: Polynomial) -> Sum:
    """Common factors out, again and again, the most frequent generator first: few operations."""
    return _nested(p.ring, p.coefficients())


def collected(p: Polynomial) -> Sum:
    """Common factor out, then the coefficients of each cosine and sine, themselves factored: as people write it."""
    terms = p.coefficients()
    if not terms:
        return Sum(())
    coefficient, common, rest = _content(p.ring, terms)
    if len(rest) == 1:
        return Sum((_product(p.ring, coefficient * next(iter(rest.values())), common + next(iter(rest))),))
    groups: dict[int, Terms] = {}
    for m, c in rest.items():
        wave = sum(e * p.ring.field(g.name) for g, e in p.ring.exponents(m) if is_wave(g))
        groups.setdefault(wave, {})[m - wave] = c
    order = sorted(groups, key=lambda wave: _reading_order(p.ring, wave))
    inner = Sum(tuple(product for wave in order for product in _group(p.ring, wave, groups[wave])))
    if coefficient == 1 and not common:
        return inner
    return Sum((Product(coefficient, (*_powers(p.ring, common), inner)),))


def _reading_order(ring: Ring, wave: int) -> tuple[int, list[tuple[list[int], str]]]:
    """Fewer waves first, then by the joints they turn with: 1, s1, s12, s2, s1 s2."""
    waves = [([int(n) for n in re.findall(r"\d+", g.name)], g.name) for g, _ in ring.exponents(wave)]
    return sum(e for _, e in ring.exponents(wave)), sorted(waves)


def _group(ring: Ring, wave: int, terms: Terms) -> tuple[Product, ...]:
    """wave times its coefficient."""
    nested = _nested(ring, terms)
    if not wave:
        return nested.terms
    if len(nested.terms) == 1:
        only = nested.terms[0]
        return (Product(only.coefficient, (*only.factors, *_powers(ring, wave))),)
    return (Product(Fraction(1), (nested, *_powers(ring, wave))),)


def _nested(ring: Ring, terms: Terms) -> Sum:
    if not terms:
        return Sum(())
    coefficient, common, rest = _content(ring, terms)
    if len(rest) == 1:
        ((m, c),) = rest.items()
        return Sum((_product(ring, coefficient * c, common + m),))
    index = _most_frequent(rest)
    if index is None:
        inner = Sum(tuple(_product(ring, c, m) for m, c in sorted(rest.items())))
    else:
        field = _FULL << (FIELD * index)
        having = {m: c for m, c in rest.items() if m & field}
        others = {m: c for m, c in rest.items() if not m & field}
        inner = Sum((*_nested(ring, having).terms, *_nested(ring, others).terms))
    if coefficient == 1 and not common:
        return inner
    return Sum((Product(coefficient, (*_powers(ring, common), inner)),))


def _content(ring: Ring, terms: Terms) -> tuple[Fraction, int, Terms]:
    """The largest common fraction, the common monomial, and what is left; the first term is left positive."""
    numerator = reduce(gcd, (abs(c.numerator) for c in terms.values()))
    denominator = reduce(lcm, (c.denominator for c in terms.values()))
    coefficient = Fraction(numerator, denominator)
    if terms[min(terms)] < 0:
        coefficient = -coefficient
    common, i, alive = 0, 0, reduce(lambda a, b: a | b, terms)
    while alive >> (FIELD * i):
        common |= min((m >> (FIELD * i)) & _FULL for m in terms) << (FIELD * i)
        i += 1
    return coefficient, common, {m - common: c / coefficient for m, c in terms.items()}


def _most_frequent(terms: Terms) -> int | None:
    """The generator in most terms, if it is in more than one."""
    count: Counter[int] = Counter()
    for m in terms:
        i = 0
        while m:
            if m & _FULL:
                count[i] += 1
            m >>= FIELD
            i += 1
    if not count:
        return None
    index, most = min(count.items(), key=lambda item: (-item[1], item[0]))
    return index if most > 1 else None


def _powers(ring: Ring, monomial: int) -> tuple[Power, ...]:
    return tuple(Power(g, e) for g, e in ring.exponents(monomial))


def _product(ring: Ring, coefficient: Fraction, monomial: int) -> Product:
    return Product(coefficient, _powers(ring, monomial))
