"""SDF out: the file, read by a reader of its own, has the robot's kinematics and masses."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

import modurob as mr
from modurob.errors import MechanismError
from modurob.mechanism.sdf import sdf
from modurob.spatial import angles, inertia, se3
from tests.robots import random_mechanism

JOINTS = {
    "revolute": lambda a, b, pitch: mr.Revolute(a),
    "prismatic": lambda a, b, pitch: mr.Prismatic(a),
    "screw": lambda a, b, pitch: mr.Helical(a, pitch / (2 * np.pi)),
    "universal": lambda a, b, pitch: mr.Universal(a, b),
    "ball": lambda a, b, pitch: mr.Spherical(),
}


def numbers(element, tag):
    text = element.findtext(tag)
    return None if text is None else tuple(float(x) for x in text.split())


def pose(element):
    x = numbers(element, "pose")
    return se3.pose(angles.fixed("xyz", np.array(x[3:])), np.array(x[:3]))


def read(text):
    """A robot of the links and joints of a file, as the frame semantics of SDF say."""
    model = ET.fromstring(text).find("model")
    links = {link.get("name"): link for link in model.findall("link")}
    b = mr.Builder(model.get("name"))
    for joint in model.findall("joint"):
        parent, child = joint.findtext("parent"), joint.findtext("child")
        at = joint.find("pose")
        assert at.get("relative_to") == ("__model__" if parent == "world" else parent)
        assert links[child].find("pose").get("relative_to") == joint.get("name")
        inertial = links[child].find("inertial")
        T = {name: numbers(inertial, f"inertia/{name}")[0] for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")}
        tensor = [[T["ixx"], T["ixy"], T["ixz"]], [T["ixy"], T["iyy"], T["iyz"]], [T["ixz"], T["iyz"], T["izz"]]]
        own = inertia.moved(inertia.spatial_inertia(numbers(inertial, "mass")[0], np.zeros(3), tensor), pose(inertial))
        pitch = numbers(joint, "screw_thread_pitch")
        kind = JOINTS[joint.get("type")](numbers(joint, "axis/xyz"), numbers(joint, "axis2/xyz"), pitch and pitch[0])
        b.body(child, own, parent=parent, joint=kind, joint_name=joint.get("name"), at=pose(joint))
    return b.build()


@pytest.mark.parametrize("seed", range(3))
def test_random_robots_have_the_same_dynamics(seed):
    rng = np.random.default_rng(seed)
    robot = random_mechanism(rng, 6, ("revolute", "prismatic", "helical", "universal", "spherical"))
    again = read(sdf(robot))
    q = robot.random_configuration(rng)
    assert np.abs(again.mass_matrix(q) - robot.mass_matrix(q)).max() < 1e-12 * np.abs(robot.mass_matrix(q)).max()


def test_shapes_limits_losses_and_mimics_are_written():
    b = mr.Builder("arm")
    own = inertia.box(1.0, (0.1, 0.1, 0.1))
    some = mr.JointProperties(
        lower=-1.0, upper=1.5, effort=4.0, velocity=2.0, damping=0.1, friction=0.2, stiffness=3.0, rest=0.1
    )
    b.body("a", own, joint=mr.Revolute((0, 0, 1)), properties=some)
    b.body("b", own, parent="a", joint=mr.Revolute((0, 1, 0)), mimic=mr.Source("a", 2.0, 0.5))
    b.shape("cylinder", (0.1, 0.2), "a")
    b.shape("box", (1.0, 1.0, 0.1), "world")
    b.collision("capsule", (0.1, 0.2), "a")
    b.collision("mesh", (1.0, 1.0, 2.0), "b", file="hand.stl")
    model = ET.fromstring(sdf(b.build())).find("model")
    first, second = (j.find("axis") for j in model.findall("joint") if j.find("axis") is not None)
    ends = [numbers(first, f"limit/{x}")[0] for x in ("lower", "upper", "effort", "velocity")]
    assert ends == [-1.0, 1.5, 4.0, 2.0]
    losses = [
        numbers(first, f"dynamics/{x}")[0] for x in ("damping", "friction", "spring_stiffness", "spring_reference")
    ]
    assert losses == [0.1, 0.2, 3.0, 0.1]
    assert second.find("mimic").get("joint") == "a"
    assert [numbers(second, f"mimic/{x}")[0] for x in ("multiplier", "offset", "reference")] == [2.0, 0.5, 0.0]
    assert numbers(model, "link[@name='a']/visual/geometry/cylinder/length") == (0.2,)
    assert numbers(model, "link[@name='a']/collision/geometry/capsule/radius") == (0.1,)
    assert model.findtext("link[@name='b']/collision/geometry/mesh/uri") == "hand.stl"
    assert numbers(model, "link[@name='base']/visual/geometry/box/size") == (1.0, 1.0, 0.1)


def test_a_floating_base_hangs_on_nothing():
    robot = mr.load("crab").mechanism(floating=True)
    model = ET.fromstring(sdf(robot)).find("model")
    assert len(model.findall("link")) == len(robot.bodies) - 1
    assert len(model.findall("joint")) == len(robot.bodies) - 2
    assert len(model.findall("link/collision")) == len(robot.shapes)


def test_what_sdf_cannot_hold_is_refused():
    with pytest.raises(MechanismError, match="SDF has no loops"):
        sdf(mr.Assembly.from_grid("B B\nB90 B90").mechanism())
    b = mr.Builder("sledge")
    b.body("b", np.eye(6), joint=mr.Planar((0, 0, 1)))
    with pytest.raises(MechanismError, match="joint b of sledge is planar: written to SDF are revolute"):
        sdf(b.build())
