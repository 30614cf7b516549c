"""Consistency of a filter: errors in units of their covariances against the chi-square distribution (Bar-Shalom)."""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaincinv

from modurob.errors import EstimateError
from modurob.estimation.belief import Belief, Innovation
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array, dot


def nees(robot: Mechanism, belief: Belief, q: Array, v: Array) -> Array:
    """Normalised estimation error squared dx^T P^-1 dx of the true state (q, v), (...): chi-square with 2 nv degrees of freedom.

    With loops P has no inverse and 2 (nv - loop_rank) degrees of freedom; the pseudo-inverse serves.
    """
    dx = np.concatenate([robot.difference(belief.q, q), v - belief.v], axis=-1)
    return dot(dx, (np.linalg.pinv(belief.P, rcond=1e-13, hermitian=True) @ dx[..., None])[..., 0])


def nis(innovation: Innovation) -> Array:
    """Normalised innovation squared e^T S^-1 e, (...): chi-square with as many degrees of freedom as numbers were read."""
    return dot(innovation.e, np.linalg.solve(innovation.S, innovation.e[..., None])[..., 0])


class Band(NamedTuple):
    """Lowest and highest value that an average of chi-square numbers should have."""

    low: float
    high: float


def band(degrees: int, runs: int = 1, level: float = 0.95) -> Band:
    """The interval that contains the average over the given number of independent runs with probability `level`."""
    if degrees < 1 or runs < 1 or not 0 < level < 1:
        raise EstimateError(
            f"a band for {degrees} degrees of freedom, {runs} runs, level {level}: expected 1 or more, 1 or more, a level in (0, 1)"
        )
    # quantiles of chi-square with this number of degrees of freedom in total
    low, high = 2 * gammaincinv(degrees * runs / 2, [(1 - level) / 2, (1 + level) / 2]) / runs
    return Band(float(low), float(high))
