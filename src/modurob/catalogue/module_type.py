"""A module type and the modules made from it."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from modurob.catalogue import expression
from modurob.catalogue.expression import Scalar
from modurob.catalogue.joints import KINDS, Helical, JointType, Universal
from modurob.catalogue.specification import ConnectorSpec, JointSpec, ModuleSpec, PartSpec, PortSpec, ShapeSpec
from modurob.errors import CatalogueError, InputError, choices
from modurob.spatial import inertia, se3, so3
from modurob.spatial.scalars import Array, as_array, read_only


@dataclass(frozen=True)
class PartShape:
    """A box (x, y, z), cylinder (radius, length along its z) or sphere (radius), at X in the module frame."""

    kind: str
    size: tuple[float, ...]
    X: Array
    colour: str


@dataclass(frozen=True, eq=False)
class Part:
    """A rigid part: spatial inertia in the module frame, (6, 6), and shapes."""

    name: str
    inertia: Array
    shapes: tuple[PartShape, ...]


@dataclass(frozen=True, eq=False)
class ModuleJoint:
    """A joint of a module, at `origin` in the module frame; `properties` as `JointProperties` takes them."""

    name: str
    type: JointType
    start: str
    end: str
    origin: Array
    properties: Mapping[str, Scalar]

    @cached_property
    def at(self) -> Array:
        """The joint's predecessor frame in the module frame, (4, 4)."""
        return read_only(se3.pose(None, self.origin))

    @cached_property
    def seat(self) -> Array:
        """The module frame in the joint's successor frame, joint at zero, (4, 4)."""
        return read_only(se3.pose(None, -self.origin))


@dataclass(frozen=True)
class Connector:
    """What fits what."""

    kind: str
    gender: str
    size: Scalar
    rolls: tuple[float, ...]
    virtual: bool

    def misfit(self, other: "Connector", roll: float) -> str | None:
        """Why the two cannot mate at this roll [degrees], or None."""
        if self.kind != other.kind:
            return f"connector {self.kind!r} does not fit {other.kind!r}"
        if self.virtual != other.virtual:
            return f"one connector {self.kind!r} is virtual, the other has a face"
        if self.size != other.size:
            return f"connector sizes differ: {self.size} m and {other.size} m"
        if {self.gender, other.gender} not in ({"none"}, {"male", "female"}):
            return f"a {self.gender} connector does not fit a {other.gender} one: expected one male and one female"
        common = [r for r in self.rolls if r in other.rolls]
        if roll % 360 not in common:
            return f"roll {roll:g} degrees; valid: {', '.join(f'{r:g}' for r in common) or 'none'}"
        return None


@dataclass(frozen=True, eq=False)
class Port:
    """A place to dock: X in the module frame, z out of the face, x up."""

    name: str
    part: str
    X: Array
    connector: Connector
    number: int | None


@dataclass(frozen=True, eq=False)
class Module:
    """A module type with its parameters filled in."""

    type: "ModuleType"
    changed: Mapping[str, Scalar]  # parameters that differ from their defaults
    parameters: Mapping[str, Scalar]
    parts: Mapping[str, Part]
    joints: Mapping[str, ModuleJoint]
    ports: Mapping[str, Port]

    @property
    def root(self) -> str:
        """The part that carries the module frame: the first."""
        return next(iter(self.parts))

    @cached_property
    def joints_at(self) -> Mapping[str, tuple[ModuleJoint, ...]]:
        """The joints at each part."""
        return {p: tuple(j for j in self.joints.values() if p in (j.start, j.end)) for p in self.parts}

    @cached_property
    def massive_parts(self) -> frozenset[str]:
        """The parts that have mass."""
        return frozenset(name for name, part in self.parts.items() if np.any(part.inertia != 0))

    @cached_property
    def key(self) -> str:
        """What makes this module, as text: equal keys, equal modules."""
        changed = ", ".join(f"{k}={v!r}" for k, v in sorted(self.changed.items()))
        return f"{self.type.name}#{self.type.fingerprint}({changed})"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Module) and self.key == other.key)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple:
        return ModuleType.module, (self.type, dict(self.changed))


class ModuleType:
    """Parts, joints and ports as a file describes them; `module(**parameters)` makes one."""

    def __init__(self, specification: ModuleSpec, where: str):
        self.specification = specification
        self.name = specification.name
        self._where = where
        self.fingerprint = hashlib.sha256(specification.model_dump_json().encode()).hexdigest()[:12]
        self._made: dict[tuple, Module] = {}
        self.module()  # a file whose defaults make no module is refused now

    def __repr__(self) -> str:
        return f"ModuleType({self.name!r})"

    def __reduce__(self) -> tuple:
        return ModuleType, (self.specification, self._where)

    def module(self, parameters: Mapping[str, Scalar] | None = None) -> Module:
        """The module with these parameters, the others at their defaults."""
        values, changed = self._values(parameters or {})
        key = tuple(values.items())
        if key not in self._made:
            try:
                self._made[key] = _Maker(self.specification, values).module(self, changed)
            except CatalogueError as error:
                raise CatalogueError(f"{self._where}: {error}") from None
        return self._made[key]

    def _values(self, given: Mapping[str, Scalar]) -> tuple[dict[str, Scalar], dict[str, Scalar]]:
        spec = self.specification.parameters
        for name in given:
            if name not in spec:
                raise CatalogueError(f"module type {self.name!r} has no parameter {name!r}: {choices(name, spec)}")
        values: dict[str, Scalar] = {}
        changed: dict[str, Scalar] = {}
        for name, parameter in spec.items():
            default = parameter.value if parameter.choices else expression.value(parameter.value, values)
            value = given.get(name, default)
            self._require_valid(name, value)
            # 2, 2.0 and np.float64(2) are one value, and make one key
            values[name] = value = float(value) if isinstance(value, int | float | np.integer | np.floating) else value
            if value != default:
                changed[name] = value
        return values, changed

    def _require_valid(self, name: str, value: Scalar) -> None:
        parameter = self.specification.parameters[name]
        what = f"module type {self.name!r}: parameter {name} = {value!r}"
        if parameter.choices:
            if value not in parameter.choices:
                raise CatalogueError(f"{what}; valid: {', '.join(parameter.choices)}")
        elif isinstance(value, bool | Iterable) or value is None:
            raise CatalogueError(f"{what}: expected a number [{parameter.unit}]")
        elif isinstance(value, int | float | np.number):
            low, high = parameter.minimum, parameter.maximum
            if not np.isfinite(value) or (low is not None and value < low) or (high is not None and value > high):
                span = f"{'-inf' if low is None else low} to {'inf' if high is None else high}"
                raise CatalogueError(f"{what}: expected a finite number from {span} [{parameter.unit}]")


class _Maker:
    """Evaluates a specification with given parameters."""

    def __init__(self, spec: ModuleSpec, values: Mapping[str, Scalar]):
        self.spec, self.values = spec, values

    def module(self, type_: ModuleType, changed: Mapping[str, Scalar]) -> Module:
        connectors = {name: self.connector(name, c) for name, c in self.spec.connectors.items()}
        return Module(
            type=type_,
            changed=MappingProxyType(dict(changed)),
            parameters=MappingProxyType(dict(self.values)),
            parts=MappingProxyType({name: self.part(name, p) for name, p in self.spec.parts.items()}),
            joints=MappingProxyType({name: self.joint(name, j) for name, j in self.spec.joints.items()}),
            ports=MappingProxyType({name: self.port(name, p, connectors) for name, p in self.spec.ports.items()}),
        )

    def number(self, x: Any) -> Scalar:
        return expression.value(x, self.values)

    def vector(self, x: Any) -> Array:
        vector = as_array(np.array([self.number(c) for c in x]))
        if vector.dtype == float and not np.isfinite(vector).all():
            raise CatalogueError(f"{list(x)}: expected finite numbers")
        return vector

    def part(self, name: str, p: PartSpec) -> Part:
        moments = self.vector(p.inertia)
        if len(moments) == 3:
            tensor = np.diag(moments)
        else:
            xx, xy, yy, xz, yz, zz = moments
            tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        spatial = inertia.spatial_inertia(self.number(p.mass), self.vector(p.centre), tensor)
        inertia.checked(spatial, f"module type {self.spec.name!r}, part {name!r}")
        return Part(name, read_only(spatial), tuple(self.shape(s) for s in p.shapes))

    def shape(self, s: ShapeSpec) -> PartShape:
        if s.box is not None:
            kind, size, turn = "box", self.vector(s.box), np.eye(3)
        elif s.cylinder is not None:
            axis = _unit(self.vector(s.axis), "axis of a cylinder")
            u, w = so3.perpendicular(axis)
            kind, size, turn = "cylinder", self.vector(s.cylinder), np.stack([u, w, axis], axis=-1)
        else:
            kind, size, turn = "sphere", self.vector((s.sphere,)), np.eye(3)
        return PartShape(kind, tuple(size), read_only(se3.pose(turn, self.vector(s.at))), s.colour)

    def joint(self, name: str, j: JointSpec) -> ModuleJoint:
        kind = KINDS[self.values.get(j.kind, j.kind)]
        arguments: dict[str, Any] = {}
        if hasattr(kind, "axis"):
            arguments["axis"] = tuple(self.vector(j.axis).tolist())
        if kind is Universal and j.axis2 is not None:
            arguments["axis2"] = tuple(self.vector(j.axis2).tolist())
        if kind is Helical:
            arguments["pitch"] = self.number(j.pitch or 0)
        properties: dict[str, Scalar] = {x: self.number(getattr(j, x)) for x in ("damping", "friction", "armature")}
        if j.limits is not None:
            properties["lower"], properties["upper"] = (self.number(x) for x in j.limits)
        for bound in ("velocity", "effort"):
            if getattr(j, bound) is not None:
                properties[bound] = self.number(getattr(j, bound))
        try:
            return ModuleJoint(name, kind(**arguments), j.from_, j.to, read_only(self.vector(j.at)), properties)
        except InputError as error:
            raise CatalogueError(f"joint {name!r}: {error}") from None

    def connector(self, name: str, c: ConnectorSpec) -> Connector:
        return Connector(name, c.gender, self.number(c.size), tuple(r % 360 for r in c.rolls), c.virtual)

    def port(self, name: str, p: PortSpec, connectors: Mapping[str, Connector]) -> Port:
        z, x = (
            _unit(self.vector(p.normal), f"normal of port {name!r}"),
            _unit(self.vector(p.up), f"up of port {name!r}"),
        )
        if abs(float(z @ x)) > 1e-9:
            raise CatalogueError(f"port {name!r}: up {p.up} is not perpendicular to normal {p.normal}")
        turn = np.stack([x, np.cross(z, x), z], axis=-1)
        return Port(name, p.part, read_only(se3.pose(turn, self.vector(p.at))), connectors[p.connector], p.number)


def _unit(a: Array, what: str) -> Array:
    length = np.sqrt(float(a @ a))
    if not length > 0:
        raise CatalogueError(f"{what} {tuple(a.tolist())}: expected three numbers, not all zero")
    return a / length
