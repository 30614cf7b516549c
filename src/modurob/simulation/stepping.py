"""Steps of one robot: in kernels where possible, and with dry friction that holds exactly.

Within a step each joint with dry friction either rests, held by the force that this requires, up to its limit, or slides in one
direction. A joint whose rate passes zero stops there: the step is divided at that moment, found to rounding, and the rest of it
begins with the joint at rest, or sliding back.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from modurob import kernels
from modurob.algorithms.forces import acting, sampled_states
from modurob.algorithms.forward import singular_joint
from modurob.algorithms.friction import limited_friction
from modurob.algorithms.interpreter import NumPyEngine
from modurob.algorithms.program import Engine, Flow
from modurob.algorithms.steps import apply
from modurob.caching import cached_property
from modurob.errors import ClosureError, InputError, SimulationError, SingularError, blamed
from modurob.mechanism.tables import Tables
from modurob.registry import fingerprint
from modurob.simulation.external import ExternalWrenches, WrenchError
from modurob.simulation.status import Failure
from modurob.simulation.steppers import StepLimitError, Stepper
from modurob.simulation.steppers.adaptive import DIVERGED
from modurob.simulation.steppers.stepper import UNSETTLED
from modurob.simulation.system import Held, State, System, sticks
from modurob.spatial.scalars import Array

# a joint is released when the force that holds it exceeds friction by this part
SLACK = 1e-12
# stops and starts of joints within one step; more are left to the next
MOST_EVENTS = 24
# how often friction and forces of contact are found in turn
CONTACT_ROUNDS = 3
# rates below this part of those before and after count as stopped when another one stops
STOPPED = 1e-9
# halvings and secants in search of the moment a joint stops
SEARCH = 60


# the status of all runs of a batch after an error; a state that is not finite within a step is refused as input
ERRORS: dict[type[Exception], str] = {
    StepLimitError: "step limit",
    ClosureError: "step limit",
    SingularError: "singular",
    np.linalg.LinAlgError: "singular",
    WrenchError: "wrench failed",
    InputError: "not finite",
}


class Moved(NamedTuple):
    """The state later, and for each run whether it has one: 0, or the joint that moves no inertia, or -1, or UNSETTLED, (...)."""

    state: State
    singular: Array


# the operations of a compiled step
COMPILED = "sums, products with numbers, slope, integrate and normalised alone; other steps with compiled = False"
_FINE = np.zeros((), dtype=int)


@lru_cache(maxsize=256)
def step_flow(stepper: Stepper, nx: int, held: bool) -> Flow:
    """One step of a stepper as a flow that kernels can repeat."""

    def define(engine: Engine, i: dict[str, Any]) -> dict[str, Any]:
        system, start = System(engine), State(i["q"], i["v"], i["x"])
        modes = Held(i["free"], i["slide"]) if held else None
        # steps with dry friction may be parts of one: loops sample before the first
        start = start if held else system.sampled(start, i["dt"])
        start = start._replace(x=engine.moving_states(start.x))
        with blamed(SimulationError, f"{type(stepper).__qualname__}.step", COMPILED):
            q, v, x = system.closed(stepper.step(system, i["t"], start, i["u"], i["dt"], modes), modes)
        return {"t": i["t"] + i["dt"], "q": q, "v": v, "x": engine.all_states(x)}

    name = f"{_named(stepper)} step{' with dry friction' if held else ''}"
    results = {"t": "1", "q": "coordinates", "v": "rates", "x": str(nx)}
    return Flow(name, _inputs(nx, held), results, define, repeated=True)


@lru_cache(maxsize=256)
def holding_flow(stepper: Stepper, nx: int) -> Flow:
    """`Stepper.solution` as a flow: what says in a state which rates dry friction holds."""

    def define(engine: Engine, i: dict[str, Any]) -> dict[str, Any]:
        s = State(i["q"], i["v"], engine.moving_states(i["x"]))
        found = stepper.solution(System(engine), i["t"], s, i["u"], i["dt"], Held(i["free"], i["slide"]))
        return {"vdot": found.vdot, "reaction": found.reaction}

    return Flow(f"{_named(stepper)} holding", _inputs(nx, True), {"vdot": "rates", "reaction": "rates"}, define)


def _named(stepper: Stepper) -> str:
    """A stepper and its numbers, without the length of its steps."""
    return f"{fingerprint(type(stepper))} { {k: x for k, x in stepper.parameters().items() if k != 'dt'} }"


def _inputs(nx: int, held: bool) -> dict[str, str | int]:
    """The inputs of a step."""
    own: dict[str, str | int] = {"t": 1, "dt": 1, "q": "coordinates", "v": "rates", "x": nx, "u": "rates"}
    return {**own, "free": "rates", "slide": "rates"} if held else own


@dataclass(frozen=True, eq=False)
class Mover:
    """A stepper, a robot, and a user's wrenches on it."""

    m: Tables
    stepper: Stepper
    wrenches: ExternalWrenches | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Mover, (self.m, self.stepper, self.wrenches)

    @cached_property
    def sticks(self) -> bool:
        """Whether some joint has dry friction."""
        return sticks(self.m)

    @cached_property
    def _compiled(self) -> bool:
        return self.stepper.compiled and self.wrenches is None

    @cached_property
    def _flows(self) -> list[Flow]:
        """What is evaluated in a step."""
        nx = acting(self.m).nx
        return [step_flow(self.stepper, nx, self.sticks), *([holding_flow(self.stepper, nx)] if self.sticks else [])]

    def begin(self, runs: int) -> None:
        """Start the compilation of a step, before any other code is needed."""
        if not self._compiled:
            return
        for flow in self._flows:
            kernels.begin(flow, self.m, runs)

    def advance(self, t: float, s: State, u: Array, duration: float) -> Moved:
        """The state at t + duration, torques and commands held."""
        s, u = self.commanded(s, u)
        steps = 1 if self.stepper.dt is None else round(duration / self.stepper.dt)
        dt = duration if self.stepper.dt is None else self.stepper.dt
        if s.v.ndim == 1 and self._compiled and not self.sticks:
            column = np.array([t, dt])
            found = kernels.once(self._flows[0], self.m, column[:1], column[1:], s.q, s.v, s.x, u, repeats=steps)
            if found is not None:
                return Moved(State(*found[1:]), _FINE)
        shape, flat = s.v.shape[:-1], _flat(s)
        u = np.broadcast_to(u, s.v.shape).reshape(flat.v.shape)
        if not self.sticks:
            moved = self._steps(t, flat, u, dt, steps)
        else:
            self._prepare(len(flat.v))
            moved = Moved(flat, np.zeros(len(flat.v), dtype=int))
            for k in range(steps):
                moved = self._with_friction(t + k * dt, moved, u, dt)
        if len(moved.singular) and (moved.singular == UNSETTLED).all():
            raise StepLimitError(self._unsettled)
        return Moved(State(*(x.reshape(*shape, x.shape[-1]) for x in moved.state)), moved.singular.reshape(shape))

    def commanded(self, s: State, u: Array) -> tuple[State, Array]:
        """The state with the inputs of drives as their commands, and the torques on the other joints."""
        rates, places = acting(self.m).commanded
        if not len(rates):
            return s, u
        x, u = np.array(s.x), np.array(np.broadcast_to(u, s.v.shape))
        x[..., places] = u[..., rates]
        u[..., rates] = 0.0
        return s._replace(x=x), u

    def attempt(self, t: float, s: State, u: Array, duration: float) -> tuple[State | None, list[Failure]]:
        """The state later, and what ended runs on the way; None if there is no state for any."""
        try:
            with np.errstate(all="ignore"):  # overflow shows in the state
                moved = self.advance(t, s, u, duration)
        except tuple(ERRORS) as error:
            kind = next(kind for cause, kind in ERRORS.items() if isinstance(error, cause))
            return None, [Failure(kind, str(error))]
        return moved.state, list(self._lost(moved))

    def _lost(self, moved: Moved) -> Iterator[Failure]:
        """Runs that have no state, or one beyond all bounds."""
        (q, v, x), singular = moved
        fine = np.abs(v).max(initial=0.0) <= DIVERGED and np.isfinite(q).all() and np.isfinite(x).all()
        if fine and not singular.any():
            return
        finite = np.isfinite(q).all(axis=-1) & np.isfinite(v).all(axis=-1) & np.isfinite(x).all(axis=-1)
        if (singular == UNSETTLED).any():
            yield Failure("step limit", self._unsettled, singular == UNSETTLED)
        for joint in np.unique(singular[(singular != 0) & (singular != UNSETTLED)]):
            name = f"joint {singular_joint(self.m, int(joint))!r}" if joint > 0 else "a degree of freedom"
            yield Failure("singular", f"{name} moves no inertia{self._weightless}", singular == joint)
        gone = ~finite & (singular == 0)
        if gone.any():
            yield Failure("not finite", "the state is not a finite number any more", gone)
        largest = np.abs(v).max(axis=-1, initial=0.0)
        fast = finite & (singular == 0) & (largest > DIVERGED)
        for reached in np.unique(largest[fast]):
            yield Failure("diverged", f"a rate reached {reached:.3g}", fast & (largest == reached))

    @property
    def _unsettled(self) -> str:
        return f"the step did not settle: expected steps shorter than {self.stepper.dt:g} s"

    @property
    def _weightless(self) -> str:
        """What to do about a robot that has no mass at all, in words; empty for others."""
        if np.any(self.m.inertia[1:] != 0):
            return ""
        return f": {self.m.name} has no mass: expected bodies with inertia, such as from_dh(rows, inertias=[...])"

    def acceleration(self, t: Any, s: State, u: Array) -> Array:
        """vdot of states at the time t, (...) or one for all, with friction, (..., nv); not a number where a degree of freedom
        moves no inertia. Where a stepper takes stiff forces implicitly, it is that of the step."""
        s, u = self.commanded(s, u)
        shape, flat = s.v.shape[:-1], _flat(s)
        u = np.broadcast_to(u, s.v.shape).reshape(flat.v.shape)
        at = np.array(np.broadcast_to(t, shape), dtype=float).reshape(-1, 1)
        held = self.modes(at, flat, u, np.full_like(at, self.stepper.dt or 0.0))[0] if self.sticks else None
        if self.stepper.contacts and self.stepper.dt and acting(self.m).rows:
            moved = self._steps(at, flat, u, self.stepper.dt, 1, held)
            vdot, singular = (moved.state.v - flat.v) / self.stepper.dt, moved.singular
        else:
            engine = NumPyEngine(self.m, flat.v.shape[:-1], kernels.run_any)
            vdot, singular = np.array(System(engine, self.wrenches).slope(at, flat, u, held).v), engine.singular
        vdot[singular != 0] = np.nan
        return vdot.reshape(*shape, vdot.shape[-1])

    # ---- smooth steps ----

    def _steps(self, t: Any, s: State, u: Array, dt: Any, steps: int = 1, held: Held | None = None) -> Moved:
        """So many steps of equal length, each run with its own; in a kernel if there is one."""
        t, dt = (np.broadcast_to(x, (len(s.v), 1)) for x in (t, dt))
        if not self._compiled:
            return self._plain_steps(t, s, u, dt, steps, held)
        flow = step_flow(self.stepper, acting(self.m).nx, held is not None)
        found = kernels.repeated(flow, self.m, _values(t, s, u, dt, held), steps)
        if found is None:
            return self._plain_steps(t, s, u, dt, steps, held)
        moved = Moved(State(*(found.results[name] for name in ("q", "v", "x"))), found.singular)
        lost = found.singular == kernels.NOT_FINITE
        if lost.any():
            only = None if held is None else _only(held, lost)
            again = self._on(lost)._plain_steps(t[lost], _of(s, lost), u[lost], dt[lost], steps, only)
            _assign(moved.state, lost, again.state)
            moved.singular[lost] = again.singular
        return moved

    def _plain_steps(self, t: Array, s: State, u: Array, dt: Array, steps: int, held: Held | None) -> Moved:
        """The same step by step, also for states for which kernels have no result."""
        engine = NumPyEngine(self.m, s.v.shape[:-1], kernels.run_any)
        system = System(engine, self.wrenches)
        for k in range(steps):
            s = s if held is not None else system.sampled(s, dt)
            s = system.closed(self.stepper.step(system, t + k * dt, s, u, dt, held), held)
            if not np.isfinite(s.v).any():
                break  # it stays so
        return Moved(s, engine.singular)

    # ---- dry friction ----

    def _prepare(self, runs: int) -> None:
        """Compile all code of a step together, if it is not there: what is evaluated first needs a part of it."""
        for flow in self._flows if self._compiled else ():
            kernels.prepare(flow, self.m, runs)

    def _with_friction(self, t: float, start: Moved, u: Array, dt: float) -> Moved:
        """One step, divided wherever a joint stops."""
        s = State(*(np.array(x) for x in start.state))
        if acting(self.m).samples:
            s = s._replace(x=sampled_states(self.m, s.q, s.v, s.x, np.full((len(s.v), 1), dt)))
        singular, left = start.singular.copy(), np.full((len(s.v), 1), dt)
        going = np.flatnonzero(singular == 0)
        for _ in range(MOST_EVENTS):
            if not len(going):
                break
            now, torques, rest = _of(s, going), u[going], left[going]
            at = t + dt - rest
            mover = self._on(going)
            held, bad = mover.modes(at, now, torques, rest)
            end, worse = mover._steps(at, now, torques, rest, 1, held)
            _put(singular, going, np.where(bad != 0, bad, worse))
            passed = (held.slide * end.v < 0).any(axis=-1)
            _assign(s, going[~passed], _of(end, ~passed))
            left[going[~passed]] = 0.0
            if passed.any():
                stopped, share = self._on(going[passed])._stopped(
                    at[passed], _of(now, passed), torques[passed], rest[passed], _only(held, passed)
                )
                _assign(s, going[passed], stopped)
                left[going[passed]] = rest[passed] * (1 - share)
            going = going[passed & (left[going, 0] > 1e-9 * dt) & (singular[going] == 0)]
        return Moved(s, singular)

    def _on(self, runs: Array) -> "Mover":
        """The same for some of the runs."""
        return self if self.wrenches is None else replace(self, wrenches=self.wrenches.of(runs))

    def modes(self, t: Array, s: State, u: Array, dt: Array) -> tuple[Held, Array]:
        """Which rates friction holds in a step of dt from a state, and which way the others slide; and whether it is singular.

        All that rest are held, if this is possible. If not, friction and accelerations of all of them together say which move.
        """
        holding = acting(self.m).holding
        slide = np.where(holding > 0, np.sign(s.v), 0.0)
        free = np.where((holding > 0) & (s.v == 0), 0.0, 1.0)
        if free.all():
            return Held(free, slide), np.zeros(len(s.v), dtype=int)
        _, reaction, singular = self._solution(t, s, u, dt, Held(free, slide))
        exceeded = (free == 0) & (np.abs(reaction) > (1 + SLACK) * holding)
        runs = np.flatnonzero(exceeded.any(axis=-1) & (singular == 0))
        while len(runs):
            way = self._on(runs)._ways(t[runs], _of(s, runs), u[runs], dt[runs], Held(free[runs], slide[runs]))
            slide[runs] += way
            free[runs] += np.abs(way)
            # what moves may be braked by less than what held it
            runs = runs[(way != 0).any(axis=-1)] if acting(self.m).drops else runs[:0]
        return Held(free, slide), singular

    def _ways(self, t: Array, s: State, u: Array, dt: Array, held: Held) -> Array:
        """Which way each held rate begins to move (1 or -1) under the friction of all of them, 0 where it rests, (runs, nv)."""
        rests = held.free == 0
        limits, columns = np.where(rests, acting(self.m).holding, 0.0), np.flatnonzero(rests.any(axis=0))
        n, k = rests.shape[0], len(columns) + 1
        many = np.repeat(np.arange(n), k)
        probe = np.zeros((k, self.m.nv))
        probe[np.arange(1, k), columns] = 1.0
        state, loose = _of(s, many), Held(np.ones((n * k, self.m.nv)), held.slide[many])
        y, ways = np.zeros((n, len(columns))), np.zeros_like(limits)
        # forces of contact depend on accelerations in pieces
        for _ in range(CONTACT_ROUNDS if acting(self.m).touching else 1):
            friction = np.zeros_like(limits)
            friction[:, columns] = y
            torques = (u[:, None] + (friction[:, None] + probe) * limits[:, None]).reshape(n * k, -1)
            vdot = self._on(many)._solution(t[many], state, torques, dt[many], loose)[0]
            vdot = (vdot.reshape(n, k, -1) * limits[:, None])[..., columns]
            A = vdot[:, 1:] - vdot[:, :1]
            A = (A + np.swapaxes(A, -1, -2)) / 2
            y, w = limited_friction(A, vdot[:, 0] - apply(A, y))
            before, ways[:, columns] = ways[:, columns], np.sign(w)
            if (before == ways[:, columns]).all():
                break
        return ways

    def _solution(self, t: Array, s: State, u: Array, dt: Array, held: Held) -> tuple[Array, Array, Array]:
        """vdot, the reactions at held rates, and which states are singular."""
        if self._compiled:
            flow = holding_flow(self.stepper, acting(self.m).nx)
            answer = kernels.run_any(flow, self.m, _values(t, s, u, dt, held))
            return answer.results["vdot"], answer.results["reaction"], answer.singular
        engine = NumPyEngine(self.m, s.v.shape[:-1], kernels.run_any)
        found = self.stepper.solution(System(engine, self.wrenches), t, s, u, dt, held)
        return found.vdot, found.reaction, engine.singular

    def _stopped(self, t: Array, s: State, u: Array, dt: Array, held: Held) -> tuple[State, Array]:
        """The state where the first sliding rate comes to rest, that rate at zero, and the share of the step until then,
        (runs, 1)."""
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
        # in loops all rates of one motion stop together
        rests = slides & ((held.slide * best.v <= 0) | (np.abs(best.v) <= STOPPED * (np.abs(s.v) + np.abs(end.v))))
        return best._replace(v=np.where(rests, 0.0, best.v)), share


def _flat(s: State) -> State:
    """Runs along one axis."""
    runs = int(np.prod(s.v.shape[:-1]))
    return State(*(x.reshape(runs, x.shape[-1]) for x in s))


def _values(t: Array, s: State, u: Array, dt: Array, held: Held | None) -> dict[str, Array]:
    """The inputs of a step by name."""
    own = {"t": t, "dt": dt, "q": s.q, "v": s.v, "x": s.x, "u": u}
    return own if held is None else {**own, "free": held.free, "slide": held.slide}


def _of(s: State, runs: Any) -> State:
    return State(*(x[runs] for x in s))


def _only(held: Held, runs: Any) -> Held:
    return Held(held.free[runs], held.slide[runs])


def _assign(s: State, runs: Array, new: State) -> None:
    for x, y in zip(s, new, strict=True):
        x[runs] = y


def _put(singular: Array, runs: Array, found: Array) -> None:
    singular[runs] = np.where(singular[runs] == 0, found, singular[runs])
