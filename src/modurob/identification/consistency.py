"""Parameters that bodies can have: the likeliest with positive pseudo-inertias (Traversaro, Brossette, Escande, Nori 2016)."""

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from modurob.errors import EstimateError
from modurob.spatial.inertia import pseudo_inertia
from modurob.spatial.scalars import Array

# the believed parameters count as much as measurements with a hundred times their size for a deviation: they decide what data do
# not
BELIEF = 1e-4
# the least eigenvalue of a pseudo-inertia, relative to that of the body that was believed in
LEAST = 1e-6
# bodies lighter than this share of the mean, or smaller than this [m], count as that heavy and that large
LIGHT, SMALL = 1e-2, 0.02


class Problem(NamedTuple):
    """The information about parameters pi: K pi = beta up to the covariance, near the `believed` ones, some of them
    non-negative.
    """

    K: Array
    beta: Array
    covariance: Array
    believed: Array
    bodies: int  # the first ten times as many entries of pi are bodies
    free: Array  # places of entries that may be below zero
    known: Array  # places of entries that stay as they are

    @property
    def scale(self) -> Array:
        """Sizes of the entries of pi."""
        ten, rest = self.believed[: 10 * self.bodies].reshape(-1, 10), self.believed[10 * self.bodies :]
        mass = np.maximum(ten[:, 0], LIGHT * max(ten[:, 0].mean(), 1e-9) if self.bodies else 0.0)
        spread = np.sqrt(np.maximum(ten[:, [4, 6, 9]].sum(axis=1), 0.0) / mass)
        length = np.maximum(spread, SMALL)
        own = mass[:, None] * length[:, None] ** np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
        seen = (np.abs(self.K.T) @ np.abs(self.beta))[10 * self.bodies :]
        return np.concatenate([own.ravel(), np.maximum(np.maximum(np.abs(rest), seen), 1e-6)])


def is_consistent(problem: Problem, pi: Array) -> bool:
    """Whether bodies, rotors and friction can be these."""
    ten = (pi / problem.scale)[: 10 * problem.bodies].reshape(-1, 10)
    bodies = problem.bodies == 0 or np.linalg.eigvalsh(pseudo_inertia(ten)).min() > 0
    rest = np.delete(pi[10 * problem.bodies :], problem.free - 10 * problem.bodies)
    return bool(bodies and np.all(rest >= 0))


def consistent(problem: Problem) -> Array:
    """The likeliest physically consistent parameters of bodies, rotors and friction, (parameters,).

    min |R (K pi - beta)|² + belief |(pi - believed)/scale|², R^T R the inverse of the covariance, under positive
    definite pseudo-inertias and non-negative rotors and friction: a semidefinite program (extra `qp`), unless the
    unconstrained minimum satisfies these conditions.
    """
    nearest = _nearest(problem)
    return nearest if is_consistent(problem, nearest) else _by_cones(problem, nearest)


def _nearest(p: Problem) -> Array:
    """The parameters nearest to the given ones, in units of scale, with K pi = beta exactly."""
    K = p.K * p.scale
    return p.believed + p.scale * (np.linalg.pinv(K) @ (p.beta - p.K @ p.believed))


def _by_cones(p: Problem, start: Array) -> Array:
    """The semidefinite program over (u, z): pi = start + scale (A u + N z), u the errors of beta in units of their deviation."""
    K = p.K * p.scale
    _, sizes, Vt = np.linalg.svd(np.vstack([K, np.eye(K.shape[1])[p.known]]))
    N = Vt[len(sizes) :].T
    L = np.linalg.cholesky(p.covariance + 1e-30 * np.eye(len(p.beta)))
    T = np.hstack([np.linalg.pinv(K) @ L, N])
    u = np.zeros(T.shape[1])
    u[: len(p.beta)] = 1.0
    offset = (start - p.believed) / p.scale
    P = np.diag(u) + BELIEF * T.T @ T
    found = _solved(P, BELIEF * T.T @ offset, *_cones(p, start, T))
    return start + p.scale * (T @ found)


def _cones(p: Problem, start: Array, T: Array) -> tuple[Array, Array, list[Any]]:
    """A, b and cones with b - A x in them: entries that are not negative, then a pseudo-inertia for each body."""
    clarabel, at, n = _solver(), start / p.scale, 10 * p.bodies
    positive = np.setdiff1d(np.arange(n, len(at)), p.free)
    A, b, cones = [-T[positive]], [at[positive]], [clarabel.NonnegativeConeT(len(positive))] if len(positive) else []
    triangle = _triangle()
    for k in range(p.bodies):
        own = slice(10 * k, 10 * k + 10)
        A.append(-triangle @ T[own])
        b.append(triangle @ at[own] - LEAST * _upper(np.eye(4)))
        cones.append(clarabel.PSDTriangleConeT(4))
    return np.vstack(A), np.concatenate(b), cones


def _upper(S: Array) -> Array:
    """The upper triangle, column by column, off the diagonal times the root of two."""
    j, i = np.tril_indices(4)
    return S[..., i, j] * np.where(i == j, 1.0, np.sqrt(2.0))


def _triangle() -> Array:
    """(10, 10): the upper triangle of the pseudo-inertia of ten parameters."""
    return _upper(pseudo_inertia(np.eye(10))).T


def _solver() -> Any:
    try:
        return import_module("clarabel")
    except ImportError:
        raise EstimateError(
            "parameters that no rigid body has are corrected by a semidefinite program, which needs clarabel: "
            "pip install 'modurob[qp]'; or take what was found without it, .values"
        ) from None


def _solved(P: Array, c: Array, A: Array, b: Array, cones: list[Any]) -> Array:
    clarabel = _solver()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(P)), c, sparse.csc_matrix(A), b, cones, settings
    ).solve()
    if str(solution.status) not in ("Solved", "AlmostSolved"):
        raise EstimateError(f"no parameters that rigid bodies can have were found: {solution.status}")
    return np.asarray(solution.x)
