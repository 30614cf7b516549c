"""What people see of equations in a terminal, a notebook and a file."""

import copy
import pickle
from html.parser import HTMLParser

import numpy as np
import pytest

import modurob as mr
from modurob.errors import InputError
from modurob.symbolic import parametric
from tests.symbolic.robots import lwa_4p, organism, snake


def test_one_line():
    assert (
        repr(parametric(mr.load("crab")))
        == "Equations('crab', 3 degrees of freedom, 24 terms in M and N, 3 parameters)"
    )
    assert repr(snake(1).equations()) == "Equations('robot', 1 degree of freedom, 2 terms in M and N, no parameters)"


def test_a_page_of_text():
    text = str(parametric(mr.load("crab"))).splitlines()
    assert text[0] == "M(q) vdot + C(q, v) v + N(q) = tau for crab: 3 degrees of freedom, 40 terms in M, C and N"
    assert "  q2: coordinate of joint m2/hinge (revolute) [rad]" in text
    assert "  l: length of backbone (edge of the cube), 0.105 m" in text
    assert "M[1, 2] = l**2*m*(7 + 6*cos(q2))/6" in text
    assert "+ D v" in str(mr.load("crab").with_parameters(damping=0.5).mechanism().equations())


def test_every_symbol_has_meaning_unit_and_number():
    robot = mr.load("crab").with_parameters(armature=0.25, damping=0.5).mechanism()
    legend = robot.equations("all").legend()
    assert "m1: mass of body m0/B, 3 kg" in legend
    assert "Ixx1: moment xx of the inertia of body m0/B about its centre, 0.0055125 kg m²" in legend
    assert "y1: centre of mass of body m0/B, y, 0.105 m" in legend
    assert "g: gravity, 9.81 m/s²" in legend
    assert "J1: rotor inertia at joint m0/hinge, 0.25 kg m²" in legend
    assert "d1: viscous friction of joint m0/hinge, 0.5 N m s/rad" in legend
    assert "l1: length, 0.105 m" in legend
    sliding = organism("xyZ").equations().legend()
    assert sliding[0] == "q1: coordinate of joint v0/joint (prismatic) [m]"


def test_symbols_that_do_not_occur_are_not_explained():
    eq = mr.load("crab").mechanism().equations("inertias")
    assert "Izz1" in map(str, eq.parameters)
    assert not any(line.startswith("Izz1") for line in eq.legend())


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("make", [lambda: parametric(mr.load("crab")), lambda: lwa_4p().equations("all")])
def test_notebooks(make):
    eq = make()
    page = _Tags()
    page.feed(eq._repr_html_())
    assert page.open == []
    assert "degrees of freedom" in page.text
    assert "coordinate of joint" in page.text
    short = eq.terms() < 600
    assert (r"\begin{bmatrix}" in page.text) == short
    assert ("M[1, 1] = " in page.text) != short
    formula = eq._repr_latex_()
    assert formula.startswith(r"$\displaystyle ")
    assert formula.endswith("$")
    assert (r"\begin{aligned}" in formula) == short


def test_equations_are_values():
    """They can be pickled and copied, also once code was made of them and with functions of the caller."""
    eq = mr.load("crab").mechanism().equations("masses", cancelled=lambda: False, progress=lambda stage, done: None)
    eq.function([0, 0, 0], [0, 0, 0])
    str(eq)
    for twin in (pickle.loads(pickle.dumps(eq)), copy.deepcopy(eq)):
        assert twin.equals(eq)
        assert str(twin) == str(eq)
        np.testing.assert_array_equal(twin.function([1, 2, 3], [1, 2, 3])[1], eq.function([1, 2, 3], [1, 2, 3])[1])


def test_functions_know_the_numbers_of_the_robot():
    eq = mr.load("crab").mechanism().equations("masses")
    for q in ([0.1], [0.1] * 4, 0.1, None, "0.1", [[0.1], [0.1, 0.2]]):
        with pytest.raises(InputError, match=r"q .*expected .*\(\.\.\., 3\)"):
            eq.function(q, [0, 0, 0])
    with pytest.raises(InputError, match=r"v has shape \(2,\): expected \(\.\.\., 3\) for crab"):
        eq.function([0, 0, 0], [0, 0])
    with pytest.raises(InputError, match=r"p has 2 entries: expected 3, those of m1, m2, m3"):
        eq.function([0, 0, 0], [0, 0, 0], [1, 2])
    import sympy

    unknown = mr.load("crab").with_parameters(length=sympy.Symbol("a")).mechanism().equations()
    with pytest.raises(InputError, match="no numbers for a"):
        unknown.function([0, 0, 0], [0, 0, 0])


def test_comparing_with_something_else():
    with pytest.raises(InputError, match="compared with int"):
        mr.load("crab").mechanism().equations().equals(3)
