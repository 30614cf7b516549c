"""Laws beside the ground: what they believe in is the robot in the air, so that the ground pushes back."""

import numpy as np
import pytest

import modurob as mr
from modurob.mechanism.driven import untouched
from modurob.spatial import inertia, se3

BALL, DEPTH = 0.02, 0.05  # radius of the tip, and how far below the ground it is asked to go [m]
Q0, LOWER = np.array([0.3, 0.6, 0.7]), np.array([0.3, 0.7, 0.7])


@pytest.fixture(scope="module")
def arm() -> mr.Mechanism:
    b = mr.Builder("arm")
    b.body("turn", inertia.box(1.0, (0.1, 0.1, 0.1)), joint=mr.Revolute((0, 0, 1)), at=se3.pose(p=(0, 0, 0.5)))
    b.body("upper", inertia.box(1.0, (0.4, 0.05, 0.05)), parent="turn", joint=mr.Revolute((0, 1, 0)))
    shift = se3.pose(p=(0.4, 0, 0))
    b.body("lower", inertia.box(0.5, (0.4, 0.05, 0.05)), parent="upper", joint=mr.Revolute((0, 1, 0)), at=shift)
    b.frame("tip", "lower", shift)
    b.collision("sphere", (BALL,), "tip")
    return b.build()


@pytest.fixture(scope="module")
def grounded(arm: mr.Mechanism) -> mr.Mechanism:
    """A floor that the ball touches at the start."""
    height = float(arm.frame_pose(Q0, "tip")[2, 3]) - BALL
    return arm.on_ground(mr.Ground(friction=0.0, surface=mr.Plane(height=height)))


def _last_force(run: mr.Recording) -> float:
    return float(run.robot.contact_forces(run.q[-1], run.v[-1], run.x[-1]).forces[..., 2].sum())


def test_impedance_leans_on_the_floor_as_a_spring(arm: mr.Mechanism, grounded: mr.Mechanism):
    goal = arm.frame_pose(Q0, "tip")[:3, 3] - (0, 0, DEPTH)
    law = mr.Impedance(frame="tip", goal=goal, stiffness=500.0, damping=40.0)
    run = mr.simulate(grounded, Q0, duration=2.0, controller=law)
    assert run.status.ok
    assert run.robot.frame_pose(run.q[-1], "tip")[2, 3] == pytest.approx(goal[2] + DEPTH, abs=1e-3)
    assert _last_force(run) == pytest.approx(500.0 * DEPTH, rel=0.02)


def test_a_hybrid_law_pushes_on_the_floor_as_told(arm: mr.Mechanism, grounded: mr.Mechanism):
    law = mr.HybridForcePosition(frame="tip", goal=arm.frame_pose(Q0, "tip")[:3, 3], normal=(0, 0, -1), force=8.0)
    run = mr.simulate(grounded, Q0, duration=2.0, controller=law)
    assert run.status.ok
    assert _last_force(run) == pytest.approx(8.0, rel=0.01)


@pytest.mark.parametrize(
    "law",
    [
        mr.ComputedTorque(kp=100, kd=20, reference=LOWER),
        mr.SlotineLi(LOWER, slope=10.0, kd=5.0),
        mr.OperationalSpace(frame="tip", kp=100.0, kd=20.0, goal=np.array([0.5, 0.1, -0.1])),
    ],
    ids=lambda law: type(law).__name__,
)
def test_no_law_lifts_the_ground_away(grounded: mr.Mechanism, law):
    """The ball is asked to go below the ground, and stays above it but for what its weight and the law press in."""
    run = mr.simulate(grounded, Q0, duration=1.0, controller=law)
    below = run.robot.frame_pose(Q0, "tip")[2, 3] - run.robot.frame_pose(run.q[-1], "tip")[2, 3]
    assert run.status.ok
    assert below < 2e-3


def test_joints_that_stand_on_the_ground_are_given_the_weight_they_bear():
    """In the air they fall with the base and feel none of it."""
    crab = mr.walking_robot("crab").robot()
    hinges = crab.joints[1].v_slice.start
    q, still = crab.random_configuration(np.random.default_rng(3)), np.zeros(crab.nv)
    air, ground = (mr.GravityCompensation().on(robot).torque(0.0, q, still) for robot in (crab, crab.on_ground()))
    assert np.abs(air).max() < 1e-9
    assert ground[hinges:] == pytest.approx(crab.gravity_forces(q)[hinges:])


def test_without_contacts_a_robot_is_itself(arm: mr.Mechanism, grounded: mr.Mechanism):
    assert untouched(arm) is arm
    assert untouched(grounded) == arm


def test_cables_carry_a_platform_without_drives():
    """CASPR's planar case: to where it is told, by four cables that only pull, and held against gravity there."""
    robot = mr.load("cable_planar").robot()
    law = mr.WholeBody([mr.JointTask(["bar/plane"], reference=[0.05, 0.05, 0.0])], sample_time=5e-3)
    run = mr.simulate(robot, np.zeros(3), duration=2.0, controller=law)
    assert run.status.ok
    assert run.q[-1] == pytest.approx([0.05, 0.05, 0.0], abs=1e-4)
    assert run.tau[-1] == pytest.approx(robot.gravity_forces(run.q[-1]), abs=1e-2)
    pulls = robot.actuation(run.q[-1]).feasible(run.tau[-1])
    assert pulls.min() >= -1e-9
