"""Support: forces of the ground from motions of any robot, against MuJoCo's contacts; polygons and margins."""

import mujoco
import numpy as np
import pytest
from scipy.spatial import ConvexHull

import modurob as mr
from modurob import locomotion as go
from modurob.spatial import inertia, se3, so3
from tests.robots import random_mechanism

# sums over a dozen bodies, forces of some 100 N
CLOSE = 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_the_ground_gives_what_inverse_dynamics_asks_for(seed):
    """A floating robot: its root's joint forces, moved to the world, on random trees with gravity anywhere."""
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 6, floating=True)
    q, (v, vdot) = robot.random_configuration(rng), rng.normal(size=(2, robot.nv))
    root = next(i for i, j in enumerate(robot.joints, start=1) if j.kind == "free" and robot.parent[i] == 0)
    F = robot.inverse_dynamics(q, v, vdot)[robot.joints[root - 1].v_slice]
    X = robot.frame_pose(q, robot.bodies[root])
    others = sum(robot.parent[i] == 0 for i in range(1, len(robot.bodies)))
    expected = se3.Ad_inverse(X).T @ F
    if others == 1:
        np.testing.assert_allclose(np.concatenate(go.ground_wrench(robot, q, v, vdot)), expected, atol=CLOSE)
    else:
        pytest.fail("expected one root")


def test_batches_and_other_grounds():
    rng = np.random.default_rng(3)
    robot = mr.load("crab").mechanism(floating=True)
    q = np.stack([robot.random_configuration(rng) for _ in range(5)])
    v, vdot = rng.normal(size=(2, 5, robot.nv)) * 0.3
    normal, origin = np.array([0.1, -0.2, 1.0]), np.array([0.3, 0.1, -0.2])
    p = mr.zero_moment_point(robot, q, v, vdot, origin, normal)
    one = mr.zero_moment_point(robot, q[2], v[2], vdot[2], origin, normal)
    np.testing.assert_allclose(p[2], one, atol=CLOSE)
    # on the ground, and no moment along it
    np.testing.assert_allclose((p - origin) @ normal, 0, atol=CLOSE)
    f, n = go.ground_wrench(robot, q, v, vdot)
    np.testing.assert_allclose(np.cross(normal, n - np.cross(p, f)), 0, atol=1e-8)


def test_a_robot_that_falls_has_no_point_of_support():
    robot = mr.load("crab").mechanism(floating=True)
    still = np.zeros(robot.nv)
    falling = robot.forward_dynamics(robot.neutral(), still, still)
    falling[2] -= 1.0
    assert np.isinf(mr.zero_moment_point(robot, robot.neutral(), still, falling)).all()


# ---- MuJoCo ----

FEET = [(x, y, -0.3) for x in (0.2, -0.2) for y in (0.15, -0.15)]
STAND = f"""
<mujoco><option timestep="0.001" cone="elliptic"/>
<worldbody><geom type="plane" size="5 5 0.1" condim="3"/>
<body name="trunk" pos="0 0 0.3"><freejoint/>
  <inertial pos="0.01 0.02 0.03" mass="8" diaginertia="0.1 0.2 0.25"/>
  {"".join(f'<geom type="sphere" size="0.02" pos="{x} {y} {z}" condim="3"/>' for x, y, z in FEET)}
  <body name="arm" pos="0 0 0.1"><joint name="swing" axis="0.6 0.8 0"/>
    <inertial pos="0 0 0.3" mass="1.5" diaginertia="0.01 0.02 0.01"/></body></body></worldbody>
<actuator><position joint="swing" kp="60" kv="4"/></actuator></mujoco>"""


def stand():
    b = mr.Builder("stand")
    b.body("trunk", inertia.spatial_inertia(8.0, (0.01, 0.02, 0.03), np.diag([0.1, 0.2, 0.25])), joint=mr.Free())
    arm = inertia.spatial_inertia(1.5, (0, 0, 0.3), np.diag([0.01, 0.02, 0.01]))
    seat = se3.pose(None, np.array([0, 0, 0.1]))
    b.body("arm", arm, parent="trunk", joint=mr.Revolute((0.6, 0.8, 0)), at=seat)
    return b.build()


def contacts(model, data):
    """Points and forces on the robot, in world axes."""
    points, forces = [], []
    for i, c in enumerate(data.contact):
        local = np.zeros(6)
        mujoco.mj_contactForce(model, data, i, local)
        points.append(c.pos.copy())
        forces.append(c.frame.reshape(3, 3).T @ local[:3])
    return np.array(points), np.array(forces)


def test_against_contact_forces_of_mujoco():
    model = mujoco.MjModel.from_xml_string(STAND)
    data, robot, margins = mujoco.MjData(model), stand(), []
    for k in range(700):
        data.ctrl[0] = 0.5 * np.sin(6 * k * 1e-3)
        mujoco.mj_step(model, data)
        if k < 300 or k % 50:
            continue
        mujoco.mj_forward(model, data)
        R = se3.rotation(robot.frame_pose(data.qpos, "trunk"))
        linear, turn = R.T @ data.qvel[:3], data.qvel[3:6]
        v = np.concatenate([linear, data.qvel[3:]])
        vdot = np.concatenate([R.T @ data.qacc[:3] - np.cross(turn, linear), data.qacc[3:]])
        points, forces = contacts(model, data)
        wrench = go.ground_wrench(robot, data.qpos, v, vdot)
        assert len(points) >= 3
        np.testing.assert_allclose(wrench.force, forces.sum(0), atol=1e-6)
        np.testing.assert_allclose(wrench.moment, np.cross(points, forces).sum(0), atol=1e-6)
        # contact points are up to 1 mm below the plane, forces lean by up to 0.3
        zmp = mr.zero_moment_point(robot, data.qpos, v, vdot)
        assert np.abs(zmp - mr.centre_of_pressure(points, np.maximum(forces, [-np.inf, -np.inf, 0])))[:2].max() < 3e-4
        margins.append(mr.stability_margin(mr.support_polygon(points), zmp))
    assert min(margins) > 0
    assert np.ptp(margins) > 0.01


# ---- polygons ----


def test_polygons_are_those_of_qhull():
    rng = np.random.default_rng(5)
    for n in (3, 4, 7, 40):
        p = rng.normal(size=(n, 3))
        hull = ConvexHull(p[:, :2])
        found = mr.support_polygon(p)
        assert {tuple(x) for x in found} == {tuple(x) for x in p[hull.vertices, :2]}
        # counter-clockwise, like those of Qhull
        a, b = found, np.roll(found, -1, axis=0)
        assert (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum() / 2 == pytest.approx(hull.volume)
        x = rng.normal(size=(50, 2))
        plain = -(x @ hull.equations[:, :2].T + hull.equations[:, 2]).max(axis=-1)
        margin = mr.stability_margin(found, x)
        np.testing.assert_allclose(margin[plain > 0], plain[plain > 0], atol=1e-12)
        assert np.all(margin[plain < 0] <= plain[plain < 0] + 1e-12)


def test_points_and_lines_hold_nothing():
    line = mr.support_polygon([[0, 0], [1, 1], [2, 2], [1, 1]])
    assert line.tolist() == [[0, 0], [2, 2]]
    assert mr.stability_margin(line, [1.0, 1.0]) == 0
    assert mr.stability_margin(line, [3.0, 2.0]) == pytest.approx(-1.0)
    assert mr.stability_margin(mr.support_polygon([[1.0, 2.0, 3.0]]), [4.0, 6.0]) == pytest.approx(-5.0)


def test_pushed_points_are_in_the_polygon():
    rng = np.random.default_rng(6)
    p, f = rng.normal(size=(20, 5, 3)), rng.uniform(0, 1, size=(20, 5))
    at = mr.centre_of_pressure(p, f)
    assert all(mr.stability_margin(mr.support_polygon(a), b) >= 0 for a, b in zip(p, at, strict=True))
    along = np.zeros((20, 5, 3)) + f[..., None] * [0, 0, 1] + rng.normal(size=(20, 5, 3)) * [1, 1, 0]
    np.testing.assert_allclose(mr.centre_of_pressure(p, along), at)


def test_energy_to_tip_a_block():
    feet = np.array([[-0.3, -0.2, 0.1], [0.3, -0.2, 0.1], [0.3, 0.2, 0.1], [-0.3, 0.2, 0.1]])
    c = np.array([0.25, 0.0, 0.6])
    assert go.tipping_energy(feet, c, 100.0) == pytest.approx(100 * (np.hypot(0.5, 0.05) - 0.5))
    assert go.tipping_energy(feet, [0.31, 0, 0.6], 100.0) == 0


# ---- any ground ----


@pytest.mark.parametrize("friction", [0.1, 0.35, 2.0])
def test_pushes_on_a_block_slide_it_or_tip_it(friction):
    """min(mu W, W d / h), d the static margin, on level ground."""
    rng = np.random.default_rng(8)
    W = 120.0
    feet = np.column_stack([np.array([[0.3, 0.2], [-0.3, 0.2], [-0.3, -0.2], [0.3, -0.2]]), np.zeros(4)])
    c = np.array([*rng.uniform(-0.1, 0.1, 2), 0.5])
    weight = go.Wrench(np.array([0, 0, W]), np.cross(c, [0, 0, W]))
    expected = min(friction * W, W * mr.stability_margin(feet, c) / c[2])
    assert go.push_margin(weight, feet, c, friction) == pytest.approx(expected, rel=1e-6)


def test_slopes_hold_up_to_the_angle_of_friction():
    """A plane tilted about y: feet stick while tan(angle) < mu."""
    feet = np.array([[0.3, 0.2, 0], [-0.3, 0.2, 0], [-0.3, -0.2, 0], [0.3, -0.2, 0]])
    for angle, holds in ((0.45, True), (0.47, False)):
        R = so3.about(np.array([0.0, 1.0, 0.0]), np.array(angle))
        c = R @ [0, 0, 0.05]
        weight = go.Wrench(np.array([0, 0, 50.0]), np.cross(c, [0, 0, 50.0]))
        push = go.push_margin(weight, feet @ R.T, c, np.tan(0.46), normals=R @ [0, 0, 1])
        assert (push > 0) is holds


def test_two_walls_hold_what_no_floor_does():
    """A chimney: normals face each other, and contacts may squeeze as much as they need; one wall holds nothing."""
    walls, normals = [[-0.4, 0, 0], [0.4, 0, 0], [-0.4, 0.2, 0], [0.4, 0.2, 0]], [[1, 0, 0], [-1, 0, 0]] * 2
    weight = go.Wrench(np.array([0, 0, 50.0]), np.cross([0, 0.1, 0], [0, 0, 50.0]))
    assert go.push_margin(weight, walls, [0, 0.1, 0], 0.8, normals) == np.inf
    assert go.push_margin(weight, [[-0.4, 0, 0], [-0.4, 0.2, 0]], [0, 0.1, 0], 0.8, [1, 0, 0]) == 0


def test_a_push_on_a_moving_robot():
    """As much as the wrench leaves: pushes along x move the zero-moment point by F h / N until it meets the edge."""
    robot, q = stand(), np.array([0, 0, 0.3, 1, 0, 0, 0, 0.2])
    v, vdot = np.zeros(7), np.array([0.5, 0, 0, 0, 0.3, 0, 0.4])
    wrench, zmp = go.ground_wrench(robot, q, v, vdot), mr.zero_moment_point(robot, q, v, vdot)
    feet, at = np.array(FEET) + np.array([0, 0, 0.3]), np.array([0, 0, 0.4])
    push = go.push_margin(wrench, feet, at, friction=3.0, directions=4)
    reach = np.array([0.2 - abs(zmp[0]), 0.15 - abs(zmp[1])]).min()
    assert push == pytest.approx(wrench.force[2] * reach / at[2], rel=1e-6)
