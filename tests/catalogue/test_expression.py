"""Arithmetic in module files: what it gives, and what it refuses."""

import math

import numpy as np
import pytest
import sympy

from modurob.catalogue import expression
from modurob.errors import CatalogueError

PARAMETERS = {"length": 0.5, "mass": 2.0, "word": "revolute"}
ALLOWED = r"expected numbers, parameters, \+ - \* /"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (3, 3),
        (2.5, 2.5),
        ("7", 7),
        ("1e-3", 1e-3),
        ("-length", -0.5),
        ("--length", 0.5),
        ("length / 2 - 1", -0.75),
        ("mass * length**2 / 6", 2 * 0.25 / 6),
        ("(mass + 1) * -2", -6),
        ("2 + 3 * 4", 14),
        ("length**0", 1),
        ("length**8", 0.5**8),
        ("pi / 2", math.pi / 2),
        ("sqrt(mass + 2)", 2),
        ("sin(pi / 6) + cos(0)", 1.5),
        ("  length ", 0.5),
    ],
)
def test_value(text, value):
    assert expression.value(text, PARAMETERS) == pytest.approx(value, rel=1e-15)


def test_value_of_symbols_is_exact():
    m, l = sympy.symbols("m l")
    assert expression.value("mass * length**2 / 6", {"mass": m, "length": l}) == m * l**2 / 6


@pytest.mark.parametrize(
    ("text", "names"), [("1 + pi", set()), ("a * b**2 - a", {"a", "b"}), ("sqrt(a) + cos(1)", {"a"}), (4, set())]
)
def test_names(text, names):
    assert expression.names(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "mass.real",
        "().__class__",
        "mass.__class__.__bases__",
        "__import__('os')",
        "__import__('os').system('true')",
        "eval('1')",
        "abs(mass)",
        "sqrt(1, 2)",
        "sqrt()",
        "sqrt(x=1)",
        "(sqrt)(1)(2)",
        "mass < 1",
        "mass == 2",
        "mass if mass else 1",
        "mass and 1",
        "not mass",
        "~mass",
        "+mass",
        "mass // 2",
        "mass % 2",
        "mass @ 2",
        "7 & 1",
        "1 << 9",
        "[1, 2]",
        "(1, 2)",
        "{1: 2}",
        "[x for x in (1, 2)]",
        "lambda: 1",
        "(y := 3)",
        "mass[0]",
        "'text'",
        "f'{mass}'",
        "b'1'",
        "True",
        "None",
        "...",
        "2j",
        "2 ** -1",
        "2 ** 9",
        "2 ** mass",
        "2 ** 0.5",
        "2 ** 2 ** 2",
    ],
)
def test_anything_but_arithmetic_is_refused(text):
    with pytest.raises(CatalogueError, match=ALLOWED) as caught:
        expression.value(text, PARAMETERS)
    assert str(caught.value).startswith(repr(text))


@pytest.mark.parametrize("text", ["", "1 +", "mass mass", "a = 1", "import os", "1; 2", "\x00", "("])
def test_what_is_no_expression_is_refused(text):
    with pytest.raises(CatalogueError, match=r"is not an expression: expected numbers, parameters"):
        expression.value(text, PARAMETERS)


@pytest.mark.parametrize("name", ["lenght", "__builtins__", "os", "sqrt", "inf", "nan"])
def test_unknown_names_are_refused_with_the_known(name):
    with pytest.raises(CatalogueError, match=rf"no parameter '{name}': .*valid: length, mass"):
        expression.value(f"2 * {name}", PARAMETERS)
    with pytest.raises(CatalogueError, match="did you mean 'length'"):
        expression.value("lenght", PARAMETERS)


def test_words_are_not_numbers():
    with pytest.raises(CatalogueError, match="parameter 'word' is the word 'revolute': expected a number"):
        expression.value("word * 2", PARAMETERS)


@pytest.mark.parametrize("text", ["1 / 0", "mass / (length - 0.5)", "1e200**8", "sqrt(-mass)", "1e308 * 10"])
def test_arithmetic_that_has_no_answer(text):
    with pytest.raises(CatalogueError, match=r"division by zero|out of range|expected a finite number"):
        expression.value(text, PARAMETERS)


@pytest.mark.parametrize("depth", [4, 12, 38])
def test_towers_of_powers_are_refused_before_they_are_computed(depth):
    text = "(" * depth + "9" + "**8)" * depth
    with pytest.raises(CatalogueError, match=r"the power of a number of \d+ bits is too large"):
        expression.value(text, PARAMETERS)


def test_long_texts_are_refused_unparsed():
    assert expression.value("1+" * 99 + "1", {}) == 100
    with pytest.raises(CatalogueError, match="expression of 201 characters: expected at most 200"):
        expression.value("1+" * 100 + "1", {})
    with pytest.raises(CatalogueError, match="expression of 1000000 characters"):
        expression.names("(" * 1_000_000)


def test_functions_take_symbols_and_numpy_numbers():
    x = sympy.Symbol("x")
    assert expression.value("sin(a)**2", {"a": x}) == sympy.sin(x) ** 2
    assert expression.value("sqrt(a)", {"a": np.float64(9)}) == 3
