"""Measured motion: times, configurations and torques, and from them rates and accelerations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.signal import butter, sosfiltfilt

from modurob.algorithms.checks import beyond_limits
from modurob.errors import EstimateError
from modurob.estimation.checks import numbers
from modurob.mechanism.driven import drive_rows
from modurob.robot import Mechanism
from modurob.simulation import Recording
from modurob.simulation.recording import Segment
from modurob.spatial.scalars import Array, read_only
from modurob.values import Value

# the order of the low-pass filter, run forward and back, and its cut-off as a share of the sampling rate if none is given
ORDER, CUTOFF = 4, 0.05
# how unequal sample times may be
JITTER = 1e-3


class Samples(NamedTuple):
    """The motion half-way between samples, and the mean torque from one to the next, (k, ...) each."""

    t: Array
    q: Array
    v: Array
    vdot: Array
    tau: Array


@dataclass(frozen=True, eq=False)
class MotionData(Value):
    """Equally spaced samples of a motion: t (k,) [s], q (k, nq) [rad or m], tau (k, nv) [N m or N] of the motors at the
    joints.

    `v` (k, nv) are measured rates; None: from differences of q through a zero-phase filter of `cutoff` [Hz]. `held`
    means that a torque acts from its sample to the next, as in simulations; otherwise torques are those at the samples.

    >>> data = mr.MotionData(run.t, run.q, run.tau, held=True)
    >>> data.samples(robot).vdot.shape
    (100, 3)
    """

    t: Array
    q: Array
    tau: Array
    v: Array | None = None
    held: bool = False
    cutoff: float | None = None  # [Hz]

    def __post_init__(self) -> None:
        for name in ("t", "q", "tau", "v"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _finite(getattr(self, name), name))
        shapes = [np.shape(x) for x in (self.q, self.tau, self.v) if x is not None]
        if self.t.ndim != 1 or len(self.t) < 2 or any(len(s) != 2 or s[0] != len(self.t) for s in shapes):
            raise EstimateError(
                f"t of shape {self.t.shape}, q, tau and v of shapes {shapes}: expected (k,), (k, nq), (k, nv), (k, nv), k > 1"
            )
        steps = np.diff(self.t)
        if not steps.min() > 0 or np.ptp(steps) > JITTER * steps.mean():
            raise EstimateError(f"times with steps from {steps.min():g} to {steps.max():g} s: expected equal steps")

    @classmethod
    def of(
        cls,
        run: Recording | Segment,
        *,
        quantum: ArrayLike = 0.0,
        noise: ArrayLike = 0.0,
        current_noise: ArrayLike = 0.0,
        seed: int = 0,
    ) -> MotionData:
        """The measurements of a run by encoders with these counts [rad or m] and by torque sensors [N m or N], or
        current sensors [A], with white noise of these standard deviations; zero: the exact values. Each is one number,
        or one for each rate.

        >>> seen = mr.MotionData.of(run, quantum=2 * np.pi / 4096, noise=0.01)
        >>> bool(np.allclose(seen.q, run.q, atol=1e-3)), seen.v is None
        (True, True)
        """
        segment = one_segment(run)
        robot, rng = segment.robot, np.random.default_rng(seed)
        constants = torque_constants(robot)
        sigma = np.hypot(
            _spread(noise, robot.nv, "noise"), _spread(current_noise, robot.nv, "current_noise") * constants
        )
        step = _spread(quantum, robot.nv, "quantum")
        tau = motor_torques(segment) + sigma * rng.normal(size=segment.tau.shape)
        exact = not step.any()
        q = segment.q if exact else _counted(robot, segment.q, step)
        return cls(segment.t, q, tau, segment.v if exact else None, held=True)

    @classmethod
    def from_currents(cls, robot: Mechanism, t: ArrayLike, q: ArrayLike, current: ArrayLike, **rest: Any) -> MotionData:
        """The same from currents, (k, nv) [A], multiplied by the torque constants of the robot's drives.

        >>> driven = robot.with_drive("m0/hinge", "backbone-hinge")
        >>> mr.MotionData.from_currents(driven, [0.0, 0.1], np.zeros((2, 3)), [[0.4, 0, 0]] * 2).tau[0]
        array([1., 0., 0.])
        """
        tau = torque_constants(robot) * _finite(current, "current")
        return cls(np.asarray(t), np.asarray(q), tau, **rest)

    @property
    def step(self) -> float:
        """The time between samples [s]."""
        return float(np.mean(np.diff(self.t)))

    def samples(self, robot: Mechanism) -> Samples:
        """q, v, vdot and tau half-way between samples: for held torques the mean from one sample to the next."""
        if self.q.shape[1] != robot.nq or self.tau.shape[1] != robot.nv:
            raise EstimateError(
                f"q of {self.q.shape[1]} and tau of {self.tau.shape[1]} numbers: expected {robot.nq} and {robot.nv}, as "
                f"{robot.name} has"
            )
        if " degrees are " in (words := beyond_limits(robot, self.q)):
            raise EstimateError(f"q: {words}: expected radians")
        h, way = self.step, robot.difference(self.q[:-1], self.q[1:])
        tau = self.tau[:-1] if self.held else (self.tau[:-1] + self.tau[1:]) / 2
        v, vdot = (
            self._rates(way / h) if self.v is None else ((self.v[:-1] + self.v[1:]) / 2, np.diff(self.v, axis=0) / h)
        )
        return Samples(self.t[:-1] + h / 2, robot.integrate(self.q[:-1], way / 2), v, vdot, tau)

    def _rates(self, mean: Array) -> tuple[Array, Array]:
        """Rates and accelerations from mean rates, by a low-pass filter that is run forward and back."""
        share = 2 * (CUTOFF if self.cutoff is None else self.cutoff * self.step)
        if not 0 < share < 1:
            raise EstimateError(
                f"cutoff {self.cutoff} Hz of samples at {1 / self.step:g} Hz: expected more than zero, less than half of that"
            )
        sections = butter(ORDER, share, output="sos")
        try:
            v = sosfiltfilt(sections, mean, axis=0)
        except ValueError:
            raise EstimateError(f"{len(self.t)} samples: expected more, to find rates from differences") from None
        return v, np.gradient(v, self.step, axis=0)


def motion_data(given: Any) -> list[MotionData]:
    """One or several data sets from what users have: recordings, segments, MotionData, or (t, q, tau)."""
    if isinstance(given, MotionData):
        return [given]
    if isinstance(given, Recording | Segment):
        return [MotionData.of(given)]
    if isinstance(given, tuple) and len(given) == 3 and all(isinstance(x, np.ndarray | list) for x in given):
        t, q, tau = map(np.asarray, given)
        return [MotionData(t, q, tau)]
    if isinstance(given, list | tuple) and given:
        return [one for x in given for one in motion_data(x)]
    raise EstimateError(f"data {given!r:.60}: expected a recording, mr.MotionData(t, q, tau), or a list of them")


def one_segment(run: Any) -> Segment:
    """The segment of a recording of one robot in one run."""
    if not isinstance(run, Recording | Segment):
        raise EstimateError(f"run {run!r:.60}: expected a recording, or one of its segments")
    segments = (run,) if isinstance(run, Segment) else run.segments
    if len(segments) != 1:
        raise EstimateError(f"the robot changed its shape {len(segments) - 1} times: take one of recording.segments")
    if segments[0].q.ndim != 2:
        raise EstimateError("runs side by side: take each with recording.of_run(k), and give them as a list")
    return segments[0]


def motor_torques(segment: Segment) -> Array:
    """Torques of the motors at the joints before friction, (ticks, nv) [N m or N]: currents times torque constants where there
    are drives."""
    tau = np.array(segment.tau)
    if drive_rows(segment.robot):
        whole = Recording((segment,), None)  # type: ignore[arg-type]
        for row in drive_rows(segment.robot):
            joint: Any = segment.robot.joints[row.joint]
            force: Any = row.force
            tau[:, joint.v_slice.start] = force.torque_constant * whole.drive(joint.name).current
    return tau


def torque_constants(robot: Mechanism) -> Array:
    """Torque for a current, by rate, (nv,) [N m/A]; one where no drive says."""
    constants = np.ones(robot.nv)
    for row in drive_rows(robot):
        force: Any = row.force
        constants[robot.joints[row.joint].v_slice.start] = force.torque_constant
    return constants


def _counted(robot: Mechanism, q: Array, step: Array) -> Array:
    """Coordinates as measured by encoders; quaternions unchanged."""
    seen, at = np.array(q), robot.coordinate_of
    for rate in np.flatnonzero((at >= 0) & (step > 0)):
        seen[:, at[rate]] = step[rate] * np.rint(q[:, at[rate]] / step[rate])
    return seen


def _spread(x: ArrayLike, n: int, what: str) -> Array:
    """One number for each rate, zero or more."""
    x = np.asarray(x, dtype=float)
    if x.shape not in ((), (n,)) or not np.all((x >= 0) & np.isfinite(x)):
        raise EstimateError(f"{what} = {x.tolist()!r:.60}: expected a finite number, zero or more, or {n} of them")
    return np.broadcast_to(x, (n,))


def _finite(x: Any, what: str) -> Array:
    return read_only(np.array(numbers(x, what)))
