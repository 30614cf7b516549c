"""PID: sample by sample against python-control, and what it does at limits."""

import control
import numpy as np
import pytest

import modurob as mr
from modurob.control import PID
from modurob.errors import ControlError
from modurob.motion import Trajectory
from modurob.simulation import Measured
from tests.control.loops import mass_on_a_rail, run_sampled
from tests.robots import without_lines
from tests.sampling import sampled


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
    law = PID(kp, ki, kd, 1.0, sample_time=T, filter_time=filter_time).on(robot)
    x, *_ = run_sampled(robot, law, np.zeros(1), np.zeros(1), T, samples)
    np.testing.assert_allclose(x[:, 0], expected, atol=1e-9)


def test_the_step_response_of_the_thesis():
    """Gutenkunst Fig. 6.4, PID 10/1/4 after feedback linearisation: each joint steps like (10 s + 1)/(s³ + 4 s² + 10 s + 1)."""
    robot = mr.load("double_pendulum").robot().ideal()
    T, samples = 1e-3, 4000
    law = PID(10, 1, 4, 1.0, sample_time=T, linearise=True).on(robot)
    q, *_ = run_sampled(robot, law, np.zeros(2), np.zeros(2), T, samples)
    expected = control.step_response(control.tf([10, 1], [1, 4, 10, 1]), np.arange(samples) * T).outputs
    # holding torques for 1 ms delays them by half of that
    np.testing.assert_allclose(q, np.stack([expected] * 2, axis=-1), atol=3e-3)


def test_the_mean_over_finer_samples_is_the_continuous_loop():
    """The gap to the continuous step response shrinks in proportion to the sample time."""
    robot, gaps = mass_on_a_rail(), []
    for T in (0.01, 0.005, 0.0025):
        samples = int(3 / T)
        law = PID(10, 1, 4, 1.0, sample_time=T).on(robot)
        x, *_ = run_sampled(robot, law, np.zeros(1), np.zeros(1), T, samples)
        expected = control.step_response(control.tf([10, 1], [1, 4, 10, 1]), np.arange(samples) * T).outputs
        gaps.append(np.abs(x[:, 0] - expected).max())
    assert gaps[0] / gaps[1] == pytest.approx(2, rel=0.1)
    assert gaps[1] / gaps[2] == pytest.approx(2, rel=0.1)


def remembered(law, positions, memory=None):
    """What a law remembers after it saw these positions at rest."""
    memory = law.start() if memory is None else memory
    for x in positions:
        memory, _ = law.step(memory, 0.0, Measured(np.array([x]), np.zeros(1)))
    return memory


WAYS = (None, "clamping", "back-calculation")


@pytest.mark.parametrize("linearise", [False, True])
def test_anti_windup_is_better_than_none(linearise):
    """A mass that a weak force pushes slowly: the integral that has run up meanwhile has to be undone by an overshoot."""
    mass, T = 2.0, 5e-3
    robot, unit = mass_on_a_rail(mass), 1.0 if linearise else mass
    overshoot, cost = {}, {}
    for way in WAYS:
        gains = 20 * unit, 20 * unit, 9 * unit
        recipe = PID(*gains, 1.0, anti_windup=way, linearise=linearise, sample_time=T, saturation=6.0)
        law = recipe.on(robot)
        x, _, tau, _ = run_sampled(robot, law, np.zeros(1), np.zeros(1), T, 1200)
        e = 1 - x[:, 0]
        overshoot[way], cost[way] = -e.min(), (e**2).sum() * T
        assert np.abs(tau).max() == 6.0
        assert abs(e[-1]) < 1e-3
    for way in WAYS[1:]:
        assert overshoot[way] < 0.65 * overshoot[None]
        assert cost[way] < 0.85 * cost[None]


def test_anti_windup_on_a_robot_with_gravity():
    """The crab lifts itself with hardly more torque than its weight; every joint shoots over its goal by less."""
    robot, T = mr.load("crab").mechanism().ideal(), 4e-3
    start, goal, limit = np.array([-1.2, -1.2, 1.2]), np.array([0.3, 0.2, -0.2]), np.array([7.6, 1.1, 1.1])
    overshoot = {}
    for way in WAYS:
        gains = [30, 4, 4], [80, 10, 10], [8, 0.5, 0.5]
        recipe = PID(*gains, goal, anti_windup=way, tracking_time=0.1, sample_time=T, saturation=limit)
        law = recipe.on(robot)
        q, _, tau, _ = run_sampled(robot, law, start, np.zeros(3), T, 1500)
        overshoot[way] = (np.sign(goal - start) * (q - goal)).max(axis=0)
        assert np.all(np.abs(tau).max(axis=0) == limit)
        assert np.abs(q[-1] - goal).max() < 1e-3
    for way in WAYS[1:]:
        assert np.all(overshoot[way] < 0.9 * overshoot[None])


def test_clamping_stops_only_what_drives_further_off():
    robot = mass_on_a_rail()
    law = PID(1.0, 100.0, 0.0, 0.0, sample_time=0.1, saturation=5.0).on(robot)
    # 10 a sample: cut off at the second sample, then held
    memory = remembered(law, [-1.0, -1.0, -1.0, -1.0])
    assert memory.integral == pytest.approx([10.0])
    assert remembered(law, [0.5], memory).integral == pytest.approx([5.0])


def test_back_calculation_takes_back_at_its_rate():
    robot = mass_on_a_rail()
    recipe = PID(
        1.0, 100.0, 0.0, 0.0, anti_windup="back-calculation", tracking_time=0.4, sample_time=0.1, saturation=5.0
    )
    # u = 1 + 10 is 6 beyond the limit; a quarter of that goes in each sample
    assert remembered(recipe.on(robot), [-1.0, -1.0]).integral == pytest.approx([10 + 10 - 6 / 4])


def test_derivative_on_measurement_leaves_out_the_motion_of_the_reference(rng):
    robot = mr.load("crab").mechanism()
    curve = Trajectory.quintic(0.0, 1.0, 1.0)
    q, v = rng.normal(size=(2, 3))
    laws = [PID(0.0, 0.0, 2.0, curve, derivative=d).on(robot) for d in ("error", "measurement")]
    on_error, on_measurement = (law.step(law.start(), 0.5, Measured(q, v))[1] for law in laws)
    np.testing.assert_allclose(on_error, 2 * (15 / 8 - v), atol=1e-12)
    np.testing.assert_allclose(on_measurement, -2 * v, atol=1e-12)


def test_a_law_is_pure_in_its_memory_and_runs_batches(rng):
    robot = mr.load("crab").mechanism(floating=True)
    recipe = PID(5, 3, 1, 0.2, filter_time=0.05, linearise=True, partial=True, sample_time=0.01, saturation=1.0)
    states = [
        (np.array([robot.random_configuration(rng) for _ in range(4)]), rng.normal(size=(4, 9))) for _ in range(6)
    ]
    law = recipe.on(robot)
    together, alone = law.start(), [law.start() for _ in range(4)]
    for q, v in states:
        before = together
        together, tau = law.step(before, 0.0, Measured(q, v))
        for k in range(4):
            alone[k], one = law.step(alone[k], 0.0, Measured(q[k], v[k]))
            np.testing.assert_allclose(one, tau[k], atol=1e-9)
        # the same memory gives the same again, and is not changed by the step
        again, repeated = law.step(before, 0.0, Measured(q, v))
        np.testing.assert_array_equal(repeated, tau)
        np.testing.assert_array_equal(again.integral, together.integral)
    assert together.integral.shape == (4, 9)
    assert together.integral.any()
    assert not law.start().integral.any()


# ---- gains that suit the robot ----

# what floats must have inertia to all sides
# those that hang in cables have no drives at their joints
DRIVEN = without_lines()
STANDING = [(name, False) for name in DRIVEN] + [("crab", True), ("tree9", True)]


def standing(name, floating):
    return mr.load(name).mechanism(floating=True) if floating else mr.load(name).robot()


def sampled_radius(robot, law, q, sample_time):
    """Spectral radius of the loop of law and robot at rest in q, torques held, inertia alone: exact for kp e + kd e'."""
    nv, M = robot.nv, robot.mass_matrix(q)
    held = [np.linalg.solve(M, step) for step in (np.eye(nv) * sample_time**2 / 2, np.eye(nv) * sample_time)]
    unit = np.concatenate([np.zeros((1, nv)), np.eye(nv)])
    moved = robot.integrate(q, 1e-6 * unit)
    by_q, by_v = (
        (law.step(law.start(), 0.0, state)[1] - law.step(law.start(), 0.0, state)[1][0])[1:].T / 1e-6
        for state in (Measured(moved, np.zeros((nv + 1, nv))), Measured(np.tile(q, (nv + 1, 1)), 1e-6 * unit))
    )
    A = np.block([[np.eye(nv), sample_time * np.eye(nv)], [np.zeros((nv, nv)), np.eye(nv)]])
    closed = A + np.block([[held[0] @ by_q, held[0] @ by_v], [held[1] @ by_q, held[1] @ by_v]])
    return np.abs(np.linalg.eigvals(closed)).max()


@pytest.mark.parametrize("sample_time", [1e-3, 1e-2, 5e-2])
@pytest.mark.parametrize(("name", "floating"), STANDING)
def test_default_gains_are_stable_at_every_configuration(name, floating, sample_time, rng):
    robot = standing(name, floating)
    law = PID(sample_time=sample_time).on(robot)
    for _ in range(20):
        # a base that nothing holds keeps its modes at one
        assert sampled_radius(robot, law, robot.random_configuration(rng), sample_time) < 1 + 1e-6


def test_gains_that_are_too_large_are_seen_by_that_test(rng):
    robot = mr.load("crab").robot()
    assert sampled_radius(robot, PID(100.0, 0.0, 20.0).on(robot), robot.random_configuration(rng), 1e-3) > 1.5


@pytest.mark.parametrize("sample_time", sampled([1e-2, 1e-3], 1))
@pytest.mark.parametrize(("name", "floating"), STANDING)
def test_default_gains_diverge_on_no_robot(name, floating, sample_time):
    """Also where drives are too weak for the weight, as the crane's: motions end or swing, they do not grow."""
    robot = standing(name, floating)
    run = mr.simulate(robot, duration=4.0, controller=PID(reference=0.3, sample_time=sample_time))
    assert run.status.ok, run.status
    driven = np.abs(run.v[:, -len(PID().on(robot).drives.v) :]).max(axis=-1)
    half = len(driven) // 2
    assert driven.max() < 20
    assert driven[half:].max() < driven[:half].max()


def test_defaults_are_those_of_critical_damping(rng):
    robot = mass_on_a_rail(3.0)
    e, rate = 1 - rng.normal(), rng.normal()
    law = PID(reference=1.0).on(robot)
    _, tau = law.step(law.start(), 0.0, Measured(np.array([1 - e]), np.array([rate])))
    assert tau == pytest.approx([3 * 400 * e - 3 * 40 * rate])
    # of kp that is given, and of acceleration
    law = PID(48.0, reference=1.0).on(robot)
    assert law.step(law.start(), 0.0, Measured(np.array([1 - e]), np.array([rate])))[1] == pytest.approx(
        [48 * e - 24 * rate]
    )
    law = PID(16.0, reference=1.0, linearise=True).on(robot)
    expected = 3 * (16 * e - 8 * rate)
    assert law.step(law.start(), 0.0, Measured(np.array([1 - e]), np.array([rate])))[1] == pytest.approx([expected])


def test_a_joint_without_inertia_has_no_default():
    robot = mr.load("crane").mechanism(floating=True)
    with pytest.raises(ControlError, match="crane has a joint that moves no inertia: expected numbers for kp and kd"):
        PID().on(robot)
    PID(1.0, 0.0, 1.0).on(robot)
