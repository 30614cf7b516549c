"""Lines against MuJoCo's spatial tendons, on random robots away from zero."""

import numpy as np
import pytest

import modurob as mr
from modurob.spatial import inertia, se3, so3
from tests.oracles.mujoco_tendons import Tendons
from tests.robots import random_mechanism, random_state

KINDS = ("revolute", "prismatic", "universal", "spherical")


def tied(rng, floating=False, damping=0.0):
    """A random robot with a cable and a spring over points, and one around a pulley."""
    robot = random_mechanism(rng, 5, kinds=KINDS, floating=floating).ideal()
    bodies = list(robot.bodies)

    def point():
        return str(rng.choice(bodies)), rng.normal(size=3)

    far = [("world", (6.0, 0.0, 0.0)), (bodies[2], rng.normal(size=3)), ("world", (0.0, 7.0, 0.0))]
    robot = robot.with_line("cable", far, mr.Elastic(stiffness=50.0, rest=1.5, damping=damping))
    return robot.with_line("spring", [("world", (-5.0, 1, 2)), point(), point()], mr.Spring(20.0, 1.0, damping))


@pytest.mark.parametrize("floating", [False, True])
def test_length_arms_and_forces(floating):
    rng = np.random.default_rng(3)
    for _ in range(8):
        robot = tied(rng, floating, damping=0.7)
        q, v, *_ = random_state(rng, robot)
        tendons = Tendons(robot, q)
        tendons.place(q, v)
        np.testing.assert_allclose(robot.line_lengths(q), tendons.lengths(), rtol=1e-12)
        np.testing.assert_allclose(robot.line_jacobian(q), tendons.arms(q), atol=1e-11)
        np.testing.assert_allclose(robot.passive_forces(q, v), tendons.passive(q), rtol=1e-8, atol=1e-8)


def arm_with_pulley(side, height=0.0, stiffness=40.0):
    """Two links on a base; the line comes from the base around a pulley at the elbow, or past it, to the far link."""
    b = mr.Builder("elbow", gravity=(9.81, 0, 0))
    own = inertia.spatial_inertia(1.0, (0.5, 0, 0), 0.1 * np.eye(3))
    b.body("upper", own, joint=mr.Revolute((0, 0, 1)))
    b.body("lower", own, parent="upper", joint=mr.Universal((0, 0, 1), (0, 1, 0)), at=se3.pose(None, (1.0, 0, 0)))
    turned = se3.pose(so3.about(np.array([0.0, 0, 1]), np.array(0.4)), (1.0, 0, 0.0))
    route = [("world", (-0.5, 0.3, height)), ("upper", turned, mr.Pulley(0.2, side)), ("lower", (0.8, 0.1, -height))]
    b.line("tendon", route, mr.Spring(stiffness=stiffness, length=1.0))
    return b.build()


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("height", [0.0, 0.3])
def test_around_a_pulley_and_past_it(side, height):
    """In its plane and beside it, where the line winds as on a cylinder; where it does not touch it is straight."""
    robot, rng = arm_with_pulley(side, height), np.random.default_rng(5)
    lifted = 0
    for _ in range(40):
        q = rng.uniform(-1, 1, 3) * [0.5, 1.4, 0.3]
        tendons = Tendons(robot, q)
        tendons.place(q, np.zeros(3))
        np.testing.assert_allclose(robot.line_lengths(q), tendons.lengths(), rtol=1e-9)
        np.testing.assert_allclose(robot.line_jacobian(q), tendons.arms(q), atol=1e-8)
        np.testing.assert_allclose(robot.passive_forces(q, np.zeros(3)), tendons.passive(q), atol=1e-7)
        X = robot.forward_kinematics(q)
        ends = [(-0.5, 0.3, height, 1.0), X["lower"] @ [0.8, 0.1, -height, 1.0]]
        lifted += np.linalg.norm(np.subtract(*ends)[:3]) > robot.line_lengths(q)[0] - 1e-12
    assert 3 < lifted < 37


def test_two_seconds_of_motion():
    """A chain of two rods, a taut cable, one that goes slack and taut again, and a spring around a pulley."""
    robot = arm_with_pulley(1, 0.1, stiffness=4.0)
    robot = robot.with_line(
        "cable", [("world", (1, 2, 0)), ("upper", (1, 0, 0))], mr.Elastic(stiffness=200.0, rest=1.9)
    )
    q, v = np.array([0.3, -0.4, 0.1]), np.array([0.1, 0.2, -0.3])
    run = mr.simulate(robot, q, v, duration=2.0, stepper=mr.RungeKutta4(2e-4))
    tensions = robot.line_tensions(run.q, run.v)[:, 1]
    assert tensions.min() == 0
    assert tensions.max() > 3
    theirs = Tendons(robot, q).moved(q, v, 2.0, 2e-4)
    np.testing.assert_allclose(run.q[-1], theirs, atol=1e-6)
