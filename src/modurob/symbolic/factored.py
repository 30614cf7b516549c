"""Polynomials as trees of sums and products with common factors taken out: few operations for code, few symbols for readers."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import islice
from math import gcd
from operator import and_

import sympy

from modurob.symbolic.ring import FIELD, Generator, Polynomial, Ring, Terms

_FULL = (1 << FIELD) - 1
# longer polynomials are only nested: nobody reads them
MOST_READ = 500
# sums of more terms are not searched for factors that are sums, nor nested if that is shorter
MOST_TERMS = 80
# sums of more terms are not split by a cosine or sine that some of them share
MOST_SPLIT = 16
# those with more terms or generators are not given to SymPy, which finds what division by parts does not: (l1 + l2)²
MOST_FOR_SYMPY = 12, 4
# a common fraction is taken out of a sum if whole numbers below this are left
LARGE_NUMBER = 100
# coefficients of waves stay together unless nesting makes the sum so much shorter
MUCH_SHORTER = 0.75


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
    """Products added up; `exponent` is that of the whole."""

    terms: tuple[Product, ...]
    exponent: int = 1

    def times(self, factor: Fraction) -> "Sum":
        """Each term times a number."""
        return self if factor == 1 else Sum(tuple(Product(t.coefficient * factor, t.factors) for t in self.terms))


def is_wave(generator: Generator) -> bool:
    """Whether a generator is a cosine or sine."""
    return generator.name.startswith(("cos(", "sin("))


def horner(p: Polynomial) -> Sum:
    """Common factors out, again and again, the most frequent generator first: few operations."""
    return _Nesting(p.ring).sum(p.terms, Fraction(1, p.denominator))


def arranged(p: Polynomial) -> Sum:
    """As people write it: factors out, also those that are sums; then the coefficients of each cosine and sine, factored too."""
    way = _Arrangement if len(p.terms) <= MOST_READ else _Nesting
    return way(p.ring).sum(p.terms, Fraction(1, p.denominator))


def lowest_terms(above: Polynomial, below: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Numerator and denominator without the factors of the denominator that they share."""
    ring, way = above.ring, _Arrangement(above.ring)
    if not above:
        return above, ring.constant(1)
    n_above, m_above, rest = way._content(above.terms)
    n_below, m_below, divisor = way._content(below.terms)
    number = Fraction(n_above * below.denominator, n_below * above.denominator)
    kept: Terms = {0: 1}
    for factor in way._factors(divisor) if len(divisor) > 1 else []:
        ring.budget.look()
        quotient = _quotient(rest, factor, way._high)
        rest, kept = (rest, ring.product(kept, factor)) if quotient is None else (quotient, kept)
    common = sum(min(e, (m_below >> shift) & _FULL) << shift for e, shift in _fields(m_above))
    top = Polynomial(ring, {m + m_above - common: c * number.numerator for m, c in rest.items()}, 1)
    return top, Polynomial(ring, {m + m_below - common: c * number.denominator for m, c in kept.items()}, 1)


def _fields(monomial: int) -> list[tuple[int, int]]:
    """Exponents that are not zero, with the positions of their fields."""
    size = (monomial.bit_length() + FIELD - 1) // FIELD
    return [(e, FIELD * i) for i, e in enumerate(monomial.to_bytes(size, "little")) if e]


def weight(s: Sum) -> float:
    """How much there is to read: symbols, numbers, and a half for parentheses."""
    return sum(_weight(t) for t in s.terms)


def _weight(p: Product) -> float:
    number = 0 if abs(p.coefficient) == 1 and p.factors else 1
    return number + sum(1 if isinstance(f, Power) else 0.5 + weight(f) for f in p.factors)


class _Nesting:
    """Takes out what is common, then splits by the generator that most terms have."""

    def __init__(self, ring: Ring):
        self.ring = ring
        n = len(ring.generators)
        # the highest bit of every field, and all bits below it
        self._high = int.from_bytes(b"\x80" * n, "little")
        self._below = int.from_bytes(b"\x7f" * n, "little")

    def sum(self, terms: Terms, scale: Fraction) -> Sum:
        """scale times the terms."""
        if not terms:
            return Sum(())
        self.ring.budget.look()
        number, common, rest = self._content(terms)
        coefficient = scale * number
        if len(rest) == 1:
            return Sum((self._product(coefficient, common),))
        inner = self._split(rest)
        if coefficient == 1 and not common:
            return inner
        return Sum((Product(coefficient, (*self._powers(common), inner)),))

    def _split(self, terms: Terms) -> Sum:
        """Terms with the most frequent generator, and the others."""
        index = self._most_frequent(terms)
        if index is None:
            return Sum(tuple(self._product(Fraction(c), m) for m, c in sorted(terms.items())))
        parts = _divided_by_field(terms, index)
        return Sum(tuple(product for part in parts for product in _Nesting.sum(self, part, Fraction(1)).terms))

    def _content(self, terms: Terms) -> tuple[int, int, Terms]:
        """The largest common number and monomial, and what is left; the first term is left positive."""
        number = gcd(*terms.values())
        if terms[min(terms)] < 0:
            number = -number
        common, everywhere = 0, reduce(and_, (self._support(m) for m in terms))
        while everywhere:
            bit = everywhere & -everywhere
            shift = bit.bit_length() - FIELD
            common |= min(m >> shift & _FULL for m in terms) << shift
            everywhere ^= bit
        if number == 1 and not common:
            return 1, 0, terms
        return number, common, {m - common: c // number for m, c in terms.items()}

    def _support(self, monomial: int) -> int:
        """The highest bit of every field that is not zero."""
        return (monomial + self._below) & self._high

    def _most_frequent(self, terms: Terms) -> int | None:
        """The generator in most terms, the first of them, if it is in more than one."""
        counts = [0] * len(self.ring.generators)
        supports = (self._support(m) >> (FIELD - 1) for m in terms)
        # as many as a field can count
        while chunk := list(islice(supports, _FULL)):
            for i, n in enumerate(sum(chunk).to_bytes(len(counts) + 1, "little")[:-1]):
                counts[i] += n
        most = max(counts, default=0)
        return counts.index(most) if most > 1 else None

    def _powers(self, monomial: int) -> tuple[Power, ...]:
        return tuple(Power(g, e) for g, e in self.ring.exponents(monomial))

    def _product(self, coefficient: Fraction, monomial: int) -> Product:
        return Product(coefficient, self._powers(monomial))


def _divided_by_field(terms: Terms, index: int) -> tuple[Terms, Terms]:
    """The terms that have a generator, and those that do not."""
    field = _FULL << (FIELD * index)
    having = {m: c for m, c in terms.items() if m & field}
    return having, {m: c for m, c in terms.items() if not m & field}


class _Arrangement(_Nesting):
    """Nesting for readers."""

    def __init__(self, ring: Ring):
        super().__init__(ring)
        self._waves = sum(_FULL * ring.field(g.name) for g in ring.generators if is_wave(g))

    def sum(self, terms: Terms, scale: Fraction, depth: int = 0) -> Sum:
        if not terms:
            return Sum(())
        self.ring.budget.look()
        number, common, rest = self._content(terms)
        coefficient = scale * number
        if len(rest) == 1:
            return Sum((self._product(coefficient, common),))
        factors = self._factors(rest)
        if len(factors) == 1 and self._squared_cosine(rest) is None:
            return self._multiplied(coefficient, common, rest, depth)
        return Sum((Product(coefficient, (*self._powers(common), *self._collected(factors, depth))),))

    def _multiplied(self, coefficient: Fraction, common: int, terms: Terms, depth: int) -> Sum:
        """A number times a monomial times a sum without factors; the number is multiplied out where it would otherwise
        leave large ones.
        """
        inside = max(abs(c) for c in terms.values()) >= LARGE_NUMBER
        inner = self._inner(terms, coefficient if inside else Fraction(1), depth)
        outside = Fraction(1) if inside else coefficient
        if abs(outside) == 1 and not common:
            return inner.times(outside)
        return Sum((Product(outside, (*self._powers(common), inner)),))

    def _collected(self, factors: list[Terms], depth: int) -> list[Power | Sum]:
        """Factors that are sums, equal ones as a power, in the order of their first monomials; 1 - cos² is sin²."""
        keys = sorted(tuple(sorted(f.items())) for f in factors)
        return [self._power_of_sum(dict(key), keys.count(key), depth) for key in dict.fromkeys(keys)]

    def _power_of_sum(self, terms: Terms, exponent: int, depth: int) -> Power | Sum:
        cosine = self._squared_cosine(terms)
        if cosine is None:
            return Sum(self._inner(terms, Fraction(1), depth).terms, exponent)
        angle = cosine.expression.args[0]
        sine = Generator(f"sin({angle})", sympy.sin(angle, evaluate=False))
        return Power(sine, 2 * exponent)

    def _squared_cosine(self, terms: Terms) -> Generator | None:
        """The cosine of 1 - cos², if that is what the terms are."""
        if len(terms) != 2 or terms.get(0) != 1 or -1 not in terms.values():
            return None
        ((generator, exponent), *others) = self.ring.exponents(max(terms))
        return generator if exponent == 2 and not others and generator.name.startswith("cos(") else None

    def _inner(self, terms: Terms, scale: Fraction, depth: int) -> Sum:
        """A sum without factors: by waves, or by parts that have nothing in common, whichever is shorter; or nested."""
        if depth > 2:
            return self._split(terms).times(scale)
        ways = [way(terms, scale, depth) for way in (self._by_waves, self._by_common_wave, self._by_parts)]
        best = min((way for way in ways if way is not None), key=weight, default=None)
        only_waves = not any(m & ~self._waves for m in terms)
        if best is not None and (only_waves or len(terms) > MOST_TERMS):
            return best
        nested = self._nested(terms, scale, depth)
        return nested if best is None or weight(nested) < MUCH_SHORTER * weight(best) else best

    def _nested(self, terms: Terms, scale: Fraction, depth: int) -> Sum:
        index = self._most_frequent(terms)
        if index is None:
            return self._split(terms).times(scale)
        return self._apart(terms, index, scale, depth)

    def _apart(self, terms: Terms, index: int, scale: Fraction, depth: int) -> Sum:
        having, others = _divided_by_field(terms, index)
        return Sum((*self.sum(having, scale, depth + 1).terms, *self.sum(others, scale, depth + 1).terms))

    # ---- by waves ----

    def _by_waves(self, terms: Terms, scale: Fraction, depth: int) -> Sum | None:
        """The coefficient of each product of cosines and sines; those with the same coefficient share it. None without waves."""
        if not any(m & self._waves for m in terms):
            return None
        groups: dict[int, Terms] = {}
        for m, c in terms.items():
            groups.setdefault(m & self._waves, {})[m & ~self._waves] = c
        shared: dict[tuple, Terms] = {}
        for wave in sorted(groups, key=self._reading_order):
            number, common, rest = self._content(groups[wave])
            shared.setdefault((common, *sorted(rest.items())), {})[wave] = number
        products: list[Product] = []
        for (common, *rest), waves in shared.items():
            coefficient = {m + common: c for m, c in rest}
            if any(coefficient):
                products += self._shared(coefficient, waves, scale, depth)
            else:
                products += (self._product(n * scale, wave) for wave, n in waves.items())
        return Sum(tuple(products))

    def _by_common_wave(self, terms: Terms, scale: Fraction, depth: int) -> Sum | None:
        """The terms with the cosine or sine that most products of such have, and the others. None if no two products share one."""
        if len(terms) > MOST_SPLIT:
            return None
        index = self._most_frequent(dict.fromkeys((m & self._waves for m in terms), 1))
        return None if index is None else self._apart(terms, index, scale, depth)

    def _shared(self, coefficient: Terms, waves: Terms, scale: Fraction, depth: int) -> Iterable[Product]:
        """A coefficient times one wave, or times the sum of several."""
        bracket = self.sum(waves, Fraction(1), depth + 1)
        if len(bracket.terms) > 1:
            bracket = Sum((Product(Fraction(1), (bracket,)),))
        (tail,) = tuple(bracket.terms)
        inner = self.sum(coefficient, scale * tail.coefficient, depth + 1)
        if not tail.factors:
            return inner.terms
        head = inner.terms[0] if len(inner.terms) == 1 else Product(Fraction(1), (inner,))
        return (Product(head.coefficient, (*head.factors, *tail.factors)),)

    def _reading_order(self, wave: int) -> tuple[int, list[tuple[list[int], str]]]:
        """Fewer waves first, then by the joints they turn with: 1, s1, s12, s2, s1 s2."""
        powers = list(self.ring.exponents(wave))
        return sum(e for _, e in powers), sorted(
            ([int(n) for n in re.findall(r"\d+", g.name)], g.name) for g, _ in powers
        )

    # ---- by parts ----

    def _by_parts(self, terms: Terms, scale: Fraction, depth: int) -> Sum | None:
        """Terms that share a generator other than a wave belong together, others are arranged apart. None if all is one."""
        parts: list[tuple[int, Terms]] = []
        for m, c in sorted(terms.items()):
            mine, support = {m: c}, self._support(m & ~self._waves)
            touching = [part for part in parts if part[0] & support]
            parts = [part for part in parts if not part[0] & support]
            for other, its in touching:
                mine, support = its | mine, support | other
            parts.append((support, mine))
        if len(parts) == 1:
            return None
        parts.sort(key=lambda part: (len(part[1]) > 1, min(part[1])))
        return Sum(tuple(product for _, part in parts for product in self.sum(part, scale, depth + 1).terms))

    # ---- factors that are sums ----

    def _factors(self, terms: Terms) -> list[Terms]:
        """Sums whose product this one is; itself if it has no factors, or is long."""
        self.ring.budget.look()
        if len(terms) > MOST_TERMS or len(terms) < 3:
            return [terms]
        for index in self._generators(terms):
            for factor in self._without(terms, index):
                quotient = _quotient(terms, factor, self._high)
                if quotient is not None:
                    return [*self._factors(factor), *self._factors(quotient)]
        return self._by_sympy(terms)

    def _generators(self, terms: Terms) -> list[int]:
        support = reduce(lambda a, b: a | b, (self._support(m) for m in terms))
        return [i for i in range(len(self.ring.generators)) if support >> (FIELD * i) & _FULL]

    def _without(self, terms: Terms, index: int) -> list[Terms]:
        """Factors without a generator divide the coefficients of its powers: those of the shortest coefficient."""
        shift, coefficients = FIELD * index, {}
        for m, c in terms.items():
            exponent = m >> shift & _FULL
            coefficients.setdefault(exponent, {})[m - (exponent << shift)] = c
        if len(coefficients) == 1:
            return []
        shortest = min(coefficients.values(), key=len)
        _, _, rest = self._content(shortest)
        return [f for f in self._factors(rest) if len(f) > 1]

    def _by_sympy(self, terms: Terms) -> list[Terms]:
        """The factors that hold all generators; then none of these is linear."""
        used = self._generators(terms)
        most_terms, most_generators = MOST_FOR_SYMPY
        if len(terms) > most_terms or len(used) > most_generators:
            return [terms]
        if any(all(m >> (FIELD * i) & _FULL < 2 for m in terms) for i in used):
            return [terms]
        ring, *_ = sympy.ring([f"x{i}" for i in used], sympy.ZZ)
        packed = {tuple(m >> (FIELD * i) & _FULL for i in used): c for m, c in terms.items()}
        number, found = ring.from_dict(packed).factor_list()
        if abs(number) != 1 or sum(k for _, k in found) == 1:
            return [terms]
        factors = [
            {sum(e << (FIELD * i) for e, i in zip(exponents, used, strict=True)): int(c) for exponents, c in f.terms()}
            for f, k in found
            for _ in range(k)
        ]
        if number < 0:
            factors[0] = {m: -c for m, c in factors[0].items()}
        return factors


def _quotient(terms: Terms, factor: Terms, high: int) -> Terms | None:
    """The exact quotient, or None if there is a remainder; monomials are ordered as the integers they are."""
    lead = max(factor)
    rest, quotient = dict(terms), {}
    while rest:
        m = max(rest)
        # no field may borrow from the next
        if ((m | high) - lead) & high != high or rest[m] % factor[lead]:
            return None
        shift, number = m - lead, rest[m] // factor[lead]
        quotient[shift] = number
        for m_f, c_f in factor.items():
            left = rest.get(m_f + shift, 0) - number * c_f
            if left:
                rest[m_f + shift] = left
            else:
                rest.pop(m_f + shift, None)
    return quotient
