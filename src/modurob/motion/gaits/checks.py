"""Refusals that several parts of gaits share."""

from math import inf, isfinite
from numbers import Real
from typing import Any

from modurob.errors import GaitError

# rates of oscillators beyond this, in units of 2 pi f, are no longer followed well
FASTEST = 100.0


def require_number(name: str, value: Any) -> None:
    """Refuse what is no finite number."""
    if not (isinstance(value, Real) and isfinite(value)):
        raise GaitError(f"{name} {value!r}: expected a finite number")


def require_positive(name: str, value: Any, unit: str = "", most: float = inf) -> None:
    """Refuse what is no finite number above zero, or beyond `most`."""
    if not (isinstance(value, Real) and isfinite(value) and 0 < float(value) <= most):
        limit = "" if most == inf else f", {most:g} at most"
        raise GaitError(f"{name} {value!r}: expected a finite number above zero{limit}{unit and f', in {unit}'}")


def require_seed(seed: Any) -> None:
    """Refuse what starts no stream of random numbers."""
    if seed is not None and not (isinstance(seed, int) and seed >= 0):
        raise GaitError(f"seed {seed!r}: expected a whole number from zero on, or None for a start in step")
