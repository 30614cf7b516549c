"""Tables written into a document, each between two marks, by the run that found what they say."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from modurob.errors import InputError
from reproduce.check import Check


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; a first cell that is that of the row above is left empty.

    >>> print(markdown(("a", "b"), [("1", "2"), ("1", "3")]))
    | a | b |
    |---|---|
    | 1 | 2 |
    |  | 3 |
    """
    lines, above = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"], None
    for first, *others in rows:
        lines.append(f"| {' | '.join(['' if first == above else first, *others])} |")
        above = first
    return "\n".join(lines)


def check_table(checks: Iterable[Check]) -> str:
    """All lines of a run."""
    rows = [(c.figure, c.what, c.expected_text, c.found_text, c.verdict) for c in checks]
    return markdown(("figure", "what", "expected", "found", ""), rows)


def written(path: Path, name: str, table: str) -> None:
    """Write the table of that name into a document, between its marks."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    text = path.read_text(encoding="utf-8")
    if begin not in text or end not in text:
        raise InputError(f"{path}: no place for the table: expected the lines {begin!r} and {end!r}")
    before, after = text.split(begin)[0], text.split(end)[1]
    path.write_text(f"{before}{begin}\n{table}\n{end}{after}", encoding="utf-8")
