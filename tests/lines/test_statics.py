"""Form finding and equilibria: closed forms of prisms, crossed bars and suspended platforms."""

import numpy as np
import pytest

import modurob as mr
from modurob.errors import ClosureError, InputError
from modurob.spatial import inertia, se3, so3


@pytest.mark.parametrize("bars", [3, 4, 5, 6])
def test_prisms_without_diagonals(bars):
    """Twist pi/2 - pi/p; force densities for bars of -1: polygons C = cos(pi/p)/cos(twist - pi/p), verticals 2 C cos(twist)."""
    frame = mr.prism(bars, radius=0.7, height=1.3)
    states = frame.self_stress()
    assert states.shape[1] == 1
    w = -states[:, 0] / states[0, 0]
    turn = np.pi / 2 - np.pi / bars
    C = np.cos(np.pi / bars) / np.cos(turn - np.pi / bars)
    expected = np.repeat([-1.0, C, C, 2 * C * np.cos(turn)], bars)
    assert w == pytest.approx(expected, abs=1e-9)
    if bars == 3:
        assert np.degrees(turn) == pytest.approx(30.0)
        assert w[[3, 9]] == pytest.approx([0.57735, 1.0], abs=5e-6)
    assert frame.mechanisms().shape[1] == 1 + 6 * bars - 6 - 4 * bars
    assert frame.is_stable(w)
    assert not frame.is_stable(-w)
    assert frame.kind == 1


@pytest.mark.parametrize(("bars", "ratio", "twist"), [(3, 0.8, 45.0), (4, 1.3, 60.0), (5, 0.7, 70.0)])
def test_prisms_with_diagonals(bars, ratio, twist):
    """Skelton and de Oliveira: bottom s C, top C / s, verticals 2 C cos(twist), diagonals -cos(twist + pi/p)/cos(twist - pi/p)."""
    frame, turn = mr.prism(bars, twist=np.radians(twist), ratio=ratio), np.radians(twist)
    C = np.cos(np.pi / bars) / np.cos(turn - np.pi / bars)
    diagonal = -np.cos(turn + np.pi / bars) / np.cos(turn - np.pi / bars)
    w = np.repeat([-1.0, ratio * C, C / ratio, 2 * C * np.cos(turn), diagonal], bars)
    assert np.abs(frame.equilibrium_matrix() @ w).max() < 1e-12
    found = frame.prestress(least=0.5)
    assert (found[bars:] >= 0.5 - 1e-7).all()
    assert np.abs(frame.equilibrium_matrix() @ found).max() < 1e-7


def test_loads_are_held():
    frame = mr.Framework([[0, 0, 0], [2, 0, 0], [1, 0, -1]], bars=[], cables=[(0, 2), (1, 2)], fixed=(0, 1))
    w = frame.prestress(least=0.0, loads=[[0, 0, 0], [0, 0, 0], [0, 0, -10.0]])
    assert w == pytest.approx([5.0, 5.0])
    with pytest.raises(InputError, match="no force densities hold these loads"):
        frame.prestress(least=0.0, loads=[[0, 0, 0], [0, 0, 0], [0, 0, 10.0]])
    with pytest.raises(InputError, match="no force densities hold these loads"):
        frame.prestress(least=0.0, loads=[[0, 0, 0], [0, 0, 0], [0, 1.0, 0]])


def test_stiffness_is_the_slope_of_the_forces():
    """Central differences of the forces of linear members about a prestressed prism."""
    frame = mr.prism(3, twist=np.radians(50.0))
    w = frame.prestress(least=2.0)
    k = np.where(np.arange(len(frame.members)) < 3, 5000.0, 300.0)
    rest = frame.lengths - w * frame.lengths / k

    def forces(nodes):
        ways = nodes[frame.members[:, 1]] - nodes[frame.members[:, 0]]
        lengths = np.linalg.norm(ways, axis=-1)
        pull = (k * (lengths - rest) / lengths)[:, None] * ways
        total = np.zeros_like(nodes)
        np.add.at(total, frame.members[:, 0], pull)
        np.add.at(total, frame.members[:, 1], -pull)
        return total.ravel()

    nodes, h = np.array(frame.nodes), 1e-6
    assert np.abs(forces(nodes)).max() < 1e-6
    steps = (h * np.eye(nodes.size)).reshape(-1, *nodes.shape)
    slope = np.stack([(forces(nodes + d) - forces(nodes - d)) / (2 * h) for d in steps], axis=-1)
    assert -slope == pytest.approx(frame.stiffness(w, k), abs=1e-4)
    modes = frame.modes(w, k, 0.5)
    assert (np.abs(modes.frequencies[:6]) < 1e-2).all()
    assert (modes.frequencies[6:] > 1).all()


def test_bad_frameworks():
    with pytest.raises(InputError, match=r"nodes of shape \(2, 2\)"):
        mr.Framework([[0, 0], [1, 1]], [], [])
    with pytest.raises(InputError, match=r"bars: \(0, 7\): expected two different nodes of 0 to 1"):
        mr.Framework(np.zeros((2, 3)), [(0, 7)], [])
    with pytest.raises(InputError, match="fixed node 5"):
        mr.Framework(np.zeros((2, 3)), [(0, 1)], [], fixed=(5,))
    with pytest.raises(InputError, match=r"force densities of shape \(2,\)"):
        mr.prism(3).is_stable([1.0, 2.0])
    with pytest.raises(InputError, match="prism of 2 bars"):
        mr.prism(2)


# ---- cable robots ----


def test_equilibrium_of_a_hanging_chain_with_a_loop():
    """A four-bar in gravity settles where its potential is least, and swings with the frequency of its own inertia."""
    from tests.oracles.four_bar import FourBar
    from tests.oracles.linkages import four_bar_robot, four_bar_state

    bar = FourBar()
    robot = four_bar_robot(bar)
    q, _ = four_bar_state(bar, -1.2, 0.0)
    found = mr.equilibrium(robot, q)
    t, h = float(found.q[0]), 1e-4
    slope = (bar.potential(t + h) - bar.potential(t - h)) / (2 * h)
    curve = (bar.potential(t + h) - 2 * bar.potential(t) + bar.potential(t - h)) / h**2
    assert slope == pytest.approx(0.0, abs=1e-6)
    expected = np.sign(curve) * np.sqrt(abs(curve) / bar.inertia(t))
    assert found.frequencies == pytest.approx([expected], rel=1e-5)
    assert found.stable == (curve > 0)


def test_forward_kinematics_of_a_platform():
    rng = np.random.default_rng(4)
    b = mr.Builder("platform")
    b.body("platform", inertia.cylinder(1.0, 0.5, 0.1), joint=mr.Free())
    for k in range(8):
        b.line(f"cable{k}", [("world", rng.normal(size=3) * 3), ("platform", rng.normal(size=3) * 0.3)], mr.Tension())
    robot = b.build()
    truth = robot.integrate(robot.neutral(), rng.normal(size=6) * 0.2)
    found = mr.from_lengths(robot, robot.line_lengths(truth), robot.neutral())
    assert robot.difference(found, truth) == pytest.approx(np.zeros(6), abs=1e-10)
    with pytest.raises(ClosureError, match="lines miss their lengths by"):
        mr.from_lengths(robot, np.full(8, 0.01), robot.neutral())
    with pytest.raises(InputError, match=r"lengths of shape \(2,\): expected \(8,\)"):
        mr.from_lengths(robot, [1.0, 2.0], robot.neutral())


def test_a_platform_settles_under_elastic_cables():
    """Six cables: tensions balance the weight, and the motion from there is none."""
    rng = np.random.default_rng(7)
    b = mr.Builder("hung")
    b.body("platform", inertia.cylinder(2.0, 0.5, 0.1), joint=mr.Free())
    for k in range(6):
        turn = so3.about(np.array([0.0, 0, 1]), np.array(k * np.pi / 3))
        b.line(
            f"cable{k}",
            [("world", turn @ (2.0, 0.3 * (-1) ** k, 2.0)), ("platform", turn @ (0.5, -0.2 * (-1) ** k, 0.0))],
            mr.Elastic(stiffness=500.0, rest=2.2),
        )
    robot = b.build()
    found = mr.equilibrium(robot, robot.integrate(robot.neutral(), rng.normal(size=6) * 0.05))
    assert found.stable
    run = mr.simulate(robot, found.q, duration=0.5)
    assert np.abs(robot.difference(run.q[0], run.q[-1])).max() < 1e-8
    with pytest.raises(ClosureError, match="no equilibrium near"):
        mr.equilibrium(robot.without_forces(), robot.neutral())


@pytest.mark.parametrize("q0", [-0.5, -0.001, 0.0, 0.01, 0.3])
def test_equilibrium_is_found_from_where_lines_are_slack(q0):
    """A mass on a rope: m g / k below where the rope becomes taut."""
    b = mr.Builder("hung")
    b.body("ball", inertia.sphere(5.0, 0.1), joint=mr.Prismatic((0, 0, 1)))
    b.line("rope", [("world", (0, 0, 1)), ("ball", (0, 0, 0))], mr.Elastic(stiffness=2e4, rest=1.0))
    np.testing.assert_allclose(mr.equilibrium(b.build(), [q0]).q, -5 * 9.81 / 2e4, rtol=1e-9)


def test_robocrane():
    """Centred and level, h below the anchors: T = m g sqrt(9.75 + h²) / (6 h) in each of six cables."""
    mass, h = 3.0, 2.0
    b = mr.Builder("RoboCrane")
    b.body("platform", inertia.cylinder(mass, 0.5, 0.1), joint=mr.Free(), properties=mr.JointProperties(effort=0.0))
    for k in range(6):
        above, below = (k + 1) // 2 * 2 * np.pi / 3, np.pi / 3 + k // 2 * 2 * np.pi / 3
        anchor = 2 * np.sqrt(3) * np.array([np.cos(above), np.sin(above), 0.0]) + [0, 0, h]
        corner = np.sqrt(3) / 2 * np.array([np.cos(below), np.sin(below), 0.0])
        b.line(f"cable{k}", [("world", anchor), ("platform", corner)], mr.Tension())
    robot = b.build()
    found = robot.actuation(robot.neutral())
    assert found.verdict == "properly actuated"
    assert not found.closure
    u = found.feasible(found.G.T @ robot.gravity_forces(robot.neutral()))
    assert u == pytest.approx([mass * 9.81 * np.sqrt(9.75 + h**2) / (6 * h)] * 6, rel=1e-9)
    assert mr.wrench_feasible(robot, robot.neutral())


@pytest.mark.judge
def test_the_t_bar_of_stedy():
    """Two crossed bars under nylon strings, no gravity, from rest: bar angles of its minimal model, 10 s."""
    run = t_bar(10.0)
    angles = run.q[[1000, 2000, 5000, 10000], 0]
    assert angles == pytest.approx([0.486955987, 0.757033007, 0.606858600, 0.484501150], abs=1e-6)


def t_bar(duration):
    b = mr.Builder("T-bar", gravity=(0, 0, 0))
    length, radius, wide = 5.0, 0.05, 5 / np.sqrt(2)
    mass = 500 * np.pi * radius**2 * length
    # slender rods
    rod = inertia.spatial_inertia(mass, np.zeros(3), mass * length**2 / 12 * np.diag([0.0, 1.0, 1.0]))
    own = inertia.moved(rod, se3.pose(None, (length / 2, 0, 0)))
    b.body("left", own, joint=mr.Revolute((0, 0, 1)))
    b.body("right", own, joint=mr.Revolute((0, 0, 1)), at=se3.pose(None, (wide, 0, 0)))
    tips = ("left", (length, 0, 0)), ("right", (length, 0, 0))
    EA = 7e7 * np.pi * 1e-6
    b.line("side of right", [("world", (0, 0, 0)), tips[1]], mr.Elastic(EA, 0.7 * wide))
    b.line("side of left", [("world", (wide, 0, 0)), tips[0]], mr.Elastic(EA, 0.7 * wide))
    b.line("top", list(tips), mr.Elastic(EA, wide))
    return mr.simulate(b.build(), [np.pi / 4, 3 * np.pi / 4], duration=duration, stepper=mr.RungeKutta4(1e-3))


def test_the_first_second_of_the_t_bar():
    assert t_bar(1.0).q[-1, 0] == pytest.approx(0.486955987, abs=1e-7)
