"""What a module type file may say. docs/schemas/module.json is made from this; `consistency` checks that it fits together."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from modurob.catalogue import expression
from modurob.catalogue.joints import KINDS

NAME = r"^[A-Za-z0-9_.-]{1,64}$"
MOST = 256  # entries of one section
UNITS = re.compile(r"m|kg|s|rad|N|Pa|J|W|A|V|C|F|H|T|Wb|Ω|K|Hz")  # of SI, without prefixes: nothing is converted


def _as_name(x: object) -> object:
    return str(x) if isinstance(x, int) and not isinstance(x, bool) else x


def no_truth(x: object) -> object:
    """A value that is a number, or a list of such, if it is not true or false, which Python counts as 1 and 0."""
    if any(isinstance(entry, bool) for entry in (x if isinstance(x, list) else [x])):
        raise ValueError("expected a number")
    return x


def _require_colour(text: str) -> str:
    grey = re.fullmatch(r"0?\.[0-9]{1,9}|0|1|1\.0{1,9}|0\.", text)
    word = re.fullmatch(r"[a-z]{3,30}", text) and text not in ("inf", "infinity", "nan")
    if not (grey or word or re.fullmatch(r"#[0-9A-Fa-f]{6}", text)):
        raise ValueError("expected a colour: #rrggbb, a grey from 0 to 1, or a word like navy")
    return text


def _require_unit(text: str) -> str:
    for symbol in re.findall(r"[^\s()/*·.²³^⁻¹0-9-]+", text):
        if not UNITS.fullmatch(symbol):
            valid = UNITS.pattern.replace("|", ", ")
            raise ValueError(
                f"{symbol!r} is no SI unit: numbers are not converted: expected them in a product of {valid}, such as N m s/rad"
            )
    return text


Expression = Annotated[expression.Expression, BeforeValidator(no_truth)]
Name = Annotated[str, BeforeValidator(_as_name), Field(pattern=NAME)]
Colour = Annotated[str, AfterValidator(_require_colour)]
Unit = Annotated[str, AfterValidator(_require_unit)]
Vector = Annotated[
    tuple[Expression, Expression, Expression], Field(description="three numbers or expressions in the parameters")
]


class Spec(BaseModel):
    """A mapping in a file: no other keys than its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, ser_json_inf_nan="constants")


class ParameterSpec(Spec):
    """A number of the module type that a robot may change, or a choice between words."""

    value: Expression = Field(description="default; may refer to parameters above it")
    unit: Unit = Field(
        "", description="a product of SI units, such as N m s/rad, to read; numbers are in it, and not converted"
    )
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] | None = None
    description: str = ""


class ShapeSpec(Spec):
    """Something to draw, and to find clashes with: exactly one of box, cylinder, sphere."""

    box: Vector | None = Field(None, description="edges [m]")
    cylinder: tuple[Expression, Expression] | None = Field(None, description="radius and length [m]")
    sphere: Expression | None = Field(None, description="radius [m]")
    at: Vector = Field((0, 0, 0), description="centre [m]")
    axis: Vector = Field((0, 0, 1), description="direction of a cylinder")
    colour: Colour = Field("0.75", description="#rrggbb, a grey from 0 to 1, or a word like navy")

    @model_validator(mode="after")
    def _one(self) -> "ShapeSpec":
        if sum(x is not None for x in (self.box, self.cylinder, self.sphere)) != 1:
            raise ValueError("expected exactly one of box, cylinder, sphere")
        return self


class PartSpec(Spec):
    """A rigid part."""

    mass: Expression = Field(0, description="[kg]")
    centre: Vector = Field((0, 0, 0), description="centre of mass [m]")
    inertia: Vector | tuple[Expression, Expression, Expression, Expression, Expression, Expression] = Field(
        (0, 0, 0), description="about the centre of mass [kg m²]: Ixx Iyy Izz, or Ixx Ixy Iyy Ixz Iyz Izz"
    )
    shapes: tuple[ShapeSpec, ...] = Field((), max_length=MOST)


class JointSpec(Spec):
    """A joint between two parts; a positive coordinate moves `to` against `from`."""

    kind: str = Field(description=f"one of {', '.join(KINDS)}; or a parameter whose choices are such")
    from_: Name = Field(alias="from")
    to: Name
    at: Vector = Field((0, 0, 0), description="a point on the axis [m]")
    axis: Vector = (0, 0, 1)
    axis2: Vector | None = Field(None, description="second axis of a universal joint")
    pitch: Expression | None = Field(None, description="of a helical joint [m/rad]")
    parameters: dict[Name, Expression] = Field(
        {}, max_length=MOST, description="other numbers of the joint kind, by name"
    )
    limits: tuple[Expression, Expression] | None = Field(None, description="lowest and highest coordinate [rad or m]")
    velocity: Expression | None = Field(None, description="largest rate [rad/s or m/s]")
    effort: Expression | None = Field(None, description="largest torque or force [N m or N]")
    damping: Expression = Field(0, description="viscous friction [N m s/rad or N s/m]")
    friction: Expression = Field(0, description="dry friction [N m or N]")
    armature: Expression = Field(0, description="rotor inertia seen at the joint [kg m² or kg]")
    drive: str | dict[str, Any] | None = Field(
        None,
        description="the name of a drive, or its motor, gear, losses, encoder, loops, brake, input; `like` names another",
    )


class ConnectorSpec(Spec):
    """What a port can mate with: the same kind and size, genders that fit, a roll that both allow."""

    kind: Name | None = Field(None, description="what it mates with; its own name unless given")
    gender: Literal["none", "male", "female"] = "none"
    size: Expression = Field(0, description="[m]; connectors of different size do not fit")
    rolls: tuple[Annotated[float, Field(allow_inf_nan=False)], ...] = Field(
        (0, 90, 180, 270), max_length=MOST, description="turns about the normal it can mate in [degrees]"
    )
    virtual: bool = Field(False, strict=True, description="no face: frames coincide when docked")


class PortSpec(Spec):
    """A port, at which another module can dock."""

    part: Name
    at: Vector
    normal: Vector = Field((0, 0, 1), description="out of the face")
    up: Vector = Field((1, 0, 0), description="reference direction of the roll, perpendicular to the normal")
    connector: Name
    number: int | None = Field(None, ge=1, lt=1_000_000, description="its entry in an assembly incidence matrix")


class ModuleSpec(Spec):
    """A module type: rigid parts, joints between them, ports to dock by, all in one frame at zero joint coordinates."""

    format: Literal["modurob module 1"]
    name: Name
    letter: Annotated[str, Field(pattern=r"^[A-Z]{1,2}$")] | None = Field(
        None, description="its letter in grids and matrices"
    )
    description: str = ""
    parameters: dict[Name, ParameterSpec] = Field({}, max_length=MOST)
    parts: dict[Name, PartSpec] = Field(min_length=1, max_length=MOST)
    joints: dict[Name, JointSpec] = Field({}, max_length=MOST)
    connectors: dict[Name, ConnectorSpec] = Field({}, max_length=MOST)
    ports: dict[Name, PortSpec] = Field({}, max_length=MOST)
