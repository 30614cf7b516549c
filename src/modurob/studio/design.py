"""What a user designs: an assembly and how it stands in the world. A value; every edit makes a new one."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeVar

from modurob.assembly import Connection, cells, shipped_robots
from modurob.catalogue import Module
from modurob.errors import StudioError, choices
from modurob.robot import Assembly, Mechanism, load, loads
from modurob.studio import protocol

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

    @cached_property
    def robot(self) -> Mechanism:
        """The robot of this design."""
        return self.assembly.mechanism(base=self.base, floating=self.floating, gravity=self.gravity)

    def having(self, assembly: Assembly) -> "Design":
        """The design with another assembly; a base that is gone is replaced by the first module."""
        base = self.base if self.base in assembly.modules else next(iter(assembly.modules))
        return replace(self, assembly=assembly, base=base)

    def kept(self) -> "Kept":
        """What makes the design and nothing that follows from it: small enough to keep thousands."""
        a = self.assembly
        return Kept(dict(a.modules), a.connections, a.name, self.base, self.floating, self.gravity)


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


def edited(design: Design, edit: protocol.Edit) -> Design:
    """The design after an edit, checked: its robot can be built."""
    changed = _EDITS[type(edit)](design, edit)
    if len(changed.assembly) > MOST_MODULES:
        raise StudioError(f"{len(changed.assembly)} modules: the studio takes at most {MOST_MODULES}")
    _ = changed.robot
    return changed


E = TypeVar("E", bound=protocol.Edit)
_EDITS: dict[type, Callable[[Design, protocol.Edit], Design]] = {}


def _does(kind: type[E]) -> Callable[[Callable[[Design, E], Design]], Callable[[Design, E], Design]]:
    """Register the function that does an edit."""

    def register(function: Callable[[Design, E], Design]) -> Callable[[Design, E], Design]:
        _EDITS[kind] = function  # type: ignore[assignment]
        return function

    return register


@_does(protocol.New)
def _new(design: Design, edit: protocol.New) -> Design:
    return Design.of(Assembly.single("m0", edit.kind))


@_does(protocol.Open)
def _open(design: Design, edit: protocol.Open) -> Design:
    return Design.of(loads(edit.text, "the text"))


@_does(protocol.OpenShipped)
def _open_shipped(design: Design, edit: protocol.OpenShipped) -> Design:
    if edit.name not in shipped_robots():
        raise StudioError(f"no shipped robot {edit.name!r}: {choices(edit.name, shipped_robots())}")
    # the machines of document 000 hang along y
    hangs = edit.name in ("crane", "double_pendulum")
    opened = Design.of(load(edit.name))
    return replace(opened, gravity=(0.0, 9.81, 0.0)) if hangs else opened


@_does(protocol.ReadMatrix)
def _read_matrix(design: Design, edit: protocol.ReadMatrix) -> Design:
    read = Assembly.from_aim if edit.view == "aim" else Assembly.from_direct_transformations
    return Design.of(read(edit.text, types=edit.kind, name=design.assembly.name))


@_does(protocol.Rename)
def _rename(design: Design, edit: protocol.Rename) -> Design:
    a = design.assembly
    return design.having(Assembly(a.modules, a.connections, edit.name))


@_does(protocol.Dock)
def _dock(design: Design, edit: protocol.Dock) -> Design:
    a = design.assembly
    return design.having(a.dock(next(a.new_names()), edit.kind, edit.at, edit.by, edit.roll))


@_does(protocol.Connect)
def _connect(design: Design, edit: protocol.Connect) -> Design:
    return design.having(design.assembly.connect(edit.a, edit.b, edit.roll))


@_does(protocol.Disconnect)
def _disconnect(design: Design, edit: protocol.Disconnect) -> Design:
    return design.having(design.assembly.disconnect(edit.port))


@_does(protocol.Undock)
def _undock(design: Design, edit: protocol.Undock) -> Design:
    a = design.assembly
    if edit.branch:
        return design.having(a.without_branch(edit.module, design.base))
    return design.having(a.undock(edit.module))


@_does(protocol.Duplicate)
def _duplicate(design: Design, edit: protocol.Duplicate) -> Design:
    return design.having(design.assembly.duplicated(edit.module, edit.at, design.base))


@_does(protocol.Mirror)
def _mirror(design: Design, edit: protocol.Mirror) -> Design:
    return design.having(design.assembly.mirrored(edit.module, design.base))


@_does(protocol.PlaceCell)
def _place_cell(design: Design, edit: protocol.PlaceCell) -> Design:
    a = design.assembly
    return design.having(cells.placed(a, next(a.new_names()), edit.kind, (edit.column, edit.row)))


@_does(protocol.TurnCell)
def _turn_cell(design: Design, edit: protocol.TurnCell) -> Design:
    return design.having(cells.turned(design.assembly, (edit.column, edit.row)))


@_does(protocol.MoveCell)
def _move_cell(design: Design, edit: protocol.MoveCell) -> Design:
    return design.having(cells.moved(design.assembly, edit.module, (edit.column, edit.row)))


@_does(protocol.SetBase)
def _set_base(design: Design, edit: protocol.SetBase) -> Design:
    return replace(design, base=edit.module, floating=edit.floating)


@_does(protocol.SetGravity)
def _set_gravity(design: Design, edit: protocol.SetGravity) -> Design:
    return replace(design, gravity=edit.gravity)


@_does(protocol.SetParameter)
def _set_parameter(design: Design, edit: protocol.SetParameter) -> Design:
    a = design.assembly
    if edit.module not in a.modules:
        raise StudioError(f"no module {edit.module!r}: {choices(edit.module, a.modules)}")
    kind = a.modules[edit.module].type
    alike = [n for n, m in a.modules.items() if m.type is kind] if edit.everywhere else [edit.module]
    return design.having(a.with_parameters({name: {edit.name: edit.value} for name in alike}))
