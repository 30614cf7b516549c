"""Mechanisms by hand."""

import numpy as np
import pytest

import modurob as mr
from modurob.errors import MechanismError
from modurob.spatial import inertia, se3


def test_welded_bodies_become_one(rng):
    """Two boxes welded together weigh and turn like the sum of both."""
    X = se3.random(rng)
    first, second = inertia.random(rng), inertia.random(rng)
    builder = mr.Builder()
    builder.body("one", first, joint=mr.Revolute((1, 0, 0)))
    builder.body("two", second, parent="one", at=X)
    builder.body("three", inertia.random(rng), parent="two", joint=mr.Prismatic((0, 0, 1)), joint_name="slide")
    robot = builder.build()
    assert robot.bodies == ("world", "one", "three")
    assert [j.name for j in robot.joints] == ["one", "slide"]
    np.testing.assert_allclose(robot.inertia[1], first + inertia.moved(second, X), rtol=1e-12)
    q = rng.normal(size=2)
    np.testing.assert_allclose(robot.frame_pose(q, "two"), robot.frame_pose(q, "one") @ X, atol=1e-15)


def test_a_builder_goes_on_after_building():
    builder = mr.Builder()
    builder.body("one", inertia.sphere(1.0, 0.1), joint=mr.Free())
    before = builder.build()
    builder.body("two", inertia.sphere(1.0, 0.1), parent="one", joint=mr.Spherical())
    assert (before.nv, builder.build().nv) == (6, 9)


def test_tables_cannot_be_written():
    builder = mr.Builder()
    builder.body("one", inertia.sphere(1.0, 0.1), joint=mr.Free())
    robot = builder.build()
    for array in (robot.X_PJ, robot.inertia, robot.gravity):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(AttributeError):
        robot.name = "other"


def test_a_robot_without_joints_still_answers():
    robot = mr.Assembly.single("m0", "backbone").mechanism()
    nothing = np.zeros(0)
    assert robot.nv == 0
    assert robot.mass_matrix(nothing).shape == (0, 0)
    assert robot.inverse_dynamics(nothing, nothing, nothing).shape == (0,)
    assert robot.forward_dynamics(nothing, nothing, nothing).shape == (0,)
    assert robot.kinetic_energy(nothing, nothing) == 0
    assert robot.coriolis_matrix(nothing, nothing).shape == (0, 0)
    assert robot.regressor(nothing, nothing, nothing).shape == (0, 0)
    assert robot.forward_dynamics_regressor(nothing, nothing, nothing).shape == (0, 0)
    assert robot.base_parameters().rank == 0
    assert robot.reach(mr.PointGoal("m0", robot.frame_pose(nothing, "m0")[:3, 3])).reached
    assert not robot.collision_model().pairs.size


@pytest.mark.parametrize(
    ("X", "complaint"),
    [
        (np.eye(3), r"shape \(3, 3\)"),
        (np.full((4, 4), np.nan), "not finite"),
        (np.diag([1.0, 1.0, -1.0, 1.0]), "not rigid"),
        (2 * np.eye(4), "not rigid"),
    ],
)
def test_poses_must_be_rigid(X, complaint):
    with pytest.raises(MechanismError, match=complaint):
        mr.Builder().body("one", joint=mr.Free(), at=X)


def test_locked_joints_hold_their_angle(rng):
    crab = mr.load("crab")
    free, held = crab.mechanism(), crab.mechanism(locked={"m2/hinge": 0.3})
    assert held.held == ("m2/hinge",)
    assert [j.name for j in held.joints] == ["m0/hinge", "m4/hinge"]
    a, b = rng.normal(size=2)
    for frame in crab.modules:
        np.testing.assert_allclose(held.frame_pose([a, b], frame), free.frame_pose([a, 0.3, b], frame), atol=1e-14)
    M = free.mass_matrix([a, 0.3, b])[np.ix_([0, 2], [0, 2])]
    np.testing.assert_allclose(held.mass_matrix([a, b]), M, rtol=1e-12)
