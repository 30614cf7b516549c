"""A module: rigid parts, joints between them and ports to dock by, all given in the module frame with the joints at zero."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from modurob.caching import cached_property
from modurob.catalogue.expression import Scalar
from modurob.catalogue.joints import JointType
from modurob.spatial import se3
from modurob.spatial.scalars import Array, read_only

if TYPE_CHECKING:
    from modurob.catalogue.module_type import ModuleType


@dataclass(frozen=True, eq=False)
class PartShape:
    """A box (edges), cylinder (radius, length along its z) or sphere (radius) [m]; X (4, 4) is its frame in the module frame.

    >>> from modurob.catalogue import module_type
    >>> shape = module_type("cube_link").module().parts["link"].shapes[0]
    >>> shape.kind, shape.size
    ('box', (0.1, 0.1, 0.1))
    """

    kind: str
    size: tuple[float, ...]
    X: Array
    colour: str

    def __repr__(self) -> str:
        return f"PartShape({self.kind!r}, {tuple(_plain(x) for x in self.size)})"


@dataclass(frozen=True, eq=False)
class Part:
    """A rigid part: spatial inertia in the module frame, (6, 6) [kg, kg m, kg m²], and shapes.

    >>> from modurob.catalogue import module_type
    >>> module_type("backbone").module({"mass": 2}).parts["A"]
    Part('A', mass 2 kg, 2 shapes)
    """

    name: str
    inertia: Array
    shapes: tuple[PartShape, ...]

    def __repr__(self) -> str:
        return f"Part({self.name!r}, mass {_plain(self.inertia[0, 0])} kg, {len(self.shapes)} shapes)"


@dataclass(frozen=True, eq=False)
class ModuleJoint:
    """A joint of a module from part `start` to part `end`, at `origin` (3,) [m] in the module frame.

    A positive coordinate moves `end` against `start`. `properties` are lower, upper, velocity, effort, damping, friction, armature,
    as far as given.

    >>> from modurob.catalogue import module_type
    >>> module_type("backbone").module().joints["hinge"]
    ModuleJoint('hinge', revolute from 'A' to 'B')
    """

    name: str
    type: JointType
    start: str
    end: str
    origin: Array
    properties: Mapping[str, Scalar]

    def __repr__(self) -> str:
        return f"ModuleJoint({self.name!r}, {self.type.kind} from {self.start!r} to {self.end!r})"

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
    """What a port can mate with: its kind (a word of the module type), gender, size [m], the rolls it allows [degrees].

    A virtual connector has no face: docked, its frames coincide.

    >>> Connector("cobold", "none", 0, (0.0, 90.0, 180.0, 270.0), virtual=False).rolls
    (0.0, 90.0, 180.0, 270.0)
    """

    kind: str
    gender: str
    size: Scalar
    rolls: tuple[float, ...]
    virtual: bool

    def misfit(self, other: "Connector", roll: float) -> str | None:
        """Why the two cannot mate at this roll [degrees], or None.

        >>> from modurob.catalogue import module_type
        >>> face = module_type("backbone").module().ports["3"].connector
        >>> face.misfit(face, 90), face.misfit(face, 45)
        (None, 'roll 45 degrees; valid: 0, 90, 180, 270')
        """
        if self.kind != other.kind:
            return f"connector {self.kind!r} does not fit {other.kind!r}: expected two of one kind"
        if self.virtual != other.virtual:
            return f"one connector {self.kind!r} is virtual, the other has a face"
        if self.size != other.size:
            return f"connector sizes differ: {self.size} m and {other.size} m"
        if {self.gender, other.gender} not in ({"none"}, {"male", "female"}):
            return f"a {self.gender} connector does not fit a {other.gender} one: expected one male and one female"
        common = [r for r in self.rolls if r in other.rolls]
        if roll % 360 not in common:
            turned = round(math.degrees(roll), 3) if math.isfinite(roll) else roll
            hint = f" (a roll is in degrees: did you mean {turned:g}?)" if turned % 360 in common else ""
            return f"roll {roll:g} degrees; valid: {', '.join(f'{r:g}' for r in common) or 'none'}{hint}"
        return None


@dataclass(frozen=True, eq=False)
class Port:
    """A place to dock on part `part`: X (4, 4) is its frame in the module frame, z out of the face, x up.

    `number` is its entry in an AIM; see `Module.numbered` for ports without one.

    >>> from modurob.catalogue import module_type
    >>> module_type("backbone").module().ports["3"]
    Port('3' on part 'B', connector 'cobold')
    """

    name: str
    part: str
    X: Array
    connector: Connector
    number: int | None

    def __repr__(self) -> str:
        return f"Port({self.name!r} on part {self.part!r}, connector {self.connector.kind!r})"


@dataclass(frozen=True, eq=False)
class Module:
    """A module type with its parameters filled in. A value: equal if type and parameters are.

    >>> from modurob.catalogue import module_type
    >>> link = module_type("cube_link").module({"mass": 2})
    >>> link
    Module('cube_link', mass=2)
    >>> link == module_type("cube_link").module({"mass": 2.0}), list(link.ports)
    (True, ['1', '2', '3', '4', '5', '6', '7'])
    """

    type: "ModuleType"
    changed: Mapping[str, Scalar]  # parameters that differ from their defaults
    parameters: Mapping[str, Scalar]
    parts: Mapping[str, Part]
    joints: Mapping[str, ModuleJoint]
    ports: Mapping[str, Port]

    def __repr__(self) -> str:
        return f"Module({', '.join([repr(self.type.name), *(f'{k}={_plain(v)}' for k, v in self.changed.items())])})"

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
    def numbered(self) -> Mapping[str, int]:
        """The number of each port in an AIM: its own, or the lowest that no port of the type has.

        >>> from modurob.catalogue import module_type
        >>> module_type("virtual").module().numbered
        {'in': 7, 'out': 7}
        """
        used = {p.number for p in self.ports.values()}
        free = (i for i in range(1, 2 * len(self.ports) + 1) if i not in used)
        return {p.name: next(free) if p.number is None else p.number for p in self.ports.values()}

    @cached_property
    def key(self) -> str:
        """What makes this module, as text that can be sorted: equal modules have equal keys."""
        changed = ", ".join(f"{k}={v!r}" for k, v in sorted(self.changed.items()))
        return f"{self.type.name}#{self.type.fingerprint}({changed})"

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Module) and self.type == other.type and dict(self.changed) == dict(other.changed)
        )

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.type, frozenset(self.changed.items())))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple:
        return _made, (self.type, dict(self.changed))


def _made(kind: "ModuleType", changed: Mapping[str, Scalar]) -> Module:
    return kind.module(changed)


def _plain(x: Scalar) -> str:
    """A number without needless digits, anything else as it prints itself."""
    return f"{float(x):g}" if isinstance(x, int | float | np.number) else str(x)
