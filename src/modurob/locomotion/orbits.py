"""Periodic motions: phases that end in events, return maps, their fixed points, and their stability (von Stryk 5.9.4).

A motion x(t) with period T of dx/dt = f(x) is stable if all Floquet multipliers, the eigenvalues of Phi(T), dPhi/dt =
(df/dx) Phi, Phi(0) = 1, except the one that belongs to dx/dt, are inside the unit circle; they are those of the
derivative of its return map.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.errors import InputError, SimulationError, explained
from modurob.locomotion.numbers import numbers, one_positive
from modurob.spatial.scalars import Array

# accuracy of the integration; a guard counts once it was this far above zero; step of slopes; Newton steps and when they end
ACCURACY, ARMED, STEP, ITERATIONS, MET = 1e-12, 1e-8, 3e-5, 50, 1e-11
# motion of a period that is none
AT_REST = 1e-6

State = Array
Map = Callable[[Array], Array]


class Phase(NamedTuple):
    """Motion dx/dt = slope(x) while guard(x) is positive; when it falls to zero, x becomes reset(x). A guard that starts at zero
    counts once it was positive."""

    slope: Callable[[Array], ArrayLike]
    guard: Callable[[Array], Any]
    reset: Callable[[Array], ArrayLike] = np.asarray


class Stride(NamedTuple):
    """Times (n,) [s] and states (n, k) during the phases, and the state after the last reset (k,)."""

    t: Array
    x: Array
    end: Array

    @property
    def duration(self) -> float:
        """The time it took [s]."""
        return float(self.t[-1])


@explained
def stride(phases: Sequence[Phase], x: ArrayLike, longest: float = 10.0, step: float = np.inf) -> Stride:
    """The motion from a state through phases, each until its guard falls to zero, at most `longest` [s] each.

    `step` bounds the steps of the integrator [s], for guards that cross zero and return quickly.

    >>> fall = Phase(slope=lambda x: [x[1], -9.81], guard=lambda x: x[0], reset=lambda x: [0.0, -0.8 * x[1]])
    >>> stride([fall], [1.0, 0.0]).end.round(4)
    array([0.    , 3.5436])
    """
    if not isinstance(phases, Sequence) or not phases or not all(isinstance(p, Phase) for p in phases):
        raise InputError(f"phases = {phases!r:.60}: expected one or more Phase(slope, guard, reset)")
    x, t, times, states = numbers(x, "x"), 0.0, [], []
    for k, phase in enumerate(phases):
        ts, xs = _until(phase, x, longest, step, k)
        times.append(t + ts)
        states.append(xs)
        t, x = t + ts[-1], np.asarray(phase.reset(xs[-1]), dtype=float)
    return Stride(np.concatenate(times), np.concatenate(states), x)


def _until(phase: Phase, x: Array, longest: float, step: float, k: int) -> tuple[Array, Array]:
    """Times and states of one phase up to the zero of its guard."""
    from scipy.integrate import DOP853

    solver = DOP853(
        lambda _, x: np.asarray(phase.slope(x)), 0.0, x, longest, rtol=ACCURACY, atol=ACCURACY, max_step=step
    )
    ts, xs, armed = [0.0], [x], phase.guard(x) > ARMED
    while solver.status == "running":
        solver.step()
        after = phase.guard(solver.y)
        if armed and after <= 0:
            way: Any = solver.dense_output()
            t = _zero(phase, way, ts[-1], solver.t)
            return np.array([*ts, t]), np.array([*xs, way(t)])
        armed = armed or after > ARMED
        ts.append(solver.t)
        xs.append(solver.y)
    raise SimulationError(
        f"phase {k} has not ended {ts[-1]:.3g} s after x = {x.round(4).tolist()}: expected its guard to fall to zero"
    )


def _zero(phase: Phase, way: Callable[[float], Array], start: float, end: float) -> float:
    """The time at which the guard is zero along a motion."""
    from scipy.optimize import brentq

    return end if phase.guard(way(end)) >= 0 else brentq(lambda t: phase.guard(way(t)), start, end, xtol=1e-15)  # type: ignore[return-value]


def slopes(function: Map, x: ArrayLike, fine: bool = True) -> Array:
    """The derivative of a function at x, (m, n), by central differences, of fourth order if `fine`."""
    x = np.asarray(x, dtype=float)
    steps = np.eye(len(x)) * STEP * np.maximum(1.0, np.abs(x))

    def difference(e: Array) -> Array:
        return np.atleast_1d(np.subtract(function(x + e), function(x - e)) / (2 * e.sum()))

    columns = [(4 * difference(e) - difference(2 * e)) / 3 if fine else difference(e) for e in steps]
    return np.stack(columns, axis=-1)


@explained
def fixed_point(function: Map, guess: ArrayLike) -> Array:
    """x = function(x) near a guess, (n,), by Newton's method.

    >>> mr.fixed_point(np.cos, [0.5]).round(9)
    array([0.73908513])
    """
    x = np.atleast_1d(numbers(guess, "guess"))
    if not callable(function):
        raise InputError(f"function = {function!r:.60}: expected a map from states to states")
    error = np.asarray(function(x), dtype=float) - x
    for _ in range(ITERATIONS):
        if not np.isfinite(error).all():
            break
        if np.abs(error).max() < MET:
            return x
        step = np.linalg.lstsq(slopes(function, x, fine=False) - np.eye(len(x)), -error, rcond=None)[0]
        x, error = _nearer(function, x, step)
    raise SimulationError(
        f"no fixed point found from {np.asarray(guess).tolist()}, last at {x.tolist()}: expected a closer guess"
    )


def _nearer(function: Map, x: Array, step: Array) -> tuple[Array, Array]:
    """x moved by a step, or by a part of it if the motion ends in a fall there, and the error function(x) - x."""
    for share in 0.5 ** np.arange(8):
        try:
            error = np.asarray(function(x + share * step), dtype=float) - (x + share * step)
        except SimulationError:
            continue
        if np.isfinite(error).all():
            return x + share * step, error
    return x, np.full_like(x, np.nan)


@explained
def multipliers(function: Map, x: ArrayLike) -> Array:
    """Eigenvalues of the derivative of a return map at its fixed point, (n,), largest first; stable if all are inside
    the unit circle.

    >>> x = mr.fixed_point(np.cos, [0.5])
    >>> mr.multipliers(np.cos, x).round(6).real
    array([-0.673612])
    """
    return _sorted(slopes(function, np.atleast_1d(numbers(x, "x"))))


def _sorted(M: Array) -> Array:
    values = np.linalg.eigvals(M)
    return values[np.argsort(-np.abs(values), kind="stable")]


class Orbit(NamedTuple):
    """A periodic motion: a state on it (n,), its period [s], and its Floquet multipliers (n,), largest first, one of them 1."""

    x: Array
    period: float
    multipliers: Array

    @property
    def stable(self) -> bool:
        """Whether errors die out: all multipliers but the one of the motion itself inside the unit circle."""
        others = np.delete(self.multipliers, np.argmin(np.abs(self.multipliers - 1)))
        return bool(np.all(np.abs(others) < 1))


def monodromy(slope: Callable[[Array], ArrayLike], x: ArrayLike, time: float) -> tuple[Array, Array]:
    """The state (n,) a time later and its derivative Phi with respect to the initial state, (n, n): dPhi/dt = (df/dx)
    Phi.
    """
    from scipy.integrate import solve_ivp

    x = numbers(x, "x")
    n = len(x)

    def rate(_: float, s: Array) -> Array:
        D = slopes(lambda y: np.asarray(slope(y), dtype=float), s[:n])
        return np.concatenate([np.asarray(slope(s[:n]), dtype=float), (D @ s[n:].reshape(n, n)).reshape(-1)])

    start = np.concatenate([x, np.eye(n).reshape(-1)])
    end = solve_ivp(rate, (0.0, one_positive(time, "time")), start, "DOP853", rtol=ACCURACY, atol=ACCURACY).y[:, -1]
    return end[:n], end[n:].reshape(n, n)


@explained
def periodic_orbit(slope: Callable[[Array], ArrayLike], x: ArrayLike, period: float) -> Orbit:
    """The periodic motion of dx/dt = slope(x) near a state (n,) and a period [s], by Newton's method, with its multipliers.

    >>> orbit = mr.periodic_orbit(lambda x: [x[1], (1 - x[0] ** 2) * x[1] - x[0]], [2.0, 0.0], 6.5)  # van der Pol
    >>> round(orbit.period, 8), orbit.stable
    (6.66328686, True)
    """
    x, T = numbers(x, "x"), one_positive(period, "period")
    if x.ndim != 1:
        raise InputError(f"x has shape {x.shape}: expected a state, (n,)")
    for _ in range(ITERATIONS):
        end, Phi = monodromy(slope, x, T)
        if np.abs(end - x).max() < MET:
            if np.abs(slope(x)).max() * T < AT_REST:
                raise SimulationError(f"at rest at {x.tolist()}, not a periodic motion: expected a guess on the orbit")
            return Orbit(x, float(T), _sorted(Phi))
        # x moves across the motion, the period along it
        now, then = (np.asarray(slope(y), dtype=float) for y in (x, end))
        rows = np.block([[Phi - np.eye(len(x)), then[:, None]], [now[None], np.zeros((1, 1))]])
        d = np.linalg.lstsq(rows, np.append(x - end, 0.0), rcond=None)[0]
        x, T = x + d[:-1], T + d[-1]
        if not (np.isfinite(d).all() and T > 0):
            break
    raise SimulationError(f"no periodic motion found near the period {period:g} s: expected a closer guess")
