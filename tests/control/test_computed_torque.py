"""Computed torque: poles where they were placed, errors that obey their linear equation, any robot."""

import numpy as np
import pytest

import modurob as mr
from modurob.control import ComputedTorque, gains_by_poles
from modurob.errors import ControlError
from modurob.judges.mujoco import MujocoTwin
from modurob.motion import Trajectory
from tests.algorithms.test_loops import four_bar, four_bar_state
from tests.control.loops import poles, rate, run
from tests.oracles import crane
from tests.oracles.four_bar import FourBar
from tests.robots import COORDINATE_RATES, KINDS, random_mechanism, random_state

# torques of order 1e3 after a few dozen roundings, over masses of order one
CLOSE = 1e-9
# Gutenkunst (6.38): the poles that the thesis meant
PLACED = np.array([[-2.0, -3.0], [-10.0, -5.0]])


@pytest.fixture
def pendulum() -> mr.Mechanism:
    return mr.load("double_pendulum").robot().ideal()


def test_poles_of_the_double_pendulum_are_the_placed_ones(pendulum, rng):
    kp, kd, _ = gains_by_poles(PLACED)
    for _ in range(5):
        q = pendulum.random_configuration(rng)
        found = poles(pendulum, ComputedTorque(kp, kd, q).on(pendulum), q)
        np.testing.assert_allclose(found, np.sort_complex(PLACED.ravel()), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_poles_of_any_robot_are_the_placed_ones(kind, rng):
    robot = random_mechanism(rng, 3, (kind,), armature=True)
    everywhere = [j.name for j in robot.joints]
    placed = -rng.uniform(1, 9, size=(robot.nv, 2))
    kp, kd, _ = gains_by_poles(placed)
    q = robot.random_configuration(rng)
    found = poles(robot, ComputedTorque(kp, kd, q, actuated=everywhere).on(robot), q)
    np.testing.assert_allclose(found, np.sort_complex(placed.ravel()), atol=1e-6)


def test_errors_decay_as_their_equation_says(pendulum):
    """Gutenkunst (6.31) solved: e = -3 exp(-2 t) + 2 exp(-3 t) for e(0) = -1 at the poles -2, -3; and so on."""
    kp, kd, _ = gains_by_poles(PLACED)
    curve = Trajectory.quintic([0.0, 0.5], [1.0, -1.0], 2.0)
    law = ComputedTorque(kp, kd, curve).on(pendulum)
    t = np.linspace(0, 3, 31)
    q, _ = run(pendulum, law, np.array([1.0, 1.5]), np.zeros(2), t)
    e = np.array([-3 * np.exp(-2 * t) + 2 * np.exp(-3 * t), -2 * np.exp(-5 * t) + np.exp(-10 * t)]).T
    np.testing.assert_allclose(curve(t).position - q, e, atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_robots_stay_on_their_reference(seed):
    """The tracking error stays below 1e-6 rad over two seconds; no feedback is needed where the model is right."""
    rng = np.random.default_rng(seed)
    robot = [
        mr.load("crab").mechanism().ideal(),
        mr.load("double_pendulum").robot().ideal(),
        random_mechanism(rng, 3, COORDINATE_RATES, armature=True),
    ][seed]
    curve = Trajectory.through(rng.normal(size=(4, robot.nq)), 2.0, 8.0)
    law = ComputedTorque(30.0, 11.0, curve).on(robot)
    t = np.linspace(0, 2, 50)
    q, _ = run(robot, law, curve(0.0).position, np.zeros(robot.nv), t)
    assert np.abs(q - curve(t).position).max() < 1e-6


def test_damping_belongs_to_the_model(rng):
    robot = mr.load("crab").with_parameters(damping=0.4).mechanism()
    assert robot.damping.all()
    q, v, vdot = random_state(rng, robot)
    tau = ComputedTorque(7.0, 3.0, lambda t: (q, v, vdot)).on(robot).torque(0.0, q, v)
    np.testing.assert_allclose(rate(robot, q, v, tau)[robot.nq :], vdot, atol=CLOSE)


@pytest.mark.parametrize("kinds", [("free",), ("spherical", "revolute")])
def test_quaternions_are_tracked(kinds):
    """From the reference, with errors below 1e-6; and back to it from somewhere else."""
    rng = np.random.default_rng(len(kinds))
    robot = random_mechanism(rng, len(kinds), kinds)
    q0, w = robot.random_configuration(rng), rng.normal(size=robot.nv)

    def reference(t):
        return robot.integrate(q0, np.sin(t) * w), np.cos(t) * w, -np.sin(t) * w

    law = ComputedTorque(100.0, 20.0, reference, actuated=[j.name for j in robot.joints]).on(robot)
    t = np.linspace(0, 2, 5)
    wanted = np.array([reference(x)[0] for x in t])
    on, _ = run(robot, law, q0, w, t, tolerance=1e-8)
    assert np.abs(robot.difference(wanted, on)).max() < 1e-6
    off, _ = run(
        robot, law, robot.integrate(q0, 0.4 * rng.normal(size=robot.nv)), np.zeros(robot.nv), t, tolerance=1e-8
    )
    away = np.abs(robot.difference(wanted, off)).max(axis=1)
    assert away[0] > 0.1
    # 20 time constants later
    assert away[-1] < 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_mujoco_moves_as_was_asked(seed):
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 5, ("revolute", "prismatic", "spherical"))
    q, v, vdot = random_state(rng, robot)
    tau = (
        ComputedTorque(5.0, 2.0, lambda t: (q, v, vdot), actuated=[j.name for j in robot.joints])
        .on(robot)
        .torque(0.0, q, v)
    )
    np.testing.assert_allclose(MujocoTwin(robot).forward_dynamics(q, v, tau), vdot, atol=1e-7)


# ---- fewer drives than degrees of freedom ----


def test_drives_that_are_missing_are_named():
    robot = mr.load("crab").mechanism(floating=True)
    with pytest.raises(
        ControlError, match=r"ComputedTorque on crab: no drive at .*\(free\): .*partial=True linearises"
    ):
        ComputedTorque(1.0, 1.0).on(robot)
    crane_robot = mr.load("crane").robot()
    with pytest.raises(ControlError, match=r"no drive at m1/hinge \(revolute\): expected one at every joint"):
        ComputedTorque(1.0, 1.0, actuated=["m0/joint"]).on(crane_robot)


@pytest.mark.parametrize("seed", range(4))
def test_partial_linearisation_of_a_floating_robot(seed):
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 5, ("revolute", "prismatic", "spherical", "universal"), floating=True, armature=True)
    q, v, vdot = random_state(rng, robot)
    law = ComputedTorque(5.0, 2.0, lambda t: (q, v, vdot), partial=True).on(robot)
    tau = law.torque(0.0, q, v)
    assert not tau[:6].any()
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau)[6:], vdot[6:], atol=CLOSE)


def test_partial_linearisation_of_many_states_of_a_floating_crab(rng):
    robot = mr.load("crab").mechanism(floating=True)
    q = np.array([robot.random_configuration(rng) for _ in range(1000)])
    v, goals = rng.normal(size=(1000, robot.nv)), rng.normal(size=(1000, 3))
    tau = ComputedTorque(5.0, 2.0, goals, partial=True).on(robot).torque(0.0, q, v)
    assert not tau[:, :6].any()
    vdot = robot.forward_dynamics(q, v, tau)[:, 6:]
    np.testing.assert_allclose(vdot, 5 * (goals - q[:, 7:]) - 2 * v[:, 6:], atol=CLOSE)


def test_partial_linearisation_of_the_crane(rng):
    """The wagon obeys, the load swings: by the closed form of Gutenkunst (5.15)."""
    robot = mr.load("crane").robot().ideal()
    law = ComputedTorque(4.0, 3.0, {"m0/joint": 1.0}, partial=True, actuated=["m0/joint"]).on(robot)
    for _ in range(5):
        q, v = rng.normal(size=(2, 2))
        force, torque = law.torque(0.0, q, v)
        assert torque == 0
        acceleration = crane.accelerations(q[1], v[1], 1.0, 1.0, 5.0, force)[0]
        assert acceleration == pytest.approx(4 * (1 - q[0]) - 3 * v[0], abs=CLOSE)


def test_a_loop_with_all_joints_driven_goes_to_its_set_point():
    bar = FourBar()
    robot = four_bar(bar)
    q, v = four_bar_state(bar, 0.4, 0.5)
    goal, _ = four_bar_state(bar, 1.0, 0.0)
    found, _ = run(robot, ComputedTorque(36.0, 12.0, goal).on(robot), q, v, np.array([0.0, 4.0]), tolerance=1e-9)
    np.testing.assert_allclose(found[-1], goal, atol=1e-6)
    with pytest.raises(
        ControlError, match=r"no drive at coupler \(revolute\), .*partial=True is for robots without loops"
    ):
        ComputedTorque(1.0, 1.0, partial=True, actuated=["crank"]).on(robot)


# ---- many runs at once, limits, gains ----


@pytest.mark.parametrize("floating", [False, True])
def test_a_batch_is_its_states_one_by_one(floating, rng):
    robot = mr.load("crab").mechanism(floating=floating)
    q = np.array([robot.random_configuration(rng) for _ in range(1000)])
    v = rng.normal(size=(1000, robot.nv))
    recipes = (
        ComputedTorque(9.0, 6.0, 0.2, partial=True),
        ComputedTorque(9.0, 6.0, Trajectory.quintic(0, 1, 2), saturation=1.0, partial=True),
        ComputedTorque(np.diag([9.0, 8, 7]), 6.0, 0.2, partial=True),
    )
    for law in (recipe.on(robot) for recipe in recipes):
        together = law.torque(0.7, q, v)
        assert together.shape == (1000, robot.nv)
        for k in range(0, 1000, 97):
            np.testing.assert_allclose(together[k], law.torque(0.7, q[k], v[k]), atol=CLOSE)
    # a set point for each run
    goals = rng.normal(size=(1000, 3))
    together = ComputedTorque(9.0, 6.0, goals, partial=True).on(robot).torque(0.0, q, v)
    alone = ComputedTorque(9.0, 6.0, goals[5], partial=True).on(robot).torque(0.0, q[5], v[5])
    np.testing.assert_allclose(together[5], alone, atol=CLOSE)


def test_torques_are_cut_off_at_the_limits(rng):
    robot = mr.load("crab").mechanism()
    q, v, _ = random_state(rng, robot)
    free = ComputedTorque(900.0, 60.0, 2.0).on(robot).torque(0.0, q, v)
    for limits, expected in (
        ("effort", 7.0),
        (2.0, 2.0),
        ({"m0/hinge": 1, "m2/hinge": np.inf, "m4/hinge": 0.1}, [1, np.inf, 0.1]),
    ):
        tau = ComputedTorque(900.0, 60.0, 2.0, saturation=limits).on(robot).torque(0.0, q, v)
        np.testing.assert_allclose(tau, np.clip(free, -np.array(expected), expected), atol=CLOSE)
        assert np.any(tau != free)


def test_all_ways_to_write_gains(rng):
    robot = mr.load("crab").mechanism(floating=True)
    q, v, _ = random_state(rng, robot)
    names = [j.name for j in robot.joints[1:]]
    one = [1.0, 2.0, 3.0]
    full = np.append(np.full(6, 77.0), one)
    ways = (
        one,
        full,
        np.diag(one),
        np.diag(full),
        dict(zip(names, one, strict=True)),
        {names[0]: [1], names[1]: 2, names[2]: 3},
    )
    torques = [ComputedTorque(k, k, 0.1, partial=True).on(robot).torque(0.0, q, v) for k in ways]
    for tau in torques[1:]:
        np.testing.assert_allclose(tau, torques[0], atol=CLOSE)
    K = np.array([[2.0, 1.0, 0.0], [-1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    robot = mr.load("crab").mechanism()
    q, v, _ = random_state(rng, robot)
    tau = ComputedTorque(K, 0.0, 0.1).on(robot).torque(0.0, q, v)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), K @ (0.1 - q), atol=CLOSE)
