"""Organisms that move in one world and change shape on the way: dock, undock, merge, connect, stand on another base.

The world is one mechanism with several roots, so that anything can act between organisms. Laws and filters see each organism as a
robot of its own; they are made anew whenever it changes shape.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, get_args

import numpy as np

from modurob.algorithms.forces import acting
from modurob.algorithms.interpreter import floats
from modurob.assembly.connection import docking
from modurob.catalogue.contact import BodyContact, Ground
from modurob.catalogue.forces import FrameForce
from modurob.errors import ModurobError, SimulationError, choices, explained
from modurob.kinematics.body_contacts import pair_rows
from modurob.mechanism import from_assembly
from modurob.robot import Assembly, Builder, Mechanism
from modurob.simulation.changes import MET, Change, Connect, Disconnect, Dock, Merge, Reroot, Tie, Undock, Untie
from modurob.simulation.docking import (
    Body,
    Transfer,
    gap,
    kinetic_energy_of,
    momentum_of,
    require_fit,
    robot_of,
    transfer,
)
from modurob.simulation.driving import require_clear, require_contacts
from modurob.simulation.law import Estimator, as_controller, as_estimator
from modurob.simulation.pilot import Pilot
from modurob.simulation.push import Wrenches, pushes
from modurob.simulation.recorder import Recorder
from modurob.simulation.recording import Event, Recording, Segment, Settings
from modurob.simulation.simulation import beyond_limits, joint_of_rate, random_stream, require_functions, whole
from modurob.simulation.status import DONE, Failure, Status
from modurob.simulation.steppers import LinearlyImplicit, RungeKutta4, Stepper
from modurob.simulation.steppers.adaptive import DIVERGED
from modurob.simulation.system import State
from modurob.spatial import se3
from modurob.spatial.scalars import Array


@explained
@dataclass(frozen=True, eq=False)
class Organism:
    """An assembly in the world, and what drives it: controller and estimator are made anew whenever it changes shape.

    q and v are those of `assembly.mechanism(base=base, floating=True)`, SI units: position and quaternion of the base first. An
    organism that stands, with `stands` the pose X_WB of its base module in the world, (4, 4), has joints alone. The controller
    may be a function f(t, q, v).

    >>> crab = mr.Organism(assembly, controller=lambda t, q, v: -0.1 * v)
    >>> mr.World({"crab": crab}).mechanism.nv
    9
    """

    assembly: Assembly
    q: Array | None = None
    v: Array | None = None
    controller: Any = None
    estimator: Estimator | None = None
    base: str | None = None
    stands: Array | None = None


class Impact(NamedTuple):
    """What a change of shape did."""

    t: float
    kind: str
    organisms: tuple[str, ...]
    energy_lost: float  # [J]
    momentum_before: Array  # about the world origin, (6,)
    momentum_after: Array
    shift: tuple[float, float]  # how far modules moved to fit [m, rad]


@dataclass(eq=False)
class Living:
    """An organism as it is now: its robot, q, v and tau, and what it is driven by."""

    recipe: Organism
    body: Body
    base: str
    settings: Settings
    t0: float
    every: int  # ticks between two samples of its law
    pilot: Pilot
    ticks: int = 0
    status: Status | None = None
    recorder: Recorder = field(default_factory=Recorder)
    past: list[Segment] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    beyond: frozenset[int] = frozenset()

    @property
    def robot(self) -> Mechanism:
        return self.body.robot

    @property
    def q(self) -> Array:
        return self.body.q

    @property
    def v(self) -> Array:
        return self.body.v

    @property
    def tau(self) -> Array:
        return self.pilot.tau

    @property
    def assembly(self) -> Assembly:
        return self.body.assembly

    @property
    def moving(self) -> bool:
        """Whether nothing has ended its run."""
        return self.status is None

    @property
    def believed(self) -> Body:
        """The organism as its estimator has it; as it is, where there is none."""
        estimate = self.pilot.estimate
        return self.body if estimate is None else self.body._replace(q=estimate.q, v=estimate.v)

    def row(self, t: float) -> dict[str, Array]:
        """What is written down."""
        return {"t": np.array(t), "q": self.q, "v": self.v}

    def segments(self, t: float) -> list[Segment]:
        """All it has been, up to now."""
        now = Segment(self.robot, self.settings, self.recorder.channels({**self.row(t), "tau": self.tau}))
        return [*self.past, now]


@explained
class World:
    """Organisms by name, all at one time, under one gravity, in world axes [m/s²]. Modules have different names in all of them.

    It is one mechanism with several roots: M vdot + C v + N = tau + J^T F of all that moves, and forces may act between organisms.
    `run` goes on and makes changes on the way; `impacts` has what each of them did to energy [J] and momentum.

    >>> other = mr.Assembly.single("n0", "backbone")
    >>> start = np.array([0.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0])  # position [m] and quaternion of its base
    >>> world = mr.World({"crab": mr.Organism(assembly), "block": mr.Organism(other, start)}, gravity=(0, 0, 0))
    >>> runs = world.run(0.02, [mr.Undock(0.01, "crab", "m3/2", into="leg")])
    >>> sorted(runs), len(world.impacts)
    (['block', 'crab', 'leg'], 1)
    """

    def __init__(
        self,
        organisms: Mapping[str, Organism],
        stepper: Stepper | None = None,
        gravity: Any = (0.0, 0.0, -9.81),
        tick: float = 1e-3,
        seed: int = 0,
        forces: Mapping[str, tuple[FrameForce, str, str]] | None = None,
        external: Wrenches | None = None,
        ground: Ground | None = None,
        body_contact: BodyContact | None = None,
    ):
        """`forces` act between frames of any organisms, or between one and the world: a force and two frame names each.
        `external` is as in `simulate`. On a `ground` organisms stand and walk; one that is given no q starts standing on it.
        With `body_contact` they touch each other, and themselves.

        A law with a sample time of its own, a multiple of `tick` [s], is asked that often.
        """
        self.ground, self.body_contact = ground, body_contact
        usual = RungeKutta4(1e-3) if ground is None and body_contact is None else LinearlyImplicit(1e-3)
        self.stepper, self.gravity = stepper or usual, np.array(gravity, dtype=float)
        self.tick = float(tick)
        if self.stepper.dt is not None:
            whole(self.tick, self.stepper.dt, "tick")
        self.forces, self._external = dict(forces or {}), external
        self._rng, self._seed = random_stream(seed), seed
        self.ticks = 0
        self.events: list[Event] = []
        self.impacts: list[Impact] = []
        self._gone: dict[str, Recording] = {}
        self._living: dict[str, Living] = {}
        _require_organisms(organisms)
        _require_different(organisms)
        for name, recipe in organisms.items():
            self._living[name] = self._made(recipe, self._body(name, recipe), recipe.base or recipe.assembly.base)
        self._join()
        require_clear(self._mechanism, self.state.q)

    def _body(self, name: str, recipe: Organism) -> Body:
        """An organism as it starts."""
        base = recipe.base or recipe.assembly.base
        robot = robot_of(recipe.assembly, base, self.gravity, stands=recipe.stands)
        q = self._resting(robot) if recipe.q is None else robot._q(recipe.q, "q0")
        v = np.zeros(robot.nv) if recipe.v is None else robot._v(recipe.v, "v0")
        if np.ndim(q) != 1 or np.ndim(v) != 1:
            raise SimulationError(f"organism {name!r}: q and v have leading axes: expected one state")
        q = robot.integrate(q, np.zeros(robot.nv))
        if robot.constraints:
            q = robot.close_loops(q)
            v = robot.close_velocity(q, v)
        return Body(recipe.assembly, robot, q, v, {}, recipe.stands)

    def _resting(self, robot: Mechanism) -> Array:
        """Where an organism starts that is not told: at zero, on the ground if it floats over one."""
        if self.ground is None or not floats(robot):
            return robot.neutral()
        return robot.on_ground(self.ground).standing()

    def _made(self, recipe: Organism, body: Body, base: str, before: Sequence[Living] = ()) -> Living:
        """The organism set going; its estimator starts from what those it comes from believed."""
        controller = as_controller(recipe.controller)
        sample_time = getattr(controller, "sample_time", None) or self.tick
        every = whole(sample_time, self.tick, "sample time")
        settings = Settings(
            self.stepper, self.tick, self._seed, repr(controller), repr(recipe.estimator), self._external is not None
        )
        believed = body
        if recipe.estimator is not None and before:
            believed = transfer(body.assembly, [x.believed for x in before], self.gravity, base).body
        pilot = Pilot(body.robot, controller, recipe.estimator, sample_time, (believed.q, believed.v))
        return Living(recipe, body, base, settings, self.t, every, pilot)

    # ---- the world as one mechanism ----

    def _join(self) -> None:
        """One mechanism of all that moves, and where each organism's coordinates stand in it."""
        builder = Builder("world", self.gravity, trusted=True)
        moving = {name: x for name, x in self._living.items() if x.moving}
        for name, x in moving.items():
            stands, at = x.body.stands, se3.IDENTITY if x.body.stands is None else x.body.stands
            from_assembly.add(
                builder,
                x.assembly,
                x.base,
                stands is None,
                x.body.held,
                at=at,
                base_joint=f"{name}/{from_assembly.FLOATING_BASE}",
                owner=name,
            )
        for name, (force, a, b) in self.forces.items():
            if all(frame == "world" or builder.has_frame(frame) for frame in (a, b)):
                builder.force(name, force, a=a, b=b)
            elif not self.ticks:
                raise SimulationError(f"force {name!r} between {a!r} and {b!r}: no such frame in this world")
        x = self._x if hasattr(self, "_mechanism") else {}
        self._mechanism = self._touching(builder.build())
        require_contacts(self._mechanism, self.stepper)
        self._mover = self.stepper.mover(self._mechanism, pushes(self._mechanism, self._external))
        self.stepper.require(self._mechanism)
        starts = np.cumsum([(0, 0), *((x.robot.nq, x.robot.nv) for x in moving.values())], axis=0)
        self._places = {
            name: (slice(*starts[k : k + 2, 0]), slice(*starts[k : k + 2, 1])) for k, name in enumerate(moving)
        }
        self._forget_states(x)

    def _touching(self, m: Mechanism) -> Mechanism:
        """The world with what touches in it."""
        if self.ground is not None and m.nv:
            m = m.on_ground(self.ground)
        if self.body_contact is None or not m.nv:
            return m
        return replace(m, forces=(*m.forces, *pair_rows(m, self.body_contact)))

    def _forget_states(self, known: dict[Any, Array]) -> None:
        """States of forces that were there before go on, those of new ones start; joints of several rates have one for each."""
        own = acting(self._mechanism)
        q = np.concatenate([np.zeros(0), *(self._living[name].q for name in self._places)])
        new = own.parts(own.start_at(q))
        keys = [(row.name, getattr(row, "rate", 0)) for row in own.rows]
        self._x = {key: known.get(key, x) for key, x in zip(keys, new, strict=True)}

    @property
    def mechanism(self) -> Mechanism:
        """All that moves, as one robot: a free joint for each organism that floats; joints are in the order of the organisms.

        >>> world = mr.World({"crab": mr.Organism(assembly)}, gravity=(0, 0, 0))
        >>> world.mechanism.nv
        9
        """
        return self._mechanism

    @property
    def state(self) -> State:
        """q (nq,), v (nv,) and x (nx,) of `mechanism`, SI units.

        >>> world = mr.World({"crab": mr.Organism(assembly)}, gravity=(0, 0, 0))
        >>> world.state.q.shape, world.state.v.shape
        ((10,), (9,))
        """
        moving = [self._living[name] for name in self._places]
        q, v = (np.concatenate([np.zeros(0), *(getattr(x, n) for x in moving)]) for n in ("q", "v"))
        return State(q, v, np.concatenate([np.zeros(0), *self._x.values()]))

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

    def __getitem__(self, name: str) -> Living:
        """An organism as it is now: robot, q, v, tau, status."""
        if name not in self._living:
            raise SimulationError(f"no organism {name!r} at t = {self.t:g} s: {choices(str(name), self._living)}")
        return self._living[name]

    def __iter__(self) -> Any:
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

    # ---- going on ----

    @explained
    def run(
        self,
        duration: float,
        changes: Sequence[Change] = (),
        progress: Callable[[float], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> dict[str, Recording]:
        """Go on for `duration` [s]; each change happens once, at its time or when its condition first holds. Recordings by name.

        >>> world = mr.World({"crab": mr.Organism(assembly)}, gravity=(0, 0, 0))
        >>> world.run(0.01)["crab"]
        Recording(crab, 11 ticks, done at t = 0.01 s)
        """
        total, waiting = whole(duration, self.tick, "duration"), list(changes)
        for change in waiting:
            if not isinstance(change, Change):
                valid = ", ".join(f"mr.{kind.__name__}" for kind in get_args(Change))
                raise SimulationError(
                    f"change {change!r:.60}: expected one such as mr.Undock(1.0, ...); valid: {valid}"
                )
            if isinstance(change.when, str) and not (change.when == MET and isinstance(change, Merge | Connect)):
                raise SimulationError(
                    f"{type(change).__name__.lower()} when {change.when!r:.60}: expected a time [s] or a function of the world; "
                    f"mr.Merge and mr.Connect also {MET!r}"
                )
        require_functions(progress=progress, cancelled=cancelled)
        for k in range(total):
            if cancelled is not None and cancelled():
                return self.recordings()
            self._make_due(waiting)
            self.step()
            if progress is not None:
                progress((k + 1) / total)
        self._make_due(waiting)
        for change in waiting:
            self._missed(change, "its moment did not come")
        return self.recordings()

    def step(self) -> None:
        """Go on by one tick: laws decide, all organisms move together, limits and failures are looked at.

        >>> world = mr.World({"crab": mr.Organism(assembly)}, gravity=(0, 0, 0))
        >>> world.step()
        >>> world.t
        0.001
        """
        for name in self._places:
            living = self._living[name]
            self._decide(name, living)
            if living.moving:
                living.recorder.add({**living.row(self.t), **living.pilot.channels})
        self._drop_ended()
        state = self._moved() if self._places else None
        self.ticks += 1
        if state is None:
            return
        for name, (at_q, at_v) in self._places.items():
            living = self._living[name]
            living.body = living.body._replace(q=state.q[at_q], v=state.v[at_v])
            living.ticks += 1
            self._look_at_limits(living)
        self._drop_ended()

    def _decide(self, name: str, x: Living) -> None:
        """The torques of an organism for this tick."""
        if (self.ticks - round(x.t0 / self.tick)) % x.every:
            return

        def acceleration() -> Array:
            return self._mover.acceleration(self.t, self.state, self._tau)[self._places[name][1]]

        failure = x.pilot.decide(self.t, x.q, x.v, acceleration, self._rng)
        if failure is not None:
            x.status = Status(failure.kind, self.t, failure.message)

    @property
    def _tau(self) -> Array:
        return np.concatenate([self._living[name].tau for name in self._places])

    def _moved(self) -> State | None:
        """The state of the world at the next tick; None if it has none, which ends all runs."""
        state, failures = self._mover.attempt(self.t, self.state, self._tau, self.tick)
        for failure in failures:
            for name in self._ended_by(failure, state):
                self._living[name].status = Status(failure.kind, self.t, failure.message)
        if state is None or (failures and not any(self._living[name].moving for name in self._places)):
            self._drop_ended()
            return None
        self._x = dict(zip(self._x, acting(self._mechanism).parts(state.x), strict=True))
        return state

    def _ended_by(self, failure: Failure, state: State | None) -> list[str]:
        """The organisms whose run a failure ends: those that have no state, or move beyond all bounds;
        all, if that says nothing."""
        if state is None:
            return list(self._places)
        return [
            name
            for name, (at_q, at_v) in self._places.items()
            if not np.isfinite(state.q[at_q]).all() or not np.abs(state.v[at_v]).max(initial=0.0) <= DIVERGED
        ] or list(self._places)

    def _look_at_limits(self, x: Living) -> None:
        """Note the limits an organism passes."""
        out = frozenset(np.flatnonzero(beyond_limits(x.robot, x.q)).tolist())
        for k in sorted(out - x.beyond):
            x.events.append(Event(self.t, "limit", f"joint {joint_of_rate(x.robot, k)} passed its limit"))
        x.beyond = out

    def _drop_ended(self) -> None:
        if any(not self._living[name].moving for name in self._places):
            self._join()

    # ---- what is written down ----

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

    # ---- changes ----

    def _make_due(self, waiting: list[Change]) -> None:
        """Make all changes whose moment has come, and take them off the list."""
        for change in [c for c in waiting if self._is_due(c)]:
            waiting.remove(change)
            self.change(change)

    def _is_due(self, change: Change) -> bool:
        if change.when == MET:
            return self._has_met(change)
        return change.when(self) if callable(change.when) else self.t >= float(change.when) - self.tick / 2

    def _has_met(self, change: Any) -> bool:
        """Whether the ports of a merger or a connection have come within its tolerance of fitting."""
        names = (change.first, change.second) if isinstance(change, Merge) else (change.organism,) * 2
        if any(name not in self._places for name in names):
            return False
        first, second = (self._living[name].body for name in names)
        apart = gap(first, second, docking(change.a, change.b, change.roll))
        return apart[0] <= change.tolerance[0] and apart[1] <= change.tolerance[1]

    def change(self, change: Change) -> bool:
        """Make a change now; if it cannot be made, an event says why, nothing is half-changed, and False is returned.

        >>> world = mr.World({"crab": mr.Organism(assembly)}, gravity=(0, 0, 0))
        >>> world.change(mr.Dock(0.0, "crab", "m6", "backbone", at="m3/3", by="4"))
        True
        """
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
        try:
            makers[type(change)](change)  # type: ignore[operator]
        except ModurobError as error:
            self._missed(change, str(error))
            return False
        self._join()
        return True

    def _missed(self, change: Change, why: str) -> None:
        self.events.append(Event(self.t, "missed", f"{type(change).__name__.lower()}: {why}"))

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
        apart = gap(old.body, old.body, docking(change.a, change.b, change.roll))
        assembly = old.assembly.connect(change.a, change.b, change.roll)
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


def _require_organisms(organisms: Any) -> None:
    """Organisms by name, each made of an assembly."""
    if not isinstance(organisms, Mapping):
        raise SimulationError(f"organisms {organisms!r:.60}: expected a mapping, {{name: mr.Organism(assembly)}}")
    for name, recipe in organisms.items():
        if not isinstance(recipe, Organism):
            raise SimulationError(f"organism {name!r} is {recipe!r:.60}: expected mr.Organism(assembly)")
        if not isinstance(recipe.assembly, Assembly):
            raise SimulationError(f"organism {name!r} of {recipe.assembly!r:.60}: expected an assembly, mr.load(...)")
        as_estimator(recipe.estimator)


def _require_different(organisms: Mapping[str, Organism]) -> None:
    """Modules of different organisms have different names, so that they can meet."""
    seen: dict[str, str] = {}
    for name, recipe in organisms.items():
        for module in recipe.assembly.modules:
            if module in seen:
                raise SimulationError(
                    f"module {module!r} is in organisms {seen[module]!r} and {name!r}: modules need different names; "
                    "rename them with assembly.renamed({...})"
                )
            seen[module] = name
