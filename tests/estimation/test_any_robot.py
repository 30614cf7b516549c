"""Filters on robots with quaternions, loops and joints of every kind."""

import numpy as np
import pytest

import modurob as mr
from modurob.estimation import ExtendedKalmanFilter, HallSensors, UnscentedKalmanFilter, band, nees
from modurob.spatial import inertia, se3
from tests.estimation.runs import Running, advanced, followed, true_runs
from tests.robots import random_mechanism, random_state

DT = 5e-3
RECIPES = [ExtendedKalmanFilter, UnscentedKalmanFilter]


def quaternions(robot, q):
    for joint in robot.joints:
        if joint.kind in ("free", "spherical"):
            yield q[..., joint.q_slice][..., -4:]


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("seed", range(3))
def test_floating_robots_with_every_kind_of_joint(recipe, seed):
    """Quaternions stay of length one, P stays a covariance, measured joints are known, the filter knows how wrong it is."""
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 3, floating=True)
    runs, samples, n = 30, 15, 2 * robot.nv
    first = random_state(rng, robot)[:2]
    Q, start = np.repeat([1e-8, 1e-5], robot.nv), np.repeat([1e-3, 1e-2], robot.nv)
    truth = true_runs(rng, robot, first, runs, samples, DT, Q, start)
    filtered = followed(rng, robot, recipe(Q=Q, start=start), first, truth, DT)
    belief = filtered.estimator.belief
    for x in quaternions(robot, belief.q):
        np.testing.assert_allclose(np.linalg.norm(x, axis=-1), 1, rtol=1e-14)
    np.testing.assert_array_equal(belief.P, np.swapaxes(belief.P, -1, -2))
    assert np.linalg.eigvalsh(belief.P).min() > 0
    low, high = band(n, runs, 0.999)
    assert low < filtered.nees.mean() < high
    measured = HallSensors().on(robot).rates
    assert np.abs(filtered.dx[-1][:, measured]).max() < 6e-3


def test_the_filters_agree_where_noise_is_small(rng):
    robot = random_mechanism(rng, 4, ("revolute", "spherical", "universal"), floating=True)
    q, v, _ = random_state(rng, robot)
    sensors = HallSensors(noise=1e-6, resolution=0.0)
    recipes = [recipe(sensors, Q=(1e-14, 1e-12), start=(1e-10, 1e-8)) for recipe in RECIPES]
    both = [Running(recipe, robot, q, v, DT) for recipe in recipes]
    for k in range(10):
        y = both[0].measured(k * DT, q, v, rng)
        for estimator in both:
            estimator.update(k * DT, np.ones(robot.nv), y)
        q, v = advanced(robot, q, v, np.ones(robot.nv), DT)
    one, other = (estimator.belief for estimator in both)
    apart = np.concatenate([robot.difference(one.q, other.q), other.v - one.v])
    sigma = np.sqrt(np.diagonal(one.P))
    assert (np.abs(apart) < 0.02 * sigma).all()
    # the transition of the extended one is of second order in the sample time
    assert (np.abs(other.P - one.P) < 1e-3 * np.outer(sigma, sigma)).all()


# ---- closed loops ----


def four_bar() -> mr.Mechanism:
    """The linkage of tests/oracles/four_bar.py."""
    hinge = mr.Revolute((0, 0, 1))

    def along(x):
        return se3.pose(None, np.array([x, 0.0, 0.0]))

    def rod(mass, length):
        return inertia.moved(inertia.box(mass, (length, 0.02, 0.02)), along(length / 2))

    builder = mr.Builder("four-bar", gravity=(0, -9.81, 0))
    builder.body("crank", rod(1.0, 0.4), joint=hinge)
    builder.body("coupler", rod(1.5, 0.9), parent="crank", joint=hinge, at=along(0.4))
    builder.body("rocker", rod(1.2, 0.8), joint=hinge, at=along(1.0))
    builder.loop("pin", hinge, "coupler", "rocker", at=along(0.9), seat=along(0.8))
    return builder.build()


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_linkage_with_a_sensor_in_its_crank(rng, recipe):
    """One degree of freedom and one sensor: the loop stays closed, all angles are found, the error has two degrees of freedom."""
    robot = four_bar()
    q = robot.close_loops(np.array([1.0, 0.0, 2.0]))
    v = robot.close_velocity(q, np.array([2.0, 0.0, 0.0]))
    start = robot.close_loops(q + np.array([0.05, 0.02, 0.0]))
    recipe = recipe(HallSensors(joints=("crank",)), Q=(0.0, 1e-8), start=(0.05**2, 0.3**2))
    estimator = Running(recipe, robot, start, robot.close_velocity(start, np.array([2.3, 0.0, 0.0])), DT)
    squares = []
    for k in range(30):
        if k:
            q, v = advanced(robot, q, v, np.zeros(3), DT / 2, 2)
        estimator.update(k * DT, np.zeros(3), estimator.measured(k * DT, q, v, rng))
        squares.append(nees(robot, estimator.belief, q, v))
    belief = estimator.belief
    assert np.abs(robot.loop_error(belief.q)).max() < 1e-9
    assert np.abs(robot.loop_jacobian(belief.q) @ belief.v).max() < 1e-9
    assert np.linalg.matrix_rank(belief.P, tol=1e-9 * np.trace(belief.P), hermitian=True) == 2
    np.testing.assert_allclose(belief.q, q, rtol=0, atol=2e-3)
    np.testing.assert_allclose(belief.v, v, rtol=0, atol=0.05)
    # samples in a row are hardly independent
    assert np.mean(squares) < band(2, 1, 0.99).high
