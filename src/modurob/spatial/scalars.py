"""Elementary functions of any scalars in an array: floats, complex numbers, or objects.

Objects are numbers of other libraries (SymPy, mpmath) or traced scalars. Every function here is analytic, so a complex
step through it gives a derivative to the last digit.
"""

from collections.abc import Callable
from functools import reduce
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]

# what code that is traced may consist of, in words
SCALARS = (
    "arithmetic, and functions of modurob.spatial.scalars such as sin, select and maximum, which accept any scalars"
)


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


def _of_object(name: str, numeric: Callable[..., Any]) -> Callable[..., Any]:
    """`name` of objects: the method of the first, the function of its mpmath context, or SymPy's; of plain numbers among
    them the `numeric` one."""

    def apply(x: Any, *others: Any) -> Any:
        if hasattr(x, name):
            return getattr(x, name)(*others)
        if all(isinstance(z, float) for z in (x, *others)):
            return float(numeric(x, *others))
        if hasattr(x, "context"):
            return getattr(x.context, name)(x, *others)
        import sympy  # heavy, and only needed for exact scalars

        return getattr(sympy, name)(x, *others)

    return apply


def _elementary(name: str, numeric: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """`numeric` for floats and complex numbers; objects have functions of their own."""
    of_objects: Any = np.frompyfunc(_of_object(name, numeric), 1, 1)

    def function(x: Array) -> Array:
        x = np.asarray(x)
        return np.asarray(of_objects(x), dtype=object) if x.dtype == object else numeric(x)

    function.__name__, function.__doc__ = name, f"{name} of each entry."
    return function


sin = _elementary("sin", np.sin)
cos = _elementary("cos", np.cos)
sqrt = _elementary("sqrt", np.sqrt)
exp = _elementary("exp", np.exp)
log = _elementary("log", np.log)
tanh = _elementary("tanh", np.tanh)
rint = _elementary("rint", lambda x: np.rint(np.real(x)))  # nearest whole number; its slope is zero


def atan2(y: Array, x: Array) -> Array:
    """Angle of the point (x, y); complex arguments are taken to first order in their imaginary parts."""
    y, x = np.asarray(y), np.asarray(x)
    if object in (y.dtype, x.dtype):
        return np.asarray(np.frompyfunc(_of_object("atan2", np.arctan2), 2, 1)(y, x), dtype=object)
    if not (np.iscomplexobj(y) or np.iscomplexobj(x)):
        return np.arctan2(y, x)
    yr, xr = np.real(y), np.real(x)
    radius_squared = xr * xr + yr * yr
    slope = (xr * np.imag(y) - yr * np.imag(x)) / np.where(radius_squared == 0, 1, radius_squared)
    return np.arctan2(yr, xr) + 1j * slope


def select(a: Any, b: Any, x: Any, y: Any) -> Array:
    """x where a < b, else y, entry by entry; of complex numbers the real parts are compared.

    All choices are made through it, so that algorithms with choices can be traced: |x| is select(x, 0, -x, x).
    """
    a, b, x, y = map(np.asarray, (a, b, x, y))
    # one after the other, for it is called often
    if a.dtype == object or b.dtype == object or x.dtype == object or y.dtype == object:
        return np.asarray(np.frompyfunc(_select_object, 4, 1)(a, b, x, y), dtype=object)
    return np.where(a.real < b.real, x, y)


def _select_object(a: Any, b: Any, x: Any, y: Any) -> Any:
    for z in (a, b):
        if hasattr(z, "select"):
            return z.select(a, b, x, y)
    smaller = a < b
    if smaller in (True, False):
        return x if smaller else y
    import sympy

    return sympy.Piecewise((x, smaller), (y, True))


def absolute(x: Array) -> Array:
    """|x| of each entry, analytic on either side of zero."""
    return select(x, np.zeros(()), -x, x)


def sign(x: Array) -> Array:
    """-1, 0 or 1."""
    zero = np.zeros(())
    return select(x, zero, zero - 1, select(zero, x, zero + 1, zero))


def minimum(a: Any, b: Any) -> Array:
    """The smaller of two numbers, entry by entry."""
    return select(a, b, a, b)


def maximum(a: Any, b: Any) -> Array:
    """The larger of two numbers, entry by entry."""
    return select(a, b, b, a)


def largest(x: Array, least: float) -> Array:
    """The largest entry of all, or `least` if none is larger."""
    return x.max(initial=least) if is_numeric(x) else reduce(maximum, x.ravel(), np.array(least))


def clip(x: Array, lower: Any, upper: Any) -> Array:
    """x between lower and upper, entry by entry; what is not a number stays so."""
    if isinstance(x, np.ndarray) and x.dtype == float:
        return np.minimum(np.maximum(x, lower), upper)
    return select(x, lower, lower, select(upper, x, upper, x))


# below this squared angle the Taylor series with ten terms is exact to 1e-19, above it the formulas lose one digit at most
_SMALL = 1.0
_TERMS = 10


def _series_or(t: Array, coefficients: tuple[float, ...], formula: Callable[[Array], Array]) -> Array:
    """`formula(t)`, or its power series in t where t is small and the formula would cancel."""
    if t.dtype == object and not any(hasattr(s, "select") for s in t.flat):
        # exact scalars: nothing cancels
        at: Any = np.frompyfunc(lambda s: coefficients[0] if s == 0 else formula(np.array([s], dtype=object))[0], 1, 1)
        return at(t)
    small, one = np.array(_SMALL), np.ones(())
    series: Any = coefficients[-1]
    for c in coefficients[-2::-1]:
        series = series * t + c
    return select(t, small, series, formula(select(t, small, one, t)))


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


_total_of_object: Any = np.frompyfunc(lambda x: x.total() if hasattr(x, "total") else x, 1, 1)


def total(x: Array, axis: int) -> Array:
    """The sum over an axis of points; a traced point that stands for many is summed over all of them."""
    found = np.asarray(x.sum(axis=axis))
    return np.asarray(_total_of_object(found), dtype=object) if found.dtype == object else found


def cross(a: Array, b: Array) -> Array:
    """a × b over leading axes, (..., 3)."""
    (ax, ay, az), (bx, by, bz) = ([x[..., i] for i in range(3)] for x in (a, b))
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def solve(A: Array, b: Array) -> Array:
    """x with A x = b for symmetric positive definite A, (..., n, n), and b, (..., n, k).

    Arrays of objects are not supported by LAPACK and are solved by LDL^T, without pivoting. Where A is singular x is
    NaN, or huge.
    """
    if A.shape[-1] == 1:
        with np.errstate(all="ignore"):
            return b / A
    if A.dtype != object and b.dtype != object:
        try:
            return np.linalg.solve(A, b)
        except np.linalg.LinAlgError:
            pass
    A, x = _eliminated(A, b)
    with np.errstate(all="ignore"):
        for k in reversed(range(A.shape[-1])):
            for j in range(k + 1, A.shape[-1]):
                x[..., k, :] = x[..., k, :] - A[..., k, j, None] * x[..., j, :]
            x[..., k, :] = x[..., k, :] / A[..., k, k, None]
    return x


def pivots(A: Array) -> Array:
    """The pivots of LDL^T of a symmetric matrix, (..., n): all positive where it is positive definite."""
    return np.einsum("...ii->...i", _eliminated(A, A[..., :0])[0])


def _eliminated(A: Array, b: Array) -> tuple[Array, Array]:
    """A made upper triangular by rows, and b along with it."""
    n = A.shape[-1]
    lead = np.broadcast_shapes(A.shape[:-2], b.shape[:-2])
    A, x = (np.array(np.broadcast_to(y, lead + y.shape[-2:]), np.result_type(A, b)) for y in (A, b))
    with np.errstate(all="ignore"):
        for k in range(n):
            for i in range(k + 1, n):
                factor = A[..., i, k, None] / A[..., k, k, None]
                A[..., i, k:] = A[..., i, k:] - factor * A[..., k, k:]
                x[..., i, :] = x[..., i, :] - factor * x[..., k, :]
    return A, x
