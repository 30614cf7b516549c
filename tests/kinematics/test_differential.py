"""Velocities towards goals against SciPy's bounded least squares, and runs that never pass a limit."""

import sys

import numpy as np
import pytest
from scipy.optimize import lsq_linear

import modurob as mr
from modurob.errors import ClosureError, InputError
from modurob.kinematics.inverse.differential import velocity_window
from modurob.kinematics.inverse.problem import problem
from tests.kinematics.arms import ROBOTS, configurations

DT = 0.01


def test_scipy_finds_the_same_velocity(rng):
    robot = ROBOTS["panda"][0]()
    for q, other in zip(configurations(robot, 8, rng), configurations(robot, 8, rng), strict=True):
        before, goal = 0.3 * rng.normal(size=robot.nv), mr.PoseGoal("panda_hand", robot.frame_pose(other, "panda_hand"))
        v = robot.velocity_towards(goal, q, DT, v=before, acceleration=20.0, gain=0.05, damping=1e-3)
        p = problem(robot, goal, True)
        found, window = p.look(q, p.target), velocity_window(robot, q, DT, before, 20.0, robot.limits)
        A = np.concatenate([found.J * DT, np.sqrt(1e-3) * DT * np.eye(robot.nv)])
        b = np.concatenate([0.05 * found.error, np.zeros(robot.nv)])
        room = window.upper - window.lower > 1e-9  # SciPy wants bounds that are apart
        fixed = A[:, ~room] @ window.lower[~room]
        exact = lsq_linear(A[:, room], b - fixed, (window.lower[room], window.upper[room]), method="bvls", tol=1e-15)
        np.testing.assert_allclose(v[room], exact.x, atol=1e-6)
        assert np.all((v >= window.lower) & (v <= window.upper))


def test_a_run_keeps_all_limits_and_arrives(rng):
    """Speed, acceleration and stops are kept at every step, from rest to the goal."""
    robot, bound = ROBOTS["ur5"][0](), 4.0
    q = np.array([0.3, -1.2, 1.5, -0.5, 1.0, 0.2])
    goal = mr.PoseGoal("tool0", robot.frame_pose(q + np.array([0.5, -0.3, 0.4, 0.6, -0.5, 0.8]), "tool0"))
    fastest, v = np.concatenate([j.velocity_limit for j in robot.joints]), np.zeros(6)
    for _ in range(450):
        after = robot.velocity_towards(goal, q, DT, v=v, acceleration=bound, gain=0.1)
        assert np.all(np.abs(after) <= fastest + 1e-9)
        assert np.all(np.abs(after - v) <= bound * DT + 1e-9)
        q, v = robot.integrate(q, after * DT), after
        assert np.all((q >= robot.limits.lower) & (q <= robot.limits.upper))
    np.testing.assert_allclose(robot.frame_pose(q, "tool0"), goal.X, atol=1e-6)


def test_a_joint_brakes_before_its_stop():
    """Pulled against its stop without end, a hinge never brakes harder than allowed."""
    robot = mr.Assembly.from_aim(np.array([[3], [4]]), types="backbone").mechanism()
    goal = mr.JointGoal({robot.joints[0].name: 100.0})
    q, v, bound = robot.neutral(), np.zeros(robot.nv), 3.0
    for _ in range(400):
        after = robot.velocity_towards(goal, q, DT, v=v, acceleration=bound)
        assert np.all(np.abs(after - v) <= bound * DT + 1e-9)
        q, v = q + DT * after, after
        assert np.all(q <= robot.limits.upper)
    assert q[0] == pytest.approx(robot.limits.upper[0], abs=1e-3)


def test_loops_are_kept_closed(rng):
    ring = mr.Assembly.from_grid([["B", "B"], ["B", "B"]]).mechanism()
    q = ring.close_loops([0.1, 0.1])
    name = max(ring.frames, key=lambda f: np.abs(ring.jacobian(q, f)[:3] @ [1, 1]).max())
    goal = mr.PointGoal(name, ring.frame_pose(ring.close_loops([0.3, 0.3]), name)[:3, 3])
    for _ in range(80):
        q = ring.integrate(q, DT * ring.velocity_towards(goal, q, DT, gain=0.2))
        assert np.abs(ring.loop_error(q)).max() < 1e-6
    np.testing.assert_allclose(ring.frame_pose(q, name)[:3, 3], goal.p, atol=1e-6)
    with pytest.raises(ClosureError, match="no velocity within the limits closes the loops"):
        ring.velocity_towards(goal, [0.3, -0.3], DT, acceleration=1e-3)


def test_bad_steps(monkeypatch):
    robot = mr.load("crab").robot()
    goal = mr.PointGoal("m3", [0.1, 0.2, 0.0])
    with pytest.raises(InputError, match="dt 0: expected a time above zero"):
        robot.velocity_towards(goal, robot.neutral(), 0)
    with pytest.raises(InputError, match="acceleration -1: expected numbers above zero"):
        robot.velocity_towards(goal, robot.neutral(), DT, acceleration=-1)
    with pytest.raises(InputError, match="expected one configuration"):
        robot.velocity_towards(mr.PointGoal("m3", np.zeros((2, 3))), robot.neutral(), DT)
    monkeypatch.setitem(sys.modules, "qpsolvers", None)
    with pytest.raises(InputError, match=r"pip install modurob\[qp\]"):
        robot.velocity_towards(goal, robot.neutral(), DT)
