"""What hall sensors say of an angle."""

import numpy as np
import pytest
import scipy.stats

import modurob as mr
from modurob.estimation import HallSensors
from tests.robots import random_mechanism


@pytest.fixture
def crab():
    return mr.load("crab").mechanism(base="m0")


def test_readings_are_whole_steps_near_the_angle(crab, rng):
    q = rng.uniform(-1, 1, size=(500, 3))
    y = HallSensors(noise=0.0, resolution=0.01).on(crab).read(q, rng)
    np.testing.assert_allclose(y / 0.01, np.round(y / 0.01), atol=1e-9)
    assert np.abs(y - q).max() <= 0.005 + 1e-12


def test_noise_is_normal_with_the_variance_the_filter_is_told(crab, rng):
    q = rng.uniform(-1, 1, size=(20_000, 3))
    smooth, rounded = HallSensors(noise=2e-3, resolution=0.0), HallSensors(noise=1e-3, resolution=2e-3)
    assert scipy.stats.kstest(((smooth.on(crab).read(q, rng) - q) / 2e-3).ravel(), "norm").pvalue > 1e-3
    for sensors in (smooth, rounded):
        errors = sensors.on(crab).read(q, rng) - q
        # the variance of a sample of 60,000 is known to about half a percent
        assert errors.var() == pytest.approx(sensors.variance, rel=0.03)


def test_readings_come_late_by_whole_samples(crab, rng):
    readings = HallSensors(noise=0.0, resolution=0.0, delay=3).on(crab)
    q = rng.uniform(-1, 1, size=(10, 3))
    found = [readings.read(x, rng) for x in q]
    assert found[:3] == [None] * 3
    np.testing.assert_array_equal(found[3:], q[:7])


def test_samples_are_lost_as_often_as_asked(crab, rng):
    sensors = HallSensors(dropped=0.3)
    one = sensors.on(crab)
    lost = sum(one.read(np.zeros(3), rng) is None for _ in range(1000))
    assert scipy.stats.binomtest(lost, 1000, 0.3).pvalue > 1e-3
    batch = np.isnan(sensors.on(crab).read(np.zeros((1000, 3)), rng))
    # whole samples, each run for itself
    assert (batch.all(axis=-1) == batch.any(axis=-1)).all()
    assert scipy.stats.binomtest(int(batch[:, 0].sum()), 1000, 0.3).pvalue > 1e-3


def test_the_seed_decides(crab):
    q = np.full(3, 0.5)
    first, again, other = (HallSensors(noise=0.01).on(crab).read(q, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_free_joints_have_none_and_balls_do(rng):
    robot = random_mechanism(rng, 3, ("spherical",), floating=True)
    q = robot.random_configuration(rng)
    y = HallSensors(noise=1e-4, resolution=0.0).on(robot).read(q, rng)
    assert np.isnan(y[:7]).all()
    apart = robot.difference(q, np.where(np.isnan(y), q, y))
    assert 0 < np.abs(apart[6:]).max() < 1e-3
    for joint in robot.joints[1:]:
        assert np.linalg.norm(y[joint.q_slice]) == pytest.approx(1, rel=1e-14)
