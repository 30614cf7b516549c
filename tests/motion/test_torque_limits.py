"""Motions slowed down to keep torques, and the fastest ones along paths of poses."""

import numpy as np
import pytest
from scipy.optimize import brentq

import modurob as mr
from modurob.errors import ControlError
from modurob.judges.pinocchio import PinocchioTwin
from modurob.motion import Line, PoseTrajectory, Trajectory, joint_path, time_optimal
from modurob.spatial import inertia, se3
from tests.motion.test_time_optimal import drive_torques, random_arm, random_task

START = np.array([0.3, 0.5, 1.2, 0.2, 0.9, 0.1])


# ---- within ----


def test_a_pendulum_is_slowed_to_the_closed_form():
    """m l² qdd + m g l sin q on a level axis: the factor at which the largest is the limit."""
    builder = mr.Builder("pendulum", gravity=(0, -9.81, 0))
    builder.body("rod", inertia.point(2.0, (0, -0.5, 0)), joint=mr.Revolute((0, 0, 1)))
    robot, limit = builder.build(), 6.0
    motion = Trajectory.quintic([-0.4], [0.5], 0.3)
    t = np.linspace(0, 0.3, 200_001)
    q, _, vdot = (x[:, 0] for x in motion(t))
    largest = lambda f: np.abs(0.5 * vdot / f**2 + 9.81 * np.sin(q)).max() - limit  # noqa: E731
    slow = motion.within(robot=robot, torque=limit)
    assert slow.duration == pytest.approx(0.3 * brentq(largest, 1, 10), rel=1e-7)


@pytest.mark.parametrize("friction", [0.0, 1.0])
def test_torques_are_kept_and_used(friction, rng):
    for _ in range(3):
        robot = random_arm(rng, friction, friction)
        points, _, _, torque = random_task(rng, robot, friction)
        motion = Trajectory.quintic(points[0], points[1], 0.05)
        slow = motion.within(robot=robot, torque=torque)
        assert np.allclose(slow(slow.breaks[-1]).position, points[1])
        t = np.linspace(0, slow.duration, 20_011)[1:-1]
        q, v, vdot = slow(t)
        assert (np.abs(drive_torques(robot, q, v, vdot)) / torque).max() == pytest.approx(1, abs=1e-6)
        if not friction:
            twin = PinocchioTwin(robot)
            for k in range(0, len(t), 4001):
                assert np.abs(twin.inverse_dynamics(q[k], v[k], vdot[k])).max() <= 1.001 * torque.max()
        assert slow.within(robot=robot, torque=torque * 1.001) is slow


def test_other_limits_hold_beside_torques(rng):
    robot = random_arm(rng)
    points, velocity, acceleration, torque = random_task(rng, robot)
    motion = Trajectory.quintic(points[0], points[1], 0.05)
    slow = motion.within(velocity, acceleration, robot=robot, torque=torque)
    assert slow.duration >= motion.within(velocity, acceleration).duration
    assert np.all(slow.largest(1) <= velocity * (1 + 1e-9))
    assert np.all(slow.largest(2) <= acceleration * (1 + 1e-9))


def test_what_cannot_be_kept_is_refused():
    arm = mr.load("lwa4p").robot()
    motion = Trajectory.quintic(START, START + 0.5, 1.0)
    with pytest.raises(
        ControlError,
        match=r"no slower motion keeps the torques at t = .* s: at rest shoulder/tilt needs .* of 0.5 N m:",
    ):
        motion.within(robot=arm, torque=0.5)
    with pytest.raises(ControlError, match="expected a robot"):
        motion.within(robot=mr.load("lwa4p"))
    with pytest.raises(ControlError, match=r"path of shape \(2,\)"):
        Trajectory.cubic([0.0, 0.0], [1.0, 1.0], 1.0).within(robot=arm)


# ---- paths of poses ----


@pytest.fixture(scope="module")
def arm():
    return mr.load("lwa4p").robot()


def line_of(arm, by=(0.1, 0.05, -0.1)):
    X = arm.frame_pose(START, "wrist/out")
    return PoseTrajectory.line(X, X @ se3.pose(p=list(by)), 1.0)


def test_joints_follow_a_path_of_poses(arm, rng):
    line = line_of(arm)
    q = joint_path(arm, line, "wrist/out", START)
    assert np.allclose(q(0.0).position, START, atol=1e-9)
    s = rng.uniform(0, 1, 200)
    X, twist, _ = line.path(s)
    found = q(s)
    assert np.abs(arm.frame_pose(found.position, "wrist/out") - X).max() < 2e-6
    # q' is what the Jacobian says
    J = arm.body_jacobian(found.position, "wrist/out")
    assert np.abs((J @ found.velocity[..., None])[..., 0] - twist).max() < 1e-3


def test_the_fastest_line_of_a_frame(arm):
    line = line_of(arm)
    fast = time_optimal(arm, line, frame="wrist/out", q0=START, velocity=1.2, acceleration=8.0)
    same = time_optimal(arm, joint_path(arm, line.path, "wrist/out", START), velocity=1.2, acceleration=8.0)
    assert fast.duration == pytest.approx(same.duration, rel=1e-9)
    t = np.linspace(0, fast.duration, 501)
    q, v, vdot = fast.trajectory(t)
    assert np.abs(v).max() <= 1.2 * (1 + 1e-6)
    assert np.abs(vdot[1:-1]).max() <= 8.0 * (1 + 1e-6)
    p = arm.frame_pose(q, "wrist/out")[:, :3, 3]
    a, b = line.path(0.0)[0][:3, 3], line.path(1.0)[0][:3, 3]
    off = np.cross(p - a, (b - a) / np.linalg.norm(b - a))
    assert np.abs(off).max() < 2e-6  # on the line all the way
    assert np.allclose(p[-1], b, atol=1e-6)


def test_paths_that_cannot_be_followed(arm):
    with pytest.raises(ControlError, match="expected the frame that follows it"):
        time_optimal(arm, line_of(arm))
    with pytest.raises(ControlError, match=r"path of wrist/out at s = .*: out of reach"):
        joint_path(arm, line_of(arm, (2.0, 0, 0)), "wrist/out", START)
    with pytest.raises(ControlError, match="expected a path of poses"):
        joint_path(arm, START, "wrist/out")
    # through the stretched wrist: it turns by half a turn at once
    straight = arm.frame_pose([0.3, 0.5, 1.2, 0.2, 0.0, 0.1], "wrist/out")
    lean = [straight @ se3.pose(mr.spatial.so3.about(np.array(h), np.array(0.2))) for h in ([1.0, 0, 0], [0, 1.0, 0])]
    with pytest.raises(ControlError, match="cannot follow the path smoothly at s = "):
        joint_path(arm, PoseTrajectory(mr.motion.Poses([lean[0], straight, lean[1]]), 1.0), "wrist/out")
    assert isinstance(line_of(arm).path, Line)
