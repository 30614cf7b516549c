"""Steppers at work on one robot: in kernels where they can, and with dry friction that holds exactly.

Within a step each joint with dry friction either rests, held by whatever force that takes up to its limit, or slides one way. A joint whose
rate passes zero stops there: the step is cut at that moment, found to rounding, and goes on with the joint at rest, or sliding back.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from modurob import kernels
from modurob.algorithms.forces import acting
from modurob.algorithms.interpreter import NumPyEngine
from modurob.algorithms.program import Engine, Flow
from modurob.kernels.evaluator import evaluator as find_evaluator
from modurob.kernels.evaluator import lanes_of
from modurob.mechanism.tables import Tables
from modurob.simulation.steppers import Stepper
from modurob.simulation.system import Held, State, System, is_joined, sticks
from modurob.spatial.scalars import Array

# a joint is let go when it needs this much more than friction gives, in parts of that
SLACK = 1e-12
# stops and starts of joints within one step; more are left to the next
MOST_EVENTS = 24
# halvings and secants in search of the moment a joint stops
SEARCH = 60


class Moved(NamedTuple):
    """The state later, and for each run whether it has one: 0, or the joint that moves no inertia, or -1, (...)."""

    state: State
    singular: Array


_FINE = np.zeros((), dtype=int)


@lru_cache(maxsize=256)
def step_flow(stepper: Stepper, nx: int, held: bool) -> Flow:
    """One step of a stepper as a flow that kernels can repeat."""

    def define(engine: Engine, i: dict[str, Any]) -> dict[str, Any]:
        system, start = System(engine), State(i["q"], i["v"], i["x"])
        modes = Held(i["free"], i["slide"]) if held else None
        q, v, x = system.closed(stepper.step(system, i["t"], start, i["u"], i["dt"], modes))
        return {"t": i["t"] + i["dt"], "q": q, "v": v, "x": x}

    inputs: dict[str, str | int] = {"t": 1, "dt": 1, "q": "coordinates", "v": "rates", "x": nx, "u": "rates"}
    if held:
        inputs |= {"free": "rates", "slide": "rates"}
    name = f"{stepper.kind} step{' with dry friction' if held else ''}"
    return Flow(name, inputs, {"t": "1", "q": "coordinates", "v": "rates", "x": str(nx)}, define, repeated=True)


@dataclass(frozen=True, eq=False)
class Mover:
    """A stepper, a robot, and a user's wrenches on it."""

    m: Tables
    stepper: Stepper
    push: Callable[[Any, Any, Any], Any] | None = None

    @cached_property
    def _sticks(self) -> bool:
        return sticks(self.m)

    @cached_property
    def _compiled(self) -> bool:
        return self.stepper.compiled and self.push is None and not (self._sticks and is_joined(self.m))

    @cached_property
    def _flow(self) -> Flow:
        return step_flow(self.stepper, acting(self.m).nx, False)

    def advance(self, t: float, s: State, u: Array, duration: float) -> Moved:
        """The state at t + duration, torques held."""
        steps = 1 if self.stepper.dt is None else round(duration / self.stepper.dt)
        dt = duration if self.stepper.dt is None else self.stepper.dt
        if s.v.ndim == 1 and self._compiled and not self._sticks:
            column = np.array([t, dt])
            found = kernels.once(self._flow, self.m, column[:1], column[1:], s.q, s.v, s.x, u, repeats=steps)
            if found is not None:
                return Moved(State(*found[1:]), _FINE)
        shape, flat = s.v.shape[:-1], _flat(s)
        u = np.broadcast_to(u, s.v.shape).reshape(flat.v.shape)
        if not self._sticks:
            moved = self._steps(t, flat, u, dt, steps)
        else:
            moved = Moved(flat, np.zeros(len(flat.v), dtype=int))
            for k in range(steps):
                moved = self._with_friction(t + k * dt, moved, u, dt)
        return Moved(State(*(x.reshape(*shape, x.shape[-1]) for x in moved.state)), moved.singular.reshape(shape))

    def acceleration(self, t: float, s: State, u: Array) -> Array:
        """vdot of a state, friction and all, (..., nv); not a number where a degree of freedom moves no inertia."""
        shape, flat = s.v.shape[:-1], _flat(s)
        u = np.broadcast_to(u, s.v.shape).reshape(flat.v.shape)
        at = np.full((len(flat.v), 1), float(t))
        held = self._modes(at, flat, u)[0] if self._sticks else None
        engine = NumPyEngine(self.m, flat.v.shape[:-1], kernels.run)
        vdot = np.array(System(engine, self.push).slope(at, flat, u, held).v)
        vdot[engine.singular != 0] = np.nan
        return vdot.reshape(*shape, vdot.shape[-1])

    # ---- smooth steps ----

    def _steps(self, t: Any, s: State, u: Array, dt: Any, steps: int = 1, held: Held | None = None) -> Moved:
        """So many steps of equal length, each run with its own; in a kernel if there is one."""
        found = self._in_kernel(t, s, u, dt, steps, held) if self._compiled else None
        if found is not None:
            return found
        engine = NumPyEngine(self.m, s.v.shape[:-1], kernels.run)
        system = System(engine, self.push)
        for k in range(steps):
            s = system.closed(self.stepper.step(system, t + k * dt, s, u, dt, held))
        return Moved(s, engine.singular)

    def _in_kernel(self, t: Any, s: State, u: Array, dt: Any, steps: int, held: Held | None) -> Moved | None:
        runs = len(s.v)
        flow = step_flow(self.stepper, acting(self.m).nx, held is not None)
        evaluator = find_evaluator(self.m, flow, frozenset(), False, 1 if runs == 1 else lanes_of(False))
        if evaluator is None or not runs or not steps:
            return None
        column = np.empty((runs, 2))
        column[:, :1], column[:, 1:] = t, dt
        inputs = {"t": column[:, :1], "dt": column[:, 1:], "q": s.q, "v": s.v, "x": s.x, "u": u}
        if held is not None:
            inputs |= {"free": held.free, "slide": held.slide}
        (_, q, v, x), status = evaluator(inputs, runs, kernels.threads_for(runs * steps * self.m.nv), steps)
        singular = np.zeros(runs, dtype=int) if status is None else np.where(status == -2, 0, status).astype(int)
        return Moved(State(q, v, x), singular)

    # ---- dry friction ----

    def _with_friction(self, t: float, start: Moved, u: Array, dt: float) -> Moved:
        """One step, cut wherever a joint stops."""
        s = State(*(np.array(x) for x in start.state))
        singular, left = start.singular.copy(), np.full((len(s.v), 1), dt)
        going = np.flatnonzero(singular == 0)
        for _ in range(MOST_EVENTS):
            if not len(going):
                break
            now, torques, rest = _of(s, going), u[going], left[going]
            at = t + dt - rest
            held, bad = self._modes(at, now, torques)
            end, worse = self._steps(at, now, torques, rest, 1, held)
            _put(singular, going, np.where(bad != 0, bad, worse))
            passed = (held.slide * end.v < 0).any(axis=-1)
            _assign(s, going[~passed], _of(end, ~passed))
            left[going[~passed]] = 0.0
            if passed.any():
                stopped, share = self._stopped(
                    at[passed], _of(now, passed), torques[passed], rest[passed], _only(held, passed)
                )
                _assign(s, going[passed], stopped)
                left[going[passed]] = rest[passed] * (1 - share)
            going = going[passed & (left[going, 0] > 1e-9 * dt) & (singular[going] == 0)]
        return Moved(s, singular)

    def _modes(self, t: Array, s: State, u: Array) -> tuple[Held, Array]:
        """Which rates friction holds in a state, and which way the others slide; and whether the state is singular.

        All that rest are held first. The one that needs most beyond what friction gives is let go, until none does; one that would then move
        against its friction is held again.
        """
        holding = acting(self.m).holding
        dry = holding > 0
        slide = np.where(dry, np.sign(s.v), 0.0)
        rests = dry & (s.v == 0)
        free, singular = np.where(rests, 0.0, 1.0), np.zeros(len(s.v), dtype=int)
        settled = np.zeros_like(rests)
        for _ in range(2 * int(dry.sum()) + 1):
            if not (free == 0).any():
                break
            engine = NumPyEngine(self.m, s.v.shape[:-1], kernels.run)
            slope = System(engine, self.push).slope(t, s, u, Held(free, slide))
            singular = engine.singular
            excess = np.where(free == 0, np.abs(slope.reaction) / np.where(dry, holding, 1.0) - 1, -1.0)
            worst = np.argmax(np.where(settled, -1.0, excess), axis=-1)
            runs = np.flatnonzero(np.take_along_axis(excess, worst[:, None], -1)[:, 0] > SLACK)
            against = rests & (free == 1) & (slope.v * slide < 0)
            if not len(runs) and not against.any():
                break
            settled |= against
            free, slide = np.where(against, 0.0, free), np.where(against, 0.0, slide)
            loose = worst[runs]
            keep = ~settled[runs, loose]
            free[runs[keep], loose[keep]] = 1.0
            slide[runs[keep], loose[keep]] = -np.sign(slope.reaction[runs[keep], loose[keep]])
        return Held(free, slide), singular

    def _stopped(self, t: Array, s: State, u: Array, dt: Array, held: Held) -> tuple[State, Array]:
        """The state where the first sliding rate comes to rest, that rate at zero, and the share of the step until then, (runs, 1)."""
        slides = held.slide != 0

        def slowest(end: State) -> Array:
            """The least rate along its slide, (runs, 1): it has the sign of whether all still slide."""
            return np.where(slides, held.slide * end.v, np.inf).min(axis=-1, keepdims=True)

        low, high = np.zeros_like(dt), np.ones_like(dt)
        f_low = slowest(s)
        end = self._steps(t, s, u, dt, 1, held).state
        f_high = slowest(end)
        best, share = end, high
        for k in range(SEARCH):
            guess = np.where(
                k % 3 == 2, (low + high) / 2, low + (high - low) * f_low / np.maximum(f_low - f_high, 1e-300)
            )
            share = np.clip(guess, low + 1e-3 * (high - low), high - 1e-3 * (high - low))
            best = self._steps(t, s, u, dt * share, 1, held).state
            f = slowest(best)
            low, f_low = np.where(f > 0, share, low), np.where(f > 0, f, f_low)
            high, f_high = np.where(f > 0, high, share), np.where(f > 0, f_high, f)
            if np.all((high - low) < 1e-13):
                break
        share = high
        best = self._steps(t, s, u, dt * share, 1, held).state
        rests = slides & (held.slide * best.v <= 0)
        return best._replace(v=np.where(rests, 0.0, best.v)), share


def _flat(s: State) -> State:
    """Runs along one axis."""
    runs = int(np.prod(s.v.shape[:-1]))
    return State(*(x.reshape(runs, x.shape[-1]) for x in s))


def _of(s: State, runs: Any) -> State:
    return State(*(x[runs] for x in s))


def _only(held: Held, runs: Any) -> Held:
    return Held(held.free[runs], held.slide[runs])


def _assign(s: State, runs: Array, new: State) -> None:
    for x, y in zip(s, new, strict=True):
        x[runs] = y


def _put(singular: Array, runs: Array, found: Array) -> None:
    singular[runs] = np.where(singular[runs] == 0, found, singular[runs])
