"""Friction taken off, joints that give way, and collisions that are noticed."""

import numpy as np
import pytest

import modurob as mr
from modurob.errors import ControlError
from tests.control.test_field import count, robots, waves


def rusty(robot, size=0.6):
    for joint in robot.joints:
        robot = robot.with_force(
            f"{joint.name} rust", mr.Friction(coulomb=size, static=1.2 * size, stribeck=0.1), joint=joint.name
        )
    return robot


def blow(frame, F, start=0.0, end=np.inf):
    """A wrench on a frame, from one time to another."""
    return lambda t: {frame: F} if start <= t < end else {}


@pytest.mark.parametrize("number", count(1, 50))
def test_friction_that_is_compensated_hardly_shows(number):
    """Errors of tracking fall to a third or less of what dry friction leaves, on random robots."""
    for rng, robot in robots(number, seed=11, most=5 if number < 5 else 9):
        motion, stiff = waves(rng, robot.nv), rusty(robot)
        plain = mr.ComputedTorque(60, 12, lambda t, m=motion: m(t), sample_time=1e-3)
        errors = []
        for law in (plain, mr.FrictionCompensation(plain, share=1.0, width=0.005)):
            q0, v0, _ = motion(0.0)
            run = mr.simulate(stiff, q0, v0, duration=1.5, controller=law)
            errors.append(np.sqrt(np.mean((run.q - np.array([motion(t)[0] for t in run.t])) ** 2)))
        assert errors[1] < errors[0] / 3


@pytest.mark.parametrize("number", count(1, 50))
def test_joints_give_way_by_the_commanded_stiffness(number):
    """Under a constant push at the tip: tau_ext/stiffness at rest, whatever robot and gravity are."""
    for rng, robot in robots(number, seed=12, most=3 if number < 5 else 9):
        q0, tip = robot.random_configuration(rng) * 0.3, robot.bodies[-1]
        K = rng.uniform(20, 60, robot.nv)
        law = mr.Admittance(q0, stiffness=K, damping=8.0, inertia=0.5)
        F = np.concatenate([rng.normal(size=3), np.zeros(3)])
        run = mr.simulate(robot, q0, duration=3.0, controller=law, external=blow(tip, F))
        expected = robot.body_jacobian(run.q[-1], tip).T @ F / K
        assert run.q[-1] - q0 == pytest.approx(
            expected, abs=(2e-3 if number < 5 else 5e-3) * max(np.abs(expected).max(), 0.05)
        )


def test_a_stiff_robot_moves_as_the_soft_one_would():
    """One joint, pushed from rest: y'' inertia + y' damping + y stiffness = tau, against the closed form."""
    b = mr.Builder("lever", gravity=(0, 0, 0))
    b.body("rod", mr.spatial.inertia.sphere(3.0, 0.2), joint=mr.Revolute((0, 0, 1)))
    law = mr.Admittance(0.0, stiffness=8.0, damping=8.0, inertia=2.0, kp=2500.0, kd=100.0, gain=400.0)
    run = mr.simulate(b.build(), duration=1.0, controller=law, external=blow("rod", np.array([0, 0, 0, 0, 0, 2.0])))
    closed = 0.25 * (1 - (1 + 2 * run.t) * np.exp(-2 * run.t))
    assert np.abs(run.q[:, 0] - closed).max() < 0.01 * 0.25 + 2e-3


@pytest.mark.parametrize("number", count(1, 50))
def test_a_collision_is_noticed_soon_and_nothing_else_is(number):
    """A blow of 0.1 s against a moving robot: told within 20 ms, and never before."""
    for rng, robot in robots(number, seed=13, most=6 if number < 5 else 9):
        motion = waves(rng, robot.nv)
        law = mr.ComputedTorque(100, 20, lambda t, m=motion: m(t), sample_time=1e-3)
        tip, q0, v0 = robot.bodies[-1], *motion(0.0)[:2]
        J = robot.body_jacobian(motion(0.5)[0], tip)
        F = np.concatenate([J[:3] @ rng.normal(size=robot.nv), np.zeros(3)])
        F *= 8.0 / np.abs(J.T @ F).max()
        hit = mr.simulate(robot, q0, v0, duration=0.7, controller=law, external=blow(tip, F, 0.5, 0.6))
        free = mr.simulate(robot, q0, v0, duration=0.7, controller=law)
        watch = mr.CollisionDetector(robot, threshold=1.0, gain=100.0)
        assert watch.first(free) is None
        assert 0.5 < watch.first(hit) < 0.52


def test_how_far_the_push_goes_is_seen():
    """After the blow sets in the torque of the observer is J^T F."""
    _, robot = next(iter(robots(1, seed=14, most=4)))
    tip, F = robot.bodies[-1], np.array([1.0, 2.0, -1.0, 0.1, 0.2, 0.3])
    run = mr.simulate(robot, duration=0.3, controller=mr.PID(reference=0.0), external=blow(tip, F))
    watch = mr.CollisionDetector(robot, 0.1, gain=200.0)
    memory = watch.start()
    for q, v, tau in zip(run.q, run.v, run.tau, strict=True):
        memory, seen = watch.step(memory, q, v, tau)
    expected = robot.body_jacobian(run.q[-1], tip).T @ F
    assert seen.torque == pytest.approx(expected, abs=0.05 * np.abs(expected).max())
    assert bool(seen.hit)


def test_what_cannot_be_is_refused():
    robot = mr.load("crab").robot()
    with pytest.raises(ControlError, match=r"threshold = 0\.0: expected a torque above zero, or 3 of them"):
        mr.CollisionDetector(robot, threshold=0.0)
    with pytest.raises(
        ControlError, match=r"a recording every 0.002 s of shape \(6, 3\): expected one run, every 0.001 s"
    ):
        mr.CollisionDetector(robot).first(mr.simulate(robot, duration=0.01, tick=2e-3))
    with pytest.raises(ControlError, match=r"inertia = 0\.0: expected more than zero"):
        mr.Admittance(inertia=0.0).on(robot)
