"""Matrices as people type and paste them."""

import re

from modurob.assembly import Assembly
from modurob.catalogue import ModuleType
from modurob.errors import AimError
from modurob.studio.design import MOST_MODULES

LONGEST = 500_000  # characters
MOST_ROWS = 2 * MOST_MODULES  # a list of dockings has a row for each loop too


def assembly(text: str, view: str, kind: str | ModuleType, name: str) -> Assembly:
    """The robot of the text of an AIM, or of a DTL, of modules of one type unless the AIM has a type column."""
    if len(text) > LONGEST:
        raise AimError(f"a matrix of {len(text)} characters: the studio reads at most {LONGEST}")
    rows = _rows(text)
    if view == "dtl":
        rows = _incidence(rows)
    typed = bool(rows) and all(isinstance(row[-1], str) for row in rows[:-1] or rows)
    return Assembly.from_aim(rows, types=None if typed else kind, name=name)


def _rows(text: str) -> list[list[int | str]]:
    """Rows of entries: apart by spaces, commas or semicolons; brackets and row names (m0, m1:, ...) are left out."""
    lines = re.sub("[];]", "\n", text).splitlines()
    rows = []
    for line in lines:
        words = re.sub(r"[\[(),|'\"]", " ", line).split()
        if words and re.fullmatch(r"m\d+:?|dyad:?", words[0]):
            words = words[1:]
        # the names of columns
        if words and not all(re.fullmatch(r"e\d+|type", w) for w in words):
            rows.append([int(w) if re.fullmatch(r"\d{1,6}", w) else w for w in words])
        if len(rows) > MOST_ROWS:
            raise AimError(f"a matrix of more than {MOST_ROWS} rows: the studio takes at most {MOST_MODULES} modules")
    if not rows:
        raise AimError("no matrix: expected one row for each module, like '3 0' in one line and '4 2' in the next")
    widest = max(map(len, rows))
    # the row of dyad classes has no type at its end
    return [*rows[:-1], rows[-1] + [""] * (widest - len(rows[-1])) if _is_classes(rows[-1]) else rows[-1]]


def _is_classes(row: list[int | str]) -> bool:
    return all(word in ("DS", "DP", "DO", "DX", "-") for word in row)


def _incidence(rows: list[list[int | str]]) -> list[list[int | str]]:
    """The AIM of a DTL: rows (i, j, from, to)."""
    for number, row in enumerate(rows):
        if len(row) != 4 or not all(isinstance(x, int) for x in row):
            raise AimError(f"row {number} of the DTL is {row}: expected four numbers: module, module, face, face")
    largest = max(int(x) for row in rows for x in row[:2])
    if largest > len(rows):
        raise AimError(f"the DTL names module {largest}, but {len(rows)} rows reach modules 0 to {len(rows)} only")
    aim: list[list[int | str]] = [[0] * len(rows) for _ in range(largest + 1)]
    for column, (i, j, out, into) in enumerate(rows):
        aim[int(i)][column], aim[int(j)][column] = out, into
    return aim
