"""What a user designs: an assembly and how it stands in the world. A value; every edit makes a new one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from modurob.assembly import Connection
from modurob.catalogue import Module, ModuleType, library
from modurob.errors import ModurobError
from modurob.robot import Assembly, Mechanism
from modurob.studio.imported import Imported

MOST_MODULES = 1000


@dataclass(frozen=True)
class Design:
    """An assembly, the module that stands in the world or floats, and gravity in world axes [m/s²]."""

    assembly: Assembly
    base: str
    floating: bool = False
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)

    @classmethod
    def of(cls, assembly: Assembly) -> "Design":
        """An assembly with its first module in the world."""
        return cls(assembly, next(iter(assembly.modules)))

    @property
    def name(self) -> str:
        return self.assembly.name

    @property
    def notes(self) -> tuple[str, ...]:
        """What reading the robot brought up."""
        return ()

    @cached_property
    def robot(self) -> Mechanism:
        """The robot of this design."""
        return self.assembly.mechanism(base=self.base, floating=self.floating, gravity=self.gravity)

    @cached_property
    def own_types(self) -> Mapping[str, ModuleType]:
        """Module types of this robot that the catalogue does not have, by what the page calls them."""
        used = {m.type.fingerprint: m.type for m in self.assembly.modules.values()}
        return {_label(kind): kind for kind in used.values() if not _in_catalogue(kind)}

    def kind(self, module: Module) -> str:
        """What the page calls the type of a module."""
        return next((label for label, kind in self.own_types.items() if kind is module.type), module.type.name)

    def having(self, assembly: Assembly) -> "Design":
        """The design with another assembly; a base that is gone is replaced by the first module."""
        base = self.base if self.base in assembly.modules else next(iter(assembly.modules))
        return replace(self, assembly=assembly, base=base)

    def kept(self) -> "Kept":
        """What makes the design and nothing that follows from it: small enough to keep thousands."""
        a = self.assembly
        return Kept(dict(a.modules), a.connections, a.name, self.base, self.floating, self.gravity)


AnyDesign = Design | Imported


class Kept(NamedTuple):
    """A design in a history."""

    modules: dict[str, Module]
    connections: tuple[Connection, ...]
    name: str
    base: str
    floating: bool
    gravity: tuple[float, float, float]

    def design(self) -> Design:
        """The design again."""
        assembly = Assembly(self.modules, self.connections, self.name)
        return Design(assembly, self.base, self.floating, self.gravity)


def _in_catalogue(kind: ModuleType) -> bool:
    try:
        return library.module_type(kind.name).fingerprint == kind.fingerprint
    except ModurobError:
        return False


def _label(kind: ModuleType) -> str:
    """The name of a type, told apart from that of another type of the catalogue."""
    return f"{kind.name} of this robot" if kind.name in library.names() else kind.name
