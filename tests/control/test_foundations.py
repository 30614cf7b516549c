"""Example X30 of Foundations of Robotics, section 6.3: mass, damper and spring under control."""

import numpy as np
import pytest

from modurob.control import PID, ComputedTorque, GravityCompensation, gains_by_poles
from tests.control.loops import mass_on_a_rail, poles, run, run_sampled

T = np.linspace(0, 4, 21)


@pytest.mark.parametrize(
    ("damping", "stiffness", "motion"),
    [
        (5.0, 6.0, lambda t: -3 * np.exp(-2 * t) + 2 * np.exp(-3 * t)),
        (4.0, 4.0, lambda t: (-1 - 2 * t) * np.exp(-2 * t)),
    ],
)
def test_a_mass_under_pd_moves_as_on_spring_and_damper(damping, stiffness, motion):
    robot = mass_on_a_rail()
    x, _ = run(robot, GravityCompensation(stiffness, damping).on(robot), -np.ones(1), np.zeros(1), T)
    np.testing.assert_allclose(x[:, 0], motion(T), atol=1e-9)


def test_roots_of_a_mass_with_little_damping():
    """-0.5 +- 3.122499 i; the formula as printed gives 4.4159."""
    robot = mass_on_a_rail()
    found = poles(robot, GravityCompensation(10.0, 1.0).on(robot), np.zeros(1))
    np.testing.assert_allclose(found, [-0.5 - 3.122499j, -0.5 + 3.122499j], atol=5e-7)


def test_pd_beside_a_spring_and_a_damper_is_critical_with_seven():
    """m = b = k = 1 and kp = 15: the stiffness is 16 in all, and kv = 7 makes -4 a double root."""
    robot = mass_on_a_rail(damping=1.0)
    found = poles(robot, GravityCompensation(15.0, 7.0).on(robot), np.zeros(1), stiffness=1.0)
    np.testing.assert_allclose(found, [-4, -4], atol=1e-6)


def test_critical_tracking_with_sixteen_and_eight():
    kp, kd, _ = gains_by_poles([-4, -4])
    assert (kp, kd) == (16, 8)
    robot = mass_on_a_rail(3.0, damping=1.0)
    np.testing.assert_allclose(poles(robot, ComputedTorque(kp, kd).on(robot), np.zeros(1)), [-4, -4], atol=1e-6)


def test_a_constant_disturbance_leaves_an_error_to_pd_and_none_to_pid():
    """f_s = 2, kp = 16: e = 0.125; with ki = 10 e goes to zero and ki times its integral to 2."""
    robot = mass_on_a_rail()
    x, _ = run(robot, ComputedTorque(16.0, 8.0).on(robot), np.zeros(1), np.zeros(1), np.array([0.0, 10.0]), push=-2.0)
    assert -x[-1, 0] == pytest.approx(0.125, abs=1e-9)
    law = PID(16.0, 10.0, 8.0, sample_time=0.02, linearise=True).on(robot)
    sampled = run_sampled(robot, law, np.zeros(1), np.zeros(1), 0.02, 1200, push=-2.0)
    assert -sampled.q[-1, 0] == pytest.approx(0, abs=1e-6)
    assert sampled.memory.integral == pytest.approx([2.0], abs=1e-6)
