"""PID: sample by sample against python-control, and what it does at limits."""

import control
import numpy as np
import pytest

import modurob as mr
from modurob.control import PID, Trajectory
from tests.control.loops import mass_on_a_rail, run_sampled

DOWN = (0, 9.81, 0)


@pytest.mark.parametrize("filter_time", [0.0, 0.02])
def test_the_sampled_loop_is_that_of_python_control(filter_time):
    """A unit mass under a held force: x = T²/2 (z + 1)/(z - 1)² u, v = T/(z - 1) u."""
    kp, ki, kd, T = 30.0, 20.0, 8.0, 0.01
    forget = float(np.exp(-T / filter_time)) if filter_time else 0.0
    # u = (kp + ki T/(z - 1)) (r - x) - kd (1 - forget) z/(z - forget) v, brought to one denominator
    z = np.poly1d([1, 0])
    forward = (kp * (z - 1) + ki * T) * T**2 / 2 * (z + 1) * (z - forget)
    damped = kd * (1 - forget) * z * T * (z - 1) ** 2
    loop = control.tf(forward.coeffs, ((z - 1) ** 3 * (z - forget) + forward + damped).coeffs, T)
    samples = 300
    expected = control.step_response(loop, np.arange(samples) * T).outputs
    robot = mass_on_a_rail()
    law = PID(kp, ki, kd, 1.0, T, filter_time=filter_time).on(robot)
    x, _, _ = run_sampled(robot, law, np.zeros(1), np.zeros(1), T, samples)
    np.testing.assert_allclose(x[:, 0], expected, atol=1e-9)


def test_the_step_response_of_the_thesis():
    """000 Fig. 6.4, PID 10/1/4 after feedback linearisation: each joint steps like (10 s + 1)/(s³ + 4 s² + 10 s + 1)."""
    robot = mr.load("double_pendulum").mechanism(gravity=DOWN)
    T, samples = 1e-3, 4000
    law = PID(10, 1, 4, 1.0, T, linearise=True).on(robot)
    q, _, _ = run_sampled(robot, law, np.zeros(2), np.zeros(2), T, samples)
    expected = control.step_response(control.tf([10, 1], [1, 4, 10, 1]), np.arange(samples) * T).outputs
    # holding torques for 1 ms delays them by half of that
    np.testing.assert_allclose(q, np.stack([expected] * 2, axis=-1), atol=3e-3)


def test_the_mean_over_finer_samples_is_the_continuous_loop():
    """The gap to the continuous step response shrinks in proportion to the sample time."""
    robot, gaps = mass_on_a_rail(), []
    for T in (0.01, 0.005, 0.0025):
        samples = int(3 / T)
        x, _, _ = run_sampled(robot, PID(10, 1, 4, 1.0, T).on(robot), np.zeros(1), np.zeros(1), T, samples)
        expected = control.step_response(control.tf([10, 1], [1, 4, 10, 1]), np.arange(samples) * T).outputs
        gaps.append(np.abs(x[:, 0] - expected).max())
    assert gaps[0] / gaps[1] == pytest.approx(2, rel=0.1)
    assert gaps[1] / gaps[2] == pytest.approx(2, rel=0.1)


WAYS = (None, "clamping", "back-calculation")


@pytest.mark.parametrize("linearise", [False, True])
def test_anti_windup_is_better_than_none(linearise):
    """A mass that a weak force pushes slowly: the integral that has run up meanwhile has to be undone by an overshoot."""
    mass, T = 2.0, 5e-3
    robot, unit = mass_on_a_rail(mass), 1.0 if linearise else mass
    overshoot, cost = {}, {}
    for way in WAYS:
        law = PID(20 * unit, 20 * unit, 9 * unit, 1.0, T, 6.0, way, linearise=linearise).on(robot)
        x, _, tau = run_sampled(robot, law, np.zeros(1), np.zeros(1), T, 1200)
        e = 1 - x[:, 0]
        overshoot[way], cost[way] = -e.min(), (e**2).sum() * T
        assert np.abs(tau).max() == 6.0
        assert abs(e[-1]) < 1e-3
    for way in WAYS[1:]:
        assert overshoot[way] < 0.65 * overshoot[None]
        assert cost[way] < 0.85 * cost[None]


def test_anti_windup_on_a_robot_with_gravity():
    """The crab lifts itself with hardly more torque than its weight; every joint shoots over its goal by less."""
    robot, T = mr.load("crab").mechanism(), 4e-3
    start, goal, limit = np.array([-1.2, -1.2, 1.2]), np.array([0.3, 0.2, -0.2]), np.array([7.6, 1.1, 1.1])
    overshoot = {}
    for way in WAYS:
        law = PID([30, 4, 4], [80, 10, 10], [8, 0.5, 0.5], goal, T, limit, way, tracking_time=0.1).on(robot)
        q, _, tau = run_sampled(robot, law, start, np.zeros(3), T, 1500)
        overshoot[way] = (np.sign(goal - start) * (q - goal)).max(axis=0)
        assert np.all(np.abs(tau).max(axis=0) == limit)
        assert np.abs(q[-1] - goal).max() < 1e-3
    for way in WAYS[1:]:
        assert np.all(overshoot[way] < 0.9 * overshoot[None])


def test_clamping_stops_only_what_drives_further_off():
    robot = mass_on_a_rail()
    law = PID(1.0, 100.0, 0.0, 0.0, 0.1, saturation=5.0).on(robot)
    for x in (-1.0, -1.0, -1.0, -1.0):
        law.torque(0.0, np.array([x]), np.zeros(1))
    # 10 a sample: cut off at the second sample, then held
    assert law.integral == pytest.approx([10.0])
    law.torque(0.0, np.array([0.5]), np.zeros(1))
    assert law.integral == pytest.approx([5.0])


def test_back_calculation_takes_back_at_its_rate():
    robot = mass_on_a_rail()
    law = PID(1.0, 100.0, 0.0, 0.0, 0.1, 5.0, "back-calculation", tracking_time=0.4).on(robot)
    law.torque(0.0, np.array([-1.0]), np.zeros(1))
    law.torque(0.0, np.array([-1.0]), np.zeros(1))
    # u = 1 + 10 is 6 beyond the limit; a quarter of that goes in each sample
    assert law.integral == pytest.approx([10 + 10 - 6 / 4])


def test_derivative_on_measurement_leaves_out_the_motion_of_the_reference(rng):
    robot = mr.load("crab").mechanism()
    curve = Trajectory.quintic(0.0, 1.0, 1.0)
    q, v = rng.normal(size=(2, 3))
    on_error, on_measurement = (
        PID(0.0, 0.0, 2.0, curve, derivative=d).on(robot).torque(0.5, q, v) for d in ("error", "measurement")
    )
    np.testing.assert_allclose(on_error, 2 * (15 / 8 - v), atol=1e-12)
    np.testing.assert_allclose(on_measurement, -2 * v, atol=1e-12)


def test_a_law_has_its_own_memory_and_runs_batches(rng):
    robot = mr.load("crab").mechanism(floating=True)
    recipe = PID(5, 3, 1, 0.2, 0.01, 1.0, filter_time=0.05, linearise=True, partial=True)
    states = [
        (np.array([robot.random_configuration(rng) for _ in range(4)]), rng.normal(size=(4, 9))) for _ in range(6)
    ]
    together = recipe.on(robot)
    alone = [recipe.on(robot) for _ in range(4)]
    for q, v in states:
        tau = together.torque(0.0, q, v)
        for k, law in enumerate(alone):
            np.testing.assert_allclose(law.torque(0.0, q[k], v[k]), tau[k], atol=1e-9)
    assert together.integral.shape == (4, 9)
    assert not recipe.on(robot).integral.any()
