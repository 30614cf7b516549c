"""The model of the filters on random robots of every joint kind."""

import numpy as np
import pytest

from modurob.estimation.belief import Belief, displaced
from modurob.estimation.prediction import step, transition
from modurob.estimation.unscented import root
from tests.robots import random_mechanism, random_state


def error(robot, state, other):
    return np.concatenate([robot.difference(state[0], other[0]), other[1] - state[1]], axis=-1)


def displacements(robot, q, v, dx):
    return robot.integrate(q, dx[..., : robot.nv]), v + dx[..., robot.nv :]


def slopes(robot, q, v, tau, dt, h=1e-5):
    """d step / d state by central differences, good to about 1e-9."""
    after = step(robot, q, v, tau, dt)
    ahead, behind = (
        error(robot, after, step(robot, *displacements(robot, q, v, dx), tau, dt))
        for dx in (h * np.eye(2 * robot.nv), -h * np.eye(2 * robot.nv))
    )
    return ((ahead - behind) / (2 * h)).T


@pytest.mark.parametrize("seed", range(6))
def test_the_transition_is_the_slope_of_the_step(seed):
    """To fourth order: halving the step makes the error of one step some thirty times smaller."""
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 4, floating=seed % 2 == 0)
    q, v, tau = random_state(rng, robot)
    wrong = []
    for dt in (0.04, 0.02, 0.01):
        F = transition(robot, q, v, tau, dt)
        wrong.append(np.abs(F - slopes(robot, q, v, tau, dt)).max())
    assert wrong[-1] < 1e-7
    assert np.log2(wrong[0] / wrong[1]) > 4.7
    assert np.log2(wrong[1] / wrong[2]) > 4.7


def test_a_belief_that_turns_takes_its_covariance_along(rng):
    """Errors about the moved belief are those about the old one in the new axes, up to the square of the move."""
    robot = random_mechanism(rng, 3, ("spherical", "revolute"), floating=True)
    n = 2 * robot.nv
    q, v, _ = random_state(rng, robot)
    # the columns of L stand for the errors
    L, move = 1e-5 * rng.normal(size=(n, n)), rng.normal(size=n)
    wrong = []
    for size in (0.1, 0.05):
        found = displaced(robot, Belief(q, v, L @ L.T), size * move)
        errors = error(robot, (found.q, found.v), displacements(robot, q, v, size * move + L.T))
        wrong.append(np.abs(found.P - errors.T @ errors).max())
    assert np.log2(wrong[0] / wrong[1]) > 1.8


@pytest.mark.parametrize("rank", [3, 6])
def test_the_root_of_a_covariance(rng, rank):
    A = rng.normal(size=(4, 6, rank))
    P = A @ np.swapaxes(A, -1, -2)
    L = root(P)
    np.testing.assert_allclose(L @ np.swapaxes(L, -1, -2), P, atol=1e-13 * np.abs(P).max())
