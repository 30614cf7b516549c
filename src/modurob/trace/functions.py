"""Functions that users write with NumPy, so that they can be run on traced scalars."""

from collections.abc import Callable
from functools import partial
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from modurob.trace.arrays import plain, traced_array
from modurob.trace.graph import Traced


def applied(function: Callable[..., Any], t: Any, *arrays: Any) -> Any:
    """function(t, *arrays); at a traced time the arrays are TracedArrays, and so are those that a user's function makes."""
    if not isinstance(t, Traced) or _is_of_packages(function):
        return function(t, *arrays)
    return plain(_rebound(function)(*map(traced_array, (t, *arrays))))


class _Numpy:
    """NumPy, but with arrays of objects where traced scalars are to be put into new arrays."""

    def __getattr__(self, name: str) -> Any:
        return MAKERS.get(name) or getattr(np, name)


def _filled(make: Callable[..., Any]) -> Callable[..., Any]:
    """np.zeros and its like: arrays of floats become ones of objects."""

    def made(*given: Any, **options: Any) -> Any:
        found = make(*given, **options)
        return traced_array(found.astype(object) if found.dtype == float else found)

    return made


def _gathered(make: Callable[..., Any]) -> Callable[..., Any]:
    """np.array and its like, of traced scalars whatever type of numbers is asked for."""

    def made(x: Any, *given: Any, **options: Any) -> Any:
        found = np.array(plain(x))
        return traced_array(found) if found.dtype == object else make(x, *given, **options)

    return made


MAKERS = {name: _filled(getattr(np, name)) for name in ("zeros", "ones", "empty", "full", "eye", "identity")}
MAKERS |= {name: _gathered(getattr(np, name)) for name in ("array", "asarray")}


def _rebound(function: Any) -> Any:
    """A function whose names of NumPy, and those of functions beside it, are bound to what makes traced arrays."""
    is_one = isinstance(function, FunctionType | MethodType | partial)
    return _Rebinding().of(function if is_one else function.__call__)


class _Rebinding:
    """Copies of functions with other globals; each is made once, so that they may call each other."""

    def __init__(self) -> None:
        self._copies: dict[int, Any] = {}
        self._globals: dict[int, dict[str, Any]] = {}

    def of(self, x: Any) -> Any:
        """A function of a user's as its copy, NumPy as what makes traced arrays, and anything else as it is."""
        match x:
            case FunctionType() if not _is_of_packages(x):
                return self._copies[id(x)] if id(x) in self._copies else self._copied(x)
            case MethodType():
                return MethodType(self.of(x.__func__), x.__self__)
            case partial():
                return partial(self.of(x.func), *x.args, **x.keywords)
        return _Numpy() if x is np else x

    def _copied(self, x: FunctionType) -> FunctionType:
        cells = tuple(CellType() for _ in x.__closure__ or ())
        copy = FunctionType(x.__code__, self._around(x), x.__name__, x.__defaults__, cells or None)
        copy.__kwdefaults__ = x.__kwdefaults__
        self._copies[id(x)] = copy
        for cell, own in zip(cells, x.__closure__ or (), strict=True):
            cell.cell_contents = self.of(own.cell_contents)
        return copy

    def _around(self, x: FunctionType) -> dict[str, Any]:
        """The globals of a function, those that are functions of the same file as copies."""
        given = x.__globals__
        if id(given) not in self._globals:
            made = self._globals[id(given)] = dict(given)
            own = {n: v for n, v in given.items() if v is np or getattr(v, "__globals__", None) is given}
            made.update({n: self.of(v) for n, v in own.items()})
        return self._globals[id(given)]


def _is_of_packages(x: Any) -> bool:
    """Whether a function is of this package, NumPy or SciPy: these support traced scalars, or never receive them."""
    while isinstance(x, partial):
        x = x.func
    return (getattr(x, "__module__", None) or "").partition(".")[0] in ("modurob", "numpy", "scipy")
