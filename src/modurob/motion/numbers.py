"""Numbers as users write them, and their checks."""

from typing import Any

import numpy as np

from modurob.errors import ControlError, ModurobError
from modurob.spatial.scalars import Array

Error = type[ModurobError]


def numbers(
    value: Any, what: str, last: int | None = None, infinite: bool = False, error: Error = ControlError
) -> Array:
    """`value` as an array of real numbers, with `last` entries along its last axis; traced scalars stay as they are."""
    x = _numbers(value, what, infinite, error)
    if last is not None and (x.ndim == 0 or x.shape[-1] != last):
        raise error(f"{what} has shape {x.shape}: expected (..., {last})")
    return x


def _numbers(value: Any, what: str, infinite: bool, error: Error) -> Array:
    try:
        x = np.asarray(value)
    except ValueError:
        x = np.array(None)
    if x.dtype == object and x.size and all(hasattr(y, "select") for y in x.flat):
        return x
    if x.dtype.kind not in "iuf":
        raise error(f"{_shown(value, what)}: expected numbers")
    if np.isnan(x).any() or not (infinite or np.isfinite(x).all()):
        raise error(f"{_shown(value, what)}: expected finite numbers")
    return x.astype(float)


def _shown(value: Any, what: str) -> str:
    return f"{what} = {value.tolist() if isinstance(value, np.ndarray) else value!r:.60}"


def one_number(value: Any, what: str, error: Error = ControlError) -> float:
    """`value` as one real number."""
    x = numbers(value, what, error=error)
    if x.ndim:
        raise error(f"{what} = {x.tolist()!r:.60}: expected one number")
    return float(x)


def one_bound(value: Any, what: str) -> float:
    """`value` as one number, zero or more."""
    x = one_number(value, what)
    if x < 0:
        raise ControlError(f"{what} = {x:g}: expected zero or more")
    return x


def positive(value: Any, what: str) -> Array:
    """`value` as an array of numbers above zero."""
    x = numbers(value, what)
    if np.any(x <= 0):
        raise ControlError(f"{what} = {x.tolist()!r:.60}: expected more than zero")
    return x


def one_positive(value: Any, what: str, error: Error = ControlError) -> float:
    """`value` as one number above zero."""
    x = one_number(value, what, error)
    if x <= 0:
        raise error(f"{what} = {x}: expected more than zero")
    return x


def whole(value: Any, what: str, lowest: int, error: Error = ControlError) -> int:
    """`value` as a whole number, `lowest` or more."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < lowest:
        raise error(f"{what} = {value!r:.60}: expected a whole number, {lowest} or more")
    return int(value)


def checked_sample_time(sample_time: Any) -> None:
    """Refuse what is neither None nor a time above zero [s]."""
    if sample_time is not None:
        one_positive(sample_time, "sample_time")
