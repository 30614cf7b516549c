"""Simulated runs: advanced a little at a time, off the event loop, and sampled for display."""

import time
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from modurob import kernels
from modurob.algorithms.forces import stored_energy
from modurob.control import ComputedTorque, gains_by_poles, plain_law
from modurob.control.drives import Drives
from modurob.control.reference import Reference, target
from modurob.control.tracking import errors_of
from modurob.errors import StudioError, choices
from modurob.estimation import FILTERS, HallSensors
from modurob.mechanism.tables import Joint
from modurob.motion.gaits import gait
from modurob.robot import Mechanism
from modurob.simulation import STEPPERS, Controller, Estimator, Measured, Recording, Simulation, Stepper
from modurob.simulation.steppers import FixedStep
from modurob.spatial.scalars import Array
from modurob.studio import offers
from modurob.studio.protocol import RunSettings

DISPLAY = 1 / 60  # seconds between samples
MOST_NUMBERS = 8_000_000  # in the recording of one run
PATIENCE = 0.03  # wall seconds that one advance may take
MOST_OWED = 0.25  # seconds: a run that is slower than time does not try to catch up with more


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
    if settings.controller == offers.NONE:
        return None
    common: dict[str, Any] = {"reference": follow, "sample_time": settings.sample_time, "saturation": "effort"}
    gains = _gains(settings)
    if settings.controller == offers.POLES:
        found = gains_by_poles((gains["pole1"], gains["pole2"]), settings.sample_time)
        return ComputedTorque(float(found.kp), float(found.kd), partial=True, **common)
    law = plain_law(settings.controller)
    known = {f.name for f in fields(law)}
    return law(**gains, **{name: x for name, x in {**common, "partial": True}.items() if name in known})


def _gains(settings: RunSettings) -> dict[str, float]:
    """The numbers of the law: those that were set, else those it has by itself."""
    known = offers.gains(settings.controller)
    for name in settings.gains.keys() - known.keys():
        raise StudioError(f"{settings.controller} has no gain {name!r:.80}: {choices(name[:80], known)}")
    return {**known, **settings.gains}


def stepper(settings: RunSettings) -> Stepper:
    """The stepper that the settings ask for."""
    kind = STEPPERS[settings.stepper]
    return kind(dt=settings.step) if issubclass(kind, FixedStep) else kind()


def estimator(settings: RunSettings) -> Estimator | None:
    """The filter between sensors and law; none where there is no law."""
    if offers.NONE in (settings.filter, settings.controller):
        return None
    return FILTERS[settings.filter](HallSensors(noise=settings.noise))


def simulation(
    robot: Mechanism,
    q: Array,
    v: Array,
    settings: RunSettings,
    t0: float,
    belief: tuple[Array, Array] | None = None,
) -> Simulation:
    """The simulation that the settings ask for; a filter starts from `belief`, from the true state if there is none."""
    law, seen = controller(settings, reference(settings, q)), estimator(settings)
    return Simulation(
        robot.ideal() if settings.ideal else robot,
        q,
        v,
        controller=law,
        stepper=stepper(settings),
        estimator=seen,
        tick=None if law is not None else settings.sample_time,
        t0=t0,
        belief=belief,
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
        belief: tuple[Array, Array] | None = None,
    ):
        self.number, self.robot, self.settings = number, robot, settings
        self.before = before  # the run that this one goes on from, after the robot changed shape
        _require_room(robot, settings)
        self._simulation = simulation(robot, q, v, settings, t0, belief)
        self._error = _error(robot, q, settings)
        self.status = ""  # why it ended
        self._stride = max(1, round(DISPLAY / self._simulation.tick))
        self._owed = 0.0  # seconds asked for and not yet simulated
        self._rows: list[Array] = [self._sample()]
        if settings.controller != offers.NONE:
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
    def estimate(self) -> Measured | None:
        """What the filter makes of the state; None without one."""
        return self._simulation.estimate

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
            s.step()
            if first:
                # the torque at the start is known once the law has been asked for it
                start = s.recording.segments[0]
                self._rows[0] = self._row(s.t0, start.q[0], start.v[0], start.x[0], start.vdot[0], start.tau[0])
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
        """The state now, under the torque that was decided last."""
        s = self._simulation
        return self._row(s.t, s.q, s.v, s.x, s.acceleration(), s.tau)

    def _row(self, t: float, q: Array, v: Array, x: Array, vdot: Array, tau: Array) -> Array:
        robot = self._simulation.robot
        stored = robot.potential_energy(q) + stored_energy(robot, q, x, kernels.run)
        energies = robot.kinetic_energy(q, v), stored
        return np.concatenate([[t], q, v, vdot, tau, self._error(t, q, v), energies]).astype(np.float32)

    def summary(self) -> dict[str, Any]:
        """What the list of runs shows."""
        return {
            "number": self.number,
            "before": self.before,
            "controller": self.settings.controller,
            "reference": self.settings.reference,
            "gait": self.settings.gait,
            "filter": self.settings.filter,
            "start": float(self._rows[0][0]),
            "t": self.t,
            "duration": self.settings.duration,
            "status": self.status,
            "nq": self.robot.nq,
            "nv": self.robot.nv,
            "robot": self.robot.key.hex(),
            "joints": [_joint(j) for j in self.robot.joints if not j.mimics],
        }


def _joint(joint: Joint) -> dict[str, Any]:
    """Where a joint's coordinates and rates stand in q and v, and what they are called."""
    q, v = joint.q_slice, joint.v_slice
    names = {"q_names": joint.coordinate_names(), "v_names": joint.rate_names()}
    return {"name": joint.name, "kind": joint.kind, "q": [q.start, q.stop], "v": [v.start, v.stop], **names}


def _require_room(robot: Mechanism, settings: RunSettings) -> None:
    """Refuse a run whose recording would be too large."""
    ticks = settings.duration / settings.sample_time
    width = 1 + robot.nq + 2 * robot.nv
    if ticks * width > MOST_NUMBERS:
        longest = MOST_NUMBERS / width * settings.sample_time
        raise StudioError(
            f"{settings.duration:g} s in steps of {settings.sample_time:g} s with {robot.nv} degrees of freedom is too much "
            f"to keep: with this step at most {longest:.3g} s"
        )


def _error(robot: Mechanism, q: Array, settings: RunSettings) -> Callable[[float, Array, Array], Array]:
    """How far the driven joints are from where they should be, (nv,); zero for all others."""
    drives = Drives.of(robot)
    still = np.zeros(robot.nv)
    if settings.controller == offers.NONE:
        return lambda t, q, v: still
    wanted, errors = target(reference(settings, q), drives), errors_of(drives)

    def error(t: float, q: Array, v: Array) -> Array:
        e = np.array(errors(wanted(t), q, v).position)
        e[drives.passive] = 0.0
        return e

    return error
