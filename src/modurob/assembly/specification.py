"""What a robot file may say. docs/schemas/robot.json is made from this."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from modurob.assembly.connection import LONGEST_TEXT, TEXT, Connection
from modurob.assembly.graph import MOST_CONNECTIONS, MOST_MODULES
from modurob.assembly.setup import GRAVITY
from modurob.catalogue.specification import ModuleSpec, Name, Spec, no_truth
from modurob.errors import InputError

FORMAT = "modurob robot 2"
FIRST = "modurob assembly 1"
MOST_TYPES = 256
SETUP = ("base", "floating", "gravity", "initial", "lines")

Finite = Annotated[float, BeforeValidator(no_truth), Field(allow_inf_nan=False)]
_Plain = Annotated[float, Field(allow_inf_nan=False)]
FiniteOrList = Annotated[_Plain | list[_Plain], BeforeValidator(no_truth)]
Vector = tuple[Finite, Finite, Finite]
JointName = Annotated[str, Field(max_length=200)]


def _require_connection(text: Any) -> Any:
    try:
        Connection.parse(text)
    except (InputError, TypeError):
        raise ValueError("expected two ports, like m0/3 - m1/4, or m0/3 - m1/4 @ 90 with a roll") from None
    return text


ConnectionText = Annotated[
    str,
    BeforeValidator(_require_connection),
    WithJsonSchema({"type": "string", "pattern": TEXT.pattern, "maxLength": LONGEST_TEXT}),
]


class ModuleEntry(Spec):
    """A module: its type, and the parameters that differ from the type's defaults."""

    type: str = Field(
        max_length=1000,
        description="name of a shipped type, of one under `types`, or the path of a module type file below this file's folder",
    )
    parameters: dict[str, Annotated[float | str, BeforeValidator(no_truth)]] = Field({}, max_length=256)


class Pose(Spec):
    """Where a floating base starts, in world axes."""

    position: Vector = Field((0, 0, 0), description="[m]")
    quaternion: tuple[Finite, Finite, Finite, Finite] = Field((1, 0, 0, 0), description="w, x, y, z")


class InitialSpec(Spec):
    """The state the robot starts in; what is left out is zero."""

    coordinates: dict[JointName, FiniteOrList] = Field(
        {}, description="of joints, by name: m0/hinge [rad or m]; a list for joints with several"
    )
    rates: dict[JointName, FiniteOrList] = Field({}, description="of joints, by name [rad/s or m/s]")
    pose: Pose = Field(default_factory=lambda: Pose.model_validate({}), description="of a floating base")
    twist: tuple[Finite, Finite, Finite, Finite, Finite, Finite] = Field(
        (0, 0, 0, 0, 0, 0), description="of a floating base: linear, angular, in its own axes [m/s, rad/s]"
    )


class StopSpec(Spec):
    """A point on the route of a line."""

    at: str = Field(max_length=200, description="a port: m3/2")
    pulley: dict[str, Finite] | None = Field(None, description="radius [m], side 1 or -1")
    swivel: dict[str, Finite] | None = Field(None, description="radius, offset [m]")
    winch: dict[str, Finite | str] | None = Field(None, description="joint by path, radius [m]")


class LineSpec(Spec):
    """A cable, belt or spring over ports."""

    route: list[Annotated[str, Field(max_length=200)] | StopSpec] = Field(min_length=2, max_length=256)
    law: dict[str, dict[str, Finite | bool]] = Field(
        min_length=1,
        max_length=1,
        description="elastic: {stiffness, rest, damping}; spring: {stiffness, length, damping}; tension",
    )


class RobotSpec(Spec):
    """A robot as modules, connections and setup."""

    format: Literal["modurob robot 2", "modurob assembly 1"]
    name: str = "robot"
    description: str = ""
    types: dict[Name, ModuleSpec] = Field({}, max_length=MOST_TYPES, description="module types that are not shipped")
    modules: dict[Name, str | ModuleEntry] = Field(
        min_length=1, max_length=MOST_MODULES, description="type of each module"
    )
    connections: list[ConnectionText] = Field(
        [], max_length=MOST_CONNECTIONS, description="m0/3 - m1/4, or m0/3 - m1/4 @ 90 with a roll"
    )
    base: Name | None = Field(None, description="module that stands in the world or floats; the first by default")
    floating: bool = Field(False, strict=True, description="whether the base floats")
    gravity: Vector = Field(GRAVITY, description="in world axes [m/s²]")
    initial: InitialSpec = Field(default_factory=lambda: InitialSpec.model_validate({}))

    lines: dict[Annotated[str, Field(max_length=200)], LineSpec] = Field(
        {}, max_length=MOST_CONNECTIONS, description="cables, belts and springs over ports, by name"
    )

    @model_validator(mode="after")
    def _version_fits(self) -> "RobotSpec":
        later = [key for key in SETUP if key in self.model_fields_set]
        if self.format == FIRST and later:
            raise ValueError(f"{', '.join(later)}: not in a file of {FIRST!r}: write 'format: {FORMAT}'")
        return self
