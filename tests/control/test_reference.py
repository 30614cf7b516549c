"""References: every way to write one means the same motion, on every robot."""

from dataclasses import replace

import numpy as np
import pytest

import modurob as mr
from modurob.control.drives import Drives
from modurob.control.reference import target
from modurob.control.tracking import carried, errors_of
from modurob.errors import ControlError
from modurob.motion import Trajectory
from modurob.spatial import inertia
from tests.robots import COORDINATE_RATES, KINDS, random_joint, random_mechanism

# sums and products of numbers of order one
CLOSE = 1e-12


@pytest.fixture
def crab() -> mr.Mechanism:
    return mr.load("crab").mechanism()


def at(reference, robot, t=0.3, actuated=None):
    return target(reference, Drives.of(robot, actuated))(t)


def test_all_ways_to_write_a_set_point(crab):
    same = [
        {"m0/hinge": 0.2, "m2/hinge": 0.2, "m4/hinge": 0.2},
        {"m0/hinge": [0.2], "m2/hinge": 0.2, "m4/hinge": lambda t: (0.2, 0.0, 0.0)},
        [0.2, 0.2, 0.2],
        np.full(3, 0.2),
        lambda t: (0.2, 0, 0),
        lambda t: (np.full(3, 0.2), np.zeros(3), np.zeros(3)),
        Trajectory.cubic(0.2, 0.2, 1.0),
        0.2,
    ]
    for reference in same:
        for found, expected in zip(at(reference, crab), (0.2, 0.0, 0.0), strict=True):
            np.testing.assert_allclose(found, np.full(3, expected), atol=CLOSE)


def test_joints_that_are_not_named_stay_at_zero(crab):
    curve = Trajectory.quintic(0, 1, 2)
    q, v, vdot = at({"m2/hinge": curve}, crab)
    x, xdot, xddot = curve(0.3)
    np.testing.assert_allclose([q, v, vdot], np.array([[0, x, 0], [0, xdot, 0], [0, xddot, 0]]), atol=CLOSE)
    q, v, vdot = at({"m0/hinge": -0.4}, crab)
    np.testing.assert_allclose([q, v, vdot], [[-0.4, 0, 0], [0, 0, 0], [0, 0, 0]])


def test_a_recipe_makes_itself_for_the_robot(crab):
    class Wave:
        def on(self, robot):
            phases = np.arange(robot.nv)
            return lambda t: (np.sin(t + phases), np.cos(t + phases), -np.sin(t + phases))

    np.testing.assert_allclose(at(Wave(), crab)[0], np.sin(0.3 + np.arange(3)))


def test_many_set_points_at_once(crab, rng):
    q = rng.normal(size=(7, 3))
    np.testing.assert_allclose(at(q, crab)[0], q)


def test_a_floating_base_is_not_tracked(rng):
    robot = mr.load("crab").mechanism(floating=True)
    q = robot.random_configuration(rng)
    neutral = robot.neutral()
    for reference in (q, q[7:], dict(zip([j.name for j in robot.joints[1:]], q[7:], strict=True))):
        np.testing.assert_allclose(at(reference, robot)[0], np.append(neutral[:7], q[7:]))
    np.testing.assert_allclose(at(0.1, robot)[0], np.append(neutral[:7], [0.1] * 3))
    # unless it is said to have a drive
    everywhere = [j.name for j in robot.joints]
    np.testing.assert_allclose(at(q, robot, actuated=everywhere)[0], q, atol=CLOSE)


def test_a_free_joint_that_is_no_root_is_driven(rng):
    builder = mr.Builder("two")
    builder.body("a", inertia.random(rng), joint=mr.Free())
    builder.body("b", inertia.random(rng), parent="a", joint=mr.Free())
    assert [j.name for j in Drives.of(builder.build()).joints] == ["b"]


@pytest.mark.parametrize("seed", range(4))
def test_one_number_displaces_every_degree_of_freedom(seed):
    """Quaternions too: and a number that moves has the velocity that integrates to it."""
    robot = random_mechanism(np.random.default_rng(seed), 6, KINDS)
    actuated = [j.name for j in robot.joints]
    q, v, vdot = at(lambda t: (np.sin(t), np.cos(t), -np.sin(t)), robot, 0.3, actuated)
    np.testing.assert_allclose(q, robot.integrate(robot.neutral(), np.full(robot.nv, np.sin(0.3))), atol=CLOSE)
    later = at(lambda t: (np.sin(t), np.cos(t), -np.sin(t)), robot, 0.3 + 1e-6, actuated)[0]
    np.testing.assert_allclose(robot.difference(q, later) / 1e-6, v, atol=1e-5)
    np.testing.assert_allclose(vdot, np.full(robot.nv, -np.sin(0.3)))


@pytest.mark.parametrize("seed", range(6))
def test_errors_are_differences_on_the_manifold(seed):
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 6, KINDS if seed % 2 else COORDINATE_RATES)
    drives = Drives.of(robot, [j.name for j in robot.joints])
    q, q_d = (np.array([robot.random_configuration(rng) for _ in range(3)]) for _ in range(2))
    v, v_d, vdot_d = rng.normal(size=(3, 3, robot.nv))
    errors = errors_of(drives)((q_d, v_d, vdot_d), q, v)
    np.testing.assert_allclose(errors.position, robot.difference(q, q_d), atol=CLOSE)
    # on the reference itself velocities need not be carried anywhere
    errors = errors_of(drives)((q, v_d, vdot_d), q, v)
    np.testing.assert_allclose(errors.velocity, v_d - v, atol=CLOSE)


@pytest.mark.parametrize("kind", ["spherical", "free"])
@pytest.mark.parametrize("turned", [False, True])
def test_a_reference_seen_from_a_turning_robot(kind, turned, rng):
    """Two bodies fly by constant accelerations; the carried velocity differentiates to the carried acceleration."""
    joint = random_joint(rng, kind)
    joint = joint.reversed() if turned else joint
    robot_of, reference_of = (
        {"q": joint.random(rng, *[np.zeros(0)] * 2), "v": rng.normal(size=joint.nv)} for _ in range(2)
    )
    vdot, vdot_d = rng.normal(size=(2, joint.nv))

    def seen(h):
        """Positions to second order, which is enough for a first derivative."""
        x, y = robot_of, reference_of
        q, q_d = (joint.integrate(s["q"], h * s["v"] + h * h / 2 * a) for s, a in ((x, vdot), (y, vdot_d)))
        return carried(joint, q, x["v"] + h * vdot, q_d, y["v"] + h * vdot_d, vdot_d), joint.difference(q, q_d)

    (rate, acceleration), e = seen(0.0)
    h = 1e-5
    (after, _), e_after = seen(h)
    (before, _), e_before = seen(-h)
    np.testing.assert_allclose((after - before) / (2 * h), acceleration, atol=1e-7)
    # the way left shrinks by what the velocity error says: exactly so along itself
    if kind == "spherical":
        np.testing.assert_allclose(e @ (e_after - e_before) / (2 * h), e @ (rate - robot_of["v"]), atol=1e-7)


RING = mr.Assembly.from_grid([["B", "B"], ["B", "B"]]).mechanism()


@pytest.mark.parametrize(
    ("reference", "when"),
    [
        ([0.3, 0.1], "t = 0 s"),
        ({"m3/hinge": 0.3}, "t = 0 s"),
        (lambda t: (np.array([0.3, 0.1]), 0.0, 0.0), "t = 0 s"),
        (Trajectory.quintic([0.0, 0.0], [0.2, 0.4], 1.0), "t = 0.125 s"),
    ],
)
@pytest.mark.parametrize("law", [mr.ComputedTorque(kp=100, kd=20), mr.PID(kp=10, kd=1)])
def test_a_reference_that_leaves_loops_open_is_warned_of(law, reference, when):
    with pytest.warns(
        mr.ModurobWarning, match=f"reference of robot at {when}: it leaves m0/4 - m2/3 open by .*close_loops"
    ):
        replace(law, reference=reference).on(RING)


@pytest.mark.parametrize(
    "reference", [0.0, 0.3, RING.close_loops([0.3, 0.1]).round(4), Trajectory.quintic([0.0, 0.0], [0.4, 0.4], 1.0)]
)
def test_a_reference_that_closes_loops_is_not(reference):
    mr.ComputedTorque(kp=100, kd=20, reference=reference).on(RING)


def test_a_reference_of_some_of_the_joints_is_not_either():
    """The others go where the loops take them."""
    mr.PID(kp=10, kd=1, reference=0.3, actuated=["m3/hinge"]).on(RING)


@pytest.mark.parametrize("named", [False, True])
def test_trajectories_in_degrees_are_refused_wherever_they_become_so(named):
    turn = Trajectory.through([[0.0], [45.0]], velocity=10.0, acceleration=40.0)
    robot = mr.load("crab").robot()
    reference = {"m2/hinge": turn} if named else Trajectory.quintic(np.zeros(3), [0.1, 45.0, 0.2], 1.0)
    with pytest.raises(ControlError, match=r"reference at t = .* degrees are .* expected radians"):
        mr.PID(reference=reference).on(robot)
