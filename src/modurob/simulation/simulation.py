"""One robot moving: ticks of the controller, steps in between."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from modurob.algorithms.forces import acting
from modurob.errors import ClosureError, InputError, SimulationError, SingularError
from modurob.robot import Mechanism
from modurob.simulation.law import Estimator, Measured, as_controller
from modurob.simulation.progress import progress_bar
from modurob.simulation.recorder import Recorder
from modurob.simulation.recording import Event, Recording, Segment, Settings
from modurob.simulation.status import DONE, Status, Statuses
from modurob.simulation.steppers import RungeKutta4, StepLimitError, Stepper
from modurob.simulation.steppers.adaptive import DIVERGED
from modurob.simulation.stepping import Mover
from modurob.simulation.system import State, WrenchError, Wrenches, pushes
from modurob.spatial.scalars import Array


class Simulation:
    """A robot with its controller, estimator and stepper, advanced tick by tick; `recording` is what happened so far.

    A tick: sensors are read and the estimate is updated, the law gives torques, drives give as much of them as they can, these are held, and
    the stepper carries the state to the next tick. Leading axes of q0 and v0 are runs side by side, each with a status of its own.
    """

    def __init__(
        self,
        robot: Mechanism,
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
    ):
        """`controller` is a controller or a function f(t, q, v); `belief` is where the estimator starts, at the true state if not given; `seed`
        that of the sensors' noise; x0 the states of the robot's forces. `tick` [s] is how often states are recorded where no controller says.
        """
        self.robot, self.stepper = _robot(robot), _stepper(stepper)
        self.stepper.require(robot)
        controller = as_controller(controller)
        if estimator is not None and not isinstance(estimator, Estimator):
            raise SimulationError(f"estimator {estimator!r:.60}: expected one such as mr.ExtendedKalmanFilter(...)")
        self._push = pushes(robot, external)
        self._mover = Mover(robot, self.stepper, self._push)
        self.state = self._start(q0, v0, x0)
        self.tick = _tick(tick, controller, self.stepper)
        self.t0, self.ticks = float(t0), 0
        self.events: list[Event] = []
        self._statuses: dict[int, Status] = {}  # of runs that ended, by their number
        self._law = controller.on(robot) if controller is not None else None
        self._memory = self._law.start() if self._law is not None else None
        self._filter = estimator.on(robot, self.tick) if estimator is not None else None
        believed = (self.q, self.v) if belief is None else belief
        self.estimate = Measured(*believed)
        self._belief = self._filter.start(*believed) if self._filter is not None else None
        self._rng = np.random.default_rng(seed)
        self._stop_at_limits, self._beyond = stop_at_limits, frozenset[int]()
        self._bounded = np.isfinite(robot.limits.lower) | np.isfinite(robot.limits.upper)
        self.tau = np.zeros_like(self.v)
        self.settings = Settings(self.stepper, self.tick, seed, repr(controller), repr(estimator), external is not None)
        self._recorder = Recorder()

    def _start(self, q0: Any, v0: Any, x0: Any) -> State:
        """The state to start from: quaternions of length one, loops closed."""
        robot, own = self.robot, acting(self.robot)
        q = robot.neutral() if q0 is None else robot._q(q0, "q0")
        v = np.zeros(robot.nv) if v0 is None else robot._v(v0, "v0")
        x = own.start() if x0 is None else np.asarray(x0, dtype=float)
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
        q = robot.integrate(np.broadcast_to(q, (*shape, robot.nq)), np.zeros(robot.nv))
        v = np.array(np.broadcast_to(v, (*shape, robot.nv)))
        if robot.constraints:
            q = robot.close_loops(q)
            v = robot.close_velocity(q, v)
        return State(q, v, np.array(np.broadcast_to(x, (*shape, own.nx))))

    # ---- what it is now ----

    @property
    def t(self) -> float:
        """Time [s]."""
        return self.t0 + self.ticks * self.tick

    @property
    def q(self) -> Array:
        """Configuration, (..., nq)."""
        return self.state.q

    @property
    def v(self) -> Array:
        """Velocity, (..., nv)."""
        return self.state.v

    @property
    def x(self) -> Array:
        """States of the forces, (..., nx)."""
        return self.state.x

    @property
    def _runs(self) -> int:
        return int(np.prod(self.v.shape[:-1]))

    @property
    def status(self) -> Status | Statuses | None:
        """How it ended; None as long as all runs can go on."""
        if not self._statuses:
            return None
        return self._status()

    def _status(self) -> Status | Statuses:
        done = Status(DONE, self.t)
        each = [self._statuses.get(k, done) for k in range(self._runs)]
        return each[0] if self.v.ndim == 1 else Statuses(each)

    @property
    def over(self) -> bool:
        """Whether no run can go on."""
        return len(self._statuses) == self._runs

    # ---- going on ----

    def advance(
        self,
        duration: float,
        progress: Callable[[float], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> "Simulation":
        """Go on for `duration` [s], a whole number of ticks, unless something ends all runs. `progress` is told the share done."""
        total = whole(duration, self.tick, "duration")
        for k in range(total):
            if self.over:
                break
            if cancelled is not None and cancelled():
                self._end("cancelled", "asked to stop")
                break
            self.step()
            if progress is not None:
                progress((k + 1) / total)
        return self

    def step(self) -> None:
        """One tick."""
        t = self.t
        if self.over or not self._decide(t):
            return
        self._record(t)
        moved = self._moved(t)
        if moved is None:
            return
        self.ticks += 1
        self.state = self._kept(moved)
        self._look_at_limits()

    def _moved(self, t: float) -> State | None:
        """The state at the next tick, or None if no run has one; runs that have none end."""
        try:
            with np.errstate(all="ignore"):  # overflow shows in the state
                state, singular = self._mover.advance(t, self.state, self.tau, self.tick)
        except (StepLimitError, ClosureError) as error:
            self._end("step limit", str(error))
        except (SingularError, np.linalg.LinAlgError) as error:
            self._end("singular", str(error))
        except WrenchError as error:
            self._end("wrench failed", str(error))
        except InputError as error:
            # a state on the way was not a number any more
            self._end("not finite", str(error))
        else:
            self._look_at(state, singular)
            return None if self.over and not np.isfinite(state.v).all() else state
        return None

    def _look_at(self, state: State, singular: Array) -> None:
        """End the runs that have no state, or one beyond all bounds."""
        finite = (
            np.isfinite(state.q).all(axis=-1) & np.isfinite(state.v).all(axis=-1) & np.isfinite(state.x).all(axis=-1)
        )
        largest = np.abs(state.v).max(axis=-1, initial=0.0)
        if np.all(finite) and np.all(largest <= DIVERGED) and not np.any(singular):
            return
        rows = zip(np.ravel(singular), np.ravel(finite), np.ravel(largest), strict=True)
        for k, (joint, is_finite, size) in enumerate(rows):
            if joint:
                name = f"joint {self.robot.joints[joint - 1].name!r}" if joint > 0 else "a degree of freedom"
                self._end("singular", f"{name} moves no inertia", k)
            elif not is_finite:
                self._end("not finite", "the state is not a finite number any more", k)
            elif size > DIVERGED:
                self._end("diverged", f"a rate reached {size:.3g}", k, self.t + self.tick)

    def _kept(self, moved: State) -> State:
        """The new state; runs that ended stay where they were when they did."""
        stay = [k for k, s in self._statuses.items() if s.kind != "diverged" or s.t <= self.t - self.tick / 2]
        if not stay or self.v.ndim == 1:
            return moved
        arrays = []
        for old, new in zip(self.state, moved, strict=True):
            flat = np.array(new).reshape(-1, new.shape[-1])
            flat[stay] = old.reshape(-1, old.shape[-1])[stay]
            arrays.append(flat.reshape(new.shape))
        return State(*arrays)

    def _decide(self, t: float) -> bool:
        """The torques for this tick; False if there are none."""
        try:
            measured = Measured(self.q, self.v)
            if self._filter is not None:
                measured = self._estimated(t)
            if self._law is None:
                return True
            seen = Measured(*(_unwritable(x) for x in measured))
            memory, tau = self._law.step(self._memory, t, seen)
            tau = np.asarray(tau, dtype=float)
        except Exception as error:  # whatever a user's law raises
            self._end("controller failed", f"{type(error).__name__}: {error}")
            return False
        if tau.shape != self.v.shape:
            found = f"torques of shape {tau.shape}: expected {self.v.shape} for {self.robot.name}"
            self._end("controller failed", found)
            return False
        self._end_where(~np.isfinite(tau).all(axis=-1), "not finite", tau)
        if self.over:
            return False
        limit = self.robot.effort_limit
        self._memory, self.tau = memory, np.clip(np.where(np.isfinite(tau), tau, 0.0), -limit, limit)
        return True

    def _estimated(self, t: float) -> Measured:
        f: Any = self._filter
        vdot = self.acceleration()
        self._belief, seen = f.measure(self._belief, t, self.q, self.v, vdot, self._rng)
        self._belief, self.estimate = f.update(self._belief, t, self.tau, seen)
        return self.estimate

    def acceleration(self) -> Array:
        """vdot now, under the torques that are held, (..., nv)."""
        return self._mover.acceleration(self.t, self.state, self.tau)

    def _look_at_limits(self) -> None:
        if not self._bounded.any():
            return
        limits, coordinate = self.robot.limits, self.robot.coordinate_of
        x = self.q[..., np.maximum(coordinate, 0)]
        out = self._bounded & ((x < limits.lower) | (x > limits.upper))
        beyond = frozenset(np.flatnonzero(out.any(axis=tuple(range(out.ndim - 1)))).tolist())
        for k in sorted(beyond - self._beyond):
            name = next(j.name for j in self.robot.joints if j.v_slice.start <= k < j.v_slice.stop)
            self.events.append(Event(self.t, "limit", f"joint {name} passed its limit"))
            if self._stop_at_limits:
                for run in np.flatnonzero(np.ravel(out[..., k])):
                    self._end("limit hit", f"joint {name} passed its limit", int(run))
        self._beyond = beyond

    def _end_where(self, runs: Array, kind: str, tau: Array) -> None:
        for k in np.flatnonzero(np.ravel(runs)):
            self._end(kind, f"the law's torque is {tau.reshape(-1, tau.shape[-1])[k]}", int(k))

    def _end(self, kind: str, message: str, run: int | None = None, t: float | None = None) -> None:
        for k in range(self._runs) if run is None else (run,):
            self._statuses.setdefault(k, Status(kind, self.t if t is None else t, message))

    # ---- what is written down ----

    def _record(self, t: float) -> None:
        row = self._row(t)
        if self._filter is not None:
            row |= {"q_estimate": self.estimate.q, "v_estimate": self.estimate.v}
        self._recorder.add(row)

    def _row(self, t: float) -> dict[str, Array]:
        row = {"t": np.array(t), "q": self.q, "v": self.v, "tau": self.tau}
        return {**row, "x": self.x} if self.x.shape[-1] else row

    @property
    def recording(self) -> Recording:
        """All ticks so far, and the state now, under the torque that brought it here."""
        channels = self._recorder.channels(self._row(self.t))
        return Recording((Segment(self.robot, self.settings, channels),), self._status(), tuple(self.events))


def simulate(
    robot: Mechanism,
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
) -> Recording:
    """Let a robot move for `duration` [s] from (q0, v0): at rest at zero if not given.

    `controller` is a controller or a function f(t, q, v) of torques [N m or N]; `stepper` is RungeKutta4(1e-3) if not given; `external` a function
    of t, or of t, q and v, that returns wrenches (f, n) by frame name, in the axes of each frame (or mr.InWorld(wrench)); `tick` [s] how often
    states are recorded where no controller has a sample time. Friction, springs and stops of the robot act, and drives give no
    more than their effort. `progress` is told the share done; without it, a bar appears on the terminal after two seconds.

    >>> run = mr.simulate(robot, q0, duration=1.0, controller=mr.ComputedTorque(100, 20), stepper=mr.RungeKutta4(1e-3))
    >>> run.t.shape, run.q.shape, run.status.ok
    ((1001,), (1001, 3), True)
    """
    simulation = Simulation(robot, q0, v0, controller, stepper, estimator, external, stop_at_limits, tick, seed)
    with progress_bar(robot.name) as tell:
        return simulation.advance(duration, progress or tell, cancelled).recording


def _robot(robot: Any) -> Mechanism:
    if not isinstance(robot, Mechanism):
        hint = (
            ": give its mechanism, assembly.mechanism(...) or assembly.robot()" if hasattr(robot, "mechanism") else ""
        )
        raise SimulationError(f"{type(robot).__name__} is no robot: expected a Mechanism{hint}")
    return robot


def _stepper(stepper: Any) -> Stepper:
    if stepper is None:
        return RungeKutta4(1e-3)
    if not isinstance(stepper, Stepper):
        raise SimulationError(f"stepper {stepper!r:.60}: expected one such as mr.RungeKutta4(1e-3)")
    return stepper


def _tick(tick: float | None, controller: Any, stepper: Stepper) -> float:
    """The time between ticks: the controller's, else the given one, else the stepper's; steps must fill it."""
    sample_time = getattr(controller, "sample_time", None)
    if sample_time is not None and tick is not None and not np.isclose(sample_time, tick, rtol=1e-12):
        raise SimulationError(
            f"tick {tick:g} s and the controller's sample time {sample_time:g} s: expected one of them"
        )
    chosen = next(x for x in (sample_time, tick, stepper.dt, 0.01) if x is not None)
    if not (np.isfinite(chosen) and chosen > 0):
        raise SimulationError(f"tick {chosen!r} s: expected a positive finite number")
    if stepper.dt is not None:
        whole(chosen, stepper.dt, "sample time")
    return float(chosen)


def _unwritable(x: Array) -> Array:
    """A view that a law cannot change the simulated state through."""
    seen = x.view()
    seen.flags.writeable = False
    return seen


def whole(span: float, unit: float, what: str) -> int:
    """How many units make the span, or an error."""
    if isinstance(span, bool) or not isinstance(span, int | float | np.number) or not (np.isfinite(span) and span > 0):
        raise SimulationError(f"{what} {span!r} s: expected a positive finite number")
    count = round(span / unit)
    if count < 1 or abs(count * unit - span) > 1e-9 * span:
        near = max(1, count) * unit
        raise SimulationError(f"{what} {span:g} s is not a multiple of {unit:g} s: the nearest is {near:g} s")
    return count
