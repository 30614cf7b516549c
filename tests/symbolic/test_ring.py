"""The normal form: unique, and faithful to SymPy."""

import threading

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from modurob.errors import CancelledError, NotExactError, TooLargeError
from modurob.spatial.scalars import tanh
from modurob.symbolic.ring import Budget, Polynomial, Ring

x, a, b = sympy.symbols("x a b")


def ring_with_generators() -> tuple[Ring, list[Polynomial]]:
    ring = Ring()
    return ring, [ring.symbol(x), *ring.angle(a), *ring.angle(b), ring.root(2)]


terms = st.lists(
    st.tuples(st.fractions(-3, 3, max_denominator=6), st.lists(st.integers(0, 5), max_size=4)), min_size=1, max_size=4
)


def polynomial(ring, generators, recipe):
    total = ring.constant(0)
    for coefficient, factors in recipe:
        product = ring.constant(sympy.QQ(coefficient.numerator, coefficient.denominator))
        for i in factors:
            product = product * generators[i]
        total = total + product
    return total


@given(terms, terms)
def test_sums_and_products_are_those_of_sympy(first, second):
    ring, generators = ring_with_generators()
    p, q = polynomial(ring, generators, first), polynomial(ring, generators, second)
    point = {x: 0.7, a: 1.3, b: -0.4}

    def value(p):
        return float(p.expression().subs(point))

    assert value(p + q) == pytest.approx(value(p) + value(q), abs=1e-9)
    assert value(p * q) == pytest.approx(value(p) * value(q), rel=1e-9, abs=1e-9)
    assert value(p - q) == pytest.approx(value(p) - value(q), abs=1e-9)


@given(terms, terms, terms)
def test_the_form_does_not_depend_on_the_way(first, second, third):
    ring, generators = ring_with_generators()
    p, q, r = (polynomial(ring, generators, recipe) for recipe in (first, second, third))
    assert p * q == q * p
    assert (p * q) * r == p * (q * r)
    assert p * (q + r) == p * q + p * r
    assert p - p == 0
    assert (p + q) ** 2 == p * p + 2 * p * q + q * q


def test_squares_follow_their_rules():
    ring = Ring()
    c, s = ring.angle(a)
    assert c * c + s * s == 1
    assert s**4 == (1 - c * c) ** 2
    assert ring.root(3) ** 2 == 3
    assert (c + s) ** 2 == 1 + 2 * c * s
    assert c != s


@given(terms)
def test_derivatives_are_those_of_sympy(recipe):
    ring, generators = ring_with_generators()
    p = polynomial(ring, generators, recipe)
    c, s = ring.angle(a)
    found = p.derivative({"cos(a)": -s, "sin(a)": c}).expression()
    point = {x: 0.7, a: 1.3, b: -0.4}
    assert float(found.subs(point)) == pytest.approx(float(p.expression().diff(a).subs(point)), abs=1e-9)


def test_polynomials_are_scalars_for_numpy():
    ring = Ring()
    c, s = ring.angle(a)
    R = np.array([[c, -s], [s, c]])
    assert (np.eye(2) == R @ R.T).all()
    assert all(p == 0 for p in (c * np.array([s, 1.0]) - np.array([s * c, c])))


def test_polynomials_do_not_divide_polynomials():
    ring = Ring()
    c, s = ring.angle(a)
    assert c / 2 + c / 2 == c
    with pytest.raises(TypeError, match="cannot be divided"):
        c / s


def test_budgets_stop_a_product():
    ring = Ring(Budget(terms=10))
    total = sum((ring.symbol(sympy.Symbol(f"y{i}")) for i in range(8)), start=ring.constant(1))
    with pytest.raises(TooLargeError, match="past 10 terms"):
        total * total
    ring = Ring(Budget(seconds=0.0))
    with pytest.raises(CancelledError, match="after 0 s"):
        ring.symbol(x) * ring.symbol(x)
    stop = threading.Event()
    ring = Ring(Budget(cancelled=stop.is_set))
    assert ring.symbol(x) * ring.symbol(x) == ring.symbol(x) ** 2
    stop.set()
    with pytest.raises(CancelledError, match="cancelled"):
        ring.symbol(x) * ring.symbol(x)


def test_powers_and_quotients_that_are_no_polynomials_are_refused():
    ring = Ring()
    y, half = ring.symbol(x), ring.constant(0.5)
    assert y / half == 2 * y
    assert 3 / half == ring.constant(6)
    with pytest.raises(TypeError, match="polynomials cannot be divided"):
        1 / y
    with pytest.raises(NotExactError, match="division by zero"):
        y / ring.constant(0)
    for power in (-1, 0.5):
        with pytest.raises(NotExactError, match=f"x to the power of {power} has no polynomial form"):
            y**power
    with pytest.raises(NotExactError, match="tanh of x has no polynomial form"):
        tanh(np.array([y]))
