"""Organisms by name, all at one time, and the changes of shape that they go through."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from modurob.assembly.connection import docking
from modurob.errors import ModurobError, SimulationError, choices
from modurob.robot import Assembly
from modurob.simulation.arguments import whole
from modurob.simulation.changes import Change, Connect, Disconnect, Dock, Merge, Reroot, Tie, Undock, Untie
from modurob.simulation.docking import Body, Transfer, gap, kinetic_energy_of, momentum_of, require_fit, transfer
from modurob.simulation.law import as_controller
from modurob.simulation.pilot import Pilot
from modurob.simulation.recording import Event, Recording, Settings
from modurob.simulation.status import DONE, Status
from modurob.simulation.steppers import Stepper
from modurob.simulation.world.organism import Living, Organism
from modurob.spatial.scalars import Array


class Impact(NamedTuple):
    """The effects of a change of shape."""

    t: float
    kind: str
    organisms: tuple[str, ...]
    energy_lost: float  # [J]
    momentum_before: Array  # about the world origin, (6,)
    momentum_after: Array
    shift: tuple[float, float]  # how far modules moved to fit [m, rad]


class Population:
    """Organisms by name, all at one time; `events` and `impacts` are what happened to them."""

    stepper: Stepper

    def __init__(self, gravity: Any, tick: float, seed: int, pushed: bool):
        """`pushed` says whether forces act that an organism's own robot does not have."""
        self.gravity, self.tick = np.array(gravity, dtype=float), float(tick)
        self._seed, self._pushed = seed, pushed
        self.ticks = 0
        self.events: list[Event] = []
        self.impacts: list[Impact] = []
        self._gone: dict[str, Recording] = {}
        self._merged: dict[str, str] = {}  # what those that merged are parts of
        self._living: dict[str, Living] = {}

    def _made(self, recipe: Organism, body: Body, base: str, before: Sequence[Living] = ()) -> Living:
        """The organism with its controller and estimator; the estimate continues from those of the organisms that it comes from."""
        controller = as_controller(recipe.controller)
        sample_time = getattr(controller, "sample_time", None) or self.tick
        every = whole(sample_time, self.tick, "sample time")
        settings = Settings(self.stepper, self.tick, self._seed, repr(controller), repr(recipe.estimator), self._pushed)
        believed = body
        if recipe.estimator is not None and before:
            believed = transfer(body.assembly, [x.believed for x in before], self.gravity, base).body
        try:
            pilot = Pilot(body.robot, controller, recipe.estimator, sample_time, (believed.q, believed.v))
        except ModurobError:
            raise
        except Exception as error:  # whatever a user's controller or estimator raises
            raise SimulationError(f"for {body.robot!r}, on(robot) failed: {type(error).__name__}: {error}") from error
        return Living(recipe, body, base, settings, self.t, every, pilot)

    # ---- looking ----

    @property
    def t(self) -> float:
        """The time now [s].

        >>> world = mr.World({"crab": mr.Organism(assembly)}, gravity=(0, 0, 0))
        >>> runs = world.run(0.01)
        >>> world.t
        0.01
        """
        return self.ticks * self.tick

    def __repr__(self) -> str:
        return f"World({', '.join(self._living)}, t = {self.t:g} s)"

    def __getitem__(self, name: str) -> Living:
        """An organism as it is now: robot, q, v, tau, status."""
        if name not in self._living:
            raise SimulationError(f"no organism {name!r} at t = {self.t:g} s: {choices(str(name), self._living)}")
        return self._living[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._living)

    def assembly(self, name: str) -> Assembly:
        """What an organism is made of now.

        >>> world = mr.World({"crab": mr.Organism(assembly)}, gravity=(0, 0, 0))
        >>> world.assembly("crab")
        Assembly('crab', 6 backbone, 5 connections)
        """
        return self[name].assembly

    def pose(self, name: str, frame: str) -> Array:
        """X_WF of a frame of an organism now, in world axes, (4, 4) [m].

        >>> world = mr.World({"crab": mr.Organism(assembly)}, gravity=(0, 0, 0))
        >>> world.pose("crab", "m3")[:3, 3]
        array([0.105, 0.21 , 0.   ])
        """
        return self[name].robot.frame_pose(self[name].q, frame)

    def recordings(self) -> dict[str, Recording]:
        """What happened to each organism that ever was, by name, up to now.

        >>> world = mr.World({"crab": mr.Organism(assembly)}, gravity=(0, 0, 0))
        >>> world.step()
        >>> world.recordings()["crab"].q.shape
        (2, 10)
        """
        return {**self._gone, **{name: self._recording(x) for name, x in self._living.items()}}

    def _recording(self, x: Living) -> Recording:
        t = x.t0 + x.ticks * self.tick if x.status is not None else self.t
        status = x.status or Status(DONE, self.t)
        events = sorted([*self.events, *x.events], key=lambda e: e.t)
        return Recording(tuple(x.segments(t)), status, tuple(events))

    # ---- changes of shape ----

    def _reshape(self, change: Change) -> None:
        """Make a change, or raise why it cannot be made, with nothing half-changed."""
        makers = {
            Dock: self._dock,
            Undock: self._undock,
            Merge: self._merge,
            Connect: self._connect,
            Disconnect: self._disconnect,
            Reroot: self._reroot,
            Tie: self._tie,
            Untie: self._untie,
        }
        makers[type(change)](change)  # type: ignore[operator]

    def _moving(self, name: str) -> Living:
        living = self[name]
        if not living.moving:
            raise SimulationError(f"organism {name!r} moves no more: {living.status}")
        return living

    def _dock(self, change: Dock) -> None:
        old = self._moving(change.organism)
        taken = [name for name, x in self._living.items() if change.module in x.assembly.modules]
        if taken:
            raise SimulationError(
                f"a module {change.module!r} is in organism {taken[0]!r} already: choose another name"
            )
        assembly = old.assembly.dock(change.module, change.type, change.at, change.by, change.roll)
        self._reshaped("dock", change.organism, old, assembly, f"{change.module} docked at {change.at}")

    def _connect(self, change: Connect) -> None:
        old = self._moving(change.organism)
        assembly = old.assembly.connect(change.a, change.b, change.roll)
        apart = gap(old.body, old.body, docking(change.a, change.b, change.roll))
        require_fit(apart, change.tolerance, f"{change.a} to {change.b}")
        self._reshaped("connect", change.organism, old, assembly, f"{change.a} docked to {change.b}")

    def _disconnect(self, change: Disconnect) -> None:
        old = self._moving(change.organism)
        self._reshaped(
            "disconnect", change.organism, old, old.assembly.disconnect(change.port), f"{change.port} let go"
        )

    def _tie(self, change: Tie) -> None:
        old = self._moving(change.organism)
        assembly = old.assembly.with_line(change.line, change.route, change.law)
        self._reshaped("tie", change.organism, old, assembly, f"line {change.line} tied")

    def _untie(self, change: Untie) -> None:
        old = self._moving(change.organism)
        assembly = old.assembly.without_line(change.line)
        self._reshaped("untie", change.organism, old, assembly, f"line {change.line} taken away")

    def _reroot(self, change: Reroot) -> None:
        old = self._moving(change.organism)
        body = old.body
        if change.base not in old.assembly.modules:
            raise SimulationError(f"no module {change.base!r}: {choices(str(change.base), old.assembly.modules)}")
        if body.stands is not None:
            body = body._replace(stands=body.robot.frame_pose(body.q, change.base))
        result = transfer(old.assembly, [body], self.gravity, change.base)
        self._replace(change.organism, old, result, [old], change.base)
        self._note("reroot", (change.organism,), [body], [result], f"{change.base} is the base")

    def _reshaped(self, kind: str, name: str, old: Living, assembly: Assembly, what: str) -> None:
        before = old.body
        result = transfer(assembly, [before], self.gravity, old.base)
        self._replace(name, old, result, [old])
        self._note(kind, (name,), [before], [result], what)

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
        loose = body._replace(stands=None)
        results = [transfer(stays, [body], self.gravity, old.base), transfer(goes, [loose], self.gravity, base)]
        recipe = Organism(goes, controller=change.controller or old.recipe.controller, estimator=old.recipe.estimator)
        free = self._made(recipe, results[1].body, base, [old])
        self._replace(change.organism, old, results[0], [old])
        self._living[change.into] = free
        dropped = [x for x in old.assembly.setup.lines if x not in {*one.setup.lines, *other.setup.lines}]
        what = f"{change.port} let go{', lines dropped: ' + ', '.join(dropped) if dropped else ''}"
        self._note("undock", (change.organism, change.into), [body], results, what)

    def _merge(self, change: Merge) -> None:
        first, second = self._moving(change.first), self._moving(change.second)
        if first is second:
            raise SimulationError(
                f"{change.a} and {change.b} are of one organism, {change.first!r}: expected mr.Connect"
            )
        if second.body.stands is not None:
            raise SimulationError(
                f"organism {change.second!r} stands in the world: merge into it, give it as the first"
            )
        bodies = [first.body, second.body]
        assembly = first.assembly.joined(second.assembly, change.a, change.b, change.roll)
        apart = gap(first.body, second.body, docking(change.a, change.b, change.roll))
        require_fit(apart, change.tolerance, f"{change.a} to {change.b}")
        result = transfer(assembly, bodies, self.gravity, first.base)
        self._replace(change.first, first, result, [first, second])
        self._gone[change.second] = self._recording(second)
        self._merged[change.second] = change.first
        del self._living[change.second]
        self._note("merge", (change.first, change.second), bodies, [result], f"{change.a} docked to {change.b}")

    def _replace(
        self, name: str, old: Living, result: Transfer, before: Sequence[Living], base: str | None = None
    ) -> None:
        new = self._made(old.recipe, result.body, base or old.base, before)
        new.past = old.segments(self.t) if old.ticks else old.past
        new.events = old.events
        self._living[name] = new

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
