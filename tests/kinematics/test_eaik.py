"""The same solutions as EAIK (Ostermeier, Külz, Althoff: Automatic geometric decomposition for analytical inverse kinematics), on
random arms of every family that it has."""

import numpy as np
import pytest
from eaik.IK_DH import DhRobot
from eaik.IK_HP import HPRobot
from eaik.IK_URDF import UrdfRobot

import modurob as mr
from tests.kinematics.arms import shipped
from tests.kinematics.families import distance_to_own, lines_of, robot_of, wrapped
from tests.kinematics.test_inverse import ARMS, PI, definition  # noqa: F401

# how far configurations may be apart, and what EAIK finds from its pose, to count: close to double roots it has half of the digits
SAME, THERE = 1e-5, 1e-6

# how each axis lies to the one before, as `lines_of` reads it; EAIK takes parallel axes to point the same way
RELATIONS = {
    "gggic": "6R-SPHERICAL_NO_PARALLEL_NO_INTERSECTING",
    "pggic": "6R-SPHERICAL_FIRST_TWO_PARALLEL",
    "gpgic": "6R-SPHERICAL_SECOND_TWO_PARALLEL",
    "iggic": "6R-SPHERICAL_FIRST_TWO_INTERSECTING",
    "gigic": "6R-SPHERICAL_SECOND_TWO_INTERSECTING",
    "gppgg": "6R-THREE_INNER_PARALLEL",
    "gppgi": "6R-THREE_INNER_PARALLEL",
    "gppgp": "6R-THREE_INNER_PARALLEL",
    "ppggi": "6R-THREE_PARALLEL_TWO_INTERSECTING",
    "ggpp": "5R-FIRST_SECOND_THIRD_PARALLEL",
    "pgpp": "5R-FIRST_SECOND_THIRD_PARALLEL_FOURTH_FITH_PARALLEL",
    "gggi": "5R-FOURTH_FITH_INTERSECTING",
    "iggi": "5R-FOURTH_FITH_INTERSECTING_FIRST_SECOND_INTERSECTING",
    "pggi": "5R-FOURTH_FITH_INTERSECTING_FIRST_SECOND_PARALLEL",
    "gigi": "5R-FOURTH_FITH_INTERSECTING_SECOND_THIRD_INTERSECTING",
    "gpgi": "5R-FOURTH_FITH_INTERSECTING_SECOND_THIRD_PARALLEL",
    "gppg": "5R-SECOND_THIRD_FOURTH_PARALLEL",
    "ggic": "5R-SPHERICAL_WRIST",
    "igic": "5R-SPHERICAL_WRIST_FIRST_SECOND_INTERSECTING",
    "gpig": "5R-THIRD_FOURTH_INTERSECTING_SECOND_THIRD_PARALLEL",
    "gpip": "5R-THIRD_FOURTH_INTERSECTING_SECOND_THIRD_PARALLEL_FOURTH_FITH_PARALLEL",
    "ggg": "4R-NONE_PARALLEL_NONE_INTERSECTING",
    "ggi": "4R-THIRD_FOURTH_INTERSECTING",
    "gig": "4R-SECOND_THIRD_INTERSECTING",
    "igi": "4R-FIRST_TWO_LAST_TWO_INTERSECTING",
    "gic": "4R-SPHERICAL_WRIST",
    "pgg": "4R-FIRST_SECOND_PARALLEL",
    "gpg": "4R-SECOND_THIRD_PARALLEL",
    "gg": "3R",
    "g": "2R",
}


def judge_of(lines, robot):
    """EAIK's robot with these axes, and the rotation of the tip that it leaves out."""
    X0 = robot.frame_pose(np.zeros(len(lines)), "tip")
    points = np.array([np.zeros(3), *(line.o for line in lines), X0[:3, 3]])
    return HPRobot(np.array([line.h for line in lines]), np.diff(points, axis=0)), X0[:3, :3]


def assert_same_set(robot, judge, X, found, turned=None, frame="tip"):
    """One solution of ours for each of theirs that reaches its pose, whatever they call it, and the reverse."""
    for x, own, count in zip(X, found.q, found.count, strict=True):
        goal = x.copy()
        goal[:3, :3] = x[:3, :3] @ (np.eye(3) if turned is None else turned.T)
        theirs = np.asarray(judge.IK(goal).Q).reshape(-1, robot.nq)
        theirs = theirs[np.abs(robot.frame_pose(theirs, frame) - x).max(axis=(-2, -1)) < THERE]
        apart = np.abs(wrapped(own[:count, None] - theirs)).max(axis=-1)
        assert apart.min(axis=0, initial=np.inf).max() < SAME
        assert apart.min(axis=1, initial=np.inf).max() < SAME


def compare(relations, seed, poses, tip):
    """An arm of a family, or the same from its tip."""
    rng = np.random.default_rng([seed, 23])
    lines = lines_of(relations, rng)
    lines = lines[::-1] if tip else lines
    robot = robot_of(lines, rng)
    judge, turned = judge_of(lines, robot)
    if not tip:
        assert judge.getKinematicFamily() == RELATIONS[relations]
    q = rng.uniform(-PI, PI, (poses, len(lines)))
    X = robot.frame_pose(q, "tip")
    found = robot.inverse_kinematics("tip", X)
    assert found.exact
    assert found.certain.all()
    assert np.all(distance_to_own(robot, found, q) < SAME)
    assert_same_set(robot, judge, X, found, turned)


@pytest.mark.usefixtures("definition")
@pytest.mark.parametrize("relations", RELATIONS)
def test_arms_of_every_family(relations):
    for tip in (False, True):
        compare(relations, 0, 4, tip)


@pytest.mark.judge
@pytest.mark.parametrize("relations", RELATIONS)
def test_a_hundred_arms_of_every_family(relations):
    for seed in range(1, 101):
        compare(relations, seed, 5, bool(seed % 2))


@pytest.mark.parametrize("name", ["PUMA", "UR"])
def test_arms_by_their_rows(name):
    robot, rows = mr.Mechanism.from_dh(ARMS[name]), np.array(ARMS[name])
    judge = DhRobot(rows[:, 1].copy(), rows[:, 0].copy(), rows[:, 2].copy())
    X = robot.frame_pose(np.random.default_rng(3).uniform(-PI, PI, (40, 6)), "tip")
    assert_same_set(robot, judge, X, robot.inverse_kinematics("tip", X))


def test_an_arm_of_a_file():
    path = shipped("ur_description/urdf/ur5_robot.urdf")
    robot, judge = mr.Mechanism.from_urdf(path), UrdfRobot(str(path))
    q = np.random.default_rng(4).uniform(-PI, PI, (20, 6))
    X = robot.frame_pose(q, "wrist_3_link")
    turned = robot.frame_pose(np.zeros(6), "wrist_3_link")[:3, :3]
    found = robot.inverse_kinematics("wrist_3_link", X, limits=False)
    assert_same_set(robot, judge, X, found, turned, "wrist_3_link")
