"""Factoring and reduced fractions of polynomials."""

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from modurob.symbolic.factored import MOST_READ, Sum, arranged, horner, lowest_terms, weight
from modurob.symbolic.numbers import from_expression
from modurob.symbolic.printing import TextPrinter, factored_expression, ratio, text_name
from modurob.symbolic.ring import Ring

a, b, c, d, x = sympy.symbols("a b c d x")


def ring_with_waves():
    ring = Ring()
    for symbol in (a, b, c, d):
        ring.symbol(symbol)
    ring.angle(x)
    return ring


def polynomial(ring, expression):
    return from_expression(ring, sympy.sympify(expression), lambda angle: ring.angle(angle))


def written(expression):
    return TextPrinter(text_name).polynomial(polynomial(ring_with_waves(), expression))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ((a + b) * (c + d), "(a + b)*(c + d)"),
        ((a + b) * (c + d) * 6 * a, "6*a*(a + b)*(c + d)"),
        ((a + b + c) * (a - d), "(a + b + c)*(a - d)"),
        ((a + 2 * b) ** 2, "(a + 2*b)**2"),
        ((a + b) ** 3, "(a + b)**3"),
        (a + b * (c + d), "a + b*(c + d)"),
        (a / 1000 + b * c / 3, "a/1000 + b*c/3"),
        (a / 2 + b / 3, "(3*a + 2*b)/6"),
        (a * (1 - sympy.cos(x) ** 2), "a*sin(x)**2"),
        (a * sympy.cos(x) ** 2 + b * sympy.sin(x) ** 2, "a*cos(x)**2 + b*sin(x)**2"),
        (-a - b, "-a - b"),
        (sympy.Integer(0), "0"),
        (sympy.Rational(-3, 7), "-3/7"),
    ],
)
def test_factors_are_found(expression, text):
    assert written(expression) == text


recipes = st.lists(
    st.tuples(st.integers(-4, 4), st.lists(st.sampled_from("abcdx"), max_size=3)), min_size=1, max_size=5
)


def built(ring, recipe):
    """A polynomial in a, b, c, d and cos(x)."""
    total = ring.constant(0)
    for number, letters in recipe:
        term = ring.constant(number)
        for letter in letters:
            term = term * (ring.angle(x)[0] if letter == "x" else ring[letter])
        total = total + term
    return total


@given(recipes, recipes)
@settings(deadline=None, max_examples=60)
def test_arranging_loses_nothing(first, second):
    """Products of two sums, arranged and nested, expand to themselves."""
    ring = ring_with_waves()
    p = built(ring, first) * built(ring, second) / 6
    for tree in (arranged(p), horner(p)):
        assert (
            sympy.expand(factored_expression(tree) - p.expression(), trig=False)
            .subs(sympy.sin(x) ** 2, 1 - sympy.cos(x) ** 2)
            .expand()
            == 0
        )


@given(recipes, recipes, recipes)
@settings(deadline=None, max_examples=60)
def test_fractions_are_reduced(first, second, common):
    ring = ring_with_waves()
    p, q, r = (built(ring, recipe) for recipe in (first, second, common))
    if not q * r:
        return
    above, below = lowest_terms(p * r, q * r)
    assert above * q * r == below * p * r
    assert len(below.terms) <= len((q * r).terms)
    value = ratio(p * r, q * r)
    point = {a: 0.7, b: -1.3, c: 2.1, d: 0.4, x: 0.3}
    bottom = float(q.expression().subs(point))
    if abs(bottom) > 1e-6 and abs(float(r.expression().subs(point))) > 1e-6:
        assert float(value.subs(point)) == pytest.approx(float(p.expression().subs(point)) / bottom, rel=1e-6, abs=1e-9)


def test_a_common_factor_that_is_a_sum_cancels():
    ring = ring_with_waves()
    p, q = polynomial(ring, (a + b) * (c + d) * 6), polynomial(ring, (a + b) * (a + c) * 4 * d)
    assert ratio(p, q) == 3 * (c + d) / (2 * d * (a + c))
    assert ratio(ring.constant(0), q) == 0


def test_long_polynomials_are_nested():
    ring = Ring()
    letters = [ring.symbol(sympy.Symbol(f"y{i}")) for i in range(40)]
    p = sum(letters[1:], start=letters[0]) ** 2
    assert len(p.terms) > MOST_READ
    tree = arranged(p)
    assert isinstance(tree, Sum)
    assert weight(tree) < sum(1 + len(list(ring.exponents(m))) for m in p.terms)
    assert np.isfinite(weight(tree))
