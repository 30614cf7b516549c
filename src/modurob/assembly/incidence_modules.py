"""What an Assembly Incidence Matrix says, turned into modules and connections."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from modurob.assembly.connection import Connection, PortRef, docking
from modurob.assembly.incidence import BLANK, CLASSES, Entry, Incidence, depths
from modurob.catalogue import Module, ModuleType, library, module_type
from modurob.catalogue.expression import Scalar
from modurob.catalogue.making import VIRTUAL
from modurob.errors import AimError, InputError, choices

KINDS = {"R": "revolute", "P": "prismatic", "H": "helical", "C": "cylindrical", "U": "universal", "S": "spherical"}

Types = str | ModuleType | Sequence[str | ModuleType] | Mapping[str, str | ModuleType] | None
Parameters = Mapping[str, Scalar] | Sequence[Mapping[str, Scalar]] | None


class Contents(NamedTuple):
    """Modules, connections, and the connection of each column, None for a joint module between two links."""

    modules: dict[str, Module]
    connections: list[Connection]
    columns: list[Connection | None]


def contents(incidence: Incidence, types: Types, parameters: Parameters) -> Contents:
    """Modules m0, m1, ... for the rows, joint modules e0, e1, ... between links, and the connections."""
    kinds = _types(incidence, types)
    modules = {f"m{i}": kind.module(p) for i, (kind, p) in enumerate(_with_parameters(incidence, kinds, parameters))}
    made = Contents(modules, [], [])
    taken: set[PortRef] = set()
    for c, (near, far) in enumerate(_directed(incidence)):
        a, b = (_port(modules, entry, place, taken, c) for entry, place in (near, far))
        taken |= {a, b}
        label = incidence.last[c] if incidence.last else ""
        joint = _joint_between(modules, a, b, label, types, c)
        if joint is None:
            _require_joint(modules, a, b, label, c)
            made.connections.append(docking(a, b, near[0].roll + far[0].roll))
            made.columns.append(made.connections[-1])
        else:
            modules[f"e{c}"], ports = joint
            first, second = (PortRef(f"e{c}", p) for p in ports)
            made.connections.extend((docking(a, first, near[0].roll), docking(second, b, far[0].roll)))
            made.columns.append(None)
    return made


def _directed(incidence: Incidence) -> Iterator[tuple[tuple[Entry, int], tuple[Entry, int]]]:
    """The ends of each column, that nearer to the first module first, and which port each uses if several have one
    number.

    The nearer module docks by its last, the further by its first. A virtual joint whose row specifies its motion has
    its outgoing side there, and its incoming side elsewhere.
    """
    depth = depths(incidence.rows, [(a.row, b.row) for a, b in incidence.columns])
    moving = {e.row for ends in incidence.columns for e in ends if e.motion is not None}
    for ends in incidence.columns:
        near, far = sorted(ends, key=lambda e: (depth[e.row], e.row))
        goes_out = [e.motion is not None if e.row in moving else e is near for e in (near, far)]
        yield (near, -1 if goes_out[0] else 0), (far, -1 if goes_out[1] else 0)


def _lookup(letter: str, types: Types) -> ModuleType:
    """A module type by letter or name, those given first."""
    if isinstance(types, Mapping) and letter in types:
        return module_type(types[letter])
    return library.by_letter(letter)


def _types(incidence: Incidence, types: Types) -> list[ModuleType]:
    if incidence.types is not None:
        known = {letter: _lookup(letter, types) for letter in dict.fromkeys(incidence.types)}
        return [known[letter] for letter in incidence.types]
    if types is None or isinstance(types, Mapping):
        raise InputError(
            f"types {types!r:.60}: expected a module type for each row, or one for all, since the matrix has no type column; "
            f"valid: {', '.join(library.names())}"
        )
    if isinstance(types, str | ModuleType):
        # a module that is only ever docked by 7 is a virtual joint
        faces: dict[int, set[int | str]] = {}
        for entry in (e for ends in incidence.columns for e in ends):
            faces.setdefault(entry.row, set()).add(entry.face)
        return [module_type("virtual" if faces.get(i) == {VIRTUAL} else types) for i in range(incidence.rows)]
    if len(types) != incidence.rows:
        raise AimError(f"{len(types)} types for {incidence.rows} rows of the AIM: expected one for each")
    return [module_type(t) for t in types]


def _with_parameters(
    incidence: Incidence, kinds: list[ModuleType], parameters: Parameters
) -> Iterator[tuple[ModuleType, Mapping[str, Scalar]]]:
    """Each row's type and parameters; a motion beside a 7 is that of the row's virtual joint."""
    if parameters is not None and not isinstance(parameters, Mapping) and len(parameters) != len(kinds):
        raise AimError(f"{len(parameters)} sets of parameters for {len(kinds)} rows of the AIM: expected one for each")
    motions: dict[int, Mapping[str, Scalar]] = {}
    for c, ends in enumerate(incidence.columns):
        for entry in ends:
            if entry.motion is None:
                continue
            if kinds[entry.row].name != "virtual" or motions.get(entry.row, entry.motion) != entry.motion:
                raise AimError(f"column {c} of the AIM gives m{entry.row} a motion: expected one, of a virtual joint")
            motions[entry.row] = entry.motion
    for i, kind in enumerate(kinds):
        if isinstance(parameters, Mapping) or parameters is None:
            # common to all, virtual joints aside
            own = {} if kind.name == "virtual" else parameters or {}
        else:
            own = parameters[i]
        yield kind, {**motions.get(i, {}), **own}


def _port(modules: Mapping[str, Module], entry: Entry, place: int, taken: set[PortRef], column: int) -> PortRef:
    """The free port of that number or name."""
    name = f"m{entry.row}"
    module = modules[name]
    numbered = [p for p, number in module.numbered.items() if entry.face in (number, p)]
    if not numbered:
        raise AimError(
            f"column {column} of the AIM: {module.type.name} {name!r} has no face {entry.face}: "
            f"{choices(str(entry.face), map(str, module.numbered.values()))}"
        )
    free = [PortRef(name, p) for p in numbered if PortRef(name, p) not in taken]
    if not free:
        raise AimError(
            f"column {column} of the AIM: face {entry.face} of {name!r} is taken by an earlier column: a face holds one module"
        )
    return free[place]


# ---- joint types ----


def _joint_between(
    modules: Mapping[str, Module], a: PortRef, b: PortRef, label: str, types: Types, column: int
) -> tuple[Module, list[str]] | None:
    """The joint module between two links, and its ports from the first link to the second."""
    if label in BLANK or label in CLASSES or any(modules[ref.module].joints for ref in (a, b)):
        return None
    kind = _lookup(label.removeprefix("-"), types)
    module = kind.module()
    ports = [p.name for p in module.ports.values() if not p.connector.virtual]
    if len(ports) != 2 or not module.joints:
        raise AimError(
            f"column {column} of the AIM says {label!r:.80}, a {kind.name}: expected a joint module, with a joint and two faces"
        )
    return module, ports[::-1] if label.startswith("-") else ports


def joint_letters(modules: Mapping[str, Module], a: PortRef, b: PortRef) -> list[str]:
    """The letters of the joint kinds of two docked modules; of a virtual joint alone if one of them is."""
    both = [modules[b.module], modules[a.module]]
    both = [m for m in both if m.type.name == "virtual"][-1:] or both
    found = [j.type.kind for m in both for j in m.joints.values()]
    return [letter for letter, kind in KINDS.items() if kind in found]


def _require_joint(modules: Mapping[str, Module], a: PortRef, b: PortRef, label: str, column: int) -> None:
    """An error if a column joins by 7 what is no virtual joint, or names a joint type that its modules do not have."""
    virtual = any(modules[ref.module].type.name == "virtual" for ref in (a, b))
    if modules[a.module].ports[a.port].connector.virtual and not virtual:
        raise AimError(
            f"column {column} of the AIM joins {a.module} and {b.module} by 7, but neither is of type virtual"
        )
    if label in BLANK or label in CLASSES:
        return
    letters = joint_letters(modules, a, b)
    kinds = [KINDS[x] for x in letters]
    if label not in letters and label not in kinds:
        found = f"{modules[a.module].type.name} {a.module} and {modules[b.module].type.name} {b.module}"
        has = f"joints of type {', '.join(f'{x} ({KINDS[x]})' for x in letters)}" if letters else "no joint"
        raise AimError(f"column {column} of the AIM says {label!r:.80}, but {found} have {has}")


def require_classes(
    last: Sequence[str], columns: Sequence[Connection | None], classes: Mapping[Connection, str]
) -> None:
    """An error if a dyad class of the last row is not that which geometry gives."""
    for c, (said, connection) in enumerate(zip(last, columns, strict=True)):
        if said in CLASSES and connection is not None and classes[connection] != said:
            found = classes[connection]
            raise AimError(f"column {c} of the AIM says {said}, but the geometry of {connection} gives {found}")
