"""The matrices and lists of Gutenkunst, chapter 3, and of Meister, Gutenkunst, Levi, section IV, read from an assembly."""

from typing import Any, NamedTuple

import numpy as np

from modurob.assembly.connection import Connection, PortRef, degrees_text, mated
from modurob.assembly.graph import Graph
from modurob.assembly.incidence import depths
from modurob.assembly.incidence_modules import joint_letters
from modurob.catalogue import Module
from modurob.errors import InputError, choices
from modurob.spatial import se3
from modurob.spatial.scalars import Array

# axes closer than this [rad, m per m] count as parallel, crossing or on one line
ALIGNED = 1e-9
LAST_ROWS = ("dyads", "joints")


class DirectTransformation(NamedTuple):
    """A row of the DTL: module i carries module j, face `into` of j docked to face `out` of i."""

    i: int
    j: int
    out: int | str
    into: int | str


class IndirectTransformation(NamedTuple):
    """A row of the IDTL: T_ij = T_ix T_xj, columns i j | i x | x j."""

    i: int
    j: int
    left_i: int
    left_x: int
    right_x: int
    right_j: int


def aim(assembly: Graph) -> Array:
    """Rows modules, columns connections, entries the numbers of the faces docked, integers."""
    matrix = np.zeros((len(assembly.modules), len(assembly.connections)), dtype=int)
    row = assembly.index
    for column, connection in enumerate(assembly.connections):
        for end in (connection.a, connection.b):
            matrix[row[end.module], column] = assembly.modules[end.module].numbered[end.port]
    return matrix


class _Column(NamedTuple):
    """A column of an AIM: its two ends, the roll beside each, and the joint module between them, if any."""

    a: PortRef
    b: PortRef
    rolls: tuple[float, float]
    joint: str | None = None


def aim_table(assembly: Graph, last_row: str) -> list[list[int | str]]:
    """The AIM with rolls and motions beside its entries, the module types as last column, and a last row."""
    if last_row not in LAST_ROWS:
        raise InputError(f"last row {last_row!r}: {choices(str(last_row), LAST_ROWS)}")
    between = _joint_modules(assembly) if last_row == "joints" else {}
    names = [n for n in assembly.modules if n not in between]
    row = {name: i for i, name in enumerate(names)}
    columns = _columns(assembly, between)
    depth = depths(len(names), [(row[c.a.module], row[c.b.module]) for c in columns])
    table: list[list[int | str]] = [[0] * len(columns) + [_type_letter(assembly.modules[n])] for n in names]
    last: list[int | str] = []
    for place, c in enumerate(columns):
        near_first = (depth[row[c.a.module]], row[c.a.module]) < (depth[row[c.b.module]], row[c.b.module])
        table[row[c.a.module]][place] = _entry(assembly, c.a, c.rolls[0], near_first)
        table[row[c.b.module]][place] = _entry(assembly, c.b, c.rolls[1], not near_first)
        last.append(_last(assembly, c, near_first, last_row))
    return [*table, [*last, ""]]


def _columns(assembly: Graph, between: dict[str, tuple[_Column, int]]) -> list[_Column]:
    """The connections, with one column for both connections of a joint module between two links."""
    columns = []
    for i, c in enumerate(assembly.connections):
        joint = next((n for n in (c.a.module, c.b.module) if n in between), None)
        if joint is None:
            columns.append(_Column(c.a, c.b, (0.0, c.roll)))
        elif between[joint][1] == i:
            columns.append(between[joint][0])
    return columns


def _joint_modules(assembly: Graph) -> dict[str, tuple[_Column, int]]:
    """The modules that are columns in Chen and Yang's matrix: joints whose two faces hold links; and their first connection."""
    at = {end: (i, c) for i, c in enumerate(assembly.connections) for end in (c.a, c.b)}
    found = {}
    for name, module in assembly.modules.items():
        faces = [PortRef(name, p.name) for p in module.ports.values() if not p.connector.virtual]
        if len(faces) == 2 and module.joints and all(face in at for face in faces):
            (i, first), (j, second) = (at[face] for face in faces)
            a, b = first.other(name), second.other(name)
            if a.module != b.module and not any(assembly.modules[e.module].joints for e in (a, b)):
                found[name] = _Column(a, b, (first.roll, second.roll), name), min(i, j)
    return found


def _last(assembly: Graph, c: _Column, near_first: bool, last_row: str) -> str:
    """The label of a column; with a minus sign for a joint module in reverse orientation."""
    if c.joint is not None:
        return ("" if near_first else "-") + _type_letter(assembly.modules[c.joint])
    if last_row == "dyads":
        return _dyad_class(assembly, Connection(c.a, c.b, c.rolls[1]))
    return next(iter(joint_letters(assembly.modules, c.a, c.b)), "-")


def _type_letter(module: Module) -> str:
    return module.type.specification.letter or module.type.name


def _entry(assembly: Graph, end: PortRef, roll: float, near: bool) -> int | str:
    """A face, with the roll of its connection, or with the motion of a virtual joint on its outgoing side."""
    module = assembly.modules[end.module]
    face = module.numbered[end.port]
    if module.type.name == "virtual" and end.port == "out":
        return _motion_text(module, face, near)
    return f"{face}@{degrees_text(roll)}" if roll else face


def _motion_text(module: Module, face: int, near: bool) -> int | str:
    """A 7 with the motion of its virtual joint; alone where that is what a reader takes it for."""
    p: Any = module.parameters
    axis, prismatic = [p["ax"], p["ay"], p["az"]], p["freedom"] == "prismatic"
    if not all(isinstance(x, int | float) for x in axis):
        raise InputError(f"a virtual joint along {axis}: expected an axis in numbers")
    if prismatic and axis == [0, 0, 1] and near:
        return face
    if sorted(axis) == [0, 0, 1]:
        letter = "xyz"[axis.index(1)]
        return f"{face}{letter if prismatic else letter.upper()}"
    twist = [*axis, 0.0, 0.0, 0.0] if prismatic else [0.0, 0.0, 0.0, *axis]
    return f"{face}({' '.join(map(repr, twist))})"


def accessibility(assembly: Graph, base: str | None, order: str) -> Array:
    """Entry (i, j) is 1 if module i carries j, directly or through others, integers."""
    n = len(assembly.modules)
    matrix = np.zeros((n, n), dtype=int)
    for i, j, *_ in direct_transformations(assembly, base, order):
        # whatever reaches i reaches j
        matrix[:, j] = matrix[:, i]
        matrix[i, j] = 1
    return matrix


def direct_transformations(assembly: Graph, base: str | None, order: str) -> list[DirectTransformation]:
    """One row (i, j, from, to) for each connection of the tree, in walking order."""
    row = assembly.index
    return [
        DirectTransformation(row[e.out.module], row[e.into.module], _label(assembly, e.out), _label(assembly, e.into))
        for e in assembly.traversal(base, order).edges
    ]


def direct_rows(assembly: Graph, base: str | None, order: str) -> list[tuple[int, int, int | str, int | str]]:
    """The DTL with numbers for all faces, and rolls and motions beside them: what is needed to make the tree again."""
    edges, row = assembly.traversal(base, order).edges, assembly.index
    pairs = [(row[e.out.module], row[e.into.module]) for e in edges]
    depth = depths(len(row), pairs)
    rows = []
    for (i, j), e in zip(pairs, edges, strict=True):
        near = (depth[i], i) < (depth[j], j)
        out, into = _entry(assembly, e.out, 0.0, near), _entry(assembly, e.into, e.connection.roll, not near)
        rows.append((i, j, out, into))
    return rows


def indirect_transformations(assembly: Graph, base: str | None, order: str) -> list[IndirectTransformation]:
    """One row for every pair on one path that are not neighbours, T_ij = T_ix T_xj with x the module that carries j."""
    rows: list[IndirectTransformation] = []
    above: dict[int, list[int]] = {}
    for x, j, *_ in direct_transformations(assembly, base, order):
        above[j] = sorted([*above.get(x, []), x])
        rows.extend(IndirectTransformation(i, j, i, x, x, j) for i in above.get(x, []))
    return rows


def dyad_classes(assembly: Graph) -> list[str]:
    """For each connection how the hinge axes of its modules lie."""
    return [_dyad_class(assembly, c) for c in assembly.connections]


def _dyad_class(assembly: Graph, c: Connection) -> str:
    A, B = assembly.modules[c.a.module], assembly.modules[c.b.module]
    first, second = _hinge_line(A), _hinge_line(B)
    if first is None or second is None:
        return "-"
    X_AB = mated(A.ports[c.a.port], B.ports[c.b.port], c.roll)
    (p1, a1), (p2, a2) = first, second
    a2 = se3.rotation(X_AB) @ a2
    apart = se3.position(X_AB) + se3.rotation(X_AB) @ p2 - p1
    a1, a2, apart = (_numbers(x) for x in (a1, a2, apart))
    if np.linalg.norm(np.cross(a1, a2)) < ALIGNED:
        return "DS" if np.linalg.norm(np.cross(a1, apart)) <= ALIGNED * np.linalg.norm(apart) else "DP"
    return "DO" if abs(a1 @ a2) < ALIGNED else "DX"


def _numbers(x: Array) -> Array:
    """Symbolic lengths at values that have nothing to do with each other, so that lines meet only if they always do."""
    if x.dtype != object:
        return x
    symbols = sorted({s for e in x for s in getattr(e, "free_symbols", ())}, key=str)
    values = {s: 1 + (0.7548776662466927 * i) % 1 for i, s in enumerate(symbols, start=1)}
    return np.array([float(e.subs(values)) if hasattr(e, "free_symbols") else float(e) for e in x])


def _hinge_line(module: Module) -> tuple[Array, Array] | None:
    """A point on and the direction of the axis of the module's first revolute joint."""
    for joint in module.joints.values():
        if joint.type.kind == "revolute":
            return joint.origin, np.array(joint.type.axis)  # type: ignore[attr-defined]
    return None


def _label(assembly: Graph, end: PortRef) -> int | str:
    number = assembly.modules[end.module].ports[end.port].number
    return end.port if number is None else number
