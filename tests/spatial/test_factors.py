"""Factors of symmetric matrices: by straight lines as by LAPACK."""

import numpy as np
import pytest

from modurob.spatial.factors import cholesky, eigh
from modurob.trace import Graph

CLOSE = 1e-13


def symmetric(seed, n=4):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return A + A.T


def as_objects(A):
    return np.asarray(A, dtype=object)


@pytest.mark.parametrize("n", [1, 2, 4, 5])
def test_cholesky(n):
    A = symmetric(n, n) @ symmetric(n, n) + np.eye(n)
    for L in (cholesky(A), cholesky(as_objects(A)).astype(float)):
        np.testing.assert_allclose(L @ L.T, A, rtol=CLOSE, atol=CLOSE)
        np.testing.assert_array_equal(L, np.tril(L))


@pytest.mark.parametrize("seed", range(20))
def test_eigenvalues_of_any_matrix(seed):
    rng = np.random.default_rng(seed)
    scale = np.diag(10.0 ** rng.uniform(-4, 4, 4))
    A = scale @ symmetric(seed) @ scale if seed % 2 else symmetric(seed)
    w, U = (x.astype(float) for x in eigh(as_objects(A)))
    size = np.abs(A).max()
    np.testing.assert_allclose(U @ np.diag(w) @ U.T, A, atol=CLOSE * size, rtol=0)
    np.testing.assert_allclose(U.T @ U, np.eye(4), atol=CLOSE)
    np.testing.assert_allclose(np.sort(w), eigh(A)[0], atol=CLOSE * size, rtol=0)


@pytest.mark.parametrize("A", [np.zeros((4, 4)), np.eye(4), np.ones((4, 4)), np.diag([1.0, 2, 2, -1])])
def test_eigenvalues_that_are_equal(A):
    w, U = (x.astype(float) for x in eigh(as_objects(A)))
    np.testing.assert_allclose(U @ np.diag(w) @ U.T, A, atol=CLOSE)


def test_stacks_of_traced_matrices():
    graph, A = Graph(), np.stack([symmetric(1, 3), symmetric(2, 3)])
    w, U = eigh(graph.inputs("A", A.shape))
    assert (w.shape, U.shape) == ((2, 3), (2, 3, 3))
    values = graph.evaluate([x.index for x in w.ravel()], {"A": A.ravel()})
    found = np.array([values[x.index] for x in w.ravel()]).reshape(2, 3)
    np.testing.assert_allclose(np.sort(found), np.linalg.eigvalsh(A), atol=CLOSE)
