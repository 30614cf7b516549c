"""Inverse dynamics as optimisation: of all inputs that produce a motion, the smallest within their bounds (Lieskovsky,
chapter 2).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from modurob.algorithms.constraints.actuation import inputs_of
from modurob.algorithms.constraints.torques import free_motions
from modurob.errors import ControlError, choices
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array, as_array
from modurob.statics.quadratic import quadratic_programme

FORMS = ("null-space", "direct", "nonlinear")
# singular values of B this much smaller than the largest are none; what may be missing of e, in parts of it
RANK, MISSING = 1e-9, 1e-7


def optimal_inputs(
    B: Array, e: Array, lower: Array, upper: Array, form: str = "null-space", solver: str = "proxqp"
) -> Array | None:
    """The u of least u^T u with B u = e, lower <= u <= upper, (n,), or None if there is none.

    "direct": a quadratic programme in u with rows (B; 1); "null-space": in z, u = u0 + N z, N = null B, u0 = B^+ e, which is the
    answer if it keeps the bounds; "nonlinear": sequential quadratic programming of SciPy.

    >>> mr.control.optimal_inputs(np.array([[1.0, 1.0]]), np.array([4.0]), np.zeros(2), np.array([1.0, 9.0])).round(6)
    array([1., 3.])
    """
    if form not in FORMS:
        raise ControlError(f"no form {form!r} of inverse dynamics: {choices(form, FORMS)}")
    u0, N = _split(B, e)
    if np.abs(B @ u0 - e).max(initial=0.0) > MISSING * max(np.abs(e).max(initial=0.0), 1e-300):
        return None
    if ((u0 >= lower) & (u0 <= upper)).all():
        return u0
    # numbers of order one
    size = np.abs(u0).max()
    a, b, first = lower / size, upper / size, u0 / size
    found = {"null-space": _null_space, "direct": _direct, "nonlinear": _nonlinear}[form](
        B, e / size, a, b, first, N, solver
    )
    return None if found is None else size * found


def _split(B: Array, e: Array) -> tuple[Array, Array]:
    """B^+ e, and the null vectors of B as columns."""
    U, s, Vt = np.linalg.svd(B)
    rank = int((s > RANK * max(s.max(initial=0.0), 1e-300)).sum())
    return Vt[:rank].T @ ((U[:, :rank].T @ e) / s[:rank]), Vt[rank:].T


def _null_space(B: Array, e: Array, a: Array, b: Array, u0: Array, N: Array, solver: str) -> Array | None:
    if not N.shape[1]:
        return None
    z = quadratic_programme(np.eye(N.shape[1]), N.T @ u0, N, a - u0, b - u0, solver)
    return None if z is None else u0 + N @ z


def _direct(B: Array, e: Array, a: Array, b: Array, u0: Array, N: Array, solver: str) -> Array | None:
    n = B.shape[1]
    # rows of B that say the same as others would leave solvers without a unique multiplier
    U, s, Vt = np.linalg.svd(B, full_matrices=False)
    kept = s > RANK * max(s.max(initial=0.0), 1e-300)
    rows, wanted = Vt[kept], (U.T @ e)[kept] / s[kept]
    A = np.vstack([rows, np.eye(n)])
    return quadratic_programme(
        np.eye(n), np.zeros(n), A, np.concatenate([wanted, a]), np.concatenate([wanted, b]), solver
    )


def _nonlinear(B: Array, e: Array, a: Array, b: Array, u0: Array, N: Array, solver: str) -> Array | None:
    from scipy.optimize import minimize  # which takes long to load

    equal: Any = {"type": "eq", "fun": lambda u: B @ u - e, "jac": lambda u: B}
    start = np.clip(u0, a, b)
    found = minimize(
        lambda u: u @ u / 2, start, jac=lambda u: u, bounds=list(zip(a, b, strict=True)), constraints=[equal],
        method="SLSQP", options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    return found.x if found.success and np.abs(B @ found.x - e).max() < 1e-7 * (1 + np.abs(e).max()) else None


def optimal_inverse_dynamics(
    robot: Mechanism, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, form: str = "null-space", solver: str = "proxqp"
) -> Array:
    """The smallest inputs within their bounds, (inputs,), that produce vdot, (nv,), with the passive forces of the
    robot acting.

    Inputs are those of `robot.actuation`: driven joints, then lines under a given tension. An error if there are no
    such inputs.

    >>> u = mr.control.optimal_inverse_dynamics(robot, q, v, np.zeros(3))
    >>> u.round(3)
    array([6.671, 1.023, 0.723])
    """
    q, v, vdot = robot._q(q), robot._v(v), robot._v(vdot, "vdot")
    given = inputs_of(robot, q)
    missing = robot.mass_matrix(q) @ vdot + robot.bias_forces(q, v) - robot.passive_forces(q, v)
    G = free_motions(robot.loop_jacobian(q)) if robot.constraints else np.eye(robot.nv)
    u = optimal_inputs(G.T @ given.B, G.T @ as_array(missing), given.lower, given.upper, form, solver)
    if u is None:
        raise ControlError(
            f"{robot.name}: no inputs within their bounds bring about this motion: inputs are {', '.join(given.names) or 'none'}, "
            f"from {given.lower.tolist()} to {given.upper.tolist()}; it asks for the forces {np.round(G.T @ missing, 4).tolist()} "
            f"along motions that B = {np.round(G.T @ given.B, 4).tolist()} drives"
        )
    return u
