"""Elementary functions of whatever scalars an array holds: floats, complex numbers, or objects.

Objects are numbers of other libraries (SymPy, mpmath) or traced scalars. Every function here is analytic, so a complex step
through it gives a derivative to the last digit.
"""

from collections.abc import Callable
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]


def as_array(x: ArrayLike) -> Array:
    """`x` as an array of floats, complex numbers or objects; integers become floats."""
    x = np.asarray(x)
    return x.astype(float) if x.dtype.kind in "biuf" and x.dtype != float else x


def read_only(x: Array) -> Array:
    """`x` itself, which can no longer be written."""
    x.flags.writeable = False
    return x


def is_numeric(x: Array) -> bool:
    """Whether the entries are floats or complex numbers, which can be compared and factored."""
    return x.dtype.kind in "fc"


def _of_object(name: str) -> Callable[[Any], Any]:
    """`name` of one object: its own method, that of its mpmath context, or SymPy's function."""

    def apply(x: Any) -> Any:
        if hasattr(x, name):
            return getattr(x, name)()
        if hasattr(x, "context"):
            return getattr(x.context, name)(x)
        import sympy  # heavy, and only needed for exact scalars

        return getattr(sympy, name)(x)

    return apply


def _of_objects(name: str) -> Callable[[Array], Array]:
    """`name` of each entry; an array even where NumPy would return the bare object."""
    apply: Any = np.frompyfunc(_of_object(name), 1, 1)
    return lambda x: np.asarray(apply(x), dtype=object)


_OBJECT = {name: _of_objects(name) for name in ("sin", "cos", "sqrt")}


def sin(x: Array) -> Array:
    """Sine of each entry."""
    return _OBJECT["sin"](x) if x.dtype == object else np.sin(x)


def cos(x: Array) -> Array:
    """Cosine of each entry."""
    return _OBJECT["cos"](x) if x.dtype == object else np.cos(x)


def sqrt(x: Array) -> Array:
    """Square root of each entry."""
    return _OBJECT["sqrt"](x) if x.dtype == object else np.sqrt(x)


def atan2(y: Array, x: Array) -> Array:
    """Angle of the point (x, y); complex arguments are taken to first order in their imaginary parts."""
    if not (np.iscomplexobj(y) or np.iscomplexobj(x)):
        return np.arctan2(y, x)
    yr, xr = np.real(y), np.real(x)
    radius_squared = xr * xr + yr * yr
    slope = (xr * np.imag(y) - yr * np.imag(x)) / np.where(radius_squared == 0, 1, radius_squared)
    return np.arctan2(yr, xr) + 1j * slope


# below this squared angle the Taylor series with ten terms is exact to 1e-19, above it the formulas lose one digit at most
_SMALL = 1.0
_TERMS = 10


def _series_or(t: Array, coefficients: tuple[float, ...], formula: Callable[[Array], Array]) -> Array:
    """`formula(t)`, or its power series in t where |t| is small and the formula would cancel."""
    if t.dtype == object:

        def at(s: Any) -> Any:
            # traced scalars cannot be looked at: they have a way not to be zero
            s = s.nonzero() if hasattr(s, "nonzero") else s
            return coefficients[0] if s == 0 else formula(np.array([s], dtype=object))[0]

        one: Any = np.frompyfunc(at, 1, 1)
        return one(t)
    small = np.abs(t) < _SMALL
    series: Any = np.polynomial.polynomial.polyval(np.where(small, t, 0), coefficients)
    return np.where(small, series, formula(np.where(small, 1, t)))


def sinc(t: Array) -> Array:
    """sin(a)/a as a function of t = a²."""
    coefficients = tuple((-1) ** k / factorial(2 * k + 1) for k in range(_TERMS))
    return _series_or(t, coefficients, lambda t: sin(sqrt(t)) / sqrt(t))


def versinc(t: Array) -> Array:
    """(1 - cos a)/a² as a function of t = a²."""
    half = sinc(t / 4)
    return half * half / 2


def sinc_defect(t: Array) -> Array:
    """(a - sin a)/a³ as a function of t = a²."""
    coefficients = tuple((-1) ** k / factorial(2 * k + 3) for k in range(_TERMS))
    return _series_or(t, coefficients, lambda t: (1 - sin(sqrt(t)) / sqrt(t)) / t)


def cot_defect(t: Array) -> Array:
    """(1 - (a/2) cot(a/2))/a² as a function of t = a²."""
    # by half angles, where nothing cancels
    return (versinc(t / 4) - sinc_defect(t / 4)) / (4 * sinc(t / 4))


def dot(a: Array, b: Array) -> Array:
    """Inner product over the last axis, without conjugation."""
    return np.asarray((a * b).sum(axis=-1))


def solve(A: Array, b: Array) -> Array:
    """x with A x = b for symmetric positive definite A, (..., n, n), and b, (..., n, k).

    Objects cannot be handed to LAPACK: they go through LDL^T, without pivoting.
    """
    if A.shape[-1] == 1:
        return b / A
    if A.dtype != object and b.dtype != object:
        return np.linalg.solve(A, b)
    n = A.shape[-1]
    A, x = np.array(A, dtype=object), np.array(np.broadcast_to(b, A.shape[:-2] + b.shape[-2:]), dtype=object)
    # eliminate downward, then substitute back
    for k in range(n):
        for i in range(k + 1, n):
            factor = A[..., i, k, None] / A[..., k, k, None]
            A[..., i, k:] = A[..., i, k:] - factor * A[..., k, k:]
            x[..., i, :] = x[..., i, :] - factor * x[..., k, :]
    for k in reversed(range(n)):
        for j in range(k + 1, n):
            x[..., k, :] = x[..., k, :] - A[..., k, j, None] * x[..., j, :]
        x[..., k, :] = x[..., k, :] / A[..., k, k, None]
    return x
