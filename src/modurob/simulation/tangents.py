"""Tangents of steps: derivatives of the state at the end by that at the start, by the rule of the step itself.

A rule that only adds slopes is linear in them, so that a step of the state and its tangents is a step of arrays whose first row is
the state and whose other rows are the tangents. No differences are taken.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from modurob import kernels
from modurob.algorithms import difference, integrate
from modurob.algorithms.complex_steps import TINY
from modurob.algorithms.configuration import RATE
from modurob.algorithms.decay import Decays, decays
from modurob.algorithms.derivatives import derivatives_of
from modurob.algorithms.forces import acting, passive_forces
from modurob.algorithms.interpreter import NumPyEngine, interpret
from modurob.mechanism.tables import Tables
from modurob.simulation.force_tangents import forces_of, samples_of
from modurob.simulation.stepping import Mover
from modurob.simulation.system import Held, Slope, State, System
from modurob.spatial.scalars import Array


def tangents(mover: Mover, t: float, s: State, ds: State, u: Array, duration: float) -> tuple[State, State]:
    """One state (q, v, x) after the steps of `mover.advance`, and its tangents ds, (n, nv) along `integrate`, (n, nv) and (n, nx).

    The stepper must only add slopes, and the robot be a tree without contacts. Exact to rounding, but in steps in which a rate with
    dry friction turns back: there they are those of friction that keeps its direction. Rates that dry friction holds, at the start
    or at the end of a step, have none.
    """
    m, dt, dry = mover.m, mover.stepper.dt, acting(mover.m).holding > 0
    assert dt is not None
    s, held_u = mover.commanded(s, u)
    system, step = TangentSystem(System(TangentEngine(m, (1,), kernels.run_any))), np.full((1, 1), dt)
    # commands are given
    dx = np.array(ds.x)
    dx[:, acting(m).commanded[1]] = 0.0
    rows = _with_tangents(s, State(coordinate_tangents(m, s.q, ds.q), ds.v, dx))
    for k in range(round(duration / dt)):
        now = np.full((1, 1), t + k * dt)
        held = mover.modes(now, _first(system.sampled(rows, step)), held_u[None], step)[0] if mover.sticks else None
        start = rows if held is None else _resting(rows, held.free[0] == 0)
        rows = mover.stepper.step(system, now, system.sampled(start, step), held_u[None], step, held)  # type: ignore[arg-type]
        if held is not None and ((held.slide * rows.v[:1] < 0).any() or not held.free.all()):
            rows = _stopped(mover, now.item(), start, rows, u)
        rows = _resting(rows, dry & (rows.v[0] == 0))
    end, (q, v, x) = (State(*(x[k] for x in rows)) for k in (0, slice(1, None)))
    return end, State(_along(m, end.q, q), v, x)


def _with_tangents(s: State, ds: State) -> State:
    return State(*(np.concatenate([a[None], b]) for a, b in zip(s, ds, strict=True)))


def _first(rows: State) -> State:
    return State(*(x[:1] for x in rows))


def _stopped(mover: Mover, t: float, start: State, end: State, u: Array) -> State:
    """The end of a step with the state of `Mover.advance`, in which friction stops some rates, or gives way."""
    now = mover.advance(t, State(*(x[0] for x in start)), u, float(mover.stepper.dt or 0.0)).state
    return _with_tangents(now, State(*(x[1:] for x in end)))


def _resting(rows: State, still: Array) -> State:
    """Without tangents of the rates that friction holds at zero."""
    return rows._replace(v=np.where(still, 0.0, rows.v)) if still.any() else rows


# ---- coordinates ----


def coordinate_tangents(m: Tables, q: Array, dq: Array) -> Array:
    """Changes of the coordinates for dq along `integrate`, (n, nq)."""
    return dq if m.nq == m.nv else np.imag(integrate(m, q, 1j * TINY * dq)) / TINY


def _along(m: Tables, q: Array, dq: Array) -> Array:
    """The other way round, (n, nv)."""
    return dq if m.nq == m.nv else np.imag(difference(m, q, q + 1j * TINY * dq)) / TINY


# ---- the system ----


class TangentEngine(NumPyEngine):
    """An engine for steps of one length, whose weights are found once."""

    def decays(self, dt: Array) -> Any:
        return _weights(self.m, dt.item())


@lru_cache(maxsize=64)
def _weights(m: Tables, dt: float) -> Decays:
    return decays(acting(m).decay, np.full((1, 1), dt))


@dataclass(frozen=True, eq=False)
class TangentSystem:
    """A system, as steppers see it, for arrays whose first row is the state and whose others are tangents there."""

    system: System

    @property
    def engine(self) -> Any:
        return self.system.engine

    def slope(self, t: Any, s: State, u: Any, held: Held | None = None) -> Slope:
        """Rates of change of the state, and of its tangents."""
        nv = self.system.m.nv
        slide = np.zeros(nv) if held is None else held.slide[0]
        values, by = forces_of(self.system.m)(*(x[0] for x in s), t[0], slide)
        moved = np.concatenate([x[1:] for x in s], axis=-1) @ by.T
        tau, dtau = self._between(t, s)
        tau, dtau = tau + u[0] + values[:nv], dtau + moved[:, :nv]
        k = self.system.accelerated(_first(s), tau[None], None, values[None, nv:], held)
        return Slope(*map(_stacked, k[:3], (self._rates(s), self._accelerations(s, tau, dtau, held, k), moved[:, nv:])))

    def _between(self, t: Any, s: State) -> tuple[Any, Any]:
        """Forces between frames and of lines as torques, (nv,), and their tangents, (n, nv)."""
        m, own = self.system.m, acting(self.system.m)
        if not own.between:
            return 0.0, 0.0
        apart = replace(m, forces=(*(row for _, row in own.frame_rows), *m.lines))
        q, v, x = (a[:1] + 1j * TINY * a[1:] for a in s)
        states = [x[:, own.x_starts[k] : own.x_starts[k] + row.force.nx] for k, row in own.frame_rows]
        tau = passive_forces(apart, q, v, np.concatenate([x[:, :0], *states], axis=-1), t[:, 0])
        return tau[0].real, np.imag(tau) / TINY

    def _rates(self, s: State) -> Array:
        """d qdot, (n, nq)."""
        m = self.system.m
        if m.nq == m.nv:
            return s.v[1:]
        q, v = (x[:1] + 1j * TINY * x[1:] for x in s[:2])
        return np.imag(interpret(RATE, m, {"q": q, "v": v}).results["rate"]) / TINY

    def _accelerations(self, s: State, tau: Array, dtau: Array, held: Held | None, k: Slope) -> Array:
        """d vdot, (n, nv)."""
        m, q = self.system.m, s.q[0]
        tau = tau if held is None else tau + np.where(held.free[0] == 0, k.reaction[0], 0.0)
        by = kernels.run_any(derivatives_of(m), m, {"q": q, "v": s.v[0], "tau": tau}).results["slopes"]
        found = np.concatenate([_along(m, q, s.q[1:]), s.v[1:], dtau], axis=-1) @ by.T
        if held is None or held.free.all():
            return found
        # reactions at held rates change too
        fixed, by_tau = np.flatnonzero(held.free[0] == 0), by[:, 2 * m.nv :]
        return found - found[:, fixed] @ np.linalg.solve(by_tau[np.ix_(fixed, fixed)], by_tau[fixed])

    def sampled(self, s: State, dt: Array) -> State:
        """After loops inside drives have sampled."""
        if not acting(self.system.m).samples:
            return s
        x, by = samples_of(self.system.m)(*(x[0] for x in s), dt[0])
        return s._replace(x=_stacked(x[None], np.concatenate([x[1:] for x in s], axis=-1) @ by.T))

    def normalised(self, q: Array) -> Array:
        """Coordinates with quaternions of length one, and their tangents."""
        m = self.system.m
        if m.nq == m.nv:
            return q
        moved = integrate(m, q[:1] + 1j * TINY * q[1:], np.zeros((len(q) - 1, m.nv)))
        return _stacked(self.system.normalised(q[:1]), np.imag(moved) / TINY)


def _stacked(a: Array, b: Array) -> Array:
    return np.concatenate([a, b])
