"""Arms of up to six joints whose neighbouring axes lie to each other in every way: no configuration is lost."""

import re
from itertools import product

import numpy as np
import pytest

import modurob as mr
from tests.kinematics.families import closest_pair, distance_to_own, lines_of, pose_error, robot_of
from tests.kinematics.test_inverse import HALF, definition, own_bound  # noqa: F401

# how each axis lies to the one before
LETTERS = "gpic"
# below, joints move without moving the tip
REDUNDANT = 1e-7


def every(joints):
    """All relations; axes go through a point only where two before have met."""
    return [r for r in map("".join, product(LETTERS, repeat=joints - 1)) if not re.search("(^|[gp])c", r)]


def assert_none_lost(relations, seed=0, kinds=None):
    """Own configurations are among the solutions, none is false, no two are one, or there are infinitely many and one is found."""
    rng = np.random.default_rng([seed, 29])
    robot = robot_of(lines_of(relations, rng, kinds, ways=(-1, 1)), rng)
    q = rng.uniform(-2.5, 2.5, (3, robot.nq))
    X = robot.frame_pose(q, "tip")
    found = robot.inverse_kinematics("tip", X)
    if np.linalg.svd(robot.jacobian(q, "tip"), compute_uv=False)[:, -1].max() < REDUNDANT:
        assert (found.exact, found.reached.all()) == (False, True), relations
        return
    assert found.exact, relations
    assert np.all((distance_to_own(robot, found, q) < own_bound(robot, q)) | ~found.certain), relations
    assert pose_error(robot, "tip", found, X) < 1e-9, relations
    assert closest_pair(robot, found) > 1e-6, relations
    assert found.certain.all() or robot.nq == 6, relations


@pytest.mark.usefixtures("definition")
@pytest.mark.parametrize("joints", [2, 3, 4])
def test_few_joints(joints):
    for relations in every(joints):
        assert_none_lost(relations)


@pytest.mark.usefixtures("definition")
@pytest.mark.parametrize("joints", [5, 6])
def test_some_of_five_and_six_joints(joints):
    for relations in every(joints)[:: 12 * (joints - 4) ** 2]:
        assert_none_lost(relations)


@pytest.mark.judge
@pytest.mark.usefixtures("definition")
@pytest.mark.parametrize("joints", [5, 6])
def test_five_and_six_joints(joints):
    for seed in range(3):
        for relations in every(joints):
            assert_none_lost(relations, seed)


# rows and whether a point is the goal, or a pose
REDUNDANT_ARMS = {
    "planar, four joints": ([(1, 0, 0)] * 4, False),
    "planar, three joints to a point": ([(1, 0, 0)] * 3, True),
    "four axes through one point": ([(0, HALF, 0), (0, -HALF, 0), (0, HALF, 0), (0, 0, 0.3)], False),
    "a point on the last axis": ([(0, HALF, 0), (0, -HALF, 0), (0, HALF, 0), (0, 0, 0.3)], True),
    "four parallel of five": ([(0.1, HALF, 0.2), (1, 0, 0), (1, 0, 0), (1, 0, 0), (1, HALF, 0)], False),
}


@pytest.mark.parametrize("name", REDUNDANT_ARMS)
def test_joints_that_move_without_the_tip(name):
    """There are infinitely many solutions: one is found by iteration, and none is said to be all."""
    rows, point = REDUNDANT_ARMS[name]
    robot = mr.Mechanism.from_dh(rows)
    X = robot.frame_pose(np.random.default_rng(0).uniform(-2, 2, (6, len(rows))), "tip")
    found = robot.inverse_kinematics("tip", X[:, :3, 3] if point else X)
    assert (found.reached.all(), found.exact, found.certain.any(), found.family) == (True, False, False, "numeric")
