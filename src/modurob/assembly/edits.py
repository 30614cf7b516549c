"""Docking, undocking and all other changes of an assembly: each gives a new value."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count, pairwise
from types import MappingProxyType
from typing import Any, Self

from modurob.assembly import virtual
from modurob.assembly.cables import Cable, together
from modurob.assembly.connection import Connection, PortRef, docking, mated
from modurob.assembly.graph import Graph, new_name, port_of, require_mating
from modurob.assembly.traversal import neighbours, traverse
from modurob.catalogue import Module, ModuleType, module_type
from modurob.catalogue.expression import Scalar
from modurob.errors import (
    AssemblyError,
    DisconnectedError,
    InputError,
    MatingError,
    UnknownNameError,
    choices,
    explained,
)
from modurob.spatial.scalars import read_only

Parameters = Mapping[str, Scalar]


class Edits(Graph):
    """The changes that an `Assembly` offers."""

    @explained
    def dock(
        self,
        name: str,
        kind: str | ModuleType,
        at: str | PortRef,
        by: str,
        roll: float = 0.0,
        parameters: Parameters | None = None,
    ) -> Self:
        """With a new module `name` docked by its port `by` at the free port `at`, turned by `roll` degrees about that port.

        `kind` is a module type, its name, or the path of its file; `parameters` are in the units of that type.

        >>> from modurob.assembly import Assembly
        >>> pair = Assembly.single("m0", "backbone").dock("m1", "scout", at="m0/3", by="4", roll=90)
        >>> print(*pair.connections)
        m0/3 - m1/4 @ 90
        """
        module = module_type(kind).module(parameters)
        connection = docking(at, PortRef(new_name(name, self.modules), str(by)), roll)
        at, into = connection.a, connection.b
        host, guest = self._free_port(at), port_of(module, into)
        require_mating(connection, host, guest)
        X = self.placements[at.module] @ mated(host, guest, connection.roll)
        docked = object.__new__(type(self))
        modules, connections = {**self.modules, name: module}, (*self.connections, connection)
        docked._fill(modules, connections, self.name, self.description, self.setup)
        # what is known of this assembly holds for the larger one
        docked.__dict__["occupied"] = MappingProxyType({**self.occupied, at: into, into: at})
        docked.__dict__["placements"] = MappingProxyType({**self.placements, name: read_only(X)})
        docked._require_room(name)
        return docked

    @explained
    def undock(self, name: str) -> Self:
        """The assembly without module `name`; the rest must remain connected.

        If the base is removed, the first module becomes the base.

        >>> from modurob.assembly import Assembly
        >>> Assembly.load("crab").undock("m5")
        Assembly('crab', 5 backbone, 4 connections)
        """
        self._require_module(name)
        if len(self.modules) == 1:
            raise DisconnectedError(f"{name!r} is the only module: an assembly needs at least one")
        try:
            return self._part(n for n in self.modules if n != name)
        except DisconnectedError as error:
            raise DisconnectedError(f"without {name!r}: {error}; undock what hangs on it first") from None

    @explained
    def connect(self, a: str | PortRef, b: str | PortRef, roll: float = 0.0) -> Self:
        """The assembly with two free ports of its modules docked: this closes a loop.

        >>> from modurob.assembly import Assembly
        >>> row = Assembly.from_aim([[3, 0, 0], [4, 3, 0], [0, 4, 3], [0, 0, 4]], types="backbone")
        >>> print(row.connect("m3/3", "m0/4").connections[-1])
        m3/3 - m0/4
        """
        connection = docking(a, b, roll)
        if connection.a.module == connection.b.module:
            raise MatingError(f"{connection}: a module cannot dock to itself: expected ports of two modules")
        require_mating(connection, self._free_port(connection.a), self._free_port(connection.b))
        return self._with(connections=(*self.connections, connection))

    @explained
    def disconnect(self, a: str | PortRef) -> Self:
        """The assembly without the connection at port `a`, which closes a loop: the rest must remain connected.

        >>> from modurob.assembly import Assembly
        >>> len(Assembly.from_grid("B B\\nB B").disconnect("m0/2").connections)
        3
        """
        port = self._docked(a)
        return self._with(connections=(c for c in self.connections if port not in (c.a, c.b)))

    @explained
    def joined(self, other: Graph, a: str | PortRef, b: str | PortRef, roll: float = 0.0) -> Self:
        """Both assemblies docked: port `a` is in this one, port `b` in the other, whose modules must have other names.
        The setup is that of this one.

        Lines of the other whose names exist already get a number: "rope 2".

        >>> from modurob.assembly import Assembly
        >>> Assembly.single("a", "backbone").joined(Assembly.single("b", "scout"), "a/3", "b/4")
        Assembly('robot', 1 backbone, 1 scout, 1 connection)
        """
        both = sorted(self.modules.keys() & other.modules.keys())
        if both:
            raise AssemblyError(f"modules {', '.join(both)} are in both organisms: rename them first, with `renamed`")
        connection = docking(a, b, roll)
        require_mating(connection, self._free_port(connection.a), other._free_port(connection.b))
        setup = replace(
            self.setup,
            base=self.base,
            coordinates={**self.setup.coordinates, **other.setup.coordinates},
            rates={**self.setup.rates, **other.setup.rates},
            lines=together(self.setup.lines, other.setup.lines),
        )
        return self._with({**self.modules, **other.modules}, (*self.connections, *other.connections, connection), setup)

    def parted(self, a: str | PortRef) -> tuple[Self, Self]:
        """The two assemblies that result from opening the connection at port `a`, that of `a` first.

        >>> from modurob.assembly import Assembly
        >>> [list(piece.modules) for piece in Assembly.load("crab").parted("m1/2")]
        [['m0', 'm1', 'm4', 'm5'], ['m2', 'm3']]
        """
        port = self._docked(a)
        opened = [c for c in self.connections if port not in (c.a, c.b)]
        mine = set(traverse(neighbours(tuple(self.modules), opened), opened, port.module).order)
        if len(mine) == len(self.modules):
            raise AssemblyError(f"{port} is in a loop: opening it leaves one piece; use `disconnect`")
        rest = self.modules.keys() - mine
        # lines over both are missed once
        return self._part(mine, rest), self._part(rest, self.modules)

    def rerooted(self, base: str, order: str = "depth") -> Self:
        """The same robot with `base` as its first module and base, and the others in traversal order.

        `order` is "depth" or "breadth" first.

        >>> from modurob.assembly import Assembly
        >>> list(Assembly.load("crab").rerooted("m3").modules)
        ['m3', 'm2', 'm1', 'm0', 'm4', 'm5']
        """
        walked = self.traversal(base, order).order
        return self._with({n: self.modules[n] for n in walked}, setup=self.setup.on(None))

    @explained
    def renamed(self, names: Mapping[str, str]) -> Self:
        """The same robot with modules renamed, `names` from old to new.

        >>> from modurob.assembly import Assembly
        >>> list(Assembly.from_grid("B B").renamed({"m1": "tail"}).modules)
        ['m0', 'tail']
        """
        for name in names:
            self._require_module(name)
        modules: dict[str, Module] = {}
        for name, module in self.modules.items():
            modules[new_name(names.get(name, name), modules)] = module

        def end(p: PortRef) -> PortRef:
            return PortRef(names.get(p.module, p.module), p.port)

        connections = (Connection(end(c.a), end(c.b), c.roll) for c in self.connections)
        return self._with(modules, connections, self.setup.renamed(names))

    def labelled(self, name: str | None = None, description: str | None = None) -> Self:
        """The same robot under another name, or with another description.

        >>> from modurob.assembly import Assembly
        >>> Assembly.load("crab").labelled("my crab").name
        'my crab'
        """
        name, description = (b if a is None else a for a, b in ((name, self.name), (description, self.description)))
        return type(self)(self.modules, self.connections, name, description, self.setup)

    def with_parameters(self, modules: Mapping[str, Parameters] | None = None, **common: Scalar) -> Self:
        """The same robot with parameters changed: `common` for every module whose type has them, then those of single modules.

        >>> from modurob.assembly import Assembly
        >>> light = Assembly.load("crab").with_parameters({"m0": {"mass": 2.0}}, mass=0.5)
        >>> [m.parameters["mass"] for m in light.modules.values()]
        [2.0, 0.5, 0.5, 0.5, 0.5, 0.5]
        """
        if not isinstance(modules or {}, Mapping):
            raise InputError(f"modules {modules!r:.60}: expected parameters by module, like {{'m0': {{'mass': 2.0}}}}")
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
        return self._with(changed)

    @explained
    def with_line(self, name: str, route: Any, law: Any) -> Self:
        """The assembly with a cable, belt or spring over ports: a list of paths like m3/2, each alone or as (path,
        mr.Pulley(...)).

        A winch names its joint by path, mr.Winch("m4/hinge", 0.02). Lines weld nothing; undocking a module removes the
        lines that pass over it, with a warning.

        >>> crab = mr.load("crab").with_line("rope", ["m0/3", "m3/3"], mr.Elastic(stiffness=100.0, rest=0.1))
        >>> list(crab.setup.lines)
        ['rope']
        """
        return self._with(setup=replace(self.setup, lines={**self.setup.lines, str(name): Cable(route, law)}))

    def without_line(self, name: str) -> Self:
        """The assembly without a line.

        >>> crab = mr.load("crab").with_line("rope", ["m0/3", "m3/3"], mr.Elastic(stiffness=100.0, rest=0.1))
        >>> crab.without_line("rope") == mr.load("crab")
        True
        """
        if name not in self.setup.lines:
            raise UnknownNameError(f"no line {name!r:.80}: {choices(str(name)[:80], self.setup.lines)}")
        lines = {n: line for n, line in self.setup.lines.items() if n != name}
        return self._with(setup=replace(self.setup, lines=lines))

    @explained
    def with_setup(
        self,
        *,
        base: str | None = None,
        floating: bool | None = None,
        gravity: Any = None,
        coordinates: Mapping[str, Any] | None = None,
        rates: Mapping[str, Any] | None = None,
        position: Any = None,
        quaternion: Any = None,
        twist: Any = None,
    ) -> Self:
        """The same robot with another setup (base, gravity, initial state); fields that are not given are kept. `Setup`
        defines each of them, with its unit.

        On another base, or on one that no longer floats, position, quaternion and twist are reset.

        >>> from modurob.assembly import Assembly
        >>> crab = Assembly.load("crab").with_setup(floating=True, position=(0, 0, 1), coordinates={"m0/hinge": 0.2})
        >>> crab.setup.coordinates["m0/hinge"], crab.setup.position
        ((0.2,), (0.0, 0.0, 1.0))
        """
        moved = (base is not None and base != self.base) or floating is False
        before = self.setup.on(self.base if base is None else base) if moved else self.setup
        given = {"floating": floating, "gravity": gravity, "coordinates": coordinates, "rates": rates}
        given |= {"position": position, "quaternion": quaternion, "twist": twist}
        return self._with(setup=replace(before, **{k: x for k, x in given.items() if x is not None}))

    def on_virtual_joints(self, motions: str = "xyzXYZ", at: str | PortRef | None = None) -> Self:
        """The same robot on a chain of virtual joints v0, v1, ...: x, y, z slide along an axis, X, Y, Z turn about it.

        `at` is the module that is attached to them by its frame (the base by default), or one of its ports, m3/2: then
        the robot stands on that face, with its normal downwards. v0 is the new base, fixed in the world. "xyZ" makes a
        planar robot, the default a free one, with coordinates in place of a quaternion (Gutenkunst 5.2).

        >>> from modurob.assembly import Assembly
        >>> list(Assembly.from_grid("B B").on_virtual_joints("xyZ").modules)
        ['v0', 'v1', 'v2', 'm0', 'm1']
        """
        port = self._virtual_port(self.base if at is None else at)
        chain = virtual.chain(motions, self._free_port(port))
        modules = {new_name(f"v{i}", self.modules): module for i, module in enumerate(chain)}
        names = list(modules)
        joints = [Connection(PortRef(a, "out"), PortRef(b, "in")) for a, b in pairwise(names)]
        last = docking(PortRef(names[-1], "out"), port, chain[-1].ports["out"].connector.rolls[0])
        setup = replace(self.setup.on(None), floating=False)
        return self._with({**modules, **self.modules}, (*joints, last, *self.connections), setup)

    def new_names(self) -> Iterator[str]:
        """Names that no module has: m and numbers above those in use.

        >>> from modurob.assembly import Assembly
        >>> next(Assembly.load("crab").new_names())
        'm6'
        """
        used = [int(name[1:]) for name in self.modules if name[0] == "m" and name[1:].isdecimal()]
        return (f"m{i}" for i in count(max(used, default=-1) + 1))

    def _part(self, names: Iterable[str], elsewhere: Collection[str] = ()) -> Self:
        """Some modules and the connections between them; others live on `elsewhere`."""
        kept = set(names)
        inside = [c for c in self.connections if c.a.module in kept and c.b.module in kept]
        setup = replace(self.setup, base=self.base).among(kept, elsewhere)
        return self._with({n: m for n, m in self.modules.items() if n in kept}, inside, setup=setup)

    def _docked(self, a: str | PortRef) -> PortRef:
        port = PortRef.parse(a)
        if port not in self.occupied:
            raise AssemblyError(f"nothing is docked at {port}: {choices(str(port), map(str, self.occupied))}")
        return port

    def _virtual_port(self, at: str | PortRef) -> PortRef:
        """The port of a reference, or the virtual port of a module."""
        if isinstance(at, PortRef) or "/" in str(at):
            return PortRef.parse(at)
        self._require_module(at)
        ports = [PortRef(at, p.name) for p in self.modules[at].ports.values() if p.connector.virtual]
        return next((p for p in ports if p not in self.occupied), ports[0])
