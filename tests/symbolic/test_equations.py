"""Closed forms against the printed ones of the sources and against the numeric model."""

import ctypes
import subprocess
from functools import cache

import numpy as np
import pytest
import sympy
from sympy import cos, sin

import modurob as mr
from modurob.errors import CancelledError, EquationsError, InputError, TooLargeError
from modurob.spatial import angles, inertia, se3
from modurob.symbolic import size
from tests.robots import COORDINATE_RATES, random_assembly, random_joint
from tests.sampling import sampled
from tests.symbolic.robots import crane, double_pendulum, lwa_4p, organism, scara, snake

l1, l2, m1, m2, g = sympy.symbols("l1 l2 m1 m2 g")
q1, q2, qd1, qd2 = sympy.symbols("q1 q2 qd1 qd2")

GEOMETRIC_M = [
    [l1**2 * (m1 + m2) + l2**2 * m2 + 2 * l1 * l2 * m2 * cos(q2), l2 * m2 * (l2 + l1 * cos(q2))],
    [l2 * m2 * (l2 + l1 * cos(q2)), l2**2 * m2],
]
GEOMETRIC_C = [
    [-2 * l1 * l2 * m2 * qd2 * sin(q2), -l1 * l2 * m2 * qd2 * sin(q2)],
    [l1 * l2 * m2 * sin(q2) * (qd1 - qd2), l1 * l2 * m2 * qd1 * sin(q2)],
]
GEOMETRIC_N = [g * (l2 * m2 * sin(q1 + q2) + l1 * m1 * sin(q1) + l1 * m2 * sin(q1)), g * l2 * m2 * sin(q1 + q2)]

SYMBOLS = ("masses", "lengths", "gravity")
ROBOTS = {
    "crab": (lambda: mr.load("crab").mechanism(), SYMBOLS),
    "planar organism": (lambda: organism("xyZ"), SYMBOLS),
    "free organism": (lambda: organism("xyzXYZ"), ("gravity",)),
    "6-module pendulum": (lambda: snake(6), SYMBOLS),
    "alternating 6-chain": (lambda: snake(6, roll=90), SYMBOLS),
    "LWA 4P": (lwa_4p, ("masses", "centres", "inertias", "gravity")),
}


@cache
def derived(name):
    """A robot and its equations."""
    make, symbols = ROBOTS[name]
    robot = make()
    return robot, robot.equations(symbols=symbols)


def test_double_pendulum_is_that_of_the_thesis_symbol_for_symbol():
    """Gutenkunst (5.13a-c)."""
    eq = double_pendulum().equations(symbols=("gravity",))
    assert eq.equals({"M": GEOMETRIC_M, "C_two_step": GEOMETRIC_C, "N": GEOMETRIC_N})
    assert sympy.Matrix(GEOMETRIC_M).expand() == eq.M
    assert not eq.equals({"C": GEOMETRIC_C})
    assert not eq.equals({"M": [[GEOMETRIC_M[0][0] + sin(q1) ** 2 + cos(q1) ** 2, GEOMETRIC_M[0][1]], GEOMETRIC_M[1]]})


def test_lagrange_equations_of_the_thesis_are_a_constant_matrix_times_ours():
    """Gutenkunst (5.11) and (5.14): with T = [[1, -1], [0, 1]]."""
    eq = double_pendulum().equations(symbols=("gravity",))
    T = sympy.Matrix([[1, -1], [0, 1]])
    k = l1 * l2 * m2
    M_L = [[l1**2 * (m1 + m2) + k * cos(q2), k * cos(q2)], [l2**2 * m2 + k * cos(q2), l2**2 * m2]]
    C_L = [[-k * sin(q2) * (qd1 + qd2), -k * sin(q2) * (qd1 + qd2)], [k * sin(q2) * (qd1 - qd2), k * qd1 * sin(q2)]]
    N_L = [g * l1 * (m1 + m2) * sin(q1), g * l2 * m2 * sin(q1 + q2)]
    for name, theirs in (("M", M_L), ("C_two_step", C_L), ("N", N_L)):
        inverse = T.inv() * sympy.Matrix(theirs)
        assert eq.equals({name: inverse}), name


def test_crane_is_that_of_the_thesis():
    """Gutenkunst (5.15), the second equation times the load's mass and the rope's length."""
    eq = crane().equations(symbols=("gravity",))
    l, ms, ml = sympy.symbols("l ms ml")
    M = [[ms + ml, ml * l * cos(q2)], [ml * l * cos(q2), ml * l**2]]
    assert eq.equals({"M": M, "N": [0, ml * g * l * sin(q2)], "C": [[0, -ml * l * qd2 * sin(q2)], [0, 0]]})


@pytest.mark.parametrize("method", ["two-step", "lagrange"])
def test_scara_is_that_of_the_foundations(method):
    """von Stryk, X21 in full, with M11, C1 and G1 that the source leaves out."""
    eq = scara().equations(method=method)
    x1, y1, x2, y2, I1, I2 = sympy.symbols("x1 y1 x2 y2 Izz1 Izz2")
    a, b = x2 + l2, y2
    M22 = m2 * (a**2 + b**2) + I2
    M21 = m2 * (a**2 + b**2 + l1 * l2 * cos(q2) + l1 * (x2 * cos(q2) - y2 * sin(q2))) + I2
    M11 = m1 * ((x1 + l1) ** 2 + y1**2) + I1 + m2 * (a**2 + b**2 + l1**2 + 2 * l1 * (a * cos(q2) - b * sin(q2))) + I2
    pull = m2 * l1 * (a * sin(q2) + b * cos(q2))
    G2 = m2 * g * (a * cos(q1 + q2) - y2 * sin(q1 + q2))
    G1 = m1 * g * ((x1 + l1) * cos(q1) - y1 * sin(q1)) + m2 * g * l1 * cos(q1) + G2
    assert eq.equals({"M": [[M11, M21], [M21, M22]], "N": [G1, G2]})
    products = eq.polynomial("C") @ eq.coordinates.v
    assert products[0] == eq.normal_form(-pull * (2 * qd1 * qd2 + qd2**2))
    assert products[1] == eq.normal_form(pull * qd1**2)


@pytest.mark.parametrize("name", ROBOTS)
def test_symbolic_equals_numeric_at_a_hundred_states(name, rng):
    robot, eq = derived(name)
    values = [eq.values[p] for p in eq.parameters]
    q, v = rng.uniform(-2, 2, size=(2, 100, robot.nv))
    M, C, N = eq.function(q, v, values)
    size_of_m = np.abs(robot.mass_matrix(q)).max()
    np.testing.assert_allclose(M, robot.mass_matrix(q), atol=1e-11 * size_of_m)
    np.testing.assert_allclose(C, robot.coriolis_matrix(q, v), atol=1e-11 * size_of_m)
    np.testing.assert_allclose(N, robot.gravity_forces(q), atol=1e-11 * max(1, np.abs(N).max()))
    # the polynomials themselves, and not only the code made of them
    point = dict(zip([*eq.q, *eq.v, *eq.parameters], [*q[0], *v[0], *values], strict=True))
    entry = float(eq.expression(eq.polynomial("C_two_step")[0, -1]).subs(point))
    assert entry == pytest.approx(robot.two_step_coriolis_matrix(q[0], v[0])[0, -1], abs=1e-11 * size_of_m)


def test_c_of_a_robot_whose_name_is_no_name_in_c():
    robot = mr.Mechanism.from_dh([(0.3, 0.0, 0.0, 0.0)], name="2 */ bras à 1")
    text = robot.equations().c()
    assert "void robot_2____bras___1_equations(" in text
    assert text.count("*/") == 1


@pytest.mark.parametrize("name", ROBOTS)
def test_compiled_c_equals_numpy(name, tmp_path, rng):
    robot, eq = derived(name)
    source, library = tmp_path / "equations.c", tmp_path / "equations.so"
    source.write_text(eq.c())
    flags = [
        "-std=c99",
        "-pedantic",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-O1",
        "-ffp-contract=off",
        "-fno-builtin",
        "-fPIC",
        "-shared",
    ]
    subprocess.run(["cc", *flags, str(source), "-o", str(library), "-lm"], check=True)
    undefined = subprocess.run(["nm", "-u", str(library)], capture_output=True, text=True, check=True).stdout
    called = {line.split()[-1].split("@")[0] for line in undefined.splitlines() if " U " in f" {line} "}
    assert called <= {"sin", "cos", "__stack_chk_fail"}
    n, k = robot.nv, max(len(eq.parameters), 1)
    q, v = rng.uniform(-2, 2, size=(2, n))
    p = np.array([eq.values[s] for s in eq.parameters] or [0.0])
    M, C, N = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)
    function = getattr(ctypes.CDLL(str(library)), f"{robot.name}_equations")
    function(*(x.ctypes.data_as(ctypes.c_void_p) for x in (q, v, p, M, C, N)))
    for found, expected in zip((M, C, N), eq.function(q, v, p), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * max(1e-3, np.abs(expected).max()))
    assert k == len(p)


@pytest.mark.parametrize("seed", range(8))
def test_both_derivations_are_identical(seed):
    """Two-step recursion and Lagrange, on random organisms, to the last term."""
    rng = np.random.default_rng(seed)
    robot = random_assembly(rng, 5).mechanism()
    lines = robot.equations(symbols=("masses", "gravity")).proof()
    assert len(lines) == robot.nv**2 + 2 * robot.nv
    assert all(line.equal for line in lines)
    twin = robot.equations(symbols=("masses", "gravity"), method="lagrange")
    assert twin.equals(robot.equations(symbols=("masses", "gravity")))


def exact_mechanism(rng, kinds, bodies=3):
    """Joints along coordinate axes, placements by quarter turns and short decimals: everything exact."""
    builder, parent = mr.Builder("exact"), "world"
    for i in range(bodies):
        axis = tuple(np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0]))
        joint = random_joint(rng, str(rng.choice(kinds)), axis)
        turn = angles.euler("zyz", rng.integers(4, size=3) * np.pi / 2).round()
        at = se3.pose(turn, rng.integers(-8, 9, size=3) / 16)
        spatial = inertia.box(2.0, (0.5, 0.25, 1.0)) + inertia.point(1.0, (0.25, 0.5, 0.125))
        builder.body(f"b{i}", spatial, parent=parent, joint=joint, at=at)
        parent = f"b{i}"
    return builder.build()


@pytest.mark.parametrize("kind", COORDINATE_RATES)
@pytest.mark.parametrize("seed", range(3))
def test_every_joint_with_coordinates_has_a_closed_form(kind, seed):
    rng = np.random.default_rng(seed)
    robot = exact_mechanism(rng, (kind, "revolute"))
    eq = robot.equations(symbols=("gravity",))
    assert all(line.equal for line in eq.proof())
    q, v = rng.normal(size=(2, robot.nv))
    M, C, N = eq.function(q, v, [eq.values[p] for p in eq.parameters])
    np.testing.assert_allclose(M, robot.mass_matrix(q), atol=1e-12 * np.abs(M).max())
    np.testing.assert_allclose(C @ v + N, robot.bias_forces(q, v), atol=1e-11 * max(1, np.abs(M).max()))


def test_roots_stand_where_placements_need_them(rng):
    builder = mr.Builder("oblique", gravity=(0, 0, -10))
    builder.body("a", inertia.box(1.0, (0.5, 0.25, 1.0)), joint=mr.Revolute((1, 1, 0)), at=se3.pose(None, (0, 0, 0.5)))
    turned = se3.pose(angles.euler("xyz", (np.pi / 4, 0, np.pi / 3)), (0.5, 0, 0))
    builder.body("b", inertia.box(1.0, (0.5, 0.25, 1.0)), parent="a", joint=mr.Revolute((0, 0, 1)), at=turned)
    robot = builder.build()
    eq = robot.equations()
    assert {"sqrt(2)", "sqrt(3)"} <= {str(a) for a in eq.M.atoms(sympy.Pow)} | {str(g.name) for g in eq.ring.generators}
    assert all(line.equal for line in eq.proof())
    q, v = rng.normal(size=(2, 2))
    np.testing.assert_allclose(eq.function(q, v)[0], robot.mass_matrix(q), atol=1e-14)


def test_kinematics_energies_and_regressor(rng):
    robot = mr.load("crab").mechanism()
    eq = robot.equations(symbols=("masses",))
    q, v, vdot = rng.normal(size=(3, 3))
    point = dict(zip([*eq.q, *eq.v, *eq.coordinates.vdot_symbols], [*q, *v, *vdot], strict=True)) | eq.values

    def number(x):
        return np.array(x.subs(point).tolist() if isinstance(x, sympy.MatrixBase) else x.subs(point), dtype=float)

    np.testing.assert_allclose(number(eq.forward_kinematics("m5")), robot.frame_pose(q, "m5"), atol=1e-14)
    np.testing.assert_allclose(number(eq.jacobian("m5")), robot.jacobian(q, "m5"), atol=1e-14)
    np.testing.assert_allclose(number(eq.kinetic_energy), robot.kinetic_energy(q, v), rtol=1e-12)
    np.testing.assert_allclose(number(eq.potential_energy), robot.potential_energy(q), rtol=1e-12)
    np.testing.assert_allclose(number(eq.regressor()), robot.regressor(q, v, vdot), atol=1e-12)


def test_rotor_inertia_and_friction_enter():
    robot = mr.load("crab").with_parameters(armature=0.25, damping=0.5).mechanism()
    eq = robot.equations(symbols=("armatures", "dampings"))
    J1, d1 = sympy.symbols("J1 d1")
    assert eq.D[0, 0] == d1
    assert sympy.diff(eq.M[0, 0], J1) == 1
    assert eq.values[J1] == 0.25
    assert r"D \dot{q}" in eq.latex()


def test_a_joint_seen_from_its_successor_starts_no_run(rng):
    """Its axis turns with it, so the next angle does not add to its own."""
    builder = mr.Builder("turned")
    spatial = inertia.box(1.0, (0.5, 0.25, 1.0)) + inertia.point(1.0, (1, 0, 0))
    builder.body("a", spatial, joint=mr.Planar().reversed())
    at = se3.pose(None, np.array([1.0, 0, 0]))
    builder.body("b", spatial, parent="a", joint=mr.Revolute((0, 1, 0)), at=at)
    robot = builder.build()
    q, v = rng.normal(size=(2, 4))
    np.testing.assert_allclose(robot.equations().function(q, v)[0], robot.mass_matrix(q), rtol=1e-12, atol=1e-13)


def test_mimic_joints_with_whole_ratios(rng):
    robot = mimicking(2.0, np.pi / 2)
    eq = robot.equations()
    q, v = rng.normal(size=(2, 1))
    for found, expected in zip(
        eq.function(q, v), (robot.mass_matrix(q), robot.coriolis_matrix(q, v), robot.gravity_forces(q)), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-13)
    for ratio, offset in ((0.5, 0.0), (1.0, 0.3)):
        with pytest.raises(EquationsError, match=r"whole multiples|quarter turn"):
            mimicking(ratio, offset).equations()


def mimicking(ratio, offset):
    builder = mr.Builder("pair")
    builder.body("a", inertia.box(1.0, (0.5, 0.25, 0.125)), joint=mr.Revolute((1, 0, 0)))
    at = se3.pose(None, (0, 0.5, 0))
    mimic = mr.Source("a", ratio, offset)
    builder.body("b", inertia.point(1.0, (0, 0.5, 0)), parent="a", joint=mr.Revolute((1, 0, 0)), at=at, mimic=mimic)
    return builder.build()


def test_user_expressions_are_decided_exactly():
    eq = double_pendulum().equations(symbols=("gravity",))
    assert eq.normal_form(cos(q1 + q2) ** 2 + sin(q1 + q2) ** 2) == 1
    assert eq.normal_form(cos(2 * q1)) == eq.normal_form(1 - 2 * sin(q1) ** 2)
    assert eq.normal_form(sin(q1 + sympy.pi / 2)) == eq.normal_form(cos(q1))
    with pytest.raises(EquationsError, match="whole multiples"):
        eq.normal_form(cos(q1 / 2))
    with pytest.raises(EquationsError, match="no quarter turn"):
        eq.normal_form(cos(q1 + l1))


@pytest.mark.parametrize(("n", "roll"), [(30, 90.0), (60, 0.0), (200, 90.0)])
def test_too_large_robots_are_refused_with_an_estimate(n, roll):
    with pytest.raises(
        TooLargeError,
        match=rf"{n} degrees of freedom: the mass matrix alone would have about \d+e\+\d+ terms.*numeric model.*largest=",
    ):
        snake(n, roll).equations(symbols=SYMBOLS)


@pytest.mark.parametrize(("n", "roll"), sampled([(8, 0.0), (10, 0.0), (8, 90.0), (16, 0.0)], 3))
def test_the_estimates_are_of_the_right_size(n, roll, monkeypatch):
    """Of M from its first joints, and of C from M; also where axes are parallel, and the size a power of their number."""
    monkeypatch.setattr(size, "ENOUGH", 1000)
    eq = snake(n, roll).equations(symbols=SYMBOLS)
    assert 1 / 3 < size.estimate(eq.tables, eq.coordinates) / eq.terms("M") < 3
    assert 1 / 3 < size.coriolis_terms(eq.polynomial("M"), eq.coordinates) / eq.terms("C") < 3


def test_a_coriolis_matrix_that_is_too_large_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr(size, "CORIOLIS", 1)
    eq = snake(5, 90.0).equations(symbols=SYMBOLS, largest=500)
    with pytest.raises(
        TooLargeError, match=r"5 degrees of freedom: the Coriolis matrix would have about .* more than 1 times 500"
    ):
        eq.polynomial("C")


def test_time_limits_and_cancelling_stop_the_derivation():
    with pytest.raises(CancelledError, match=r"after 0\.05 s"):
        snake(12).equations(symbols=SYMBOLS, time_limit=0.05).polynomial("C")
    calls = []
    with pytest.raises(CancelledError, match="cancelled"):
        snake(6).equations(symbols=SYMBOLS, cancelled=lambda: len(calls) > 100 or calls.append(1) is not None)


def test_progress_is_told():
    stages = []
    eq = snake(4).equations(progress=lambda stage, done: stages.append((stage, done)))
    eq.polynomial("C")
    assert [stage for stage, _ in stages[:3]] == ["numbers", "size", "mass matrix"]
    str(eq)
    assert stages[-1][0] == "writing N"
    assert all(0 <= done <= 1 for _, done in stages)


def test_what_has_no_closed_form_is_refused():
    with pytest.raises(EquationsError, match=r"'floating_base' is free.*on_virtual_joints"):
        mr.load("crab").mechanism(floating=True).equations()
    with pytest.raises(InputError, match=r"no method 'kane'.*valid: two-step, lagrange"):
        mr.load("crab").mechanism().equations(method="kane")
    with pytest.raises(InputError, match=r"no kind of symbols 'mass'.*did you mean 'masses'"):
        mr.load("crab").mechanism().equations(symbols=("mass",))
    with pytest.raises(InputError, match="no part 'K'"):
        mr.load("crab").mechanism().equations().polynomial("K")


def test_no_symbol_is_called_as_something_else_is():
    """Names that are avoided are those of other things; all else stays as it is."""
    robot = mr.load("crab").mechanism()
    plain, other = robot.equations("all"), robot.equations("all", avoid=robot.frames)
    renamed = {str(s): f"mb{str(s)[1:]}" for s in plain.parameters if str(s) in robot.frames}
    assert renamed == {"m1": "mb1", "m2": "mb2", "m3": "mb3"}
    assert [renamed.get(str(s), str(s)) for s in plain.parameters] == [str(s) for s in other.parameters]
    swapped = plain.M.subs({name: sympy.Symbol(to) for name, to in renamed.items()})
    assert other.equals({"M": swapped})
    assert r"m_{b1}" in other.latex()
    assert [str(s) for s in robot.equations("gravity", avoid="g").parameters] == ["g_"]
    for wrong in (3, [3]):
        with pytest.raises(InputError, match="expected names that no symbol may have"):
            robot.equations(avoid=wrong)


def test_a_wait_of_which_nobody_is_told_is_announced(caplog):
    caplog.set_level("DEBUG", "modurob")
    robot = mr.load("crab").mechanism()
    robot.equations(progress=lambda stage, done: None)
    assert "deriving" not in caplog.text
    robot.equations()
    assert "deriving the equations of crab" in caplog.text


@pytest.mark.parametrize(
    "joint",
    [
        mr.Helical((0, 0, 1), pitch=0.05),
        mr.Helical((0, 1, 1), pitch=1 / (200 * np.pi)),
        mr.Universal((1, 1, 0), (1, -1, 0)),
    ],
)
def test_axes_and_parameters_of_joints_are_exact_and_written_as_code(joint):
    """A pitch of 0.05 m is 1/20, and one that is no short fraction a symbol."""
    b = mr.Builder("screw")
    b.body("a", inertia.point(1.0, (0.1, 0.2, 0.3)), joint=mr.Revolute((1, 0, 0)))
    b.body("b", inertia.point(2.0, (0.1, 0.2, 0.3)), parent="a", joint=joint)
    robot = b.build()
    eq = robot.equations(())
    q, v = np.linspace(0.2, 0.7, robot.nq), np.linspace(1, -1, robot.nv)
    assert max(x.q for x in eq.M.atoms(sympy.Rational)) < 1e7
    space = {}
    exec(eq.python(), space)
    M = space["equations"](q, v, [eq.values[p] for p in eq.parameters])[0]
    np.testing.assert_allclose(M, robot.mass_matrix(q), atol=1e-13)
    assert "double" in eq.c()


@pytest.mark.parametrize(
    "given", [((0.1, 0.2, 0.3), (0, 0)), ((0.1, 0.2), (0, 0, 0)), ((0.1, 0.2), (0, 0), [1.0]), (0.1, 0.2)]
)
def test_written_code_refuses_what_does_not_fit(given):
    space = {}
    exec(mr.load("double_pendulum").robot().equations().python(), space)
    for function in ("equations", "passive_forces"):
        with pytest.raises(ValueError, match=r"^q \(.*expected \(..., 2\), \(..., 2\), \(0,\)"):
            space[function](*given)
