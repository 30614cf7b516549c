"""Equations in the parameters of module types."""

import numpy as np
import pytest
import sympy

import modurob as mr
from modurob.errors import InputError
from modurob.symbolic import Quantity, parametric
from tests.robots import random_assembly
from tests.sampling import sampled
from tests.symbolic.robots import HANGING

l, m, g, q1, q2 = sympy.symbols("l m g q1 q2")
CUBES = ("cube_link", "pivot_joint", "revolute_joint", "prismatic_joint")


def pendulum(n, **parameters):
    assembly = mr.Assembly.single("m0", "backbone")
    for i in range(1, n + 1):
        assembly = assembly.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4")
    return assembly.with_parameters(**parameters) if parameters else assembly


def test_a_backbone_pendulum_has_seven_sixths():
    """m l² about the hinge and m l²/6 about the centre of the cube, with plain symbols, as a user writes them."""
    eq = parametric(pendulum(1), gravity=HANGING)
    assert sympy.Matrix([[7 * l**2 * m / 6]]) == eq.M
    assert sympy.Matrix([g * l * m * sympy.sin(q1)]) == eq.N
    assert eq.values == {l: 0.105, m: 1.0, g: 9.81}
    assert eq.quantities[l] == Quantity("length of backbone (edge of the cube)", "m", 0.105)


def test_one_call_is_the_long_way_written_short():
    """with_parameters, mechanism, equations; which also has the numbers of gravity, but not those of the modules."""
    crab = mr.load("crab")
    short = parametric(crab)
    long = crab.with_parameters(length=l, mass=m).mechanism().equations("gravity")
    assert short.equals(long)
    assert short.legend()[-2:] == [
        "l: length of backbone (edge of the cube), 0.105 m",
        "m: mass of backbone (of the whole module), 1 kg",
    ]
    assert long.legend()[-1] == "m: parameter of the robot"


@pytest.mark.parametrize("seed", sampled(range(8), 4))
def test_numbers_are_those_of_the_robot(seed):
    """On random robots of all shipped modules; both derivations are identical in the parameters."""
    rng = np.random.default_rng(seed)
    assembly = random_assembly(rng, 5, ("backbone", "scout") if seed % 2 else CUBES)
    robot = assembly.mechanism()
    for by in ("value", "module"):
        eq = parametric(assembly, by=by)
        assert all(line.equal for line in eq.proof())
        q, v = rng.normal(size=(2, robot.nv))
        found = eq.function(q, v)
        expected = robot.mass_matrix(q), robot.coriolis_matrix(q, v), robot.gravity_forces(q)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)


def test_other_parameters_give_the_other_robot(rng):
    """The equations of one robot are those of all of its family."""
    eq = parametric(pendulum(2), gravity=HANGING)
    longer = pendulum(2, length=0.2, mass=3.0).mechanism(gravity=HANGING)
    q, v = rng.normal(size=(2, 2))
    values = {l: 0.2, m: 3.0, g: 9.81}
    found = eq.function(q, v, [values[p] for p in eq.parameters])
    np.testing.assert_allclose(found[0], longer.mass_matrix(q), atol=1e-14)
    np.testing.assert_allclose(found[2], longer.gravity_forces(q), atol=1e-13)


def test_symbols_by_value_and_by_module():
    mixed = pendulum(2).with_parameters({"m2": {"mass": 2.0}})
    assert [str(p) for p in parametric(mixed).parameters] == ["g", "l", "m1", "m2"]
    each = parametric(mixed, by="module")
    assert {"l0", "l1", "l2", "m1", "m2"} <= {str(p) for p in each.parameters}
    assert each.values[sympy.Symbol("m2")] == 2.0
    assert each.quantities[sympy.Symbol("l0")].meaning == "length of m0 (edge of the cube)"


def test_parameters_are_chosen_and_others_stay_exact():
    """0.10537 squared over six is no number that a float tells; as a decimal of the module it is exact."""
    odd = pendulum(1, length=0.10537, mass=1.23456789)
    eq = parametric(odd, "mass", gravity=HANGING)
    assert eq.M[0, 0] == m * sympy.Rational("0.10537") ** 2 * sympy.Rational(7, 6)
    assert (
        parametric(odd, (), gravity=HANGING).M[0, 0]
        == sympy.Rational("1.23456789") * sympy.Rational("0.10537") ** 2 * 7 / 6
    )
    assert parametric(odd, ["length"], gravity=HANGING).parameters == [g, l]


def test_changed_moments_have_symbols_of_their_own():
    eq = parametric(pendulum(1, Ixx=0.003), gravity=HANGING)
    assert eq.M[0, 0] == sympy.Symbol("Ixx") + l**2 * m
    point = parametric(mr.load("double_pendulum"), gravity=HANGING)
    assert point.M[1, 1] == l**2 * m


def test_dampings_and_armatures_are_parameters():
    eq = parametric(pendulum(1, damping=0.5, armature=0.25), gravity=HANGING)
    assert eq.D[0, 0] == sympy.Symbol("d")
    assert eq.M[0, 0] == 7 * l**2 * m / 6 + sympy.Symbol("J")


def test_what_is_asked_wrong_is_told():
    with pytest.raises(InputError, match="expected an Assembly, found Mechanism"):
        parametric(pendulum(1).mechanism())
    with pytest.raises(InputError, match=r"no module has a parameter 'lenght'.*did you mean 'length'"):
        parametric(pendulum(1), "lenght")
    with pytest.raises(InputError, match=r"symbols by 'type'.*valid: value, module"):
        parametric(pendulum(1), by="type")


def test_loops_have_their_conditions():
    """A ring of six: three rows, each d condition / dq, in symbols of lengths."""
    eq = parametric(pendulum(5).connect("m5/3", "m0/4"))
    assert eq.K.shape == (3, 6)
    assert sympy.simplify(eq.K - sympy.Matrix(list(eq.conditions)).jacobian(list(eq.q))) == sympy.zeros(3, 6)
    assert "l" in {str(s) for s in eq.K.free_symbols}
