"""What happened in a run: its segments, how it ended, and events on the way."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from modurob import tabular
from modurob.algorithms import Poses
from modurob.catalogue.reading import require_picture, write_bytes
from modurob.errors import SimulationError, gathered
from modurob.robot import Mechanism
from modurob.simulation.driving import DriveRecord, drive_record
from modurob.simulation.recording import efforts, file, replay, table
from modurob.simulation.recording.event import Event
from modurob.simulation.recording.segment import Segment
from modurob.simulation.showing import Showing
from modurob.simulation.status import Status, Statuses
from modurob.spatial.scalars import Array

RANGE_HEAD = (
    "t [s]",
    "rate",
    "q [rad, m]",
    "largest |v| [rad/s, m/s]",
    "largest |tau| [N m, N]",
    "at its effort limit",
)


@gathered
@dataclass(frozen=True)
class Recording(Showing):
    """A run: its segments, how it ended, and what happened on the way. t, q, v, ... are those of all segments in a row.

    t is (ticks,) [s]; q (ticks, ..., nq), v, vdot and tau (ticks, ..., nv), SI units. Of runs side by side, in the axes in
    between, each has a status of its own, `status[k]`; a run that ended early stays where it was. It is a value: it can be
    saved, and repeated to the last bit.

    >>> run
    Recording(crab, 101 ticks, done at t = 0.1 s)
    >>> run.q.shape, run.status.ok
    ((101, 3), True)
    """

    segments: tuple[Segment, ...]
    status: Status | Statuses
    events: tuple[Event, ...] = ()

    def __repr__(self) -> str:
        names = ", ".join(s.robot.name for s in self.segments)
        told = filter(None, (str(self.status), efforts.remark(self.saturated)))
        return f"Recording({names}, {len(self.t)} ticks, {'; '.join(told)})"

    def _repr_html_(self) -> str:
        """The run in 3D, what each joint did, and what happened, for notebooks."""
        parts = [
            self._view_html(),
            tabular.html(f"{self!r}, {self.t[0]:g} to {self.t[-1]:g} s", RANGE_HEAD, self._ranges()),
        ]
        if self.events:
            parts.append(tabular.html("events", ("t [s]", "kind", "what"), ((f"{e.t:g}", *e[1:]) for e in self.events)))
        return "".join(parts)

    def _repr_latex_(self) -> str:
        """What each joint did, for notebooks on paper."""
        return f"${tabular.latex(RANGE_HEAD, self._ranges())}$"

    def _ranges(self) -> Iterator[tuple[str, ...]]:
        """For each degree of freedom of each segment, where it went and how fast and strongly."""
        for segment in self.segments:
            span, shares = f"{segment.t[0]:g} to {segment.t[-1]:g}", efforts.saturated([segment])
            for k, name in enumerate(segment.names["v"]):
                at = segment.robot.coordinate_of[k]
                q = segment.q[..., at] if at >= 0 else np.full(1, np.nan)
                fastest, strongest = (np.abs(x[..., k]).max() for x in (segment.v, segment.tau))
                where = f"{q.min():.4g} to {q.max():.4g}" if at >= 0 else "quaternion"
                share = f"{100 * shares[name]:.0f} %" if name in shares else ""
                yield span, name, where, f"{fastest:.4g}", f"{strongest:.4g}", share

    @property
    def robot(self) -> Mechanism:
        """The robot, as it was at the end: its joints name the columns of q, v and tau.

        >>> run.robot == robot
        True
        """
        return self.segments[-1].robot

    def _all(self, name: str) -> Array:
        parts = [getattr(s, name) for s in self.segments]
        if any(x is None for x in parts):
            raise SimulationError(
                f"{name} was not recorded: the run had no estimator: expected simulate(..., estimator=...)"
            )
        if len({x.shape[1:] for x in parts}) > 1:
            shapes = ", ".join(str(x.shape) for x in parts)
            raise SimulationError(f"{name} changes its size with the robot, {shapes}: read it from recording.segments")
        return np.concatenate(parts)

    @property
    def t(self) -> Array:
        """Times of the ticks, (ticks,) [s].

        >>> run.t[:3]
        array([0.   , 0.001, 0.002])
        """
        return self._all("t")

    @property
    def q(self) -> Array:
        """Configurations at the ticks, (ticks, ..., nq) [rad or m].

        >>> run.q[0]
        array([ 0.3, -0.2,  0.5])
        """
        return self._all("q")

    @property
    def v(self) -> Array:
        """Velocities at the ticks, (ticks, ..., nv) [rad/s or m/s].

        >>> run.v[0]
        array([0., 0., 0.])
        """
        return self._all("v")

    @property
    def tau(self) -> Array:
        """Torques that acted, each held until the next tick, (ticks, ..., nv) [N m or N]: what drives gave, within their limits.

        >>> run.tau.shape
        (101, 3)
        """
        return self._all("tau")

    @property
    def vdot(self) -> Array:
        """Accelerations at the ticks, (ticks, ..., nv) [rad/s² or m/s²], from M vdot = tau + passive + dry friction - C v - N.

        >>> run.vdot.shape
        (101, 3)
        """
        return self._all("vdot")

    @property
    def q_estimate(self) -> Array:
        """Configurations as the estimator had them, (ticks, ..., nq) [rad or m]; an error if the run had none.

        >>> watched = mr.simulate(robot, q, duration=0.01, estimator=mr.ExtendedKalmanFilter())
        >>> watched.q_estimate.shape
        (11, 3)
        """
        return self._all("q_estimate")

    @property
    def v_estimate(self) -> Array:
        """Velocities as the estimator had them, (ticks, ..., nv) [rad/s or m/s]; an error if the run had none.

        >>> watched = mr.simulate(robot, q, duration=0.01, estimator=mr.ExtendedKalmanFilter())
        >>> watched.v_estimate.shape
        (11, 3)
        """
        return self._all("v_estimate")

    @property
    def kinetic_energy(self) -> Array:
        """v^T M v / 2 at the ticks, (ticks, ...) [J].

        >>> float(run.kinetic_energy[0])
        0.0
        """
        return self._all("kinetic_energy")

    @property
    def potential_energy(self) -> Array:
        """-m g . c and what springs and stops hold, at the ticks, (ticks, ...) [J].

        >>> bool(np.isclose(run.potential_energy[0], robot.potential_energy(q)))
        True
        """
        return self._all("potential_energy")

    @property
    def energy(self) -> Array:
        """Kinetic and potential energy at the ticks, (ticks, ...) [J]; drives, friction and wrenches change it.

        >>> free = mr.simulate(robot.ideal(), q, duration=0.1)
        >>> bool(np.ptp(free.energy) < 1e-6)
        True
        """
        return self._all("energy")

    @property
    def saturated(self) -> dict[str, float]:
        """For each joint whose torque is limited, the share of the time at which its law, drive or servo gave the most it can.

        Where it is high, the drives are too weak for what the law asks, and neither its gains nor its model show in the motion;
        from one half on, the text of the recording says so.

        >>> {joint: round(share, 2) for joint, share in run.saturated.items()}
        {'m0/hinge': 0.0, 'm2/hinge': 0.0, 'm4/hinge': 0.0}
        """
        return efforts.saturated(self.segments)

    def poses(self) -> Poses:
        """Poses X_WB of all bodies and frames in world axes, (ticks, ..., 4, 4) [m], by name, where the robot kept its shape.

        >>> run.poses()["m3"].shape
        (101, 4, 4)
        """
        if len(self.segments) != 1:
            raise SimulationError("the robot changed its shape: ask each of recording.segments for its poses")
        return self.segments[0].poses()

    @property
    def x(self) -> Array:
        """States of the robot's forces, (ticks, ..., nx), each in the unit its force gives it.

        >>> mr.simulate(robot.with_drive("m0/hinge", "backbone-hinge"), q, duration=0.01).x.shape
        (11, 2)
        """
        return self._all("x")

    def drive(self, joint: str) -> DriveRecord:
        """What the drive at a joint did, (ticks, ...): .current, .voltage, .torque, .power, .energy, .motor_angle and more.

        >>> driven = robot.with_drive("m0/hinge", mr.load_drive("backbone-hinge"))
        >>> held = mr.simulate(driven, q, duration=0.1, controller=lambda t, q, v: np.array([2.0, 0.0, 0.0]))
        >>> held.drive("m0/hinge").current[1:].round(3).tolist() == [0.8] * 100
        True
        """
        parts = [drive_record(s.robot, joint, s.q, s.v, s.commanded_x) for s in self.segments]
        columns: Any = zip(*parts, strict=True)
        joined: Any = [None if c[0] is None else np.concatenate(c) for c in columns]
        return DriveRecord(*joined)

    # ---- files ----

    def save(self, path: str | Path) -> None:
        """Write it with robot, settings and status to one file (.mrun), whole or not at all; numbers survive to the last bit.

        >>> run.save("reach.mrun")
        >>> mr.Recording.load("reach.mrun") == run
        True
        """
        file.save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> "Recording":
        """A recording from its file; one that is cut short or damaged is refused with what is wrong.

        >>> run.save("reach.mrun")
        >>> mr.Recording.load("reach.mrun").status
        Status(kind='done', t=0.1, message='')
        """
        return file.load(cls, path)

    def repeated(self) -> "Recording":
        """The run again, from the robot, start, torques and stepper it holds: the same to the last bit.

        >>> bool((run.repeated().q == run.q).all())
        True
        """
        if len(self.segments) != 1:
            raise SimulationError("the robot changed its shape on the way: repeat its segments one by one")
        return replay.repeated(self.segments[0])

    def to_csv(self, path: str | Path) -> None:
        """Write a table with a row a tick: t [s], then q, v, vdot, tau by joint; SI units.

        >>> run.to_csv("reach.csv")
        >>> open("reach.csv").readline().split(",")[:3]
        ['t', 'q m0/hinge', 'q m2/hinge']
        """
        write_bytes(Path(path), table.csv_bytes(self.segments))

    def to_parquet(self, path: str | Path) -> None:
        """Write the table of `to_csv` as Parquet; needs pyarrow (`pip install modurob[parquet]`).

        >>> run.to_parquet("reach.parquet")
        """
        write_bytes(Path(path), table.parquet_bytes(self.segments))

    def of_run(self, *index: int) -> "Recording":
        """One of the runs side by side, by its index in the leading axes of q0, up to where it ended.

        >>> many = mr.simulate(robot, np.zeros((4, 3)), duration=0.01)
        >>> many.q.shape, many.of_run(2).q.shape
        ((11, 4, 3), (11, 3))
        """
        runs = self.segments[0].v.shape[1:-1]
        if len(index) != len(runs):
            raise SimulationError(f"run {index}: expected an index into runs of shape {runs}; () is a run by itself")
        status = self.status
        if isinstance(status, Statuses):
            try:
                status = status[int(np.ravel_multi_index(index, runs))]
            except ValueError:
                raise SimulationError(f"run {index}: expected an index into runs of shape {runs}") from None
        segments = []
        for s in self.segments:
            last = int(np.searchsorted(s.t, status.t, side="right")) if not status.ok else len(s.t)
            own = {n: x if n == "t" else x[(slice(None), *index)] for n, x in s.channels.items()}
            segments.append(Segment(s.robot, s.settings, {n: np.array(x[: max(1, last)]) for n, x in own.items()}))
        return Recording(tuple(segments), status, self.events)

    def plot(self, path: str | Path | None = None, joints: list[str] | None = None) -> Any:
        """A figure of position, velocity, acceleration and torque over time, written to a file if a path is given.

        `joints` are the names to show, all by default. Units are on the axes. A floating base has its position, and its
        roll, pitch and yaw. Of more than four runs side by side the median and the range are drawn.

        >>> figure = run.plot("reach.png", joints=["m0/hinge"])
        >>> len(figure.axes)
        4
        """
        from modurob.simulation.plots import plot_recording

        if path is not None:
            require_picture(path)
        return plot_recording(self, path, joints)
