"""Modules laid out in the cells of a plane, docked to their neighbours."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from modurob.assembly.connection import Connection, PortRef
from modurob.catalogue import Module, Port, library
from modurob.catalogue.expression import Scalar
from modurob.errors import InputError
from modurob.spatial import se3
from modurob.spatial.scalars import Array

Cells = str | Sequence[Sequence[str | None]]
_CELL = re.compile(r"^([A-Z]{1,2})(0|90|180|270)?$")
_TURNS = {
    0: np.eye(3),
    90: np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]),
    180: np.diag([-1, -1, 1]),
    270: np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]]),
}


def from_grid(cells: Cells, parameters: Mapping[str, Scalar] | None) -> tuple[dict[str, Module], list[Connection]]:
    """Modules m0, m1, ... row by row, and a connection wherever two neighbours have ports that look at each other."""
    rows = [line.split() for line in cells.strip().splitlines()] if isinstance(cells, str) else cells
    modules: dict[str, Module] = {}
    placed: dict[tuple[int, int], tuple[str, Array]] = {}
    for r, row in enumerate(rows):
        for c, cell in enumerate(row):
            if cell in (None, "", "."):
                continue
            found = _CELL.match(str(cell))
            if not found:
                raise InputError(
                    f"cell {cell!r} in row {r}, column {c}: expected a type letter with 0, 90, 180 or 270, like B or S90; or ."
                )
            name = f"m{len(modules)}"
            modules[name] = library.by_letter(found[1]).module(parameters)
            placed[r, c] = name, _TURNS[int(found[2] or 0)]
    return modules, [
        connection
        for (r, c), (name, turn) in placed.items()
        for (dr, dc), towards in (((0, 1), (1, 0, 0)), ((1, 0), (0, -1, 0)))
        if (r + dr, c + dc) in placed
        for connection in _docked(modules, (name, turn), placed[r + dr, c + dc], np.array(towards))
    ]


def _docked(
    modules: Mapping[str, Module], one: tuple[str, Array], two: tuple[str, Array], towards: Array
) -> list[Connection]:
    """The connection of two neighbours, `two` standing in direction `towards` of `one`; none if a port is missing."""
    a = _looking(modules[one[0]], one[1], towards)
    b = _looking(modules[two[0]], two[1], -towards)
    if a is None or b is None or a.connector.misfit(b.connector, 0):
        return []
    return [Connection(PortRef(one[0], a.name), PortRef(two[0], b.name))]


def _looking(module: Module, turn: Array, towards: Array) -> Port | None:
    """The port of a module turned in the grid that looks in a direction."""
    for port in module.ports.values():
        if not port.connector.virtual and np.allclose(turn @ se3.rotation(port.X)[:, 2], towards):
            return port
    return None
