"""Sweeps of which `make test` runs a part, and `make judge` all."""

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(values: Iterable[Any], some: Iterable[int] | int) -> list[Any]:
    """Values of a parameter; those at other places than `some` (or the first `some`) are for the judges.

    A tuple is taken for the values of several parameters.
    """
    places = set(range(some)) if isinstance(some, int) else set(some)
    return [value if n in places else _judged(value) for n, value in enumerate(values)]


def _judged(value: Any) -> Any:
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.judge)
