"""Matrices and lists as people write, type and paste them.

Entries are separated by spaces, commas or tabs, rows by new lines, semicolons or brackets; names of rows (m0, m1:, ...)
and columns (e0, e1, type, i, j, from, to) are ignored.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from modurob.assembly import views
from modurob.assembly.graph import Graph
from modurob.assembly.incidence import Entry, Incidence, read_entry, read_matrix
from modurob.assembly.views import DirectTransformation, IndirectTransformation
from modurob.errors import AimError, InputError, choices

VIEWS = ("aim", "accessibility", "dtl", "idtl")
LONGEST_TEXT = 1_000_000

_BREAK = re.compile(r"[\])][ \t]*(?:,[ \t]*)?(?=[\[(])|;")
_ROW_NAME = re.compile(r"m[0-9]{1,9}:?|dyads?:?|joints?:?")
_COLUMN_NAME = re.compile(r"e[0-9]{1,9}|type|i|j|x|from|to|=|·|\|")
# a twist in brackets belongs to the number before it
_WORD = re.compile(r"[0-9]{1,6}\([-+.eE0-9 ,\t]{1,300}\)|[^\s\[\](),|'\"]+")


def written(assembly: Graph, view: str, base: str | None, order: str) -> str:
    """A matrix or list of an assembly, entries in columns."""
    rows: Sequence[Sequence[Any]]
    match _require_view(view):
        case "aim":
            rows = views.aim_table(assembly, "dyads")
        case "accessibility":
            rows = views.accessibility(assembly, base, order).tolist()
        case "dtl":
            rows = views.direct_rows(assembly, base, order)
        case _:
            rows = views.indirect_transformations(assembly, base, order)
    words = [[str(x) for x in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*words, strict=True)]
    return "\n".join(" ".join(w.rjust(n) for w, n in zip(row, widths, strict=True)).rstrip() for row in words)


def read(text: str, view: str) -> Any:
    """What a text says: an AIM table, an accessibility matrix (n, n), or rows of a DTL or IDTL.

    >>> read("0 1 3 4", "dtl")
    [DirectTransformation(i=0, j=1, out=3, into=4)]
    """
    rows = table(text)
    match _require_view(view):
        case "aim":
            read_matrix([list(row) for row in rows])
            return rows
        case "accessibility":
            return _accessibility(rows)
        case "dtl":
            return [DirectTransformation(*row) for row in _whole(rows, 4, "DTL", "module, module, face, face", faces=2)]
        case _:
            found = [IndirectTransformation(*row) for row in _whole(rows, 6, "IDTL", "i, j, i, x, x, j")]
            for number, row in enumerate(found):
                if (row.left_i, row.left_x, row.right_j) != (row.i, row.right_x, row.j):
                    raise AimError(f"row {number} of the IDTL is {tuple(row)}: expected i, j, i, x, x, j")
            return found


def table(text: str) -> list[list[int | str]]:
    """The rows of a text, whole numbers as such."""
    if len(text) > LONGEST_TEXT:
        raise AimError(
            f"a matrix of {len(text)} characters: expected at most {LONGEST_TEXT}; larger robots go into a file"
        )
    rows = []
    for line in _BREAK.sub("\n", text).splitlines():
        words = _WORD.findall(line)
        if words and _ROW_NAME.fullmatch(words[0]):
            words = words[1:]
        if words and not all(_COLUMN_NAME.fullmatch(w) for w in words):
            rows.append([int(w) if re.fullmatch(r"[0-9]{1,6}", w) else w for w in words])
    if not rows:
        raise AimError("no matrix: expected one row for each module, like '3 0' in one line and '4 2' in the next")
    return rows


def incidence_of_rows(rows: Any) -> Incidence:
    """What a DTL says: rows (i, j, from, to), faces by number or by the name of the port."""
    found = _whole([list(row) for row in rows], 4, "DTL", "module, module, face, face", faces=2)
    if not found:
        raise AimError("a DTL without rows: expected one for each connection; a single module has none")
    largest = max(max(row[:2]) for row in found)
    if largest > len(found):
        raise AimError(f"the DTL names module {largest}, but {len(found)} rows reach modules 0 to {len(found)} only")
    return Incidence(
        [(_face(i, out, n), _face(j, into, n)) for n, (i, j, out, into) in enumerate(found)], largest + 1, None, None
    )


def _face(module: int, face: int | str, row: int) -> Entry:
    what = f"face {face!r:.80} in row {row} of the DTL"
    named = isinstance(face, str) and not face[:1].isdecimal()
    entry = Entry(module, face) if named else read_entry(face, module, what)
    if entry.face == 0:
        raise AimError(f"{what}: expected the number or the name of a port")
    return entry


def _whole(rows: Sequence[Sequence[Any]], width: int, name: str, expected: str, faces: int = 0) -> list[list]:
    """Rows of the given number of integers, the last `faces` of which may be text."""
    for number, row in enumerate(rows):
        numbers = row[: width - faces]
        if len(row) != width or not all(isinstance(x, int | np.integer) and 0 <= x < 1_000_000 for x in numbers):
            raise AimError(f"row {number} of the {name} is {row!r:.80}: expected {width} numbers: {expected}")
    return [list(row) for row in rows]


def _accessibility(rows: list[list[int | str]]) -> np.ndarray:
    n = len(rows)
    for number, row in enumerate(rows):
        if len(row) != n or any(x not in (0, 1) for x in row):
            raise AimError(f"row {number} of the accessibility matrix is {row!r:.80}: expected {n} entries, 0 or 1")
    return np.array(rows, dtype=int)


def padded(rows: list[list[int | str]]) -> list[list[int | str]]:
    """Rows of an AIM, a last row of labels filled up to the length of the others: the corner below the types is often left out."""
    widest = max(map(len, rows))
    short = len(rows[-1]) < widest and all(isinstance(x, str) for x in rows[-1])
    return [*rows[:-1], rows[-1] + [""] * (widest - len(rows[-1]))] if short else rows


def _require_view(view: str) -> str:
    if view not in VIEWS:
        raise InputError(f"view {view!r:.80}: {choices(str(view)[:80], VIEWS)}")
    return view
