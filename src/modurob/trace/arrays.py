"""Arrays of traced scalars on which NumPy's own functions record their operations, for functions that users write."""

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

import numpy as np

from modurob.spatial import scalars
from modurob.spatial.scalars import Array, absolute, atan2, select, sqrt
from modurob.trace.graph import Traced

Rule = Callable[..., Any]


class TracedArray(np.ndarray):
    """An array of objects, traced scalars and numbers; its entries are arrays of no axes, so that NumPy's functions of them
    come here too."""

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, out: Any = None, **options: Any) -> Any:
        found = _operated(ufunc, method, [_with_floats(x) for x in given], options)
        if out is None:
            return traced_array(found)
        out[0][...] = plain(found)
        return out[0]

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        name = _name(function)
        if name in FUNCTIONS:
            return traced_array(FUNCTIONS[name](*map(plain, args), **kwargs))
        try:
            return traced_array(super().__array_function__(function, types, args, kwargs))
        except Exception as error:
            if not _has_traced(args):
                return _objects(function(*_numbers(args), **kwargs))
            raise error if name in ARRANGED.split() else TypeError(_unsupported(name)) from error

    def __getitem__(self, at: Any) -> Any:
        return traced_array(super().__getitem__(_index(at)))

    def __setitem__(self, at: Any, value: Any) -> None:
        super().__setitem__(_index(at), plain(value))

    def dot(self, other: Any, out: Any = None) -> Any:
        """The inner product, or that of matrices."""
        return traced_array(np.dot(plain(self), plain(other)))


def traced_array(x: Any) -> Any:
    """`x` as a TracedArray where it is a traced scalar or an array of objects; lists and tuples entry by entry."""
    if isinstance(x, Traced):
        return np.array(x, dtype=object).view(TracedArray)
    if isinstance(x, list | tuple):
        return type(x)(map(traced_array, x))
    return x.view(TracedArray) if isinstance(x, np.ndarray) and x.dtype == object else x


def plain(x: Any) -> Any:
    """`x` without TracedArrays: plain arrays, and scalars for those of no axes; lists and tuples entry by entry."""
    if isinstance(x, TracedArray):
        return x.view(np.ndarray) if x.ndim else x.item()
    return type(x)(map(plain, x)) if type(x) in (list, tuple) else x


def _index(at: Any) -> Any:
    if _has_traced(at):
        raise TypeError("entries that are chosen by a traced array: expected np.where(condition, x, y)")
    return at


def _has_traced(x: Any) -> bool:
    """Whether traced scalars are in it, or only numbers."""
    if isinstance(x, np.ndarray):
        return x.dtype == object and any(isinstance(y, Traced) for y in np.asarray(x).flat)
    return isinstance(x, Traced) or (isinstance(x, list | tuple) and any(map(_has_traced, x)))


def _numbers(x: Any) -> Any:
    """`x` with arrays of floats instead of those of objects."""
    if isinstance(x, list | tuple):
        return type(x)(map(_numbers, x))
    return np.asarray(x, dtype=float) if isinstance(x, np.ndarray) and x.dtype == object else x


def _objects(x: Any) -> Any:
    """Arrays of floats as TracedArrays, so that traced scalars can be put into them."""
    return x.astype(object).view(TracedArray) if isinstance(x, np.ndarray) and x.dtype == float else x


def traceable_functions() -> list[str]:
    """NumPy's functions that can be traced, as they are called.

    >>> "np.where" in traceable_functions(), "np.sort" in traceable_functions()
    (True, False)
    """
    names = {*UFUNCS, *NATIVE, *FUNCTIONS, *ARRANGED.split()} - OPERATORS
    return sorted(f"np.{USUAL.get(name, name)}" for name in names)


def _with_floats(x: Any) -> Any:
    """`x`, plain, its integers and truth values as floats where it is an array of objects."""
    x = plain(x)
    return _FLOATS(x) if isinstance(x, np.ndarray) and x.dtype == object else x


_FLOATS: Any = np.frompyfunc(lambda x: x if isinstance(x, Traced) else float(x), 1, 1)


def _operated(ufunc: Any, method: str, given: list[Any], options: dict[str, Any]) -> Any:
    """A function of NumPy's of entries: by its rule, by operations of the scalars, or an error."""
    name = ufunc.__name__
    if not _has_traced(given):
        return _objects(getattr(ufunc, method)(*_numbers(given), **options))
    if method == "__call__" and name in UFUNCS:
        return UFUNCS[name](*(np.asarray(x) for x in given))
    if method == "reduce" and name in FOLDED:
        return _folded(name, given[0], **options)
    # functions that NumPy does not have, such as those of np.vectorize, are made of operations of the scalars
    if name in NATIVE or not hasattr(np, name):
        return getattr(ufunc, method)(*given, **options)
    raise TypeError(_unsupported(name if method == "__call__" else f"{name}.{method}"))


def _unsupported(name: str) -> str:
    return f"np.{name} cannot be traced: expected functions among {', '.join(traceable_functions())}"


def _name(function: Any) -> str:
    module = "linalg." if "linalg" in function.__module__ else ""
    return f"{module}{function.__name__}"


# ---- entry by entry ----


def _floor(x: Array) -> Array:
    nearest = scalars.rint(x)
    return nearest - select(x, nearest, 1.0, 0.0)


def _ceil(x: Array) -> Array:
    return -_floor(-x)


def _angle(y: Any, x: Any) -> Array:
    """Where one of them is a number it becomes a traced one."""
    return atan2(y + 0.0 * x, x + 0.0 * y)


def _root_of_rest(x: Array) -> Array:
    """sqrt(1 - x²), without cancellation near one."""
    return sqrt((1 - x) * (1 + x))


def _divided(x: Array, y: Array) -> tuple[Array, Array]:
    """The largest whole k with k y not beyond x, and x - k y, from zero to y: exact for numbers y and |k| < 2^26."""
    k, side = scalars.rint(x / y), select(y, 0.0, -1.0, 1.0)
    # products of k with a half of y are not rounded
    upper = y if _has_traced(y) else _upper_half(np.asarray(y, dtype=float))
    r = x - k * upper - k * (y - upper)
    return select(side * r, 0.0, k - 1.0, k), select(side * r, 0.0, r + y, r)


def _upper_half(y: Array) -> Array:
    """The first 26 bits of numbers (Dekker 1971)."""
    shifted = (2.0**27 + 1) * y
    return shifted - (shifted - y)


def _equal(a: Any, b: Any) -> Array:
    return select(a, b, 0.0, select(b, a, 0.0, 1.0))


def _true(x: Any) -> Array:
    return 1.0 - _equal(x, 0.0)


def _both(a: Any, b: Any) -> Array:
    return _true(a) * _true(b)


def _either(a: Any, b: Any) -> Array:
    return scalars.maximum(_true(a), _true(b))


# truth is one, falsehood zero
UFUNCS: dict[str, Rule] = {
    **{name: getattr(scalars, name) for name in ("sin", "cos", "sqrt", "exp", "log", "tanh", "rint", "sign")},
    "absolute": absolute,
    "arccos": lambda x: _angle(_root_of_rest(x), x),
    "arcsin": lambda x: _angle(x, _root_of_rest(x)),
    "arctan": lambda x: _angle(x, 1.0),
    "arctan2": _angle,
    "bitwise_and": _both,
    "bitwise_or": _either,
    "ceil": _ceil,
    "clip": lambda x, lower, upper: scalars.minimum(scalars.maximum(x, lower), upper),
    "copysign": lambda x, y: select(y, 0.0, -absolute(x), absolute(x)),
    "deg2rad": lambda x: x * (np.pi / 180),
    "degrees": lambda x: x * (180 / np.pi),
    "equal": _equal,
    "fabs": absolute,
    "floor": _floor,
    "floor_divide": lambda x, y: _divided(x, y)[0],
    "fmax": scalars.maximum,
    "fmin": scalars.minimum,
    "greater": lambda a, b: select(b, a, 1.0, 0.0),
    "greater_equal": lambda a, b: select(a, b, 0.0, 1.0),
    "heaviside": lambda x, middle: select(x, 0.0, 0.0, select(0.0, x, 1.0, middle)),
    "hypot": lambda x, y: sqrt(x * x + y * y),
    "invert": lambda x: 1.0 - _true(x),
    "less": lambda a, b: select(a, b, 1.0, 0.0),
    "less_equal": lambda a, b: select(b, a, 0.0, 1.0),
    "log10": lambda x: scalars.log(x) / np.log(10.0),
    "log2": lambda x: scalars.log(x) / np.log(2.0),
    "logical_and": _both,
    "logical_not": lambda x: 1.0 - _true(x),
    "logical_or": _either,
    "maximum": scalars.maximum,
    "minimum": scalars.minimum,
    "not_equal": lambda a, b: 1.0 - _equal(a, b),
    "positive": lambda x: x,
    "rad2deg": lambda x: x * (180 / np.pi),
    "radians": lambda x: x * (np.pi / 180),
    "remainder": lambda x, y: _divided(x, y)[1],
    "tan": lambda x: scalars.sin(x) / scalars.cos(x),
    "trunc": lambda x: select(x, 0.0, _ceil(x), _floor(x)),
}
# operations of the scalars themselves
NATIVE = ("add", "divide", "matmul", "multiply", "negative", "power", "reciprocal", "square", "subtract")


# ---- over axes ----

FOLDED = ("logical_and", "logical_or", "maximum", "minimum")


def _folded(name: str, x: Array, axis: int | None = 0, keepdims: bool = False, initial: Any = None, **rest: Any) -> Any:
    """The largest, the smallest, whether any or all are true, over an axis or over all."""
    x = _true(x) if name.startswith("logical") else x
    entries: Iterable[Any] = x.ravel() if axis is None else np.moveaxis(x, axis, 0)
    found = np.asarray(reduce(UFUNCS[name], entries))
    found = found if initial is None else UFUNCS[name](found, initial)
    return np.expand_dims(found, tuple(range(x.ndim)) if axis is None else axis) if keepdims else found


def _norm(x: Any, ord: Any = None, axis: int | None = None, keepdims: bool = False) -> Any:
    if ord not in (None, 2) or (ord == 2 and np.ndim(x) > 1 and axis is None):
        raise TypeError(f"np.linalg.norm of order {ord!r}: expected the square root of a sum of squares, ord=None")
    return sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))


# ---- whole arrays ----


def _where(condition: Any, x: Any, y: Any) -> Array:
    return select(0.5, _true(condition), x, y)


def _select(conditions: list[Any], values: list[Any], default: Any = 0.0) -> Any:
    pairs = [*zip(conditions, values, strict=True)][::-1]
    return reduce(lambda rest, pair: _where(*pair, rest), pairs, default)


def _interpolated(x: Any, xp: Any, fp: Any) -> Any:
    """Piecewise linear over increasing numbers xp, constant beyond them: a sum of what each piece adds."""
    pieces = zip(xp[:-1], xp[1:], np.diff(fp) / np.diff(xp), strict=True)
    return fp[0] + sum(slope * (scalars.clip(x, a, b) - a) for a, b, slope in pieces)


def _solved(A: Any, b: Any) -> Array:
    """x with A x = b, (n, n) and (n,) or (n, k), by Gauss and Jordan's elimination with the largest pivots."""
    A, b = np.asarray(A, dtype=object), np.asarray(b, dtype=object)
    n = len(A)
    rows = np.concatenate([A, b.reshape(n, -1)], axis=1)
    for k in range(n):
        for i in range(k + 1, n):
            rows[k], rows[i] = _larger_first(rows[k], rows[i], k)
        rows[k] = rows[k] / rows[k, k]
        for i in {*range(n)} - {k}:
            rows[i] = rows[i] - rows[i, k] * rows[k]
    return rows[:, n:].reshape(b.shape)


def _larger_first(a: Array, b: Array, k: int) -> tuple[Array, Array]:
    """Two rows, first the one with the larger entry k."""
    sizes = absolute(a[k]), absolute(b[k])
    return select(*sizes, b, a), select(*sizes, a, b)


FUNCTIONS: dict[str, Rule] = {
    "interp": _interpolated,
    "linalg.inv": lambda A: _solved(A, np.eye(len(A))),
    "linalg.norm": _norm,
    "linalg.solve": _solved,
    "select": _select,
    "where": _where,
}
# functions that NumPy evaluates by the operations above, or by arranging entries
ARRANGED = (
    "all any append atleast_1d atleast_2d average broadcast_to concatenate copy cross cumsum diag diff dot "
    "einsum flip full_like hstack inner max mean min ones_like outer polyval prod ravel repeat reshape roll "
    "round squeeze stack sum take tile trace transpose vstack zeros_like"
)
# the names of &, | and ~, and the usual names of functions
OPERATORS = frozenset({"bitwise_and", "bitwise_or", "invert"})
USUAL = {"absolute": "abs", "remainder": "mod"}
