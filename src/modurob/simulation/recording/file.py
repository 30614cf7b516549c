"""Recordings in files (.mrun): a zip of recording.json, what the run was, and of its arrays."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from modurob.catalogue.reading import write_bytes
from modurob.errors import ModurobError, RecordingError, choices
from modurob.mechanism.archive import from_data, to_data
from modurob.robot import Mechanism
from modurob.simulation.recording.event import Event
from modurob.simulation.recording.segment import Segment
from modurob.simulation.recording.settings import Settings, of_kind
from modurob.simulation.status import KINDS, Status, Statuses
from modurob.spatial.scalars import Array

if TYPE_CHECKING:
    from modurob.simulation.recording.recording import Recording

VERSION = 2
ENDING = ".mrun"
REQUIRED = ("t", "q", "v", "tau")
# endings of what is written otherwise, and how
FILMS, TABLES = dict.fromkeys((".gif", ".mp4", ".webm"), "animate"), {".csv": "to_csv", ".parquet": "to_parquet"}
OTHER_FILES = {**TABLES, **FILMS, ".mcap": "to_mcap", ".html": "show", ".glb": "show", ".png": "plot"}
# all arrays of a file together, and what it says of robots and settings, unpacked [bytes]
LARGEST, LARGEST_HEAD = 1_000_000_000, 20_000_000


def save(recording: "Recording", path: str | Path) -> None:
    """Write a recording, whole or not at all."""
    require_ending(path)
    size = sum(x.nbytes for s in recording.segments for x in s.channels.values())
    if size > LARGEST:
        raise RecordingError(f"{path}: {_too_large(size, LARGEST)}: take fewer runs, or a longer tick")
    write_bytes(Path(path), _zipped(recording))


def require_ending(path: str | Path) -> None:
    """An error for a path whose ending is that of something else; one without an ending is that of a recording."""
    ending = Path(path).suffix.lower()
    if ending in OTHER_FILES:
        raise RecordingError(
            f"{path}: save writes recordings (.mrun): expected run.{OTHER_FILES[ending]}({str(path)!r})"
        )
    if ending not in ("", ENDING):
        others = ", ".join(f"{other} by run.{how}" for other, how in OTHER_FILES.items())
        raise RecordingError(f"{path}: files {ending} hold no recording: valid: {ENDING}; {others}")


def _zipped(recording: "Recording") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("recording.json", json.dumps(_head(recording)))
        for i, segment in enumerate(recording.segments):
            for name, channel in segment.channels.items():
                array = io.BytesIO()
                np.save(array, channel, allow_pickle=False)
                file.writestr(f"{i}/{name}.npy", array.getvalue())
    return buffer.getvalue()


def _head(recording: "Recording") -> dict[str, Any]:
    return {
        "format": "modurob recording",
        "version": VERSION,
        "status": _status_data(recording.status),
        "events": [list(e) for e in recording.events],
        "segments": [{"robot": to_data(s.robot), "settings": s.settings.to_data()} for s in recording.segments],
    }


def load(make: "Callable[..., Recording]", path: str | Path) -> "Recording":
    """The recording of a file, or an error that says what is wrong with it."""
    try:
        with zipfile.ZipFile(path) as file:
            return _read(make, file, path)
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
    except ModurobError as error:
        raise RecordingError(
            f"{path}: {error}; if it is a kind of your own, import the file that registers it first; otherwise the recording is "
            "damaged"
        ) from None
    except Exception as error:  # whatever a damaged file leads to
        raise RecordingError(f"{path}: damaged: {error}") from None


def _read(make: "Callable[..., Recording]", file: zipfile.ZipFile, path: str | Path) -> "Recording":
    _require_size(file, path)
    head = _read_head(file, path)
    segments = tuple(_segment(file, i, data) for i, data in enumerate(head["segments"]))
    return make(segments, _read_status(head["status"]), tuple(_event(*e) for e in head["events"]))


def _require_size(file: zipfile.ZipFile, path: str | Path) -> None:
    """An error for a file that would fill the memory."""
    sizes = {info.filename: info.file_size for info in file.infolist()}
    head_size = sizes.pop("recording.json", 0)
    for size, most in ((head_size, LARGEST_HEAD), (sum(sizes.values()), LARGEST + 1000 * len(sizes))):
        if size > most:
            raise RecordingError(f"{path}: {_too_large(size, most)}")


def _read_head(file: zipfile.ZipFile, path: str | Path) -> dict[str, Any]:
    """What the file says of the run, if it is of this version and has a segment."""
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
    return head


def _segment(file: zipfile.ZipFile, i: int, data: dict[str, Any]) -> Segment:
    robot: Any = from_data(data["robot"], Mechanism)
    arrays = _arrays(file, i)
    _require_shapes(arrays, robot, i)
    return Segment(robot, Settings.from_data(data["settings"]), arrays)


def _arrays(file: zipfile.ZipFile, i: int) -> dict[str, Array]:
    """The channels of segment i."""
    present = [n.removeprefix(f"{i}/").removesuffix(".npy") for n in file.namelist() if n.startswith(f"{i}/")]
    arrays = {name: _array(file, f"{i}/{name}.npy") for name in present}
    missing = [name for name in REQUIRED if name not in arrays]
    if missing:
        raise ValueError(f"{i}/{missing[0]}.npy is missing")
    return arrays


def _array(file: zipfile.ZipFile, name: str) -> Array:
    """An array of a file, read piece by piece into its place."""
    with file.open(name) as packed:
        array = np.lib.format.read_array(packed, allow_pickle=False)
        if packed.read(1):
            raise ValueError(f"{name} holds more than its array")
        return array


def _require_shapes(arrays: dict[str, Array], robot: Mechanism, i: int) -> None:
    """A row for each tick, as wide as the robot."""
    ticks = arrays["t"].shape
    widths = {"q": robot.nq, "q_estimate": robot.nq, "v": robot.nv, "v_estimate": robot.nv, "tau": robot.nv}
    for name, x in arrays.items():
        width = widths.get(name, x.shape[-1] if x.ndim else 0)
        if len(ticks) != 1 or x.shape[:1] != ticks or (name != "t" and (x.ndim < 2 or x.shape[-1] != width)):
            raise ValueError(f"{i}/{name}.npy has shape {x.shape}: expected {len(arrays['t'])} rows of {width} numbers")
        if x.dtype != np.float64:
            raise ValueError(f"{i}/{name}.npy holds {x.dtype}: expected float64")


def _too_large(size: int, most: int) -> str:
    return f"unpacks to {size / 1e6:.0f} MB: expected at most {most / 1e6:.0f} MB"


def _status_data(status: Status | Statuses) -> list[Any]:
    each = status if isinstance(status, Statuses) else [status]
    return [isinstance(status, Statuses), *([s.kind, s.t, s.message] for s in each)]


def _read_status(data: list[Any]) -> Status | Statuses:
    many, *each = data
    found = [_status(*x) for x in each]
    return Statuses(found) if of_kind(many, bool, "status") else found[0]


def _status(kind: Any, t: Any, message: Any) -> Status:
    if kind not in KINDS:
        raise ValueError(f"status {kind!r:.60}: {choices(str(kind)[:60], KINDS)}")
    return Status(kind, of_kind(t, float, "t"), of_kind(message, str, "message"))


def _event(t: Any, kind: Any, message: Any) -> Event:
    return Event(of_kind(t, float, "t"), of_kind(kind, str, "event"), of_kind(message, str, "message"))
