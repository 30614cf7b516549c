"""Linearisation, Lie derivatives, relative degree and zero dynamics."""

import re

import numpy as np
import pytest
import sympy

import modurob as mr
from modurob.errors import EquationsError, InputError
from modurob.spatial import inertia
from modurob.symbolic.linear import ControlAffine, Linearised, is_zero, lie_derivative
from tests.symbolic.robots import crane, double_pendulum, snake


@pytest.mark.parametrize("at_rest", [True, False])
def test_linearisation_agrees_with_the_derivatives_of_forward_dynamics(at_rest, rng):
    robot = mr.load("crab").mechanism()
    eq = robot.equations()
    q, v, tau = rng.normal(size=(3, 3)).round(2)
    if at_rest:
        v = np.zeros(3)
        tau = robot.gravity_forces(q)
    near = eq.linearised(q, v, None if at_rest else tau)
    A, B = near.numbers().A, near.numbers().B
    slopes = robot.forward_dynamics_derivatives(q, v, tau)
    expected = np.block([[np.zeros((3, 3)), np.eye(3)], [slopes.q, slopes.v]])
    np.testing.assert_allclose(A, expected, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(B, np.vstack([np.zeros((3, 3)), slopes.tau]), rtol=1e-9, atol=1e-9)


def test_linearisation_is_symbolic():
    l, m, g = sympy.symbols("l1 m1 g")
    robot = snake(1)
    near = robot.equations(symbols=("masses", "lengths", "gravity", "inertias")).linearised([0])
    I = sympy.Symbol("Ixx1")
    assert near.A[1, 0] == -g * l * m / (I + l**2 * m)
    assert near.B[1, 0] == 1 / (I + l**2 * m)


def test_a_linearisation_is_one_value_with_names():
    """The same fields whatever was asked, exact where the point is, arrays of floats from `numbers`."""
    eq = crane().equations("gravity")
    g, l, ml, ms = sympy.symbols("g l ml ms")
    near = eq.linearised([0, 0])
    assert isinstance(near, Linearised)
    assert (near.q, near.v) == ((0, 0), (0, 0))
    assert near.tau == sympy.zeros(2, 1)
    assert sympy.Matrix([[0, 0], [0, g * l * ml]]) == near.K
    assert near.A[3, 1] == -g * (ml + ms) / (l * ms)
    assert not near.A.has(sympy.Float)
    assert not near.B.has(sympy.Float)
    moving = eq.linearised([0, sympy.pi / 3], [0, 1], [0, 0])
    assert isinstance(moving, Linearised)
    assert not moving.A.has(sympy.Float)
    values = {l: 2.0, ml: 1.0, ms: 3.0}
    numbers = moving.numbers(values)
    assert isinstance(numbers, Linearised)
    assert numbers.A.shape == (4, 4)
    assert numbers.B.shape == (4, 2)
    np.testing.assert_allclose(numbers.A, np.array(moving.A.subs({**values, g: 9.81}).evalf(), dtype=float), rtol=1e-12)
    with pytest.raises(InputError, match="no numbers for l, ml, ms"):
        moving.numbers()


def test_a_linearisation_at_floats_with_symbols():
    eq = crane().equations("gravity")
    values = dict(zip(sympy.symbols("g l ml ms"), (9.81, 2.0, 1.0, 3.0), strict=True))
    for point in ([0.1, 0.2], np.array([0.1, 0.2])):
        near = eq.linearised(point, np.array([0.3, 0.4]))
        np.testing.assert_allclose(near.numbers(values).A, np.array(near.A.subs(values), dtype=float), rtol=1e-9)
    symbolic = eq.linearised(sympy.symbols("a b"))
    assert symbolic.A.subs({"a": 0, "b": 0}) == eq.linearised([0, 0]).A


def test_a_massless_joint_is_told():
    eq = crane().equations("gravity")
    ml = sympy.Symbol("ml")
    near = eq.linearised([0, 0])
    with pytest.raises(EquationsError, match="singular"):
        _ = Linearised(near.q, near.v, near.tau, near.M.subs(ml, 0), near.D, near.K).A
    with pytest.raises(EquationsError, match="singular"):
        _ = Linearised((0,), (0,), sympy.zeros(1), sympy.zeros(1), sympy.zeros(1), sympy.zeros(1)).B


@pytest.mark.parametrize(
    ("q", "message"),
    [
        ([0, 0], r"q has 2 entries: expected 3, for m0/hinge, m2/hinge, m4/hinge"),
        (0, "q is 0: expected 3 numbers"),
        ("abc", "q is 'abc': expected 3 numbers"),
        ([0, "0", 0], r"q\[1\] is '0': expected a number or a SymPy expression"),
        ([0, None, 0], r"q\[1\] is None"),
        ([0, 0, float("nan")], r"q\[2\] is nan: expected a finite number"),
        ([0, 0, np.inf], r"q\[2\] is inf"),
        ([0, True, 0], r"q\[1\] is True"),
    ],
)
def test_points_are_checked(q, message):
    eq = mr.load("crab").mechanism().equations()
    with pytest.raises(InputError, match=message):
        eq.linearised(q)
    with pytest.raises(InputError, match=message.replace("q ", "v ", 1).replace("q\\[", "v\\[", 1)):
        eq.linearised([0, 0, 0], q)
    with pytest.raises(InputError, match=message.replace("q ", "rest ", 1).replace("q\\[", "rest\\[", 1)):
        eq.zero_dynamics([0], q)


@pytest.mark.parametrize(
    ("actuated", "expected"),
    [
        (["m0/hinge"], [0]),
        ("m2/hinge", [1]),
        ([0, "m4/hinge"], [0, 2]),
        ((np.int64(1),), [1]),
        ([], []),
        (2, [2]),
        (None, [0, 1, 2]),
    ],
)
def test_joints_are_named_or_numbered(actuated, expected):
    eq = mr.load("crab").mechanism().equations()
    system = eq.control_affine(actuated)
    assert list(system.h) == [eq.q[i] for i in expected]
    assert system.g.shape == (6, len(expected))


@pytest.mark.parametrize(
    ("actuated", "message"),
    [
        (["m0/hing"], r"actuated joints 'm0/hing' is no joint of crab.*did you mean 'm0/hinge'.*or 0 to 2"),
        ([3], "actuated joints 3 is no joint.*0 to 2"),
        ([-1], "actuated joints -1"),
        ([0.5], "actuated joints 0.5"),
        ([True], "actuated joints True"),
        ([None], "actuated joints None"),
        ([0, "m0/hinge"], "name a joint twice"),
        (sympy.Symbol("q1"), "actuated joints q1"),
    ],
)
def test_other_joints_are_refused_with_the_valid_ones(actuated, message):
    eq = mr.load("crab").mechanism().equations()
    with pytest.raises(InputError, match=message):
        eq.control_affine(actuated)
    with pytest.raises(InputError, match=message):
        eq.zero_dynamics(actuated, [0, 0, 0])


def test_a_joint_with_several_coordinates_is_named_once():
    builder = mr.Builder("cross")
    builder.body(
        "a",
        inertia.box(1.0, (0.5, 0.25, 1.0)) + inertia.point(1.0, (1, 0, 0)),
        joint=mr.Universal((1, 0, 0), (0, 1, 0)),
    )
    system = builder.build().equations().control_affine(["a"])
    assert [str(h) for h in system.h] == ["q1", "q2"]


def test_outputs_are_expressions_or_joints():
    eq = mr.load("crane").mechanism().equations()
    assert list(eq.control_affine(["m0/joint"], ["m1/hinge"]).h) == [eq.q[1]]
    assert list(eq.control_affine([0], sympy.sin(eq.q[1])).h) == [sympy.sin(eq.q[1])]
    strange = sympy.Symbol("z") + eq.q[0]
    with pytest.raises(InputError, match=rf"output {re.escape(str(strange))} has the symbol z.*valid: q1"):
        eq.control_affine([0], [strange])
    with pytest.raises(InputError, match="output 0 is None"):
        eq.control_affine([0], [None])
    with pytest.raises(InputError, match="outputs 'tip' is no joint of crane"):
        eq.control_affine([0], ["tip"])


def test_control_affine_is_forward_dynamics(rng):
    robot = mr.load("crab").mechanism()
    eq = robot.equations("masses")
    q, v, tau = rng.normal(size=(3, 3))
    system = eq.control_affine()
    point = {**dict(zip(system.x, [*q, *v], strict=True)), **eq.values}
    xdot = np.array((system.f + system.g * sympy.Matrix(tau)).subs(point), dtype=float)[:, 0]
    np.testing.assert_allclose(xdot[:3], v)
    np.testing.assert_allclose(xdot[3:], robot.forward_dynamics(q, v, tau), rtol=1e-9)


def test_control_affine_is_printed_short():
    eq = mr.load("crane").mechanism(gravity=(0, 9.81, 0)).equations(("masses", "lengths", "gravity"))
    f = eq.control_affine().f
    assert str(f[2]) == "m2*(g*cos(q2) + l1*qd2**2)*sin(q2)/(m1 + m2*sin(q2)**2)"


def test_three_free_joints_have_eigenvalues_in_numbers():
    eq = snake(4).equations(("masses", "lengths", "gravity"))
    zero = eq.zero_dynamics([0], [0, 0, 0, 0])
    assert len(zero.eigenvalues) == 6
    assert zero.M.shape == (3, 3)
    assert zero.verdict.startswith("marginally stable")
    assert np.abs(np.real(zero.eigenvalues)).max() < 1e-6


def test_verdicts_tell_what_they_assume():
    zero = crane().equations("gravity").zero_dynamics([0], [0, 0])
    assert zero.verdict.endswith("(with l = ml = ms = 1)") or zero.verdict.endswith("(with l = 1)")


def test_lie_derivatives():
    x, y = sympy.symbols("x y")
    f = sympy.Matrix([y, -x])
    assert lie_derivative(x**2 + y**2, f, [x, y]).expand() == 0
    assert lie_derivative(x, f, [x, y], order=2) == -x
    assert is_zero(sympy.sin(x) ** 2 + sympy.cos(x) ** 2 - 1)
    assert not is_zero(x - sympy.sin(x))


def test_a_fully_actuated_robot_is_flat():
    """Gutenkunst, section 6.1: relative degree 2 each, decoupling matrix M^-1, no zero dynamics."""
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
    with pytest.raises(EquationsError, match=r"6 degrees of freedom.*at most 4"):
        snake(6).equations().control_affine()
    with pytest.raises(InputError, match="q has 2 entries: expected 3"):
        mr.load("crab").mechanism().equations().linearised([0, 0])
