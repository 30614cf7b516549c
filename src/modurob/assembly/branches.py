"""Branches, a module with all modules that it carries: found, removed, copied, mirrored."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, Self

import numpy as np

from modurob.assembly.connection import Connection, PortRef, docking
from modurob.assembly.edits import Edits
from modurob.catalogue import Module, Port
from modurob.errors import AssemblyError, OccupiedPortError
from modurob.spatial import se3

# reflection in the plane of y and z, and that of port frames which keeps their z (out) and x (up)
MIRROR = np.diag([-1.0, 1.0, 1.0, 1.0])
FLIP = np.diag([1.0, -1.0, 1.0, 1.0])


class Branch(NamedTuple):
    """The modules beyond a port: the port `at` that carries them, the port `by` by which they are attached, the modules
    in traversal order.

    >>> from modurob.assembly import Assembly
    >>> print(Assembly.load("crab").branch("m4").at)
    m1/5
    """

    at: PortRef
    by: PortRef
    modules: tuple[str, ...]


class Branches(Edits):
    """What an `Assembly` does with branches. The walk starts at `base`, the first module by default."""

    def branch(self, module: str, base: str | None = None) -> Branch:
        """`module` and all modules that it carries, as seen from `base`.

        >>> from modurob.assembly import Assembly
        >>> leg = Assembly.load("crab").branch("m2")
        >>> print(leg.at, leg.by, leg.modules)
        m1/2 m2/5 ('m2', 'm3')
        """
        self._require_module(module)
        edges = self.traversal(base).edges
        entry = next((e for e in edges if e.into.module == module), None)
        if entry is None:
            raise AssemblyError(f"{module!r} is the base and hangs on nothing: choose a module that hangs on another")
        members = {module: None}
        for edge in edges:
            if edge.out.module in members:
                members[edge.into.module] = None
        return Branch(entry.out, entry.into, tuple(members))

    def without_branch(self, module: str, base: str | None = None) -> Self:
        """The assembly without `module` and all modules that it carries.

        >>> from modurob.assembly import Assembly
        >>> list(Assembly.load("crab").without_branch("m2").modules)
        ['m0', 'm1', 'm4', 'm5']
        """
        gone = set(self.branch(module, base).modules)
        return self._part(n for n in self.modules if n not in gone)

    def duplicated(self, module: str, at: str | PortRef, base: str | None = None) -> Self:
        """The assembly with a copy of a branch docked at the free port `at`, by the port that attaches the original;
        the copies get new names.

        >>> from modurob.assembly import Assembly
        >>> print(*Assembly.load("crab").duplicated("m4", at="m3/3").connections[5:], sep=", ")
        m3/3 - m6/2, m6/3 - m7/5
        """
        found = self.branch(module, base)
        return self._grafted(found.modules, docking(at, found.by), lambda connection: connection)

    def mirrored(self, module: str, base: str | None = None) -> Self:
        """The assembly with the mirror image of a branch on the other side of the module that carries it: x and -x of
        each module are exchanged.

        >>> from modurob.assembly import Assembly
        >>> half = Assembly.load("crab").without_branch("m4")
        >>> half.mirrored("m2").key == Assembly.load("crab").key
        True
        """
        found = self.branch(module, base)
        image = Mirrored(self)
        own = next(c for c in self.connections if found.at in (c.a, c.b))
        seen = image.connection(own)
        at, by = (seen.a, seen.b) if own.a == found.at else (seen.b, seen.a)
        if at == found.at:
            raise AssemblyError(f"the mirror image of {at} is {at} itself: choose a branch that hangs to one side")
        return self._grafted(found.modules, Connection(at, by, seen.roll), image.connection)

    def _grafted(self, members: Iterable[str], graft: Connection, image: Callable[[Connection], Connection]) -> Self:
        """With copies of the members, connected as the images of their connections, docked as `graft` says of the originals."""
        if graft.a in self.occupied:
            raise OccupiedPortError(f"port {graft.a} already holds {self.occupied[graft.a]}: choose a free port")
        copy = dict(zip(members, self.new_names(), strict=False))

        def moved(ref: PortRef) -> PortRef:
            return PortRef(copy[ref.module], ref.port)

        inside = (image(c) for c in self.connections if c.a.module in copy and c.b.module in copy)
        copies = [Connection(moved(c.a), moved(c.b), c.roll) for c in inside]
        modules = {**self.modules, **{copy[n]: self.modules[n] for n in copy}}
        return self._with(modules, [*self.connections, Connection(graft.a, moved(graft.b), graft.roll), *copies])


class Mirrored:
    """The images of ports when left and right (x and -x of each module) are exchanged.

    A mirrored port frame M X F is the frame X' of another port, turned by some angle: rolls change sign, plus these
    angles.
    """

    def __init__(self, assembly: Edits):
        self._modules = assembly.modules

    def connection(self, c: Connection) -> Connection:
        """The connection of the mirror images."""
        (a, turn_a), (b, turn_b) = self._image(c.a), self._image(c.b)
        return docking(PortRef(c.a.module, a.name), PortRef(c.b.module, b.name), turn_a + turn_b - c.roll)

    def _image(self, ref: PortRef) -> tuple[Port, float]:
        """The port at the mirror image of this one, and its rotation [degrees]."""
        module: Module = self._modules[ref.module]
        seen = MIRROR @ module.ports[ref.port].X @ FLIP
        for port in module.ports.values():
            X = se3.inverse(port.X) @ seen
            if port.connector == module.ports[ref.port].connector and np.allclose(X[:, 2:], np.eye(4)[:, 2:]):
                return port, round(float(np.rad2deg(np.arctan2(X[1, 0], X[0, 0]))), 9)
        raise AssemblyError(
            f"{module.type.name} {ref.module!r} has no port opposite to {ref.port!r}: it has no mirror image"
        )
