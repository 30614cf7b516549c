"""One robot moving: ticks of the controller, steps in between."""

from collections.abc import Callable
from typing import Any

import numpy as np

from modurob.algorithms.stepping import NO_SPRINGS, LimitSprings, limited
from modurob.errors import ClosureError, InputError, SimulationError, SingularError
from modurob.robot import Mechanism
from modurob.simulate.forces import Forces, WrenchError, Wrenches
from modurob.simulate.friction import Friction
from modurob.simulate.law import Controller, Estimator
from modurob.simulate.progress import progress_bar
from modurob.simulate.recording import Event, Recording, Segment, Settings
from modurob.simulate.status import DONE, Status
from modurob.simulate.steppers import DIVERGED, RungeKutta4, StepLimitError, Stepper
from modurob.spatial.scalars import Array

# ticks that a recording first has room for
_ROOM = 1024


class Simulation:
    """A robot with its controller, estimator and stepper, advanced tick by tick; `recording` is what happened so far.

    A tick: sensors are read and the estimate is updated, the law gives a torque, it is held, and the stepper carries the state to
    the next tick. Leading axes of q0 and v0 are runs side by side.
    """

    def __init__(
        self,
        robot: Mechanism,
        q0: Array | None = None,
        v0: Array | None = None,
        controller: Controller | None = None,
        stepper: Stepper | None = None,
        estimator: Estimator | None = None,
        external: Wrenches | None = None,
        friction: Friction | None = None,
        springs: LimitSprings = NO_SPRINGS,
        stop_at_limits: bool = False,
        tick: float | None = None,
        seed: int = 0,
        t0: float = 0.0,
        belief: tuple[Array, Array] | None = None,
    ):
        """`belief` is where the estimator starts, at the true state if not given; `seed` that of the sensors' noise.

        `tick` [s] is how often states are recorded where no controller says.
        """
        self.robot, self.stepper = robot, stepper or RungeKutta4(1e-3)
        self.forces = Forces(robot, springs, friction, external=external)
        q = robot.neutral() if q0 is None else robot._q(q0, "q0")
        v = np.zeros(robot.nv) if v0 is None else robot._v(v0, "v0")
        shape = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
        still = np.zeros(robot.nv)
        self.q = robot.integrate(np.broadcast_to(q, (*shape, robot.nq)), still)  # quaternions get length one
        self.v = np.array(np.broadcast_to(v, (*shape, robot.nv)))
        if robot.loops:
            self.q, self.v = _closed(robot, self.q, self.v)
        self.tick = _tick(tick, controller, self.stepper)
        self.t0, self.ticks = t0, 0
        self.status: Status | None = None
        self._law = controller.on(robot) if controller is not None else None
        self.estimate = (self.q, self.v) if belief is None else belief
        self._filter = estimator.on(robot, *self.estimate, self.tick) if estimator is not None else None
        self._rng = np.random.default_rng(seed)
        self._stop_at_limits, self._limits, self._beyond = stop_at_limits, limited(robot), frozenset[int]()
        self._bounded = bool(np.isfinite(self._limits.lower).any() or np.isfinite(self._limits.upper).any())
        self.tau = np.zeros_like(self.v)
        self.events: list[Event] = []
        settings = Settings(
            self.stepper, springs, friction, self.tick, seed, repr(controller), repr(estimator), external is not None
        )
        self._settings = settings
        self._arrays: dict[str, Array] = {}
        self._rows = 0

    @property
    def t(self) -> float:
        """Time [s]."""
        return self.t0 + self.ticks * self.tick

    def advance(
        self,
        duration: float,
        progress: Callable[[float], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> "Simulation":
        """Go on for `duration` [s], a whole number of ticks, unless something ends the run. `progress` is told the share done."""
        total = whole(duration, self.tick, "duration")
        self._compile()
        for k in range(total):
            if self.status is not None and not self.status.ok:
                break
            if cancelled is not None and cancelled():
                self._end("cancelled", "asked to stop")
                break
            self.step()
            if progress is not None:
                progress((k + 1) / total)
        return self

    def _compile(self) -> None:
        """Wait for kernels now: a run that went over to them on its way could not be repeated to the last bit."""
        lanes = 1 if self.q.ndim == 1 else None
        wanted = [(name, lanes) for name in self.stepper.kernels(self.forces)]
        if self._law is not None or self._filter is not None:
            wanted += [("inverse_dynamics", lanes), ("mass_matrix", lanes)]
        if self._filter is not None:
            # filters look around a state in batches
            wanted += [("advance", lanes), ("forward_dynamics", None)]
        self.robot.compile(wanted)

    def step(self) -> None:
        """One tick."""
        self.status = None
        t = self.t
        if not self._decide(t):
            return
        self._record(t)
        state = self._carried(t)
        if state is None:
            return
        self.ticks += 1
        self.q, self.v = state
        largest = np.abs(self.v).max(initial=0.0)
        if largest > DIVERGED:
            self._end("diverged", f"a rate reached {largest:.3g}")
        self._look_at_limits()

    def _carried(self, t: float) -> tuple[Array, Array] | None:
        """The state at the next tick, or None if there is none."""
        try:
            with np.errstate(all="ignore"):  # overflow shows in the state
                q, v = self.stepper.advanced(self.forces, t, self.q, self.v, self.tau, self.tick)
            if self.robot.loops:
                q, v = _closed(self.robot, q, v)
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
            if np.isfinite(q).all() and np.isfinite(v).all():
                return q, v
            self._end("not finite", "the state is not a finite number any more")
        return None

    def _decide(self, t: float) -> bool:
        """The torque for this tick; False if there is none."""
        try:
            q, v = self.q, self.v
            if self._filter is not None:
                measurement = self._filter.measured(t, q, v, self._rng)
                q, v = self._filter.update(t, self.tau, measurement)
                self.estimate = q, v
            if self._law is None:
                return True
            tau = np.asarray(self._law.torque(t, q, v), dtype=float)
        except Exception as error:  # whatever a user's law raises
            self._end("controller failed", f"{type(error).__name__}: {error}")
            return False
        if tau.shape != self.v.shape:
            found = f"torques of shape {tau.shape}: expected {self.v.shape} for {self.robot.name}"
            self._end("controller failed", found)
            return False
        if not np.isfinite(tau).all():
            self._end("not finite", f"the law's torque is {tau}")
            return False
        self.tau = tau
        return True

    def _look_at_limits(self) -> None:
        if not self._bounded:
            return
        x = self.q[..., self._limits.coordinate]
        out = (x < self._limits.lower) | (x > self._limits.upper)
        beyond = frozenset(np.flatnonzero(out.any(axis=tuple(range(out.ndim - 1)))).tolist())
        for k in sorted(beyond - self._beyond):
            name = next(j.name for j in self.robot.joints if j.v_slice.start <= k < j.v_slice.stop)
            self.events.append(Event(self.t, "limit", f"joint {name} passed its limit"))
            if self._stop_at_limits:
                self._end("limit hit", f"joint {name} passed its limit")
        self._beyond = beyond

    def _end(self, kind: str, message: str) -> None:
        self.status = Status(kind, self.t, message)

    # ---- what is written down ----

    def _record(self, t: float) -> None:
        row = {"t": np.array(t), "q": self.q, "v": self.v, "tau": self.tau}
        if self._filter is not None:
            row |= {"q_estimate": self.estimate[0], "v_estimate": self.estimate[1]}
        for name, x in row.items():
            if self._rows == 0:
                self._arrays[name] = np.empty((_ROOM, *x.shape))
            elif self._rows == len(self._arrays[name]):
                self._arrays[name] = np.concatenate([self._arrays[name], np.empty_like(self._arrays[name])])
            self._arrays[name][self._rows] = x
        self._rows += 1

    @property
    def recording(self) -> Recording:
        """All ticks so far, and the state now, under the torque that brought it here."""
        arrays = {name: np.array(x[: self._rows]) for name, x in self._arrays.items()}
        now = {"t": np.array(self.t), "q": self.q, "v": self.v, "tau": self.tau}
        if not arrays or arrays["t"][-1] < self.t:
            for name, x in now.items():
                arrays[name] = np.concatenate([arrays[name], x[None]]) if arrays.get(name) is not None else x[None]
            for name in ("q_estimate", "v_estimate"):
                if name in arrays:
                    arrays[name] = np.concatenate([arrays[name], arrays[name][-1:]])
        status = self.status or Status(DONE, self.t)
        return Recording((Segment(self.robot, self._settings, **arrays),), status, tuple(self.events))


def simulate(
    robot: Mechanism,
    q0: Array | None = None,
    v0: Array | None = None,
    duration: float = 1.0,
    controller: Controller | None = None,
    stepper: Stepper | None = None,
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    **options: Any,
) -> Recording:
    """Let a robot move for `duration` [s] from (q0, v0): at rest at zero if not given. Options are those of `Simulation`.

    `progress` is told the share done; without it, a bar appears on the terminal after two seconds.

    >>> run = simulate(robot, q0, duration=10.0, controller=ComputedTorque(...), stepper=RungeKutta4(1e-3))
    >>> run.t, run.q, run.status
    """
    simulation = Simulation(robot, q0, v0, controller, stepper, **options)
    with progress_bar(robot.name) as tell:
        return simulation.advance(duration, progress or tell, cancelled).recording


def _tick(tick: float | None, controller: Controller | None, stepper: Stepper) -> float:
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


def _closed(robot: Mechanism, q: Array, v: Array) -> tuple[Array, Array]:
    """The state next to (q, v) that closes the loops, of each run."""
    q = np.stack([robot.close_loops(x) for x in q.reshape(-1, robot.nq)]).reshape(q.shape)
    return q, robot.close_velocity(q, v)


def whole(span: float, unit: float, what: str) -> int:
    """How many units make the span, or an error."""
    if not (np.isfinite(span) and span > 0):
        raise SimulationError(f"{what} {span!r} s: expected a positive finite number")
    count = round(span / unit)
    if count < 1 or abs(count * unit - span) > 1e-9 * span:
        near = max(1, count) * unit
        raise SimulationError(f"{what} {span:g} s is not a multiple of {unit:g} s: the nearest is {near:g} s")
    return count
