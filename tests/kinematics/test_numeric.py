"""Goals by iteration: what is reachable is reached, within limits, and what is not is said to be so."""

import numpy as np
import pinocchio
import pytest
from scipy.optimize import least_squares

import modurob as mr
from modurob import kernels
from modurob.algorithms.descent import freedom, margin
from modurob.algorithms.interpreter import interpret
from modurob.errors import InputError
from modurob.kinematics.inverse.flow import WORST
from modurob.kinematics.inverse.problem import problem
from modurob.spatial import se3, so3
from tests.kinematics.arms import ROBOTS, configurations, shipped
from tests.robots import random_mechanism

TOLERANCE = 1e-10


def within(robot: mr.Mechanism, q: np.ndarray) -> bool:
    at = robot.coordinate_of
    x = q[..., at[at >= 0]]
    return bool(np.all((x >= robot.limits.lower[at >= 0] - 1e-9) & (x <= robot.limits.upper[at >= 0] + 1e-9)))


def reached_share(name: str, n: int, seed: int) -> float:
    """The share of poses of random configurations that are reached; those are so by forward kinematics, within limits."""
    make, frames = ROBOTS[name]
    robot = make()
    X = robot.forward_kinematics(configurations(robot, n, np.random.default_rng(seed)))
    found = robot.reach([mr.PoseGoal(f, X[f]) for f in frames])
    q = found.q[found.reached, 0]
    assert within(robot, q)
    for f in frames:
        # sums of 1e-10 over entries of matrices
        np.testing.assert_allclose(robot.frame_pose(q, f), X[f][found.reached], atol=1.5 * TOLERANCE)
    return float(found.reached.mean())


@pytest.mark.parametrize("name", ROBOTS)
def test_reachable_poses_are_reached(name):
    assert reached_share(name, 200, seed=1) >= 0.995


@pytest.mark.judge
@pytest.mark.parametrize("name", ROBOTS)
def test_ten_thousand_reachable_poses(name):
    assert reached_share(name, 10_000, seed=2) >= 0.999


def test_pinocchio_sees_the_hand_there(rng):
    path = shipped("panda_description/urdf/panda.urdf")
    robot, model = mr.Mechanism.from_urdf(path), pinocchio.buildModelFromUrdf(str(path))
    data, frame = model.createData(), model.getFrameId("panda_hand")
    X = robot.frame_pose(configurations(robot, 20, rng), "panda_hand")
    found = robot.reach(mr.PoseGoal("panda_hand", X))
    assert found.reached.all()
    for q, goal in zip(found.q[:, 0], X, strict=True):
        whole = np.concatenate([q[:7], q[7:8], q[7:8]])[: model.nq]  # the second finger mimics the first
        pinocchio.framesForwardKinematics(model, data, whole)
        np.testing.assert_allclose(data.oMf[frame].homogeneous, goal, atol=1.5 * TOLERANCE)


def goals_of(robot: mr.Mechanism, q: np.ndarray, frames: list[str]) -> list:
    """One goal of each kind, met at q."""
    X = robot.forward_kinematics(q)
    axis = np.array([0.6, 0.0, 0.8])
    return [
        mr.PoseGoal(frames[0], X[frames[0]], weight=0.7, turn=0.4),
        mr.PointGoal(frames[1], (X[frames[1]] @ [0.1, 0.2, 0.3, 1.0])[..., :3], point=(0.1, 0.2, 0.3), weight=2.0),
        mr.DirectionGoal(frames[2], (X[frames[2]][..., :3, :3] @ axis)[..., :3], axis=axis, weight=0.5),
        mr.CentreGoal(robot.centre_of_mass(q)),
    ]


@pytest.mark.parametrize("seed", range(6))
def test_kinds_of_goals_on_random_robots(seed):
    """Trees of all kinds of joints, some floating: all goals are reached, J^T e is the gradient, kernels do as NumPy does."""
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 6, floating=bool(seed % 2))
    q = configurations(robot, 12, rng)
    goals = goals_of(robot, q, ["b5", "b4", "b3"])
    assert robot.reach(goals).reached.all()
    p = problem(robot, goals, True)
    away = robot.integrate(q, 0.3 * rng.normal(size=(12, robot.nv)))
    found, d, h = p.look(away, p.target), rng.normal(size=(12, robot.nv)), 1e-6
    slope = -np.einsum("nri,nr,ni->n", found.J, found.error, d)
    there, back = (p.look(robot.integrate(away, s * h * d), p.target).cost for s in (1, -1))
    np.testing.assert_allclose((there - back) / (2 * h), slope, atol=1e-8 * (1 + np.abs(slope).max()))
    one = np.full((12, 1), WORST)
    given = {"tried": away, "q": away, "cost": one, "size": one, "damping": one * 0.1 / WORST, "target": p.target}
    ours, theirs = kernels.repeated(p.flow, robot, given, 1), interpret(p.flow, robot, given).results
    assert ours is not None
    for name, x in theirs.items():
        np.testing.assert_allclose(ours.results[name], x, rtol=1e-9, atol=1e-9)


def test_errors_have_the_slopes_of_their_rows(rng):
    """Rows of points, centres and joints are linear in J to first order; those of turns at the goal."""
    robot = random_mechanism(rng, 5, chain=True)
    q, d, h = robot.random_configuration(rng), rng.normal(size=robot.nv), 1e-6
    p = problem(robot, goals_of(robot, q, ["b4", "b4", "b4"]), True)
    moved = [p.look(robot.integrate(q, s * h * d), p.target).error for s in (1, -1)]
    np.testing.assert_allclose((moved[0] - moved[1]) / (2 * h), -p.look(q, p.target).J @ d, atol=1e-8)


def test_mimic_joints_move_together(rng):
    b = mr.Builder("fingers")
    mass = mr.spatial.inertia.sphere(1.0, 0.1)
    b.body("hand", mass, joint=mr.Revolute((0, 0, 1)))
    for side, ratio in (("left", None), ("right", -0.5)):
        mimic = None if ratio is None else mr.Source("left", ratio, 0.1)
        at = se3.pose(so3.random(rng), rng.normal(size=3))
        b.body(side, mass, parent="hand", joint=mr.Revolute((0, 1, 0)), at=at, mimic=mimic)
        b.frame(f"{side} tip", side, se3.pose(None, np.array([0.3, 0.1, 0.0])))
    robot = b.build()
    q = np.array([0.4, -0.7])
    for frame in ("left tip", "right tip"):
        found = robot.reach(mr.PoseGoal(frame, robot.frame_pose(q, frame)))
        assert found.reached
        np.testing.assert_allclose(found.q[0], q, atol=1e-8)
    both = [mr.PointGoal(f, robot.frame_pose(q, f)[:3, 3]) for f in ("left tip", "right tip")]
    np.testing.assert_allclose(robot.reach(both, q0=[0.3, -0.5]).q[0], q, atol=1e-8)


def test_loops_stay_closed(rng):
    """A ring of Backbones: its point is brought to where a closed ring has it."""
    ring = mr.Assembly.from_grid([["B", "B"], ["B", "B"]]).mechanism(floating=True)
    q = ring.close_loops(ring.integrate(ring.neutral(), 0.2 * rng.normal(size=ring.nv)))
    X = ring.forward_kinematics(q)
    found = ring.reach([mr.PoseGoal("m0", X["m0"]), mr.PointGoal("m1/B", X["m1/B"][:3, 3])])
    assert found.reached
    assert np.abs(ring.loop_error(found.q[0])).max() < 1e-10
    np.testing.assert_allclose(ring.frame_pose(found.q[0], "m1/B")[:3, 3], X["m1/B"][:3, 3], atol=1e-9)


def test_a_humanoid_stands_and_reaches(rng):
    """Talos floats: both feet stay, the centre of mass moves over one of them, a hand points."""
    robot = mr.Mechanism.from_urdf(shipped("talos_data/robots/talos_reduced.urdf"), floating=True)
    q = robot.neutral()
    bent = {"leg_left_4_joint": 0.6, "leg_right_4_joint": 0.6, "arm_left_4_joint": -1.0, "arm_right_4_joint": -1.0}
    for name, x in bent.items():
        q[robot.joint(name).q_slice] = x
    X, centre = robot.forward_kinematics(q), robot.centre_of_mass(q)
    feet = [mr.PoseGoal(f"leg_{side}_6_link", X[f"leg_{side}_6_link"]) for side in ("left", "right")]
    over = np.array([*X["leg_left_6_link"][:2, 3], centre[2]])
    hand = X["gripper_left_base_link"][:3, 3] + [0.05, 0.02, 0.1]
    goals = [*feet, mr.CentreGoal(centre + 0.3 * (over - centre)), mr.PointGoal("gripper_left_base_link", hand)]
    found = robot.reach(goals, q0=q)
    assert found.reached
    assert within(robot, found.q[0])
    np.testing.assert_allclose(robot.centre_of_mass(found.q[0]), centre + 0.3 * (over - centre), atol=1e-9)
    np.testing.assert_allclose(robot.frame_pose(found.q[0], "leg_right_6_link"), X["leg_right_6_link"], atol=1e-9)


def test_frames_that_no_joint_moves_are_where_they_are():
    robot = mr.load("crab").mechanism(base="m0")
    X = robot.frame_pose(robot.neutral(), "m0/4")
    assert robot.inverse_kinematics("m0/4", X).reached
    assert not robot.inverse_kinematics("m0/4", se3.pose(None, (1, 0, 0)) @ X).reached
    p = robot.frame_pose([0.1, 0.2, 0.3], "m3")[:3, 3]
    found = robot.reach([mr.PoseGoal("m0/4", X), mr.PointGoal("m3", p)])
    assert found.reached
    assert np.allclose(robot.frame_pose(found.q[0], "m3")[:3, 3], p, atol=1e-8)


def test_unreachable_goals_are_said_to_be_so(rng):
    """Beyond its reach a stretched arm is nearest: closed form; within limits SciPy finds nothing nearer."""
    make, _ = ROBOTS["lwa4p"]
    arm = make()
    shoulder, reach = np.array([0.0, 0.0, 0.205]), 0.35 + np.hypot(0.305, 0.005263)
    d = np.array([0.6, 0.64, 0.48])
    d /= np.linalg.norm(d)
    far = arm.reach(mr.PointGoal("tip", shoulder + 2.0 * d), attempts=16)
    assert not far.reached
    assert far.count == 0
    # turning the wrist offset of 5 mm into the plane gains 45 micrometres: so flat a descent is not followed to its end
    assert far.residual[0] == pytest.approx(2.0 - reach, abs=1e-5)
    assert "not reached from 16 starts: the nearest configuration found is 1.34" in far.note
    target = np.array([0.5, 0.1, -0.6])
    short = arm.reach(mr.PointGoal("l3", target), attempts=16)

    def gap(q: np.ndarray) -> np.ndarray:
        return arm.frame_pose(q, "l3")[:3, 3] - target

    starts = configurations(arm, 12, rng)
    best = min(np.linalg.norm(least_squares(gap, q, bounds=arm.limits).fun) for q in starts)
    assert short.residual[0] <= best + 1e-6


def test_mixed_batches_say_which(rng):
    robot, _ = ROBOTS["ur5"][0](), None
    X = robot.frame_pose(configurations(robot, 6, rng), "tool0").reshape(2, 3, 4, 4)
    X[1, 2, :3, 3] = [5.0, 0.0, 0.0]
    found = robot.reach(mr.PoseGoal("tool0", X), attempts=8)
    assert found.q.shape == (2, 3, 1, 6)
    assert found.reached.tolist() == [[True, True, True], [True, True, False]]
    assert found.note.startswith("1 of 6 goals not reached from 8 starts")
    assert robot.reach(mr.PoseGoal("tool0", X[:0])).q.shape == (0, 3, 1, 6)


def test_a_singular_start_is_left(rng):
    """Straight up, all axes of a planar arm give the same motion, and the goal pulls along the arm."""
    robot = mr.Assembly.from_aim(np.array([[3, 0, 0], [4, 3, 0], [0, 4, 3], [0, 0, 4]]), types="backbone").mechanism()
    X = robot.frame_pose(robot.neutral(), "m3")
    nearer = X[:3, 3] * 0.9
    found = robot.reach(mr.PointGoal("m3", nearer), q0=robot.neutral())
    assert found.reached
    np.testing.assert_allclose(robot.frame_pose(found.q[0], "m3")[:3, 3], nearer, atol=1e-9)


def test_the_given_start_decides_the_branch(rng):
    """Next to a configuration the solution is the one next to it; joints that no goal needs stay."""
    robot = ROBOTS["ur5"][0]()
    q = configurations(robot, 50, rng)
    q0 = np.clip(q + 1e-3 * rng.normal(size=q.shape), *robot.limits)
    found = robot.reach(mr.PoseGoal("tool0", robot.frame_pose(q, "tool0")), q0=q0)
    regular = np.linalg.svd(robot.jacobian(q, "tool0"), compute_uv=False)[:, -1] > 0.02
    np.testing.assert_allclose(found.q[regular, 0], q[regular], atol=1e-6)
    only = robot.reach(mr.PointGoal("forearm_link", robot.frame_pose(q[0], "forearm_link")[:3, 3]), q0=q0[0])
    np.testing.assert_array_equal(only.q[0, 3:], q0[0, 3:])


def test_the_same_call_gives_the_same_bits(rng):
    robot = ROBOTS["panda"][0]()
    goal = mr.PoseGoal("panda_hand", robot.frame_pose(configurations(robot, 40, rng), "panda_hand"))
    np.testing.assert_array_equal(robot.reach(goal).q, robot.reach(goal).q)


def test_secondary_goals_use_the_room_that_is_left(rng):
    """Along the null space a redundant arm comes as near to a posture as SciPy's constrained descent from there does not beat."""
    robot = ROBOTS["panda"][0]()
    q = configurations(robot, 5, rng)
    posture = {f"panda_joint{k}": x for k, x in enumerate([0.0, 0.0, 0.0, -1.5, 0.0, 1.8, 0.0], start=1)}
    wish = np.array(list(posture.values()))
    goal = mr.PoseGoal("panda_hand", robot.frame_pose(q, "panda_hand"))
    plain, found = robot.reach(goal, q0=q), robot.reach(goal, q0=q, secondary=mr.JointGoal(posture))
    assert found.reached.all()
    before, after = (np.linalg.norm(x.q[:, 0, :7] - wish, axis=-1) for x in (plain, found))
    assert np.all(after < before - 1e-3)
    for x in found.q[:, 0]:
        J, away = robot.jacobian(x, "panda_hand")[:, :7], x[:7] - wish
        free = (x[:7] > robot.limits.lower[:7] + 1e-6) & (x[:7] < robot.limits.upper[:7] - 1e-6)
        N = np.eye(free.sum()) - np.linalg.pinv(J[:, free]) @ J[:, free]
        assert np.abs(N @ away[free]).max() < 1e-3  # no way along the null space leads nearer


def test_without_limits_joints_pass_them(rng):
    robot = ROBOTS["organism"][0]()
    q = rng.uniform(-2.5, 2.5, size=(20, robot.nq))
    goal = mr.PoseGoal("m8", robot.frame_pose(q, "m8"))
    free = robot.reach(goal, limits=False)
    assert free.reached.all()
    assert not within(robot, free.q)
    assert not robot.reach(goal, attempts=4).reached.all()


def test_numpy_alone_reaches_too(monkeypatch, rng):
    robot = ROBOTS["ur5"][0]()
    monkeypatch.setattr(kernels, "repeated", lambda *given: None)
    assert robot.reach(mr.PoseGoal("tool0", robot.frame_pose(configurations(robot, 20, rng), "tool0"))).reached.all()


BAD = [
    (lambda r: r.reach([]), "no goals: expected at least one"),
    (lambda r: r.reach(["m3"]), "goal 'm3': expected mr.PoseGoal"),
    (lambda r: r.reach(mr.PointGoal("m33", [0, 0, 0])), "no frame 'm33'"),
    (lambda r: r.reach(mr.JointGoal({"elbow": 0.1})), "no joint 'elbow'"),
    (lambda r: mr.JointGoal({}), "expected names of joints with values"),
    (lambda r: mr.PointGoal("m3", [0, 0]), r"place of 'm3' .*expected numbers of shape \(..., 3\)"),
    (lambda r: mr.PointGoal("m3", [[0, 0], [1]]), r"expected numbers of shape \(..., 3\)"),
    (lambda r: mr.PointGoal("m3", [0, 0, np.nan]), r"place of 'm3'\[2\] is nan: expected finite numbers"),
    (lambda r: mr.PoseGoal("m3", 2 * np.eye(4)), "expected X = .* with a rotation R"),
    (lambda r: mr.PoseGoal("m3", np.eye(4), weight=0), "weight 0: expected a number above zero"),
    (lambda r: mr.DirectionGoal("m3", [0, 0, 0]), "expected a direction, not zero"),
    (lambda r: r.reach(mr.PointGoal("m3", [0, 0, 0]), q0=[0.0]), r"q0 has shape \(1,\): expected \(..., 3\)"),
    (lambda r: r.reach(mr.PointGoal("m3", np.zeros((4, 3))), q0=np.zeros((3, 3))), "expected ones that broadcast"),
    (
        lambda r: r.reach([mr.PointGoal("m3", np.zeros((4, 3))), mr.PointGoal("m1", np.zeros((2, 3)))]),
        r"PointGoal \(4,\), PointGoal \(2,\): expected ones that broadcast",
    ),
    (lambda r: r.reach(mr.PointGoal("m3", [0, 0, 0]), attempts=0), "attempts 0: expected a whole number from one on"),
    (lambda r: r.reach(mr.PointGoal("m3", [0, 0, 0]), tolerance=0.0), "tolerance 0.0: expected a number above zero"),
    (lambda r: r.reach(mr.PointGoal("m3", [0, 0, 0]), tolerence=1e-3), "did you mean 'tolerance'"),
]


@pytest.mark.parametrize(("call", "words"), BAD)
def test_bad_goals(call, words):
    with pytest.raises(InputError, match=words):
        call(mr.load("crab").robot())


def test_goals_that_a_robot_has_no_part_for():
    b = mr.Builder("ghost")
    b.body("ball", None, joint=mr.Spherical())
    robot = b.build()
    with pytest.raises(InputError, match="moves no mass"):
        robot.reach(mr.CentreGoal([0, 0, 0]))
    with pytest.raises(InputError, match=r"JointGoal of 'ball' \(spherical\): expected joints of one coordinate"):
        robot.reach(mr.JointGoal({"ball": 0.0}))


def test_rates_are_held_at_limits_that_they_are_pushed_against():
    q, push = np.array([-1.0, -1.0, 1.0, 1.0, 2.0, 0.0]), np.array([-0.1, 0.1, 0.1, -0.1, 0.1, 0.1])
    low, high = margin(q, -np.ones(6), np.ones(6))
    assert low.tolist() == [0, 0, -2, -2, -3, -1]
    assert high.tolist() == [2, 2, 0, 0, 0, 1]
    assert freedom(push, low, high).tolist() == [0, 1, 0, 1, 0, 1]
