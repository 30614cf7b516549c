from collections.abc import Callable

import mpmath
import numpy as np
import pytest
import sympy

from modurob.spatial import scalars

# a dozen roundings of the last bit
CLOSE = 1e-14
# the same after one derivative, which cancels one digit more
CLOSE_SLOPE = 1e-13

EXACT: dict[str, Callable] = {
    "sinc": lambda a: mpmath.sin(a) / a,
    "versinc": lambda a: (1 - mpmath.cos(a)) / a**2,
    "sinc_defect": lambda a: (a - mpmath.sin(a)) / a**3,
    "cot_defect": lambda a: (1 - a / 2 * mpmath.cot(a / 2)) / a**2,
}
LIMITS = {"sinc": 1.0, "versinc": 1 / 2, "sinc_defect": 1 / 6, "cot_defect": 1 / 12}
# the zeros of sinc, where no relative accuracy is available, are left out
ANGLES = np.concatenate([[1e-12, 1e-7, 1e-3], np.linspace(0.01, 3.0, 300), [0.0999, 0.1001, 0.999, 1.001]])


def exact(name: str, t: float) -> mpmath.mpf:
    """The function of t = a² with all the digits that the terms cancel."""
    return EXACT[name](mpmath.sqrt(mpmath.mpf(t)))


def worst(found: np.ndarray, expected: list[mpmath.mpf]) -> float:
    """Largest relative error."""
    return np.max([float(abs((mpmath.mpf(float(f)) - e) / e)) for f, e in zip(found, expected, strict=True)])


@pytest.mark.parametrize("name", EXACT)
def test_even_functions_have_all_digits(name: str):
    t = ANGLES**2
    with mpmath.workdps(50):
        assert worst(getattr(scalars, name)(t), [exact(name, x) for x in t]) < CLOSE


@pytest.mark.parametrize("name", EXACT)
def test_complex_step_through_even_functions_has_all_digits(name: str):
    t = ANGLES[1::20] ** 2
    slopes = getattr(scalars, name)(t + 1e-30j).imag / 1e-30
    with mpmath.workdps(50):
        assert worst(slopes, [mpmath.diff(lambda x: exact(name, x), x, h=1e-20 * x) for x in t]) < CLOSE_SLOPE


@pytest.mark.parametrize("name", EXACT)
def test_even_functions_at_zero(name: str):
    function = getattr(scalars, name)
    assert function(np.zeros(())) == pytest.approx(LIMITS[name], rel=1e-15, abs=0)
    assert float(function(np.array([sympy.Integer(0)]))[0]) == pytest.approx(LIMITS[name], rel=1e-15, abs=0)


@pytest.mark.parametrize("number", [sympy.Rational, mpmath.fraction], ids=["sympy", "mpmath"])
@pytest.mark.parametrize("name", ["sin", "cos", "sqrt", *EXACT])
def test_objects_give_the_numbers_of_floats(name: str, number: Callable):
    function = getattr(scalars, name)
    t = np.array([[+number(1, 3), +number(7, 5)]], dtype=object)
    found = function(t)
    assert found.dtype == object
    assert found.astype(float) == pytest.approx(function(t.astype(float)), rel=CLOSE, abs=0)


@pytest.mark.parametrize("name", ["sin", "cos", "sqrt"])
def test_functions_of_one_object_stay_arrays(name: str):
    assert getattr(scalars, name)(np.array(sympy.Rational(1, 3)))[..., None].shape == (1,)


@pytest.mark.parametrize(
    ("given", "dtype"),
    [([1, 2], float), (True, float), (np.float32(0.5), float), ([1j], complex), ([sympy.pi], object), (2.5, float)],
)
def test_as_array_makes_floats_of_integers_and_keeps_the_rest(given, dtype: type):
    found = scalars.as_array(given)
    assert found.dtype == dtype
    assert np.array_equal(found, np.asarray(given))
    assert scalars.is_numeric(found) == (dtype is not object)


@pytest.mark.parametrize(("y", "x"), [(0.3, 0.8), (0.3, -0.8), (-0.3, -0.8), (-2.0, 0.0), (0.0, -1.0)])
def test_atan2_and_its_complex_step(y: float, x: float):
    y, x, dy, dx, h = np.array(y), np.array(x), 0.7, -0.4, 1e-30
    assert scalars.atan2(y, x) == np.arctan2(y, x)
    slope = scalars.atan2(y + 1j * h * dy, x + 1j * h * dx).imag / h
    assert slope == pytest.approx((x * dy - y * dx) / (x * x + y * y), rel=CLOSE, abs=0)


def test_dot_does_not_conjugate():
    assert scalars.dot(np.array([1j, 2.0]), np.array([1j, 3.0])) == 5


def test_dot_of_objects_stays_an_array():
    assert scalars.dot(np.array([sympy.pi]), np.array([sympy.pi]))[..., None].tolist() == [sympy.pi**2]


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_solve_of_objects_equals_that_of_floats(rng: np.random.Generator, shape: tuple[int, ...]):
    A, b = rng.normal(size=(*shape, 4, 4)), rng.normal(size=(*shape, 4, 2))
    A = A @ np.swapaxes(A, -1, -2) + np.eye(4)
    # elimination without pivots on a well-conditioned matrix
    assert scalars.solve(A.astype(object), b.astype(object)).astype(float) == pytest.approx(
        np.linalg.solve(A, b), abs=1e-12
    )
    assert np.array_equal(scalars.solve(A, b), np.linalg.solve(A, b))


def test_solve_is_exact_for_rationals():
    hilbert = np.array([[sympy.Rational(1, i + j + 1) for i in range(5)] for j in range(5)])
    x = np.array([[sympy.Integer(i)] for i in range(5)])
    assert np.array_equal(scalars.solve(hilbert, hilbert @ x), x)


def test_numbers_among_objects_are_numbers():
    """Not symbols: a constant among traced scalars is folded."""
    found = scalars.sin(np.array([0.5, sympy.Symbol("x")], dtype=object))
    assert type(found[0]) is float
    assert found[0] == np.sin(0.5)
    assert found[1] == sympy.sin(sympy.Symbol("x"))


def test_clip_at_its_bounds_has_the_slope_between_them():
    """Of complex numbers, as of traced ones."""
    x = np.array([-1.0, -1, 1, 1]) + np.array([1j, -1j, 1j, -1j]) * 1e-30
    assert scalars.clip(x, -1.0, 1.0).tolist() == x.tolist()


@pytest.mark.parametrize("kind", [float, object])
def test_clip_and_largest(kind: type):
    x = np.array([-2.0, np.nan, 0.5, 3.0], dtype=kind)
    with np.errstate(invalid="ignore"):
        clipped = scalars.clip(x, -1.0, np.array([1.0, 1, 1, 2]))
    np.testing.assert_array_equal(clipped.astype(float), [-1, np.nan, 0.5, 2])
    assert float(scalars.largest(x[2:], 1.0)) == 3.0
    assert float(scalars.largest(x[:1], 1.0)) == 1.0
