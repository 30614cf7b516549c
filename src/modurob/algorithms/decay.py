"""Weights of exponential integrators, whose steps are exact for exponential decay: the functions phi."""

from math import factorial
from typing import Any, NamedTuple

import numpy as np

from modurob.spatial.scalars import Array, exp, select

# below one the power series with so many terms is exact to rounding; above it the formulas lose a digit or two
TERMS = 18


class Decays(NamedTuple):
    """The weights of a step of h for states x' = -rate x + N, entry by entry (Cox and Matthews 2002, ETDRK4)."""

    rate: Any  # [1/s]
    whole: Any  # exp(-rate h)
    half: Any  # exp(-rate h/2)
    reach: Any  # weight of N over half a step [s]
    first: Any  # weight of N at the start [s]
    middle: Any  # weight of each of the two at the midpoint [s]
    last: Any  # weight of N at the end [s]


def decays(rate: Array, h: Array) -> Decays:
    """Weights for decay rates of zero or more [1/s] and a step h [s]; at a rate of zero those of Runge and Kutta."""
    t = rate * h
    whole, half = exp(-t), exp(-t / 2)
    one, two, three = _phi(1, t, whole), _phi(2, t, whole), _phi(3, t, whole)
    reach = _phi(1, t / 2, half) * h / 2
    return Decays(
        rate, whole, half, reach, (one - 3 * two + 4 * three) * h, (2 * two - 4 * three) * h, (4 * three - two) * h
    )


def _phi(k: int, t: Array, decayed: Array) -> Array:
    """phi_k(-t), of which phi_0 = exp(-t) and phi_k+1 = (1/k! - phi_k)/t."""
    small = np.ones(())
    series: Any = 0.0
    for j in reversed(range(TERMS)):
        series = series * -t + 1 / factorial(j + k)
    large = select(t, small, small + 0 * t, t)
    value = decayed
    for j in range(k):
        value = (1 / factorial(j) - value) / large
    return select(t, small, series, value)
