"""Simulated runs: advanced a little at a time, off the event loop, and sampled for display."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from modurob.control import PID, ComputedTorque, gains_by_poles
from modurob.control.drives import Drives
from modurob.control.reference import Reference, target
from modurob.control.tracking import errors_of
from modurob.errors import StudioError
from modurob.estimation import ExtendedKalmanFilter, HallSensors
from modurob.mechanism.tables import Joint
from modurob.motion.gaits import gait
from modurob.robot import Mechanism
from modurob.simulation import (
    Adaptive,
    Controller,
    ImplicitMidpoint,
    Recording,
    RungeKutta4,
    SemiImplicitEuler,
    Simulation,
    Variational,
)
from modurob.spatial.scalars import Array
from modurob.studio.protocol import RunSettings

DISPLAY = 1 / 60  # seconds between samples
MOST_NUMBERS = 8_000_000  # in the recording of one run
PATIENCE = 0.03  # wall seconds that one advance may take
MOST_OWED = 0.25  # seconds: a run that is slower than time does not try to catch up with more

FIXED_STEPS = {
    "semi_implicit_euler": SemiImplicitEuler,
    "runge_kutta_4": RungeKutta4,
    "implicit_midpoint": ImplicitMidpoint,
    "variational": Variational,
}


def reference(settings: RunSettings, q: Array) -> Reference:
    """What the controller is to follow, from the start pose q."""
    if settings.reference == "hold":
        return q
    if settings.reference == "set_point":
        return settings.amplitude
    s = settings
    return gait(s.gait, generator=s.generator, amplitude=s.amplitude, frequency=s.frequency)


def controller(settings: RunSettings, follow: Reference) -> Controller | None:
    """The controller that the settings ask for; joints without a drive, like a floating base, are left to themselves."""
    common: dict[str, Any] = {
        "reference": follow,
        "sample_time": settings.sample_time,
        "saturation": "effort" if settings.saturated else None,
    }
    if settings.controller == "pid":
        return PID(settings.proportional, settings.integral, settings.derivative, **common)
    if settings.controller == "computed_torque":
        return ComputedTorque(settings.proportional, settings.derivative, partial=True, **common)
    if settings.controller == "pole_placement":
        gains = gains_by_poles(settings.poles, settings.sample_time)
        return ComputedTorque(float(gains.kp), float(gains.kd), partial=True, **common)
    return None


def simulation(robot: Mechanism, q: Array, v: Array, settings: RunSettings, t0: float) -> Simulation:
    """The simulation that the settings ask for."""
    law = controller(settings, reference(settings, q))
    sensors = HallSensors(noise=settings.noise)
    return Simulation(
        robot,
        q,
        v,
        controller=law,
        stepper=Adaptive() if settings.stepper == "adaptive" else FIXED_STEPS[settings.stepper](settings.step),
        estimator=ExtendedKalmanFilter(sensors) if settings.filtered and law is not None else None,
        tick=None if law is not None else settings.sample_time,
        t0=t0,
    )


class Run:
    """One simulation and its samples: rows of t, q, v, vdot, tau, error, kinetic and potential energy."""

    def __init__(
        self,
        number: int,
        robot: Mechanism,
        q: Array,
        v: Array,
        settings: RunSettings,
        t0: float = 0.0,
        before: int = -1,
    ):
        self.number, self.robot, self.settings = number, robot, settings
        self.before = before  # the run that this one goes on from, after the robot changed shape
        _require_room(robot, settings)
        self._simulation = simulation(robot, q, v, settings, t0)
        self._error = _error(robot, q, settings)
        self.status = ""  # why it ended
        self._stride = max(1, round(DISPLAY / self._simulation.tick))
        self._owed = 0.0  # seconds asked for and not yet simulated
        self._rows: list[Array] = [self._sample()]
        if settings.controller != "none":
            # neither acceleration nor torque is known before the law is asked
            self._rows[0][1 + robot.nq + robot.nv : 1 + robot.nq + 3 * robot.nv] = np.nan

    @property
    def t(self) -> float:
        """Simulated time [s]."""
        return self._simulation.t

    @property
    def state(self) -> tuple[Array, Array]:
        """q and v as they now are."""
        return self._simulation.q, self._simulation.v

    @property
    def ended(self) -> bool:
        """Whether it is over."""
        return bool(self.status)

    @property
    def samples(self) -> Array:
        """All samples, (rows, columns)."""
        return np.stack(self._rows)

    @property
    def recording(self) -> Recording:
        """Every tick."""
        return self._simulation.recording

    @property
    def numbers(self) -> int:
        """How many numbers its recording holds so far."""
        return self._simulation.ticks * (1 + self.robot.nq + 2 * self.robot.nv)

    def at(self, t: float) -> tuple[Array, Array]:
        """The configuration nearest to a time, and its sample."""
        interval, start = self._stride * self._simulation.tick, float(self._rows[0][0])
        row = self._rows[round(np.clip((t - start) / interval, 0, len(self._rows) - 1))]
        return row[1 : 1 + self.robot.nq], row

    @property
    def last(self) -> tuple[Array, Array]:
        """The newest configuration and sample."""
        return self._rows[-1][1 : 1 + self.robot.nq], self._rows[-1]

    def advance(self, seconds: float) -> None:
        """Simulate so far ahead, or as far as patience goes."""
        deadline = time.monotonic() + PATIENCE
        self._owed = min(self._owed + seconds, MOST_OWED)
        while self._owed > 0 and not self.status and time.monotonic() < deadline:
            self.advance_to_sample()

    def advance_to_sample(self) -> None:
        """Simulate to the next sample. Whatever fails becomes the status: the page is told, others go on."""
        try:
            why = self._advanced()
        except Exception as error:
            why = f"failed at {self.t:.3g} s: {error}"
        # it may have been stopped meanwhile
        self.status = self.status or why
        self._owed -= self._stride * self._simulation.tick

    def _advanced(self) -> str:
        """Why it ended with this, or nothing."""
        s, end = self._simulation, self.settings.duration - self._simulation.tick / 2
        for _ in range(self._stride):
            first = s.ticks == 0
            q, v = s.q, s.v
            s.step()
            if first:
                # the torque at the start is known once the law has been asked for it
                self._rows[0] = self._sampled(s.t0, q, v)
            if s.status is not None:
                return str(s.status)
            if s.t >= end:
                break
        self._rows.append(self._sample())
        return "finished" if s.t >= end else ""

    def stop(self, why: str = "stopped") -> None:
        """End it here."""
        self.status = self.status or why

    def _sample(self) -> Array:
        s = self._simulation
        return self._sampled(s.t, s.q, s.v)

    def _sampled(self, t: float, q: Array, v: Array) -> Array:
        """A row at a state, under the torque that was decided last."""
        s, robot = self._simulation, self.robot
        vdot = s.forces.acceleration(t, q, v, s.tau)
        energies = robot.kinetic_energy(q, v), robot.potential_energy(q)
        return np.concatenate([[t], q, v, vdot, s.tau, self._error(t, q, v), energies]).astype(np.float32)

    def summary(self) -> dict[str, Any]:
        """What the list of runs shows."""
        return {
            "number": self.number,
            "before": self.before,
            "controller": self.settings.controller,
            "reference": self.settings.reference,
            "gait": self.settings.gait,
            "filtered": self.settings.filtered,
            "start": float(self._rows[0][0]),
            "t": self.t,
            "duration": self.settings.duration,
            "status": self.status,
            "nq": self.robot.nq,
            "nv": self.robot.nv,
            "robot": self.robot.key,
            "joints": [_joint(j) for j in self.robot.joints if not j.mimics],
        }


def _joint(joint: Joint) -> dict[str, Any]:
    """Where a joint's coordinates and rates stand in q and v."""
    q, v = joint.q_slice, joint.v_slice
    return {"name": joint.name, "kind": joint.kind, "q": [q.start, q.stop], "v": [v.start, v.stop]}


def _require_room(robot: Mechanism, settings: RunSettings) -> None:
    """Refuse a run whose recording would be too large."""
    ticks = settings.duration / settings.sample_time
    width = 1 + robot.nq + 2 * robot.nv
    if ticks * width > MOST_NUMBERS:
        longest = MOST_NUMBERS / width * settings.sample_time
        raise StudioError(
            f"{settings.duration:g} s in steps of {settings.sample_time:g} s with {robot.nv} freedoms is too much to keep: "
            f"with this step at most {longest:.3g} s"
        )


def _error(robot: Mechanism, q: Array, settings: RunSettings) -> Callable[[float, Array, Array], Array]:
    """How far the driven joints are from where they should be, (nv,); zero for all others."""
    drives = Drives.of(robot)
    still = np.zeros(robot.nv)
    if settings.controller == "none":
        return lambda t, q, v: still
    wanted, errors = target(reference(settings, q), drives), errors_of(drives)

    def error(t: float, q: Array, v: Array) -> Array:
        e = np.array(errors(wanted(t), q, v).position)
        e[drives.passive] = 0.0
        return e

    return error
