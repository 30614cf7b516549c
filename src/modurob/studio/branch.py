"""A module with all that hangs on it: removed, copied, mirrored."""

from collections.abc import Callable, Iterable, Iterator
from itertools import count

import numpy as np

from modurob.assembly import Assembly, Connection, PortRef
from modurob.catalogue import Module, Port
from modurob.errors import StudioError, UnknownNameError, choices
from modurob.spatial import se3

# reflection in the plane of y and z, and that of port frames which keeps their z (out) and x (up)
MIRROR = np.diag([-1.0, 1.0, 1.0, 1.0])
FLIP = np.diag([1.0, -1.0, 1.0, 1.0])


def new_names(assembly: Assembly) -> Iterator[str]:
    """m and the numbers above those in use."""
    used = [int(name[1:]) for name in assembly.modules if name[0] == "m" and name[1:].isdigit()]
    return (f"m{i}" for i in count(max(used, default=-1) + 1))


def branch(assembly: Assembly, module: str, base: str) -> tuple[PortRef, PortRef, list[str]]:
    """The port that `module` hangs on, the port it hangs by, and the modules of its branch, itself first."""
    if module not in assembly.modules:
        raise UnknownNameError(f"no module {module!r}: {choices(module, assembly.modules)}")
    edges = assembly.traversal(base).edges
    entry = next(((e.out, e.into) for e in edges if e.into.module == module), None)
    if entry is None:
        raise StudioError(f"{module!r} is the base and hangs on nothing: choose a module that hangs on another")
    members = [module]
    for edge in edges:
        if edge.out.module in members:
            members.append(edge.into.module)
    return *entry, members


def without(assembly: Assembly, module: str, base: str) -> Assembly:
    """Without a branch."""
    *_, members = branch(assembly, module, base)
    return _part(assembly, [n for n in assembly.modules if n not in members])


def duplicated(assembly: Assembly, module: str, at: str, base: str) -> Assembly:
    """With a copy of a branch docked at the free port `at`, by the port that the original hangs by."""
    _, into, members = branch(assembly, module, base)
    return _grafted(assembly, members, PortRef.parse(at), into, 0.0, lambda connection: connection)


def mirrored(assembly: Assembly, module: str, base: str) -> Assembly:
    """With the mirror image of a branch on the other side of the module it hangs on, left and right exchanged."""
    out, into, members = branch(assembly, module, base)
    image = Mirrored(assembly)
    at, by = image.port(out), image.port(into)
    if at == out:
        raise StudioError(f"the mirror image of {out} is {out} itself: choose a branch that hangs to one side")
    connection = next(c for c in assembly.connections if out in (c.a, c.b))
    return _grafted(assembly, members, at, by, image.connection(connection).roll, image.connection)


class Mirrored:
    """Where ports go when left and right (x and -x of each module) are exchanged.

    A mirrored port frame M X F is the frame X' of another port, turned by some angle: so rolls change sign, plus those angles.
    """

    def __init__(self, assembly: Assembly):
        self._modules = assembly.modules

    def port(self, ref: PortRef) -> PortRef:
        """The port that stands where this one is seen in the mirror."""
        return PortRef(ref.module, self._image(ref)[0].name)

    def connection(self, c: Connection) -> Connection:
        """The connection of the mirror images."""
        (a, turn_a), (b, turn_b) = self._image(c.a), self._image(c.b)
        return Connection(PortRef(c.a.module, a.name), PortRef(c.b.module, b.name), (turn_a + turn_b - c.roll) % 360)

    def _image(self, ref: PortRef) -> tuple[Port, float]:
        module: Module = self._modules[ref.module]
        seen = MIRROR @ module.ports[ref.port].X @ FLIP
        for port in module.ports.values():
            X = se3.inverse(port.X) @ seen
            if port.connector == module.ports[ref.port].connector and np.allclose(X[:, 2:], np.eye(4)[:, 2:]):
                return port, round(float(np.rad2deg(np.arctan2(X[1, 0], X[0, 0]))), 9)
        raise StudioError(
            f"{module.type.name} {ref.module!r} has no port opposite to {ref.port!r}: it has no mirror image"
        )


def _part(assembly: Assembly, names: Iterable[str]) -> Assembly:
    """Some modules and the connections between them."""
    kept = set(names)
    inside = [c for c in assembly.connections if {c.a.module, c.b.module} <= kept]
    return Assembly({n: m for n, m in assembly.modules.items() if n in kept}, inside, assembly.name)


def _grafted(
    assembly: Assembly,
    members: list[str],
    at: PortRef,
    by: PortRef,
    roll: float,
    image: Callable[[Connection], Connection],
) -> Assembly:
    """With copies of the members, connected as the images of their connections, docked at `at` by the copy of `by`."""
    if at in assembly.occupied:
        raise StudioError(f"port {at} already holds {assembly.occupied[at]}: choose a free port")
    copy = dict(zip(members, new_names(assembly), strict=False))

    def moved(ref: PortRef) -> PortRef:
        return PortRef(copy[ref.module], ref.port)

    inside = (image(c) for c in assembly.connections if {c.a.module, c.b.module} <= set(members))
    return Assembly(
        {**assembly.modules, **{copy[n]: assembly.modules[n] for n in members}},
        [
            *assembly.connections,
            Connection(at, moved(by), roll),
            *(Connection(moved(c.a), moved(c.b), c.roll) for c in inside),
        ],
        assembly.name,
    )
