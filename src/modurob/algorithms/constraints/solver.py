"""The one solve for all constraints: M vdot - K^T lambda = force, K vdot = k, also if rows depend on each other.

Redundant rows, as in every planar loop, and configurations where K loses rank need no special treatment: the
multipliers are found by a proximal iteration, which converges to the accelerations whether K has full rank or not. A
constraint that moves almost no inertia, relative to `PROXIMAL`, is released rather than followed into a singularity.
"""

from typing import NamedTuple

import numpy as np

from modurob.algorithms.program import is_singular
from modurob.algorithms.steps import apply, transposed
from modurob.spatial.scalars import Array, dot, is_numeric, pivots, select, solve, sqrt

# the proximal term, relative to the diagonal of the scaled matrix; its iterations; the coefficients of (1 - x)²
PROXIMAL = 1e-7
ITERATIONS = 6
COEFFICIENTS = (1, -2, 1)
# terms of the proximal series that differ by less, next to their sum, are the same
SETTLED = 1e-11
# rows shorter than the root of this times the longest are rounding
ROUNDING = float(np.finfo(float).eps)
# the part of a row at free rates that is rounding beside all of it
LOST = 1e-13


class Solution(NamedTuple):
    """Accelerations, (..., nv), multipliers, (..., rows), and whether a degree of freedom moves no inertia, (...)."""

    vdot: Array
    multipliers: Array
    singular: Array


def constrained_solution(M: Array, K: Array, force: Array, k: Array, unit: Array | float = 1.0) -> Solution:
    """Solve with M, (..., nv, nv), K, (..., rows, nv), force, (..., nv), k, (..., rows); M may be singular where K is not.

    Inertias are compared in the `unit` of each rate, (nv,): small robots have far less of it along angles than along lengths.
    M is first given the inertia K^T W K against moving the constraints, which changes no solution; then vdot = y + Z s mu with
    y = M^-1 force, Z = M^-1 K^T, and (s K Z s) mu = s (k - K y) solved by the proximal iteration, rows scaled by s.
    """
    M, WK = _stiffened(M, K, unit)
    force = force + apply(transposed(WK), k)
    found = solve(M, np.concatenate([force[..., None], transposed(K)], axis=-1))
    y, Z = found[..., 0], found[..., 1:]
    D, s = _scaled(K @ Z)
    multipliers = s * proximal_solution(D, s * (k - apply(K, y)))
    return Solution(y + apply(Z, multipliers), multipliers, _is_singular(M))


def constrained_inverse(M: Array, K: Array, unit: Array | float = 1.0) -> tuple[Array, Array]:
    """P, (..., nv, nv), and Q, (..., nv, rows), with vdot = P force + Q k for any force and k of `constrained_solution`.

    K P = 0, so that what k adds to force there changes nothing.
    """
    M, _ = _stiffened(M, K, unit)
    inverse = solve(M, np.broadcast_to(np.eye(M.shape[-1]), M.shape))
    Z = inverse @ transposed(K)
    D, s = _scaled(K @ Z)
    ZD = Z @ (s[..., :, None] * proximal_inverse(D) * s[..., None, :])
    return inverse - ZD @ transposed(Z), ZD


def _stiffened(M: Array, K: Array, unit: Array | float) -> tuple[Array, Array]:
    """M + K^T W K, and W K."""
    WK = _weights(M, K, unit)[..., None] * K
    return M + transposed(K) @ WK, WK


def _scaled(D: Array) -> tuple[Array, Array]:
    """s D s with a diagonal of ones, or almost nothing in rows of rounding, and s."""
    own = np.einsum("...ii->...i", D)
    s = row_scale(own, sizes(own))
    return s[..., :, None] * D * s[..., None, :], s


def free_rows(K: Array, free: Array) -> Array:
    """K without the entries of rates that are held, where `free` is zero, (..., rows, nv); rows of which only rounding is left are
    zero: scaling would make constraints of them."""
    left = K * free[..., None, :]
    return left_of_row(left, dot(left, left)[..., None], dot(K, K)[..., None], LOST * LOST)


def proximal_solution(D: Array, b: Array) -> Array:
    """x with D x = b for a symmetric positive semidefinite D of unit diagonal, (..., n, n), and b within its range, (..., n).

    With A = (D + p)^-1, E = p A and k iterations, x = (1 - E^k)² (1 + E + ... + E^(k-1)) A b. Along an eigenvector of D with the
    eigenvalue d it is b / d times g³, g = 1 - (p / (d + p))^k: one to rounding for constraints, and of the order of (d / p)³ for
    rows that depend on others but for rounding, or but for a loop that stands open a little. So x is the smallest solution.
    Kernels stop as soon as terms E^i A b settle: the coefficients of all of them add up to zero.
    """
    damped = D + PROXIMAL * np.eye(D.shape[-1])
    term, x = b / PROXIMAL, np.zeros(b.shape, dtype=b.dtype)
    for coefficient in COEFFICIENTS:
        for _ in range(ITERATIONS):
            term = solve(damped, PROXIMAL * term[..., None])[..., 0]
            x = x + coefficient * term
    return x


def proximal_inverse(D: Array) -> Array:
    """The matrix that takes b to x with D x = b, as `proximal_solution` does, (..., n, n).

    With A = (D + p)^-1 and E = p A, the k iterations sum up to C = A (1 + E + ... + E^(k-1)), of which g = D C = 1 - E^k; what is
    repeated is R = g² C. Last, one Newton step, 2 R - R D R: rounding divided by the proximal term does not stay.
    """
    one = np.eye(D.shape[-1])
    A = solve(D + PROXIMAL * one, np.broadcast_to(one, D.shape))
    E = PROXIMAL * A
    term, R = A, A
    for _ in range(ITERATIONS - 1):
        term = E @ term
        R = R + term
    g = one - np.linalg.matrix_power(E, ITERATIONS)
    for _ in COEFFICIENTS[1:]:
        R = g @ R
    return 2 * R - R @ D @ R


def _weights(M: Array, K: Array, unit: Array | float) -> Array:
    """As much inertia for each row as the tree has on average, (..., rows)."""
    average = (np.einsum("...ii->...i", M) * unit * unit).sum(axis=-1) / max(M.shape[-1], 1)
    return row_weight(average[..., None], sizes(dot(K * unit, K * unit)))


def sizes(x: Array) -> Array:
    """Sizes of rows, squared, (..., rows); those of rounding alone, as planar loops have, count as `ROUNDING` of the largest."""
    if not is_numeric(x):
        return x
    largest = np.real(x).max(axis=-1, initial=0.0, keepdims=True)
    return raised_size(x, least_size(largest, ROUNDING))


def _is_singular(M: Array) -> Array:
    if not is_numeric(M):
        return np.zeros(M.shape[:-2], dtype=bool)
    return is_singular(pivots(M), np.einsum("...ii->...i", M))


# ---- local steps: what is done to a row, or an entry; kernels are traced from these ----


def least_size(largest: Array, rounding: Array | float) -> Array:
    """The size, squared, that rows of rounding alone count as."""
    return select(0.0, largest, rounding * largest, 1.0)


def raised_size(size: Array, least: Array) -> Array:
    """The size, squared, that a row counts as."""
    return select(least, size, size, least)


def row_weight(average: Array, size: Array) -> Array:
    """The inertia against moving a constraint."""
    return average / size


def row_scale(size: Array, counted: Array) -> Array:
    """What takes an entry on the diagonal to one, and a row of rounding, which counts as larger than it is, to less than it is."""
    return sqrt(size) / counted


def left_of_row(entry: Array, left: Array, whole: Array, rounding: Array | float) -> Array:
    """An entry of a row without those of held rates, of whose size, squared, so much is left."""
    return select(rounding * whole, left, entry, 0.0)


def free_inertia(entry: Array, row: Array, column: Array, one: Array) -> Array:
    """An entry of the mass matrix, with those of the identity, `one`, where a rate is held: `free` of its row or column is zero."""
    return row * entry * column + (1 - row) * one
