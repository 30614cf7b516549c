"""Quadratic programmes: min x^T P x / 2 + c^T x with a <= A x <= b, through qpsolvers, by ProxQP unless another is named."""

from importlib import import_module
from typing import Any

import numpy as np

from modurob.errors import InputError, choices
from modurob.spatial.scalars import Array

# what solvers are asked for; ProxQP meets it at no cost
ACCURACY = {"proxqp": {"eps_abs": 1e-10, "eps_rel": 0.0}, "osqp": {"eps_abs": 1e-6, "eps_rel": 1e-6, "polish": True}}


def quadratic_programme(
    P: Array, c: Array, A: Array, a: Array, b: Array, solver: str = "proxqp", start: Array | None = None
) -> Array | None:
    """The x of least cost, (n,), or None if there is none within the bounds; rows of A with a = b are equations.

    Rows and unknowns are best scaled by whoever asks; infinite bounds are none.
    """
    qp: Any = _solvers(solver)
    equal = a == b
    over, under = np.isfinite(b) & ~equal, np.isfinite(a) & ~equal
    G, h = np.vstack([A[over], -A[under]]), np.concatenate([b[over], -a[under]])
    given = (G, h) if len(h) else (None, None)
    held = (A[equal], b[equal]) if equal.any() else (None, None)
    problem = qp.Problem(P, c, *given, *held)
    found = qp.solve_problem(problem, solver=solver, initvals=start, **ACCURACY.get(solver, {}))
    return np.array(found.x) if found.found and found.x is not None and _holds(A, a, b, found.x) else None


def _holds(A: Array, a: Array, b: Array, x: Array) -> bool:
    """Whether the bounds are kept, to what solvers promise."""
    y = A @ x
    size = 1e-6 * (1 + np.abs(np.where(np.isfinite(y), y, 0.0)).max(initial=0.0))
    return bool(((y >= a - size) & (y <= b + size)).all())


def _solvers(solver: str) -> Any:
    try:
        qp = import_module("qpsolvers")
    except ImportError:
        raise InputError("quadratic programmes need qpsolvers: pip install modurob[qp]") from None
    if solver not in qp.available_solvers:
        raise InputError(f"no solver {solver!r}: {choices(solver, qp.available_solvers)}")
    return qp
