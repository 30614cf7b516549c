"""A robot as an SDF file, for Gazebo and others: links, joints, inertias, shapes as visuals and collision geometry."""

from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from modurob.catalogue.forces import Friction, JointSpring, Stop
from modurob.catalogue.joints import Mimic
from modurob.catalogue.joints.joint import Reversed
from modurob.errors import MechanismError
from modurob.mechanism.exports import EXPORTS, warn_of_losses
from modurob.mechanism.tables import JointRow, Shape, Tables
from modurob.mechanism.xml_text import document, numbers
from modurob.spatial import inertia, se3
from modurob.spatial.angles import fixed_angles
from modurob.spatial.scalars import Array

# what SDF calls our joints
KINDS = {
    "revolute": "revolute",
    "prismatic": "prismatic",
    "helical": "screw",
    "universal": "universal",
    "spherical": "ball",
    "free": "free",
}
# SDF's word for no limit
FAR = 1e16


@EXPORTS.register("sdf")
def sdf(robot: Tables) -> str:
    """The text of an SDF file (version 1.11).

    SDF has no rotor inertia and no lines: a warning names what is left out. It has no loops: a robot with loops is refused.
    """
    if robot.constraints:
        raise MechanismError(f"SDF has no loops, {robot.name} has {', '.join(c.name for c in robot.constraints)}")
    root = ET.Element("sdf", version="1.11")
    model = ET.SubElement(root, "model", name=robot.name)
    if any(shape.frame.body == 0 for shape in (*robot.shapes, *robot.collisions)):
        _standing(robot, model)
    for body in range(1, len(robot.bodies)):
        _link(robot, body, model)
        _joint(robot, body, model)
    warn_of_losses(robot, "SDF", (Friction, JointSpring, Stop))
    return document(root)


def name_of(text: str) -> str:
    """A name without the words that SDF keeps for itself: slashes are folders in Gazebo."""
    return text.replace("/", "_")


def _standing(robot: Tables, model: ET.Element) -> None:
    """What is fixed in the world, as a link of its own."""
    link = ET.SubElement(model, "link", name="base")
    _shapes(robot, 0, link)
    joint = ET.SubElement(model, "joint", name="base_fixed", type="fixed")
    ET.SubElement(joint, "parent").text = "world"
    ET.SubElement(joint, "child").text = "base"


def _pose(X: Array, relative_to: str = "") -> ET.Element:
    element = ET.Element("pose", {"relative_to": relative_to} if relative_to else {})
    element.text = numbers([*se3.position(X), *fixed_angles("xyz", se3.rotation(X)).first])
    return element


def _link(robot: Tables, body: int, model: ET.Element) -> None:
    joint, own = robot.joints[body - 1], robot.inertia[body]
    link = ET.SubElement(model, "link", name=name_of(robot.bodies[body]))
    if joint.kind == "free":
        parent = robot.parent[body]
        link.append(_pose(robot.X_PJ[body], name_of(robot.bodies[parent]) if parent else ""))
    else:
        link.append(_pose(se3.IDENTITY, name_of(joint.name)))
    if inertia.mass(own) > 0:
        inertial = ET.SubElement(link, "inertial")
        inertial.append(_pose(se3.pose(None, inertia.centre(own))))
        _words(inertial, {"mass": inertia.mass(own)})
        T = inertia.tensor(own)
        entries = {f"i{'xyz'[i]}{'xyz'[j]}": T[i, j] for i in range(3) for j in range(i, 3)}
        _words(ET.SubElement(inertial, "inertia"), entries)
    _shapes(robot, body, link)


def _words(parent: ET.Element, numbers_by_name: dict[str, Any]) -> None:
    for name, x in numbers_by_name.items():
        ET.SubElement(parent, name).text = numbers(np.atleast_1d(x))


def _shapes(robot: Tables, body: int, link: ET.Element) -> None:
    for tag, shapes in (("visual", robot.shapes), ("collision", robot.solids)):
        for k, shape in enumerate(shapes):
            if shape.frame.body == body:
                element = ET.SubElement(link, tag, name=f"{tag}_{k}")
                element.append(_pose(shape.in_body))
                ET.SubElement(element, "geometry").append(_geometry(shape))


def _geometry(shape: Shape) -> ET.Element:
    element = ET.Element(shape.kind)
    if shape.kind == "mesh":
        ET.SubElement(element, "uri").text = shape.file
        _words(element, {"scale": shape.size})
    elif shape.kind == "box":
        _words(element, {"size": shape.size})
    else:
        _words(element, dict(zip(("radius", "length"), shape.size, strict=False)))
    return element


def _joint(robot: Tables, body: int, model: ET.Element) -> None:
    joint = robot.joints[body - 1]
    kind: Any = joint.type.follower if isinstance(joint.type, Mimic) else joint.type
    if joint.kind not in KINDS or isinstance(kind, Reversed):
        raise MechanismError(
            f"joint {joint.name} of {robot.name} is {joint.kind}: written to SDF are {', '.join(KINDS)}"
        )
    if joint.kind == "free":
        return
    element = ET.SubElement(model, "joint", name=name_of(joint.name), type=KINDS[joint.kind])
    parent = robot.parent[body]
    element.append(_pose(robot.X_PJ[body], name_of(robot.bodies[parent]) if parent else "__model__"))
    ET.SubElement(element, "parent").text = name_of(robot.bodies[parent]) if parent else "world"
    ET.SubElement(element, "child").text = name_of(robot.bodies[body])
    if joint.kind == "helical":
        _words(element, {"screw_thread_pitch": 2 * np.pi * kind.pitch})
    for rate, axis in enumerate(
        a for a in (getattr(kind, "axis", None), getattr(kind, "axis2", None)) if a is not None
    ):
        _axis(robot, body - 1, rate, axis, ET.SubElement(element, "axis2" if rate else "axis"))


def _axis(robot: Tables, place: int, rate: int, axis: Any, element: ET.Element) -> None:
    joint = robot.joints[place]
    _words(element, {"xyz": axis})
    if joint.mimics:
        source = next(j for j in robot.joints if j.v_slice == joint.v_slice and not j.mimics)
        mimic = ET.SubElement(element, "mimic", joint=name_of(source.name))
        _words(mimic, {"multiplier": joint.ratio, "offset": joint.offset, "reference": 0.0})
    ends = (joint.limits.lower, joint.limits.upper, joint.effort_limit, joint.velocity_limit)
    limits = [float(np.clip(x[rate], -FAR, FAR)) for x in ends]
    _words(ET.SubElement(element, "limit"), dict(zip(("lower", "upper", "effort", "velocity"), limits, strict=True)))
    own = [r.force for r in robot.forces if isinstance(r, JointRow) and (r.joint, r.rate) == (place, rate)]
    loss, springs = [f for f in own if isinstance(f, Friction)], [f for f in own if isinstance(f, JointSpring)]
    values = {"damping": sum(f.viscous for f in loss) + sum(f.damping for f in springs)}
    values["friction"] = sum(f.coulomb for f in loss)
    if springs:
        values |= {"spring_stiffness": springs[0].stiffness, "spring_reference": springs[0].rest}
    _words(ET.SubElement(element, "dynamics"), values)
