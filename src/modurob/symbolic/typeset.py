r"""The equations on a page of LaTeX: matrices whole where they fit, else entry by entry, long sums broken at their signs.

How wide a formula is, is estimated from the widths of Computer Modern at 10 pt.
"""

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from modurob.symbolic import describe
from modurob.symbolic.factored import Product, Sum, arranged, weight
from modurob.symbolic.printing import LatexPrinter, latex_name, latex_shorthand, latex_text
from modurob.symbolic.ring import Polynomial

if TYPE_CHECKING:
    from modurob.symbolic.equations import Equations

# of the text on a page of A4 with margins of 25 mm [pt], less a little for what the estimate lacks
PAGE_WIDTH = 430.0
INDENT = 20.0  # of what continues a line: \qquad
# characters of words on a line
LONGEST_WORDS = 85
# what stands around a matrix, and between its columns [pt]
BRACKETS, COLUMN_GAP = 12.0, 10.0
# no symbol with an index is narrower [pt]
NARROWEST = 5.0
# what stands before the entries of a part in a fragment [pt]
BEFORE = 32.0

TITLES = {
    "M": "Mass matrix",
    "C": "Coriolis matrix",
    "C_two_step": "Coriolis matrix of the two-step recursion",
    "D": "Viscous friction and dampers",
    "S": "Springs",
    "N": "Gravity forces",
}
NAMES = {"M": "M", "C": "C", "C_two_step": r"C_{\text{two-step}}", "D": "D", "S": "S", "N": "N"}

_TOKEN = re.compile(
    r"\\tfrac\{(?P<top>\d+)\}\{(?P<bottom>\d+)\}|\\(?P<space>qquad|quad|,)|\\(?P<word>[A-Za-z]+)|[_^]\{(?P<script>[^{}]*)\}"
    r"|(?P<sign>[+\-])|(?P<equals>=)|(?P<letter>[A-Za-z])|(?P<digit>\d)|(?P<bracket>[()\[\]])|."
)
_SPACES = {"qquad": 20.0, "quad": 10.0, ",": 1.7}
_WORDS = {"cos": 16.5, "sin": 15.0, "times": 12.3, "cdots": 16.0, "sqrt": 8.5, "alpha": 6.5, "tau": 5.5}
_WIDE_LETTERS = {
    "m": 8.8,
    "M": 10.8,
    "l": 3.2,
    "i": 3.5,
    "w": 7.2,
    "d": 5.3,
    "g": 5.2,
    "q": 4.9,
    "I": 5.2,
    "C": 7.9,
    "N": 9.0,
}


def width(formula: str) -> float:
    """An estimate of how wide a formula is [pt], rather too large.

    >>> 60 < width(r"l_{1}^{2} \\left(m_{1} + m_{2}\\right)") < 90
    True
    """
    return sum(_token_width(token) for token in _TOKEN.finditer(formula))


def _token_width(token: re.Match[str]) -> float:
    found = token.groupdict()
    if found["top"]:
        return 4.1 * max(len(found["top"]), len(found["bottom"])) + 2.6
    if found["space"]:
        return _SPACES[found["space"]]
    if found["word"]:
        return _WORDS.get(found["word"], 0.0)
    if found["script"] is not None:
        return 4.3 * len(found["script"].replace("{", "")) + 0.6
    if found["letter"]:
        return _WIDE_LETTERS.get(found["letter"], 6.0)
    widths = {"sign": 12.3, "equals": 13.4, "digit": 5.1, "bracket": 4.8}
    return next((w for name, w in widths.items() if found[name]), 0.0)


# ---- lines of one entry ----


def lines(printer: LatexPrinter, p: Polynomial, first: float, room: float) -> list[str]:
    """A polynomial broken at its signs into lines, the first and the others at most so wide [pt]."""
    out, used = [""], 0.0
    limit = first
    for piece in _pieces(printer, arranged(p), min(first, room)):
        p.ring.budget.look()
        wide = width(piece)
        if out[-1] and used + wide > limit:
            out.append("")
            used, limit = 0.0, room
        out[-1] += (" " if out[-1] else "") + piece
        used += wide
    return out


def _pieces(printer: LatexPrinter, s: Sum, room: float) -> Iterator[str]:
    """What a line may end after: the terms, and within terms that are too wide the terms of their sums."""
    if not s.terms:
        yield "0"
    for sign, term in printer.signed(s):
        # long products are not written only to find that they are
        whole = (sign + printer.product(term)).strip() if NARROWEST * weight(Sum((term,))) < room else None
        if whole is not None and width(whole) <= room:
            yield whole
        else:
            yield from _opened(printer, sign, term, room)


def _opened(printer: LatexPrinter, sign: str, term: Product, room: float) -> Iterator[str]:
    """A product that is too wide: factor by factor, and at the signs of sums that are wide themselves."""
    wide = [f for f in term.factors if isinstance(f, Sum) and _is_wide(printer, f, room / 3)]
    narrow = [printer.factor(f) for f in term.factors if f not in wide]
    if term.coefficient != 1 or not narrow:
        narrow.insert(0, printer.joined(term.coefficient, []))
    piece = sign
    for factor in narrow:
        if width(piece) + width(factor) > room and piece != sign:
            yield piece.strip()
            piece = r"\times"
        piece += f" {factor}"
    for sum_ in wide:
        first, *others = _pieces(printer, sum_, room - 2 * BRACKETS)
        if width(piece) + width(first) > room - BRACKETS:
            yield piece.strip()
            piece = r"\times"
        *middle, last = [rf"{piece} \bigl({first}", *others]
        yield from middle
        piece = last + printer.raised(r"\bigr)", sum_.exponent)
    yield piece.strip()


def _is_wide(printer: LatexPrinter, s: Sum, room: float) -> bool:
    return NARROWEST * weight(s) > room or width(printer.factor(s)) > room


# ---- parts ----


def _indices(at: Sequence[int], n: int) -> str:
    return ("," if n > 9 else "").join(str(i + 1) for i in at)


def _matrix(eq: "Equations", part: str, printer: LatexPrinter) -> str | None:
    """The part as one matrix, or None if the page is too narrow."""
    array = eq.polynomial(part)
    rows = array if array.ndim == 2 else array[:, None]
    if sum(len(p.terms) for p in rows.ravel()) > 20 * rows.shape[0]:
        return None
    entries = [[printer.polynomial(eq.displayed(p)) for p in row] for row in rows]
    columns = [max(map(width, column)) for column in zip(*entries, strict=True)]
    whole = sum(columns) + COLUMN_GAP * len(columns) + BRACKETS + width(f"{NAMES[part]} = ")
    if whole > PAGE_WIDTH:
        return None
    body = r" \\ ".join(" & ".join(row) for row in entries)
    return rf"\begin{{bmatrix}} {body} \end{{bmatrix}}"


def _rows(eq: "Equations", part: str, printer: LatexPrinter, longest: int | None, page: float) -> list[str]:
    """Lines of an alignment: every entry that is not zero, what continues it indented."""
    rows = []
    for name, entry in _entries(eq, part, printer, longest, page):
        rows += [f"& {name} = {entry[0]}", *(rf"& \qquad {line}" for line in entry[1:])]
    return rows


def _entries(
    eq: "Equations", part: str, printer: LatexPrinter, longest: int | None, page: float
) -> Iterator[tuple[str, list[str]]]:
    """Name and lines of every entry that is not zero; of a symmetric matrix the upper half, with the names of both."""
    array: Any = eq.polynomial(part)
    n = array.shape[0]
    for at in np.ndindex(array.shape):
        if not array[at] or (part == "M" and at[0] > at[1]):
            continue
        name = f"{NAMES[part]}_{{{_indices(at, n)}}}"
        if part == "M" and at[0] < at[1]:
            name += f" = {NAMES[part]}_{{{_indices(at[::-1], n)}}}"
        if longest is not None and len(array[at].terms) > longest:
            yield name, [rf"\text{{a sum of {len(array[at].terms)} terms}}"]
        else:
            yield name, lines(printer, eq.displayed(array[at]), page - width(f"{name} = "), page - INDENT)


def entry(eq: "Equations", part: str, at: tuple[int, ...], shorthand: bool, longest: int | None, page: float) -> str:
    """One entry by itself, as wide as a page [pt]: M_{12} = ..., what continues it below; counted where it is longer."""
    printer = LatexPrinter(latex_shorthand if shorthand else latex_name)
    name, p = f"{NAMES[part]}_{{{_indices(at, eq.robot.nv)}}}", eq.polynomial(part)[at]
    if longest is not None and len(p.terms) > longest:
        return rf"{name} = \text{{a sum of {len(p.terms)} terms}}"
    with eq.ring.budget.running():
        first, *others = lines(printer, eq.displayed(p), page - width(f"{name} = "), page - INDENT)
    if not others:
        return f"{name} = {first}"
    body = r" \\ ".join([f"& {name} = {first}", *(rf"& \qquad {line}" for line in others)])
    return rf"\begin{{aligned}} {body} \end{{aligned}}"


def _rest_is_zero(eq: "Equations", part: str) -> bool:
    return any(not p for p in eq.polynomial(part).ravel())


def fragment(eq: "Equations", shorthand: bool, parts: Sequence[str], longest: int | None) -> str:
    """One `aligned` to be put into a formula: the law, a line of source for each part, the legend."""
    printer = LatexPrinter(latex_shorthand if shorthand else latex_name)
    out = [r"\begin{aligned}", rf"& {law(eq)} \\"]
    for part in parts:
        matrix = _matrix(eq, part, printer)
        out.append(rf"& {NAMES[part]} = {_listed(eq, part, printer, longest) if matrix is None else matrix} \\")
    out += [rf"& \text{{{line}}} \\" for line in _remarks(eq, shorthand)]
    return "\n".join([*out, r"\end{aligned}"])


def _remarks(eq: "Equations", shorthand: bool) -> list[str]:
    """The legend, and which forces are left out."""
    notes = (line for note in describe.notes(eq) for line in textwrap.wrap(note, LONGEST_WORDS))
    return [*eq.legend(latex=True, shorthand=shorthand), *map(latex_text, notes)]


def _listed(eq: "Equations", part: str, printer: LatexPrinter, longest: int | None) -> str:
    rows = _rows(eq, part, printer, longest, PAGE_WIDTH - BEFORE)
    if _rest_is_zero(eq, part):
        rows.append(r"& \text{all other entries are } 0")
    body = r" \\ ".join(rows)
    return rf"\left\{{\begin{{aligned}} {body} \end{{aligned}}\right."


def document(eq: "Equations", shorthand: bool, parts: Sequence[str], longest: int | None) -> str:
    """A file that LaTeX compiles, with amsmath and geometry alone."""
    printer = LatexPrinter(latex_shorthand if shorthand else latex_name)
    out = [
        r"\documentclass{article}",
        r"\usepackage{amsmath}",
        r"\usepackage[a4paper, margin=25mm]{geometry}",
        r"\allowdisplaybreaks",
        r"\setlength{\parindent}{0pt}",
        r"\begin{document}",
        rf"\section*{{Equations of motion of {latex_text(eq.robot.name)}}}",
        rf"\[ {law(eq)} \]",
    ]
    for part in parts:
        out += [rf"\subsection*{{{TITLES[part]}}}", *_part(eq, part, printer, longest)]
    out += [r"\subsection*{Symbols}", *(rf"{line}\par" for line in _remarks(eq, shorthand))]
    return "\n".join([*out, r"\end{document}", ""])


def _part(eq: "Equations", part: str, printer: LatexPrinter, longest: int | None) -> list[str]:
    matrix = _matrix(eq, part, printer)
    if matrix is not None:
        return [rf"\[ {NAMES[part]} = {matrix} \]"]
    rows = _rows(eq, part, printer, longest, PAGE_WIDTH)
    zeros = [r"All other entries are zero."] if _rest_is_zero(eq, part) else []
    if not rows:
        return [rf"\[ {NAMES[part]} = 0 \]"]
    return [r"\begin{align*}", *(rf"{row} \\" for row in rows[:-1]), rows[-1], r"\end{align*}", *zeros]


def law(eq: "Equations") -> str:
    """M vdot + C v + D v + S + N = tau; without D and S where there are no such forces."""
    own = {"D": r" + D \dot{q}", "S": " + S(q)"}
    forces = "".join(own[part] for part in eq.parts() if part in own)
    held = r" + K(q)^{T} \lambda" if eq.robot.constraints else ""
    return rf"M(q)\,\ddot{{q}} + C(q,\dot{{q}})\,\dot{{q}}{forces} + N(q) = \tau{held}"
