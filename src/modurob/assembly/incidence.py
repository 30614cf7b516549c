"""An Assembly Incidence Matrix read as modules and connections.

Rows are modules, columns connections, entries the faces docked (Gutenkunst 3.1). An entry may carry more than its face:
    3@90    the roll of the connection [degrees], beside either of its two entries
    7x, 7Z  the motion of a virtual joint, in its own row where it goes out: slide along x, y, z, turn about X, Y, Z
    7(v w)  the same as a twist of six numbers, linear first (Gutenkunst 2.3.5); 7 alone slides along z
A last column gives the module types by letter or name. A last row gives dyad classes (Meister, Gutenkunst, Levi, Figure 5) or
joint types (Chen and Yang): between modules with joints of their own they must be what geometry gives; between links, which have
none, a joint type is the joint module that stands between them, -R one that stands the other way round.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from modurob.assembly import virtual
from modurob.assembly.connection import Connection, PortRef, docking
from modurob.assembly.graph import MOST_CONNECTIONS, MOST_MODULES
from modurob.catalogue import Module, ModuleType, library, module_type
from modurob.catalogue.expression import Scalar, shown
from modurob.errors import AimError, InputError, choices

VIRTUAL = 7
CLASSES = ("DS", "DP", "DO", "DX")
KINDS = {"R": "revolute", "P": "prismatic", "H": "helical", "C": "cylindrical", "U": "universal", "S": "spherical"}
BLANK = ("", "-", "0", 0)

Types = str | ModuleType | Sequence[str | ModuleType] | Mapping[str, str | ModuleType] | None
Parameters = Mapping[str, Scalar] | Sequence[Mapping[str, Scalar]] | None

_ENTRY = re.compile(r"([0-9]{1,6})(?:@(-?[0-9]+(?:\.[0-9]*)?)|([xyzXYZ])|\(([-+.eE0-9\s,]*)\))?")
LONGEST_ENTRY = 400


class Entry(NamedTuple):
    """One end of a column: the row of its module, the face (a number, or a port's name), a roll, the motion of a virtual joint."""

    row: int
    face: int | str
    roll: float = 0.0
    motion: Mapping[str, Scalar] | None = None


class Incidence(NamedTuple):
    """What a matrix says: the ends of each column, the number of rows, the types of the rows and what the last row says."""

    columns: list[tuple[Entry, Entry]]
    rows: int
    types: list[str] | None
    last: list[str] | None


class Contents(NamedTuple):
    """Modules, connections, and the connection of each column, None where a joint module stands between."""

    modules: dict[str, Module]
    connections: list[Connection]
    columns: list[Connection | None]


# ---- the matrix ----


def read_matrix(matrix: Any) -> Incidence:
    """The parts of a matrix given as rows of entries."""
    rows = _rows(matrix)
    last = [str(x) for x in rows.pop()] if len(rows) > 1 and _is_label_row(rows[-1]) else None
    types = None
    if rows and all(row and isinstance(row[-1], str) and _ENTRY.fullmatch(row[-1]) is None for row in rows):
        types = [row.pop() for row in rows]
    widths = {len(row) for row in rows}
    if not rows or len(widths) != 1:
        raise AimError(
            f"AIM rows have {sorted(widths)[:9] or 'no'} entries: expected rows of one length, one row for each module"
        )
    width = widths.pop()
    if last is not None:
        last = _labels(last, width)
    return Incidence([_column(rows, c) for c in range(width)], len(rows), types, last)


def _rows(matrix: Any) -> list[list]:
    if isinstance(matrix, np.ndarray) and matrix.ndim == 2:
        matrix = matrix.tolist()
    try:
        rows = [list(row) for row in matrix]
    except TypeError:
        raise AimError(f"AIM {matrix!r:.80}: expected a matrix, one row for each module") from None
    if len(rows) > MOST_MODULES + 1:
        raise AimError(f"an AIM of {len(rows)} rows: expected at most {MOST_MODULES} modules")
    if max(map(len, rows), default=0) > MOST_CONNECTIONS + 1:
        raise AimError(f"an AIM of {max(map(len, rows))} columns: expected at most {MOST_CONNECTIONS} connections")
    return rows


def _is_label_row(row: list) -> bool:
    """Whether a row holds classes or joint types in place of faces; the last entry, below the types, does not count."""
    words = [str(x) for x in (row[:-1] or row) if isinstance(x, str)]
    return any(_ENTRY.fullmatch(word) is None for word in words)


def _labels(last: list[str], width: int) -> list[str]:
    """One label for each column, without the corner."""
    corner = last[width:]
    if len(last) < width or len(corner) > 1 or any(x not in map(str, BLANK) for x in corner):
        raise AimError(f"the last row of the AIM has {len(last)} entries: expected {width}, one for each column")
    return last[:width]


def _column(rows: list[list], c: int) -> tuple[Entry, Entry]:
    """The two ends of a column."""
    ends = []
    for i, row in enumerate(rows):
        if type(row[c]) is int and row[c] == 0:
            continue
        entry = read_entry(row[c], i, f"AIM entry {shown(row[c])} in row {i}, column {c}")
        if entry.face != 0:
            ends.append(entry)
    if len(ends) != 2:
        raise AimError(f"column {c} of the AIM has {len(ends)} entries: expected two, one for each module it connects")
    return ends[0], ends[1]


def read_entry(x: Any, row: int, what: str) -> Entry:
    """An entry: a whole number, or text as described above."""
    text = x.strip() if isinstance(x, str) and len(x) <= LONGEST_ENTRY else None
    found = _ENTRY.fullmatch(text) if text else None
    if found:
        roll = float(found[2] or 0)
        return Entry(row, int(found[1]), roll, _motion(found[3], found[4], what))
    try:
        words = isinstance(x, str) and not x.isascii()
        number = math.nan if words or isinstance(x, bool | np.bool_) else float(x)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        raise AimError(f"{what}: expected a face number or 0") from None
    if not number.is_integer() or not 0 <= number < 1e6:
        raise AimError(f"{what}: expected a whole number, a face or 0")
    return Entry(row, int(number))


def _motion(letter: str | None, twist: str | None, what: str) -> Mapping[str, Scalar] | None:
    """Parameters of a virtual joint from its letter or twist."""
    if letter is not None:
        return virtual.parameters(letter)
    if twist is None:
        return None
    try:
        numbers = [float(word) for word in twist.replace(",", " ").split()]
    except ValueError:
        numbers = []
    linear, angular = numbers[:3], numbers[3:]
    if len(numbers) != 6 or any(linear) == any(angular) or not all(map(math.isfinite, numbers)):
        raise AimError(f"{what}: expected a twist of six numbers, a slide (v 0) or a turn (0 w)")
    axis = linear if any(linear) else angular
    return {"freedom": "prismatic" if any(linear) else "revolute", **dict(zip(("ax", "ay", "az"), axis, strict=True))}


# ---- modules and connections ----


def contents(incidence: Incidence, types: Types, parameters: Parameters) -> Contents:
    """Modules m0, m1, ... for the rows, joint modules e0, e1, ... between links, and the connections."""
    kinds = _types(incidence, types)
    modules = {f"m{i}": kind.module(p) for i, (kind, p) in enumerate(_with_parameters(incidence, kinds, parameters))}
    depth = depths(incidence.rows, [(a.row, b.row) for a, b in incidence.columns])
    moving = {e.row for ends in incidence.columns for e in ends if e.motion is not None}
    taken: set[PortRef] = set()
    connections: list[Connection] = []
    columns: list[Connection | None] = []
    for c, ends in enumerate(incidence.columns):
        near, far = sorted(ends, key=lambda e: (depth[e.row], e.row))
        a, b = (_port(modules, e, taken, _place(e, e is near, moving), c) for e in (near, far))
        taken |= {a, b}
        label = incidence.last[c] if incidence.last else ""
        joint = _joint_between(modules, a, b, label, types, c)
        if joint is None:
            _require_virtual(modules, a, b, c)
            _require_joint(modules, a, b, label, c)
            connections.append(docking(a, b, near.roll + far.roll))
            columns.append(connections[-1])
        else:
            name, module, ports = joint
            modules[name] = module
            connections += [
                docking(a, PortRef(name, ports[0]), near.roll),
                docking(PortRef(name, ports[1]), b, far.roll),
            ]
            columns.append(None)
    return Contents(modules, connections, columns)


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
            "types: expected a module type for each row, or one for all, since the matrix has no type column"
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


def depths(rows: int, columns: Sequence[tuple[int, int]]) -> list[int]:
    """Steps of each module from the first; modules that are not connected come last."""
    beside: list[list[int]] = [[] for _ in range(rows)]
    for i, j in columns:
        beside[i].append(j)
        beside[j].append(i)
    depth = [0] + [rows] * (rows - 1)
    reached = [0]
    for i in reached:
        for j in beside[i]:
            if depth[j] == rows and j:
                depth[j] = depth[i] + 1
                reached.append(j)
    return depth


def _place(entry: Entry, near: bool, moving: set[int]) -> int:
    """Which of several ports with one number: the nearer module docks by its last, the further by its first.

    A virtual joint whose row says where it moves goes out there, and in elsewhere.
    """
    goes_out = entry.motion is not None if entry.row in moving else near
    return -1 if goes_out else 0


def _port(modules: Mapping[str, Module], entry: Entry, taken: set[PortRef], place: int, column: int) -> PortRef:
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
) -> tuple[str, Module, list[str]] | None:
    """The joint module that stands between two links: its name, and its ports from the first link to the second."""
    if label in BLANK or label in CLASSES or any(modules[ref.module].joints for ref in (a, b)):
        return None
    kind = _lookup(label.removeprefix("-"), types)
    module = kind.module()
    ports = [p.name for p in module.ports.values() if not p.connector.virtual]
    if len(ports) != 2 or not module.joints:
        raise AimError(
            f"column {column} of the AIM says {label!r:.80}, a {kind.name}: expected a joint module, with a joint and two faces"
        )
    return f"e{column}", module, ports[::-1] if label.startswith("-") else ports


def joint_letters(modules: Mapping[str, Module], a: PortRef, b: PortRef) -> list[str]:
    """The letters of the joint kinds of two docked modules; of a virtual joint alone if one of them is."""
    both = [modules[b.module], modules[a.module]]
    both = [m for m in both if m.type.name == "virtual"][-1:] or both
    found = [j.type.kind for m in both for j in m.joints.values()]
    return [letter for letter, kind in KINDS.items() if kind in found]


def _require_joint(modules: Mapping[str, Module], a: PortRef, b: PortRef, label: str, column: int) -> None:
    """An error if a joint type is not that of the modules' own joints."""
    if label in BLANK or label in CLASSES:
        return
    letters = joint_letters(modules, a, b)
    kinds = [KINDS[x] for x in letters]
    if label not in letters and label not in kinds:
        found = f"{modules[a.module].type.name} {a.module} and {modules[b.module].type.name} {b.module}"
        has = f"joints of type {', '.join(f'{x} ({KINDS[x]})' for x in letters)}" if letters else "no joint"
        raise AimError(f"column {column} of the AIM says {label!r:.80}, but {found} have {has}")


def _require_virtual(modules: Mapping[str, Module], a: PortRef, b: PortRef, column: int) -> None:
    if modules[a.module].ports[a.port].connector.virtual and not any(
        modules[r.module].type.name == "virtual" for r in (a, b)
    ):
        raise AimError(
            f"column {column} of the AIM joins {a.module} and {b.module} by 7, but neither is of type virtual"
        )


def require_classes(
    incidence: Incidence, columns: Sequence[Connection | None], classes: Mapping[Connection, str]
) -> None:
    """An error if a dyad class of the last row is not that which geometry gives."""
    for c, (said, connection) in enumerate(zip(incidence.last or (), columns, strict=False)):
        if said in CLASSES and connection is not None and classes[connection] != said:
            found = classes[connection]
            raise AimError(f"column {c} of the AIM says {said}, but the geometry of {connection} gives {found}")
        if said in CLASSES and connection is None:
            raise AimError(f"column {c} of the AIM says {said}: expected a joint type between two links")
