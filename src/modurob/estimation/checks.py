"""Matrices of a filter, read from what users write."""

from typing import Any

import numpy as np

from modurob.errors import EstimateError
from modurob.spatial.scalars import Array

# eigenvalues this much below zero, relative to the largest, are rounding
ROUNDING = 1e-12

Covariance = Any  # a variance, variances, or a matrix


def number(x: Any, name: str, unit: str) -> float:
    """`x` as a float, zero or more."""
    if isinstance(x, bool) or not isinstance(x, int | float | np.number) or not 0 <= x < np.inf:
        raise EstimateError(f"{name} is {x!r}: expected a finite number [{unit}], zero or more")
    return float(x)


def numbers(x: Any, name: str) -> Array:
    """`x` as an array of finite numbers."""
    try:
        x = np.asarray(x, dtype=float)
    except (TypeError, ValueError):
        raise EstimateError(f"{name} = {x!r:.60}: expected numbers") from None
    if not np.isfinite(x).all():
        raise EstimateError(f"{name} has numbers that are not finite: expected finite ones")
    return x


def covariance(x: Covariance, n: int, name: str, shares: int = 1) -> Array:
    """A positive semi-definite matrix, (n, n), from one, from n variances, or from one variance for each share of the n."""
    given = numbers(x, name)
    variances = given.reshape(-1)
    if given.ndim < 2 and len(variances) == shares:
        variances = variances.repeat(n // shares)
    P = given if given.ndim == 2 else np.diag(variances)
    if P.shape != (n, n):
        few = "one variance" if shares == 1 else f"{shares} variances (positions, velocities)"
        raise EstimateError(f"{name} has shape {given.shape}: expected {few}, {n} variances, or a matrix ({n}, {n})")
    if np.abs(P - P.T).max(initial=0) > ROUNDING * np.abs(P).max(initial=0):
        raise EstimateError(f"{name} is not symmetric: expected a covariance, {name} = {name}^T")
    values = np.linalg.eigvalsh(P)
    if values.min(initial=0) < -ROUNDING * np.abs(values).max(initial=0):
        raise EstimateError(
            f"{name} has the eigenvalue {values.min():.6g}: expected a covariance, positive semi-definite"
        )
    return P


def matrix(x: Any, rows: int, name: str) -> Array:
    """`x`, (rows, any); None is the identity."""
    M = np.eye(rows) if x is None else numbers(x, name)
    if M.ndim != 2 or len(M) != rows:
        raise EstimateError(f"{name} has shape {M.shape}: expected a matrix with {rows} rows")
    return M


def positive(P: Array, name: str) -> Array:
    """A covariance without a direction of no variance."""
    values = np.linalg.eigvalsh(P)
    if values.min(initial=np.inf) <= ROUNDING * np.abs(values).max(initial=0):
        raise EstimateError(
            f"{name} has the eigenvalue {values.min():.6g}: expected positive definite; "
            "give the sensors noise or a resolution, or the filter another R"
        )
    return P
