"""The crab of Meister, Gutenkunst, Levi Figure 4 with hall sensors in its three active hinges, a hundred runs at once."""

import numpy as np
import pytest

import modurob as mr
from modurob.estimation import ExtendedKalmanFilter, HallSensors, UnscentedKalmanFilter, band, nis
from tests.estimation.runs import Running, followed, true_runs

DT, RUNS, SAMPLES = 5e-3, 100, 80
Q, START = np.repeat([1e-10, 1e-5], 3), np.repeat([1e-2, 1e-1], 3)
FIRST = np.zeros(3), np.zeros(3)
SETTLED = slice(40, None)


@pytest.fixture(scope="module")
def crab():
    return mr.load("crab").mechanism(base="m0").ideal()


@pytest.fixture(scope="module")
def truth(crab):
    return true_runs(np.random.default_rng(3), crab, FIRST, RUNS, SAMPLES, DT, Q, START)


def along(crab, truth, recipe=ExtendedKalmanFilter, **sensors):
    recipe = recipe(HallSensors(**sensors), Q=Q, start=START)
    return followed(np.random.default_rng(4), crab, recipe, FIRST, truth, DT)


@pytest.fixture(scope="module")
def extended(crab, truth):
    return along(crab, truth)


def inside(values, degrees):
    """How often the average over the runs lies in its 95 % band."""
    low, high = band(degrees, RUNS)
    average = values.mean(axis=1)
    return ((low < average) & (average < high)).mean()


def rms(errors):
    return np.sqrt((errors**2).mean())


def test_the_runs_are_far_from_linear(truth):
    assert np.ptp(truth.q, axis=0).max(axis=-1).min() > 1.5


def test_the_extended_filter_knows_how_wrong_it_is(extended):
    """NEES and NIS over 100 runs; samples in a row are not independent, so of 95 % some may miss."""
    low, high = band(6, RUNS)
    assert low < extended.nees.mean() < high
    assert inside(extended.nees, 6) > 0.88
    squares = np.stack([nis(x) for x in extended.innovations])
    low, high = band(3, RUNS)
    assert low < squares.mean() < high
    assert inside(squares, 3) > 0.88


def test_the_extended_filter_is_right_on_average(extended):
    """Errors averaged over each run, and those at its end, have mean zero over the runs: within four standard deviations of it."""
    for errors in (extended.dx[SETTLED].mean(axis=0), extended.dx[-1]):
        assert (np.abs(errors.mean(axis=0)) < 4 * errors.std(axis=0) / np.sqrt(RUNS)).all()


def test_velocities_are_far_better_than_differences_of_readings(extended, truth):
    rates = np.diff(np.stack([y for (y,) in extended.readings]), axis=0) / DT
    differences = rms((rates - truth.v[1:])[SETTLED])
    assert differences > 5 * rms(extended.dx[SETTLED][..., 3:])


def test_it_converges_with_a_fifth_of_the_samples_lost(crab, truth, extended):
    lossy = along(crab, truth, dropped=0.2)
    lost = np.mean([np.isnan(y).any(axis=-1).mean() for (y,) in lossy.readings])
    assert 0.18 < lost < 0.22
    low, high = band(6, RUNS)
    assert low < lossy.nees.mean() < high
    assert rms(lossy.dx[SETTLED]) < 1.3 * rms(extended.dx[SETTLED])
    # at the end every angle is known to a few thousandths, every rate to some hundredths, from 0.1 and 0.3 at the start
    assert np.abs(lossy.dx[-1][:, :3]).max() < 3e-3
    assert np.abs(lossy.dx[-1][:, 3:]).max() < 0.1


def test_late_samples_leave_it_consistent(crab, truth):
    late = along(crab, truth._replace(q=truth.q[:30], v=truth.v[:30]), delay=2)
    assert late.readings[:2] == [None, None]
    low, high = band(6, RUNS)
    assert low < late.nees.mean() < high


def test_the_unscented_filter_is_consistent_too(crab, truth, extended):
    unscented = along(crab, truth, UnscentedKalmanFilter)
    low, high = band(6, RUNS)
    assert low < unscented.nees.mean() < high
    # both see the same readings: their estimates differ by a small part of their errors
    assert rms((unscented.dx - extended.dx)[SETTLED]) < 0.1 * rms(extended.dx[SETTLED])


def test_a_batch_is_its_runs_one_by_one(crab, truth):
    recipe = ExtendedKalmanFilter(Q=Q, start=START)
    rng = np.random.default_rng(5)
    y = truth.q[:4, :2] + 1e-3 * rng.normal(size=(4, 2, 3))
    y[2, 0] = np.nan
    batch = Running(recipe, crab, np.zeros((2, 3)), np.zeros((2, 3)), DT)
    singles = [Running(recipe, crab, np.zeros(3), np.zeros(3), DT) for _ in range(2)]
    for k in range(4):
        q, v = batch.update(k * DT, truth.tau[k], y[k])
        for run, single in enumerate(singles):
            lost = np.isnan(y[k, run]).all()
            q_one, v_one = single.update(k * DT, truth.tau[k], None if lost else y[k, run])
            np.testing.assert_allclose(q[run], q_one, rtol=0, atol=1e-12)
            np.testing.assert_allclose(v[run], v_one, rtol=0, atol=1e-11)


def test_one_lost_joint_tells_nothing_of_itself(crab):
    """NaN at one angle is a sensor less, also where the noises of sensors are related."""
    R = np.array([[2.0, 0.5, 0.3], [0.5, 1.0, 0.2], [0.3, 0.2, 1.5]]) * 1e-6
    y = np.array([0.1, np.nan, -0.2])
    whole = Running(ExtendedKalmanFilter(R=R), crab, *FIRST, DT)
    two = HallSensors(joints=("m0/hinge", "m4/hinge"))
    fewer = Running(ExtendedKalmanFilter(two, R=R[::2, ::2]), crab, *FIRST, DT)
    for estimator in (whole, fewer):
        estimator.update(0.0, np.zeros(3), None)
        estimator.update(DT, np.ones(3), y)
    for found, expected in zip(whole.belief, fewer.belief, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-15)
