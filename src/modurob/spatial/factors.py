"""Factors of small symmetric matrices of any scalars: by LAPACK where they are numbers, by straight lines where they are not."""

from itertools import combinations

import numpy as np

from modurob.spatial.scalars import Array, absolute, is_numeric, select, sqrt

# sweeps of Jacobi's rotations, each of which squares what is left beside the diagonal: matrices of four rows need five
SWEEPS = 6


def cholesky(A: Array) -> Array:
    """The lower triangular L of A = L L^T, (..., n, n), for a positive definite A."""
    if is_numeric(A):
        return np.linalg.cholesky(A)
    n, L = A.shape[-1], np.zeros(A.shape, A.dtype)
    for k in range(n):
        left = A[..., k:, k] - (L[..., k:, :k] * L[..., k, None, :k]).sum(axis=-1)
        L[..., k:, k] = left / sqrt(left[..., :1])
    return L


def eigh(A: Array) -> tuple[Array, Array]:
    """Eigenvalues w, (..., n), and eigenvectors U, (..., n, n), of A = U diag(w) U^T; in order only where they are numbers.

    Others are found by cyclic Jacobi rotations, as many for any matrix.
    """
    if is_numeric(A):
        return np.linalg.eigh(A)
    n = A.shape[-1]
    A, U = np.array(A), np.array(np.broadcast_to(np.eye(n), A.shape), A.dtype)
    for _ in range(SWEEPS):
        for i, j in combinations(range(n), 2):
            c, s = rotation(A[..., i, i], A[..., i, j], A[..., j, j])
            rotate(A, i, j, c, s)
            rotate(np.swapaxes(A, -1, -2), i, j, c, s)
            A[..., i, j] = A[..., j, i] = 0.0
            rotate(U, i, j, c, s)
    return np.einsum("...ii->...i", A), U


def rotation(a: Array, b: Array, d: Array) -> tuple[Array, Array]:
    """Cosine and sine of the smaller angle that makes [[a, b], [b, d]] diagonal."""
    way = d - a
    beside = absolute(way) + sqrt(way * way + 4 * b * b)
    tangent = select(way, 0.0, -2.0, 2.0) * b / select(0.0, beside, beside, 1.0)
    c = 1 / sqrt(1 + tangent * tangent)
    return c, tangent * c


def rotate(A: Array, i: int, j: int, c: Array, s: Array) -> None:
    """Columns i and j of A, in place: (c x_i - s x_j, s x_i + c x_j)."""
    x, y, c, s = A[..., i].copy(), A[..., j].copy(), np.asarray(c)[..., None], np.asarray(s)[..., None]
    A[..., i], A[..., j] = c * x - s * y, s * x + c * y
