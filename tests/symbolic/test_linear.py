"""Linearisation, Lie derivatives, relative degree and zero dynamics."""

import numpy as np
import pytest
import sympy

import modurob as mr
from modurob.errors import EquationsError, InputError
from modurob.symbolic.linear import ControlAffine, is_zero, lie_derivative
from tests.symbolic.robots import crane, double_pendulum, snake


@pytest.mark.parametrize("at_rest", [True, False])
def test_linearisation_agrees_with_the_derivatives_of_forward_dynamics(at_rest, rng):
    robot = mr.load("crab").mechanism()
    eq = robot.equations()
    q, v, tau = rng.normal(size=(3, 3)).round(2)
    if at_rest:
        v = np.zeros(3)
        tau = robot.gravity_forces(q)
    A, B = eq.linearised(q, v, None if at_rest else tau).numbers({})
    slopes = robot.forward_dynamics_derivatives(q, v, tau)
    expected = np.block([[np.zeros((3, 3)), np.eye(3)], [slopes.q, slopes.v]])
    np.testing.assert_allclose(A, expected, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(B, np.vstack([np.zeros((3, 3)), slopes.tau]), rtol=1e-9, atol=1e-9)


def test_linearisation_is_symbolic():
    l, m, g = sympy.symbols("l1 m1 g")
    robot = snake(1)
    A, B, _ = robot.equations(symbols=("masses", "lengths", "gravity", "inertias")).linearised([0])
    I = sympy.Symbol("Ixx1")
    assert sympy.simplify(A[1, 0] + g * l * m / (I + l**2 * m)) == 0
    assert sympy.simplify(B[1, 0] - 1 / (I + l**2 * m)) == 0


def test_lie_derivatives():
    x, y = sympy.symbols("x y")
    f = sympy.Matrix([y, -x])
    assert lie_derivative(x**2 + y**2, f, [x, y]).expand() == 0
    assert lie_derivative(x, f, [x, y], order=2) == -x
    assert is_zero(sympy.sin(x) ** 2 + sympy.cos(x) ** 2 - 1)
    assert not is_zero(x - sympy.sin(x))


def test_a_fully_actuated_robot_is_flat():
    """000 6.1: relative degree 2 each, decoupling matrix M^-1, no zero dynamics."""
    eq = double_pendulum().equations(symbols=("gravity",))
    system = eq.control_affine()
    assert system.relative_degree() == (2, 2)
    assert sympy.simplify(system.decoupling_matrix() * eq.M - sympy.eye(2)) == sympy.zeros(2)
    assert "flat, no zero dynamics" in system.verdict()
    drift = system.decoupling_matrix() * -(eq.C * sympy.Matrix(eq.v) + eq.N)
    assert all(is_zero(e) for e in system.drift() - drift)
    assert "no zero dynamics" in eq.zero_dynamics([0, 1], [0, 0]).verdict


def test_an_under_actuated_crane_has_zero_dynamics():
    """Only the wagon is driven: held still, the load swings with omega² = g/l."""
    eq = crane().equations(symbols=("gravity",))
    system = eq.control_affine(actuated=[0])
    assert system.relative_degree() == (2,)
    assert "zero dynamics of order 2" in system.verdict()
    zero = eq.zero_dynamics([0], [0, 0])
    g, l = sympy.symbols("g l", positive=True)
    values = {e.subs({sympy.Symbol("g"): g, sympy.Symbol("l"): l}) ** 2 for e in zero.eigenvalues}
    assert {sympy.simplify(v + g / l) for v in values} == {0}
    assert zero.verdict.startswith("marginally stable")
    assert eq.zero_dynamics([0], [0, sympy.pi]).verdict.startswith("unstable")
    with pytest.raises(InputError, match="is no rest"):
        eq.zero_dynamics([0], [0, sympy.pi / 4])


def test_friction_makes_zero_dynamics_stable():
    robot = mr.load("crane").with_parameters(damping=0.5).mechanism(gravity=(0, 9.81, 0))
    assert robot.equations().zero_dynamics([0], [0, 0]).verdict.startswith("asymptotically stable")


def test_collocated_and_flat_outputs_differ():
    """The load's position as output of the crane: relative degree 2 at the wagon force too, but not full."""
    eq = crane().equations(symbols=("gravity",))
    l = sympy.Symbol("l")
    with pytest.raises(InputError, match="2 outputs for 1 inputs"):
        eq.control_affine([0], [eq.q[0], eq.q[1]])
    tip = eq.control_affine([0], [eq.q[0] + l * sympy.sin(eq.q[1])])
    assert tip.relative_degree() == (2,)


def test_outputs_that_no_input_reaches_are_refused():
    x, y = sympy.symbols("x y")
    system = ControlAffine((x, y), sympy.Matrix([y, 0]), sympy.Matrix([1, 0]), sympy.Matrix([y]))
    with pytest.raises(EquationsError, match="no input ever reaches the output y"):
        system.relative_degree()


def test_singular_decoupling_is_told():
    x, y = sympy.symbols("x y")
    system = ControlAffine((x, y), sympy.zeros(2, 1), sympy.ones(2, 2), sympy.Matrix([x, y]))
    assert "cannot be decoupled" in system.verdict()


def test_large_robots_are_refused():
    with pytest.raises(EquationsError, match=r"6 freedoms.*at most 4"):
        snake(6).equations().control_affine()
    with pytest.raises(InputError, match="q has 2 entries: expected 3"):
        mr.load("crab").mechanism().equations().linearised([0, 0])
