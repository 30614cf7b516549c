"""Planar robots as text: the first row is the furthest in y, B is a Backbone, S90 a Scout turned by 90 degrees, . nothing."""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from modurob.assembly.cells import Cell, Placed, docked, plane
from modurob.assembly.connection import Connection
from modurob.assembly.graph import MOST_MODULES, Graph
from modurob.catalogue import Module, library
from modurob.catalogue.expression import Scalar
from modurob.errors import AssemblyError, InputError, UnknownNameError

LONGEST_TEXT = 1_000_000
_CELL = re.compile(r"([A-Z]{1,2})(0|90|180|270)?")


def read(
    cells: str | Sequence[Sequence[str | None]], parameters: Mapping[str, Scalar] | None
) -> tuple[dict[str, Module], list[Connection]]:
    """Modules m0, m1, ... row by row, and a connection wherever two neighbours have ports that face each other."""
    modules: dict[str, Module] = {}
    placed: dict[Cell, Placed] = {}
    by_letter = cache(lambda letter: library.by_letter(letter).module(parameters))
    filled = [
        (r, c, cell) for r, row in enumerate(_rows(cells)) for c, cell in enumerate(row) if cell not in (None, "", ".")
    ]
    if len(filled) > MOST_MODULES:
        raise InputError(f"{len(filled)} modules in a grid: expected at most {MOST_MODULES}")
    for r, c, cell in filled:
        found = _CELL.fullmatch(str(cell)) if len(str(cell)) < 6 else None
        if not found:
            raise InputError(
                f"cell {cell!r:.80} in row {r}, column {c}: expected a type letter with 0, 90, 180 or 270, like B or S90; or ."
            )
        name = f"m{len(modules)}"
        try:
            modules[name] = by_letter(found[1])
        except UnknownNameError as error:
            raise UnknownNameError(f"cell {cell!r} in row {r}, column {c}: {error}") from None
        placed[c, -r] = Placed(name, (c, -r), int(found[2] or 0) // 90)
    return modules, docked(modules, placed)


def _rows(cells: str | Sequence[Sequence[str | None]]) -> Sequence[Sequence[str | None]]:
    if not isinstance(cells, str):
        try:
            return [list(row) for row in cells]
        except TypeError:
            raise InputError(f"cells {cells!r:.80}: expected text, or rows of cells like B, S90 and .") from None
    if len(cells) > LONGEST_TEXT:
        raise InputError(f"a grid of {len(cells)} characters: expected at most {LONGEST_TEXT}")
    return [line.split() for line in cells.strip().splitlines()]


def written(assembly: Graph) -> str:
    """The cells of a planar robot as text; `read` makes the same robot of it, modules row by row, at default parameters."""
    where = plane(assembly).at
    for c in docked(assembly.modules, where):
        if assembly.occupied.get(c.a) != c.b:
            raise AssemblyError(f"{c.a} and {c.b} look at each other but are not docked: in a grid they would be")
    columns, rows = zip(*where, strict=True)
    lines = []
    for row in range(max(rows), min(rows) - 1, -1):
        line = [_symbol(assembly, where.get((column, row))) for column in range(min(columns), max(columns) + 1)]
        lines.append(line)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(" ".join(s.ljust(w) for s, w in zip(line, widths, strict=True)).rstrip() for line in lines)


def _symbol(assembly: Graph, placed: Placed | None) -> str:
    if placed is None:
        return "."
    kind = assembly.modules[placed.name].type
    if kind.specification.letter is None:
        raise AssemblyError(f"{placed.name} is a {kind.name}, which has no letter: it cannot be written in a grid")
    return kind.specification.letter + (str(90 * placed.quarters) if placed.quarters else "")
