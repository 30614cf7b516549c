"""Polynomials as people write them: products of angles of one run become sums, cos(q1 + q2)."""

import math
import re
from fractions import Fraction

import sympy

from modurob.symbolic.coordinates import Coordinates
from modurob.symbolic.factored import is_wave
from modurob.symbolic.ring import Expr, Polynomial, Ring

# coordinates of an angle with their whole multiples, and whether it is a sine
Wave = tuple[tuple[tuple[int, int], ...], bool]
_HALF = Fraction(1, 2)


def natural_order(name: str) -> list:
    """l2 before l10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


class Display:
    """Takes polynomials to a ring whose generators are what is printed; nothing is multiplied there."""

    def __init__(self, coordinates: Coordinates):
        self.coordinates = coordinates
        self.ring = Ring()
        self._of_run = _run_generators(coordinates)
        # parameters first, then coordinates and rates, each in the order of their names and numbers
        moving = {s.name for s in (*coordinates.q_symbols, *coordinates.v_symbols, *coordinates.vdot_symbols)}
        plain = [g for g in coordinates.ring.generators if not is_wave(g)]
        for generator in sorted(plain, key=lambda g: (g.name in moving, natural_order(g.name))):
            self._field(generator.name, generator.expression)
        self._waves: dict[int, dict[Wave, Fraction]] = {}
        self._wave_fields: dict[Wave, int] = {((), False): 0}
        self._mask = 0
        for name in self._of_run:
            self._mask |= 0xFF * coordinates.ring.field(name)

    def polynomial(self, p: Polynomial) -> Polynomial:
        """p in the generators that are printed."""
        total: dict[int, Fraction] = {}
        for monomial, c in p.terms.items():
            rest = 0
            for generator, exponent in p.ring.exponents(monomial & ~self._mask):
                rest += exponent * self._field(generator.name, generator.expression)
            for wave, share in self._expanded(monomial & self._mask).items():
                m = rest + self._wave_field(wave)
                total[m] = total.get(m, Fraction(0)) + c * share
        common = math.lcm(*(c.denominator for c in total.values()))
        terms = {m: int(c * common) for m, c in total.items() if c}
        return Polynomial(self.ring, terms, common * p.denominator)

    def _field(self, name: str, expression: Expr) -> int:
        self.ring._generator(name, expression)
        return self.ring.field(name)

    def _wave_field(self, wave: Wave) -> int:
        if wave not in self._wave_fields:
            multiples, is_sine = wave
            angle = sympy.Add(*(times * self.coordinates.q_symbols[i] for i, times in multiples))
            function = sympy.sin if is_sine else sympy.cos
            self._wave_fields[wave] = self._field(f"{function.__name__}({angle})", function(angle, evaluate=False))
        return self._wave_fields[wave]

    def _expanded(self, monomial: int) -> dict[Wave, Fraction]:
        """A product of cosines and sines of runs as a sum of cosines and sines of sums."""
        if monomial not in self._waves:
            waves: dict[Wave, Fraction] = {((), False): Fraction(1)}
            for generator, exponent in self.coordinates.ring.exponents(monomial):
                for _ in range(exponent):
                    waves = _times(waves, self._of_run[generator.name])
            self._waves[monomial] = waves
        return self._waves[monomial]


def _run_generators(coordinates: Coordinates) -> dict[str, Wave]:
    """The cosines and sines whose angle is a sum, or part of one."""
    summed = {k for signs in coordinates.sums.values() if len(signs) > 1 for k in signs}
    found: dict[str, Wave] = {}
    for i, signs in coordinates.sums.items():
        if summed & set(signs):
            cosine, sine = coordinates.pairs[i]
            found[cosine.name], found[sine.name] = (tuple(signs.items()), False), (tuple(signs.items()), True)
    return found


def _times(waves: dict[Wave, Fraction], factor: Wave) -> dict[Wave, Fraction]:
    """Product to sum: 2 cos a cos b = cos(a - b) + cos(a + b), and its three siblings."""
    total: dict[Wave, Fraction] = {}
    b, b_sine = factor
    for (a, a_sine), c in waves.items():
        # the part with a + b and the part with a - b
        for sign in (1, -1):
            weight = c * _HALF * (-1 if b_sine and (sign == 1) == a_sine else 1)
            wave, flipped = _canonical(a, b, sign, a_sine != b_sine)
            if wave is not None:
                total[wave] = total.get(wave, Fraction(0)) + weight * flipped
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
