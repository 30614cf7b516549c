"""LaTeX that fits the page."""

import re
from functools import cache

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.mathtext import MathTextParser

import modurob as mr
from modurob.errors import InputError
from modurob.symbolic import parametric
from modurob.symbolic.printing import LatexPrinter, latex_name
from modurob.symbolic.typeset import PAGE_WIDTH, lines, width
from tests.sampling import sampled
from tests.symbolic.robots import crane, double_pendulum, lwa_4p, organism, snake

SYMBOLS = ("masses", "centres", "inertias", "lengths", "gravity")
# text on A4 with margins of 25 mm [pt]
TEXT_WIDTH = 455.0
ROBOTS = {
    "crab": (lambda: mr.load("crab").mechanism(), SYMBOLS),
    "pendulum": (lambda: snake(4), SYMBOLS),
    "long pendulum": (lambda: snake(9), ("masses", "lengths")),
    "alternating": (lambda: snake(4, roll=90), SYMBOLS),
    "organism": (lambda: organism("xyZ"), SYMBOLS),
    "arm of symbols": (lwa_4p, SYMBOLS),
    "arm of numbers": (lwa_4p, ()),
    "thesis": (double_pendulum, ("gravity",)),
    "crane": (crane, ("gravity",)),
}
SOME = (0, 6, 7, 8)  # without those of many symbols


@cache
def equations(name):
    make, symbols = ROBOTS[name]
    return make().equations(symbols)


@cache
def document(name, shorthand):
    return equations(name).latex(shorthand, document=True, longest=200)


def measured(formula):
    """Width of a formula in Computer Modern at 10 pt, by matplotlib's TeX; what it does not know is replaced by what is as wide."""
    for ours, theirs in ((r"\tfrac", r"\frac"), (r"\bigl(", "("), (r"\bigr)", ")"), (r"\qquad", r"\quad\quad")):
        formula = formula.replace(ours, theirs)
    with mpl.rc_context({"mathtext.fontset": "cm"}):
        return MathTextParser("path").parse(f"${formula}$", dpi=72, prop=mpl.font_manager.FontProperties(size=10)).width


def rows(latex):
    """The lines of the alignments of a document, without what only aligns them."""
    inside = re.findall(r"\\begin\{align\*\}\n(.*?)\n\\end\{align\*\}", latex, re.DOTALL)
    return [line.removesuffix(r" \\").removeprefix("& ") for body in inside for line in body.split("\n")]


@pytest.mark.parametrize("shorthand", [False, True])
@pytest.mark.parametrize("name", sampled(ROBOTS, SOME))
def test_no_line_is_wider_than_the_page(name, shorthand):
    """By our own estimate all lines, and by matplotlib's metrics of Computer Modern a sample of them."""
    latex = document(name, shorthand)
    written = rows(latex)
    assert all(width(line) <= PAGE_WIDTH for line in written)
    for line in written[:: max(1, len(written) // 6)]:
        if r"\text" not in line:
            assert measured(line) < TEXT_WIDTH, line
    for matrix in re.findall(r"\\begin\{bmatrix\} (.*?) \\end\{bmatrix\}", latex):
        columns = zip(*(row.split(" & ") for row in matrix.split(r" \\ ")), strict=True)
        assert sum(max(measured(entry) for entry in column) + 10 for column in columns) < TEXT_WIDTH


TOKEN = re.compile(
    r"\\tfrac\{(?P<top>\d+)\}\{(?P<bottom>\d+)\}|\\(?P<wave>cos|sin)(?:\^\{(?P<k>\d+)\})?|\^\{(?P<power>\d+)\}"
    r"|(?P<name>(?:\\dot\{q\}|\\alpha|\\mathrm\{[A-Za-z]+\}|[A-Za-z])(?:_\{[a-z0-9,]+\})?)|(?P<number>\d+)|(?P<times>\\times)|(?P<sign>[-+])|(?P<open>\()|(?P<close>\))"
    r"|\\left|\\right|\\bigl|\\bigr|\\qquad|\s+"
)


def value(formula, point):
    """The number that a formula has, its names replaced: what stands side by side is multiplied."""
    out, ended = [], False
    position = 0
    while position < len(formula):
        token = TOKEN.match(formula, position)
        assert token, formula[position : position + 40]
        position, found = token.end(), token.groupdict()
        begins = found["top"] or found["wave"] or found["name"] or found["number"] or found["open"]
        if begins and ended:
            out.append("*")
        if found["top"]:
            out.append(f"({found['top']}/{found['bottom']})")
        elif found["wave"]:
            out.append(f"wave({found['wave']}, {found['k'] or 1})")
        elif found["name"]:
            name = re.sub(r"\\mathrm|[\\_{},]", "", found["name"].replace(r"\dot{q}", "qd"))
            out.append(repr(point[name]))
        elif found["power"]:
            out.append(f"**{found['power']}")
        else:
            out.append({"times": "*"}.get(str(token.lastgroup), token[0]) if token.lastgroup else "")
        if token.lastgroup:
            ended = bool(found["top"] or found["name"] or found["number"] or found["close"] or found["power"])
    functions = {"wave": lambda f, k: lambda angle: f(angle) ** k, "cos": np.cos, "sin": np.sin}
    return eval("".join(out), functions)


@pytest.mark.parametrize("name", sampled([name for name in ROBOTS if name != "long pendulum"], (0, 5, 6, 7)))
def test_the_lines_of_an_entry_are_the_entry(name):
    """Put together again and evaluated they give the number that the polynomial has."""
    eq = equations(name)
    rng = np.random.default_rng(0)
    point = {str(s): float(rng.uniform(0.5, 1.5)) for s in (*eq.q, *eq.v, *eq.parameters)}
    printer = LatexPrinter(latex_name)
    for part in ("M", "C", "N"):
        for p in (p for p in eq.polynomial(part).ravel() if len(p.terms) < 60):
            found = value(" ".join(lines(printer, eq.displayed(p), 100.0, 150.0)), point)
            assert found == pytest.approx(float(p.expression().subs(point)), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("shorthand", [False, True])
@pytest.mark.parametrize("name", sampled(ROBOTS, SOME))
def test_every_entry_is_there_and_well_formed(name, shorthand):
    eq, latex = equations(name), document(name, shorthand)
    for opening, closing in (("{", "}"), (r"\left(", r"\right)"), (r"\bigl(", r"\bigr)"), (r"\begin{", r"\end{")):
        assert latex.count(opening) == latex.count(closing)
    for part in ("M", "C", "N"):
        array = eq.polynomial(part)
        shown = len(re.findall(rf"\n& {part}_", latex))
        upper = [p for i, row in enumerate(array) for p in row[i:]] if part == "M" else array.ravel()
        assert re.search(rf"\\\[ {part} = ", latex) or shown == sum(1 for p in upper if p)


@pytest.mark.parametrize("name", sampled(ROBOTS, SOME))
def test_a_fragment_has_one_line_for_each_part(name):
    """As the studio reads it: whole matrices where they fit, else their entries in one `aligned`."""
    latex = equations(name).latex(longest=200)
    source = latex.splitlines()
    assert source[0] == r"\begin{aligned}"
    assert source[-1] == r"\end{aligned}"
    for part in ("M", "C", "N"):
        (line,) = [line for line in source if line.startswith(f"& {part} = ")]
        assert line.endswith(r" \\")
        assert r"\begin{bmatrix}" in line or r"\left\{\begin{aligned}" in line
        for row in re.findall(r"& (?:\\qquad )?(.*?)(?: \\\\|$)", line.split(r"\begin{aligned}")[-1]):
            assert width(row) <= PAGE_WIDTH


def test_a_document_is_whole():
    latex = parametric(mr.load("crab")).latex(document=True)
    assert latex.startswith(r"\documentclass{article}")
    assert latex.endswith("\\end{document}\n")
    for title in ("Mass matrix", "Coriolis matrix", "Gravity forces", "Symbols"):
        assert rf"\subsection*{{{title}}}" in latex
    assert "$l$: length of backbone (edge of the cube), 0.105 m" in latex
    assert latex.isascii()


def test_names_are_escaped():
    assembly = mr.Assembly.single("left_0", "backbone").dock("left_1", "backbone", at="left_0/3", by="4")
    latex = assembly.mechanism().equations("inertias").latex(document=True)
    assert r"left\_0/hinge" in latex
    assert "kg m$^{2}$" in latex


def test_the_symmetric_half_is_written_once():
    latex = snake(4).equations(SYMBOLS).latex(document=True)
    assert "M_{12} = M_{21} = " in latex
    assert "& M_{21}" not in latex
    assert "C_{21} = " in latex


def test_parts_are_chosen():
    eq = mr.load("crab").with_parameters(damping=0.5).mechanism().equations()
    assert "Viscous friction" in eq.latex(document=True)
    assert "Viscous friction" not in mr.load("crab").mechanism().equations().latex(document=True)
    assert "Gravity" not in eq.latex(parts="M", document=True)
    with pytest.raises(InputError, match=r"no part 'K'.*valid: M, C"):
        eq.latex(parts=["K"])


def test_long_sums_of_angles_are_abbreviated():
    latex = snake(9).equations(("masses", "lengths")).latex(parts=["N"])
    assert r"\left(q_{1}+\cdots+q_{9}\right)" in latex
    assert r"\left(q_{1}+q_{2}+q_{3}\right)" in latex
