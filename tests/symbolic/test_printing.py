"""What is printed reads back as what was meant, and is as short as people write it."""

import re
from functools import cache

import numpy as np
import pytest
import sympy

import modurob as mr
from modurob.symbolic import parametric
from tests.sampling import sampled
from tests.symbolic.robots import crane, double_pendulum, lwa_4p, organism, scara, snake

SYMBOLS = ("masses", "centres", "inertias", "lengths", "gravity")
ROBOTS = {
    "crab": lambda: mr.load("crab").mechanism(),
    "pendulum": lambda: snake(4),
    "alternating": lambda: snake(4, roll=90),
    "organism": lambda: organism("xyZ"),
    "arm": lwa_4p,
    "thesis": double_pendulum,
}


@cache
def equations(name):
    return ROBOTS[name]().equations(symbols=SYMBOLS)


@pytest.mark.parametrize("name", sampled(ROBOTS, (0, 1, 2, 3, 5)))
def test_text_reads_back_as_the_same_polynomial(name):
    """Collecting and factoring lose nothing: SymPy parses every entry, and the normal form is the one it came from."""
    eq = equations(name)
    names = {s.name: s for s in (*eq.q, *eq.v, *eq.parameters)}
    for part in ("M", "C", "N"):
        array = eq.polynomial(part)
        for at, (_, text) in zip(np.ndindex(array.shape), eq.entries(part, longest=60), strict=True):
            if len(array[at].terms) <= 60:
                assert eq.normal_form(sympy.sympify(text, locals=names)) == array[at], text


def test_the_double_pendulum_is_printed_as_in_the_thesis():
    eq = double_pendulum().equations(symbols=("gravity",))
    latex = eq.latex(shorthand=True)
    assert r"l_{1}^{2} \left(m_{1} + m_{2}\right) + l_{2}^{2} m_{2} + 2 l_{1} l_{2} m_{2} c_{2}" in latex
    assert r"l_{2} m_{2} \left(l_{2} + l_{1} c_{2}\right)" in latex
    assert r"g \left(l_{1} \left(m_{1} + m_{2}\right) s_{1} + l_{2} m_{2} s_{12}\right)" in latex
    assert dict(eq.entries("C_two_step"))["C_two_step[2, 1]"] == "l1*l2*m2*sin(q2)*(qd1 - qd2)"


FACTORED = {
    "pendulum of three": (
        lambda: snake(3).equations(("masses", "lengths", "gravity", "inertias")),
        {
            "M[1, 1]": "Ixx1 + Ixx2 + Ixx3 + l1**2*(m1 + 2*m2 + 3*m3 + 2*(m2 + m3)*cos(q2) + 2*m3*(cos(q2 + q3) + cos(q3)))",
            "M[2, 3]": "Ixx3 + l1**2*m3*(1 + cos(q3))",
            "C[1, 2]": "-l1**2*((m2 + m3)*(qd1 + qd2)*sin(q2) + m3*(qd1 + qd2 + qd3)*sin(q2 + q3) + m3*qd3*sin(q3))",
            "C[1, 3]": "-l1**2*m3*(qd1 + qd2 + qd3)*(sin(q2 + q3) + sin(q3))",
            "N[1]": "g*l1*((m1 + m2 + m3)*sin(q1) + (m2 + m3)*sin(q1 + q2) + m3*sin(q1 + q2 + q3))",
        },
    ),
    "six": (
        lambda: snake(6).equations(("masses", "lengths")),
        {
            "C[1, 6]": "-l1**2*m6*(qd1 + qd2 + qd3 + qd4 + qd5 + qd6)"
            "*(sin(q2 + q3 + q4 + q5 + q6) + sin(q3 + q4 + q5 + q6) + sin(q4 + q5 + q6) + sin(q5 + q6) + sin(q6))"
        },
    ),
    "numbers stay beside symbols": (
        lambda: mr.load("crab").mechanism().equations(("masses", "lengths")),
        {"M[1, 2]": "147/80000 + l1**2*m2*(1 + cos(q2))", "M[2, 2]": "147/80000 + l1**2*m2"},
    ),
    "parameters": (
        lambda: parametric(mr.load("crab")),
        {"M[1, 2]": "l**2*m*(7 + 6*cos(q2))/6", "N[1]": "g*l*m*(5*cos(q1) + cos(q1 + q2) + cos(q1 + q3))"},
    ),
    "squares of sines come back": (
        lambda: snake(3, roll=90).equations(("masses", "lengths", "inertias")),
        {"M[2, 2]": "Ixx2 + Izz3*cos(q3)**2 + Iyy3*sin(q3)**2 + l1**2*(m2 + m3*(1 + cos(q3))**2)"},
    ),
    "common cosines": (
        lambda: organism("xyZ").equations(("masses", "lengths")),
        {"M[1, 3]": "-l1*cos(q3)*((m4 + m5)*cos(q4) + m5*cos(q4 + q5)) - l2*m4*sin(q3)"},
    ),
    "sums squared": (
        lambda: scara().equations(),
        {
            "M[2, 2]": "Izz2 + m2*(y2**2 + (l2 + x2)**2)",
            "C[1, 2]": "-l1*m2*(qd1 + qd2)*(y2*cos(q2) + (l2 + x2)*sin(q2))",
        },
    ),
    "crane": (lambda: crane().equations("gravity"), {"M[1, 2]": "l*ml*cos(q2)", "N[2]": "g*l*ml*sin(q2)"}),
}


@pytest.mark.parametrize("name", FACTORED)
def test_common_factors_are_taken_out(name):
    make, expected = FACTORED[name]
    entries = dict(make().entries("M", "C", "N"))
    assert {entry: entries[entry] for entry in expected} == expected


def outermost(text):
    """What stands outside of all parentheses, with () for those of sums."""
    text = re.sub(r"(cos|sin|sqrt)\([^()]*\)", "f", text)
    while re.search(r"\([^()]+\)", text):
        text = re.sub(r"\([^()]+\)", "<>", text)
    return text.replace("<>", "()")


@pytest.mark.parametrize("name", sampled(ROBOTS, (0, 1, 2, 3, 5)))
def test_no_sum_has_a_factor_left(name):
    """SymPy's factorisation of each short entry, cosines and sines as symbols, has no factor that stands out of a sum here."""
    eq = equations(name)
    for (_, text), p in zip(eq.entries("M", "N"), [*eq.polynomial("M").flat, *eq.polynomial("N")], strict=True):
        if 2 < len(p.terms) <= 12:
            displayed = eq.displayed(p)
            atoms = {g.expression: sympy.Dummy() for g in displayed.ring.generators}
            factors = sympy.factor_list(displayed.expression().subs(atoms))[1]
            sums = [f for f, _ in factors if f.is_Add]
            if len(factors) > 1:
                assert re.search(r" [+-] ", outermost(text)) is None, text
                assert outermost(text).count("()") == len(sums), text


def test_long_entries_are_counted():
    eq = lwa_4p().equations(SYMBOLS)
    count = len(eq.polynomial("M")[0, 0].terms)
    assert dict(eq.entries("M", longest=100))["M[1, 1]"] == f"a sum of {count} terms"
    text = str(eq)
    assert f"a sum of {count} terms" in text
    assert "entries with more than 100 terms are only counted" in text
    assert "only counted" not in str(snake(2).equations())
    assert rf"\text{{a sum of {count} terms}}" in eq.latex(longest=100)


def test_numbers_print_exactly():
    eq = mr.load("crab").mechanism().equations()
    assert "21/200" not in str(eq)
    assert all(re.search(r"\d\.\d", text) is None for _, text in eq.entries("M", "C"))
