"""Judges that know nothing of modurob: Lagrange's equations by SymPy or by hand, carried through time by SciPy."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import sympy
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

from modurob.spatial.scalars import Array

GRAVITY = 9.81  # [m/s²]
TOLERANCE = 1e-12  # of SciPy's DOP853, relative and absolute

time_varying: Any = dynamicsymbols

# (q, v) -> vdot
Accelerations = Callable[[Array, Array], Array]


class Motion(NamedTuple):
    """States over time, (times, n) each."""

    q: Array
    v: Array
    vdot: Array


def motion(accelerations: Accelerations, q0: Sequence[float], v0: Sequence[float], t: Array) -> Motion:
    """The motion from (q0, v0) at the times t [s], by SciPy's method of order eight."""
    n = len(q0)

    def slope(_: float, x: Array) -> Array:
        return np.concatenate([x[n:], accelerations(x[:n], x[n:])])

    solution: Any = solve_ivp(slope, (t[0], t[-1]), [*q0, *v0], "DOP853", t, rtol=TOLERANCE, atol=TOLERANCE)
    q, v = solution.y[:n].T, solution.y[n:].T
    return Motion(q, v, np.array([accelerations(*x) for x in zip(q, v, strict=True)]))


def coordinates(n: int) -> list[Any]:
    """q as functions of time for SymPy."""
    return list(time_varying(f"q:{n}"))


def rate(x: Any) -> Any:
    """dx/dt of an expression in coordinates."""
    return x.diff(time_varying._t)


def by_lagrange(kinetic: sympy.Expr, potential: sympy.Expr, q: Sequence[Any]) -> Accelerations:
    """d/dt dL/dv - dL/dq = 0 with L = kinetic - potential, derived by SymPy and solved for vdot."""
    method = LagrangesMethod(kinetic - potential, q)
    method.form_lagranges_equations()
    parts = sympy.lambdify([*q, *map(rate, q)], [method.mass_matrix, method.forcing], "numpy", cse=True)

    def accelerations(q: Array, v: Array) -> Array:
        M, forcing = parts(*q, *v)
        return np.linalg.solve(M, forcing)[:, 0]

    return accelerations


def pendulum(lengths: ArrayLike, masses: ArrayLike) -> Accelerations:
    """Point masses on rods in a row, written by hand in absolute angles a and turned into relative ones, q_i = a_i - a_(i-1).

    sum_j mu_ij l_i l_j (cos(a_i - a_j) a_j'' + sin(a_i - a_j) a_j'^2) + g mu_ii l_i sin a_i = 0, where mu_ij is the mass beyond
    both i and j: Gutenkunst (5.8a-b) for two.
    """
    l, m = np.asarray(lengths, float), np.asarray(masses, float)
    beyond = np.cumsum(m[::-1])[::-1]
    i = np.arange(len(l))
    weight = beyond[np.maximum.outer(i, i)] * np.outer(l, l)

    def accelerations(q: Array, v: Array) -> Array:
        a, rate = np.cumsum(q), np.cumsum(v)
        apart = np.subtract.outer(a, a)
        pull = (weight * np.sin(apart)) @ rate**2 + GRAVITY * beyond * l * np.sin(a)
        return np.diff(np.linalg.solve(weight * np.cos(apart), -pull), prepend=0.0)

    return accelerations
