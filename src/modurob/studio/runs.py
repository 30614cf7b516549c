"""Simulated runs: advanced a little at a time, off the event loop, and sampled for display."""

import time
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np

from modurob import kernels
from modurob.algorithms.forces import acting, stored_energy
from modurob.catalogue.contact import Ground
from modurob.control import ComputedTorque, gains_by_poles, plain_law
from modurob.control.drives import Drives
from modurob.control.reference import Reference, target
from modurob.control.tracking import errors_of
from modurob.errors import StudioError, choices
from modurob.estimation import FILTERS, HallSensors
from modurob.mechanism.tables import Joint
from modurob.robot import Mechanism
from modurob.simulation import STEPPERS, Controller, Estimator, Measured, Recording, Simulation, Stepper
from modurob.simulation.steppers import FixedStep
from modurob.spatial.scalars import Array
from modurob.studio import ground, motions, offers
from modurob.studio.protocol import Motion, RunSettings
from modurob.viewer import scene

DISPLAY = 1 / 60  # seconds between samples
MOST_NUMBERS = 8_000_000  # in the recording of one run
PATIENCE = 0.03  # wall seconds that one advance may take
MOST_OWED = 0.25  # seconds: a run that is slower than time does not try to catch up with more


def reference(robot: Mechanism, settings: RunSettings, q: Array) -> Reference:
    """What the controller is to follow, from the start pose q."""
    if settings.reference == "hold":
        return q
    if settings.reference == "motion":
        return motions.planned(robot, settings.motion or Motion())
    if settings.reference == "set_point":
        return set_points(robot, q, settings)
    return ground.rhythm(settings)


def set_points(robot: Mechanism, q: Array, settings: RunSettings) -> Array:
    """Where the joints are to go, (nq,): each to its own set point, or to that of all; those without a drive stay at q."""
    driven = {joint.name: joint for joint in robot.joints if can_be_set(joint)}
    wanted = np.array(q)
    for name, joint in driven.items():
        to, (low, high) = settings.set_points.get(name, settings.amplitude), (float(x[0]) for x in joint.limits)
        if name in settings.set_points and not low <= to <= high:
            raise StudioError(f"set point {to:g} of joint {name}: expected {low:.4g} to {high:.4g}, its limits")
        wanted[joint.q_slice.start] = to
    for name in settings.set_points.keys() - driven.keys():
        raise StudioError(
            f"no joint {name!r:.80} with a drive that could have a set point: {choices(name[:80], driven)}"
        )
    return wanted


def suited(settings: RunSettings, robot: Mechanism) -> RunSettings:
    """The settings of a run that goes on with a robot of another shape: without set points and swings of joints that are gone."""
    own, there = ({j.name for j in robot.joints if can_be_set(j)}, {j.name for j in robot.joints})
    return replace(
        settings,
        set_points={name: x for name, x in settings.set_points.items() if name in own},
        joints=tuple(name for name in settings.joints if name in there),
    )


def can_be_set(joint: Joint) -> bool:
    """Whether a joint has a set point: one coordinate, a drive, and no other joint that it follows."""
    return joint.type.nq == joint.type.nv == 1 and not joint.mimics and float(joint.effort_limit[0]) > 0


def controller(settings: RunSettings, follow: Reference) -> Controller | None:
    """The controller that the settings ask for; joints without a drive, like a floating base, are left to themselves.

    Servos are part of the robot.
    """
    if settings.controller in (offers.NONE, offers.SERVOS):
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
    if settings.filter == offers.NONE or settings.controller in (offers.NONE, offers.SERVOS):
        return None
    R = settings.believed or None
    return FILTERS[settings.filter](HallSensors(noise=settings.noise), Q=(0.0, settings.process), R=R)


def equipped(robot: Mechanism, q: Array, settings: RunSettings, floor: Ground | None) -> Mechanism:
    """The robot as it is simulated: ideal if asked for, with its servos, on the ground."""
    robot = robot.ideal() if settings.ideal else robot
    if settings.controller == offers.SERVOS:
        if settings.reference == "motion":
            raise StudioError("servos swing gaits or hold a pose: choose another controller to follow way points")
        robot = ground.servoed(robot, q, settings, **_gains(settings))
    return robot if floor is None else robot.on_ground(floor)


def simulation(robot: Mechanism, q: Array, v: Array, settings: RunSettings, since: "Since") -> Simulation:
    """The simulation of a robot that is equipped; a filter starts from `belief`, from the true state if there is none."""
    law = controller(settings, reference(robot, settings, q))
    return Simulation(
        robot,
        q,
        v,
        controller=law,
        stepper=stepper(settings),
        estimator=estimator(settings),
        tick=None if law is not None else settings.sample_time,
        t0=since.t,
        belief=since.belief,
    )


class Since(NamedTuple):
    """What a run goes on from: a time, the number of the run before, what its filter believes, and the ground it was on."""

    t: float = 0.0
    before: int = -1
    belief: tuple[Array, Array] | None = None
    ground: Ground | None = None


ANEW = Since()


class Run:
    """One simulation and its samples: rows of t, q, v, vdot, tau, error, kinetic and potential energy; and of the q that a filter
    believes in, if there is one."""

    def __init__(
        self,
        number: int,
        robot: Mechanism,
        q: Array,
        v: Array,
        settings: RunSettings,
        since: Since = ANEW,
    ):
        self.number, self.robot, self.settings = number, robot, settings
        self.filtered = estimator(settings) is not None
        self.before = since.before  # the run that this one goes on from, after the robot changed shape
        _require_room(robot, settings)
        self.ground = (since.ground or ground.under(robot, q, settings)) if settings.ground else None
        self._simulation = simulation(equipped(robot, q, settings, self.ground), q, v, settings, since)
        self._servos = ground.Servos.of(self._simulation.robot) if settings.controller == offers.SERVOS else None
        self._error = _error(robot, q, settings)
        self._before = self._simulation.v  # a tick ago
        # what stores energy: contacts, which keep next to none of it, take long to ask
        self._storing = _without_contacts(self._simulation.robot)
        self.status = ""  # why it ended
        self._stride = max(1, round(DISPLAY / self._simulation.tick))
        self._owed = 0.0  # seconds asked for and not yet simulated
        self._rows: list[Array] = [self._sample()]
        self._states = [self._simulation.x]  # with each row
        if settings.controller not in (offers.NONE, offers.SERVOS):
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
        row = self._rows[self._nearest(t)]
        return row[1 : 1 + self.robot.nq], row

    def _nearest(self, t: float) -> int:
        interval, start = self._stride * self._simulation.tick, float(self._rows[0][0])
        return round(np.clip((t - start) / interval, 0, len(self._rows) - 1))

    @property
    def last(self) -> tuple[Array, Array]:
        """The newest configuration and sample."""
        return self._rows[-1][1 : 1 + self.robot.nq], self._rows[-1]

    def touching(self, t: float | None = None) -> Array:
        """Where it touches the ground at a time, now if none is given: points, forces, slip, (points, 7)."""
        if self.ground is None:
            return np.zeros((0, 7))
        k = -1 if t is None else self._nearest(t)
        n, row = self.robot.nq, self._rows[k].astype(float)
        return ground.touching(
            self._simulation.robot, row[1 : 1 + n], row[1 + n : 1 + n + self.robot.nv], self._states[k]
        )

    def tune(self, amplitude: float, frequency: float) -> None:
        """Another swing and another rhythm, from now on."""
        if self._servos is None or self.settings.reference != "gait":
            raise StudioError("only servos that follow a gait can be tuned while they run: stop, and run again")
        settings = replace(self.settings, amplitude=amplitude, frequency=frequency)
        equipped(self.robot, self._simulation.q, settings, None)  # refused if a joint cannot do that
        wider = amplitude / self.settings.amplitude
        s = self._simulation
        s.state = s.state._replace(x=self._servos.tuned(s.t, s.x, wider, frequency))
        self.settings = settings

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
            self._before = s.v
            s.step()
            if first:
                # the torque at the start is known once the law has been asked for it
                start = s.recording.segments[0]
                x, vdot = self._states[0], start.vdot[0] if self.ground is None else self._acceleration()
                self._rows[0] = self._row(s.t0, start.q[0], start.v[0], x, vdot, start.tau[0])
            if s.status is not None:
                return str(s.status)
            if s.t >= end:
                break
        self._rows.append(self._sample())
        self._states.append(s.x)
        return "finished" if s.t >= end else ""

    def stop(self, why: str = "stopped") -> None:
        """End it here."""
        self.status = self.status or why

    def _sample(self) -> Array:
        """The state now, under the torque that was decided last."""
        s = self._simulation
        return self._row(s.t, s.q, s.v, s.x, self._acceleration(), s.tau)

    def _acceleration(self) -> Array:
        """Of the last tick where contacts act, which are stiff; now where none do."""
        s = self._simulation
        return s.acceleration() if self.ground is None else (s.v - self._before) / s.tick

    def _row(self, t: float, q: Array, v: Array, x: Array, vdot: Array, tau: Array) -> Array:
        robot, servos = self._storing, self._servos
        stored = robot.potential_energy(q) + stored_energy(robot, q, x[..., : acting(robot).nx], kernels.run)
        energies = robot.kinetic_energy(q, v), stored
        error = self._error(t, q, v) if servos is None else servos.lacking(t, q, v, x)[0]
        given = tau if servos is None else tau + servos.torques(t, q, v, x)
        seen = self._simulation.estimate
        believed = () if not self.filtered else (q if seen is None else seen[0],)
        return np.concatenate([[t], q, v, vdot, given, error, energies, *believed]).astype(np.float32)

    def summary(self) -> dict[str, Any]:
        """What the list of runs shows."""
        return {
            "number": self.number,
            "before": self.before,
            "controller": self.settings.controller,
            "reference": self.settings.reference,
            "gait": self.settings.gait,
            "filter": self.settings.filter,
            "filtered": self.filtered,
            "ground": self.settings.ground,
            "floor": scene.floor(self._simulation.robot),
            "start": float(self._rows[0][0]),
            "t": self.t,
            "duration": self.settings.duration,
            "status": self.status,
            "nq": self.robot.nq,
            "nv": self.robot.nv,
            "robot": self.robot.key.hex(),
            "joints": joints_of(self.robot),
        }


def _without_contacts(robot: Mechanism) -> Mechanism:
    return robot.without_forces(*(row.name for row in robot.contacts)) if robot.contacts else robot


def joints_of(robot: Mechanism) -> list[dict[str, Any]]:
    """The joints whose coordinates are its own, for the plots."""
    return [_joint(j) for j in robot.joints if not j.mimics]


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
    if settings.controller in (offers.NONE, offers.SERVOS):
        return lambda t, q, v: still
    wanted, errors = target(reference(robot, settings, q), drives), errors_of(drives)

    def error(t: float, q: Array, v: Array) -> Array:
        e = np.array(errors(wanted(t), q, v).position)
        e[drives.passive] = 0.0
        return e

    return error
