"""What is printed reads back as what was meant."""

import re

import numpy as np
import pytest
import sympy
from matplotlib.mathtext import MathTextParser

import modurob as mr
from tests.symbolic.robots import double_pendulum, lwa_4p, organism, snake

SYMBOLS = ("masses", "centres", "inertias", "lengths", "gravity")
ROBOTS = {
    "crab": lambda: mr.load("crab").mechanism(),
    "pendulum": lambda: snake(4),
    "alternating": lambda: snake(4, roll=90),
    "organism": lambda: organism("xyZ"),
    "arm": lwa_4p,
    "thesis": double_pendulum,
}


@pytest.mark.parametrize("name", ROBOTS)
def test_text_reads_back_as_the_same_polynomial(name):
    """Collecting and factoring lose nothing: SymPy parses every entry, and the normal form is the one it came from."""
    eq = ROBOTS[name]().equations(symbols=SYMBOLS)
    names = {s.name: s for s in (*eq.q, *eq.v, *eq.parameters)}
    for part in ("M", "C", "N"):
        array = eq.polynomial(part)
        for at, (_, text) in zip(np.ndindex(array.shape), eq.entries(part), strict=True):
            if len(array[at].terms) < 40:
                assert eq.normal_form(sympy.sympify(text, locals=names)) == array[at], text


def test_the_double_pendulum_is_printed_as_in_the_thesis():
    eq = double_pendulum().equations(symbols=("gravity",))
    latex = eq.latex(shorthand=True)
    assert r"l_{1}^{2} \left(m_{1} + m_{2}\right) + l_{2}^{2} m_{2} + 2 l_{1} l_{2} m_{2} c_{2}" in latex
    assert r"l_{2} m_{2} \left(l_{2} + l_{1} c_{2}\right)" in latex
    assert r"g \left(l_{1} \left(m_{1} + m_{2}\right) s_{1} + l_{2} m_{2} s_{12}\right)" in latex
    assert dict(eq.entries("C_two_step"))["C_two_step[2, 1]"] == "l1*l2*m2*sin(q2)*(qd1 - qd2)"


@pytest.mark.parametrize("shorthand", [False, True])
@pytest.mark.parametrize("name", ROBOTS)
def test_latex_is_well_formed(name, shorthand):
    """Every entry passes TeX's grammar (matplotlib's parser); the matrices around them have their rows and columns."""
    eq = ROBOTS[name]().equations(symbols=SYMBOLS)
    latex = eq.latex(shorthand)
    assert latex.startswith(r"\begin{aligned}")
    assert latex.endswith(r"\end{aligned}")
    assert latex.count("{") == latex.count("}")
    assert latex.count(r"\left(") == latex.count(r"\right)")
    matrices = re.findall(r"\\begin\{bmatrix\} (.*) \\end\{bmatrix\}", latex)
    n, parser = eq.robot.nv, MathTextParser("path")
    for matrix, columns in zip(matrices, (n, n, 1), strict=True):
        rows = [row.split(" & ") for row in matrix.split(r" \\ ")]
        assert [len(row) for row in rows] == [columns] * n
        for entry in (entry for row in rows for entry in row if len(entry) < 400):
            parser.parse(f"${entry.replace(chr(92) + 'tfrac', chr(92) + 'frac')}$")
    legend = re.findall(r"\\text\{(.*)\} \\\\", latex)
    assert len(legend) == len(eq.legend(latex=True, shorthand=shorthand))
    for symbol in eq.parameters:
        assert any(line.startswith(f"{symbol}:") for line in eq.legend())


def test_numbers_print_exactly():
    eq = mr.load("crab").mechanism().equations()
    assert "21/200" not in str(eq)
    assert all(re.search(r"\d\.\d", text) is None for _, text in eq.entries("M", "C"))
