"""Kinematic control: the figures of Sepp et al. 2.6 and von Stryk 4.4, and what holds for any robot."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import modurob as mr
from modurob.control import SCHEMES
from modurob.control.task import angle_rates, task
from modurob.errors import ControlError
from modurob.motion import PoseTrajectory, Trajectory
from modurob.simulation import Measured
from modurob.spatial import angles, inertia, se3, so3
from tests.robots import random_mechanism

# the arm and the start of Sepp et al. 2.6
START = np.array([0.5, 1.0, 1.5, 1.0, 0.0, 0.5])
# and where the transpose law brings it for the second goal
END = np.array([1.5708, 0.3162, 2.148, 1.8794, -2.5044, 0.0835])
GOALS = np.array([(0, 0, 0.3, 0, 0, 0), (0, 0.3, 0.3, 0.3, 0.6, 0.9), (0.9, 0.6, 0.3, 0.9, 0.6, 0.3)])


def pose_of(x):
    """From position and angles about z, y, x."""
    return se3.pose(angles.euler("zyx", x[..., 3:]), x[..., :3])


@pytest.fixture(scope="module")
def arm():
    """The LWA 4P: six axes, upright at zero."""
    builder, below = mr.Builder("lwa4p"), 0.0
    for i, (axis, height) in enumerate(zip("zyyzyz", (0.205, 0.205, 0.555, 0.555, 0.86, 0.86), strict=True)):
        parent = f"b{i - 1}" if i else "world"
        joint, at = mr.Revolute(tuple(np.eye(3)["xyz".index(axis)])), se3.pose(p=[0, 0, height - below])
        builder.body(f"b{i}", inertia.point(1.0, (0, 0, 0.05)), parent=parent, joint=joint, at=at)
        below = height
    return builder.build()


@pytest.fixture(scope="module")
def scara():
    """Two links of 1 m and 0.8 m in a plane."""
    builder = mr.Builder("scara")
    builder.body("a", inertia.point(1.0, (1, 0, 0)), joint=mr.Revolute((0, 0, 1)))
    builder.body(
        "b", inertia.point(1.0, (0.8, 0, 0)), parent="a", joint=mr.Revolute((0, 0, 1)), at=se3.pose(p=[1, 0, 0])
    )
    builder.frame("tip", "b", se3.pose(p=[0.8, 0, 0]))
    return builder.build()


# ---- Sepp et al. 2.5, 2.6 ----


def gradient_steps(arm, goal, alpha, scheme="transpose", most=400):
    """q += alpha J_P' (p_d - p) until the error is below a millimetre."""
    q, p = START, np.asarray(goal)
    errand = task("position", arm, "b5")
    for k in range(most):
        e, J, _ = errand(q, mr.control.task.Wanted(se3.pose(p=p), np.zeros(6)))
        if np.linalg.norm(e) < 1e-3:
            return k, q
        q = q + alpha * SCHEMES[scheme](J, e, 0.0)
    return most, q


def test_gradient_steps_take_as_many_iterations_as_computed(arm):
    goal = (0.2, 0.4, 0.3)
    steps, q = gradient_steps(arm, goal, 6.2)
    assert steps == 10
    np.testing.assert_allclose(q, (1.1071, 0.6342, 1.5986, 1, 0, 0.5), atol=5e-5)
    found = {alpha: gradient_steps(arm, goal, alpha)[0] for alpha in (1, 2, 4, 6, 6.1, 6.2, 7)}
    assert found == {1: 86, 2: 42, 4: 19, 6: 11, 6.1: 10, 6.2: 10, 7: 21}
    assert gradient_steps(arm, goal, 7.8)[0] == 400
    assert gradient_steps(arm, goal, 1.0, "inverse")[0] == 3
    steps, q = gradient_steps(arm, (0.4, 0.2, 0.3), 6.2)
    assert steps == 13
    np.testing.assert_allclose(q, (0.4636, 0.6327, 1.5978, 1, 0, 0.5), atol=5e-5)


def errors_over_time(arm, times):
    """Distances to the three goals under the transpose law with gain 100, (times, 3), and the configurations."""
    law = mr.KinematicControl(pose_of(GOALS), "b5", "zyx", "transpose", gain=100.0).on(arm)
    q = law.motion(np.tile(START, (3, 1)), times)
    return np.linalg.norm(se3.position(arm.frame_pose(q, "b5")) - GOALS[:, :3], axis=-1), q


def test_what_is_out_of_reach_is_known_before_moving(arm):
    laws = [mr.KinematicControl(pose_of(x), "b5", "zyx", "transpose", gain=100.0).on(arm) for x in GOALS]
    found = [law.reach(START) for law in laws]
    assert [bool(f.reached) for f in found] == [True, True, False]
    assert found[2].note == "out of reach"
    # as far as the law stalls from it
    assert found[2].residual[0] == pytest.approx(0.43083, abs=1e-5)
    for law, f in zip(laws[:2], found[:2], strict=True):
        assert np.abs(law.error(0.0, f.q[0])).max() < 1e-9
    point = mr.KinematicControl(pose_of(GOALS[2]), "b5", "position").on(arm).reach()
    assert not point.reached
    line = Trajectory.cubic(START, START + 0.1, 1.0)
    assert mr.KinematicControl(line, "b5").on(arm).reach(START, t=0.5).reached


def test_the_transpose_law_goes_as_computed(arm):
    times = np.concatenate([np.arange(0, 0.2, 1e-3), np.arange(80, 801) / 400])
    e, q = errors_over_time(arm, times)
    at = np.searchsorted(times, np.array([0.1, 0.5, 1.0, 2.0]) - 1e-9)
    np.testing.assert_allclose(e[at, 0], [0.447, 0.053, 0.0136, 0.0091], rtol=0.02)
    np.testing.assert_allclose(e[at, 1], [0.403, 0.099, 0.0307, 0.0092], rtol=0.01)
    # goal 3 is out of reach: the arm stretches towards it
    np.testing.assert_allclose(e[at[1:], 2], [0.4313, 0.4308, 0.4308], rtol=1e-3)
    assert e[-1, 2] == pytest.approx(0.43083, abs=1e-4)
    assert q[-1, 2, 2] == pytest.approx(0, abs=1e-2)
    # what is left of goal 2 is slow: an implicit method takes long steps
    law = mr.KinematicControl(pose_of(GOALS[1]), "b5", "zyx", "transpose", gain=100.0).on(arm)
    rest = solve_ivp(law.rates, (2.0, 10.0), q[-1, 1], method="BDF", rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(rest.y[:, -1], END, rtol=0.01)
    np.testing.assert_allclose(arm.frame_pose(END, "b5"), pose_of(GOALS[1]), atol=2e-4)


@pytest.mark.judge
def test_the_transpose_law_ends_as_computed(arm):
    e, q = errors_over_time(arm, np.concatenate([np.arange(0, 0.2, 1e-3), np.arange(80, 4001) / 400]))
    np.testing.assert_allclose(q[-1, 1], END, rtol=0.01)
    assert e[-1, 0] == pytest.approx(5.3e-4, rel=0.02)


# ---- von Stryk 4.4 ----


def test_inverse_and_damped_rates_of_the_planar_arm(scara):
    J = scara.jacobian([0.3, -0.7], "tip")[:2]
    x = np.array([1.0, 0.0])
    np.testing.assert_allclose(SCHEMES["inverse"](J, x, 0.0), (-1.4297356503, 3.2834112557), atol=1e-9)
    np.testing.assert_allclose(SCHEMES["damped"](J, x, 0.1), (-1.2621619769, 2.9101571088), atol=1e-9)
    stretched = scara.jacobian([0.0, 0.0], "tip")[:2]
    np.testing.assert_allclose(
        SCHEMES["damped"](stretched, np.array([0.0, 1.0]), 0.1), (0.4627249357, 0.2056555270), atol=1e-9
    )
    np.testing.assert_allclose(SCHEMES["damped"](stretched, x, 0.1), 0, atol=1e-12)


# ---- any robot ----


@pytest.mark.parametrize("sequence", angles.SEQUENCES)
def test_the_rates_of_angles_turn_as_they_should(sequence, rng):
    a, rate, h = rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), 1e-6
    turned = angles.euler(sequence, a + h * rate) @ np.swapaxes(angles.euler(sequence, a - h * rate), -1, -2)
    w = (angle_rates(sequence, a) @ rate[..., None])[..., 0]
    np.testing.assert_allclose(so3.log(turned) / (2 * h), w, atol=1e-8)


@pytest.mark.parametrize("name", ["pose", "position", "zyx", "zxz"])
def test_errors_fall_as_the_gain_says(name, rng):
    """With the inverse scheme e' = -K e along any moving goal, to first order in the error."""
    robot = random_mechanism(rng, 7, ("revolute", "prismatic"), chain=True)
    q, dq = robot.random_configuration(rng), rng.normal(size=7) * 1e-4
    start, end = robot.frame_pose(q, "b6"), robot.frame_pose(robot.integrate(q, rng.normal(size=7) * 0.3), "b6")
    line = PoseTrajectory.line(start, end, 2.0).delayed(-1.0)
    here = se3.inverse(line(0.0).pose)
    # put the robot near the goal
    goal = lambda t: (start @ here @ line(t).pose, line(t).twist, line(t).acceleration)  # noqa: E731
    law = mr.KinematicControl(goal, "b6", name, "inverse", gain=3.0).on(robot)
    q = robot.integrate(q, dq)
    h = 1e-4
    before, after = law.error(0.0, q), law.error(h, law.advanced(0.0, q, h))
    np.testing.assert_allclose(after, np.exp(-3.0 * h) * before, rtol=0, atol=1e-3 * 3.0 * h * np.abs(before).max())


def test_the_schemes_agree_where_they_should(rng):
    J, x = rng.normal(size=(9, 4, 6)), rng.normal(size=(9, 4))
    np.testing.assert_allclose(SCHEMES["damped"](J, x, 1e-9), SCHEMES["inverse"](J, x, 0.0), atol=1e-9)
    np.testing.assert_allclose(SCHEMES["transpose"](J, x, 0.0), np.einsum("kmn,km->kn", J, x))


def test_a_run_follows_a_line_in_space(arm):
    q0 = np.array([0.3, 0.5, 1.2, 0.4, 0.8, 0.1])
    start = arm.frame_pose(q0, "b5")
    line = PoseTrajectory.line(
        start, se3.pose(se3.rotation(start), se3.position(start) + np.array([0.1, -0.05, 0.05])), 0.4
    )
    law = mr.KinematicControl(line, scheme="inverse", gain=50.0)
    run = mr.simulate(arm, q0, duration=0.5, controller=law, stepper=mr.RungeKutta4(1e-3))
    reached = arm.frame_pose(run.q, "b5")
    wanted = line(run.t).pose
    assert np.abs(se3.position(reached) - se3.position(wanted)).max() < 1e-3
    np.testing.assert_allclose(reached[-1], wanted[-1], atol=1e-4)


def test_goals_by_joints_are_where_the_frame_is_then(arm):
    curve = Trajectory.quintic(START, START + 0.2, 1.0)
    law = mr.KinematicControl(curve, task="pose").on(arm)
    q, v, _ = curve(0.4)
    np.testing.assert_allclose(law.error(0.4, q), 0, atol=1e-12)
    rates = mr.KinematicControl(curve, scheme="inverse", gain=5.0).on(arm).rates(0.4, q)
    np.testing.assert_allclose(rates, v, atol=1e-9)
    # of the whole robot, or by the names of joints
    held = mr.KinematicControl({"b1": 0.4}).on(arm)
    np.testing.assert_allclose(held.error(0.0, [0, 0.4, 0, 0, 0, 0]), 0, atol=1e-12)


def test_a_floating_base_is_left_alone(rng):
    robot = mr.load("crab").mechanism(floating=True)
    law = mr.KinematicControl(0.2, frame="m3", partial=True).on(robot)
    q = robot.random_configuration(rng)
    assert not law.rates(0.0, q)[:6].any()
    memory, _ = law.step(law.start(), 0.0, Measured(q, np.zeros(robot.nv)))
    other = robot.integrate(q, np.r_[rng.normal(size=6), np.zeros(3)])
    memory, _ = law.step(memory, 1e-3, Measured(other, np.zeros(robot.nv)))
    np.testing.assert_allclose(memory.q[:7], other[:7], atol=1e-12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda arm: mr.KinematicControl(scheme="invers"), "no scheme 'invers': did you mean 'inverse'"),
        (lambda arm: mr.KinematicControl(task="poses").on(arm), "no task 'poses': did you mean 'pose'"),
        (lambda arm: mr.KinematicControl(gain=-1.0), "gain = -1.0: expected more than zero"),
        (lambda arm: mr.KinematicControl(gain=np.ones((6, 6))), r"gain has shape \(6, 6\): expected one number"),
        (
            lambda arm: mr.KinematicControl(gain=[1, 2]).on(arm),
            r"gain has shape \(2,\): expected one number, or \(6,\) for 'pose'",
        ),
        (lambda arm: mr.KinematicControl(damping=0.0), "damping = 0.0: expected more than zero"),
        (lambda arm: mr.KinematicControl(np.ones((4, 4))).on(arm), "reference = .*: expected a pose"),
        (
            lambda arm: mr.KinematicControl().on(mr.Assembly.from_grid([["B", "B"], ["B", "B"]]).mechanism()),
            "it has loops: expected a tree",
        ),
    ],
)
def test_what_cannot_be_is_refused(arm, make, words):
    with pytest.raises(ControlError, match=words):
        make(arm)


def test_frames_that_are_none_are_refused(arm):
    with pytest.raises(mr.ModurobError, match="no frame 'hand'"):
        mr.KinematicControl(frame="hand").on(arm)
