"""Checks of numbers that drives are made of."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from modurob.errors import CatalogueError


def require(what: str, value: Any, bounds: Sequence[str] = (), words: Sequence[str] = ()) -> None:
    """An error unless the fields are finite numbers, zero or more, or None where that is the default; `bounds` may be infinite,
    `words` are no numbers."""
    for name, default in ((f.name, f.default) for f in fields(value) if f.name not in words):
        x = getattr(value, name)
        if x is None and default is None:
            continue
        if isinstance(x, bool) or not isinstance(x, int | float | np.number):
            raise CatalogueError(f"{what}: {name} is {x!r:.60}: expected a number")
        if not (x >= 0 and (np.isfinite(x) or name in bounds)):
            raise CatalogueError(f"{what}: {name} is {x:g}: expected a finite number, zero or more")


def positive(what: str, value: Any, *names: str) -> None:
    """An error unless these fields are above zero."""
    for name in names:
        if not getattr(value, name) > 0:
            raise CatalogueError(f"{what}: {name} is {getattr(value, name):g}: expected a number above zero")
