"""Quadratic programmes: min x^T P x / 2 + c^T x with a <= A x <= b, through qpsolvers, by ProxQP unless another is named."""

import warnings
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from modurob.errors import InputError, choices
from modurob.spatial.scalars import Array
from modurob.statics.active_set import active_bounds

# unknowns up to which a programme is solved here
SMALL = 32
# what solvers are asked for; the bounds that hold are then taken as equations, which leaves rounding alone
ACCURACY = {"proxqp": {"eps_abs": 1e-8, "eps_rel": 0.0}, "osqp": {"eps_abs": 1e-6, "eps_rel": 1e-6, "polish": True}}


# who is asked where the first finds nothing
SECOND = ("clarabel",)
# bounds this near to what a solver found are met at first guess; how often that is looked at again; and what is rounding
GUESS, POLISHES, ROUNDING = 1e-2, 20, 1e-11


def quadratic_programme(P: Array, c: Array, A: Array, a: Array, b: Array, solver: str = "proxqp") -> Array | None:
    """The x with the lowest cost, (n,), or None if there is none within the bounds; rows of A with a = b are equations.

    Infinite bounds are no bounds. Small programs with a positive definite P and without equations are solved here by an
    active-set method, which takes less time than setting up a solver; the others are passed to it. If it finds no
    solution, another solver is tried: ProxQP 0.8 reports some narrow problems as infeasible.
    """
    qp: Any = _solvers(solver)
    if len(c) == 1:
        return _of_one(P[0, 0], c[0], A[:, 0], a, b)
    if len(c) <= SMALL and not (a == b).any() and (found := _by_bounds(P, c, A, a, b)) is not None:
        return found
    for name in dict.fromkeys((solver, *(x for x in SECOND if x in qp.available_solvers))):
        x = _asked(qp, name, P, c, A, a, b)
        if x is not None and _holds(A, a, b, x):
            return _polished(P, c, A, a, b, x)
    return None


def _by_bounds(P: Array, c: Array, A: Array, a: Array, b: Array) -> Array | None:
    """The best x by `active_bounds`; None if a solver is needed."""
    under, over = np.isfinite(a), np.isfinite(b)
    x = active_bounds(P, c, np.concatenate([A[under], -A[over]]), np.concatenate([a[under], -b[over]]))
    return x if x is not None and _holds(A, a, b, x) else None


def _asked(qp: Any, solver: str, P: Array, c: Array, A: Array, a: Array, b: Array) -> Array | None:
    """The solution of a solver, computed with scaled numbers of order one: the unconstrained optimum, the difference
    from it, and rows of unit length.
    """
    cost = max(np.abs(P).max(), 1e-300)
    row = np.maximum(np.linalg.norm(A, axis=1), 1e-300)
    best = -np.linalg.lstsq(P, c, rcond=1e-12)[0]
    lacks = np.maximum(np.maximum(a - A @ best, A @ best - b), 0.0) / row
    size = max(np.abs(best).max(), lacks.max(initial=0.0), 1e-300)
    A, a, b = A / row[:, None], a / (size * row), b / (size * row)
    equal = a == b
    over, under = np.isfinite(b) & ~equal, np.isfinite(a) & ~equal
    G, h = np.vstack([A[over], -A[under]]), np.concatenate([b[over], -a[under]])
    given = (G, h) if len(h) else (None, None)
    held = (A[equal], b[equal]) if equal.any() else (None, None)
    problem = qp.Problem(P / cost, c / (cost * size), *given, *held)
    with warnings.catch_warnings():
        # that a dense matrix became a sparse one
        warnings.simplefilter("ignore")
        found = qp.solve_problem(problem, solver=solver, **ACCURACY.get(solver, {}))
    return size * np.array(found.x) if found.found and found.x is not None else None


def _of_one(p: float, c: float, A: Array, a: Array, b: Array) -> Array | None:
    """The optimum of one unknown, within the bounds of its rows; ProxQP fails for such problems."""
    moves = A != 0
    with np.errstate(invalid="ignore"):
        ends = np.sort([a[moves] / A[moves], b[moves] / A[moves]], axis=0)
    low, high = ends[0].max(initial=-np.inf), ends[1].min(initial=np.inf)
    slack = 1e-9 * (1 + abs(low if np.isfinite(low) else 0.0))
    if low > high + slack or (a[~moves] > slack).any() or (b[~moves] < -slack).any():
        return None
    return np.clip(np.array([-c / p if p else 0.0]), low, max(low, high))


def _polished(P: Array, c: Array, A: Array, a: Array, b: Array, x: Array) -> Array:
    """x with the bounds that it lies on taken as equations, to the last digit; x itself if that comes to no end."""
    y = A @ x
    near = GUESS * (1 + np.abs(y))
    found = _on_the_right_bounds(P, c, A, a, b, np.abs(y - a) < near, np.abs(y - b) < near)
    return x if found is None else found


def _on_the_right_bounds(P: Array, c: Array, A: Array, a: Array, b: Array, low: Array, high: Array) -> Array | None:
    """The best x, from a guess of its active bounds: bounds with negative multipliers are released and violated bounds
    added, until all conditions hold; None if that does not terminate.
    """
    equal, size = a == b, np.abs(A)
    for _ in range(POLISHES):
        x, pushes = _on_bounds(P, c, A, np.where(low, a, b), low | high)
        y, rounding = A @ x, ROUNDING * (1 + size @ np.abs(x))
        # bounds push inward alone
        idle = ~equal & ((low & (pushes > ROUNDING)) | (high & ~low & (pushes < -ROUNDING)))
        under, over = (y < a - rounding) & ~low, (y > b + rounding) & ~high
        if not (idle | under | over).any():
            # rows that contradict each other leave some of them unmet
            return x if _holds(A, a, b, x) else None
        low, high = (low & ~idle) | under, (high & ~idle) | over
    return None


def _on_bounds(P: Array, c: Array, A: Array, r: Array, on: Array) -> tuple[Array, Array]:
    """The best x with some rows as equations, and what each row pushes with, zero for the others."""
    N, n, k = A[on], len(c), int(on.sum())
    KKT = np.block([[P, N.T], [N, np.zeros((k, k))]])
    found = np.linalg.lstsq(KKT, np.concatenate([-c, r[on]]), rcond=1e-14)[0]
    pushes = np.zeros(len(on))
    pushes[on] = found[n:]
    return found[:n], pushes


def _holds(A: Array, a: Array, b: Array, x: Array) -> bool:
    """Whether the bounds are kept, to what solvers promise."""
    y = A @ x
    size = 1e-6 * (1 + np.abs(np.where(np.isfinite(y), y, 0.0)).max(initial=0.0))
    return bool(((y >= a - size) & (y <= b + size)).all())


@lru_cache(maxsize=16)
def _solvers(solver: str) -> Any:
    """The module qpsolvers, once it is known to have that solver."""
    try:
        qp = import_module("qpsolvers")
    except ImportError:
        raise InputError("quadratic programmes need qpsolvers: pip install modurob[qp]") from None
    if solver not in qp.available_solvers:
        raise InputError(f"no solver {solver!r}: {choices(solver, qp.available_solvers)}")
    return qp
