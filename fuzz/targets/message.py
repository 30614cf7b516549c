"""Messages of a page: some in a row, of which some are mutated, answered by a session of the studio."""

import asyncio
import json
from functools import cache
from random import Random
from typing import Any

import modurob as mr
from fuzz.mutation import mutated_data, mutated_text
from fuzz.targets import assembly, urdf
from fuzz.targets.files import encoded
from modurob.errors import StudioError
from modurob.studio import protocol
from modurob.studio.client import Client
from modurob.studio.design import Design
from modurob.studio.session import Session

BROKEN = "the studio failed at this"
SETTINGS = {
    "controller": "pid",
    "gains": {"kp": 20.0},
    "duration": 0.1,
    "reference": "hold",
    "stepper": "runge-kutta-4",
}
TALKS: tuple[tuple[dict[str, Any], ...], ...] = (
    (
        {"type": "dock", "kind": "scout", "at": "m1/3", "by": "4", "roll": 90},
        {"type": "set_parameter", "module": "m2", "name": "mass", "value": 2.0, "everywhere": True},
        {"type": "set_base", "module": "m1", "floating": True},
        {"type": "undock", "module": "m2", "branch": True},
        {"type": "undo"},
        {"type": "redo"},
    ),
    (
        {"type": "place_cell", "column": 1, "row": 0, "kind": "backbone"},
        {"type": "turn_cell", "column": 1, "row": 0},
        {"type": "move_cell", "module": "m2", "column": -1, "row": 0},
        {"type": "duplicate", "module": "m1", "at": "m0/2"},
    ),
    (
        {"type": "set_coordinate", "index": 0, "value": 0.3},
        {"type": "set_rate", "index": 0, "value": 0.1},
        {"type": "set_gravity", "gravity": [0, 0, -1.62]},
        {"type": "start_run", "settings": SETTINGS},
        {"type": "step_run"},
        {"type": "scrub", "run": 0, "t": 0.01},
        {"type": "set_speed", "speed": 2.0},
        {"type": "fetch_run", "run": 0},
        {"type": "stop_run"},
        {"type": "delete_run", "run": 0},
    ),
    (
        {"type": "start_run", "settings": {"gait": "snake", "filter": "ekf", "noise": 0.01, "step": 0.001}},
        {"type": "step_run"},
        {"type": "dock", "kind": "backbone", "at": "m1/3", "by": "2"},
        {"type": "step_run"},
        {"type": "reset_pose"},
        {"type": "acknowledge", "number": 1},
    ),
    (
        {"type": "read_matrix", "text": "3 0\n4 2\n0 5", "view": "aim", "kind": "backbone"},
        {"type": "rename", "name": "my robot"},
        {"type": "open_shipped", "name": "crane"},
        {"type": "new", "kind": "scout"},
    ),
    (
        {"type": "open", "text": assembly.OWN, "name": "own.yaml"},
        {"type": "open", "text": urdf.ARM, "name": "arm.urdf"},
        {"type": "set_base", "module": "base", "floating": True},
    ),
)


# what a session by itself refuses
REFUSED: tuple[dict[str, Any], ...] = (
    {"type": "mirror", "module": "m1"},
    {"type": "disconnect", "port": "m1/4"},
    {"type": "connect", "a": "m0/2", "b": "m1/5", "roll": 0},
    {"type": "open_recent", "name": "none"},
    {"type": "hello", "session": "abc"},
)


@cache
def inputs() -> list[bytes]:
    return [encoded("\n".join(map(json.dumps, talk))) for talk in TALKS]


def mutated(rng: Random) -> bytes:
    talk = list(rng.choice((*TALKS, REFUSED)))
    first = rng.randrange(len(talk))
    talk = talk[max(0, first - 2) : first + 2]
    lines = [json.dumps(message) for message in talk]
    for _ in range(rng.choice((1, 1, 2))):
        i = rng.randrange(len(lines))
        if rng.random() < 0.3:
            lines[i] = mutated_text(rng, lines[i], lines).replace("\n", " ")
        else:
            lines[i] = json.dumps(mutated_data(rng, talk[i]))
    return encoded("\n".join(lines))


@cache
def _pair() -> Design:
    """Two modules and a hinge between them."""
    return Design(mr.Assembly.from_aim([[3], [4]], types="backbone"))


class _Page:
    """A channel to a page that draws everything, and writes down what was refused."""

    def __init__(self) -> None:
        self.refused: list[str] = []

    async def send(self, event: protocol.Event | bytes) -> None:
        if not isinstance(event, bytes):
            json.loads(protocol.encode(event))
        if isinstance(event, protocol.Refused):
            self.refused.append(event.message)

    async def show(self, X_WB: Any, sample: Any) -> None:
        protocol.frame(1, X_WB, sample)

    async def acknowledge(self, number: int) -> None: ...

    async def room(self) -> None: ...


async def _talk(lines: list[str]) -> list[str]:
    page = _Page()
    client = Client(page, Session(None, _pair()))  # type: ignore[arg-type]
    client._pump = lambda: None  # type: ignore[method-assign]  # runs advance by step_run alone: never by the clock
    for line in lines:
        await client._answer(line)
    await client._end_tasks()
    return page.refused


def run(data: bytes) -> None:
    refused = asyncio.run(_talk(data.decode("utf-8", "surrogatepass").split("\n")))
    failed = [message for message in refused if message.startswith(BROKEN)]
    if failed:
        raise RuntimeError(failed[0])
    if refused:
        raise StudioError(refused[0])
