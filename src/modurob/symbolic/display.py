"""Polynomials as people write them: products of angles of one run become sums, cos(q1 + q2)."""

import re
from typing import NamedTuple

import sympy

from modurob.symbolic.coordinates import Coordinates
from modurob.symbolic.factored import is_wave
from modurob.symbolic.ring import Expr, Polynomial, Ring, Terms

# coordinates of an angle with their whole multiples, and whether it is a sine
Wave = tuple[tuple[tuple[int, int], ...], bool]
# terms between two looks at the budget
BETWEEN_LOOKS = 1000


def natural_order(name: str) -> list:
    """l2 before l10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


class Expanded(NamedTuple):
    """A product of cosines and sines as a sum: whole numbers over 2^halvings, by monomial or by wave."""

    terms: dict
    halvings: int


class Display:
    """Takes polynomials to a ring whose generators are what is printed; nothing is multiplied there."""

    def __init__(self, coordinates: Coordinates):
        self.coordinates = coordinates
        self.ring = Ring(coordinates.ring.budget)
        self._of_run = _run_generators(coordinates)
        # parameters first, then coordinates and rates, each in the order of their names and numbers
        moving = {s.name for s in (*coordinates.q_symbols, *coordinates.v_symbols, *coordinates.vdot_symbols)}
        plain = [g for g in coordinates.ring.generators if not is_wave(g)]
        for generator in sorted(plain, key=lambda g: (g.name in moving, natural_order(g.name))):
            self._field(generator.name, generator.expression)
        self._expansions: dict[int, Expanded] = {}
        self._others: dict[int, int] = {}
        self._mask = sum(0xFF * coordinates.ring.field(name) for name in self._of_run)

    def polynomial(self, p: Polynomial) -> Polynomial:
        """p in the generators that are printed."""
        total: Terms = {}
        most = max((self._expanded(m & self._mask).halvings for m in p.terms), default=0)
        for i, (monomial, c) in enumerate(p.terms.items()):
            if i % BETWEEN_LOOKS == 0:
                self.ring.budget.look()
            other, waves = self._other(monomial & ~self._mask), self._expanded(monomial & self._mask)
            for wave, n in waves.terms.items():
                total[other + wave] = total.get(other + wave, 0) + (c * n << most - waves.halvings)
        return Polynomial(self.ring, {m: c for m, c in total.items() if c}, p.denominator << most)

    def _field(self, name: str, expression: Expr) -> int:
        self.ring._generator(name, expression)
        return self.ring.field(name)

    def _other(self, monomial: int) -> int:
        """What is no angle of a run, in the ring that is printed."""
        if monomial not in self._others:
            powers = self.coordinates.ring.exponents(monomial)
            self._others[monomial] = sum(e * self._field(g.name, g.expression) for g, e in powers)
        return self._others[monomial]

    def _wave_field(self, wave: Wave) -> int:
        multiples, is_sine = wave
        if not multiples:
            return 0
        angle = sympy.Add(*(times * self.coordinates.q_symbols[i] for i, times in multiples))
        function = sympy.sin if is_sine else sympy.cos
        return self._field(f"{function.__name__}({angle})", function(angle, evaluate=False))

    def _expanded(self, monomial: int) -> Expanded:
        """A product of cosines and sines of runs as a sum of cosines and sines of sums."""
        if monomial not in self._expansions:
            waves, halvings = {((), False): 1}, 0
            for generator, exponent in self.coordinates.ring.exponents(monomial):
                for _ in range(exponent):
                    waves, halvings = _times(waves, self._of_run[generator.name]), halvings + 1
            terms = {self._wave_field(wave): n for wave, n in waves.items()}
            self._expansions[monomial] = Expanded(terms, halvings)
        return self._expansions[monomial]


def _run_generators(coordinates: Coordinates) -> dict[str, Wave]:
    """The cosines and sines whose angle is a sum, or part of one."""
    summed = {k for signs in coordinates.sums.values() if len(signs) > 1 for k in signs}
    found: dict[str, Wave] = {}
    for i, signs in coordinates.sums.items():
        if summed & set(signs):
            cosine, sine = coordinates.pairs[i]
            found[cosine.name], found[sine.name] = (tuple(signs.items()), False), (tuple(signs.items()), True)
    return found


def _times(waves: dict[Wave, int], factor: Wave) -> dict[Wave, int]:
    """Twice the product as a sum: 2 cos a cos b = cos(a - b) + cos(a + b), and its three siblings."""
    total: dict[Wave, int] = {}
    b, b_sine = factor
    for (a, a_sine), c in waves.items():
        # the part with a + b and the part with a - b
        for sign in (1, -1):
            weight = c * (-1 if b_sine and (sign == 1) == a_sine else 1)
            wave, flipped = _canonical(a, b, sign, a_sine != b_sine)
            if wave is not None:
                total[wave] = total.get(wave, 0) + weight * flipped
    return {w: c for w, c in total.items() if c}


def _canonical(a: tuple, b: tuple, sign: int, is_sine: bool) -> tuple[Wave | None, int]:
    """The wave of a + sign b with its first multiple positive, and the sign that takes; None for sin(0)."""
    multiples = dict(a)
    for i, times in b:
        multiples[i] = multiples.get(i, 0) + sign * times
    items = tuple(sorted((i, t) for i, t in multiples.items() if t))
    if not items:
        return (None if is_sine else ((), False)), 1
    if items[0][1] < 0:
        return (tuple((i, -t) for i, t in items), is_sine), -1 if is_sine else 1
    return (items, is_sine), 1
