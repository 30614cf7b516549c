"""Commands that open, change, pose and derive a robot."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from modurob.studio.protocol.checked import Cell, Command, Construction, Edit, Name, Number, Text, Vector

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
class Mount(Construction):
    """The base set on a virtual joint that slides along an axis of its frame, or turns about it; that joint is the base then."""

    freedom: Literal["prismatic", "revolute"]
    axis: Literal["x", "y", "z"]


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


@dataclass(frozen=True)
class ShowEntry(Command):
    """One entry of the equations that were derived, counted from 0."""

    part: Name
    row: Annotated[int, Field(ge=0)]
    column: Annotated[int, Field(ge=0)] = 0


@dataclass(frozen=True)
class Evaluate(Command):
    """The matrices of the equations that were derived, at these coordinates and rates."""

    q: Annotated[list[Number], Field(max_length=4000)]
    v: Annotated[list[Number], Field(max_length=4000)]
