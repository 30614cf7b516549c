"""Floats as the exact numbers they stand for."""

from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import example, given
from hypothesis import strategies as st

from modurob.errors import NotExactError
from modurob.symbolic.numbers import direction, exact, from_expression, recognised, simplest_fraction
from modurob.symbolic.ring import Ring
from tests.sampling import sampled

# decimals as people and files write them
decimals = st.builds(lambda n, k: Fraction(n, 10**k), st.integers(-99_999, 99_999), st.integers(0, 6))


@given(st.fractions(-1000, 1000, max_denominator=20_000))
def test_fractions_come_back_from_floats(fraction):
    assert simplest_fraction(float(fraction)) == fraction


@given(st.integers(-(10**10), 10**10), st.integers(0, 10))
def test_decimals_come_back_from_floats(n, k):
    assert simplest_fraction(float(f"{n}e-{k}")) == Fraction(n, 10**k)


@given(decimals, decimals)
def test_products_of_short_decimals_come_back(a, b):
    assert simplest_fraction(float(a) * float(b)) == a * b


@example(1, 4906, 1, 3)  # which a fraction with a smaller denominator meets by accident
@given(st.integers(1, 9999), st.integers(1, 9999), st.integers(1, 999), st.sampled_from([2, 3, 6, 12]))
def test_moments_of_boxes_come_back(a, b, mass, divisor):
    """m (a² + b²)/12 and the like, with edges in tenths of a millimetre and masses in grams."""
    a, b, mass = Fraction(a, 10**4), Fraction(b, 10**4), Fraction(mass, 10**3)
    x = float(mass) * (float(a) * float(a) + float(b) * float(b)) / divisor
    assert simplest_fraction(x) == mass * (a * a + b * b) / divisor


@pytest.mark.parametrize("edge", ["0.105", "0.1235", "0.0525", "0.06", "0.05"])
def test_moments_of_a_cube_are_recovered(edge):
    """Products of decimals from a file, as 0.105 * 0.105 / 6."""
    assert simplest_fraction(float(edge) * float(edge) / 6) == Fraction(edge) ** 2 / 6


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (0.105, "21/200"),
        (0.1 + 0.2, "3/10"),
        (-0.5, "-1/2"),
        (np.sqrt(2) / 2, "sqrt(2)/2"),
        (-np.sqrt(3) / 2, "-sqrt(3)/2"),
        (0.0123 * np.sqrt(3) / 4, "123*sqrt(3)/40000"),
        (np.cos(np.pi / 2) + 0.5, "1/2"),
        (np.sqrt(12.0), "2*sqrt(3)"),
        (np.sqrt(5.0), "sqrt(5)"),
    ],
)
def test_numbers_are_recognised(x, expected):
    assert exact(Ring(), x, "x", None).expression() == sympy.sympify(expected)


def test_what_rounding_kept_from_zero_is_zero_at_its_scale_only():
    """A turn by a quarter leaves 6e-17; a moment of inertia of 6e-17 kg m² is one."""
    assert exact(Ring(), np.cos(np.pi / 2), "x", scale=1.0) == 0
    assert exact(Ring(), 6e-17, "x").expression() == sympy.Rational(6, 10**17)


def test_the_scale_of_a_difference_is_allowed_for():
    x = (1000.1 - 1000.0) - 0.1
    assert simplest_fraction(x, 1000.0) == 0
    assert simplest_fraction(0.1 + x, 1000.0) == Fraction(1, 10)


@pytest.mark.parametrize("many", sampled((400, 1000), 1))
def test_numbers_are_not_recognised_by_accident(many):
    """Of a hundred random floats one may pass for a short number, not more."""
    rng = np.random.default_rng(0)
    assert sum(recognised(Ring(), x) is not None for x in rng.normal(size=many)) < many / 100


def test_other_numbers_are_refused_or_rounded_when_asked():
    with pytest.raises(NotExactError, match=r"placement of joint 3 is 0\.955.*equations\(digits="):
        exact(Ring(), np.cos(0.3), "placement of joint 3", None)
    assert exact(Ring(), np.cos(0.3), "x", 4).expression() == sympy.Rational(9553, 10000)
    # what is exact is not rounded
    assert exact(Ring(), 0.123456, "x", 2).expression() == sympy.Rational(123456, 10**6)


@pytest.mark.parametrize("axis", [(1, 1, 0), (-1, 2, 3), (0.12, -0.34, 0.56), (0, 0.3, -0.4), (0.1234, 0.4321, -0.9)])
def test_directions_of_decimals_are_exact_and_of_length_one(axis):
    ring, a = Ring(), np.array(axis) / np.linalg.norm(axis)
    found = direction(ring, a)
    assert sum(x * x for x in found) == 1
    np.testing.assert_allclose([float(x.expression()) for x in found], a, rtol=1e-14)
    assert direction(ring, np.array([np.cos(1.0), np.sin(1.0), 0])) is None


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
