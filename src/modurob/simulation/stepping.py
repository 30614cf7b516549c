"""Steps of one robot: in kernels where possible, and with dry friction that holds exactly."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from typing import Any

import numpy as np

from modurob import kernels
from modurob.algorithms.forces import acting
from modurob.algorithms.forward import singular_joint
from modurob.algorithms.interpreter import NumPyEngine
from modurob.algorithms.program import Engine, Flow
from modurob.caching import cached_property
from modurob.errors import ClosureError, InputError, SimulationError, SingularError, blamed
from modurob.fingerprints import fingerprint
from modurob.mechanism.tables import Tables
from modurob.registry import with_values
from modurob.simulation.external import ExternalWrenches, WrenchError
from modurob.simulation.status import Failure
from modurob.simulation.steppers import StepLimitError, Stepper
from modurob.simulation.steppers.adaptive import DIVERGED
from modurob.simulation.steppers.stepper import UNSETTLED
from modurob.simulation.sticking import Piece, step_with_friction
from modurob.simulation.system import Held, Moved, State, System, assign, some, sticks
from modurob.spatial.scalars import Array, read_only

# the status of all runs of a batch after an error; a state that is not finite within a step is refused as input
ERRORS: dict[type[Exception], str] = {
    StepLimitError: "step limit",
    ClosureError: "step limit",
    SingularError: "singular",
    np.linalg.LinAlgError: "singular",
    WrenchError: "wrench failed",
    InputError: "not finite",
}


# how often steps of any length look for joints that stop or give way [s]
WATCHED = 1e-2
# the operations of a compiled step
COMPILED = "sums, products with numbers, slope, integrate and normalised alone; other steps with compiled = False"
_FINE = read_only(np.zeros((), dtype=int))


def step_flow(stepper: Stepper, nx: int, held: bool) -> Flow:
    """One step of a stepper as a flow that kernels can repeat."""
    return _step_flow(stepper, named(stepper), nx, held)


@lru_cache(maxsize=256)
def _step_flow(stepper: Stepper, words: str, nx: int, held: bool) -> Flow:
    """The same for a stepper that does this."""

    def define(engine: Engine, i: dict[str, Any]) -> dict[str, Any]:
        system, start = System(engine), State(i["q"], i["v"], i["x"])
        modes = Held(i["free"], i["slide"]) if held else None
        # steps with dry friction may be parts of one: loops sample before the first
        start = start if held else system.sampled(start, i["dt"])
        start = start._replace(x=engine.moving_states(start.x))
        with blamed(SimulationError, f"{type(stepper).__qualname__}.step", COMPILED):
            q, v, x = system.closed(
                _of_length(stepper, i["dt"]).step(system, i["t"], start, i["u"], i["dt"], modes), modes
            )
        return {"t": i["t"] + i["dt"], "q": q, "v": v, "x": engine.all_states(x)}

    name = f"{words} step{' with dry friction' if held else ''}"
    results = {"t": "1", "q": "coordinates", "v": "rates", "x": str(nx)}
    return Flow(name, _inputs(nx, held), results, define, repeated=True)


def holding_flow(stepper: Stepper, nx: int) -> Flow:
    """`Stepper.solution` as a flow: what says in a state which rates dry friction holds."""
    return _holding_flow(stepper, named(stepper), nx)


@lru_cache(maxsize=256)
def _holding_flow(stepper: Stepper, words: str, nx: int) -> Flow:
    """The same for a stepper that does this."""

    def define(engine: Engine, i: dict[str, Any]) -> dict[str, Any]:
        s = State(i["q"], i["v"], engine.moving_states(i["x"]))
        held = Held(i["free"], i["slide"])
        found = _of_length(stepper, i["dt"]).solution(System(engine), i["t"], s, i["u"], i["dt"], held)
        return {"vdot": found.vdot, "reaction": found.reaction}

    return Flow(f"{words} holding", _inputs(nx, True), {"vdot": "rates", "reaction": "rates"}, define)


def _of_length(stepper: Stepper, dt: Any) -> Stepper:
    """A stepper whose own steps are these, too: one code is for all of them, and steps may be parts of its own."""
    return stepper if stepper.dt is None else with_values(stepper, {"dt": dt})


def named(stepper: Stepper) -> str:
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
        steps = self._count(duration)
        dt = duration / steps if self.stepper.dt is None else self.stepper.dt
        if s.v.ndim == 1 and self._compiled and not self.sticks:
            column = np.array([t, dt])
            found = kernels.once(self._flows[0], self.m, column[:1], column[1:], s.q, s.v, s.x, u, repeats=steps)
            if found is not None:
                return Moved(State(*found[1:]), _FINE)
        shape, flat = s.v.shape[:-1], _flat(s)
        u = np.broadcast_to(u, s.v.shape).reshape(flat.v.shape)
        if not self.sticks:
            moved = self.steps(t, flat, u, dt, steps)
        else:
            self._prepare(len(flat.v))
            moved = Moved(flat, np.zeros(len(flat.v), dtype=int))
            for k in range(steps):
                moved = step_with_friction(self, t + k * dt, moved, u, dt)
        if len(moved.singular) and (moved.singular == UNSETTLED).all():
            raise StepLimitError(self._unsettled)
        return Moved(State(*(x.reshape(*shape, x.shape[-1]) for x in moved.state)), moved.singular.reshape(shape))

    def _count(self, duration: float) -> int:
        """The number of steps in a duration."""
        if self.stepper.dt is not None:
            return round(duration / self.stepper.dt)
        return max(1, ceil(duration / WATCHED)) if self.sticks else 1

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
        return moved.state, list(self.lost(moved))

    def lost(self, moved: Moved) -> Iterator[Failure]:
        """Runs that have no state, or one beyond all bounds."""
        (q, v, x), singular = moved
        fine = np.abs(v).max(initial=0.0) <= DIVERGED and np.isfinite(q).all() and np.isfinite(x).all()
        if fine and not singular.any():
            return
        finite = np.isfinite(q).all(axis=-1) & np.isfinite(v).all(axis=-1) & np.isfinite(x).all(axis=-1)
        largest = np.abs(v).max(axis=-1, initial=0.0)
        fast = finite & (singular != UNSETTLED) & (largest > DIVERGED)
        # so far away nothing is left of some inertia beside others
        singular = np.where(fast, 0, singular)
        if (singular == UNSETTLED).any():
            yield Failure("step limit", self._unsettled, singular == UNSETTLED)
        for joint in np.unique(singular[~np.isin(singular, (0, UNSETTLED, kernels.NOT_FINITE))]):
            name = f"joint {singular_joint(self.m, int(joint))!r}" if joint > 0 else "a degree of freedom"
            yield Failure(
                "singular", f"{name} moves no inertia{self._weightless}", singular == joint, max(int(joint), 0)
            )
        gone = ~finite & (singular == 0) | (singular == kernels.NOT_FINITE)
        if gone.any():
            yield Failure("not finite", "the state is not a finite number any more", gone)
        for reached in np.unique(largest[fast]):
            yield Failure("diverged", f"a rate reached {reached:.3g}", fast & (largest == reached))

    @property
    def _unsettled(self) -> str:
        shorter = "a shorter tick" if self.stepper.dt is None else f"steps shorter than {self.stepper.dt:g} s"
        return f"the step did not settle: expected {shorter}"

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
            moved = self.steps(at, flat, u, self.stepper.dt, 1, held)
            vdot, singular = (moved.state.v - flat.v) / self.stepper.dt, moved.singular
        else:
            engine = NumPyEngine(self.m, flat.v.shape[:-1], kernels.run_any)
            vdot, singular = np.array(System(engine, self.wrenches).slope(at, flat, u, held).v), engine.singular
        vdot[singular != 0] = np.nan
        return vdot.reshape(*shape, vdot.shape[-1])

    # ---- smooth steps ----

    def steps(self, t: Any, s: State, u: Array, dt: Any, steps: int = 1, held: Held | None = None) -> Moved:
        """So many steps of equal length, each run with its own; in a kernel if there is one."""
        t, dt = (np.broadcast_to(x, (len(s.v), 1)) for x in (t, dt))
        if not self._compiled:
            return self._plain_steps(t, s, u, dt, steps, held)
        found = kernels.repeated(self._flows[0], self.m, _values(t, s, u, dt, held), steps)
        if found is None:
            return self._plain_steps(t, s, u, dt, steps, held)
        moved = Moved(State(*(found.results[name] for name in ("q", "v", "x"))), found.singular)
        lost = found.singular == kernels.NOT_FINITE
        if lost.any():
            only = None if held is None else some(held, lost)
            again = self.on(lost)._plain_steps(t[lost], some(s, lost), u[lost], dt[lost], steps, only)
            assign(moved.state, lost, again.state)
            moved.singular[lost] = again.singular
        return moved

    def _plain_steps(self, t: Array, s: State, u: Array, dt: Array, steps: int, held: Held | None) -> Moved:
        """The same step by step, also for states for which kernels have no result."""
        engine = NumPyEngine(self.m, s.v.shape[:-1], kernels.run_any)
        system, stepper = System(engine, self.wrenches), _of_length(self.stepper, dt)
        for k in range(steps):
            s = s if held is not None else system.sampled(s, dt)
            s = system.closed(stepper.step(system, t + k * dt, s, u, dt, held), held)
            if not np.isfinite(s.v).any():
                break  # it stays so
        return Moved(s, engine.singular)

    # ---- with dry friction: see `sticking` ----

    def _prepare(self, runs: int) -> None:
        """Compile all code of a step together, if it is not there: what is evaluated first needs a part of it."""
        for flow in self._flows if self._compiled else ():
            kernels.prepare(flow, self.m, runs)

    def on(self, runs: Array) -> "Mover":
        """The same for some of the runs."""
        return self if self.wrenches is None else replace(self, wrenches=self.wrenches.of(runs))

    def modes(self, t: Array, s: State, u: Array, dt: Array) -> tuple[Held, Array]:
        """Which rates friction holds in a step of dt from a state, and which way the others slide; and whether it is singular."""
        return Piece(self, len(s.v) > 1, t, s, u, dt, np.zeros(s.v.shape, dtype=bool)).modes()

    def solution(self, t: Array, s: State, u: Array, dt: Array, held: Held) -> tuple[Array, Array, Array]:
        """vdot, the reactions at held rates, and which states are singular."""
        if self._compiled:
            answer = kernels.run_any(self._flows[1], self.m, _values(t, s, u, dt, held))
            return answer.results["vdot"], answer.results["reaction"], answer.singular
        engine = NumPyEngine(self.m, s.v.shape[:-1], kernels.run_any)
        found = _of_length(self.stepper, dt).solution(System(engine, self.wrenches), t, s, u, dt, held)
        return found.vdot, found.reaction, engine.singular


def _flat(s: State) -> State:
    """Runs along one axis."""
    runs = int(np.prod(s.v.shape[:-1]))
    return State(*(x.reshape(runs, x.shape[-1]) for x in s))


def _values(t: Array, s: State, u: Array, dt: Array, held: Held | None) -> dict[str, Array]:
    """The inputs of a step by name."""
    own = {"t": t, "dt": dt, "q": s.q, "v": s.v, "x": s.x, "u": u}
    return own if held is None else {**own, "free": held.free, "slide": held.slide}
