"""An Assembly Incidence Matrix turned into modules and connections."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from modurob.assembly.connection import Connection, PortRef
from modurob.catalogue import Module, ModuleType, library, module_type
from modurob.catalogue.expression import Scalar
from modurob.errors import AimError, InputError, choices

VIRTUAL = 7
Types = str | ModuleType | Sequence[str | ModuleType] | None
Parameters = Mapping[str, Scalar] | Sequence[Mapping[str, Scalar]] | None


def from_aim(matrix: Any, types: Types, parameters: Parameters) -> tuple[dict[str, Module], list[Connection]]:
    """Modules m0, m1, ... and the connection of each column."""
    rows = _rows(matrix)
    rows = _without_class_row(rows)
    rows, column = _without_type_column(rows)
    aim = _integers(rows)
    kinds = _types(aim, types if column is None else column)
    modules = {
        f"m{i}": kind.module(p) for i, (kind, p) in enumerate(zip(kinds, _parameters(kinds, parameters), strict=True))
    }
    depth = _depths(aim)
    taken: set[PortRef] = set()
    connections = []
    for c, column_entries in enumerate(aim.T):
        ends = sorted(np.flatnonzero(column_entries), key=lambda i: (depth[i], i))
        if len(ends) != 2:
            raise AimError(
                f"column {c} of the AIM has {len(ends)} entries: expected two, one for each module it connects"
            )
        # of several ports with one number the nearer module docks by its last, the further by its first
        near, far = [
            _free_port(f"m{i}", modules[f"m{i}"], int(aim[i, c]), taken, last, c)
            for i, last in zip(ends, (True, False), strict=True)
        ]
        if modules[near.module].ports[near.port].connector.virtual:
            _require_virtual([near, far], modules, c)
        taken.update((near, far))
        connections.append(Connection(near, far))
    return modules, connections


def _require_virtual(refs: list[PortRef], modules: Mapping[str, Module], column: int) -> None:
    if not any(modules[r.module].type.name == "virtual" for r in refs):
        raise AimError(
            f"column {column} of the AIM joins {refs[0].module} and {refs[1].module} by 7, but neither is of type virtual"
        )


def _rows(matrix: Any) -> list[list]:
    try:
        rows = [list(row) for row in matrix]
    except TypeError:
        rows = None
    if rows is None or isinstance(matrix, str):
        raise AimError(f"AIM {matrix!r}: expected a matrix, one row for each module")
    return rows


def _without_class_row(rows: list[list]) -> list[list]:
    """Drop a last row of dyad classes, which the geometry knows better."""
    if rows and any(isinstance(x, str) and x in ("", "-", "DS", "DP", "DO", "DX") for x in rows[-1]):
        return rows[:-1]
    return rows


def _without_type_column(rows: list[list]) -> tuple[list[list], list[ModuleType] | None]:
    if rows and all(row and isinstance(row[-1], str) and not row[-1].lstrip("-").isdigit() for row in rows):
        return [row[:-1] for row in rows], [library.by_letter(row[-1]) for row in rows]
    return rows, None


def _integers(rows: list[list]) -> np.ndarray:
    widths = {len(row) for row in rows}
    if not rows or len(widths) != 1:
        raise AimError(
            f"AIM rows have {sorted(widths) or 'no'} entries: expected rows of one length, one row for each module"
        )
    aim = np.zeros((len(rows), widths.pop()), dtype=int)
    for i, row in enumerate(rows):
        for c, entry in enumerate(row):
            try:
                number = float(entry)
            except (TypeError, ValueError):
                raise AimError(f"AIM entry {entry!r} in row {i}, column {c}: expected a face number or 0") from None
            if not number.is_integer() or not 0 <= number < 1e6:
                raise AimError(f"AIM entry {entry!r} in row {i}, column {c}: expected a whole number, a face or 0")
            aim[i, c] = int(number)
    return aim


def _types(aim: np.ndarray, types: Types) -> list[ModuleType]:
    if types is None:
        raise InputError(
            "types: expected a module type for each row, or one for all, since the matrix has no type column"
        )
    if isinstance(types, str | ModuleType):
        # a module that is only ever docked by 7 is a virtual joint
        only_virtual = [bool(row.any()) and set(row[row > 0]) == {VIRTUAL} for row in aim]
        return [module_type("virtual" if virtual else types) for virtual in only_virtual]
    if len(types) != len(aim):
        raise AimError(f"{len(types)} types for {len(aim)} rows of the AIM: expected one for each")
    return [module_type(t) for t in types]


def _parameters(kinds: list[ModuleType], parameters: Parameters) -> list[Mapping[str, Scalar]]:
    if parameters is None:
        return [{} for _ in kinds]
    if isinstance(parameters, Mapping):
        # common to all, virtual joints aside
        return [{} if kind.name == "virtual" else parameters for kind in kinds]
    if len(parameters) != len(kinds):
        raise AimError(f"{len(parameters)} sets of parameters for {len(kinds)} rows of the AIM: expected one for each")
    return list(parameters)


def _depths(aim: np.ndarray) -> np.ndarray:
    """Steps of each module from the first; modules that are not connected come last."""
    touches = (aim > 0).astype(int)
    linked = touches @ touches.T > 0
    depth = np.full(len(aim), len(aim))
    depth[0] = 0
    edge = [0]
    while edge:
        reached = [j for j in np.flatnonzero(linked[edge].any(axis=0)) if depth[j] == len(aim)]
        depth[reached] = depth[edge[0]] + 1
        edge = reached
    return depth


def _free_port(name: str, module: Module, number: int, taken: set[PortRef], last: bool, column: int) -> PortRef:
    """The free port of that number."""
    numbered = [p.name for p in module.ports.values() if p.number == number]
    if not numbered:
        valid = (str(p.number) for p in module.ports.values() if p.number is not None)
        raise AimError(
            f"column {column} of the AIM: {module.type.name} {name!r} has no face {number}: {choices(str(number), valid)}"
        )
    free = [PortRef(name, p) for p in numbered if PortRef(name, p) not in taken]
    if not free:
        raise AimError(
            f"column {column} of the AIM: face {number} of {name!r} is taken by an earlier column: a face holds one module"
        )
    return free[-1 if last else 0]
