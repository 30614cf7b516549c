"""Backstepping for elastic joints: V falls as promised, the nominal model is tracked, friction of motors is outweighed."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import modurob as mr
from modurob.algorithms.forces import acting
from modurob.control import elastic_inverse_dynamics
from modurob.errors import ControlError
from tests.control.test_field import count, elastic, pendulum_of_the_book, robots, slope_of, waves


def closed_loop(robot, law):
    """d(q, v, x)/dt under a law that is asked all the time."""
    nq, n, commands = robot.nq, robot.nq + robot.nv, acting(robot).commanded[1]
    driven = law.drives.v

    def f(t, y):
        q, v, x = y[:nq], y[nq:n], np.array(y[n:])
        x[commands] = law.torque(t, q, v, x)[driven]
        rate = slope_of(robot, t, q, v, x)
        rate[n + commands] = 0.0
        return rate

    return f


def on_its_way(robot, law, motion):
    """The state (q, v, x) along a motion."""
    along = elastic_inverse_dynamics(robot, motion(0.0, 5))
    x = acting(robot).start_at(motion(0.0)[0])
    x[law._own.angle], x[law._own.speed] = along.angle, along.speed
    return np.concatenate([*motion(0.0)[:2], x])


def energy(robot, law, t, y):
    """V = (s^T M s + z1^T k z1 + z2^T J z2)/2, and what it should lose."""
    n, own, recipe = robot.nq + robot.nv, law._own, law.recipe
    q, z = y[: robot.nq], law.stages(t, y[: robot.nq], y[robot.nq : n], y[n:])
    s = law._coupling(q).motion(z.s)
    V = s @ own.links.mass_matrix(q) @ s + z.angle**2 @ own.stiffness + z.speed**2 @ own.rotor
    lost = recipe.kd * z.s @ z.s + recipe.pace * (z.angle**2 @ own.stiffness + z.speed**2 @ own.rotor)
    return V / 2, lost


def falls_as_promised(robot, law, run):
    """V falls, by what the law says: fourth differences of V against the loss in between."""
    V, lost = np.array([energy(robot, law, t, y) for t, y in zip(run.t, run.y.T, strict=True)]).T
    slope = (V[:-4] - 8 * V[1:-3] + 8 * V[3:-1] - V[4:]) / (12 * run.t[1])
    assert np.all(np.diff(V) < 0)
    assert np.abs(slope + lost[2:-2]).max() < 1e-2 * lost.max()


@pytest.mark.parametrize("number", count(1, 50))
def test_backstepping_tracks_the_nominal_model_and_its_energy_falls_as_promised(number):
    for rng, stiff in robots(number, seed=21, most=2 if number < 5 else 4):
        robot = elastic(stiff, rng)
        motion, n = waves(rng, robot.nv, 0.3), robot.nv
        law = mr.Backstepping(lambda t, m=motion: m(t, 5), slope=6.0, kd=3.0, pace=30.0).on(robot)
        f, start = closed_loop(robot, law), on_its_way(robot, law, motion)
        run = solve_ivp(f, (0, 0.3), start, rtol=1e-10, atol=1e-12, t_eval=[0.1, 0.3])
        assert np.abs(run.y[:n].T - [motion(t)[0] for t in run.t]).max() < 1e-8
        # beside its way V falls by what the law promises, to rounding of its differences
        start[:n] += 0.01 * rng.normal(size=n)
        start[2 * n + law._own.angle] += 0.005 * rng.normal(size=n)
        times = np.linspace(0, 0.3, 31)
        run = solve_ivp(f, (0, 0.3), start, rtol=1e-9, atol=1e-12, t_eval=times, method="DOP853")
        falls_as_promised(robot, law, run)


@pytest.mark.parametrize("number", count(1, 50))
def test_friction_of_motors_is_outweighed(number):
    """Dry friction that the law knows nothing of: with a reach above it, a third of the error is left at most."""
    for rng, stiff in robots(number, seed=22, most=3):
        dry, robot = mr.Losses(coulomb=3.0, bristle_damping=1.0), stiff
        for joint in stiff.joints:
            drive = mr.Drive(mr.Motor(1.0, inertia=0.2), mr.Gear(stiffness=400.0), dry)
            robot = robot.with_drive(joint.name, drive)
        motion, errors = waves(rng, robot.nv, 0.3), []
        gains = {"slope": 6.0, "kd": 8.0 * stiff.mass_matrix(motion(0.0)[0]).diagonal(), "pace": 30.0, "layer": 0.05}
        for reach in (0.0, 4.5):
            law = mr.Backstepping(lambda t, m=motion: m(t, 5), reach=reach, sample_time=1e-3, **gains)
            run = mr.simulate(robot, *motion(0.0)[:2], duration=1.5, controller=law)
            assert run.status.ok
            errors.append(np.abs(run.q - [motion(t)[0] for t in run.t])[run.t > 1].max())
        assert errors[1] < 0.33 * errors[0]


def test_backstepping_holds_a_pendulum_in_a_simulation():
    law = mr.Backstepping([0.4], slope=8.0, kd=3.0, pace=40.0, sample_time=1e-3)
    run = mr.simulate(pendulum_of_the_book(), [0.0], duration=1.0, controller=law)
    assert abs(run.q[-1, 0] - 0.4) < 2e-3


def test_robots_without_springs_are_refused():
    with pytest.raises(ControlError, match="Backstepping assumes an elastic drive at every joint: m0/hinge"):
        mr.Backstepping().on(mr.load("crab").mechanism())
    with pytest.raises(ControlError, match="pace ="):
        mr.Backstepping(pace=0.0)
