"""Gravity compensation and feed-forward."""

import numpy as np
import pytest

import modurob as mr
from modurob.control import FeedForward, GravityCompensation
from modurob.motion import Trajectory
from tests.control.loops import closed_loop_matrix, run
from tests.robots import random_mechanism, random_state

CLOSE = 1e-10


@pytest.mark.parametrize("seed", range(3))
def test_a_robot_stays_where_it_is_put(seed):
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 4, ("revolute", "prismatic", "spherical", "universal"))
    q = robot.random_configuration(rng)
    tau = GravityCompensation().on(robot).torque(0.0, q, np.zeros(robot.nv))
    assert np.abs(tau).max() > 0.1
    np.testing.assert_allclose(robot.forward_dynamics(q, np.zeros(robot.nv), tau), 0, atol=1e-9)


def test_with_gains_it_rests_at_its_set_point(rng):
    """The closed loop at the set point is M e'' + Kd e' + Kp e = 0: gravity has gone, its slope has not."""
    robot = mr.load("crab").mechanism()
    q = robot.random_configuration(rng)
    Kp, Kd = np.diag([3.0, 4.0, 5.0]), np.diag([1.0, 2.0, 0.5])
    A = closed_loop_matrix(robot, GravityCompensation(Kp, Kd, q).on(robot), q)
    M = robot.mass_matrix(q)
    np.testing.assert_allclose(A[3:], -np.linalg.solve(M, np.hstack([Kp, Kd])), atol=1e-9)


def test_feed_forward_alone_follows_from_the_reference_and_does_not_come_back_to_it(rng):
    robot = mr.load("crab").mechanism()
    curve = Trajectory.quintic(np.zeros(3), [0.3, -0.2, 0.4], 1.0)
    law = FeedForward(curve).on(robot)
    t = np.linspace(0, 1, 11)
    q, _ = run(robot, law, np.zeros(3), np.zeros(3), t)
    # no feedback: what the integrator errs stays, and grows
    assert np.abs(q - curve(t).position).max() < 1e-6
    state, other = (rng.normal(size=(2, 3)) for _ in range(2))
    np.testing.assert_array_equal(law.torque(0.3, *state), law.torque(0.3, *other))


def test_feedback_beside_feed_forward(rng):
    robot = mr.load("crab").mechanism()
    q, v = rng.normal(size=(2, 3))
    q_d, v_d, vdot_d = rng.normal(size=(3, 3))
    tau = FeedForward(lambda t: (q_d, v_d, vdot_d), 2.0, [1.0, 2.0, 3.0]).on(robot).torque(0.0, q, v)
    expected = robot.inverse_dynamics(q_d, v_d, vdot_d) + 2 * (q_d - q) + np.array([1, 2, 3]) * (v_d - v)
    np.testing.assert_allclose(tau, expected, atol=CLOSE)


def test_damping_is_fed_forward(rng):
    robot = mr.load("crab").with_parameters(damping=0.3).mechanism()
    q, v, vdot = random_state(rng, robot)
    tau = FeedForward(lambda t: (q, v, vdot)).on(robot).torque(0.0, q, v)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau - 0.3 * v), vdot, atol=1e-9)


@pytest.mark.parametrize("recipe", [GravityCompensation(2.0, 1.0, 0.3), FeedForward(0.3, 2.0, 1.0)])
def test_a_floating_base_gets_no_torque(recipe, rng):
    """The model sees the base where it is; for a robot on a ground, at its set point, both laws are then the weight it carries."""
    robot = mr.load("crab").mechanism(floating=True).on_ground()
    q = np.append(robot.random_configuration(rng)[:7], [0.3] * 3)
    tau = recipe.on(robot).torque(0.0, q, np.zeros(9))
    assert not tau[:6].any()
    np.testing.assert_allclose(tau[6:], robot.gravity_forces(q)[6:], atol=CLOSE)
    batch = recipe.on(robot).torque(0.0, np.array([q, q]), np.zeros((2, 9)))
    np.testing.assert_allclose(batch, [tau, tau], atol=CLOSE)
