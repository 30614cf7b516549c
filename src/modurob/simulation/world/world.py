"""Organisms that move in one world and change shape during a run: dock, undock, merge, connect, change their base.

The world is one mechanism with several roots, so that anything can act between organisms. Laws and filters see each organism as a
robot of its own; they are made anew whenever it changes shape.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from modurob import kernels
from modurob.algorithms.constraints.closure import velocity_solution
from modurob.algorithms.forces import acting
from modurob.algorithms.interpreter import floats
from modurob.assembly.connection import docking
from modurob.catalogue.contact import BodyContact, Ground
from modurob.catalogue.forces import FrameForce
from modurob.errors import ModurobError, SimulationError, explained, gathered
from modurob.kinematics.body_contacts import pair_rows
from modurob.mechanism import from_assembly
from modurob.mechanism.tables import ContactRow, ForceRow, PairRow
from modurob.robot import Builder, Mechanism
from modurob.simulation.arguments import (
    random_stream,
    require_functions,
    require_radians,
    require_routes,
    require_stepper,
    whole,
)
from modurob.simulation.changes import MET, Change, Merge
from modurob.simulation.docking import Body, gap, robot_of
from modurob.simulation.driving import default_stepper, require_clear, require_contacts, require_steps
from modurob.simulation.external import ExternalWrenches, Wrenches, external_wrenches
from modurob.simulation.limits import joint_of_rate, rates_beyond_limits, warn_of_stiff_stops
from modurob.simulation.progress import progress_bar
from modurob.simulation.recording import Event, Recording
from modurob.simulation.status import Failure, Status
from modurob.simulation.steppers import LinearlyImplicit, Stepper
from modurob.simulation.system import Moved, State
from modurob.simulation.world.organism import Living, Organism, require_different, require_organisms, standing_pose
from modurob.simulation.world.planned import ORGANISMS, planned
from modurob.simulation.world.population import Population
from modurob.spatial import se3
from modurob.spatial.scalars import Array

# the part of a module in the name of a contact
_PART = re.compile(r"/\S+")


def _key(row: ForceRow) -> tuple[str, str, int]:
    """What tells a force from all others: joints of several rates have a force of one name at each, and forces between frames may
    be named as those along joints. What touches is told by modules and the numbers of shapes in them: at some angles parts of a
    module have one frame, and then one name."""
    name = _PART.sub("", row.name) if isinstance(row, ContactRow | PairRow) else row.name
    return type(row).__name__, name, getattr(row, "rate", 0)


@gathered
@explained
class World(Population):
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

        A law with a sample time of its own, a multiple of `tick` [s], is asked that often. The `stepper` is that of `simulate` if
        not given, for the organism that needs the shortest steps.
        """
        super().__init__(
            gravity, tick, seed, any(x is not None for x in (external, ground, body_contact)) or bool(forces)
        )
        self.ground, self.body_contact = ground, body_contact
        self.forces, self._external = dict(forces or {}), external
        self._rng = random_stream(seed)
        require_organisms(organisms)
        require_different(organisms)
        bodies = {name: self._body(name, recipe) for name, recipe in organisms.items()}
        self.stepper = require_stepper(stepper or self._usual_stepper([body.robot for body in bodies.values()]))
        if self.stepper.dt is not None:
            whole(self.tick, self.stepper.dt, "tick")
        for name, recipe in organisms.items():
            self._living[name] = self._made(recipe, bodies[name], recipe.base or recipe.assembly.base)
        self._x: dict[Any, Array] = {}
        self._join()
        require_clear(self._mechanism, self.state.q)

    def _body(self, name: str, recipe: Organism) -> Body:
        """An organism as it starts."""
        base = recipe.base or recipe.assembly.base
        stands = standing_pose(name, recipe)
        robot = robot_of(recipe.assembly, base, self.gravity, stands=stands)
        q = self._resting(robot) if recipe.q is None else robot._q(recipe.q, "q0")
        v = np.zeros(robot.nv) if recipe.v is None else robot._v(recipe.v, "v0")
        if np.ndim(q) != 1 or np.ndim(v) != 1:
            raise SimulationError(f"organism {name!r}: q and v have leading axes: expected one state")
        require_radians(robot, q)
        require_routes(robot, q)
        q = robot.integrate(q, np.zeros(robot.nv))
        if robot.constraints:
            q = robot.close_loops(q)
            v = velocity_solution(robot, q, v, kernels.run).vdot
        return Body(recipe.assembly, robot, q, v, {}, stands)

    def _usual_stepper(self, robots: Sequence[Mechanism]) -> Stepper:
        """The one with the shortest steps that any of the robots needs, with exact decay if any needs that."""
        if self.ground is not None or self.body_contact is not None:
            return LinearlyImplicit(1e-3)
        each = [default_stepper(robot) for robot in robots]
        return next((s for s in each if s.exact_decay), each[0]).with_dt(min(float(s.dt or np.inf) for s in each))

    def _resting(self, robot: Mechanism) -> Array:
        """The initial q of an organism without one: zero, and on the ground, if there is one and it floats."""
        if self.ground is None or not floats(robot):
            return robot.neutral()
        return robot.on_ground(self.ground).standing()

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
            elif len(moving) == len(self._living) and not self.ticks:
                raise SimulationError(f"force {name!r} between {a!r} and {b!r}: no such frame in this world")
        m = self._touching(builder.build())
        require_contacts(m, self.stepper)
        require_steps(m, self.stepper, self.tick)
        self.stepper.require(m)
        self._mechanism, self._mover = m, self.stepper.mover(m, self._external_wrenches(m))
        starts = np.cumsum([(0, 0), *((x.robot.nq, x.robot.nv) for x in moving.values())], axis=0)
        self._places = {
            name: (slice(*starts[k : k + 2, 0]), slice(*starts[k : k + 2, 1])) for k, name in enumerate(moving)
        }
        self._carry_over_states(self._x)

    def _external_wrenches(self, m: Mechanism) -> ExternalWrenches | None:
        """The user's wrenches, but for those on organisms whose run has ended."""
        wrenches = external_wrenches(m, self._external)
        ended = {module for x in self._living.values() if not x.moving for module in x.assembly.modules}
        return wrenches if wrenches is None or not ended else wrenches.without(ended)

    def _touching(self, m: Mechanism) -> Mechanism:
        """The world with what touches in it."""
        if self.ground is not None and m.nv:
            m = m.on_ground(self.ground)
        if self.body_contact is None or not m.nv:
            return m
        return replace(m, forces=(*m.forces, *pair_rows(m, self.body_contact)))

    def _carry_over_states(self, known: dict[Any, Array]) -> None:
        """Forces that were there before keep their states, new ones have their initial ones; joints of several rates have one for
        each."""
        own = acting(self._mechanism)
        q = np.concatenate([np.zeros(0), *(self._living[name].q for name in self._places)])
        new = own.parts(own.start_at(q))
        keys = [_key(row) for row in own.rows]
        self._x = {key: known.get(key, x) for key, x in zip(keys, new, strict=True)}
        self._share_states()

    def _share_states(self) -> None:
        """Give each organism the states of its own forces."""
        for living in (self._living[name] for name in self._places):
            own = acting(living.robot)
            if own.nx:
                living.x = np.concatenate([self._x[_key(row)] for row in own.rows if row.force.nx])

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

    # ---- going on ----

    @explained
    def run(
        self,
        duration: float,
        changes: Sequence[Change] | Change = (),
        progress: Callable[[float], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> dict[str, Recording]:
        """Go on for `duration` [s]; each change happens once, at its time or when its condition first holds. Recordings by name.

        Changes at times that never come, and with names that neither the world nor another change brings, are errors.

        >>> world = mr.World({"crab": mr.Organism(assembly)}, gravity=(0, 0, 0))
        >>> world.run(0.01)["crab"]
        Recording(crab, 11 ticks, done at t = 0.01 s)
        """
        total = whole(duration, self.tick, "duration")
        waiting = planned(changes, {name: x.assembly for name, x in self._living.items()}, self.t - self.tick / 2)
        require_functions(progress=progress, cancelled=cancelled)
        with progress_bar(f"world of {', '.join(self._living)}") as tell:
            told = progress or tell
            for k in range(total):
                if cancelled is not None and cancelled():
                    return self._cancelled()
                self._make_due(waiting)
                self.step()
                told((k + 1) / total)
        self._make_due(waiting)
        for change in waiting:
            self._missed(change, "its moment did not come")
        runs = self.recordings()
        for segment in (segment for run in runs.values() for segment in run.segments):
            warn_of_stiff_stops(segment.robot, segment.q, self.stepper)
        return runs

    def _cancelled(self) -> dict[str, Recording]:
        """The recordings of a run that was asked to stop; the world can go on."""
        asked = Status("cancelled", self.t, "asked to stop")
        moving = [name for name, x in self._living.items() if x.moving]
        return {n: replace(run, status=asked) if n in moving else run for n, run in self.recordings().items()}

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
            living, q, v = self._living[name], state.q[at_q], state.v[at_v]
            if living.moving or (np.isfinite(q).all() and np.isfinite(v).all()):
                living.body = living.body._replace(q=q, v=v)
                living.ticks += 1
                self._look_at_limits(living)
        self._drop_ended()

    def _decide(self, name: str, x: Living) -> None:
        """The torques of an organism for this tick."""
        if (self.ticks - round(x.t0 / self.tick)) % x.every:
            return

        def acceleration() -> Array:
            return self._mover.acceleration(self.t, self.state, self._tau)[self._places[name][1]]

        failure = x.pilot.decide(self.t, x.q, x.v, acceleration, self._rng, x.x)
        if failure is not None:
            x.status = Status(failure.kind, self.t, failure.message)

    @property
    def _tau(self) -> Array:
        return np.concatenate([self._living[name].tau for name in self._places])

    def _moved(self) -> State | None:
        """The state of the world at the next tick; None if it has none, which ends all runs."""
        state, failures = self._mover.attempt(self.t, self.state, self._tau, self.tick)
        ended = self._ended_by(failures, state)
        for name, failure in ended.items():
            end = self.t + self.tick if failure.kind == "diverged" else self.t
            self._living[name].status = Status(failure.kind, end, failure.message)
        if any(failure.body for failure in ended.values()):  # the others again, without it
            self._drop_ended()
            return self._moved() if self._places else None
        if state is None:
            self._drop_ended()
            return None
        self._x = dict(zip(self._x, acting(self._mechanism).parts(state.x), strict=True))
        self._share_states()
        return state

    def _ended_by(self, failures: Sequence[Failure], state: State | None) -> dict[str, Failure]:
        """What ends the run of each organism: a joint of its own that moves no inertia; else its own state, if there is none or one
        beyond all bounds. What neither says is the end of all."""
        ended: dict[str, Failure] = {}
        for failure in failures:
            if failure.body:
                ended[self._owner(failure.body)] = failure
                continue
            lost = {} if state is None else self._lost(state)
            if failure.kind == "singular":
                lost = dict.fromkeys(lost, failure)
            ended |= lost or dict.fromkeys(self._places, failure)
        return ended

    def _owner(self, body: int) -> str:
        """The organism that has a body with a joint."""
        rate = self._mechanism.joints[body - 1].v_slice.start
        return next(name for name, (_, at_v) in self._places.items() if at_v.start <= rate < at_v.stop)

    def _lost(self, state: State) -> dict[str, Failure]:
        """The organisms that have no state, or one beyond all bounds."""
        fine, x = np.zeros((), dtype=int), np.zeros(0)
        own = {n: Moved(State(state.q[at_q], state.v[at_v], x), fine) for n, (at_q, at_v) in self._places.items()}
        return {name: failure for name, moved in own.items() for failure in self._mover.lost(moved)}

    def _look_at_limits(self, x: Living) -> None:
        """Note the limits an organism passes."""
        out = frozenset(np.flatnonzero(rates_beyond_limits(x.robot, x.q)).tolist())
        for k in sorted(out - x.beyond):
            x.events.append(Event(self.t, "limit", f"joint {joint_of_rate(x.robot, k)} passed its limit"))
        x.beyond = out

    def _drop_ended(self) -> None:
        if any(not self._living[name].moving for name in self._places):
            self._join()

    # ---- changes ----

    def _make_due(self, waiting: list[Change]) -> None:
        """Make all changes whose moment has come, and take them off the list."""
        for change, moment in [(c, c.when == MET or self._moment(c)) for c in waiting]:
            now = self._followed(change)
            if change.when == MET:  # the changes before it may have moved what meets
                moment = self._has_met(now)
            if moment:
                waiting.remove(change)
            if isinstance(moment, str):
                self._missed(change, moment)
            elif moment:
                self.change(now)

    def _moment(self, change: Change) -> bool | str:
        """Whether the moment of a change has come; a condition that raises, in words."""
        if not callable(change.when):
            return self.t >= float(change.when) - self.tick / 2
        try:
            return bool(change.when(self))
        except Exception as error:  # whatever a user's condition raises
            return f"its condition failed: {type(error).__name__}: {error}"

    def _followed(self, change: Change) -> Change:
        """The change; where ports are to meet, of the organisms that those it names have merged into."""
        names: dict[str, Any] = {x: vars(change)[x] for x in ORGANISMS if x in vars(change) and change.when == MET}
        for x in names:
            while names[x] in self._merged:
                names[x] = self._merged[names[x]]
        return replace(change, **names)

    def _has_met(self, change: Any) -> bool:
        """Whether the ports of a merger or a connection have come within its tolerance of fitting."""
        names = (change.first, change.second) if isinstance(change, Merge) else (change.organism,) * 2
        if any(name not in self._places for name in names):
            return False
        docked = docking(change.a, change.b, change.roll)
        first, second = (self._living[name].body for name in names)
        if docked.a.module not in first.assembly.modules or docked.b.module not in second.assembly.modules:
            return False
        apart = gap(first, second, docked)
        return apart[0] <= change.tolerance[0] and apart[1] <= change.tolerance[1]

    def change(self, change: Change) -> bool:
        """Make a change now; if it cannot be made, an event says why, nothing is half-changed, and False is returned.

        >>> world = mr.World({"crab": mr.Organism(assembly)}, gravity=(0, 0, 0))
        >>> world.change(mr.Dock(0.0, "crab", "m6", "backbone", at="m3/3", by="4"))
        True
        """
        before = dict(self._living), dict(self._gone), dict(self._merged), list(self.events), list(self.impacts)
        try:
            self._reshape(change)
            self._join()
        except ModurobError as error:
            self._living, self._gone, self._merged, self.events, self.impacts = before
            self._missed(change, str(error))
            return False
        return True

    def _missed(self, change: Change, why: str) -> None:
        self.events.append(Event(self.t, "missed", f"{type(change).__name__.lower()}: {why}"))
