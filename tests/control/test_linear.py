"""Robots near one state: against the closed form, differences on the manifold, and python-control."""

import sys

import control
import numpy as np
import pytest

import modurob as mr
from modurob.control import LQR, linearised, lqr, state_space
from modurob.errors import ControlError
from tests.control.loops import closed_loop_matrix, poles, run
from tests.robots import KINDS, random_mechanism, random_state


def test_the_closed_form_agrees():
    robot = mr.load("crane").with_parameters(damping=0.2).robot()
    assert robot.damping.any()
    theirs = robot.equations().linearised([0, 0.5], [1, -0.3], [2, 3])
    A, B = linearised(robot, [0.0, 0.5], [1.0, -0.3], [2.0, 3.0])
    np.testing.assert_allclose(A, np.array(theirs.A, float), atol=1e-12)
    np.testing.assert_allclose(B, np.array(theirs.B, float), atol=1e-12)
    at_rest = robot.equations().linearised([0, 0.5], [1, -0.3])
    np.testing.assert_allclose(linearised(robot, [0.0, 0.5], [1.0, -0.3]).A, np.array(at_rest.A, float), atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_small_motions_of_any_robot(kind):
    """Two robots a little apart, moved on for a little while, forward and back."""
    rng = np.random.default_rng(KINDS.index(kind))
    robot = random_mechanism(rng, 3, (kind, "revolute"))
    q, v, tau = random_state(rng, robot)
    A, B = linearised(robot, q, v, tau, [j.name for j in robot.joints])
    x, u = rng.normal(size=2 * robot.nv), rng.normal(size=robot.nv)

    def ahead(h, s):
        """The other robot, s (x, u) away, from the first after h seconds, to first order in h."""
        one = q, v, tau
        other = robot.integrate(q, s * x[: robot.nv]), v + s * x[robot.nv :], tau + s * u
        states = [(robot.integrate(a, h * b), b + h * robot.forward_dynamics(a, b, c)) for a, b, c in (one, other)]
        return np.append(robot.difference(states[0][0], states[1][0]), states[1][1] - states[0][1])

    s, h = 1e-4, 1e-4
    slope = [(ahead(h, k) - ahead(-h, k)) / (2 * h) for k in (s, -s)]
    np.testing.assert_allclose((slope[0] - slope[1]) / (2 * s), A @ x + B @ u, atol=1e-4 * (1 + np.abs(A).max()))


def test_batches(rng):
    robot = random_mechanism(rng, 3, ("spherical", "revolute"))
    q, v = np.array([robot.random_configuration(rng) for _ in range(3)]), rng.normal(size=(3, robot.nv))
    A, B = linearised(robot, q, v)
    for k in range(3):
        one = linearised(robot, q[k], v[k])
        np.testing.assert_allclose(A[k], one.A, atol=1e-10)
        np.testing.assert_allclose(B[k], one.B, atol=1e-10)


def test_python_control_takes_over(rng):
    robot = mr.load("double_pendulum").robot().ideal()
    system = state_space(robot, np.zeros(2))
    assert system.input_labels == system.output_labels == ["m0/hinge", "m1/hinge"]
    # it hangs: swings with the squares of their frequencies g/l (2 -+ sqrt(2))
    swings = np.sqrt(0.981 * (2 + np.array([-1, 1]) * np.sqrt(2)))
    found = np.sort(system.poles().imag)[2:]
    np.testing.assert_allclose(found, swings, rtol=1e-9)
    sampled = state_space(robot, np.zeros(2), sample_time=0.1)
    assert sampled.dt == 0.1
    np.testing.assert_allclose(np.sort(np.abs(np.angle(sampled.poles())))[::2], swings * 0.1, rtol=1e-9)
    one = state_space(robot, np.zeros(2), actuated=["m1/hinge"])
    assert (one.ninputs, one.noutputs, one.nstates) == (1, 1, 4)
    ball = state_space(random_mechanism(rng, 1, ("spherical",)), [1, 0, 0, 0])
    assert ball.input_labels == ["b0 turn x", "b0 turn y", "b0 turn z"]


def test_without_python_control_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(ControlError, match=r"state_space needs python-control: pip install 'modurob\[control\]'"):
        state_space(mr.load("crab").mechanism(), np.zeros(3))


# ---- LQR on robots ----


def test_the_law_has_the_poles_of_its_gains(rng):
    robot = mr.load("crab").mechanism()
    q = robot.random_configuration(rng)
    law = LQR(q, 5.0, [1.0, 2.0, 3.0], 0.1, sample_time=None).on(robot)
    A, B = linearised(robot, q)
    K, _, expected = control.lqr(A, B, np.diag([5, 5, 5, 1, 2, 3]), 0.1 * np.eye(3))
    np.testing.assert_allclose(law.K, K, rtol=1e-7)
    np.testing.assert_allclose(poles(robot, law, q), np.sort_complex(expected), rtol=1e-7)


def test_one_drive_balances_two_links():
    """The double pendulum on its head, driven at the second joint alone: from off balance back to it."""
    robot = mr.load("double_pendulum").robot().ideal()
    top = {"m0/hinge": np.pi}
    law = LQR(top, actuated=["m1/hinge"]).on(robot)
    assert np.all(np.linalg.eigvals(closed_loop_matrix(robot, law, np.array([np.pi, 0.0]))).real < -0.1)
    q, _ = run(robot, law, np.array([np.pi + 0.02, -0.03]), np.zeros(2), np.array([0.0, 40.0]), tolerance=1e-9)
    np.testing.assert_allclose(q[-1], [np.pi, 0], atol=1e-4)
    assert law.torque(0.0, np.array([3.0, 0.1]), np.zeros(2))[0] == 0


def test_a_flying_robot_is_held(rng):
    """A ball joint on a driven free body, without gravity: quaternions in the feedback."""
    robot = mr.load("crab").mechanism(floating=True, gravity=(0, 0, 0))
    everywhere = [j.name for j in robot.joints]
    goal = robot.random_configuration(rng)
    law = LQR(goal, actuated=everywhere).on(robot)
    assert np.all(poles(robot, law, goal).real < -0.1)
    q, v = np.array([goal] * 3), np.zeros((3, robot.nv))
    np.testing.assert_allclose(law.torque(0.0, q, v), 0, atol=1e-9)


def test_sampled_lqr_uses_the_sampled_robot():
    robot = mr.load("double_pendulum").robot().ideal()
    A, B = linearised(robot, np.zeros(2))
    law = LQR(sample_time=0.2).on(robot)
    np.testing.assert_allclose(law.K, lqr(A, B, np.eye(4), np.eye(2), 0.2))
    held = control.sample_system(control.ss(A, B, np.eye(4), 0), 0.2)
    assert np.abs(np.linalg.eigvals(held.A - held.B @ law.K)).max() < 1


def test_a_light_joint_is_held_by_the_gains_of_the_tick():
    """Gains of continuous time chatter at the effort limit where a joint moves 2e-4 kg m² between samples of 1 ms."""
    b, own = mr.Builder("wrist", gravity=(0, 0, 0)), mr.JointProperties(effort=5.0)
    b.body("hand", mr.spatial.inertia.point(2e-4, (1, 0, 0)), joint=mr.Revolute((0, 0, 1)), properties=own)
    run = mr.simulate(b.build(), [0.3], duration=0.5, controller=LQR(0.02, position=100.0, effort=0.01))
    assert run.saturated["hand"] == 0
    np.testing.assert_allclose(run.q[-1], 0.02, atol=0.005)
