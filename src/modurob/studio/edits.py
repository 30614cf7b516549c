"""What each edit makes of a design."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np

from modurob import catalogue
from modurob.assembly import PortRef, cells
from modurob.catalogue import ModuleType
from modurob.control.drives import floating
from modurob.errors import ClashError, SingularError, StudioError, choices
from modurob.robot import Assembly
from modurob.studio import opening, protocol
from modurob.studio.design import MOST_MODULES, AnyDesign, Design
from modurob.studio.imported import Imported

LONGEST_MATRIX = 500_000  # characters
MOST_ROWS = 2 * MOST_MODULES  # of a matrix: a list of dockings has a row for each loop too
_ROW_END = re.compile(r"[\n;\]]")
_CLASH = re.compile(r"module '(?P<one>[^']+)' would stand where '(?P<two>[^']+)' stands(?P<rest>.*)")


def edited(design: AnyDesign, edit: protocol.Edit) -> AnyDesign:
    """The design after an edit, checked: its robot can be built."""
    changed = _changed(design, edit)
    modules = len(changed.assembly) if isinstance(changed, Design) else 0
    if modules > MOST_MODULES:
        raise StudioError(f"{modules} modules: the studio takes at most {MOST_MODULES}")
    _ = changed.robot
    return changed


def _changed(design: AnyDesign, edit: protocol.Edit) -> AnyDesign:
    if isinstance(edit, protocol.Construction) and isinstance(design, Imported):
        raise StudioError(
            f"{design.name} is made of links from a {design.origin} and has no modules to dock, undock or change: "
            "pose it, simulate it, or open a robot of modules"
        )
    try:
        return _EDITS[type(edit)](design, edit)
    except ClashError as error:
        raise ClashError(_clash(str(error), design, edit)) from None


def _clash(message: str, design: AnyDesign, edit: protocol.Edit) -> str:
    """The words of a clash, without names of modules that are not there yet."""
    found = _CLASH.fullmatch(message)
    if found is None or not isinstance(design, Design) or not isinstance(edit, protocol.Construction):
        return message
    known = design.assembly.modules
    one, two = sorted((found["one"], found["two"]), key=lambda name: name in known)
    new = f"a new {edit.kind}" if isinstance(edit, protocol.Dock | protocol.PlaceCell) else "a copied module"
    if two not in known:
        return f"two of the copied modules would stand in one place{found['rest']}"
    return f"{one if one in known else new} would stand where {two} stands{found['rest']}"


D = TypeVar("D", Design, Imported, AnyDesign)
E = TypeVar("E", bound=protocol.Edit)
_EDITS: dict[type, Callable[[AnyDesign, protocol.Edit], AnyDesign]] = {}


def _does(kind: type[E]) -> Callable[[Callable[[D, E], AnyDesign]], Callable[[D, E], AnyDesign]]:
    """Register the function that does an edit."""

    def register(function: Callable[[D, E], AnyDesign]) -> Callable[[D, E], AnyDesign]:
        _EDITS[kind] = function  # type: ignore[assignment]
        return function

    return register


def _kind(design: AnyDesign, name: str) -> ModuleType:
    """A module type as the page calls it: one of the robot's own, or one of the catalogue."""
    own = design.own_types.get(name) if isinstance(design, Design) else None
    return own or catalogue.named(name)


@_does(protocol.New)
def _new(design: AnyDesign, edit: protocol.New) -> Design:
    return Design(Assembly.single("m0", _kind(design, edit.kind)))


@_does(protocol.Open)
def _open(design: AnyDesign, edit: protocol.Open) -> AnyDesign:
    return opening.opened(edit.text, edit.name)


@_does(protocol.OpenShipped)
def _open_shipped(design: AnyDesign, edit: protocol.OpenShipped) -> Design:
    if edit.name not in opening.examples():
        raise StudioError(f"no shipped robot {edit.name!r}: {choices(edit.name, opening.examples())}")
    return Design(opening.example(edit.name))


@_does(protocol.ReadMatrix)
def _read_matrix(design: AnyDesign, edit: protocol.ReadMatrix) -> Design:
    _require_short(edit.text)
    read = Assembly.from_aim if edit.view == "aim" else Assembly.from_direct_transformations
    return Design(read(edit.text, _kind(design, edit.kind), name=design.name))


def _require_short(matrix: str) -> None:
    """Refuse what would take long to read."""
    if len(matrix) > LONGEST_MATRIX:
        raise StudioError(f"a matrix of {len(matrix)} characters: the studio reads at most {LONGEST_MATRIX}")
    rows = len(_ROW_END.findall(matrix))
    if rows > MOST_ROWS:
        raise StudioError(f"a matrix of {rows} rows: the studio takes at most {MOST_MODULES} modules")


@_does(protocol.Rename)
def _rename(design: AnyDesign, edit: protocol.Rename) -> AnyDesign:
    if isinstance(design, Imported):
        return replace(design, called=edit.name)
    return Design(design.assembly.labelled(edit.name))


@_does(protocol.Dock)
def _dock(design: Design, edit: protocol.Dock) -> Design:
    a = design.assembly
    return Design(a.dock(next(a.new_names()), _kind(design, edit.kind), edit.at, edit.by, edit.roll))


@_does(protocol.Connect)
def _connect(design: Design, edit: protocol.Connect) -> Design:
    return Design(design.assembly.connect(edit.a, edit.b, edit.roll))


@_does(protocol.Disconnect)
def _disconnect(design: Design, edit: protocol.Disconnect) -> Design:
    return Design(design.assembly.disconnect(edit.port))


@_does(protocol.Undock)
def _undock(design: Design, edit: protocol.Undock) -> Design:
    a = design.assembly
    if edit.branch:
        return Design(a.without_branch(edit.module, a.base))
    return Design(a.undock(edit.module))


@_does(protocol.Duplicate)
def _duplicate(design: Design, edit: protocol.Duplicate) -> Design:
    return Design(design.assembly.duplicated(edit.module, edit.at, design.base))


@_does(protocol.Mirror)
def _mirror(design: Design, edit: protocol.Mirror) -> Design:
    return Design(design.assembly.mirrored(edit.module, design.base))


@_does(protocol.PlaceCell)
def _place_cell(design: Design, edit: protocol.PlaceCell) -> Design:
    a = design.assembly
    cell = edit.column, edit.row
    return Design(cells.placed(a, next(a.new_names()), _kind(design, edit.kind), cell))


@_does(protocol.TurnCell)
def _turn_cell(design: Design, edit: protocol.TurnCell) -> Design:
    return Design(cells.turned(design.assembly, (edit.column, edit.row)))


@_does(protocol.MoveCell)
def _move_cell(design: Design, edit: protocol.MoveCell) -> Design:
    return Design(cells.moved(design.assembly, edit.module, (edit.column, edit.row)))


@_does(protocol.SetBase)
def _set_base(design: AnyDesign, edit: protocol.SetBase) -> AnyDesign:
    if isinstance(design, Design):
        changed: AnyDesign = Design(design.assembly.with_setup(base=edit.module, floating=edit.floating))
        require_floatable(changed)
        return changed
    if edit.module != design.base:
        raise StudioError(f"{edit.module!r} cannot be the base: the links of a {design.origin} hang on {design.base!r}")
    if design.mjcf and edit.floating != design.floating:
        freejoint = "add <freejoint/> to its first body" if edit.floating else "take <freejoint/> from its first body"
        raise StudioError(f"{design.name} is a file of MuJoCo, which says itself how it stands: {freejoint} there")
    changed = replace(design, floating=edit.floating)
    require_floatable(changed)
    return changed


def require_floatable(design: AnyDesign) -> None:
    """Refuse a robot that floats, or stands on the ground, on a base whose own motion moves no inertia."""
    robot = design.robot
    names = {joint.name for joint in floating(robot)}
    free = [body for body, joint in enumerate(robot.joints, 1) if joint.name in names]
    if all(np.linalg.matrix_rank(robot.inertia[body]) == 6 for body in free):
        return
    try:
        robot.forward_dynamics(robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv))
    except SingularError:
        raise StudioError(
            f"{design.name} can neither stand on the ground nor float: its base {design.base} lacks mass or extent, so that "
            f"its motion would be undefined. Leave it Fixed, or {_instead(design)}"
        ) from None


def _instead(design: AnyDesign) -> str:
    """What else gives a base inertia."""
    modules = design.assembly.modules.items() if isinstance(design, Design) else ()
    virtual = [name for name, m in modules if m.type.name == "virtual"]
    if virtual:
        return f"undock the virtual joints that hold it in the world: {', '.join(virtual)}"
    return "give its base mass and moments of inertia"


@_does(protocol.Mount)
def _mount(design: Design, edit: protocol.Mount) -> Design:
    a = design.assembly
    free = [str(p) for p in map(partial(PortRef, a.base), a.modules[a.base].ports) if _could_be_mounted(a, p)]
    if not free:
        raise StudioError(f"base {a.base} has no free place for a virtual joint: its frame holds another module")
    name = next(a.new_names())
    axis = {f"a{letter}": float(letter == edit.axis) for letter in "xyz"}
    mounted = a.dock(name, catalogue.named("virtual"), free[0], "out")
    return Design(
        mounted.with_parameters({name: {"freedom": edit.freedom, **axis}}).with_setup(base=name, floating=False)
    )


def _could_be_mounted(a: Assembly, port: PortRef) -> bool:
    return a.modules[port.module].ports[port.port].connector.virtual and port not in a.occupied


@_does(protocol.SetGravity)
def _set_gravity(design: AnyDesign, edit: protocol.SetGravity) -> AnyDesign:
    if isinstance(design, Design):
        return Design(design.assembly.with_setup(gravity=edit.gravity))
    return replace(design, gravity=edit.gravity)


@_does(protocol.SetParameter)
def _set_parameter(design: Design, edit: protocol.SetParameter) -> Design:
    a = design.assembly
    if edit.module not in a.modules:
        raise StudioError(f"no module {edit.module!r}: {choices(edit.module, a.modules)}")
    kind = a.modules[edit.module].type
    alike = [n for n, m in a.modules.items() if m.type == kind] if edit.everywhere else [edit.module]
    return Design(a.with_parameters({name: {edit.name: edit.value} for name in alike}))
