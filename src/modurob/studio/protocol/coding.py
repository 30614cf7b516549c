"""Messages as JSON and as bytes, both ways."""

import json
import math
import re
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from modurob.errors import StudioError, choices
from modurob.spatial.scalars import Array
from modurob.studio import wording
from modurob.studio.protocol import building, moving, running
from modurob.studio.protocol.checked import Command
from modurob.studio.protocol.events import Event


def _word(name: str) -> str:
    """OpenShipped -> open_shipped."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def name_of(message: Event | Command) -> str:
    """What a message is called in JSON."""
    return _word(type(message).__name__)


def _commands() -> dict[str, Any]:
    """Every command by its name."""
    kinds = [kind for module in (building, moving, running) for kind in vars(module).values() if isinstance(kind, type)]
    return {_word(k.__name__): k for k in kinds if issubclass(k, Command) and "__dataclass_fields__" in vars(k)}


COMMANDS = _commands()
_CHECKS = {name: TypeAdapter(kind) for name, kind in COMMANDS.items()}


def decode(text: str) -> Command:
    """The command in a message, or an error that says what is wrong with it."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise StudioError("a message that is not JSON") from None
    kind = data.pop("type", None) if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in COMMANDS:
        raise StudioError(f"no command {kind!r:.60}: {choices(str(kind)[:60], COMMANDS)}")
    try:
        return _CHECKS[kind].validate_json(json.dumps(data))
    except ValidationError as problem:
        raise StudioError(wording.complaint(kind, problem)) from None


def encode(message: Event | Command) -> str:
    """A message as JSON; numbers that are not finite, which JSON does not have, are null."""
    data = {"type": name_of(message), **vars(message)}
    try:
        return _dumped(data)
    except ValueError:
        return _dumped(_finite(json.loads(json.dumps(data, default=vars))))


def _dumped(data: dict[str, Any]) -> str:
    return json.dumps(data, separators=(",", ":"), default=vars, allow_nan=False)


def _finite(data: Any) -> Any:
    """Plain data with None for every number that is not finite."""
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


FRAME, HISTORY, CONTACTS = 1, 2, 3


def frame(number: int, X_WB: Array, sample: Array) -> bytes:
    """Poses of all bodies, (bodies, 4, 4), their first three rows; then a row of the run's samples."""
    header = np.array([FRAME, number, len(X_WB), len(sample)], dtype="<u4")
    return header.tobytes() + X_WB[:, :3, :].astype("<f4").tobytes() + sample.astype("<f4").tobytes()


def history(run: int, samples: Array) -> bytes:
    """The samples of a run, (rows, columns)."""
    header = np.array([HISTORY, run, *samples.shape], dtype="<u4")
    return header.tobytes() + samples.astype("<f4").tobytes()


def contacts(touching: Array) -> bytes:
    """Where a robot touches the ground: points, forces and speeds of slip, (points, 7)."""
    header = np.array([CONTACTS, 0, *touching.shape], dtype="<u4")
    return header.tobytes() + touching.astype("<f4").tobytes()
