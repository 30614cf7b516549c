"""What is drawn of a robot is where the robot is."""

import base64

import numpy as np
import pytest

import modurob as mr
from modurob.errors import InputError
from modurob.viewer import scene
from modurob.viewer.scene import Chapter


def unpacked(data, bodies):
    """Poses as the page reads them, (samples, bodies, 3, 4)."""
    return np.frombuffer(base64.b64decode(data["poses"]), "<f4").reshape(-1, bodies, 3, 4)


@pytest.mark.parametrize("name", mr.shipped_robots())
def test_every_shape_is_drawn_where_the_robot_has_it(name):
    robot = mr.load(name).robot()
    q = robot.random_configuration(np.random.default_rng(3))
    (chapter,) = scene.still(robot, q)
    data = chapter.data(30)
    drawn, X_WB = data["design"]["shapes"], robot.forward_kinematics(q).bodies
    poses = unpacked(data, len(robot.bodies))[0]
    assert len(drawn) >= len(robot.shapes) > 0
    for shape, there in zip(drawn, robot.shapes, strict=False):
        X = np.vstack([poses[shape["body"]], [0, 0, 0, 1]]) @ np.vstack([np.reshape(shape["X"], (3, 4)), [0, 0, 0, 1]])
        assert np.allclose(X, X_WB[there.frame.body] @ there.in_body, atol=1e-6)
        assert (shape["kind"], tuple(shape["size"])) == (there.kind, pytest.approx(there.size))


def test_robots_without_shapes_are_sticks_from_joint_to_joint():
    arm = mr.Mechanism.from_dh([(0.3, 0, 0.1), (0.2, np.pi / 2, 0), (0, 0, 0.05)])
    shapes = scene.design(arm)["shapes"]
    sticks = [s for s in shapes if s["kind"] == "cylinder"]
    assert {s["body"] for s in shapes} == {1, 2, 3}
    lengths = [np.linalg.norm(arm.X_PJ[i][:3, 3]) for i in (2, 3)]
    assert sorted(s["size"][1] for s in sticks) == pytest.approx(sorted(lengths))


def test_lines_and_springs_are_drawn_between_the_places_they_hang_on():
    b = mr.Builder("swing")
    b.body("bob", mr.spatial.inertia.sphere(1.0, 0.1), joint=mr.Free())
    b.line("rope", [("world", (0, 0, 1)), ("bob", (0, 0, 0.1))], mr.Elastic(stiffness=100.0, rest=0.8))
    robot = b.build().with_force("coil", mr.Spring(stiffness=10.0), a="bob", b="world")
    rope, coil = scene.cables(robot)
    assert [(p["body"], p["at"]) for p in rope["places"]] == [(0, [0, 0, 1]), (1, [0, 0, 0.1])]
    assert [p["body"] for p in coil["places"]] == [1, 0]
    assert scene.design(robot)["floating"]


def test_virtual_joints_have_rails_and_turntables():
    """Where the joint stands on the body before it, along the axis that it has there."""
    robot = mr.load("crab").on_virtual_joints("xyZ").robot()
    guides = scene.design(robot)["guides"]
    assert [(g["name"], g["parent"], g["body"], g["turns"]) for g in guides] == [
        ("v0/joint", 0, 1, False),
        ("v1/joint", 1, 2, False),
        ("v2/joint", 2, 3, True),
    ]
    q = robot.neutral()
    q[:3] = 0.3, -0.2, 0.7
    X_WB = robot.forward_kinematics(q).bodies
    for guide, x in zip(guides, q, strict=False):
        seat = X_WB[guide["parent"]] @ np.vstack([np.reshape(guide["X"], (3, 4)), [0, 0, 0, 1]])
        along = seat[:3, :3] @ guide["axis"]
        moved = mr.spatial.se3.log(mr.spatial.se3.inverse(seat) @ X_WB[guide["body"]])
        assert np.allclose(
            moved,
            np.r_[np.zeros(3), x * np.array(guide["axis"])]
            if guide["turns"]
            else np.r_[x * np.array(guide["axis"]), np.zeros(3)],
        )
        assert np.allclose(along, X_WB[guide["body"]][:3, :3] @ guide["axis"])
    # what is drawn otherwise needs none: modules hold their hinges, and sticks stand for bodies without shapes
    assert scene.design(mr.load("crab").robot())["guides"] == []
    assert scene.design(mr.Mechanism.from_dh([(0.3, 0, 0.1), (0.2, np.pi / 2, 0)]))["guides"] == []


def test_a_run_is_sampled_as_often_as_pictures_are_seen(crab_run):
    segment = crab_run.segments[0]
    data = Chapter(segment.robot, segment.t, segment.q).data(fps=50)
    assert data["t"] == pytest.approx(np.arange(0, 0.201, 0.02))
    poses = unpacked(data, len(segment.robot.bodies))
    assert np.allclose(poses[3], segment.robot.forward_kinematics(segment.q[60]).bodies[:, :3], atol=1e-6)


def test_what_cannot_be_shown_is_said(crab):
    with pytest.raises(InputError, match=r"shape \(2, 3\): expected one configuration of 3 finite numbers"):
        crab.show(np.zeros((2, 3)), "x.html")
    with pytest.raises(InputError, match="expected one configuration of 3 finite"):
        crab.show([0.0, np.nan, 0.0], "x.html")
    import sympy

    symbolic = mr.Mechanism.from_dh(
        [(sympy.Symbol("a"), 0, 0)], inertias=[mr.spatial.inertia.point(1.0, (0, 0, 0)) * sympy.Symbol("m")]
    )
    with pytest.raises(InputError, match="has symbols for numbers"):
        scene.still(symbolic)


def test_a_file_in_the_place_of_a_configuration_is_told(crab):
    with pytest.raises(
        InputError, match=r"q is 'a.png': expected a configuration; a file comes second: show\(path='a.png'\)"
    ):
        crab.show("a.png")
