"""What a module type file may say. docs/schemas/module.json is made from this."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from modurob.catalogue import expression
from modurob.catalogue.expression import Expression
from modurob.catalogue.joints import KINDS


def _as_name(x: object) -> object:
    return str(x) if isinstance(x, int) and not isinstance(x, bool) else x


NAME = r"^[A-Za-z0-9_.-]{1,64}$"
Name = Annotated[str, BeforeValidator(_as_name), Field(pattern=NAME)]
Vector = Annotated[
    tuple[Expression, Expression, Expression], Field(description="three numbers or expressions in the parameters")
]


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class ParameterSpec(_Spec):
    """A number of the module type that a robot may change, or a choice between words."""

    value: Expression = Field(description="default; may refer to parameters above it")
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] | None = None
    description: str = ""


class ShapeSpec(_Spec):
    """Something to draw, and to find clashes with: exactly one of box, cylinder, sphere."""

    box: Vector | None = Field(None, description="edges [m]")
    cylinder: tuple[Expression, Expression] | None = Field(None, description="radius and length [m]")
    sphere: Expression | None = Field(None, description="radius [m]")
    at: Vector = Field((0, 0, 0), description="centre [m]")
    axis: Vector = Field((0, 0, 1), description="direction of a cylinder")
    colour: str = "0.75"

    @model_validator(mode="after")
    def _one(self) -> "ShapeSpec":
        if sum(x is not None for x in (self.box, self.cylinder, self.sphere)) != 1:
            raise ValueError("expected exactly one of box, cylinder, sphere")
        return self


class PartSpec(_Spec):
    """A rigid part."""

    mass: Expression = Field(0, description="[kg]")
    centre: Vector = Field((0, 0, 0), description="centre of mass [m]")
    inertia: Vector | tuple[Expression, Expression, Expression, Expression, Expression, Expression] = Field(
        (0, 0, 0), description="about the centre of mass [kg m²]: Ixx Iyy Izz, or Ixx Ixy Iyy Ixz Iyz Izz"
    )
    shapes: tuple[ShapeSpec, ...] = ()


class JointSpec(_Spec):
    """A joint between two parts; a positive coordinate moves `to` against `from`."""

    kind: str = Field(description=f"one of {', '.join(KINDS)}; or a parameter whose choices are such")
    from_: Name = Field(alias="from")
    to: Name
    at: Vector = Field((0, 0, 0), description="a point on the axis [m]")
    axis: Vector = (0, 0, 1)
    axis2: Vector | None = Field(None, description="second axis of a universal joint")
    pitch: Expression | None = Field(None, description="of a helical joint [m/rad]")
    limits: tuple[Expression, Expression] | None = Field(None, description="lowest and highest coordinate [rad or m]")
    velocity: Expression | None = Field(None, description="largest rate [rad/s or m/s]")
    effort: Expression | None = Field(None, description="largest torque or force [N m or N]")
    damping: Expression = 0
    friction: Expression = 0
    armature: Expression = Field(0, description="rotor inertia seen at the joint [kg m² or kg]")


class ConnectorSpec(_Spec):
    """What a port can mate with: the same kind and size, genders that fit, a roll that both allow."""

    gender: Literal["none", "male", "female"] = "none"
    size: Expression = Field(0, description="[m]; connectors of different size do not fit")
    rolls: tuple[float, ...] = Field((0, 90, 180, 270), description="turns about the normal it can mate in [degrees]")
    virtual: bool = Field(False, description="no face: frames coincide when docked")


class PortSpec(_Spec):
    """A place to dock."""

    part: Name
    at: Vector
    normal: Vector = Field((0, 0, 1), description="out of the face")
    up: Vector = Field((1, 0, 0), description="reference direction of the roll, perpendicular to the normal")
    connector: Name
    number: int | None = Field(None, ge=1, description="its entry in an assembly incidence matrix")


class ModuleSpec(_Spec):
    """A module type: rigid parts, joints between them, ports to dock by, all in one frame at zero joint coordinates."""

    format: Literal["modurob module 1"]
    name: Name
    letter: Annotated[str, Field(pattern=r"^[A-Z]{1,2}$")] | None = Field(
        None, description="its letter in grids and matrices"
    )
    description: str = ""
    parameters: dict[Name, ParameterSpec] = {}
    parts: dict[Name, PartSpec] = Field(min_length=1)
    joints: dict[Name, JointSpec] = {}
    connectors: dict[Name, ConnectorSpec] = {}
    ports: dict[Name, PortSpec] = {}

    @model_validator(mode="after")
    def _names_fit(self) -> "ModuleSpec":
        for name, joint in self.joints.items():
            for part in (joint.from_, joint.to):
                self._require(part, self.parts, f"joint {name!r}: no part")
            choice = self.parameters.get(joint.kind)
            for kind in (choice.choices if choice else None) or (joint.kind,):
                self._require(kind, KINDS, f"joint {name!r}: no joint kind")
        for name, port in self.ports.items():
            self._require(port.part, self.parts, f"port {name!r}: no part")
            self._require(port.connector, self.connectors, f"port {name!r}: no connector")
        twice = (
            (set(self.parts) & set(self.ports))
            | (set(self.parts) & set(self.joints))
            | (set(self.joints) & set(self.ports))
        )
        if twice:
            raise ValueError(f"{sorted(twice)[0]!r} names two things: parts, joints and ports need different names")
        self._require_order()
        self._require_joined()
        return self

    def _require_joined(self) -> None:
        reached = [next(iter(self.parts))]
        for part in reached:
            ends = ({j.from_, j.to} for j in self.joints.values() if part in (j.from_, j.to))
            reached += sorted(set().union(*ends) - set(reached))
        for part in self.parts:
            if part not in reached:
                raise ValueError(
                    f"no joint leads from part {reached[0]!r} to part {part!r}: join them, or make them one"
                )

    def _require_order(self) -> None:
        known: set[str] = set()
        for name, parameter in self.parameters.items():
            if parameter.choices is None and isinstance(parameter.value, str):
                for other in expression.names(parameter.value) - known:
                    raise ValueError(f"parameter {name!r} refers to {other!r}, which does not stand above it")
            known.add(name)

    @staticmethod
    def _require(name: str, valid: object, what: str) -> None:
        if name not in valid:  # type: ignore[operator]
            raise ValueError(f"{what} {name!r}; valid: {', '.join(valid)}")  # type: ignore[arg-type]
