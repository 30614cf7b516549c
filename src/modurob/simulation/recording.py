"""What happened in a run, kept in one file with the robot and the settings: `save`, `load`, `repeated`, tables and plots."""

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from modurob import kernels, tabular
from modurob.algorithms import Poses
from modurob.algorithms.forces import acting, stored_energy
from modurob.caching import cached_property
from modurob.catalogue.reading import require_picture, write_bytes
from modurob.errors import RecordingError, SimulationError, choices
from modurob.mechanism.archive import from_data, to_data
from modurob.robot import Mechanism
from modurob.simulation.driving import DriveRecord, drive_record
from modurob.simulation.law import Measured
from modurob.simulation.showing import Showing
from modurob.simulation.status import KINDS, Status, Statuses
from modurob.simulation.steppers import STEPPERS, Stepper
from modurob.simulation.stepping import Mover
from modurob.simulation.system import State
from modurob.spatial.scalars import Array

VERSION = 2
REQUIRED = ("t", "q", "v", "tau")
# all arrays of a file together, and what it says of robots and settings, unpacked [bytes]
# endings of what is written otherwise, and how
FILMS, TABLES = dict.fromkeys((".gif", ".mp4", ".webm"), "animate"), {".csv": "to_csv", ".parquet": "to_parquet"}
OTHER_FILES = {**TABLES, **FILMS, ".mcap": "to_mcap", ".html": "show", ".glb": "show", ".png": "plot"}
LARGEST, LARGEST_HEAD = 1_000_000_000, 20_000_000


RANGE_HEAD = ("t [s]", "rate", "q [rad, m]", "largest |v| [rad/s, m/s]", "largest |tau| [N m, N]")


class Event(NamedTuple):
    """Something that happened: when [s], of which kind, and what."""

    t: float
    kind: str  # limit, brake, goal, dock, undock, merge, connect, disconnect, reroot, missed
    message: str


# what a file holds of the settings, beside the stepper
_SETTINGS: dict[str, type] = {"tick": float, "seed": int, "controller": str, "estimator": str, "pushed": bool}


def _of_kind(x: Any, kind: type, what: str) -> Any:
    """A value from a file, if it is of that kind: whole numbers are numbers too, truth values are not."""
    kinds = (int, float) if kind is float else (kind,)
    if type(x) not in kinds:
        raise ValueError(f"{what} {x!r:.60}: expected {kind.__name__}")
    return x


@dataclass(frozen=True)
class Settings:
    """How a robot was stepped. Laws are kept as text: the torques they gave are in the recording."""

    stepper: Stepper
    tick: float  # [s]
    seed: int
    controller: str
    estimator: str
    pushed: bool  # whether external wrenches acted, which no file can hold

    def to_data(self) -> dict[str, Any]:
        own = {k: str(x) if x == np.inf else x for k, x in self.stepper.parameters().items()}
        rest = {name: getattr(self, name) for name in ("tick", "seed", "controller", "estimator", "pushed")}
        return {"stepper": {"kind": self.stepper.kind, **own}, **rest}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "Settings":
        own: dict[str, Any] = {k: float(x) if x == "inf" else x for k, x in data["stepper"].items()}
        stepper: Any = STEPPERS[own.pop("kind")]
        rest = {n: _of_kind(data[n], kind, n) for n, kind in _SETTINGS.items()}
        if not 0 < rest["tick"] < np.inf or rest["seed"] < 0:
            raise ValueError(f"tick {rest['tick']} s and seed {rest['seed']}: expected positive numbers")
        return cls(stepper(**own), **rest)


@dataclass(frozen=True, eq=False)
class Segment:
    """One robot, from one change of shape to the next.

    `channels` are arrays by name whose rows are ticks, then runs side by side if there are several: t (ticks,) [s]; q, v; tau, each
    held until the next tick; x, the states of forces; q_estimate, v_estimate.
    """

    robot: Mechanism
    settings: Settings
    channels: Mapping[str, Array]

    def __post_init__(self) -> None:
        for x in self.channels.values():
            x.flags.writeable = False
        object.__setattr__(self, "channels", MappingProxyType(dict(self.channels)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Segment, (self.robot, self.settings, dict(self.channels))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Segment) or self.channels.keys() != other.channels.keys():
            return False
        same = all(np.array_equal(x, other.channels[n], equal_nan=True) for n, x in self.channels.items())
        return same and self.robot == other.robot and self.settings == other.settings

    def __hash__(self) -> int:
        return hash((self.robot, self.settings, self.channels["q"].tobytes()))

    @property
    def t(self) -> Array:
        """Times of the ticks, (ticks,) [s]."""
        return self.channels["t"]

    @property
    def q(self) -> Array:
        """Configurations, (ticks, ..., nq) [rad or m]."""
        return self.channels["q"]

    @property
    def v(self) -> Array:
        """Velocities, (ticks, ..., nv) [rad/s or m/s]."""
        return self.channels["v"]

    @property
    def tau(self) -> Array:
        """Torques, each held until the next tick, (ticks, ..., nv) [N m or N]."""
        return self.channels["tau"]

    @property
    def q_estimate(self) -> Array | None:
        """Configurations as the estimator had them, (ticks, ..., nq); None without one."""
        return self.channels.get("q_estimate")

    @property
    def v_estimate(self) -> Array | None:
        """Velocities as the estimator had them, (ticks, ..., nv); None without one."""
        return self.channels.get("v_estimate")

    @property
    def x(self) -> Array:
        """States of the forces, (ticks, ..., nx)."""
        empty = np.zeros((*self.v.shape[:-1], acting(self.robot).nx))
        return self.channels.get("x", empty)

    @property
    def commanded_x(self) -> Array:
        """x with the commands that were given at each tick, (ticks, ..., nx)."""
        return self._mover.commanded(State(self.q, self.v, self.x), self.tau)[0].x

    @cached_property
    def _mover(self) -> Mover:
        return self.settings.stepper.mover(self.robot)

    @cached_property
    def vdot(self) -> Array:
        """Accelerations at the ticks, (ticks, ..., nv); not numbers where a degree of freedom moves no inertia."""
        if self.settings.pushed:
            # the wrenches are gone: differences of rates, one-sided at the ends
            return np.gradient(self.v, self.t, axis=0) if len(self.t) > 1 else np.zeros_like(self.v)
        with np.errstate(all="ignore"):
            at = self.t.reshape(-1, *(1,) * (self.v.ndim - 2))
            return self._mover.acceleration(at, State(self.q, self.v, self.x), self.tau)

    @cached_property
    def kinetic_energy(self) -> Array:
        """v^T M v / 2 [J], (ticks, ...)."""
        return self.robot.kinetic_energy(self.q, self.v)

    @cached_property
    def potential_energy(self) -> Array:
        """Of gravity, and what springs and stops hold [J], (ticks, ...)."""
        return self.robot.potential_energy(self.q) + stored_energy(self.robot, self.q, self.x, kernels.run)

    @property
    def energy(self) -> Array:
        """Kinetic and potential energy [J], (ticks, ...)."""
        return self.kinetic_energy + self.potential_energy

    def at(self, t: float) -> tuple[Array, Array]:
        """(q, v) at any time between two ticks: the stepper goes on from the tick before, under the torque that was held."""
        if not self.t[0] <= t <= self.t[-1]:
            raise SimulationError(f"t = {t:g} s: recorded from {self.t[0]:g} to {self.t[-1]:g} s")
        if self.settings.pushed:
            raise SimulationError("external wrenches acted, which no recording holds: states are known at ticks alone")
        k = int(np.searchsorted(self.t, t, side="right")) - 1
        state, rest = State(self.q[k], self.v[k], self.x[k]), t - float(self.t[k])
        for stepper, span in _spans(self.settings.stepper, rest):
            state = stepper.mover(self.robot).advance(t - rest, state, self.tau[k], span).state
            rest -= span
        return state.q, state.v

    def poses(self) -> Poses:
        """Poses of all bodies and frames, by name."""
        return self.robot.forward_kinematics(self.q)

    @property
    def names(self) -> dict[str, list[str]]:
        """Names of the entries of q and of v, tau, vdot."""
        own = [joint for joint in self.robot.joints if not joint.mimics]
        return {"q": [n for j in own for n in j.coordinate_names()], "v": [n for j in own for n in j.rate_names()]}


def _spans(stepper: Stepper, duration: float) -> Iterator[tuple[Stepper, float]]:
    """Whole steps, then a shorter one, that fill the duration."""
    whole = duration if stepper.dt is None else int(duration / stepper.dt) * stepper.dt
    if whole > 0:
        yield stepper, whole
    if duration - whole > 1e-12:
        yield stepper.with_dt(duration - whole), duration - whole


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
        return f"Recording({names}, {len(self.t)} ticks, {self.status})"

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
            span = f"{segment.t[0]:g} to {segment.t[-1]:g}"
            for k, name in enumerate(segment.names["v"]):
                at = segment.robot.coordinate_of[k]
                q = segment.q[..., at] if at >= 0 else np.full(1, np.nan)
                fastest, strongest = (np.abs(x[..., k]).max() for x in (segment.v, segment.tau))
                where = f"{q.min():.4g} to {q.max():.4g}" if at >= 0 else "quaternion"
                yield span, name, where, f"{fastest:.4g}", f"{strongest:.4g}"

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

    def poses(self) -> Poses:
        """Poses X_WB of all bodies and frames in world axes, (ticks, ..., 4, 4) [m], by name, where the robot kept its shape.

        >>> run.poses()["m3"].shape
        (101, 4, 4)
        """
        if len(self.segments) != 1:
            raise SimulationError("the robot changed its shape: ask each of recording.segments for its poses")
        return self.segments[0].poses()

    # ---- files ----

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

    def save(self, path: str | Path) -> None:
        """Write it with robot, settings and status to one file (.mrun), whole or not at all; numbers survive to the last bit.

        >>> run.save("reach.mrun")
        >>> mr.Recording.load("reach.mrun") == run
        True
        """
        other = OTHER_FILES.get(Path(path).suffix.lower())
        if other is not None:
            raise RecordingError(f"{path}: save writes recordings (.mrun): expected run.{other}({str(path)!r})")
        size = sum(x.nbytes for s in self.segments for x in s.channels.values())
        if size > LARGEST:
            raise RecordingError(f"{path}: {_too_large(size, LARGEST)}: take fewer runs, or a longer tick")
        head = {
            "format": "modurob recording",
            "version": VERSION,
            "status": _status_data(self.status),
            "events": [list(e) for e in self.events],
            "segments": [{"robot": to_data(s.robot), "settings": s.settings.to_data()} for s in self.segments],
        }
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("recording.json", json.dumps(head))
            for i, segment in enumerate(self.segments):
                for name, channel in segment.channels.items():
                    array = io.BytesIO()
                    np.save(array, channel, allow_pickle=False)
                    file.writestr(f"{i}/{name}.npy", array.getvalue())
        write_bytes(Path(path), buffer.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> "Recording":
        """A recording from its file; one that is cut short or damaged is refused with what is wrong.

        >>> run.save("reach.mrun")
        >>> mr.Recording.load("reach.mrun").status
        Status(kind='done', t=0.1, message='')
        """
        try:
            with zipfile.ZipFile(path) as file:
                return _read(cls, file, path)
        except RecordingError:
            raise
        except FileNotFoundError as error:
            folder = Path(path).parent
            near = sorted(p.name for p in folder.glob("*.mrun")) if folder.is_dir() else []
            why = f"{error.strerror}; {choices(Path(path).name, near)}"
            raise RecordingError(f"{path}: cannot be read: {why}") from None
        except OSError as error:
            raise RecordingError(f"{path}: cannot be read: {error.strerror or error}") from None
        except (zipfile.BadZipFile, EOFError):
            raise RecordingError(
                f"{path}: not a recording, or cut short: expected a file that Recording.save wrote"
            ) from None
        except Exception as error:  # whatever a damaged file leads to
            raise RecordingError(f"{path}: damaged: {error}") from None

    def repeated(self) -> "Recording":
        """The run again, from the robot, start, torques and stepper it holds: the same to the last bit.

        >>> bool((run.repeated().q == run.q).all())
        True
        """
        from modurob.simulation.simulation import Simulation

        if len(self.segments) != 1:
            raise SimulationError("the robot changed its shape on the way: repeat its segments one by one")
        old, s = self.segments[0], self.segments[0].settings
        if s.pushed:
            raise SimulationError("external wrenches acted, which no recording holds: run it again with them")
        again = Simulation(
            old.robot,
            old.q[0],
            old.v[0],
            _Replay(old),
            s.stepper,
            tick=s.tick,
            seed=s.seed,
            t0=float(old.t[0]),
            x0=old.x[0],
        )
        # untouched: bringing quaternions to length one twice may change a bit
        again.state = State(old.q[0], old.v[0], old.x[0])
        if len(old.t) > 1:
            again.advance((len(old.t) - 1) * s.tick)
        again.pilot.tau = old.tau[-1]
        return again.recording

    def to_csv(self, path: str | Path) -> None:
        """Write a table with a row a tick: t [s], then q, v, vdot, tau by joint; SI units.

        >>> run.to_csv("reach.csv")
        >>> open("reach.csv").readline().split(",")[:3]
        ['t', 'q m0/hinge', 'q m2/hinge']
        """
        text = io.StringIO()
        writer = csv.writer(text)
        columns = self._columns()
        writer.writerow(columns)
        writer.writerows(zip(*(x.tolist() for x in columns.values()), strict=True))
        write_bytes(Path(path), text.getvalue().encode("utf-8"))

    def to_parquet(self, path: str | Path) -> None:
        """Write the table of `to_csv` as Parquet; needs pyarrow (`pip install modurob[parquet]`).

        >>> run.to_parquet("reach.parquet")
        """
        try:
            pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        except ImportError:
            raise SimulationError("Parquet needs pyarrow: pip install modurob[parquet]") from None
        buffer = io.BytesIO()
        parquet.write_table(pyarrow.table(self._columns()), buffer)
        write_bytes(Path(path), buffer.getvalue())

    def _columns(self) -> dict[str, Array]:
        if len(self.segments) != 1 or self.segments[0].q.ndim != 2:
            raise SimulationError(
                "a table needs one run of one robot: take a segment, or one of the runs, with `of_run`"
            )
        segment = self.segments[0]
        columns = {"t": segment.t}
        for name in ("q", "v", "vdot", "tau"):
            labels = segment.names["q" if name == "q" else "v"]
            columns |= {f"{name} {label}": x for label, x in zip(labels, getattr(segment, name).T, strict=True)}
        return columns

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

        `joints` are the names to show, all by default. Units are on the axes.

        >>> figure = run.plot("reach.png", joints=["m0/hinge"])
        >>> len(figure.axes)
        4
        """
        from modurob.simulation.plots import plot_recording

        if path is not None:
            require_picture(path)
        return plot_recording(self, path, joints)


class _Replay:
    """The torques of a recording, one a tick."""

    sample_time = None

    def __init__(self, segment: Segment):
        self._torques = segment.tau

    def on(self, robot: Mechanism) -> "_Replay":
        return self

    def start(self) -> int:
        return 0

    def step(self, memory: int, t: float, measured: Measured) -> tuple[int, Array]:
        return memory + 1, self._torques[memory]


def _status_data(status: Status | Statuses) -> list[Any]:
    each = status if isinstance(status, Statuses) else [status]
    return [isinstance(status, Statuses), *([s.kind, s.t, s.message] for s in each)]


def _read_status(data: list[Any]) -> Status | Statuses:
    many, *each = data
    found = [_status(*x) for x in each]
    return Statuses(found) if _of_kind(many, bool, "status") else found[0]


def _status(kind: Any, t: Any, message: Any) -> Status:
    if kind not in KINDS:
        raise ValueError(f"status {kind!r:.60}: {choices(str(kind)[:60], KINDS)}")
    return Status(kind, _of_kind(t, float, "t"), _of_kind(message, str, "message"))


def _event(t: Any, kind: Any, message: Any) -> Event:
    return Event(_of_kind(t, float, "t"), _of_kind(kind, str, "event"), _of_kind(message, str, "message"))


def _read(make: Callable[..., Recording], file: zipfile.ZipFile, path: str | Path) -> Recording:
    sizes = {info.filename: info.file_size for info in file.infolist()}
    head_size = sizes.pop("recording.json", 0)
    for size, most in ((head_size, LARGEST_HEAD), (sum(sizes.values()), LARGEST + 1000 * len(sizes))):
        if size > most:
            raise RecordingError(f"{path}: {_too_large(size, most)}")
    head = json.loads(file.read("recording.json"))
    if not isinstance(head, dict) or head.get("format") != "modurob recording":
        raise RecordingError(f"{path}: not a recording: expected a file that Recording.save wrote")
    if head["version"] != VERSION:
        newer = head["version"] > VERSION
        hint = "get a newer modurob" if newer else "run it again, or read it with modurob 0.1"
        raise RecordingError(
            f"{path}: version {head['version']} of the format, this modurob reads version {VERSION}: {hint}"
        )
    if not head["segments"]:
        raise RecordingError(f"{path}: damaged: no segments: expected one for each shape the robot had")
    segments = tuple(_segment(file, i, data) for i, data in enumerate(head["segments"]))
    return make(segments, _read_status(head["status"]), tuple(_event(*e) for e in head["events"]))


def _array(file: zipfile.ZipFile, name: str) -> Array:
    """An array of a file, read piece by piece into its place."""
    with file.open(name) as packed:
        array = np.lib.format.read_array(packed, allow_pickle=False)
        if packed.read(1):
            raise ValueError(f"{name} holds more than its array")
        return array


def _too_large(size: int, most: int) -> str:
    return f"unpacks to {size / 1e6:.0f} MB: expected at most {most / 1e6:.0f} MB"


def _segment(file: zipfile.ZipFile, i: int, data: dict[str, Any]) -> Segment:
    robot: Any = from_data(data["robot"], Mechanism)
    present = [n.removeprefix(f"{i}/").removesuffix(".npy") for n in file.namelist() if n.startswith(f"{i}/")]
    arrays = {name: _array(file, f"{i}/{name}.npy") for name in present}
    missing = [name for name in REQUIRED if name not in arrays]
    if missing:
        raise ValueError(f"{i}/{missing[0]}.npy is missing")
    ticks = arrays["t"].shape
    widths = {"q": robot.nq, "q_estimate": robot.nq, "v": robot.nv, "v_estimate": robot.nv, "tau": robot.nv}
    for name, x in arrays.items():
        width = widths.get(name, x.shape[-1] if x.ndim else 0)
        if len(ticks) != 1 or x.shape[:1] != ticks or (name != "t" and (x.ndim < 2 or x.shape[-1] != width)):
            raise ValueError(f"{i}/{name}.npy has shape {x.shape}: expected {len(arrays['t'])} rows of {width} numbers")
        if x.dtype != np.float64:
            raise ValueError(f"{i}/{name}.npy holds {x.dtype}: expected float64")
    return Segment(robot, Settings.from_data(data["settings"]), arrays)
