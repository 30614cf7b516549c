"""The messages between page and server: one dataclass each, as JSON with its name in `type`, and poses as bytes.

What comes from the page is a `Command`; it is checked field by field and never evaluated. What goes to the page is an `Event`, or
a binary frame: a header of four unsigned integers (kind, number, rows, columns), then 32-bit floats.
"""

import json
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from modurob.errors import StudioError, choices
from modurob.motion.gaits import GENERATORS, PRESETS
from modurob.simulation import STEPPERS
from modurob.spatial.scalars import Array
from modurob.studio import offers, wording

LONGEST_TEXT = 2_000_000  # characters of one command
FURTHEST_CELL = 100_000  # from the first module

Name = Annotated[str, Field(max_length=140)]
Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Vector = tuple[Number, Number, Number]
MOST_GAINS = 40


def _among(names: Callable[[], Iterable[str]], more: Callable[[str], str] = lambda name: "") -> AfterValidator:
    """A check that a text is one of these names, looked up when it comes: others may have registered meanwhile.

    `more` is said of a name that is not.
    """

    def checked(name: str) -> str:
        valid = list(names())
        if name not in valid:
            expected = ", ".join(map(repr, valid)) + more(name)
            raise PydanticCustomError("literal_error", "expected {expected}", {"expected": expected})
        return name

    return AfterValidator(checked)


ControllerName = Annotated[str, _among(offers.controllers, offers.unmet)]
FilterName = Annotated[str, _among(offers.filters)]
StepperName = Annotated[str, _among(lambda: STEPPERS)]
GaitName = Annotated[str, _among(lambda: PRESETS)]
GeneratorName = Annotated[str, _among(lambda: GENERATORS)]
Gains = Annotated[dict[Name, Number], Field(max_length=MOST_GAINS)]


Cell = Annotated[int, Field(ge=-FURTHEST_CELL, le=FURTHEST_CELL)]


class Checked:
    """A dataclass whose fields are checked when they come from a page: no more of them, and nothing turned into something else."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)


class Command(Checked):
    """What a page may ask for."""


class Edit(Command):
    """A command that changes the design, and can be undone."""


class Construction(Edit):
    """An edit of modules and their connections: robots that are made of links have none."""


# ---- the session ----


@dataclass(frozen=True)
class Hello(Command):
    """First message of a page: the session it had, if any."""

    session: Name = ""


@dataclass(frozen=True)
class Undo(Command):
    """The design before the last edit."""


@dataclass(frozen=True)
class Redo(Command):
    """The design after the edit that was undone."""


# ---- building ----


@dataclass(frozen=True)
class New(Edit):
    """A robot of one module."""

    kind: Name


@dataclass(frozen=True)
class Open(Edit):
    """A robot from text: a robot file, a URDF file, or a share text; `name` is that of the file it came in."""

    text: Text
    name: Name = ""


@dataclass(frozen=True)
class OpenShipped(Edit):
    """A robot that comes with modurob."""

    name: Name


@dataclass(frozen=True)
class OpenRecent(Edit):
    """A robot that was saved by itself in an earlier session."""

    name: Name


@dataclass(frozen=True)
class ReadMatrix(Edit):
    """A robot from the text of an Assembly Incidence Matrix, or of a Direct Transformation List."""

    text: Text
    view: Literal["aim", "dtl"] = "aim"
    kind: Name = "backbone"


@dataclass(frozen=True)
class Rename(Edit):
    """Another name for the robot."""

    name: Annotated[str, Field(min_length=1, max_length=80)]


@dataclass(frozen=True)
class Dock(Construction):
    """A new module docked by its port `by` at the free port `at`, turned by `roll` degrees."""

    kind: Name
    at: Name
    by: Name
    roll: Number = 0.0


@dataclass(frozen=True)
class Connect(Construction):
    """Two free ports docked: this closes a loop."""

    a: Name
    b: Name
    roll: Number = 0.0


@dataclass(frozen=True)
class Disconnect(Construction):
    """Without the connection at a port: this opens a loop."""

    port: Name


@dataclass(frozen=True)
class Undock(Construction):
    """Without a module; with `branch`, without all that hangs on it."""

    module: Name
    branch: bool = False


@dataclass(frozen=True)
class Duplicate(Construction):
    """A copy of a module and all that hangs on it, docked at the free port `at`."""

    module: Name
    at: Name


@dataclass(frozen=True)
class Mirror(Construction):
    """A mirror image of a module and all that hangs on it, on the other side of the module that it hangs on."""

    module: Name


@dataclass(frozen=True)
class PlaceCell(Construction):
    """A new module in an empty cell of the grid."""

    column: Cell
    row: Cell
    kind: Name


@dataclass(frozen=True)
class TurnCell(Construction):
    """The module in this cell turned by a quarter; after the last quarter, removed."""

    column: Cell
    row: Cell


@dataclass(frozen=True)
class MoveCell(Construction):
    """A module moved to an empty cell of the grid."""

    module: Name
    column: Cell
    row: Cell


@dataclass(frozen=True)
class SetBase(Edit):
    """Which module stands in the world, and whether it floats."""

    module: Name
    floating: bool = False


@dataclass(frozen=True)
class SetGravity(Edit):
    """Gravity in world axes [m/s²]."""

    gravity: Vector


@dataclass(frozen=True)
class SetParameter(Construction):
    """A parameter of a module, or of all modules of its type."""

    module: Name
    name: Name
    value: Number | Name
    everywhere: bool = False


# ---- the pose ----


@dataclass(frozen=True)
class SetCoordinate(Command):
    """One coordinate of the pose [rad or m]."""

    index: Annotated[int, Field(ge=0)]
    value: Number


@dataclass(frozen=True)
class SetRate(Command):
    """One initial rate [rad/s or m/s]."""

    index: Annotated[int, Field(ge=0)]
    value: Number


@dataclass(frozen=True)
class ResetPose(Command):
    """All coordinates and rates at zero."""


@dataclass(frozen=True)
class Pull(Command):
    """Bring the origin of a frame to a point of the world [m], by the joints; while it is dragged as near as it gets will do."""

    frame: Name
    point: Annotated[list[Number], Field(min_length=3, max_length=3)]
    dragged: bool = False


@dataclass(frozen=True)
class FindSolutions(Command):
    """All poses in which a frame is where it is."""

    frame: Name


@dataclass(frozen=True)
class TakePose(Command):
    """All coordinates of the pose [rad or m]."""

    q: Annotated[list[Number], Field(max_length=4000)]


@dataclass(frozen=True)
class Acknowledge(Command):
    """The page has drawn this frame; more may come."""

    number: int


# ---- equations ----


@dataclass(frozen=True)
class Derive(Command):
    """The equations of motion in closed form, with these numbers as symbols."""

    symbols: tuple[Name, ...] = ()
    shorthand: bool = False


@dataclass(frozen=True)
class CancelDerivation(Command):
    """Stop deriving."""


# ---- simulation ----


@dataclass(frozen=True)
class RunSettings(Checked):
    """How to simulate: who pushes, where to, how exactly, how long."""

    controller: ControllerName = "computed-torque"
    gains: Gains = field(default_factory=dict)  # numbers of the law; its own where they are not set
    ideal: bool = False  # without friction, stops and limits of effort
    reference: Literal["gait", "set_point", "hold"] = "gait"
    gait: GaitName = "snake"
    generator: GeneratorName = "sine"
    amplitude: Annotated[float, Field(gt=0, le=10)] = 0.4  # of a gait, or the set point [rad or m]
    frequency: Annotated[float, Field(gt=0, le=20)] = 0.5  # [Hz]
    filter: FilterName = offers.NONE
    noise: Annotated[float, Field(ge=0, le=1)] = 0.01  # of the measured angles [rad or m]
    stepper: StepperName = "semi-implicit-euler"
    step: Annotated[float, Field(ge=1e-5, le=0.05)] = 1e-3  # of the physics [s]
    sample_time: Annotated[float, Field(ge=1e-4, le=0.1)] = 5e-3  # of controller and filter [s]
    duration: Annotated[float, Field(gt=0, le=600)] = 10.0
    ground: bool = False  # whether the robot touches one, under its lowest point
    friction: Annotated[float, Field(ge=0, le=10)] = 0.8  # of the ground
    slope: Annotated[float, Field(ge=-60, le=60)] = 0.0  # of the ground, rising along x [degrees]


@dataclass(frozen=True)
class StartRun(Command):
    """Simulate the robot from its present pose and rates."""

    settings: RunSettings = field(default_factory=RunSettings)


@dataclass(frozen=True)
class PauseRun(Command):
    """Hold the run where it is."""


@dataclass(frozen=True)
class ResumeRun(Command):
    """Go on."""


@dataclass(frozen=True)
class StepRun(Command):
    """One step of the display, then hold."""


@dataclass(frozen=True)
class StopRun(Command):
    """End the run; what was recorded is kept."""


@dataclass(frozen=True)
class TuneRun(Command):
    """Another swing and another rhythm for the servos of the run that is going on."""

    amplitude: Annotated[float, Field(gt=0, le=10)]  # [rad or m]
    frequency: Annotated[float, Field(gt=0, le=20)]  # [Hz]


@dataclass(frozen=True)
class FindGait(Command):
    """Try gaits on the ground and tell the one that goes farthest."""

    settings: RunSettings = field(default_factory=RunSettings)


@dataclass(frozen=True)
class SetSpeed(Command):
    """How fast simulated time passes."""

    speed: Annotated[float, Field(ge=0.05, le=20)]


@dataclass(frozen=True)
class Scrub(Command):
    """Show the robot as it was in a run."""

    run: int
    t: Number


@dataclass(frozen=True)
class FetchRun(Command):
    """The samples of a run, for the plots."""

    run: int


@dataclass(frozen=True)
class DeleteRun(Command):
    """Forget a run."""

    run: int


# ---- events ----


class Event:
    """What a page is told."""


@dataclass(frozen=True)
class Welcome(Event):
    """First answer: the session, and all that never changes."""

    session: str
    types: list[dict[str, Any]]
    shipped: list[str]
    recent: list[dict[str, Any]]
    largest_upload: int  # bytes
    share_key: str  # opens the page in a browser that does not know the token, without what is saved here
    offers: dict[str, Any]  # what a run can be made of; see `offers.shown`
    note: str = ""  # what became of the session that the page asked for
    problems: list[str] = field(default_factory=list)  # files of the user that cannot be read


@dataclass(frozen=True)
class Robot(Event):
    """The design as it now is; see `describe.robot`."""

    design: dict[str, Any]


@dataclass(frozen=True)
class Pose(Event):
    """Coordinates and rates that a run will start from."""

    q: list[float]
    v: list[float]


@dataclass(frozen=True)
class Tensions(Event):
    """What each line of the robot pulls with now [N]."""

    tensions: list[float]


@dataclass(frozen=True)
class FoundGait(Event):
    """The gait that went farthest, as fields of `RunSettings`, and how far that was in how long [m, s]."""

    settings: dict[str, Any]
    distance: float
    duration: float


@dataclass(frozen=True)
class Solutions(Event):
    """Poses in which a frame is where it is, nearest first; `exact` if these are all."""

    frame: str
    q: list[list[float]]
    exact: bool
    note: str


@dataclass(frozen=True)
class Refused(Event):
    """A command that could not be done, given back with the reason."""

    command: dict[str, Any]
    message: str


@dataclass(frozen=True)
class Done(Event):
    """A command that was done."""

    command: str


@dataclass(frozen=True)
class Progress(Event):
    """How far a derivation is, from 0 to 1."""

    stage: str
    done: float


@dataclass(frozen=True)
class Equations(Event):
    """The equations of motion; `problem` in place of them where there are none."""

    latex: str
    parts: dict[str, str]  # the law of motion, then one matrix each, to typeset
    legend: list[str]
    problem: str = ""


@dataclass(frozen=True)
class Runs(Event):
    """All runs kept, oldest first, and the one that is going on."""

    runs: list[dict[str, Any]]
    state: str  # idle, running or paused
    active: int  # number of the run going on, or -1
    t: float
    speed: float
    note: str = ""


# ---- encoding ----


def _word(name: str) -> str:
    """OpenShipped -> open_shipped."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def name_of(message: Event | Command) -> str:
    """What a message is called in JSON."""
    return _word(type(message).__name__)


def _below(kind: type) -> list[Any]:
    return [k for sub in kind.__subclasses__() for k in (sub, *_below(sub))]


COMMANDS: dict[str, Any] = {_word(k.__name__): k for k in _below(Command) if "__dataclass_fields__" in vars(k)}
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
