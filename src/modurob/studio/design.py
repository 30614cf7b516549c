"""What a user designs: an assembly, which says how it stands in the world too. A value; every edit makes a new one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from modurob.assembly import Connection, Setup
from modurob.caching import cached_property
from modurob.catalogue import Module, ModuleType, library
from modurob.robot import Assembly, Mechanism
from modurob.studio.imported import Imported

MOST_MODULES = 1000


@dataclass(frozen=True)
class Design:
    """A robot of modules: its base, whether it floats, and gravity are those of the assembly's setup."""

    assembly: Assembly

    @property
    def name(self) -> str:
        return self.assembly.name

    @property
    def base(self) -> str:
        """The module that stands in the world or floats."""
        return self.assembly.base

    @property
    def floating(self) -> bool:
        return self.assembly.setup.floating

    @property
    def gravity(self) -> tuple[float, ...]:
        """In world axes [m/s²]."""
        return self.assembly.setup.gravity

    @property
    def notes(self) -> tuple[str, ...]:
        """What reading the robot brought up."""
        return ()

    @cached_property
    def robot(self) -> Mechanism:
        """The robot of this design."""
        return self.assembly.robot()

    @cached_property
    def own_types(self) -> Mapping[str, ModuleType]:
        """Module types of this robot that the catalogue does not have, by what the page calls them."""
        used = dict.fromkeys(m.type for m in self.assembly.modules.values())
        return {_label(kind): kind for kind in used if not _in_catalogue(kind)}

    def kind(self, module: Module) -> str:
        """What the page calls the type of a module."""
        return next((label for label, kind in self.own_types.items() if kind == module.type), module.type.name)

    def kept(self) -> "Kept":
        """What makes the design and nothing that follows from it: small enough to keep thousands."""
        a = self.assembly
        return Kept(dict(a.modules), a.connections, a.name, a.description, a.setup)


AnyDesign = Design | Imported


class Kept(NamedTuple):
    """A design in a history."""

    modules: dict[str, Module]
    connections: tuple[Connection, ...]
    name: str
    description: str
    setup: Setup

    def design(self) -> Design:
        """The design again."""
        return Design(Assembly(*self))


def _in_catalogue(kind: ModuleType) -> bool:
    return kind.name in library.names() and library.named(kind.name) == kind


def _label(kind: ModuleType) -> str:
    """The name of a type, told apart from that of another type of the catalogue."""
    return f"{kind.name} of this robot" if kind.name in library.names() else kind.name
