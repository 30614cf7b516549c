"""Modules and the connections between their ports, as one value: its contents and invariants."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Self

from modurob.assembly import clash
from modurob.assembly.connection import Connection, PortRef, docking, mated
from modurob.assembly.setup import Setup
from modurob.assembly.traversal import Traversal, neighbours, traverse
from modurob.caching import cached_property
from modurob.catalogue import Module, Port
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
    explained,
    listed,
)
from modurob.spatial import se3
from modurob.spatial.scalars import Array, read_only

# what readers of files, grids and matrices take
MOST_MODULES = 10_000
MOST_CONNECTIONS = 20_000


class Graph:
    """The value behind an `Assembly`: modules by name and connections, in a fixed order, and the setup.

    Equal if modules (names, types, parameters, order), connections and setup are equal; `name` and `description` are
    labels and do not count. Copies and pickles contain these and nothing that was computed from them. Methods that
    change something return a new value of the same class.
    """

    modules: Mapping[str, Module]
    connections: tuple[Connection, ...]
    name: str
    description: str
    setup: Setup

    @explained
    def __init__(
        self,
        modules: Mapping[str, Module],
        connections: Iterable[Connection | str] = (),
        name: str = "robot",
        description: str = "",
        setup: Setup = Setup(),  # noqa: B008 (a value that cannot change)
    ):
        """`modules` by name and `connections` between their ports; what does not fit together is refused."""
        if not isinstance(modules, Mapping):
            raise InputError(
                f"modules {modules!r:.80}: expected modules by name, like {{'m0': mr.module_type('backbone').module()}}"
            )
        self._fill(dict(modules), tuple(map(_connection, connections)), name, description, setup)
        self._require_valid()

    def _fill(
        self,
        modules: dict[str, Module],
        connections: tuple[Connection, ...],
        name: str,
        description: str,
        setup: Setup,
    ) -> None:
        # the first module is the base where nothing else is said: one robot, one value
        if isinstance(setup, Setup) and setup.base == next(iter(modules), None):
            setup = replace(setup, base=None)
        self.__dict__.update(
            modules=MappingProxyType(modules),
            connections=connections,
            name=name,
            description=description,
            setup=setup,
        )

    def _with(
        self,
        modules: Mapping[str, Module] | None = None,
        connections: Iterable[Connection] | None = None,
        setup: Setup | None = None,
    ) -> Self:
        """The same with other contents, of the same class; the base stays the same module if it is still there."""
        modules = self.modules if modules is None else modules
        setup = replace(self.setup, base=self.base).among(modules) if setup is None else setup
        connections = self.connections if connections is None else connections
        return type(self)(modules, connections, self.name, self.description, setup)

    # ---- a value ----

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"an Assembly cannot be changed: dock, undock and connect return a new one (tried to set {name!r})"
        )

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    @cached_property
    def _content(self) -> tuple:
        return tuple(self.modules.items()), self.connections, self.setup

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Graph) and self._content == other._content)

    def __hash__(self) -> int:
        return hash(self._content)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple:
        return type(self), (dict(self.modules), self.connections, self.name, self.description, self.setup)

    def __len__(self) -> int:
        return len(self.modules)

    # ---- lookups ----

    @property
    def base(self) -> str:
        """The module that is fixed in the world or floats: that of the setup, otherwise the first.

        >>> from modurob.assembly import Assembly
        >>> Assembly.load("crab").base
        'm0'
        """
        return next(iter(self.modules)) if self.setup.base is None else self.setup.base

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Row of each module in the matrices.

        >>> from modurob.assembly import Assembly
        >>> Assembly.load("crab").index["m3"]
        3
        """
        return MappingProxyType({name: i for i, name in enumerate(self.modules)})

    @cached_property
    def occupied(self) -> Mapping[PortRef, PortRef]:
        """For each docked port the port it is docked to.

        >>> from modurob.assembly import Assembly, PortRef
        >>> print(Assembly.load("crab").occupied[PortRef("m0", "3")])
        m1/4
        """
        both = [(c.a, c.b) for c in self.connections]
        return MappingProxyType(dict([*both, *((b, a) for a, b in both)]))

    def docked_at(self, module: str, port: str) -> PortRef | None:
        """The port docked at a port, or None.

        >>> from modurob.assembly import Assembly
        >>> crab = Assembly.load("crab")
        >>> print(crab.docked_at("m0", "3"), crab.docked_at("m0", "2"))
        m1/4 None
        """
        return self.occupied.get(PortRef(module, port))

    @property
    def free_ports(self) -> list[PortRef]:
        """All ports to which nothing is docked, without virtual ones.

        >>> from modurob.assembly import Assembly
        >>> [str(port) for port in Assembly.single("m0", "backbone").free_ports]
        ['m0/2', 'm0/3', 'm0/4', 'm0/5']
        """
        refs = ((PortRef(n, p.name), p) for n, m in self.modules.items() for p in m.ports.values())
        return [ref for ref, port in refs if ref not in self.occupied and not port.connector.virtual]

    @cached_property
    def _neighbours(self) -> Mapping[str, list[Connection]]:
        return neighbours(tuple(self.modules), self.connections)

    def traversal(self, base: str | None = None, order: str = "depth") -> Traversal:
        """The traversal of all modules from `base` (the first module by default), with `order` "depth" or "breadth"
        first.

        Gutenkunst 3.3.3 and Meister, Gutenkunst, Levi, Figure 6 traverse depth first; the latter name both (section
        III).

        >>> from modurob.assembly import Assembly
        >>> tree = Assembly.load("tree9")
        >>> tree.traversal().order
        ('m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8')
        >>> tree.traversal(order="breadth").order
        ('m0', 'm1', 'm3', 'm6', 'm2', 'm4', 'm7', 'm5', 'm8')
        """
        base = next(iter(self.modules)) if base is None else base
        self._require_module(base)
        return traverse(self._neighbours, self.connections, base, order)

    @cached_property
    def placements(self) -> Mapping[str, Array]:
        """Pose of every module in the frame of the first, joints at zero, (4, 4) each [m]; across loops, along the
        traversal.

        >>> from modurob.assembly import Assembly
        >>> Assembly.from_grid("B B").placements["m1"][:3, 3].round(3).tolist()
        [0.105, 0.0, 0.0]
        """
        X = {next(iter(self.modules)): se3.IDENTITY}
        for out, into, connection in self.traversal().edges:
            ports = self.modules[out.module].ports[out.port], self.modules[into.module].ports[into.port]
            X[into.module] = read_only(X[out.module] @ mated(*ports, connection.roll))
        return MappingProxyType(X)

    # ---- checks ----

    def _require_module(self, name: str) -> None:
        if name not in self.modules:
            raise UnknownNameError(f"no module {name!r:.80}: {choices(str(name)[:80], self.modules)}")

    def _free_port(self, ref: PortRef) -> Port:
        self._require_module(ref.module)
        port = port_of(self.modules[ref.module], ref)
        if ref in self.occupied:
            free = (str(p) for p in self.free_ports)
            raise OccupiedPortError(
                f"port {ref} already holds {self.occupied[ref]}; free: {', '.join(list(free)[:20]) or 'none'}"
            )
        return port

    def _require_room(self, newest: str | None = None) -> None:
        """An error if two modules overlap; docked neighbours may touch."""
        docked: set[frozenset[str]] = set()
        for one, two in clash.clashes(self.modules, self.placements, newest):
            docked = docked or {frozenset((c.a.module, c.b.module)) for c in self.connections}
            if {one, two} not in docked:
                raise ClashError(f"module {one!r} would stand where {two!r} stands (all joints at zero)")

    def _require_valid(self) -> None:
        _require_labels(self.name, self.description)
        if not isinstance(self.setup, Setup):
            raise InputError(f"setup {self.setup!r:.80}: expected a Setup")
        if not self.modules:
            raise AssemblyError("an assembly needs at least one module")
        for name, module in self.modules.items():
            new_name(name, ())
            if not isinstance(module, Module):
                raise InputError(f"module {name!r} is {module!r:.80}: expected one made by module_type(...).module()")
        self._require_connections()
        order = self.traversal().order
        if len(order) < len(self.modules):
            lost = [n for n in self.modules if n not in set(order)]
            raise DisconnectedError(
                f"not connected to {order[0]!r}: {', '.join(lost[:20])}: expected modules that all hang together"
            )
        self.setup.require_fits(self.modules)
        self._require_room()

    def _require_connections(self) -> None:
        taken: dict[PortRef, PortRef] = {}
        for connection in self.connections:
            ends = []
            for ref, other in ((connection.a, connection.b), (connection.b, connection.a)):
                self._require_module(ref.module)
                ends.append(port_of(self.modules[ref.module], ref))
                if ref in taken:
                    raise OccupiedPortError(f"port {ref} is to hold both {taken[ref]} and {other}: a port holds one")
                taken[ref] = other
            if connection.a.module == connection.b.module:
                raise MatingError(f"{connection}: a module cannot dock to itself: expected ports of two modules")
            require_mating(connection, *ends)


def _connection(c: Any) -> Connection:
    if isinstance(c, str):
        return Connection.parse(c)
    try:
        return docking(*c)
    except TypeError:
        raise InputError(f"connection {c!r:.80}: expected two ports and a roll, or text like m0/3 - m1/4") from None


def _require_labels(*texts: Any) -> None:
    for text in texts:
        if not isinstance(text, str) or any("\ud800" <= c <= "\udfff" for c in text):
            raise InputError(f"name or description {text!r:.80}: expected text that can be written to a file")


def new_name(name: str, taken: Iterable[str]) -> str:
    """`name`, or an error if a module cannot be called so."""
    if not isinstance(name, str) or not re.fullmatch(NAME, name) or name == "world":
        raise InputError(
            f"module name {name!r:.80}: expected 1 to 64 of A-Z a-z 0-9 _ . - and another word than 'world'"
        )
    if name in taken:
        raise AssemblyError(f"there is already a module {name!r}: expected another name; taken: {listed(taken)}")
    return name


def port_of(module: Module, ref: PortRef) -> Port:
    """The port of that name, or an error with those that are there."""
    if ref.port not in module.ports:
        raise UnknownNameError(
            f"{module.type.name} {ref.module!r} has no port {ref.port!r:.80}: {choices(str(ref.port)[:80], module.ports)}"
        )
    return module.ports[ref.port]


def require_mating(connection: Connection, a: Port, b: Port) -> None:
    """An error if the two ports do not fit."""
    misfit = a.connector.misfit(b.connector, connection.roll)
    if misfit:
        raise MatingError(f"{connection.a} cannot dock to {connection.b}: {misfit}")
