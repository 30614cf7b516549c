"""Steps of fixed length through time, torques held within each; what the joints do by themselves is in them.

Damping -d v and the springs of limits act at every evaluation. Quaternions stay of length one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from modurob.algorithms.configuration import integrate, rate
from modurob.algorithms.forward import forward_dynamics
from modurob.algorithms.kinematics import together
from modurob.errors import InputError, choices
from modurob.mechanism.tables import Tables
from modurob.spatial.scalars import Array, as_array


@dataclass(frozen=True)
class LimitSprings:
    """Beyond its limits a joint is pushed back with `stiffness` times the depth, and loses `damping` times the rate."""

    stiffness: float = 0.0  # [N m/rad or N/m]
    damping: float = 0.0  # [N m s/rad or N s/m]

    def __post_init__(self) -> None:
        if not (0 <= self.stiffness < np.inf and 0 <= self.damping < np.inf):
            raise InputError(f"springs of limits {self}: expected finite numbers, zero or more")


NO_SPRINGS = LimitSprings()


class Limited(NamedTuple):
    """The limits of each rate's coordinate, infinite where there is none, (nv,), and its place in q."""

    lower: Array
    upper: Array
    coordinate: Array


def limited(m: Tables) -> Limited:
    """Limits by rate; joints with quaternions have none."""
    lower, upper, coordinate = np.full(m.nv, -np.inf), np.full(m.nv, np.inf), np.zeros(m.nv, dtype=int)
    for j in m.joints:
        if j.type.nq == j.type.nv and not j.mimics:
            lower[j.v_slice], upper[j.v_slice] = j.limits
            coordinate[j.v_slice] = np.arange(j.q_slice.start, j.q_slice.stop)
    return Limited(lower, upper, coordinate)


def passive_forces(m: Tables, q: Array, v: Array, springs: LimitSprings = NO_SPRINGS) -> Array:
    """-d v - k depth - c v [beyond a limit], (..., nv)."""
    tau = -m.damping * v
    if springs == NO_SPRINGS:
        return tau
    lower, upper, coordinate = limited(m)
    x = q[..., coordinate]
    depth = np.maximum(x - upper, 0) + np.minimum(x - lower, 0)
    return tau - springs.stiffness * depth - np.where(depth != 0, springs.damping * v, 0)


# vdot at (t, q, v)
Acceleration = Callable[[float, Array, Array], Array]
State = tuple[Array, Array]


def semi_implicit_euler(m: Tables, f: Acceleration, t: float, q: Array, v: Array, dt: float) -> State:
    """v' = v + dt vdot, q' = q moved with v': first order, and cheap."""
    v = v + dt * f(t, q, v)
    return integrate(m, q, dt * v), v


def runge_kutta_4(m: Tables, f: Acceleration, t: float, q: Array, v: Array, dt: float) -> State:
    """The classical rule of order four on (q, v) with dq/dt = rate(q, v); quaternions are brought back to length one."""
    half = dt / 2
    q1, v1 = rate(m, q, v), f(t, q, v)
    q2, v2 = rate(m, q + half * q1, v + half * v1), f(t + half, q + half * q1, v + half * v1)
    q3, v3 = rate(m, q + half * q2, v + half * v2), f(t + half, q + half * q2, v + half * v2)
    q4, v4 = rate(m, q + dt * q3, v + dt * v3), f(t + dt, q + dt * q3, v + dt * v3)
    q = q + dt / 6 * (q1 + 2 * q2 + 2 * q3 + q4)
    return integrate(m, q, np.zeros(m.nv)), v + dt / 6 * (v1 + 2 * v2 + 2 * v3 + v4)


STEPS: dict[str, Callable[[Tables, Acceleration, float, Array, Array, float], State]] = {
    "semi_implicit_euler": semi_implicit_euler,
    "runge_kutta_4": runge_kutta_4,
}


def advance(
    m: Tables,
    q: Array,
    v: Array,
    tau: Array,
    dt: float,
    steps: int = 1,
    method: str = "runge_kutta_4",
    springs: LimitSprings = NO_SPRINGS,
    tabulated: bool = False,
) -> tuple[Array, Array]:
    """(q, v) after so many steps of dt [s], `tau` held: (..., nv), or (..., steps, nv) with a row a step if `tabulated`."""
    require_steps(dt, steps, method)
    rows = as_array(tau) if tabulated else as_array(tau)[..., None, :]
    q, v, _ = together(q, v, rows[..., 0, :] if steps else v)
    for k in range(steps):
        held = rows[..., k if tabulated else 0, :]

        def acceleration(t: float, q: Array, v: Array, held: Array = held) -> Array:
            return forward_dynamics(m, q, v, held + passive_forces(m, q, v, springs))

        q, v = STEPS[method](m, acceleration, k * dt, q, v, dt)
    return q, v


def require_steps(dt: float, steps: int, method: str) -> None:
    """An error unless these can be stepped with."""
    if method not in STEPS:
        raise InputError(f"method {method!r}: {choices(method, STEPS)}")
    if not (np.isfinite(dt) and dt > 0):
        raise InputError(f"a step of {dt!r} s: expected a positive finite number")
    if isinstance(steps, bool) or steps != int(steps) or steps < 0:
        raise InputError(f"{steps!r} steps: expected a whole number, zero or more")
