"""Recordings that are opened in the studio: shown, scrubbed and plotted as its own runs are."""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from modurob.control.drives import floating
from modurob.errors import RecordingError, StudioError
from modurob.robot import Mechanism
from modurob.simulation import Recording
from modurob.spatial.scalars import Array
from modurob.studio import ground
from modurob.studio.protocol import RunSettings
from modurob.studio.runs import DISPLAY, Run, joints_of
from modurob.viewer import scene

MOST_POINTS = 600  # of a trail


class _Named(io.BytesIO):
    """A file that is called by its name where it is complained about."""

    name = "the recording"

    def __str__(self) -> str:
        return self.name


def read(data: bytes, name: str) -> Recording:
    """The recording in a file that came from a page."""
    file = _Named(data)
    file.name = name or file.name
    return Recording.load(file)  # type: ignore[arg-type]


class Replay:
    """A recording of the robot that is shown, with what a session asks its runs for."""

    def __init__(self, number: int, robot: Mechanism, recording: Recording, name: str):
        """`name` is that of its file."""
        _require_same(robot, recording, name)
        self.number, self.robot, self.recording, self.name = number, robot, recording, name
        self.settings, self.before, self.status = RunSettings(controller="none"), -1, str(recording.status)
        own = recording.segments[0]
        self._robot = own.robot
        self.ground = self._robot.contacts[0].force.ground if self._robot.contacts else None
        stride, last = max(1, round(DISPLAY / own.settings.tick)), len(own.t) - 1
        self._ticks = np.unique([*range(0, last, stride), last])
        self.samples = self._rows(own)

    def _rows(self, own: Any) -> Array:
        """As those of `Run`."""
        k = self._ticks
        q, v = own.q[k], own.v[k]
        energies = self.robot.kinetic_energy(q, v), self.robot.potential_energy(q)
        parts = [
            own.t[k, None],
            q,
            v,
            self._acceleration(own)[k],
            own.tau[k],
            self._lacking(own)[k],
            np.stack(energies, axis=-1),
        ]
        return np.concatenate(parts, axis=-1).astype(np.float32)

    def _acceleration(self, own: Any) -> Array:
        return own.vdot

    def _lacking(self, own: Any) -> Array:
        """How far it is from a reference: that is not known."""
        return np.full_like(own.v, np.nan)

    ended = True
    numbers = 0  # what was opened is kept until it is deleted

    @property
    def t(self) -> float:
        """When it ended [s]."""
        return float(self.samples[-1, 0])

    @property
    def last(self) -> tuple[Array, Array]:
        """The last configuration and sample."""
        return self.at(self.t)

    def at(self, t: float) -> tuple[Array, Array]:
        """The configuration nearest to a time, and its sample."""
        row = self.samples[self._nearest(t)]
        return row[1 : 1 + self.robot.nq], row

    def touching(self, t: float | None = None) -> Array:
        """Where it touches the ground at a time: points, forces, slip, (points, 7)."""
        if self.ground is None:
            return np.zeros((0, 7))
        own, k = self.recording.segments[0], self._ticks[self._nearest(self.t if t is None else t)]
        return ground.touching(self._robot, own.q[k], own.v[k], own.x[k])

    def _nearest(self, t: float) -> int:
        return int(np.abs(self.samples[:, 0] - t).argmin())

    def summary(self) -> dict[str, Any]:
        """What the list of runs shows."""
        return {
            "number": self.number,
            "before": -1,
            "label": f"recording {self.name}",
            "controller": "none",
            "reference": "hold",
            "ground": self.ground is not None,
            "floor": scene.floor(self._robot),
            "start": float(self.samples[0, 0]),
            "t": self.t,
            "duration": self.t,
            "status": self.status,
            "nq": self.robot.nq,
            "nv": self.robot.nv,
            "robot": self.robot.key.hex(),
            "joints": joints_of(self.robot),
        }


def trails(run: "Run | Replay", frames: Sequence[str]) -> list[dict[str, Any]]:
    """Where frames have been in a run: at most so many points of each, the last one too."""
    rows = run.samples
    kept = rows[np.unique(np.linspace(0, len(rows) - 1, MOST_POINTS).round().astype(int))]
    t, q = kept[:, 0], kept[:, 1 : 1 + run.robot.nq].astype(float)
    return [
        {"frame": f, "t": t.tolist(), "points": run.robot.frame_pose(q, f)[..., :3, 3].ravel().round(5).tolist()}
        for f in frames
    ]


def _require_same(robot: Mechanism, recording: Recording, name: str) -> None:
    """An error unless a recording is of the robot that is shown: one run, of the same bodies and joints."""
    if len(recording.segments) != 1 or recording.segments[0].q.ndim != 2:
        raise RecordingError(f"{name}: expected the recording of one robot, in one run, that kept its shape")
    own = recording.segments[0].robot
    if (own.bodies, [j.name for j in own.joints]) != (robot.bodies, [j.name for j in robot.joints]):
        stood = "floating" if floating(own) else "fixed"
        raise StudioError(
            f"{name} is a run of {own.name} with {_counted(own)}: open that robot first, {stood} as it was; here is {robot.name} "
            f"with {_counted(robot)}"
        )


def _counted(robot: Mechanism) -> str:
    """Its joints and bodies, by which recordings are known."""
    joints, bodies = ", ".join(j.name for j in robot.joints), ", ".join(robot.bodies[1:])
    return f"{len(robot.joints)} joints ({joints:.80}) and bodies {bodies:.80}"
