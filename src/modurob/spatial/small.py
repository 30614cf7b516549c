"""Small dense systems of numbers, straight from LAPACK: for matrices of ten rows NumPy's wrappers take longer than the work."""

from importlib import import_module
from typing import Any

import numpy as np

from modurob.spatial.scalars import Array

lapack: Any = import_module("scipy.linalg.lapack")


def complete_qr(A: Array) -> tuple[Array, Array]:
    """Q, (n, n), and R, (k, k), of A = Q[:, :k] R, (n, k) with k <= n; what is below the diagonal of R means nothing."""
    n, k = A.shape
    packed, tau, _, _ = lapack.dgeqrf(A)
    square = np.zeros((n, n), order="F")
    square[:, :k] = packed
    return lapack.dorgqr(square, tau, overwrite_a=1)[0], packed[:k]


def solve_transposed(R: Array, b: Array) -> Array:
    """x with R^T x = b for a regular R that is read above its diagonal alone, as `complete_qr` gives it."""
    return lapack.dtrtrs(R, b, trans=1)[0]


def solve_positive(A: Array, b: Array) -> Array | None:
    """x with A x = b for a symmetric A, which is read above its diagonal alone; None unless it is positive definite."""
    _, x, fault = lapack.dposv(A, b)
    return None if fault else x


def factor(A: Array) -> Array | None:
    """The lower triangular L of A = L L^T, zeros above its diagonal; None unless A is positive definite."""
    L, fault = lapack.dpotrf(A, lower=1, clean=1)
    return None if fault else L


def solve_factor(L: Array, b: Array, transposed: bool = False) -> Array:
    """x with L x = b, or with L^T x = b, for a regular lower triangular L."""
    return lapack.dtrtrs(L, b, lower=1, trans=int(transposed))[0]


def thin_svd(A: Array) -> tuple[Array, Array, Array]:
    """U, s and V^T of A = U diag(s) V^T, as `np.linalg.svd(A, full_matrices=False)`."""
    if not A.size:
        return np.linalg.svd(A, full_matrices=False)
    U, s, Vt, fault = lapack.dgesdd(A, full_matrices=0)
    if fault:
        raise np.linalg.LinAlgError("SVD did not converge")
    return U, s, Vt
