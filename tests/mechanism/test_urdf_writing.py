"""Robots written to URDF and read back."""

from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import modurob as mr
from modurob.errors import UrdfError
from modurob.mechanism.urdf import urdf
from modurob.mechanism.urdf.writing import UNLIMITED
from tests.robots import random_assembly

# URDF has no rotor inertia: the Scout's disc has some by default
NO_ROTORS = {"disc_armature": 0.0}


@pytest.mark.filterwarnings("ignore::modurob.errors.ModurobWarning")
@pytest.mark.parametrize("floating", [False, True])
def test_the_same_robot_comes_back(floating: bool, rng: np.random.Generator, tmp_path: Path) -> None:
    for _ in range(6):
        assembly = random_assembly(rng, 7)
        if any(m.type.name == "scout" for m in assembly.modules.values()):
            assembly = assembly.with_parameters(**NO_ROTORS)
        robot = assembly.mechanism(floating=floating)
        path = tmp_path / "robot.urdf"
        path.write_text(urdf(robot))
        again = mr.Mechanism.from_urdf(path, floating=floating)
        q, (v, vdot) = robot.random_configuration(rng), rng.normal(size=(2, robot.nv))
        # joints may come back in another order
        theirs = [again.joint(j.name.replace("/", "_")) for j in robot.joints]
        q2, v2, vdot2 = np.zeros(robot.nq), np.zeros(robot.nv), np.zeros(robot.nv)
        for a, b in zip(theirs, robot.joints, strict=True):
            q2[a.q_slice], v2[a.v_slice], vdot2[a.v_slice] = q[b.q_slice], v[b.v_slice], vdot[b.v_slice]
            if b.kind == "revolute":
                assert np.array_equal(a.limits, b.limits)
                assert np.array_equal(a.effort_limit, np.minimum(b.effort_limit, UNLIMITED))
        torque, torque2 = robot.inverse_dynamics(q, v, vdot), again.inverse_dynamics(q2, v2, vdot2)
        for a, b in zip(theirs, robot.joints, strict=True):
            assert np.allclose(torque2[a.v_slice], torque[b.v_slice], atol=1e-10)


def test_shapes_are_written() -> None:
    robot = mr.load("crab").mechanism()
    text = urdf(robot)
    assert text.count("<visual") == len(robot.shapes)
    assert text.count("<collision") == len(robot.shapes)  # what is drawn collides
    assert text.count("<box") == 24
    assert text.count("<cylinder") == 12


def test_mimic_joints_come_back(tmp_path: Path) -> None:
    b = mr.Builder("fingers")
    rod = mr.spatial.inertia.box(0.1, (0.1, 0.02, 0.02))
    b.body("left", rod, joint=mr.Revolute((1, 0, 0)))
    b.body("right", rod, joint=mr.Prismatic((0, 1, 0)), mimic=mr.Source("left", ratio=-0.5, offset=0.2))
    robot = b.build()
    mr.save(robot, tmp_path / "fingers.urdf")
    again = mr.load(tmp_path / "fingers.urdf")
    assert (again.joints[1].ratio, again.joints[1].offset) == (-0.5, 0.2)
    assert np.allclose(again.mass_matrix([0.3]), robot.mass_matrix([0.3]), rtol=1e-14)


def test_driven_joints_have_interfaces_of_ros2_control() -> None:
    robot = mr.load("crab").mechanism()
    root = ET.fromstring(mr.urdf(robot))
    section = root.find("ros2_control")
    assert section is not None
    assert section.findtext("hardware/plugin") == "mock_components/GenericSystem"
    names = {joint.get("name") for joint in root.findall("joint")}
    for joint in section.findall("joint"):
        assert joint.get("name") in names
        assert [x.get("name") for x in joint.findall("command_interface")] == ["position", "velocity", "effort"]
        assert [float(p.text or "") for p in joint.findall("command_interface[@name='effort']/param")] == [-7.0, 7.0]
    assert len(section.findall("joint")) == 3
    assert "ros2_control" not in mr.urdf(robot, hardware=None)
    passive = robot.ideal().with_force("f", mr.Friction(viscous=0.1), joint="m0/hinge")
    assert "plugin>my/Robot<" in mr.urdf(passive, hardware="my/Robot")


def test_what_urdf_cannot_hold_is_refused() -> None:
    square = mr.Assembly.from_grid("B B\nB90 B90")
    with pytest.raises(UrdfError, match="URDF has no loops"):
        urdf(square.mechanism())
    builder = mr.Builder("ball")
    builder.body("b", np.eye(6), joint=mr.Spherical())
    with pytest.raises(UrdfError, match="is spherical"):
        urdf(builder.build())


@pytest.mark.parametrize(("ending", "left_out"), [("urdf", "forces a joint spring"), ("sdf", "")])
def test_what_a_format_leaves_out_is_said(ending: str, left_out: str, tmp_path: Path) -> None:
    b = mr.Builder("x")
    properties = mr.JointProperties(armature=0.05, stiffness=3.0, friction=0.2)
    b.body("a", mr.spatial.inertia.box(1.0, (0.1, 0.1, 0.1)), joint=mr.Revolute((0, 0, 1)), properties=properties)
    found = (
        f"x: {ending.upper()} does not support rotor inertia of a{'; ' if left_out else ''}{left_out}: written without"
    )
    with pytest.warns(mr.ModurobWarning, match=found):
        mr.save(b.build(), tmp_path / f"x.{ending}")


@pytest.mark.parametrize("ending", ["urdf", "sdf", "xml"])
@pytest.mark.parametrize("names", [("a\0b", "c"), ("a", "c\x1f"), ("a", "\ud800")])
def test_names_with_characters_that_xml_lacks_are_refused(ending: str, names: tuple[str, str], tmp_path: Path) -> None:
    b = mr.Builder(names[0])
    b.body(names[1], mr.spatial.inertia.sphere(1.0, 0.1), joint=mr.Revolute())
    with pytest.raises(mr.ModurobError, match="expected names without control characters"):
        mr.save(b.build(), tmp_path / f"x.{ending}")
    assert not list(tmp_path.iterdir())
