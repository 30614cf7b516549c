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
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from modurob.assembly import virtual
from modurob.assembly.graph import MOST_CONNECTIONS, MOST_MODULES
from modurob.catalogue.expression import Scalar, shown
from modurob.errors import AimError

CLASSES = ("DS", "DP", "DO", "DX")
BLANK = ("", "-", "0", 0)

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
    """Whether a row contains classes or joint types in place of faces; the last entry, below the types, does not count."""
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
