"""Inverse kinematics in the studio: pulled to a point, all poses of an arm listed, refusals in words."""

import numpy as np
import pytest

import modurob as mr
from modurob.errors import StudioError
from modurob.studio import posing, reaching
from modurob.studio.design import Design
from modurob.studio.session import Session

ARM = mr.load("lwa4p").robot()
Q = np.array([0.3, 0.5, 0.9, 0.2, 0.6, 0.1])


def test_a_frame_is_pulled_to_a_point_near_the_pose_it_has():
    start = ARM.frame_pose(Q, "wrist")[:3, 3]
    point = start + np.array([0.02, -0.03, 0.01])
    q, complaint = reaching.pulled(ARM, Q, "wrist", point)
    assert complaint == ""
    assert np.allclose(ARM.frame_pose(q, "wrist")[:3, 3], point, atol=2e-4)
    assert np.abs(q - Q).max() < 0.5


def test_out_of_reach_it_comes_near_and_says_so():
    session = Session(None, Design(mr.load("crab")))
    with pytest.raises(StudioError, match=r"m3 does not get there: the nearest pose found is .* m away"):
        session.pull("m3", [0.1, 5.0, 0.0])
    session.pull("m3", [0.1, 5.0, 0.0], near_will_do=True)
    low, high = session.robot.limits
    assert ((session.q >= low - 1e-9) & (session.q <= high + 1e-9)).all()


def test_all_poses_of_an_arm_are_listed_and_can_be_taken():
    found = reaching.solutions(ARM, Q, "wrist/out")
    assert found["exact"]
    assert len(found["q"]) > 1
    goal = ARM.frame_pose(Q, "wrist/out")
    for q in found["q"]:
        assert np.allclose(ARM.frame_pose(q, "wrist/out"), goal, atol=1e-8)
    assert min(np.abs(np.array(found["q"]) - Q).max(axis=-1)) < 1e-8
    session = Session(None, Design(mr.load("lwa4p")))
    session.take_pose(found["q"][1])
    assert session.q.tolist() == found["q"][1]


def test_poses_that_cannot_be():
    with pytest.raises(StudioError, match="a pose of 2 coordinates: this robot has 6"):
        posing.checked(ARM, [0.0, 0.0])
    with pytest.raises(StudioError, match="cannot be at 9: its limits are"):
        posing.checked(ARM, [9.0, 0, 0, 0, 0, 0])
    ring = mr.Assembly.from_grid([["B", "B"], ["B", "B"]]).mechanism()
    with pytest.raises(StudioError, match="this pose opens a loop"):
        posing.checked(ring, [0.3, -0.1])
    with pytest.raises(StudioError, match="no frame 'nobody'"):
        reaching.pulled(ARM, Q, "nobody", (0, 0, 0))
    lone = mr.Assembly.single("m0", "backbone").mechanism()
    with pytest.raises(StudioError, match="nothing moves"):
        reaching.solutions(lone, np.zeros(0), "m0")
