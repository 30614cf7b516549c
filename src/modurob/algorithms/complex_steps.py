"""Derivatives by complex steps: exact, of everything that NumPy evaluates."""

from collections.abc import Callable

import numpy as np

from modurob.spatial.scalars import Array

# a complex step loses nothing to rounding, and nothing above it counts
TINY = 1e-20


def complex_step(f: Callable[[Array], Array], n: int, axes: int) -> Array:
    """df/dx at zero, (..., k, n), of f: (n, ..., n) -> (n, ..., k) with `axes` batch axes.

    f(x + i h e) = f(x) + i h df/dx e + O(h²): with h = 1e-20 nothing cancels and the remainder is below rounding. All
    directions are evaluated at once as a batch.
    """
    directions = 1j * TINY * np.eye(n).reshape(n, *([1] * axes), n)
    return np.moveaxis(np.imag(f(directions)) / TINY, 0, -1)
