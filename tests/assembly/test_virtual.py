"""Robots set on virtual joints, by any port of any module."""

import numpy as np
import pytest
import sympy

import modurob as mr
from modurob.assembly import dumps
from modurob.catalogue import library
from modurob.errors import AssemblyError, InputError, OccupiedPortError, UnknownNameError
from modurob.spatial import se3
from tests.catalogue.test_modules import GRIPPER, gripper


@pytest.mark.parametrize("kind", library.shipped_names())
def test_every_shipped_module_can_be_set_on_virtual_joints(kind):
    robot = mr.Assembly.single("a", kind).on_virtual_joints("xyZ").mechanism(keep_idle=True)
    joint = mr.Planar().pose(np.array([0.3, -0.4, 0.5]))
    q = robot.neutral()
    q[:3] = 0.3, -0.4, 0.5
    np.testing.assert_allclose(robot.frame_pose(q, "a"), joint, atol=1e-15)


def test_own_modules_are_set_on_virtual_joints_by_their_frame():
    hand = mr.Assembly.single("hand", gripper()).on_virtual_joints("xZ")
    assert str(hand.connections[-1]) == "v1/out - hand/7"
    robot = hand.mechanism()
    assert [j.name for j in robot.joints] == ["v0/joint", "v1/joint", "hand/grip"]
    np.testing.assert_allclose(se3.position(robot.frame_pose([0.2, 0.0, 0.0], "hand")), [0.2, 0, 0])


@pytest.mark.parametrize("face", "2345")
@pytest.mark.parametrize("kind", ["backbone", "scout"])
def test_a_robot_stands_on_a_face(kind, face):
    """The port looks down, and coincides with the last virtual joint."""
    robot = mr.Assembly.single("a", kind).on_virtual_joints("xyz", at=f"a/{face}").mechanism(keep_idle=True)
    q = robot.neutral()
    q[:3] = 1, 2, 3
    X = robot.frame_pose(q, f"a/{face}")
    np.testing.assert_allclose(se3.position(X), [1, 2, 3], atol=1e-14)
    np.testing.assert_allclose(X[:3, 2], [0, 0, -1], atol=1e-14)
    np.testing.assert_allclose(X[:3, 0], [1, 0, 0], atol=1e-14)


@pytest.mark.parametrize(("kind", "port"), [("cube_link", "6"), ("revolute_joint", "1"), ("prismatic_joint", "2")])
def test_a_face_of_either_gender(kind, port):
    robot = mr.Assembly.single("a", kind).on_virtual_joints("z", at=mr.PortRef("a", port))
    assert robot.modules["v0"].type.name == "virtual_socket"
    assert mr.Assembly.loads(dumps(robot)) == robot


def test_a_port_with_one_roll_and_a_size():
    odd = gripper(connectors={"cobold": {"size": 0.04, "rolls": [30, 60]}})
    robot = mr.Assembly.single("a", odd).on_virtual_joints("x", at="a/back")
    assert robot.connections[-1].roll == 30


def test_a_virtual_port_of_another_kind():
    anchor = {"anchor": {"virtual": True, "rolls": [0]}}
    back = {**GRIPPER["ports"]["back"], "connector": "anchor"}
    robot = mr.Assembly.single("a", gripper(connectors=anchor, ports={"back": back})).on_virtual_joints("xy")
    assert str(robot.connections[-1]) == "v1/out - a/back"
    assert robot.modules["v1"].type.name == "virtual_anchor"
    faced = gripper(connectors={"virtual": {}}, ports={"back": {**back, "connector": "virtual"}})
    with pytest.raises(InputError, match="port 'back': its connector 'virtual' is not that of virtual joints: rename"):
        mr.Assembly.single("a", faced).on_virtual_joints("x", at="a/back")


def test_any_module_of_a_robot_is_set_on_them():
    robot = mr.load("crab").on_virtual_joints("yz", at="m3")
    assert robot.docked_at("m3", "7") == mr.PortRef("v1", "out")
    assert robot.base == "v0"
    assert type(robot) is mr.Assembly
    assert mr.load("crab").with_setup(base="m3").on_virtual_joints("yz") == robot


def test_six_virtual_joints_move_as_a_free_joint(rng):
    crab = mr.load("crab")
    chain, free = crab.on_virtual_joints().mechanism(), crab.mechanism(floating=True)
    assert chain.nv == free.nv
    q = np.concatenate([rng.normal(size=6), [0.1, 0.2, 0.3]])
    X = chain.frame_pose(q, "m0")
    base = free.joints[0].type.coordinates(X)
    np.testing.assert_allclose(
        free.frame_pose(np.concatenate([base, q[6:]]), "m5"), chain.frame_pose(q, "m5"), atol=1e-12
    )


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("",), InputError, "motions '': expected letters of x, y, z .slide. and X, Y, Z .turn."),
        (("xyq",), InputError, "motions 'xyq': expected letters"),
        ((None,), InputError, "motions None: expected letters"),
        (("x", "m9"), UnknownNameError, "no module 'm9': valid: m0"),
        (("x", "m0/9"), UnknownNameError, "backbone 'm0' has no port '9'"),
        (("x", "m0/3"), OccupiedPortError, "port m0/3 already holds m1/4"),
    ],
)
def test_what_cannot_be_set_on_virtual_joints(arguments, error, message):
    with pytest.raises(error, match=message):
        mr.load("crab").on_virtual_joints(*arguments)


def test_a_robot_is_set_on_virtual_joints_once():
    with pytest.raises(OccupiedPortError, match="port m0/7 already holds v0/out"):
        mr.load("crab").on_virtual_joints("x").on_virtual_joints("y", at="m0")
    with pytest.raises(AssemblyError, match="there is already a module 'v0'"):
        mr.load("crab").on_virtual_joints("x").on_virtual_joints("y")


def test_a_connector_of_symbolic_size():
    parameters = {**GRIPPER["parameters"], "size": {"value": 0.1}}
    odd = gripper(parameters=parameters, connectors={"cobold": {"size": "size"}})
    robot = mr.Assembly.single("a", odd, {"size": sympy.Symbol("s")})
    with pytest.raises(InputError, match="port 'back': expected a connector with a size in numbers"):
        robot.on_virtual_joints("x", at="a/back")
