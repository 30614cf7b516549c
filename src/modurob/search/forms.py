"""One representative of all assemblies that are the same robot: the tree in its smallest form, so that equal robots
give equal bits.
"""

import hashlib
from functools import lru_cache
from typing import Any

from modurob.assembly import Connection, PortRef
from modurob.errors import AssemblyError
from modurob.robot import Assembly
from modurob.search.symmetries import Symmetry, docking_ports, symmetries

FREE: tuple = ()  # what stands at a port that holds nothing
Form = tuple  # (module key, port it is docked by, roll, forms at its ports)


def form(assembly: Assembly) -> Form:
    """The least form of a tree over its centroids and the symmetries of its modules; equal for robots that are congruent."""
    return _Forms(assembly).whole()


def key(assembly: Assembly) -> str:
    """Equal for two trees exactly if they are one robot up to a rigid motion (32 hexadecimal digits)."""
    return hashlib.sha256(repr(form(assembly)).encode()).hexdigest()[:32]


def standard(assembly: Assembly) -> Assembly:
    """The assembly in its least form: modules m0, m1, ... depth first from the centroid, docked as the form says."""
    kinds = {module.key: module for module in assembly.modules.values()}
    least = form(assembly)
    modules, connections = {"m0": kinds[least[0]]}, []

    def hang(name: str, found: Form) -> None:
        for p, child in zip(docking_ports(kinds[found[0]]), found[3], strict=True):
            if child != FREE:
                new = f"m{len(modules)}"
                modules[new] = kinds[child[0]]
                by = docking_ports(kinds[child[0]])[child[1]].name
                connections.append(Connection(PortRef(name, p.name), PortRef(new, by), float(child[2])))
                hang(new, child)

    hang("m0", least)
    return Assembly(modules, connections, assembly.name)


class _Forms:
    """Forms of the branches of one assembly."""

    def __init__(self, assembly: Assembly):
        if len(assembly.connections) != len(assembly) - 1:
            raise AssemblyError(f"{assembly!r:.80} closes a loop: expected an assembly without loops")
        self.own = assembly
        self.branch = lru_cache(maxsize=None)(self._branch)
        self.ports = {name: docking_ports(m) for name, m in assembly.modules.items()}
        self.ends = {name: [assembly.docked_at(name, p.name) for p in ports] for name, ports in self.ports.items()}
        self.rolls = {ref: c.roll for c in assembly.connections for ref in (c.a, c.b)}

    def whole(self) -> Form:
        """The least over one or two centroids."""
        roots = self._centroids()
        halves = {roots[0]: roots[-1], roots[-1]: roots[0]} if len(roots) > 1 else {roots[0]: None}
        return min(self._rooted(name, other, g) for name, other in halves.items() for g in self._group(name))

    def _rooted(self, name: str, other: str | None, g: Symmetry) -> Form:
        """A tree as a form; in place of the port it is docked by, that towards the other half, if there is one."""
        towards = [p for p, end in enumerate(self.ends[name]) if end is not None and end.module == other]
        return self.own.modules[name].key, g.to[towards[0]] if towards else -1, 0.0, self._children(name, None, g)

    def _branch(self, name: str, by: int, roll: float) -> Form:
        """The smallest form of the branch attached to a port by port `by` of module `name`."""
        what = self.own.modules[name].key
        return min((what, g.to[by], (roll + g.turn[by]) % 360, self._children(name, by, g)) for g in self._group(name))

    def _children(self, name: str, by: int | None, g: Symmetry) -> tuple[Form, ...]:
        found: list[Form] = [FREE] * len(self.ports[name])
        for p, end in enumerate(self.ends[name]):
            if end is not None and p != by:
                index = [port.name for port in self.ports[end.module]].index(end.port)
                found[g.to[p]] = self.branch(end.module, index, (self.rolls[end] + g.turn[p]) % 360)
        return tuple(found)

    def _group(self, name: str) -> tuple[Symmetry, ...]:
        return symmetries(self.own.modules[name])

    def _centroids(self) -> list[str]:
        """The one or two modules without whom no part of more than half of the modules is left."""
        walk = self.own.traversal()
        heavy = dict.fromkeys(walk.order, 1)
        largest = dict.fromkeys(walk.order, 0)
        for edge in reversed(walk.edges):
            heavy[edge.out.module] += heavy[edge.into.module]
            largest[edge.out.module] = max(largest[edge.out.module], heavy[edge.into.module])
        n = len(heavy)
        return [name for name in heavy if 2 * max(largest[name], n - heavy[name]) <= n]


def described(assembly: Assembly) -> dict[str, Any]:
    """Numbers of an assembly that tables and niches are made of."""
    ends = [len(found) for found in assembly._neighbours.values()]
    return {
        "modules": len(assembly),
        "limbs": sum(n == 1 for n in ends),
        "joints": sum(len(m.joints) for m in assembly.modules.values()),
    }
