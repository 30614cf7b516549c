"""Least squares: ordinary, weighted, and with instrumental variables."""

from typing import NamedTuple

import numpy as np

from modurob.errors import EstimateError, choices
from modurob.identification.rows import Rows
from modurob.spatial.scalars import Array

METHODS = ("ordinary", "weighted", "instrumental")
# rounds in which the noise of each joint is found from what is left, and equations are weighted by it
ROUNDS = 5
# a joint whose torques fit better than this, relative to the largest of them, has this noise: rounding
FLOOR = 1e-12


class Fit(NamedTuple):
    """Base parameters, their covariance, and the noise of a torque sample by rate [N m or N]."""

    beta: Array
    covariance: Array
    sigma: Array
    chi_square: float  # of what is left, in units of the noise
    degrees: int  # equations less parameters
    condition: float  # of the equations, columns of length one


def fitted(rows: Rows, kept: tuple[int, ...], method: str, noise: Array | None, Z: Rows | None = None) -> Fit:
    """beta with W[:, kept] beta = y in the sense of `method`; with `noise` by rate, or with the noise that is left.

    ordinary: min |y - W beta|²; weighted: min |(y - W beta)/sigma|²; instrumental: Z^T (y - W beta)/sigma² = 0 with Z from
    another motion, whose errors are not those of W.
    """
    if method not in METHODS:
        raise EstimateError(f"method {method!r:.60}: {choices(str(method), METHODS)}")
    if method == "instrumental" and Z is None:
        raise EstimateError(
            "instrumental variables need instruments: the motion that was asked for, or the same once more"
        )
    if len(rows.y) <= len(kept):
        raise EstimateError(f"{len(rows.y)} equations for {len(kept)} parameters: expected a longer motion")
    joints = int(rows.rate.max()) + 1
    sigma = np.ones(joints) if noise is None or method == "ordinary" else noise
    beta = _solution(rows, kept, sigma, Z)
    left = _noise_left(rows, kept, beta, joints)
    for _ in range(0 if method == "ordinary" or noise is not None else ROUNDS):
        sigma = left
        beta = _solution(rows, kept, sigma, Z)
        left = _noise_left(rows, kept, beta, joints)
    true = left if noise is None else noise
    return _judged(rows, kept, beta, sigma, true, Z)


def _solution(rows: Rows, kept: tuple[int, ...], sigma: Array, Z: Rows | None) -> Array:
    W, y = rows.weighted(sigma)
    W, scale = _scaled(W[:, kept])
    if Z is None:
        return np.linalg.lstsq(W, y, rcond=None)[0] / scale
    V, _ = _scaled(Z.weighted(sigma)[0][:, kept])
    return np.linalg.solve(V.T @ W, V.T @ y) / scale


def _scaled(W: Array) -> tuple[Array, Array]:
    """Columns of length one, and the lengths they had."""
    lengths = np.linalg.norm(W, axis=0)
    lengths[lengths == 0] = 1.0
    return W / lengths, lengths


def _noise_left(rows: Rows, kept: tuple[int, ...], beta: Array, joints: int) -> Array:
    """Of one sample of each rate: parameters take from each as many degrees of freedom as its share of equations."""
    e = (rows.y - rows.W[:, kept] @ beta) * np.sqrt(rows.samples)
    n = np.bincount(rows.rate, minlength=joints)
    squares = np.bincount(rows.rate, weights=e**2, minlength=joints)
    size = np.sqrt(np.bincount(rows.rate, weights=rows.y**2, minlength=joints) / np.maximum(n, 1))
    least = FLOOR * max(size.max(initial=0.0), 1e-300)
    left = np.maximum(np.sqrt(squares / np.maximum(n * (1 - len(kept) / len(rows.y)), 1)), least)
    # rates that nothing drives would fit best with no masses at all: they count as the others do
    driven = size > 0
    return np.where(driven, left, np.median(left[driven]) if driven.any() else 1.0)


def _judged(rows: Rows, kept: tuple[int, ...], beta: Array, used: Array, true: Array, Z: Rows | None) -> Fit:
    """The covariance A Sigma A^T of beta = A y, in units of what the noise is."""
    W, _ = rows.weighted(used)
    W, scale = _scaled(W[:, kept])
    V = W if Z is None else _scaled(Z.weighted(used)[0][:, kept])[0]
    A = np.linalg.solve(V.T @ W, V.T)
    C = (A * ((true / used)[rows.rate]) ** 2) @ A.T
    e = (rows.y - rows.W[:, kept] @ beta) * np.sqrt(rows.samples) / true[rows.rate]
    covariance = (C + C.T) / 2 / np.outer(scale, scale)
    return Fit(beta, covariance, true, float(e @ e), len(e) - len(kept), float(np.linalg.cond(W)))
