"""What a page is told."""

from dataclasses import dataclass, field
from typing import Any


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
    law: str  # to typeset
    parts: list[dict[str, Any]]  # the matrices; see `derivation.part`
    legend: list[dict[str, Any]]  # the symbols; see `derivation.legend`
    notes: list[str]
    problem: str = ""


@dataclass(frozen=True)
class Entry(Event):
    """One entry of a matrix, to typeset."""

    part: str
    row: int
    column: int
    latex: str


@dataclass(frozen=True)
class Numbers(Event):
    """The matrices of the equations at one state, row by row."""

    parts: dict[str, list[list[float]]]


@dataclass(frozen=True)
class Runs(Event):
    """All runs kept, oldest first, and the one that is going on."""

    runs: list[dict[str, Any]]
    state: str  # idle, running or paused
    active: int  # number of the run going on, or -1
    t: float
    speed: float
    note: str = ""


@dataclass(frozen=True)
class Trails(Event):
    """Where frames of a run have been: for each its name, times [s] and points (x, y, z) [m], one after the other."""

    run: int
    paths: list[dict[str, Any]]
