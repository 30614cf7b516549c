"""Friction and springs in closed form, and the word for what has none."""

import ctypes
import subprocess
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
import sympy

import modurob as mr
from modurob import algorithms as al
from modurob.catalogue.forces import JointForce
from modurob.errors import EquationsError, NotExactError
from modurob.spatial import inertia, se3
from modurob.spatial.scalars import sin, tanh
from modurob.symbolic import LeftOut, parametric
from modurob.symbolic.forces import CASES, DRY, STATES, TIME
from tests.symbolic.robots import crane

SYMBOLS = ("masses", "dampings", "stiffnesses")


def sprung() -> mr.Mechanism:
    """A crab with friction, a damped spring on a joint, and springs between frames: with a length, and without."""
    robot = mr.load("crab").with_parameters(damping=0.5).mechanism()
    stops = [row.name for row in robot.forces if row.force.kind == "stop"]
    robot = robot.without_forces(*stops)
    robot = robot.with_force("soft", mr.JointSpring(2.0, rest=0.5, damping=0.125), joint="m2/hinge")
    robot = robot.with_force("rope", mr.Spring(100.0, length=0.25, damping=3.0), a="m3", b="world")
    return robot.with_force("band", mr.Spring(40.0), a="m3", b="m5")


def mimicking() -> mr.Mechanism:
    """A gripper whose second finger turns twice as far, the other way; friction and a spring on each."""
    builder = mr.Builder("gripper")
    spatial = inertia.box(1.0, (0.5, 0.25, 1.0)) + inertia.point(1.0, (1, 0, 0))
    soft = mr.JointProperties(damping=0.25, stiffness=3.0, rest=0.5)
    builder.body("a", spatial, joint=mr.Revolute((1, 0, 0)), joint_name="first", properties=soft)
    mimic = mr.Source("first", -2.0, 0.0)
    builder.body("b", spatial, joint=mr.Revolute((0, 1, 0)), joint_name="second", properties=soft, mimic=mimic)
    return builder.build()


def numbers(eq):
    return [eq.values[s] for s in eq.parameters]


def generated(eq):
    names: dict[str, Any] = {}
    exec(eq.python(), names)
    return names


@pytest.mark.parametrize("make", [sprung, mimicking])
@pytest.mark.parametrize("symbols", [(), SYMBOLS, "all"])
def test_friction_and_springs_are_those_of_the_table(make, symbols, rng):
    robot = make()
    eq = robot.equations(symbols)
    assert eq.left_out == ()
    q, v = rng.normal(size=(2, 20, robot.nv))
    expected = al.passive_forces(robot, q, v)
    assert np.abs(expected).min(axis=0).max() > 0
    np.testing.assert_allclose(generated(eq)["passive_forces"](q, v, numbers(eq)), expected, rtol=1e-12, atol=1e-12)
    point = {**eq.values, **dict(zip(eq.q, q[0], strict=True)), **dict(zip(eq.v, v[0], strict=True))}
    torques = -(eq.D * sympy.Matrix(eq.v) + eq.S).subs(point)
    np.testing.assert_allclose(np.array(torques, dtype=float)[:, 0], expected[0], rtol=1e-12, atol=1e-12)
    energy = float(eq.elastic_energy.subs(point))
    np.testing.assert_allclose(energy, al.stored_energy(robot, q[0]), rtol=1e-12)


def test_compiled_c_has_them_too(tmp_path, rng):
    robot = sprung()
    eq = robot.equations(SYMBOLS)
    source, library = tmp_path / "crab.c", tmp_path / "crab.so"
    source.write_text(eq.c())
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, str(source), "-o", str(library), "-lm"], check=True)
    q, v = rng.normal(size=(2, 3))
    p, F = np.array(numbers(eq)), np.empty(3)
    ctypes.CDLL(str(library)).crab_passive_forces(*(x.ctypes.data_as(ctypes.c_void_p) for x in (q, v, p, F)))
    np.testing.assert_allclose(F, al.passive_forces(robot, q, v), rtol=1e-12)


def test_springs_are_derived_in_two_ways():
    """From the forces and Jacobians, and as the gradient of the energy."""
    lines = {line.entry: line for line in sprung().equations(SYMBOLS).proof()}
    assert {"S[1]", "S[2]", "S[3]"} <= lines.keys()
    assert lines["S[2]"].terms > 3
    assert all(line.equal for line in lines.values())
    assert "S[1]" not in {line.entry for line in mr.load("crab").mechanism().equations().proof()}


@dataclass(frozen=True)
class Cubic(JointForce):
    """tau = -stiffness q³ - drag v³; the energy may be wrong."""

    stiffness: float
    drag: float = 0.0
    share: float = 0.25
    kind: ClassVar[str] = "cubic"

    def effort(self, t, q, v, x):
        return -self.stiffness * q * q * q - self.drag * v * v * v

    def energy(self, q, x):
        return self.stiffness * self.share * q * q * q * q


def test_a_force_from_outside_is_read_by_its_trace(rng):
    robot = crane().ideal().with_force("own", Cubic(3.0, 0.5), joint="m1/hinge")
    eq = robot.equations("stiffnesses")
    k, drag = sympy.Symbol("k2"), sympy.Rational(1, 2)
    assert eq.left_out == ()
    assert eq.S[1] == k * eq.q[1] ** 3
    assert eq.D[1, 1] == drag * eq.v[1] ** 2
    assert eq.values[k] == 3.0
    assert all(line.equal for line in eq.proof())


def test_an_energy_that_is_not_the_force_s_is_seen():
    robot = mr.load("crab").mechanism().with_force("own", Cubic(3.0, share=0.5), joint="m2/hinge")
    assert [line.entry for line in robot.equations().proof() if not line.equal] == ["S[2]"]


@dataclass(frozen=True)
class Swing(JointForce):
    """tau = -size sin(q)."""

    size: float
    kind: ClassVar[str] = "swing"

    def effort(self, t, q, v, x):
        return -self.size * sin(q)


@dataclass(frozen=True)
class Soft(JointForce):
    """tau = -size tanh(v)."""

    size: float
    kind: ClassVar[str] = "soft"
    positional: ClassVar[bool] = False

    def effort(self, t, q, v, x):
        return -self.size * tanh(v)


@dataclass(frozen=True)
class Shaken(JointForce):
    """tau = size t."""

    size: float
    kind: ClassVar[str] = "shaken"

    def effort(self, t, q, v, x):
        return self.size * t


@dataclass(frozen=True)
class Bristle(JointForce):
    """tau = -size x with a state x."""

    size: float
    kind: ClassVar[str] = "bristle"
    nx: ClassVar[int] = 1
    still: ClassVar[tuple[int, ...]] = (0,)

    def effort(self, t, q, v, x):
        return -self.size * x[..., 0]


def test_cosines_and_sines_of_coordinates_are_closed_forms(rng):
    robot = mr.load("crab").mechanism().ideal().with_force("own", Swing(0.5), joint="m2/hinge")
    assert robot.equations().S[1] == sympy.sin(sympy.Symbol("q2")) / 2


@pytest.mark.parametrize(
    ("force", "reason"),
    [
        (mr.Friction(coulomb=0.5), DRY),
        (mr.Friction(viscous=0.25, static=0.5), DRY),
        (mr.Stop(-1.0, 1.0), CASES),
        (mr.Stop(upper=1.0, stiffness=10.0, damping=1.0), CASES),
        (Soft(1.0), "no polynomial: tanh"),
        (Shaken(1.0), TIME),
        (Bristle(1.0), STATES),
    ],
)
def test_what_has_no_closed_form_is_named(force, reason):
    robot = mr.load("crab").mechanism().ideal().with_force("odd", force, joint="m2/hinge")
    eq = robot.equations()
    assert eq.left_out == (LeftOut("odd", reason),)
    said = f"not in these equations, as there is no closed form: odd ({reason})"
    assert said in str(eq)
    assert said in eq.python()
    assert said in eq.c()
    assert said in eq._repr_html_()
    assert "closed form: odd" in eq.latex()
    assert "closed form: odd" in eq.latex(document=True)
    # of friction, the viscous part stays
    assert eq.D[1, 1] == sympy.Rational(getattr(force, "viscous", 0))


def test_an_ideal_robot_has_nothing_left_out():
    robot = mr.load("crab").mechanism()
    assert {x.name for x in robot.equations().left_out} == {f"m{i}/hinge stop" for i in (0, 2, 4)}
    eq = robot.ideal().equations()
    assert eq.left_out == ()
    assert "no closed form" not in str(eq) + eq.latex() + eq.python() + eq.c()
    assert eq.parts() == ("M", "C", "N")


def test_the_law_has_springs_where_the_robot_has():
    eq = sprung().equations(SYMBOLS)
    assert eq.parts() == ("M", "C", "D", "S", "N")
    assert str(eq).startswith("M(q) vdot + C(q, v) v + D v + S(q) + N(q) = tau for crab")
    assert r"+ D \dot{q} + S(q) + N(q) = \tau" in eq.latex()
    assert r"\subsection*{Springs}" in eq.latex(document=True)
    legend = eq.legend()
    assert "k2: stiffness of joint m2/hinge, 2 N m/rad" in legend
    assert "ks1: stiffness of rope, 100 N/m" in legend
    assert "s1: length of rope, sqrt(441*(3 + 2*cos(q2))/40000) [m]" in legend
    assert any(line.startswith(r"$s_{1} = \sqrt{\tfrac{441}{40000}") for line in eq.legend(latex=True))
    assert r"S(q)" not in mr.load("crab").mechanism().equations().latex()


def test_a_spring_of_no_length_balances_a_pendulum():
    """A spring from b above the hinge to a along the link lifts m g l exactly if k a b = m g l: nothing is left of the torque."""
    k, a, b, m, l = sympy.symbols("k a b m l")
    g = k * a * b / (m * l)
    builder = mr.Builder("balanced", gravity=np.array([0, 0, -g.subs({k: 12, a: 2, b: 1, m: 3, l: 4})], dtype=float))
    builder.body("link", inertia.point(3.0, (4.0, 0, 0)), joint=mr.Revolute((0, 1, 0)), joint_name="hinge")
    builder.frame("along", "link", se3.pose(None, np.array([2.0, 0, 0])))
    builder.frame("above", "world", se3.pose(None, np.array([0, 0, 1.0])))
    robot = builder.build().with_force("lift", mr.Spring(12.0), a="along", b="above")
    eq = robot.equations()
    assert eq.N[0] != 0
    assert sympy.zeros(1) == eq.S + eq.N
    assert eq.coordinates.distances == []
    longer = robot.with_force("more", mr.Spring(12.0, length=0.5), a="along", b="above").equations()
    assert sympy.zeros(1) != longer.S + longer.N


def test_expressions_with_the_length_of_a_spring_are_decided():
    eq = sprung().equations(SYMBOLS)
    assert eq.equals({"S": eq.S, "D": eq.D})
    assert not eq.equals({"S": 2 * eq.S})
    with pytest.raises(NotExactError, match="is not a polynomial"):
        eq.normal_form(sympy.sqrt(1 + sympy.cos(eq.q[0])))


def test_springs_are_in_the_linearisation(rng):
    """A, B near a state are those of numeric differences of the whole motion."""
    robot = sprung()
    q, v, tau = rng.normal(size=(3, 3)).round(2)

    def vdot(q, v):
        return robot.forward_dynamics(q, v, tau + al.passive_forces(robot, q, v))

    near = robot.equations(SYMBOLS).linearised(q, v, tau).numbers()
    step = 1e-6
    for k in range(3):
        d = step * np.eye(3)[k]
        np.testing.assert_allclose(near.A[3:, k], (vdot(q + d, v) - vdot(q - d, v)) / (2 * step), rtol=1e-5, atol=1e-4)
        by_v = (vdot(q, v + d) - vdot(q, v - d)) / (2 * step)
        np.testing.assert_allclose(near.A[3:, 3 + k], by_v, rtol=1e-5, atol=1e-4)


def test_a_mass_on_a_spring_swings_as_it_does():
    builder = mr.Builder("mass", gravity=(0, 0, 0))
    spring = mr.JointProperties(stiffness=8.0)
    builder.body(
        "m", inertia.point(2.0, (0, 0, 0)), joint=mr.Prismatic((1, 0, 0)), joint_name="rail", properties=spring
    )
    zero = builder.build().equations().zero_dynamics([], [0])
    assert set(zero.eigenvalues) == {2 * sympy.I, -2 * sympy.I}
    assert "swing on" in zero.verdict


def test_names_of_lengths_are_not_those_of_the_robot():
    s1, w1 = sympy.symbols("s1 w1", positive=True)
    chain = mr.Assembly.single("m0", "backbone").dock("m1", "backbone", at="m0/3", by="4")
    robot = chain.with_parameters(mass=s1, length=w1).mechanism()
    eq = robot.with_force("rope", mr.Spring(100.0, length=0.25), a="m1", b="world").equations()
    assert [d.length.name for d in eq.coordinates.distances] == ["s1_"]
    assert {s1.name, w1.name} <= {s.name for s in eq.parameters}


def test_parameters_of_modules_reach_the_forces():
    chain = mr.Assembly.single("m0", "backbone").dock("m1", "backbone", at="m0/3", by="4").with_parameters(damping=0.5)
    eq = parametric(chain)
    assert eq.D[0, 0] == sympy.Symbol("d")
    assert [x.reason for x in eq.left_out] == [CASES]


def test_couplings_are_conditions():
    builder = mr.Builder("gears")
    for name in "ab":
        builder.body(name, inertia.box(1.0, (1, 1, 1)), joint=mr.Revolute((0, 0, 1)), joint_name=f"{name} hinge")
    builder.coupling("teeth", {"a hinge": 1.0, "b hinge": 2.0})
    eq = builder.build().equations()
    assert eq.conditions == sympy.Matrix([eq.q[0] + 2 * eq.q[1]])
    with pytest.raises(EquationsError, match="loops or couplings teeth: this is for trees"):
        eq.control_affine()
