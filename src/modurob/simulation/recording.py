"""What happened in a run, kept in one file with the robot and the settings: `save`, `load`, `repeated`, tables and plots."""

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from modurob import kernels
from modurob.algorithms import Poses
from modurob.algorithms.forces import acting, stored_energy
from modurob.catalogue.reading import require_picture, write_bytes
from modurob.errors import RecordingError, SimulationError, choices
from modurob.mechanism.archive import from_data, to_data
from modurob.robot import Mechanism
from modurob.simulation.law import Measured
from modurob.simulation.status import KINDS, Status, Statuses
from modurob.simulation.steppers import STEPPERS, Stepper
from modurob.simulation.stepping import Mover
from modurob.simulation.system import State
from modurob.spatial.scalars import Array

VERSION = 2
REQUIRED = ("t", "q", "v", "tau")
# all arrays of a file together, unpacked [bytes]
LARGEST = 4_000_000_000


class Event(NamedTuple):
    """Something that happened: when [s], of which kind, and what."""

    t: float
    kind: str  # limit, dock, undock, merge, connect, disconnect, reroot, missed
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

    t = property(lambda self: self.channels["t"])
    q = property(lambda self: self.channels["q"])
    v = property(lambda self: self.channels["v"])
    tau = property(lambda self: self.channels["tau"])
    q_estimate = property(lambda self: self.channels.get("q_estimate"))
    v_estimate = property(lambda self: self.channels.get("v_estimate"))

    @property
    def x(self) -> Array:
        """States of the forces, (ticks, ..., nx)."""
        empty = np.zeros((*self.v.shape[:-1], acting(self.robot).nx))
        return self.channels.get("x", empty)

    @property
    def _mover(self) -> Mover:
        return Mover(self.robot, self.settings.stepper)

    @cached_property
    def vdot(self) -> Array:
        """Accelerations at the ticks, (ticks, ..., nv); not numbers where a degree of freedom moves no inertia."""
        if self.settings.pushed:
            # the wrenches are gone: differences of rates, one-sided at the ends
            return np.gradient(self.v, self.t, axis=0) if len(self.t) > 1 else np.zeros_like(self.v)
        with np.errstate(all="ignore"):
            return self._mover.acceleration(0.0, State(self.q, self.v, self.x), self.tau)

    @cached_property
    def kinetic_energy(self) -> Array:
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
            state = Mover(self.robot, stepper).advance(t - rest, state, self.tau[k], span).state
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
class Recording:
    """A run: its segments, how it ended, and what happened on the way. t, q, v, ... are those of all segments in a row.

    Of runs side by side each has a status of its own, `status[k]`; a run that ended early stays where it was.
    """

    segments: tuple[Segment, ...]
    status: Status | Statuses
    events: tuple[Event, ...] = ()

    def __repr__(self) -> str:
        names = ", ".join(s.robot.name for s in self.segments)
        return f"Recording({names}, {len(self.t)} ticks, {self.status})"

    @property
    def robot(self) -> Mechanism:
        """The robot, as it was at the end."""
        return self.segments[-1].robot

    def _all(self, name: str) -> Array:
        parts = [getattr(s, name) for s in self.segments]
        if any(x is None for x in parts):
            raise SimulationError(f"{name} was not recorded: the run had no estimator")
        if len({x.shape[1:] for x in parts}) > 1:
            shapes = ", ".join(str(x.shape) for x in parts)
            raise SimulationError(f"{name} changes its size with the robot, {shapes}: read it from recording.segments")
        return np.concatenate(parts)

    t = property(lambda self: self._all("t"))
    q = property(lambda self: self._all("q"))
    v = property(lambda self: self._all("v"))
    tau = property(lambda self: self._all("tau"))
    vdot = property(lambda self: self._all("vdot"))
    q_estimate = property(lambda self: self._all("q_estimate"))
    v_estimate = property(lambda self: self._all("v_estimate"))
    kinetic_energy = property(lambda self: self._all("kinetic_energy"))
    potential_energy = property(lambda self: self._all("potential_energy"))
    energy = property(lambda self: self._all("energy"))

    def poses(self) -> Poses:
        """Poses of all bodies and frames, by name, where the robot kept its shape."""
        if len(self.segments) != 1:
            raise SimulationError("the robot changed its shape: ask each of recording.segments for its poses")
        return self.segments[0].poses()

    # ---- files ----

    def save(self, path: str | Path) -> None:
        """One file, whole or not at all."""
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
        """A recording from its file."""
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
        """The run again, from the robot, start, torques and stepper it holds: the same to the last bit."""
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
        """A table with a row a tick: t, then q, v, vdot, tau by joint; SI units."""
        text = io.StringIO()
        writer = csv.writer(text)
        columns = self._columns()
        writer.writerow(columns)
        writer.writerows(zip(*(x.tolist() for x in columns.values()), strict=True))
        write_bytes(Path(path), text.getvalue().encode("utf-8"))

    def to_parquet(self, path: str | Path) -> None:
        """The same table as Parquet; needs pyarrow."""
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
        """One of the runs side by side, up to where it ended."""
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
        """Position, velocity, acceleration and torque over time; returns the figure, and writes it if a path is given."""
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
    total = sum(info.file_size for info in file.infolist())
    if total > LARGEST:
        raise RecordingError(f"{path}: unpacks to {total / 1e9:.1f} GB: expected at most {LARGEST / 1e9:g} GB")
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


def _segment(file: zipfile.ZipFile, i: int, data: dict[str, Any]) -> Segment:
    robot: Any = from_data(data["robot"], Mechanism)
    present = [n.removeprefix(f"{i}/").removesuffix(".npy") for n in file.namelist() if n.startswith(f"{i}/")]
    arrays = {name: np.load(io.BytesIO(file.read(f"{i}/{name}.npy")), allow_pickle=False) for name in present}
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
