"""A module made from what its type's file says and from its parameters."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, count
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from modurob.catalogue import expression
from modurob.catalogue.drives.library import drive_of
from modurob.catalogue.expression import Scalar
from modurob.catalogue.joints import KINDS
from modurob.catalogue.module import Connector, ModuleJoint, Part, PartShape, Port
from modurob.catalogue.specification import ConnectorSpec, JointSpec, ModuleSpec, PartSpec, PortSpec, ShapeSpec
from modurob.errors import CatalogueError, InputError, ModurobError, choices
from modurob.spatial import inertia, se3, so3
from modurob.spatial.scalars import Array, as_array, read_only

# the entry of a virtual joint in an AIM, where no side connects (Gutenkunst 5.2.1)
VIRTUAL = 7

Made = TypeVar("Made")


class Maker:
    """Evaluates a specification with given parameters; what cannot be made is noted in `errors`."""

    def __init__(self, spec: ModuleSpec, values: Mapping[str, Scalar]):
        self.spec, self.values = spec, values
        self.errors: list[ModurobError] = []

    def parts(self) -> dict[str, Part]:
        return self._each(self.spec.parts, self._part)

    def joints(self) -> dict[str, ModuleJoint]:
        return self._each(self.spec.joints, self._joint)

    def ports(self) -> dict[str, Port]:
        connectors = self._each(self.spec.connectors, self._connector)
        usable = {name: p for name, p in self.spec.ports.items() if p.connector in connectors}
        ports = self._each(usable, lambda name, p: self._port(name, p, connectors[p.connector]))
        return ports if any(c.virtual for c in self.spec.connectors.values()) else {**ports, **self._frame_port(ports)}

    def _each(self, specs: Mapping[str, Any], make: Callable[[str, Any], Made]) -> dict[str, Made]:
        made = {}
        for name, spec in specs.items():
            try:
                made[name] = make(name, spec)
            except ModurobError as error:
                self.errors.append(error)
        return made

    def _number(self, x: Any) -> Scalar:
        return expression.value(x, self.values)

    def _vector(self, x: Iterable[Any]) -> Array:
        return as_array(np.array([self._number(c) for c in x]))

    def _part(self, name: str, p: PartSpec) -> Part:
        with _named(f"part {name!r}"):
            moments = self._argument("inertia", p.inertia)
            mass, centre = self._argument("mass", p.mass), self._argument("centre", p.centre)
            shapes = tuple(self._shape(s) for s in p.shapes)
        if len(moments) == 3:
            tensor = np.diag(moments)
        else:
            xx, xy, yy, xz, yz, zz = moments
            tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        spatial = inertia.spatial_inertia(mass, centre, tensor)
        inertia.checked(spatial, f"module type {self.spec.name!r}, part {name!r}")
        return Part(name, read_only(spatial), shapes)

    def _shape(self, s: ShapeSpec) -> PartShape:
        if s.box is not None:
            kind, size, turn = "box", self._vector(s.box), np.eye(3)
        elif s.cylinder is not None:
            axis = _unit(self._vector(s.axis), "axis of a cylinder")
            u, w = so3.perpendicular(axis)
            kind, size, turn = "cylinder", self._vector(s.cylinder), np.stack([u, w, axis], axis=-1)
        else:
            kind, size, turn = "sphere", self._vector((s.sphere,)), np.eye(3)
        if size.dtype == float and (size < 0).any():
            raise CatalogueError(f"{kind} of size {tuple(size.tolist())}: expected lengths of zero or more [m]")
        return PartShape(kind, tuple(size.tolist()), read_only(se3.pose(turn, self._vector(s.at))), s.colour)

    def _joint(self, name: str, j: JointSpec) -> ModuleJoint:
        kind = KINDS[self.values.get(j.kind, j.kind)]
        with _named(f"joint {name!r}"):
            # what the joint kind is made from has the same names in the file
            own = getattr(kind, "__dataclass_fields__", {})
            for x in j.parameters:
                if x not in own:
                    raise CatalogueError(f"a {kind.kind} joint has no parameter {x!r}: {choices(x, own)}")
            given = {x: j.parameters.get(x, getattr(j, x, None)) for x in own}
            arguments = {x: _plain(self._argument(x, v)) for x, v in given.items() if v is not None}
            return ModuleJoint(
                name,
                kind(**arguments),
                j.from_,
                j.to,
                read_only(self._argument("at", j.at)),
                MappingProxyType(self._properties(j)),
            )

    def _argument(self, what: str, x: Any) -> Any:
        """A number or a vector, by the name it has in the file."""
        with _named(what):
            return self._vector(x) if isinstance(x, tuple) else self._number(x)

    def _properties(self, j: JointSpec) -> dict[str, Any]:
        found: dict[str, Any] = {x: self._bound(x, getattr(j, x)) for x in ("damping", "friction", "armature")}
        if j.limits is not None:
            lower, upper = (x if _infinite(x) else self._argument("limits", x) for x in j.limits)
            if _is_number(lower) and _is_number(upper) and float(lower) > float(upper):
                raise CatalogueError(f"limits {lower:g} to {upper:g}: expected lower <= upper")
            found.update(lower=lower, upper=upper)
        for x in ("velocity", "effort"):
            bound = getattr(j, x)
            if bound is not None:
                found[x] = bound if bound == np.inf else self._bound(x, bound)
        return found if j.drive is None else {**found, "drive": drive_of(j.drive)}

    def _bound(self, what: str, x: Any) -> Scalar:
        number = self._argument(what, x)
        if _is_number(number) and number < 0:
            raise CatalogueError(f"{what} {number:g} is negative: expected zero or more")
        return number

    def _connector(self, name: str, c: ConnectorSpec) -> Connector:
        with _named(f"connector {name!r}"):
            size = self._argument("size", c.size)
            return Connector(c.kind or name, c.gender, size, tuple(r % 360 for r in c.rolls), c.virtual)

    def _port(self, name: str, p: PortSpec, connector: Connector) -> Port:
        with _named(f"port {name!r}"):
            at, normal, up = (self._argument(x, getattr(p, x)) for x in ("at", "normal", "up"))
        z, x = _unit(normal, f"normal of port {name!r}"), _unit(up, f"up of port {name!r}")
        if abs(float(z @ x)) > 1e-9:
            raise CatalogueError(f"port {name!r}: up {p.up} is not perpendicular to normal {p.normal}")
        turn = np.stack([x, np.cross(z, x), z], axis=-1)
        return Port(name, p.part, read_only(se3.pose(turn, at)), connector, p.number)

    def _frame_port(self, ports: Mapping[str, Port]) -> dict[str, Port]:
        """A virtual port at the module frame, for types that give none: every module can be set on virtual joints."""
        taken = {*self.spec.parts, *self.spec.joints, *self.spec.ports}
        name = next(n for n in chain(("7", "frame"), (f"frame{i}" for i in count())) if n not in taken)
        number = None if VIRTUAL in (p.number for p in ports.values()) else VIRTUAL
        virtual = Connector("virtual", "none", 0, (0.0,), virtual=True)
        return {name: Port(name, next(iter(self.spec.parts)), se3.IDENTITY, virtual, number)}


@contextmanager
def _named(what: str) -> Iterator[None]:
    """Adds the location in the file to errors of the block."""
    try:
        yield
    except (CatalogueError, InputError) as error:
        raise CatalogueError(f"{what}: {error}") from None


def _plain(x: Any) -> Any:
    """A vector as a tuple, which can be a field of a value."""
    return tuple(x.tolist()) if isinstance(x, np.ndarray) else x


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float | np.number)


def _infinite(x: Any) -> bool:
    return isinstance(x, float) and np.isinf(x)


def _unit(a: Array, what: str) -> Array:
    length = np.sqrt(float(a @ a))
    if not 0 < length < np.inf:
        raise CatalogueError(f"{what} {tuple(a.tolist())}: expected three numbers, not all zero")
    return a / length
