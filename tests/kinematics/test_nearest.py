"""The nearest configuration to a goal out of reach: no sampling followed by SciPy's descent finds a nearer one."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import modurob as mr
from tests.kinematics.test_inverse import ARMS, PI, random_rows

LIMITS = (-2.0, 2.5)
# how much nearer another may be, in the root of twice the cost [m and rad]
NEARER = 1e-6


def cost(robot, q, X):
    """Half the squared distance, and 4 (1 - cos(angle / 2)) of a turn, of configurations (..., n) from a pose or a point."""
    F = robot.frame_pose(q, "tip")
    if X.shape == (3,):
        return ((F[..., :3, 3] - X) ** 2).sum(axis=-1) / 2
    trace = np.einsum("...ij,ij->...", F[..., :3, :3], X[:3, :3])
    return ((F[..., :3, 3] - X[:3, 3]) ** 2).sum(axis=-1) / 2 + 4 * (1 - np.sqrt(np.maximum(1 + trace, 0)) / 2)


def with_slope(robot, q, X):
    """The cost and its gradient, by differences."""
    shifts = 1e-6 * np.concatenate([np.eye(len(q)), -np.eye(len(q))])
    values = cost(robot, np.concatenate([q[None], q + shifts]), X)
    return values[0], (values[1 : len(q) + 1] - values[len(q) + 1 :]) / 2e-6


def least(robot, X, bounds, samples, starts, rng):
    """The least cost that descents from the best of many samples reach."""
    q = rng.uniform(*(bounds or (-PI, PI)), (samples, robot.nq))
    first = q[np.argsort(cost(robot, q, X))[:starts]]
    limits = [bounds] * robot.nq if bounds else None
    own = {"method": "L-BFGS-B", "jac": True, "bounds": limits, "options": {"ftol": 1e-15, "gtol": 1e-9}}
    return min(minimize(lambda x: with_slope(robot, x, X), x, **own).fun for x in first)


def lost_goal(joints, rng, limited):
    """An arm, and a goal that it may not reach."""
    rows = ARMS["UR"] if joints == 6 and rng.random() < 0.3 else random_rows(rng, joints)
    properties = mr.JointProperties(lower=LIMITS[0], upper=LIMITS[1]) if limited else mr.JointProperties()
    robot = mr.Mechanism.from_dh(rows, properties=properties)
    X = robot.frame_pose(rng.uniform(-2, 2, joints), "tip").copy()
    X[:3, 3] += rng.normal(size=3)
    if joints < 6:
        X[:3, :3] = X[:3, :3] @ Rotation.random(rng=rng).as_matrix()
    return robot, X[:3, 3] if joints == 3 and rng.random() < 0.5 else X


def assert_nearest(joints, seed, samples, starts):
    rng = np.random.default_rng([joints, seed])
    limited = bool(seed % 2)
    robot, X = lost_goal(joints, rng, limited)
    found = robot.inverse_kinematics("tip", X)
    if found.reached:
        return 0
    other = least(robot, X, LIMITS if limited else None, samples, starts, rng)
    assert np.sqrt(2 * cost(robot, found.q[0], X)) < np.sqrt(2 * other) + NEARER
    if limited:
        assert np.all((found.q[0] >= LIMITS[0] - 1e-9) & (found.q[0] <= LIMITS[1] + 1e-9))
    return 1


@pytest.mark.parametrize(("joints", "arms"), [(3, 4), (6, 2)])
def test_nothing_nearer_is_found(joints, arms):
    assert sum(assert_nearest(joints, seed, 400, 4) for seed in range(arms)) >= arms / 2


@pytest.mark.judge
@pytest.mark.parametrize("joints", [3, 5, 6, 7])
def test_nothing_nearer_is_found_on_many_arms(joints):
    assert sum(assert_nearest(joints, seed, 6000, 40) for seed in range(25)) >= 10
