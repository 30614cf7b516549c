"""Numbers that are arguments: the checks of `modurob.motion.numbers`, with the error of arguments."""

from typing import Any

import numpy as np

from modurob.errors import InputError
from modurob.motion import numbers as checks
from modurob.spatial.scalars import Array


def numbers(value: Any, what: str, last: int | None = None) -> Array:
    """`value` as an array of finite numbers, with `last` entries along its last axis."""
    x = checks.numbers(value, what, error=InputError)
    if last is not None and (x.ndim == 0 or x.shape[-1] != last):
        raise InputError(f"{what} has shape {x.shape}: expected (..., {last})")
    return x


def one(value: Any, what: str) -> float:
    """`value` as one finite number, alone or in an array."""
    x = numbers(value, what)
    return checks.one_number(x.item() if x.size == 1 else x, what, InputError)


def positive(value: Any, what: str) -> float:
    """`value` as one number above zero."""
    x = one(value, what)
    if x <= 0:
        raise InputError(f"{what} = {x:g}: expected more than zero")
    return x


def whole(value: Any, what: str, lowest: int) -> int:
    """`value` as a whole number, `lowest` or more."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < lowest:
        raise InputError(f"{what} = {value!r:.60}: expected a whole number, {lowest} or more")
    return int(value)
