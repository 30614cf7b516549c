"""Short tables for notebooks: HTML, and an array for LaTeX."""

from collections.abc import Iterable, Sequence
from html import escape

# rows that are shown; those beyond are counted
MOST_SHOWN = 50
_SPECIAL = {
    "\\": r"\backslash ",
    "{": r"\{",
    "}": r"\}",
    "_": r"\_",
    "^": r"\^{}",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "$": r"\$",
}
_SPECIAL |= {"~": r"\sim ", "°": r"^\circ", "²": "^2", "³": "^3", "–": "--", "…": r"\dots "}


def html(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]], most: int = MOST_SHOWN) -> str:
    """A table with a caption above it; of more than `most` rows the first ones, and how many there are.

    >>> html("two", ["a", "b"], [(1, "<")])
    '<table><caption>two</caption><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>&lt;</td></tr></table>'
    """
    lines = [_line("th", head), *(_line("td", row) for row in shown(rows, len(head), most))]
    return f"<table><caption>{escape(caption)}</caption>{''.join(lines)}</table>"


def shown(rows: Iterable[Sequence[object]], columns: int, most: int = MOST_SHOWN) -> list[Sequence[object]]:
    """The rows to be shown.

    >>> shown([(1,), (2,), (3,)], 1, most=2)
    [(1,), (2,), ('… 3 in all',)]
    """
    rows = list(rows)
    return rows if len(rows) <= most else [*rows[:most], (f"… {len(rows)} in all", *[""] * (columns - 1))]


def latex(head: Sequence[str], rows: Iterable[Sequence[object]], most: int = MOST_SHOWN) -> str:
    r"""The same as an array for MathJax and LaTeX, without its dollars.

    >>> latex(["a", "b"], [(1, "m_0")])
    '\\begin{array}{ll}\\text{a} & \\text{b} \\\\ \\hline \\text{1} & \\text{m\\_0}\\end{array}'
    """
    lines = [" & ".join(map(text, row)) for row in shown(rows, len(head), most)]
    body = r" \\ ".join(lines)
    return rf"\begin{{array}}{{{'l' * len(head)}}}{' & '.join(map(text, head))} \\ \hline {body}\end{{array}}"


def text(x: object) -> str:
    r"""Words within a formula.

    >>> text("5 %")
    '\\text{5 \\%}'
    """
    pieces = "".join(
        f"${y}$" if (y := _SPECIAL.get(c, c)).startswith(("^", r"\s", r"\b", r"\d")) else y for c in str(x)
    )
    return rf"\text{{{pieces}}}"


def _line(tag: str, row: Sequence[object]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(str(x))}</{tag}>" for x in row) + "</tr>"
