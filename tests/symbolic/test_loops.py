"""Loops and lines in closed form: against the kernels, and against forms derived by hand."""

import numpy as np
import pytest
import sympy

import modurob as mr
from modurob.errors import EquationsError, UnknownNameError
from modurob.spatial import inertia, se3
from tests.oracles import strut
from tests.oracles.four_bar import FourBar
from tests.oracles.linkages import Z, along_x, four_bar_robot, four_bar_state, rod, slider_crank

BAR = FourBar()


@pytest.fixture(scope="module")
def four_bar():
    return four_bar_robot(BAR).equations().independent(["crank"])


def test_the_conditions_of_a_four_bar(four_bar):
    """a e(q1) + b e(q1 + q2) = d + c e(q3), and nothing else: what holds for every pose of a planar loop is left out."""
    q1, q2, q3 = four_bar.equations.q
    expected = [
        sympy.Rational(2, 5) * f(q1) + sympy.Rational(9, 10) * f(q1 + q2) - sympy.Rational(4, 5) * f(q3) - d
        for f, d in ((sympy.cos, 1), (sympy.sin, 0))
    ]
    assert [sympy.expand(x + y) for x, y in zip(four_bar.conditions, expected, strict=True)] == [0, 0]
    assert four_bar.equations.K.shape == (2, 3)
    assert "K(q)^T lambda" in str(four_bar.equations)


@pytest.mark.parametrize("seed", range(5))
def test_a_four_bar_as_by_hand(four_bar, seed):
    """I(t) t'' + I'(t) t'² / 2 + V'(t) = tau, with the angles of coupler and rocker from circles."""
    rng = np.random.default_rng(seed)
    t, td = rng.uniform(-3, 3), rng.normal()
    q, v = four_bar_state(BAR, t, td)
    G, g, M, bias = four_bar.function(q, v)
    assert M[0, 0] == pytest.approx(BAR.inertia(t), rel=1e-11)
    assert (1.5 - bias[0]) / M[0, 0] == pytest.approx(BAR.acceleration(t, td, 1.5), rel=1e-11)
    numeric = four_bar.equations.robot.independent_coordinates(q, v)
    assert pytest.approx(v, abs=1e-12) == G[:, 0] * td
    if numeric.rates.tolist() == [0]:
        assert pytest.approx(numeric.G, rel=1e-10) == G
    vdot = four_bar.equations.robot.forward_dynamics(q, v, [1.5, 0, 0])
    assert G @ [(1.5 - bias[0]) / M[0, 0]] + g == pytest.approx(vdot, rel=1e-10)


@pytest.mark.parametrize("t", [0.7, -2.1])
def test_positions_of_a_four_bar(four_bar, t):
    """The open branch is that of the circles, the other closes as well."""
    q1, q2, q3 = four_bar.equations.q
    expected, _ = four_bar_state(BAR, t, 0.0)
    for branch in (1, -1):
        found = four_bar.positions(branch)
        assert set(found) == {q2, q3}
        q = np.array([t, float(found[q2].subs(q1, t)), float(found[q3].subs(q1, t))])
        assert np.abs(four_bar.equations.robot.loop_error(q)).max() < 1e-12
        if branch == 1:
            assert np.exp(1j * q) == pytest.approx(np.exp(1j * expected), abs=1e-12)


def test_a_slider_crank():
    """A length among the dependent coordinates, and symbols of lengths."""
    linkage = slider_crank(np.random.default_rng(0))
    eq = linkage.robot.equations(digits=6)
    found = eq.independent(["crank"])
    positions = found.positions()
    rng = np.random.default_rng(2)
    for _ in range(3):
        q, v = linkage.state(rng)
        numbers = {eq.q[0]: q[0]}
        assert float(positions[eq.q[2]].subs(numbers)) == pytest.approx(q[2], abs=1e-12)
        tau = np.array([0.7, 0, 0])
        G, g, M, bias = found.function(q, v)
        vdot = G @ np.linalg.solve(M, G.T @ tau - bias) + g
        # the inertias are rounded to six decimals
        assert vdot == pytest.approx(linkage.robot.forward_dynamics(q, v, tau), rel=1e-4, abs=1e-4)


def chain(name, joints, loops, gravity=(0, -9.81, 0)):
    b = mr.Builder(name, gravity=gravity)
    for body, parent, joint, at in joints:
        b.body(body, rod(1.0, 1.0), parent=parent, joint=joint, at=se3.pose(None, at))
    for k, (joint, one, other, at, seat) in enumerate(loops):
        b.loop(f"loop{k}", joint, one, other, se3.pose(None, at), se3.pose(None, seat))
    return b.build()


def six_bar():
    """Two loops that share a link: the second crank turns the first loop's rocker."""
    joints = [
        ("crank", "world", Z, (0, 0, 0)),
        ("coupler", "crank", Z, (1, 0, 0)),
        ("rocker", "world", Z, (2, 0, 0)),
        ("second", "rocker", Z, (1, 0, 0)),
        ("last", "world", Z, (4, 0, 0)),
    ]
    loops = [(Z, "coupler", "rocker", (1.5, 0, 0), (1, 0, 0)), (Z, "second", "last", (1.5, 0, 0), (1, 0, 0))]
    return chain("six-bar", joints, loops)


def oldham():
    """Two slides and a turn, closed by a slide: fixed directions, kinds other than hinges."""
    joints = [
        ("disc", "world", Z, (0, 0, 0)),
        ("cross", "disc", mr.Prismatic((1, 0, 0)), (0, 0, 0)),
        ("other", "world", Z, (0.25, 0, 0)),
    ]
    return chain("oldham", joints, [(mr.Prismatic((0, 1, 0)), "cross", "other", (0, 0, 0), (0, 0, 0))])


@pytest.mark.parametrize("make", [six_bar, oldham])
def test_other_loops_as_the_kernels(make):
    """Acceleration of a closed state at random, and K with the null vectors of the kernels'."""
    robot, rng = make(), np.random.default_rng(4)
    found = robot.equations().independent()
    from modurob.algorithms.constraints.closure import closed_configurations

    for q, _ in zip(closed_configurations(robot), range(3), strict=False):
        v = robot.close_velocity(q, rng.normal(size=robot.nv))
        tau = rng.normal(size=robot.nv)
        G, g, M, bias = found.function(q, v)
        assert np.abs(robot.loop_jacobian(q) @ G).max() < 1e-10
        vdot = G @ np.linalg.solve(M, G.T @ tau - bias) + g
        expected = robot.forward_dynamics(q, v, tau)
        assert vdot == pytest.approx(expected, rel=1e-8, abs=1e-8 * np.abs(expected).max())


# ---- the single strut ----


def test_the_single_strut():
    """Lengths, tensions and torques of its cables, in two angles and three drums, are those of section and swivel by hand; and the
    whole accelerates as the kernels have it and as the minimal model by hand."""
    E = 200e6
    robot = strut.strung(E)
    eq = robot.equations(digits=9)
    y, ydot = np.array([0.2, -0.3, 0.05, 0.08, 0.11]), np.array([0.4, -0.7, 0.3, -0.2, 0.5])
    whole, rates = strut.tree_state(y, ydot)
    places = [0, 1, 3, 7, 11]
    q, v = whole[places], rates[places]
    push = np.zeros(5)
    for i in range(3):
        line = eq.line(f"rope{i}")
        parts = [line.length, line.stretch / line.natural, line.tension, line.arms]
        function = sympy.lambdify([*eq.q, *eq.v, *eq.parameters], parts, cse=True)
        length, strain, tension, arms = function(*q, *v, *(eq.values[s] for s in eq.parameters))
        by_hand = strut.geometry(strut.tip(y[:2]), i, 0.0)
        assert strain == pytest.approx(y[2 + i], abs=1e-8)
        arc = strut.RADIUS * (np.pi / 2 - by_hand.elevation)
        assert length == pytest.approx(by_hand.free + arc, rel=1e-9)
        assert tension == pytest.approx(robot.line_tensions(q, v)[i], rel=1e-6)
        push -= tension * arms.ravel()
    assert push == pytest.approx(robot.passive_forces(q, v), rel=1e-7, abs=1e-9)
    torques = np.array([0, 0, 4.6, 4.42, 4.38])
    M, C, N = eq.function(q, v)
    vdot = np.linalg.solve(M, torques + push - C @ v - N)
    assert vdot == pytest.approx(robot.forward_dynamics(q, v, torques + robot.passive_forces(q, v)), rel=1e-5)
    small = strut.Minimal(E, block_mass=0.0)
    small.swivelled = 0.0
    assert vdot[:2] == pytest.approx(small.acceleration(y, ydot, torques[2:])[:2], rel=1e-5)


def test_a_line_that_pushes_when_slack_does_not():
    """Cables that only pull are written as cases."""
    b = mr.Builder("pendulum")
    b.body("ball", inertia.point(1.0, (0, 0, -1)), joint=mr.Revolute((1, 0, 0)))
    b.line("rope", [("world", (0, 0, -2)), ("ball", (0, 0, -1))], mr.Elastic(1.0, 1.5, damping=0.2))
    robot = b.build()
    eq = robot.equations()
    line, (q1,), (qd1,) = eq.line("rope"), eq.q, eq.v
    assert line.tension.subs({q1: 0.1, qd1: 0}) == 0
    assert float(line.tension.subs({q1: 2.0, qd1: 0})) == pytest.approx(np.sqrt(5 - 4 * np.cos(2.0)) / 1.5 - 1)
    moving = {q1: 2.0, qd1: -0.3}
    assert float(line.forces[0].subs(moving)) == pytest.approx(robot.passive_forces([2.0], [-0.3])[0], rel=1e-12)
    b.line(
        "belt", [("world", (0, 0, -2)), ("world", (0, 1, 0), mr.Pulley(0.1)), ("ball", (0, 0, -1))], mr.Spring(1.0, 1.0)
    )
    with pytest.raises(EquationsError, match="line 'belt': closed forms are of lines over points, and swivels"):
        b.build().equations().line("belt")
    with pytest.raises(UnknownNameError, match="no line 'cord'"):
        eq.line("cord")


# ---- what has no closed form is said ----


def test_what_cannot_be():
    with pytest.raises(EquationsError, match="has no loops: its equations are M, C and N"):
        mr.load("crab").mechanism().equations().independent()
    eq = four_bar_robot(BAR).equations()
    with pytest.raises(EquationsError, match="no rate 'wheel'"):
        eq.independent(["wheel"])
    with pytest.raises(EquationsError, match="leave 2 equations for 3 others: expected 1 independent ones"):
        eq.independent([])
    with pytest.raises(EquationsError, match=r"loops or couplings pin: this is for trees"):
        eq.linearised([0, 0, 0])
    with pytest.raises(EquationsError, match="4 dependent coordinates and 4 conditions"):
        six_bar().equations().independent().positions()
    b = mr.Builder("screwed", gravity=(0, 0, 0))
    b.body("a", rod(1.0, 1.0), joint=Z)
    b.loop("screw", mr.Helical((0, 0, 1), 0.1), "world", "a")
    with pytest.raises(EquationsError, match="loop 'screw' is helical: closed forms are known of fixed, revolute"):
        _ = b.build().equations().conditions
    b = mr.Builder("apart", gravity=(0, 0, 0))
    b.body("a", rod(1.0, 1.0), joint=Z)
    b.loop("far", mr.Spherical(), "world", "a", along_x(9.0))
    with pytest.raises(EquationsError, match="no closed configuration was found"):
        b.build().equations().independent()


def test_more_dependent_rates_than_can_be_written():
    """Ten links in a row in a plane, held at three places: the determinant is of rows that belong together."""
    b = mr.Builder("chain", gravity=(0, 0, 0))
    parent = "world"
    for k in range(9):
        b.body(f"l{k}", rod(1.0, 1.0), parent=parent, joint=Z, at=along_x(1.0 if k else 0.0))
        parent = f"l{k}"
    for k, x in ((2, 2.0), (4, 3.0), (6, 4.0), (8, 5.0)):
        b.loop(f"pin{k}", Z, f"l{k}", "world", along_x(1.0), along_x(x))
    with pytest.raises(
        EquationsError, match="8 dependent rates are tied to each other by 8 equations: closed forms are for 6"
    ):
        b.build().equations().independent([f"l{k}" for k in (0,)])
