"""What angles tell of the state, against what mechanics says they can."""

import numpy as np
import pytest

import modurob as mr
from modurob.estimation import HallSensors, observability
from modurob.spatial import inertia
from tests.estimation.test_any_robot import four_bar
from tests.robots import random_mechanism, random_state

DT = 5e-3


@pytest.mark.parametrize("seed", range(3))
def test_angles_of_all_joints_tell_everything_of_a_fixed_robot(seed):
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 4, ("revolute", "prismatic", "universal", "spherical"))
    report = observability(robot, *random_state(rng, robot), DT)
    assert (report.rank, report.states, report.unseen) == (2 * robot.nv, 2 * robot.nv, ())
    assert report.directions.shape == (0, 2 * robot.nv)
    # a rate shows in 2 nv samples about as much as an angle that changes by it in a sample time
    assert 1 / DT / (2 * robot.nv) < report.condition < 10 / DT


@pytest.mark.parametrize("seed", range(3))
def test_where_a_floating_robot_is_and_drifts_cannot_be_seen(seed):
    """Falling freely, joints feel how the robot turns, but neither its pose nor its velocity (Galilei, Einstein)."""
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 4, ("revolute", "spherical"), floating=True)
    report = observability(robot, *random_state(rng, robot), DT)
    assert report.states - report.rank == 9
    parts = ("x", "y", "z", "turn x", "turn y", "turn z")
    base = robot.joints[0].name
    assert report.unseen == tuple(f"{base} {x}" for x in parts) + tuple(f"{base} {x} rate" for x in parts[:3])
    np.testing.assert_allclose(report.directions @ report.directions.T, np.eye(9), atol=1e-12)
    assert f"not seen: {base} x" in str(report)


def test_a_joint_without_sensor_shows_only_if_it_pulls_at_others():
    """Two damped slides in a row: along one line the first feels the rate of the second, not where it is; across it, nothing."""
    for axis, rank in (((1.0, 0.0, 0.0), 3), ((0.0, 1.0, 0.0), 2)):
        builder = mr.Builder("slides", gravity=(0, 0, -9.81))
        for name, parent, way in (("near", "world", (1.0, 0.0, 0.0)), ("far", "near", axis)):
            builder.body(
                name,
                inertia.box(1.0, (0.1, 0.1, 0.1)),
                parent=parent,
                joint=mr.Prismatic(way),
                properties=mr.JointProperties(damping=0.5),
            )
        report = observability(builder.build(), *np.zeros((3, 2)), DT, HallSensors(joints=("near",)))
        assert report.rank == rank
        assert report.unseen == (("far",) if rank == 3 else ("far", "far rate"))


def test_the_crank_tells_everything_of_a_linkage():
    robot = four_bar()
    q = robot.close_loops(np.array([1.0, 0.0, 2.0]))
    v = robot.close_velocity(q, np.array([2.0, 0.0, 0.0]))
    report = observability(robot, q, v, np.zeros(3), DT, HallSensors(joints=("crank",)))
    assert (report.rank, report.states) == (2, 2)


def test_a_robot_on_the_ground_is_seen_as_in_the_air():
    """Its contacts are not in the model of a filter either."""
    flying = mr.Assembly.single("m0", "backbone").mechanism(floating=True)
    standing, sensors = flying.on_ground(), [mr.PoseSensor(frame="m0")]
    q, still = standing.standing(), np.zeros(6)
    on, off = (mr.observability(robot, q, still, still, 5e-3, sensors) for robot in (standing, flying))
    assert str(on) == str(off)
