"""Differential inverse kinematics: the velocity that moves towards goals for one time step, within all limits.

    v = argmin |J v dt - gain e|² + damping |v dt|²   subject to   lower <= v <= upper,   K v dt = -loop error

as a quadratic program (Kanoun, Lamiraux and Wieber, Kinematic control of redundant manipulators).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modurob.algorithms.descent import margins
from modurob.errors import ClosureError, InputError
from modurob.kinematics.inverse.goals import Goal
from modurob.kinematics.inverse.problem import problem
from modurob.mechanism.tables import Limits, Tables
from modurob.spatial.scalars import Array

# the program is solved to this, in so many steps at most; rows below this part of the largest depend on the others
ACCURACY, MOST, RANK = 1e-10, 2000, 1e-8


def velocity_towards(
    m: Tables,
    goals: Goal | Sequence[Goal],
    q: Array,
    dt: float,
    v: Array | None,
    acceleration: Any,
    gain: float,
    damping: float,
    limits: bool,
) -> Array:
    """v, (nv,), for the next dt seconds from configuration q, (nq,), and velocity v before."""
    p = problem(m, goals, limits)
    if p.target.ndim != 1 or q.ndim != 1:
        raise InputError(f"goals with leading axes {p.target.shape[:-1]}, q {q.shape[:-1]}: expected one configuration")
    found = p.look(q, p.target)
    rows = sum(c.rows for c in m.constraints)
    goal_rows = len(found.error) - rows
    A, b = found.J[:goal_rows], gain * found.error[:goal_rows]
    window = velocity_window(m, q, dt, np.zeros(m.nv) if v is None else v, acceleration, p.limits)
    if not limits:
        window = Limits(np.full(m.nv, -np.inf), np.full(m.nv, np.inf))
    closure = _independent(found.J[goal_rows:], found.error[goal_rows:]) if rows else (None, None)
    # in ways v dt, which have the size of the errors
    P, c, ways = A.T @ A + damping * np.eye(m.nv), -A.T @ b, Limits(window.lower * dt, window.upper * dt)
    return np.clip(_solved(m, P, c, closure, ways) / dt, window.lower, window.upper)


def velocity_window(m: Tables, q: Array, dt: float, v: Array, acceleration: Any, limits: Limits) -> Limits:
    """The velocities allowed for the next dt, (nv,) each: within the joints' speeds, and stopping short of their limits.

    With a bound a on accelerations, |v - v_before| <= a dt, a joint must still be able to brake before its limit, at the
    distance s: v <= sqrt(2 a s) - a dt / 2, which every such step keeps possible for the next.
    """
    low, high = margins(m, q, limits)
    fastest = np.abs(speeds(m))
    lower, upper = np.maximum(-fastest, low / dt), np.minimum(fastest, high / dt)
    if acceleration is None:
        return Limits(lower, upper)
    a = np.broadcast_to(np.asarray(acceleration, dtype=float), (m.nv,))
    brake = [np.maximum(np.sqrt(2 * a * s) - a * dt / 2, 0) for s in (-low, high)]
    lower, upper = np.maximum(lower, -brake[0]), np.minimum(upper, brake[1])
    return Limits(np.clip(v - a * dt, lower, upper), np.clip(v + a * dt, lower, upper))


def speeds(m: Tables) -> Array:
    """Largest rates, (nv,) [rad/s or m/s]; those of mimic joints among them."""
    fastest = np.full(m.nv, np.inf)
    for j in m.joints:
        if j.ratio:
            fastest[j.v_slice] = np.minimum(fastest[j.v_slice], j.velocity_limit / abs(j.ratio))
    return fastest


def _independent(K: Array, k: Array) -> tuple[Array, Array]:
    """K x = k by as many rows as are independent, of length one."""
    U, sizes, V = np.linalg.svd(K, full_matrices=False)
    kept = sizes > RANK * sizes.max(initial=1e-300)
    return V[kept], (U.T @ k)[kept] / sizes[kept]


def _solved(m: Tables, P: Array, c: Array, closure: tuple[Any, Any], window: Limits) -> Array:
    if not m.nv:
        return np.zeros(0)
    try:
        import proxsuite  # noqa: F401  # pyright: ignore  # the solver that is asked for by name
        from qpsolvers import solve_qp
    except ImportError:
        raise InputError("quadratic programs need qpsolvers and proxsuite: pip install modurob[qp]") from None
    options = {"solver": "proxqp", "eps_abs": ACCURACY, "eps_rel": 0.0, "max_iter": MOST}
    v = solve_qp(P, c, A=closure[0], b=closure[1], lb=window.lower, ub=window.upper, **options)
    if v is None:
        names = ", ".join(c.name for c in m.constraints)
        raise ClosureError(
            f"no velocity within the limits closes the loops {names or 'none'}: allow more speed, or a longer dt"
        )
    return v
