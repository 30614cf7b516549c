"""Organisms that move in one world and change shape on the way: dock, undock, merge, split."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from modurob.assembly.connection import docking
from modurob.errors import ModurobError, SimulationError, choices
from modurob.robot import Assembly
from modurob.simulation.docking import Body, Transfer, gap, kinetic_energy_of, momentum_of, require_fit, transfer
from modurob.simulation.law import Controller, Estimator
from modurob.simulation.recording import Event, Recording, Segment
from modurob.simulation.simulation import Simulation, whole
from modurob.simulation.status import DONE, Status
from modurob.simulation.steppers import RungeKutta4, Stepper
from modurob.spatial.scalars import Array

# a time [s], or a condition that is looked at after every tick
When = float | Callable[["World"], bool]


@dataclass(frozen=True, eq=False)
class Organism:
    """An assembly set free in the world, and what drives it: controller and estimator are made anew whenever it changes shape.

    q and v are those of `assembly.mechanism(base=base, floating=True)`: position and quaternion of the base first.
    """

    assembly: Assembly
    q: Array | None = None
    v: Array | None = None
    controller: Controller | None = None
    estimator: Estimator | None = None
    base: str | None = None


@dataclass(frozen=True)
class Dock:
    """A new module joins, moving along with the port it docks at."""

    when: When
    organism: str
    module: str
    type: str
    at: str
    by: str
    roll: float = 0.0


@dataclass(frozen=True)
class Undock:
    """A module, or all that hangs on the far side of a port, is let go and goes on as an organism of its own, named `into`."""

    when: When
    organism: str
    port: str
    into: str
    controller: Controller | None = None


@dataclass(frozen=True)
class Merge:
    """Two organisms become one, named as the first and under its controller, port `a` of the first docked to `b` of the second.

    They must have come within `tolerance` [m, rad] of fitting.
    """

    when: When
    first: str
    second: str
    a: str
    b: str
    roll: float = 0.0
    tolerance: tuple[float, float] = (1e-3, 1e-2)


Change = Dock | Undock | Merge


class Impact(NamedTuple):
    """What a change of shape did."""

    t: float
    kind: str
    organisms: tuple[str, ...]
    energy_lost: float  # [J]
    momentum_before: Array  # about the world origin, (6,)
    momentum_after: Array
    shift: tuple[float, float]  # how far modules moved to fit [m, rad]


@dataclass
class _Living:
    recipe: Organism
    assembly: Assembly
    base: str
    simulation: Simulation
    held: Mapping[str, float]
    past: list[Segment] = field(default_factory=list)
    noted: list[Event] = field(default_factory=list)  # what simulations before this one noted

    @property
    def body(self) -> Body:
        s = self.simulation
        return Body(self.assembly, s.robot, s.q, s.v, self.held)

    @property
    def moving(self) -> bool:
        """Whether nothing has ended its run."""
        return self.simulation.status is None or self.simulation.status.ok

    @property
    def believed(self) -> Body:
        """The organism as its estimator has it; as it is, where there is none."""
        s = self.simulation
        q, v = s.estimate if self.recipe.estimator is not None else (s.q, s.v)
        return Body(self.assembly, s.robot, q, v, self.held)

    def segments(self) -> list[Segment]:
        return [*self.past, *self.simulation.recording.segments]

    def events(self) -> list[Event]:
        return [*self.noted, *self.simulation.events]


class World:
    """Organisms by name, all at one time, under one gravity.

    >>> world = World({"a": Organism(crab, controller=law), "b": Organism(other)}, gravity=(0, 0, 0))
    >>> runs = world.run(4.0, [Merge(2.0, "a", "b", "m3/3", "n0/4")])
    >>> runs["a"].segments, world.impacts
    """

    def __init__(
        self,
        organisms: Mapping[str, Organism],
        stepper: Stepper | None = None,
        gravity: Any = (0.0, 0.0, -9.81),
        tick: float = 1e-3,
        seed: int = 0,
    ):
        self.stepper, self.gravity, self.tick, self.seed = (
            stepper or RungeKutta4(1e-3),
            np.array(gravity, dtype=float),
            tick,
            seed,
        )
        self.ticks = 0
        self.events: list[Event] = []
        self.impacts: list[Impact] = []
        self._gone: dict[str, Recording] = {}
        self._living: dict[str, _Living] = {}
        for name, recipe in organisms.items():
            base = recipe.base or next(iter(recipe.assembly.modules))
            robot = recipe.assembly.mechanism(base=base, floating=True, gravity=self.gravity)
            q = robot.neutral() if recipe.q is None else recipe.q
            v = np.zeros(robot.nv) if recipe.v is None else recipe.v
            if np.ndim(q) != 1 or np.ndim(v) != 1:
                raise SimulationError(f"organism {name!r}: q and v have leading axes: expected one state")
            body = Body(recipe.assembly, robot, q, v, {})
            self._living[name] = _Living(recipe, recipe.assembly, base, self._simulation(recipe, body, base), {})

    @property
    def t(self) -> float:
        """Time [s]."""
        return self.ticks * self.tick

    def __getitem__(self, name: str) -> Simulation:
        """The simulation of a living organism: its robot, q, v and tau now."""
        return self._one(name).simulation

    def assembly(self, name: str) -> Assembly:
        """What an organism is made of now."""
        return self._one(name).assembly

    def _one(self, name: str) -> _Living:
        if name not in self._living:
            raise SimulationError(f"no organism {name!r} at t = {self.t:g} s: {choices(name, self._living)}")
        return self._living[name]

    def pose(self, name: str, frame: str) -> Array:
        """Where a frame of an organism is, (4, 4)."""
        simulation = self[name]
        return simulation.robot.frame_pose(simulation.q, frame)

    def _simulation(self, recipe: Organism, body: Body, base: str, before: Sequence[_Living] = ()) -> Simulation:
        """The organism set going; its estimator starts from what those it comes from believed."""
        belief = None
        if before and recipe.estimator is not None:
            believed = transfer(body.assembly, [x.believed for x in before], self.gravity, base).body
            belief = believed.q, believed.v
        return Simulation(
            body.robot,
            body.q,
            body.v,
            recipe.controller,
            self.stepper,
            recipe.estimator,
            tick=self.tick,
            seed=self.seed + self.ticks,
            t0=self.t,
            belief=belief,
        )

    def run(
        self,
        duration: float,
        changes: Sequence[Change] = (),
        progress: Callable[[float], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> dict[str, Recording]:
        """Go on for `duration` [s]; each change happens once, at its time or when its condition first holds. Recordings by name."""
        total, waiting = whole(duration, self.tick, "duration"), list(changes)
        for k in range(total):
            if cancelled is not None and cancelled():
                return self.recordings()
            self._make_due(waiting)
            for living in self._living.values():
                if living.moving:
                    living.simulation.step()
            self.ticks += 1
            if progress is not None:
                progress((k + 1) / total)
        self._make_due(waiting)
        for change in waiting:
            self._missed(change, "its moment did not come")
        return self.recordings()

    def recordings(self) -> dict[str, Recording]:
        """What happened to each organism that ever was."""
        living = {name: self._recording(x) for name, x in self._living.items()}
        return {**self._gone, **living}

    def _recording(self, x: _Living) -> Recording:
        status = x.simulation.status or Status(DONE, x.simulation.t)
        events = sorted([*self.events, *x.events()], key=lambda e: e.t)
        return Recording(tuple(x.segments()), status, tuple(events))

    def _make_due(self, waiting: list[Change]) -> None:
        """Make all changes whose moment has come, and take them off the list."""
        for change in [c for c in waiting if self._is_due(c)]:
            waiting.remove(change)
            self._change(change)

    def _is_due(self, change: Change) -> bool:
        return change.when(self) if callable(change.when) else self.t >= change.when - self.tick / 2

    def _change(self, change: Change) -> None:
        """Make the change, or say why it could not be; nothing is half-changed."""
        try:
            {Dock: self._dock, Undock: self._undock, Merge: self._merge}[type(change)](change)  # type: ignore[index]
        except ModurobError as error:
            self._missed(change, str(error))

    def _missed(self, change: Change, why: str) -> None:
        self.events.append(Event(self.t, "missed", f"{type(change).__name__.lower()}: {why}"))

    def _moving(self, name: str) -> _Living:
        living = self._one(name)
        if not living.moving:
            raise SimulationError(f"organism {name!r} moves no more: {living.simulation.status}")
        return living

    def _dock(self, change: Dock) -> None:
        old = self._moving(change.organism)
        assembly = old.assembly.dock(change.module, change.type, change.at, change.by, change.roll)
        result = transfer(assembly, [old.body], self.gravity, old.base)
        self._replace(change.organism, old, result, [old])
        self._note("dock", (change.organism,), [old.body], [result], f"{change.module} docked at {change.at}")

    def _undock(self, change: Undock) -> None:
        old = self._moving(change.organism)
        if change.into in self._living or change.into in self._gone:
            raise SimulationError(
                f"an organism {change.into!r} is or was there already: choose another name for what is let go"
            )
        body = old.body
        one, other = old.assembly.parted(change.port)
        stays, goes = (one, other) if old.base in one.modules else (other, one)
        base = next(iter(goes.modules))
        results = [transfer(stays, [body], self.gravity, old.base), transfer(goes, [body], self.gravity, base)]
        recipe = Organism(goes, controller=change.controller or old.recipe.controller, estimator=old.recipe.estimator)
        free = _Living(recipe, goes, base, self._simulation(recipe, results[1].body, base, [old]), results[1].body.held)
        self._replace(change.organism, old, results[0], [old])
        self._living[change.into] = free
        self._note("undock", (change.organism, change.into), [body], results, f"{change.port} let go")

    def _merge(self, change: Merge) -> None:
        first, second = self._moving(change.first), self._moving(change.second)
        bodies = [first.body, second.body]
        assembly = first.assembly.joined(second.assembly, change.a, change.b, change.roll)
        apart = gap(first.body, second.body, docking(change.a, change.b, change.roll))
        require_fit(apart, change.tolerance, f"{change.a} to {change.b}")
        result = transfer(assembly, bodies, self.gravity, first.base)
        self._replace(change.first, first, result, [first, second])
        self._gone[change.second] = self._recording(second)
        del self._living[change.second]
        self._note("merge", (change.first, change.second), bodies, [result], f"{change.a} docked to {change.b}")

    def _replace(self, name: str, old: _Living, result: Transfer, before: Sequence[_Living]) -> None:
        simulation = self._simulation(old.recipe, result.body, old.base, before)
        past = old.segments() if old.simulation.ticks else old.past
        self._living[name] = _Living(
            old.recipe, result.body.assembly, old.base, simulation, result.body.held, past, old.events()
        )

    def _note(
        self, kind: str, names: tuple[str, ...], before: Sequence[Body], after: Sequence[Transfer], what: str
    ) -> None:
        bodies = [r.body for r in after]
        # a new module brings its own energy
        lost = 0.0 if kind == "dock" else kinetic_energy_of(before) - kinetic_energy_of(bodies)
        shift = max(r.shift[0] for r in after), max(r.shift[1] for r in after)
        momenta = momentum_of(before), momentum_of(bodies)
        self.impacts.append(Impact(self.t, kind, names, lost, momenta[0], momenta[1], shift))
        self.events.append(Event(self.t, kind, f"{what}, {lost:.3g} J lost"))
