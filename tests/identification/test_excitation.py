"""Motions that tell parameters: within limits, from rest, and better than others."""

import numpy as np
import pytest

import modurob as mr
from modurob.errors import EstimateError
from modurob.identification import ExcitingTrajectory
from tests.identification.motions import lwa, lwa_wave
from tests.robots import random_mechanism


def test_it_keeps_its_limits_and_starts_at_rest():
    wave, robot = lwa_wave(), lwa()
    t = np.linspace(0, wave.duration, 2000)
    q, v, vdot = wave(t)
    assert np.abs(v).max() <= 1.2566
    assert np.abs(vdot).max() <= 2.618
    for x in (wave(0.0), wave(wave.duration)):
        assert np.abs([x.velocity, x.acceleration]).max() < 1e-12
    assert wave(0.0).position == pytest.approx(wave(wave.duration).position)
    assert np.gradient(q, t, axis=0)[5:-5] == pytest.approx(v[5:-5], abs=1e-3)
    assert np.gradient(v, t, axis=0)[5:-5] == pytest.approx(vdot[5:-5], abs=1e-2)
    assert wave.effort <= 1
    # torques of the arm are what the motors can give
    tau = robot.inverse_dynamics(q, v, vdot) + np.array([15.68, 13.91, 17.89, 13.63, 4.45, 4.67]) * v
    assert np.abs(tau[:, 1]).max() < 64


def test_limits_of_joints_are_kept(rng):
    robot = mr.load("crab").robot()
    wave = mr.exciting_trajectory(robot, velocity=3.0, trials=10)
    q = wave(np.linspace(0, 10, 1000)).position
    assert np.all((q > robot.limits.lower) & (q < robot.limits.upper))


def test_more_trials_are_better_and_both_aims_are_met():
    """Of the same draws: the determinant grows, the condition falls, each by its own aim."""
    robot = lwa()
    how = {"velocity": 1.2566, "acceleration": 2.618, "terms": ("inertia",)}
    few, many = (mr.exciting_trajectory(robot, trials=n, aim="condition", **how) for n in (3, 150))
    assert many.condition < few.condition
    assert many.condition < mr.exciting_trajectory(robot, trials=3, **how).condition


def test_places_that_are_not_allowed_are_left_out(rng):
    robot = random_mechanism(rng, 2, ("revolute",))
    wave = mr.exciting_trajectory(robot, velocity=1.0, trials=60, allowed=lambda q: q[:, 0] > 0.2)
    assert wave(np.linspace(0, 10, 60)).position[:, 0].min() > 0.1
    with pytest.raises(EstimateError, match="no motion of random is allowed"):
        mr.exciting_trajectory(robot, velocity=1.0, trials=3, allowed=lambda q: q[:, 0] > 100)


def test_it_is_a_value():
    wave = lwa_wave()
    again = mr.exciting_trajectory(lwa(), velocity=1.2566, acceleration=2.618, trials=60)
    assert wave == again
    assert hash(wave) == hash(again)
    assert wave != ExcitingTrajectory(wave.centre, 2 * wave.a, wave.b, wave.period)
