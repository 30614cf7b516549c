"""What happened in a run, kept in one file with the robot and the settings: `save`, `load`, `repeated`, tables and plots."""

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms import Poses
from modurob.algorithms.stepping import LimitSprings
from modurob.catalogue.reading import write_bytes
from modurob.errors import RecordingError, SimulationError, SingularError
from modurob.mechanism.archive import from_data, to_data
from modurob.robot import Mechanism
from modurob.simulate.forces import Forces
from modurob.simulate.friction import Friction
from modurob.simulate.status import Status
from modurob.simulate.steppers import (
    Adaptive,
    ImplicitMidpoint,
    RungeKutta4,
    SemiImplicitEuler,
    Stepper,
    Variational,
)
from modurob.spatial.scalars import Array

VERSION = 1
REQUIRED = ("t", "q", "v", "tau")
ARRAYS = (*REQUIRED, "q_estimate", "v_estimate")
_STEPPERS = {cls.__name__: cls for cls in (SemiImplicitEuler, RungeKutta4, ImplicitMidpoint, Variational, Adaptive)}
_SINGULAR = (SingularError, np.linalg.LinAlgError)


class Event(NamedTuple):
    """Something that happened: when [s], of which kind, and what."""

    t: float
    kind: str  # limit, dock, undock, merge, split, missed
    message: str


@dataclass(frozen=True)
class Settings:
    """How a robot was stepped. Laws are kept as text: the torques they gave are in the recording."""

    stepper: Stepper
    springs: LimitSprings
    friction: Friction | None
    tick: float  # [s]
    seed: int
    controller: str
    estimator: str
    pushed: bool  # whether external wrenches acted, which no file can hold

    def to_data(self) -> dict[str, Any]:
        own = {f.name: getattr(self.stepper, f.name) for f in fields(self.stepper)}  # type: ignore[arg-type]
        friction = self.friction and {
            f.name: np.asarray(getattr(self.friction, f.name)).tolist() for f in fields(self.friction)
        }
        return {
            "stepper": {"name": type(self.stepper).__name__}
            | {k: str(x) if x == np.inf else x for k, x in own.items()},
            "springs": [self.springs.stiffness, self.springs.damping],
            "friction": friction,
            **{name: getattr(self, name) for name in ("tick", "seed", "controller", "estimator", "pushed")},
        }

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "Settings":
        own: dict[str, Any] = {k: float(x) if x == "inf" else x for k, x in data["stepper"].items()}
        return cls(
            _STEPPERS[own.pop("name")](**own),
            LimitSprings(*data["springs"]),
            Friction(**data["friction"]) if data["friction"] else None,
            *(data[name] for name in ("tick", "seed", "controller", "estimator", "pushed")),
        )


@dataclass(frozen=True, eq=False)
class Segment:
    """One robot, from one change of shape to the next: rows are ticks, then runs side by side if there are several."""

    robot: Mechanism
    settings: Settings
    t: Array  # (ticks,) [s]
    q: Array  # (ticks, ..., nq)
    v: Array  # (ticks, ..., nv)
    tau: Array  # (ticks, ..., nv), each held until the next tick
    q_estimate: Array | None = None
    v_estimate: Array | None = None

    @cached_property
    def vdot(self) -> Array:
        """Accelerations at the ticks, (ticks, ..., nv); not numbers where a freedom moves no inertia."""
        if self.settings.pushed:
            # the wrenches are gone: differences of rates, one-sided at the ends
            return np.gradient(self.v, self.t, axis=0) if len(self.t) > 1 else np.zeros_like(self.v)
        forces = Forces(self.robot, self.settings.springs, self.settings.friction)
        rows = self.q, self.v, forces.applied(self.q, self.v, self.tau)
        try:
            with np.errstate(all="ignore"):
                return self.robot.forward_dynamics(*rows)
        except _SINGULAR:
            return np.stack([_acceleration(self.robot, *row) for row in zip(*rows, strict=True)])

    @cached_property
    def kinetic_energy(self) -> Array:
        return self.robot.kinetic_energy(self.q, self.v)

    @cached_property
    def potential_energy(self) -> Array:
        return self.robot.potential_energy(self.q)

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
        q, v, rest = self.q[k], self.v[k], t - float(self.t[k])
        forces = Forces(self.robot, self.settings.springs, self.settings.friction)
        for stepper, span in _spans(self.settings.stepper, rest):
            q, v = stepper.advanced(forces, t - rest, q, v, self.tau[k], span)
            rest -= span
        return q, v

    def poses(self) -> Poses:
        """Poses of all bodies and frames, by name."""
        return self.robot.forward_kinematics(self.q)

    @property
    def names(self) -> dict[str, list[str]]:
        """Names of the entries of q and of v, tau, vdot."""
        q, v = [], []
        for joint in self.robot.joints:
            if not joint.mimics:
                q += _numbered(joint.name, joint.type.nq)
                v += _numbered(joint.name, joint.type.nv)
        return {"q": q, "v": v}


def _acceleration(robot: Mechanism, q: Array, v: Array, tau: Array) -> Array:
    """vdot, or what is not a number where there is none."""
    try:
        return robot.forward_dynamics(q, v, tau)
    except _SINGULAR:
        return np.full_like(v, np.nan)


def _spans(stepper: Stepper, duration: float) -> Iterator[tuple[Stepper, float]]:
    """Whole steps, then a shorter one, that fill the duration."""
    whole = duration if stepper.dt is None else int(duration / stepper.dt) * stepper.dt
    if whole > 0:
        yield stepper, whole
    if duration - whole > 1e-12:
        yield replace(stepper, dt=duration - whole), duration - whole  # type: ignore[type-var]


def _numbered(name: str, n: int) -> list[str]:
    return [name] if n == 1 else [f"{name}[{i}]" for i in range(n)]


@dataclass(frozen=True, eq=False)
class Recording:
    """A run: its segments, how it ended, and what happened on the way. t, q, v, ... are those of all segments in a row."""

    segments: tuple[Segment, ...]
    status: Status
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
            "status": [self.status.kind, self.status.t, self.status.message],
            "events": [list(e) for e in self.events],
            "segments": [{"robot": to_data(s.robot), "settings": s.settings.to_data()} for s in self.segments],
        }
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("recording.json", json.dumps(head))
            for i, segment in enumerate(self.segments):
                for name in ARRAYS:
                    if getattr(segment, name) is not None:
                        array = io.BytesIO()
                        np.save(array, getattr(segment, name), allow_pickle=False)
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
        from modurob.simulate.simulation import Simulation

        if len(self.segments) != 1:
            raise SimulationError("the robot changed its shape on the way: repeat its segments one by one")
        old = self.segments[0]
        if old.settings.pushed:
            raise SimulationError("external wrenches acted, which no recording holds: run it again with them")
        s = old.settings
        again = Simulation(
            old.robot,
            old.q[0],
            old.v[0],
            _Replay(old),
            s.stepper,
            None,
            None,
            s.friction,
            s.springs,
            tick=s.tick,
            seed=s.seed,
            t0=float(old.t[0]),
        )
        again.q, again.v = old.q[0], old.v[0]  # untouched: bringing quaternions to length one twice may change a bit
        if len(old.t) > 1:
            again.advance((len(old.t) - 1) * s.tick)
        again.tau = old.tau[-1]
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
        """One of the runs side by side."""
        segments = []
        for s in self.segments:
            arrays = {name: getattr(s, name) for name in ARRAYS[1:]}
            own = {name: None if x is None else x[(slice(None), *index)] for name, x in arrays.items()}
            segments.append(Segment(s.robot, s.settings, s.t, **own))  # type: ignore[arg-type]
        return Recording(tuple(segments), self.status, self.events)

    def plot(self, path: str | Path | None = None, joints: list[str] | None = None) -> Any:
        """Position, velocity, acceleration and torque over time; returns the figure, and writes it if a path is given."""
        from modurob.simulate.plots import plot_recording

        return plot_recording(self, path, joints)


class _Replay:
    """The torques of a recording, one a tick."""

    sample_time = None

    def __init__(self, segment: Segment):
        self._torques: Iterator[Array] = iter(segment.tau)

    def on(self, robot: Mechanism) -> "_Replay":
        return self

    def torque(self, t: float, q: Array, v: Array) -> Array:
        return next(self._torques)


def _read(make: Callable[..., Recording], file: zipfile.ZipFile, path: str | Path) -> Recording:
    head = json.loads(file.read("recording.json"))
    if head.get("format") != "modurob recording":
        raise RecordingError(f"{path}: not a recording: expected a file that Recording.save wrote")
    if head["version"] > VERSION:
        raise RecordingError(
            f"{path}: version {head['version']} of the format, this is modurob for version {VERSION}: get a newer modurob"
        )
    segments = tuple(_segment(file, i, data) for i, data in enumerate(head["segments"]))
    return make(segments, Status(*head["status"]), tuple(Event(*e) for e in head["events"]))


def _segment(file: zipfile.ZipFile, i: int, data: dict[str, Any]) -> Segment:
    robot: Any = from_data(data["robot"], Mechanism)
    present = [name for name in ARRAYS if name in REQUIRED or f"{i}/{name}.npy" in file.namelist()]
    arrays = {name: np.load(io.BytesIO(file.read(f"{i}/{name}.npy")), allow_pickle=False) for name in present}
    ticks = arrays["t"].shape
    for name in present[1:]:
        width, shape = robot.nq if name.startswith("q") else robot.nv, arrays[name].shape
        if len(ticks) != 1 or len(shape) < 2 or (shape[0], shape[-1]) != (*ticks, width):
            raise ValueError(f"{i}/{name}.npy has shape {shape}: expected {len(arrays['t'])} rows of {width} numbers")
    return Segment(robot, Settings.from_data(data["settings"]), **arrays)
