"""Floats as the exact numbers they stand for."""

from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from modurob.errors import NotExactError
from modurob.symbolic.numbers import exact, from_expression, simplest_fraction
from modurob.symbolic.ring import Ring


@given(st.fractions(-1000, 1000, max_denominator=20_000))
def test_fractions_come_back_from_floats(fraction):
    assert simplest_fraction(float(fraction)) == fraction


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (0.105, "21/200"),
        (0.1 + 0.2, "3/10"),
        (-0.5, "-1/2"),
        (np.sqrt(2) / 2, "sqrt(2)/2"),
        (-np.sqrt(3) / 2, "-sqrt(3)/2"),
        (np.cos(np.pi / 2) + 0.5, "1/2"),
        (np.sqrt(12.0), "2*sqrt(3)"),
    ],
)
def test_numbers_are_recognised(x, expected):
    assert exact(Ring(), x, "x", None).expression() == sympy.sympify(expected)


def test_the_scale_of_a_difference_is_allowed_for():
    x = (1000.1 - 1000.0) - 0.1
    assert simplest_fraction(x, 1000.0) == 0
    assert simplest_fraction(0.1 + x, 1000.0) == Fraction(1, 10)


def test_other_numbers_are_refused_or_rounded_when_asked():
    with pytest.raises(NotExactError, match=r"placement of joint 3 is 0\.955.*equations\(digits="):
        exact(Ring(), np.cos(0.3), "placement of joint 3", None)
    assert exact(Ring(), np.cos(0.3), "x", 4).expression() == sympy.Rational(9553, 10000)


def test_expressions_must_be_polynomial():
    ring = Ring()
    m, l = sympy.symbols("m l")
    assert from_expression(ring, m * (l + 1) ** 2 / 2).expression().expand() == (m * (l + 1) ** 2 / 2).expand()
    assert from_expression(ring, 1 / sympy.sqrt(2)).expression() == 1 / sympy.sqrt(2)
    assert (
        from_expression(ring, sympy.Rational(3, 2) ** sympy.Rational(-3, 2))
        .expression()
        .equals((3 / sympy.S(2)) ** sympy.Rational(-3, 2))
    )
    for bad in (1 / l, sympy.exp(m), sympy.sqrt(m), sympy.cos(m)):
        with pytest.raises(NotExactError, match="not a polynomial"):
            from_expression(ring, bad)
