"""Shipped robots with cables: tensegrity structures stand by themselves, cable robots are those of their sources."""

import numpy as np
import pytest

import modurob as mr
from modurob.spatial import inertia, se3


@pytest.mark.parametrize("name", ["tensegrity_prism", "tensegrity_tower", "tensegrity_arm"])
def test_tensegrity_structures_stand(name):
    """At rest as shipped, every cable taut, and stable."""
    assembly = mr.load(name)
    robot, (q, v) = assembly.robot(), assembly.initial_state()
    found = mr.equilibrium(robot, q)
    assert found.stable
    assert np.abs(found.q - q).max() < 1e-4
    assert robot.line_tensions(q, v).min() > 10.0


def test_the_prism_stands_at_150_degrees():
    """180 less the 30 degrees of Skelton and de Oliveira, but for its weight."""
    assembly = mr.load("tensegrity_prism")
    top = assembly.robot().frame_pose(assembly.initial_state()[0], "a0/top")[:3, 3]
    assert np.degrees(np.arctan2(top[1], top[0])) == pytest.approx(150.0, abs=0.5)


def test_wrench_closure_of_the_planar_robot():
    """CASPR's counts."""
    robot, grid = mr.load("cable_planar").robot(), np.linspace(-0.3, 0.3, 31)
    for angle, count in ((0.0, 961), (0.6, 479)):
        assert mr.wrench_closure(robot, [[x, y, angle] for x in grid for y in grid]).sum() == count


def test_robocrane_hangs():
    """T = m g sqrt(9.75 + h²) / (6 h), h = 2 m below its anchors: given so, the platform stays."""
    robot = mr.load("robocrane").robot()
    q, still = robot.neutral(), np.zeros(6)
    T = 30 * 9.81 * np.sqrt(9.75 + 4) / 12
    assert robot.line_tensions(q, still) == pytest.approx([T] * 6, rel=1e-6)
    assert robot.forward_dynamics(q, still, robot.passive_forces(q, still)) == pytest.approx(still, abs=1e-4)
    moved = np.array([0.2, -0.1, 0.15, 0.1, -0.03, 0.02])
    assert mr.from_lengths(robot, robot.line_lengths(moved), q) == pytest.approx(moved, abs=1e-9)


def test_lines_of_two_organisms_keep_apart():
    """Equal names in a world are those of their organisms; docked together, the second gets a number."""
    rope = mr.Elastic(stiffness=100.0, rest=0.1)
    one = mr.load("crab").with_line("rope", ["m0/3", "m3/3"], rope)
    other = one.renamed({name: f"n{k}" for k, name in enumerate(one.modules)})
    far = other.mechanism(floating=True).neutral()
    far[:3] = 5.0
    world = mr.World({"a": mr.Organism(one), "b": mr.Organism(other, q=far)})
    assert [row.name for row in world.mechanism.lines] == ["a/rope", "b/rope"]
    assert list(one.joined(other, "m5/3", "n5/3").setup.lines) == ["rope", "rope 2"]


def test_a_path_runs_along_its_line():
    """The corners of a line over a pulley are as long as the line, but for the corners cut."""
    from tests.lines.test_tendons import arm_with_pulley

    robot = arm_with_pulley(1)
    q = robot.neutral() + 0.3
    path = robot.line_paths(q)[0]
    length = np.linalg.norm(np.diff(path, axis=0), axis=-1).sum()
    assert length == pytest.approx(robot.line_lengths(q)[0], rel=5e-3)


def test_a_rest_length_is_an_input():
    """A drum whose drive takes positions leaves its line the length that it is told: the load comes to hang that much higher."""
    b = mr.Builder("hoist")
    b.body(
        "load", inertia.point(2.0, (0, 0, 0)), joint=mr.Prismatic((0, 0, 1)), properties=mr.JointProperties(effort=0.0)
    )
    b.body("drum", inertia.cylinder(0.5, 0.05, 0.1), joint=mr.Revolute((0, 0, 1)), at=se3.pose(None, (0, 0, 3)))
    rope = mr.Elastic(stiffness=2e4, rest=2.0, damping=400.0)
    b.line("rope", [("world", (0, 0, 3), mr.Winch("drum", 0.05)), ("load", (0, 0, 0))], rope)
    gains = mr.control.cascade_of(0.01, 0.02, damping_ratio=1.0, settling_time=0.2)
    drive = mr.Drive(mr.Motor(1.0), losses=mr.Losses(viscous=0.02), loops=gains.loops(), input="position")
    robot = b.build().with_drive("drum", drive)
    turn = np.array([0.0, 4.0])
    run = mr.simulate(robot, [1.0, 0.0], duration=4.0, controller=lambda t, q, v: turn, stepper=mr.RungeKutta4(1e-3))
    assert run.status.ok
    assert run.q[-1, 1] == pytest.approx(4.0, abs=2e-2)
    stretch = 2 * 9.81 / 2e4
    left = 2.0 - 0.05 * run.q[-1, 1]
    assert run.q[-1, 0] == pytest.approx(3.0 - left * (1 + stretch), abs=1e-4)
