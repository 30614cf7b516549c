"""The matrices and lists of documents 000 and 003, read from an assembly."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from modurob.assembly.connection import PortRef, mated
from modurob.catalogue import Module
from modurob.spatial import se3
from modurob.spatial.scalars import Array

if TYPE_CHECKING:
    from modurob.assembly.assembly import Assembly

# axes closer than this [rad, m per m] count as parallel, crossing or on one line
ALIGNED = 1e-9


class DirectTransformation(NamedTuple):
    """A row of the DTL: module j hangs on module i, face `out` of i on face `into` of j."""

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


def aim(assembly: "Assembly") -> Array:
    """Assembly Incidence Matrix: rows modules, columns connections, entries the faces docked (000 3.1), integers.

    A port without a number counts from its place among the module's ports. The matrix knows faces, not rolls: a connection with a
    roll other than 0 reads back without it.
    """
    matrix = np.zeros((len(assembly.modules), len(assembly.connections)), dtype=int)
    row = assembly.index
    for column, connection in enumerate(assembly.connections):
        for end in (connection.a, connection.b):
            matrix[row[end.module], column] = _number(assembly, end)
    return matrix


def aim_table(assembly: "Assembly") -> list[list[int | str]]:
    """The AIM with its last column, the module types, and its last row, the dyad classes (003 Figure 5)."""
    letters = [m.type.specification.letter or m.type.name for m in assembly.modules.values()]
    rows: list[list[int | str]] = [[*map(int, row), letter] for row, letter in zip(aim(assembly), letters, strict=True)]
    return [*rows, [*dyad_classes(assembly), ""]]


def accessibility(assembly: "Assembly", base: str | None = None) -> Array:
    """Accessibility matrix: entry (i, j) is 1 if j hangs on i, directly or through others (000 3.2), integers."""
    n = len(assembly.modules)
    matrix = np.zeros((n, n), dtype=int)
    for i, j, *_ in direct_transformations(assembly, base):
        # whatever reaches i reaches j
        matrix[:, j] = matrix[:, i]
        matrix[i, j] = 1
    return matrix


def direct_transformations(assembly: "Assembly", base: str | None = None) -> list[DirectTransformation]:
    """Direct Transformation List: one row (i, j, from, to) for each connection of the tree, in walking order (000 Figure 3.5)."""
    row = assembly.index
    return [
        DirectTransformation(row[e.out.module], row[e.into.module], _label(assembly, e.out), _label(assembly, e.into))
        for e in assembly.traversal(base).edges
    ]


def indirect_transformations(assembly: "Assembly", base: str | None = None) -> list[IndirectTransformation]:
    """Indirect Transformation List: one row for every pair on one path that is not a neighbour pair.

    T_ij = T_ix T_xj with x the module that j hangs on; rows are in an order in which each needs only rows above it.
    """
    rows: list[IndirectTransformation] = []
    above: dict[int, list[int]] = {}
    for x, j, *_ in direct_transformations(assembly, base):
        above[j] = sorted([*above.get(x, []), x])
        rows.extend(IndirectTransformation(i, j, i, x, x, j) for i in above.get(x, []))
    return rows


def dyad_classes(assembly: "Assembly") -> list[str]:
    """For each connection how the hinge axes of its modules lie, from geometry (003 Table II).

    DS on one line, DP parallel, DO orthogonal, DX otherwise; - where one of the modules has no hinge.
    """
    return [_dyad_class(assembly, c.a, c.b, c.roll) for c in assembly.connections]


def _dyad_class(assembly: "Assembly", a: PortRef, b: PortRef, roll: float) -> str:
    A, B = assembly.modules[a.module], assembly.modules[b.module]
    first, second = _hinge_line(A), _hinge_line(B)
    if first is None or second is None:
        return "-"
    X_AB = mated(A.ports[a.port], B.ports[b.port], roll)
    (p1, a1), (p2, a2) = first, second
    a2 = se3.rotation(X_AB) @ a2
    apart = se3.position(X_AB) + se3.rotation(X_AB) @ p2 - p1
    if np.linalg.norm(np.cross(a1, a2)) < ALIGNED:
        return "DS" if np.linalg.norm(np.cross(a1, apart)) < ALIGNED * np.linalg.norm(apart) else "DP"
    return "DO" if abs(a1 @ a2) < ALIGNED else "DX"


def _hinge_line(module: Module) -> tuple[Array, Array] | None:
    """A point on and the direction of the axis of the module's first revolute joint."""
    for joint in module.joints.values():
        if joint.type.kind == "revolute":
            return joint.origin, np.array(joint.type.axis)  # type: ignore[attr-defined]
    return None


def _label(assembly: "Assembly", end: PortRef) -> int | str:
    number = assembly.modules[end.module].ports[end.port].number
    return end.port if number is None else number


def _number(assembly: "Assembly", end: PortRef) -> int:
    ports = assembly.modules[end.module].ports
    number = ports[end.port].number
    return list(ports).index(end.port) + 1 if number is None else number
