"""Which modules are docked where: an immutable graph."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from modurob.assembly import aim_reading, canonical, clash, grid, views
from modurob.assembly.connection import Connection, PortRef, docking, mated
from modurob.assembly.traversal import Traversal, neighbours, traverse
from modurob.catalogue import Module, ModuleType, Port, module_type
from modurob.catalogue.expression import Scalar
from modurob.catalogue.specification import NAME
from modurob.errors import (
    AssemblyError,
    ClashError,
    DisconnectedError,
    InputError,
    MatingError,
    OccupiedPortError,
    UnknownNameError,
    choices,
)
from modurob.spatial import se3
from modurob.spatial.scalars import Array, read_only

if TYPE_CHECKING:
    from modurob.robot import Mechanism

Parameters = Mapping[str, Scalar]


class Assembly:
    """Modules by name and the connections between their ports, in a fixed order. Every change gives a new assembly."""

    modules: Mapping[str, Module]
    connections: tuple[Connection, ...]
    name: str

    def __init__(self, modules: Mapping[str, Module], connections: Iterable[Connection] = (), name: str = "robot"):
        self._fill(dict(modules), tuple(docking(*c) for c in connections), name)
        self._require_valid()

    def _fill(self, modules: dict[str, Module], connections: tuple[Connection, ...], name: str) -> None:
        self.__dict__.update(modules=MappingProxyType(modules), connections=connections, name=name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"an Assembly cannot be changed: dock, undock and connect return a new one (tried to set {name!r})"
        )

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Assembly) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    def __reduce__(self) -> tuple:
        return Assembly, (dict(self.modules), self.connections, self.name)

    @cached_property
    def _content(self) -> tuple:
        return tuple((name, m.key) for name, m in self.modules.items()), self.connections

    def __len__(self) -> int:
        return len(self.modules)

    def __repr__(self) -> str:
        return f"Assembly({self.name!r}, {len(self.modules)} modules, {len(self.connections)} connections)"

    # ---- making ----

    @classmethod
    def single(cls, name: str, kind: str | ModuleType, parameters: Parameters | None = None) -> "Assembly":
        """One module, to dock others to."""
        return cls({_new_name(name, ()): module_type(kind).module(parameters)})

    @classmethod
    def from_aim(
        cls,
        matrix: Any,
        types: str | ModuleType | Sequence[str | ModuleType] | None = None,
        parameters: Parameters | Sequence[Parameters] | None = None,
        name: str = "robot",
    ) -> "Assembly":
        """From an Assembly Incidence Matrix: rows modules m0, m1, ..., columns connections, entries faces.

        `types` is one module type, or one for each row; a last column of types and a last row of dyad classes, as
        `aim_table` writes them, are read too. A module docked by 7 alone is a virtual joint if one type is given.
        """
        return cls(*aim_reading.from_aim(matrix, types, parameters), name)

    @classmethod
    def from_grid(
        cls, cells: str | Sequence[Sequence[str | None]], parameters: Parameters | None = None, name: str = "robot"
    ) -> "Assembly":
        """From cells in a plane, the first row the furthest in y: B is a Backbone, S90 a Scout turned by 90 degrees, . nothing.

        Neighbours dock where both have a port that looks at the other. Modules are m0, m1, ... row by row.
        """
        return cls(*grid.from_grid(cells, parameters), name)

    def dock(
        self,
        name: str,
        kind: str | ModuleType,
        at: str | PortRef,
        by: str,
        roll: float = 0.0,
        parameters: Parameters | None = None,
    ) -> "Assembly":
        """With a new module `name` docked by its port `by` at the free port `at`, turned by `roll` degrees about that port."""
        module = module_type(kind).module(parameters)
        connection = docking(at, PortRef(_new_name(name, self.modules), str(by)), roll)
        at, into = connection.a, connection.b
        host, guest = self._free_port(at), _port(module, into)
        _require_mating(connection, host, guest)
        X = self.placements[at.module] @ mated(host, guest, connection.roll)
        docked = object.__new__(Assembly)
        docked._fill({**self.modules, name: module}, (*self.connections, connection), self.name)
        # what is known of this assembly holds for the larger one
        docked.__dict__["occupied"] = MappingProxyType({**self.occupied, at: into, into: at})
        docked.__dict__["placements"] = MappingProxyType({**self.placements, name: read_only(X)})
        docked._require_room(name)
        return docked

    def undock(self, name: str) -> "Assembly":
        """Without module `name`; what is left must hang together."""
        self._require_module(name)
        if len(self.modules) == 1:
            raise DisconnectedError(f"{name!r} is the only module: an assembly needs at least one")
        rest = {n: m for n, m in self.modules.items() if n != name}
        return Assembly(rest, (c for c in self.connections if name not in (c.a.module, c.b.module)), self.name)

    def connect(self, a: str | PortRef, b: str | PortRef, roll: float = 0.0) -> "Assembly":
        """With two free ports of modules that are already there docked: this closes a loop."""
        connection = docking(a, b, roll)
        if connection.a.module == connection.b.module:
            raise MatingError(f"{connection}: a module cannot dock to itself")
        _require_mating(connection, self._free_port(connection.a), self._free_port(connection.b))
        return Assembly(self.modules, (*self.connections, connection), self.name)

    def disconnect(self, a: str | PortRef) -> "Assembly":
        """Without the connection at port `a`; what is left must hang together."""
        port = PortRef.parse(a)
        if port not in self.occupied:
            raise AssemblyError(f"nothing is docked at {port}: {choices(str(port), map(str, self.occupied))}")
        return Assembly(self.modules, (c for c in self.connections if port not in (c.a, c.b)), self.name)

    def joined(self, other: "Assembly", a: str | PortRef, b: str | PortRef, roll: float = 0.0) -> "Assembly":
        """Both, docked: port `a` is here, port `b` in the other."""
        both = sorted(self.modules.keys() & other.modules.keys())
        if both:
            raise AssemblyError(f"modules {', '.join(both)} are in both organisms: rename them first, with `renamed`")
        connection = docking(a, b, roll)
        _require_mating(connection, self._free_port(connection.a), other._free_port(connection.b))
        modules, connections = {**self.modules, **other.modules}, (*self.connections, *other.connections, connection)
        return Assembly(modules, connections, self.name)

    def parted(self, a: str | PortRef) -> tuple["Assembly", "Assembly"]:
        """The two pieces that opening the connection at port `a` leaves, that of `a` first."""
        port = PortRef.parse(a)
        if port not in self.occupied:
            raise AssemblyError(f"nothing is docked at {port}: {choices(str(port), map(str, self.occupied))}")
        rest = [c for c in self.connections if port not in (c.a, c.b)]
        mine, reached = {port.module}, [port.module]
        while reached:
            here = reached.pop()
            beside = {n for c in rest for n in (c.a.module, c.b.module) if here in (c.a.module, c.b.module)}
            reached += beside - mine
            mine |= beside
        if len(mine) == len(self.modules):
            raise AssemblyError(f"{port} is in a loop: opening it leaves one piece; use `disconnect`")
        pieces = (mine, self.modules.keys() - mine)
        first, second = (
            Assembly(
                {n: m for n, m in self.modules.items() if n in piece},
                (c for c in rest if c.a.module in piece),
                self.name,
            )
            for piece in pieces
        )
        return first, second

    def rerooted(self, base: str) -> "Assembly":
        """The same robot with `base` as its first module and the others in walking order from it."""
        order = self.traversal(base).order
        return Assembly({n: self.modules[n] for n in order}, self.connections, self.name)

    def renamed(self, names: Mapping[str, str]) -> "Assembly":
        """The same robot with modules renamed."""
        for name in names:
            self._require_module(name)
        modules: dict[str, Module] = {}
        for name, module in self.modules.items():
            modules[_new_name(names.get(name, name), modules)] = module

        def end(p: PortRef) -> PortRef:
            return PortRef(names.get(p.module, p.module), p.port)

        return Assembly(modules, (Connection(end(c.a), end(c.b), c.roll) for c in self.connections), self.name)

    def with_parameters(self, modules: Mapping[str, Parameters] | None = None, **common: Scalar) -> "Assembly":
        """The same robot with parameters changed: `common` for every module whose type has them, then those of single modules."""
        for name in modules or {}:
            self._require_module(name)
        changed = {}
        for name, module in self.modules.items():
            shared = {k: v for k, v in common.items() if k in module.parameters}
            changed[name] = module.type.module({**module.changed, **shared, **(modules or {}).get(name, {})})
        for parameter in common:
            if not any(parameter in m.parameters for m in self.modules.values()):
                valid = dict.fromkeys(p for m in self.modules.values() for p in m.parameters)
                raise InputError(f"no module has a parameter {parameter!r}: {choices(parameter, valid)}")
        return Assembly(changed, self.connections, self.name)

    def on_virtual_joints(self, freedoms: str = "xyzXYZ", base: str | None = None) -> "Assembly":
        """The same robot with its base set on a chain of virtual joints: x, y, z slide along an axis, X, Y, Z turn about it.

        The first, v0, is the new base. "xyZ" makes a planar robot, the default a free one, with coordinates in place of a
        quaternion.
        """
        base = next(iter(self.modules)) if base is None else base
        self._require_module(base)
        unknown = [f for f in freedoms if f not in "xyzXYZ"]
        if unknown or not freedoms:
            raise InputError(f"freedoms {freedoms!r}: expected letters of x, y, z (slide) and X, Y, Z (turn)")
        modules, connections = {}, []
        for i, letter in enumerate(freedoms):
            axis = {f"a{a}": float(a == letter.lower()) for a in "xyz"}
            kind = "prismatic" if letter.islower() else "revolute"
            modules[_new_name(f"v{i}", self.modules)] = module_type("virtual").module({"freedom": kind, **axis})
            into = PortRef(base, "7") if i + 1 == len(freedoms) else PortRef(f"v{i + 1}", "in")
            connections.append(Connection(PortRef(f"v{i}", "out"), into))
        return Assembly({**modules, **self.modules}, (*connections, *self.connections), self.name)

    # ---- reading ----

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Row of each module in the matrices."""
        return MappingProxyType({name: i for i, name in enumerate(self.modules)})

    @cached_property
    def occupied(self) -> Mapping[PortRef, PortRef]:
        """For each docked port the port it holds."""
        both = [(c.a, c.b) for c in self.connections]
        return MappingProxyType(dict([*both, *((b, a) for a, b in both)]))

    def docked_at(self, module: str, port: str) -> PortRef | None:
        """The port docked at a port, or None."""
        return self.occupied.get(PortRef(module, port))

    @property
    def free_ports(self) -> list[PortRef]:
        """All ports that hold nothing, virtual ones left out."""
        refs = ((PortRef(n, p.name), p) for n, m in self.modules.items() for p in m.ports.values())
        return [ref for ref, port in refs if ref not in self.occupied and not port.connector.virtual]

    @cached_property
    def _neighbours(self) -> Mapping[str, list[Connection]]:
        return neighbours(tuple(self.modules), self.connections)

    def traversal(self, base: str | None = None) -> Traversal:
        """The depth-first walk from `base`, the first module by default."""
        base = next(iter(self.modules)) if base is None else base
        self._require_module(base)
        return traverse(self._neighbours, self.connections, base)

    @cached_property
    def placements(self) -> Mapping[str, Array]:
        """Pose of every module in the frame of the first, joints at zero; across loops, along the walk."""
        X = {next(iter(self.modules)): se3.IDENTITY}
        for out, into, connection in self.traversal().edges:
            ports = self.modules[out.module].ports[out.port], self.modules[into.module].ports[into.port]
            X[into.module] = read_only(X[out.module] @ mated(*ports, connection.roll))
        return MappingProxyType(X)

    def aim(self) -> Array:
        """Assembly Incidence Matrix; see `views.aim`."""
        return views.aim(self)

    def aim_table(self) -> list[list[int | str]]:
        """The AIM with types and dyad classes; see `views.aim_table`."""
        return views.aim_table(self)

    def accessibility(self, base: str | None = None) -> Array:
        """Accessibility matrix; see `views.accessibility`."""
        return views.accessibility(self, base)

    def direct_transformations(self, base: str | None = None) -> list[views.DirectTransformation]:
        """Direct Transformation List; see `views.direct_transformations`."""
        return views.direct_transformations(self, base)

    def indirect_transformations(self, base: str | None = None) -> list[views.IndirectTransformation]:
        """Indirect Transformation List; see `views.indirect_transformations`."""
        return views.indirect_transformations(self, base)

    def dyad_classes(self) -> list[str]:
        """DS, DP, DO, ... for each connection; see `views.dyad_classes`."""
        return views.dyad_classes(self)

    @cached_property
    def key(self) -> str:
        """Equal for assemblies that are the same up to module names and order."""
        return canonical.canonical_key(self)

    def isomorphism(self, other: "Assembly") -> dict[str, str] | None:
        """Which module of `other` stands for which of this one, or None if they are different robots."""
        return canonical.isomorphism(self, other)

    def mechanism(
        self,
        base: str | None = None,
        floating: bool = False,
        gravity: Any = (0.0, 0.0, -9.81),
        locked: Mapping[str, float] | Iterable[str] = (),
        keep_idle: bool = False,
    ) -> "Mechanism":
        """The robot: bodies, joints, loops. The first part of module `base` stands in the world, or floats.

        `locked` names joints (m3/hinge) to hold at zero, or maps them to the coordinate to hold. Idle joints, which move
        nothing but an empty part of their own module, are locked too unless `keep_idle`.
        """
        from modurob.robot import Mechanism  # the one door from the graph to what is built on it

        return Mechanism.from_assembly(self, base, floating, gravity, locked, keep_idle)

    # ---- checks ----

    def _require_module(self, name: str) -> None:
        if name not in self.modules:
            raise UnknownNameError(f"no module {name!r}: {choices(name, self.modules)}")

    def _free_port(self, ref: PortRef) -> Port:
        self._require_module(ref.module)
        port = _port(self.modules[ref.module], ref)
        if ref in self.occupied:
            free = (str(p) for p in self.free_ports)
            raise OccupiedPortError(
                f"port {ref} already holds {self.occupied[ref]}; free: {', '.join(list(free)[:20]) or 'none'}"
            )
        return port

    def _require_room(self, newest: str | None = None) -> None:
        """An error if two modules stand in one place; docked neighbours may touch."""
        for one, two in clash.clashes(self.modules, self.placements, newest):
            if not any({c.a.module, c.b.module} == {one, two} for c in self.connections):
                raise ClashError(f"module {one!r} would stand where {two!r} stands (all joints at zero)")

    def _require_valid(self) -> None:
        if not self.modules:
            raise AssemblyError("an assembly needs at least one module")
        for name in self.modules:
            _new_name(name, ())
        taken: dict[PortRef, PortRef] = {}
        for connection in self.connections:
            ends = []
            for ref, other in ((connection.a, connection.b), (connection.b, connection.a)):
                self._require_module(ref.module)
                ends.append(_port(self.modules[ref.module], ref))
                if ref in taken:
                    raise OccupiedPortError(f"port {ref} is to hold both {taken[ref]} and {other}: a port holds one")
                taken[ref] = other
            if connection.a.module == connection.b.module:
                raise MatingError(f"{connection}: a module cannot dock to itself")
            _require_mating(connection, *ends)
        order = self.traversal().order
        if len(order) < len(self.modules):
            lost = [n for n in self.modules if n not in set(order)]
            raise DisconnectedError(f"not connected to {order[0]!r}: {', '.join(lost[:20])}")
        self._require_room()


def _new_name(name: str, taken: Iterable[str]) -> str:
    if not isinstance(name, str) or not re.fullmatch(NAME, name) or name == "world":
        raise InputError(f"module name {name!r}: expected 1 to 64 of A-Z a-z 0-9 _ . - and another word than 'world'")
    if name in taken:
        raise AssemblyError(f"there is already a module {name!r}: names must differ")
    return name


def _port(module: Module, ref: PortRef) -> Port:
    if ref.port not in module.ports:
        raise UnknownNameError(
            f"{module.type.name} {ref.module!r} has no port {ref.port!r}: {choices(ref.port, module.ports)}"
        )
    return module.ports[ref.port]


def _require_mating(connection: Connection, a: Port, b: Port) -> None:
    misfit = a.connector.misfit(b.connector, connection.roll)
    if misfit:
        raise MatingError(f"{connection.a} cannot dock to {connection.b}: {misfit}")
