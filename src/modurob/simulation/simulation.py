"""One robot moving: ticks of the controller, steps in between."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from modurob import kernels
from modurob.algorithms.constraints.closure import velocity_solution
from modurob.algorithms.forces import acting
from modurob.caching import cached_property
from modurob.catalogue.contact import BodyContact, Ground
from modurob.errors import InputError, explained
from modurob.mechanism.tables import current
from modurob.robot import Assembly, Mechanism
from modurob.simulation.arguments import (
    chosen_stepper,
    chosen_tick,
    random_stream,
    require_functions,
    require_radians,
    require_routes,
    standing_robot,
    whole,
)
from modurob.simulation.braking import Brakes, Braking
from modurob.simulation.driving import default_start, require_clear, require_contacts, require_steps
from modurob.simulation.external import Wrenches, external_wrenches
from modurob.simulation.law import Estimator, Measured, as_controller, as_estimator
from modurob.simulation.limits import joint_of_rate, rates_beyond_limits, warn_of_stiff_stops
from modurob.simulation.pilot import Pilot
from modurob.simulation.progress import progress_bar
from modurob.simulation.recorder import Recorder
from modurob.simulation.recording import Event, Recording, Segment, Settings
from modurob.simulation.status import DONE, Failure, Status, Statuses
from modurob.simulation.steppers import Stepper
from modurob.simulation.stepping import Mover
from modurob.simulation.system import State
from modurob.spatial.scalars import Array


@explained
class Simulation:
    """A robot with its controller, estimator and stepper, advanced tick by tick; `recording` is what happened so far.

    A tick: sensors are read and the estimate is updated, the law gives torques, drives give as much of them as they can, these are
    held, and the stepper carries the state to the next tick. Leading axes of q0 and v0 are runs side by side, each with a status of
    its own. q is (..., nq), v and tau (..., nv), SI units.

    >>> simulation = mr.Simulation(robot, q, controller=mr.ComputedTorque(kp=100, kd=20))
    >>> simulation.advance(0.05).recording
    Recording(crab, 51 ticks, done at t = 0.05 s)
    """

    def __init__(
        self,
        robot: Mechanism | Assembly,
        q0: ArrayLike | None = None,
        v0: ArrayLike | None = None,
        controller: Any = None,
        stepper: Stepper | None = None,
        estimator: Estimator | None = None,
        external: Wrenches | None = None,
        stop_at_limits: bool = False,
        tick: float | None = None,
        seed: int = 0,
        t0: float = 0.0,
        x0: ArrayLike | None = None,
        belief: tuple[Array, Array] | None = None,
        ground: Ground | None = None,
        body_contact: BodyContact | None = None,
        engine: str = "modurob",
        brakes: Braking | None = None,
    ):
        """`controller` is a controller or a function f(t, q, v); `belief` is where the estimator starts, at the true state if
        not given; `seed`
        that of the sensors' noise; x0 the states of the robot's forces. `tick` [s] is how often states are recorded where no
        controller says. `ground` is what the robot stands on; with `body_contact` its bodies touch each other. `engine` "mujoco"
        lets MuJoCo move the robot. `brakes` is a function f(t, q, v) of the joints whose brakes are on until the next tick.
        """
        robot, q0, v0 = standing_robot(robot, q0, v0, ground)
        robot = current(robot) if body_contact is None else robot.with_body_contact(body_contact)
        self.robot, self.stepper = robot, chosen_stepper(stepper, robot, engine, controller)
        self.stepper.require(robot)
        require_contacts(robot, self.stepper)
        controller = as_controller(controller)
        estimator = as_estimator(estimator)
        if not isinstance(stop_at_limits, bool | np.bool_):
            raise InputError(f"stop_at_limits {stop_at_limits!r:.60}: expected True or False")
        self.state = self._start(q0, v0, x0, pushed=external is not None)
        require_clear(robot, self.q)
        self._wrenches = external_wrenches(robot, external, self.v.shape[:-1])
        self._mover = self.stepper.mover(robot, self._wrenches)
        self._brakes, self._on, self._past = Brakes(robot, brakes), frozenset[str](), list[Segment]()
        self.tick = chosen_tick(tick, controller, self.stepper)
        require_steps(robot, self.stepper, self.tick)
        self.t0, self.ticks = float(t0), 0
        self.events: list[Event] = []
        self._statuses: dict[int, Status] = {}  # of runs that ended, by their number
        believed = (self.q, self.v) if belief is None else belief
        self.pilot = Pilot(robot, controller, estimator, self.tick, believed)
        self._rng = random_stream(seed)
        self._stop_at_limits, self._beyond = stop_at_limits, frozenset[int]()
        self._bounded = bool(np.isfinite([robot.limits.lower, robot.limits.upper]).any())
        pushed = external is not None
        self.settings = Settings(self.stepper, self.tick, seed, repr(controller), repr(estimator), pushed)
        self._recorder = Recorder()

    def _start(self, q0: Any, v0: Any, x0: Any, pushed: bool) -> State:
        """The state to start from: quaternions of length one, loops closed."""
        robot, own = self.robot, acting(self.robot)
        if not pushed and q0 is v0 is x0 is None:  # while compilers are at it, the robot is set down
            Mover(robot, self.stepper).begin(1)
        q = default_start(robot) if q0 is None else robot._q(q0, "q0")
        require_radians(robot, q)
        require_routes(robot, q)
        v = np.zeros(robot.nv) if v0 is None else robot._v(v0, "v0")
        x = own.start_at(q) if x0 is None else np.asarray(x0, dtype=float)
        if x.shape[-1:] != (own.nx,):
            raise InputError(
                f"x0 has shape {x.shape}: expected (..., {own.nx}), the states of the forces on {robot.name}"
            )
        try:
            shape = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], x.shape[:-1])
        except ValueError:
            raise InputError(
                f"q0 of shape {q.shape} and v0 of shape {v.shape}: expected leading axes that broadcast"
            ) from None
        if not pushed:
            Mover(robot, self.stepper).begin(int(np.prod(shape)))
        q = robot.integrate(np.broadcast_to(q, (*shape, robot.nq)), np.zeros(robot.nv))
        v = np.array(np.broadcast_to(v, (*shape, robot.nv)))
        if robot.constraints:
            q = robot.close_loops(q)
            # where there is none, the first step ends the run
            v = velocity_solution(robot, q, v, kernels.run).vdot
        return State(q, v, np.array(np.broadcast_to(x, (*shape, own.nx))))

    # ---- what it is now ----

    @property
    def t(self) -> float:
        """The time now [s].

        >>> mr.Simulation(robot, q).advance(0.01).t
        0.01
        """
        return self.t0 + self.ticks * self.tick

    @property
    def q(self) -> Array:
        """Configuration now, (..., nq) [rad or m].

        >>> mr.Simulation(robot, q).q
        array([ 0.3, -0.2,  0.5])
        """
        return self.state.q

    @property
    def v(self) -> Array:
        """Velocity now, (..., nv) [rad/s or m/s].

        >>> mr.Simulation(robot, q, v).v
        array([ 1. ,  0.5, -1. ])
        """
        return self.state.v

    @property
    def x(self) -> Array:
        """States that the robot's forces have of their own, (..., nx), each in the unit its force gives it.

        >>> mr.Simulation(robot, q).x.shape
        (0,)
        """
        return self.state.x

    @property
    def tau(self) -> Array:
        """Torques held now, (..., nv) [N m or N], zero before the first tick.

        >>> mr.Simulation(robot, q, controller=lambda t, q, v: -2.0 * q).advance(0.001).tau
        array([-0.6,  0.4, -1. ])
        """
        return self.pilot.tau

    @property
    def estimate(self) -> Measured | None:
        """What the estimator makes of the state, .q and .v; None without one.

        >>> mr.Simulation(robot, q).estimate is None
        True
        """
        return self.pilot.estimate

    @cached_property
    def _runs(self) -> int:
        return math.prod(self.v.shape[:-1])

    @property
    def status(self) -> Status | Statuses | None:
        """How it ended; None as long as all runs can go on. Of runs side by side, `status[k]` is that of run k.

        >>> mr.Simulation(robot, q).advance(0.01).status is None
        True
        """
        if not self._statuses:
            return None
        return self._status()

    def _status(self) -> Status | Statuses:
        done = Status(DONE, self.t)
        each = [self._statuses.get(k, done) for k in range(self._runs)]
        return each[0] if self.v.ndim == 1 else Statuses(each)

    @property
    def over(self) -> bool:
        """Whether no run can go on, as after a state that diverged.

        >>> mr.Simulation(robot, q).advance(0.01).over
        False
        """
        return len(self._statuses) == self._runs

    # ---- going on ----

    @explained
    def advance(
        self,
        duration: float,
        progress: Callable[[float], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Simulation:
        """Go on for `duration` [s], a whole number of ticks, unless something ends all runs. `progress` is told the share
        done, and `cancelled` asked before each tick whether to stop.

        >>> simulation = mr.Simulation(robot, q)
        >>> simulation.advance(0.01).advance(0.02).t
        0.03
        """
        total = whole(duration, self.tick, "duration")
        require_functions(progress=progress, cancelled=cancelled)
        for k in range(total):
            if self.over:
                break
            if cancelled is not None and cancelled():
                self._end(Failure("cancelled", "asked to stop"), self.t)
                break
            self.step()
            if progress is not None:
                progress((k + 1) / total)
        return self

    def step(self) -> None:
        """Go on by one tick: measure, estimate, decide, hold the torques, move.

        >>> simulation = mr.Simulation(robot, q)
        >>> simulation.step()
        >>> simulation.t
        0.001
        """
        t = self.t
        self._look_at_brakes(t)
        failure = None if self.over else self.pilot.decide(t, self.q, self.v, self.acceleration, self._rng, self.x)
        if failure is not None:
            self._end(failure, t)
        if self.over:
            return
        self._recorder.add(self._row(t))
        state, failures = self._mover.attempt(t, self.state, self.tau, self.tick)
        for failure in failures:
            self._end(failure, t + self.tick if failure.kind == "diverged" else t)
        if state is None or (self.over and not np.isfinite(state.v).all()):
            return
        self.ticks += 1
        self.state = self._kept(state)
        self._look_at_limits()

    def _look_at_brakes(self, t: float) -> None:
        on = self._brakes.asked(t, self.q, self.v)
        if isinstance(on, Failure):
            self._end(on, t)
        elif on != self._on:
            self._switch_brakes(t, on)

    def _switch_brakes(self, t: float, on: frozenset[str]) -> None:
        """Another segment of the recording, of the robot with other brakes on."""
        if len(self._recorder):
            self._past.append(Segment(self.robot, self.settings, self._channels()))
            self._recorder = Recorder()
        for name in sorted(on ^ self._on):
            self.events.append(Event(t, "brake", f"{name} {'on' if name in on else 'off'}"))
        self._on, self.robot = on, self._brakes.held(on)
        self._mover = self.stepper.mover(self.robot, self._wrenches)

    def _kept(self, moved: State) -> State:
        """The new state; runs that ended stay where they were when they did."""
        stay = [k for k, s in self._statuses.items() if s.kind != "diverged" or s.t <= self.t - self.tick / 2]
        if not stay or self.v.ndim == 1:
            return moved
        arrays = []
        for old, new in zip(self.state, moved, strict=True):
            flat = np.array(new).reshape(self._runs, new.shape[-1])
            flat[stay] = old.reshape(flat.shape)[stay]
            arrays.append(flat.reshape(new.shape))
        return State(*arrays)

    def acceleration(self) -> Array:
        """vdot now, under the torques that are held and all other forces, (..., nv) [rad/s² or m/s²].

        >>> mr.Simulation(robot, q).acceleration().round(3)
        array([-79.477,  66.56 ,  83.466])
        """
        return self._mover.acceleration(self.t, self.state, self.tau)

    def _look_at_limits(self) -> None:
        if not self._bounded:
            return
        out = rates_beyond_limits(self.robot, self.q)
        if not self._beyond and not out.any():
            return
        beyond = frozenset(np.flatnonzero(out.any(axis=tuple(range(out.ndim - 1)))).tolist())
        for k in sorted(beyond - self._beyond):
            message = f"joint {joint_of_rate(self.robot, k)} passed its limit"
            self.events.append(Event(self.t, "limit", message))
            if self._stop_at_limits:
                self._end(Failure("limit hit", message, out[..., k]), self.t)
        self._beyond = beyond

    def _end(self, failure: Failure, t: float) -> None:
        runs = range(self._runs) if failure.runs is None else np.flatnonzero(np.ravel(failure.runs)).tolist()
        for k in runs:
            self._statuses.setdefault(k, Status(failure.kind, t, failure.message))

    # ---- what is written down ----

    def _row(self, t: float) -> dict[str, Array]:
        row = {"t": np.array(t), "q": self.q, "v": self.v, **self.pilot.channels}
        return {**row, "x": self.x} if self.x.shape[-1] else row

    @property
    def recording(self) -> Recording:
        """All ticks so far, and the state now, under the torque that brought it here.

        >>> mr.Simulation(robot, q).advance(0.01).recording.t.shape
        (11,)
        """
        now = Segment(self.robot, self.settings, self._channels())
        return Recording((*self._past, now), self._status(), tuple(self.events))

    def _channels(self) -> dict[str, Array]:
        now = {name: x for name, x in self._row(self.t).items() if not name.endswith("_estimate")}
        return self._recorder.channels(now)


@explained
def simulate(
    robot: Mechanism | Assembly,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    duration: float = 1.0,
    controller: Any = None,
    stepper: Stepper | None = None,
    estimator: Estimator | None = None,
    external: Wrenches | None = None,
    stop_at_limits: bool = False,
    tick: float | None = None,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    ground: Ground | None = None,
    body_contact: BodyContact | None = None,
    engine: str = "modurob",
    brakes: Braking | None = None,
    view: Callable[[Array, float], None] | None = None,
    x0: ArrayLike | None = None,
) -> Recording:
    """Let a robot move for `duration` [s] from (q0, v0), (..., nq) and (..., nv): at rest at zero if not given.

    An assembly moves as its `robot()`, and starts from its `initial_state()`. A robot that floats over `ground` starts on it.
    `controller` is a controller or a function f(t, q, v) of torques [N m or N]; `stepper` is RungeKutta4(1e-3) if not given, or
    what the drives of the robot need;
    `external` a function of t, or of t, q and v, that returns wrenches (f, n) by frame name, in the axes of each frame (or
    mr.InWorld(wrench)); `tick` [s] how often states are recorded where no controller has a sample time; `seed` is that of the
    sensors' noise; `ground` what it stands on, such as mr.Ground(friction=0.8); with `body_contact`, such as
    mr.BodyContact(friction=0.5), its bodies touch each other. Friction, springs and stops of the robot act,
    and drives give no more than their effort. `progress` is told the share done; without it, a bar appears on the terminal
    after two seconds. `brakes` is a function f(t, q, v) that gives the joints whose brakes are on until the next tick (a name,
    names, or True for all); the recording has a segment for each change. With `engine` "mujoco" MuJoCo moves the robot by its own
    model and steps (`mr.MujocoSteps`); laws, filters and recordings are the same. `view` is told q and t after each tick, such as
    `robot.live()`, which shows the robot while it moves. x0, (..., nx), are the states of the robot's forces at the start.

    >>> run = mr.simulate(robot, q, duration=1.0, controller=mr.ComputedTorque(100, 20), stepper=mr.RungeKutta4(1e-3))
    >>> run.t.shape, run.q.shape, run.status.ok
    ((1001,), (1001, 3), True)
    """
    simulation = Simulation(
        robot,
        q0,
        v0,
        controller,
        stepper,
        estimator,
        external,
        stop_at_limits,
        tick,
        seed,
        x0=x0,
        ground=ground,
        body_contact=body_contact,
        engine=engine,
        brakes=brakes,
    )
    require_functions(view=view)
    with progress_bar(robot.name) as tell:
        told = progress or tell
        run = simulation.advance(duration, _seen(simulation, told, view) if view else told, cancelled).recording
    warn_of_stiff_stops(simulation.robot, run.q, simulation.stepper)
    return run


def _seen(simulation: Simulation, tell: Callable[[float], None], view: Callable[[Array, float], None]) -> Any:
    """What is told the share done, and shows the state."""

    def told(share: float) -> None:
        tell(share)
        view(simulation.q, simulation.t)

    return told
