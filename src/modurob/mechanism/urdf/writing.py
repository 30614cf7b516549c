"""A robot as a URDF file, for other tools: every body a link, every joint a joint, shapes as visuals."""

from xml.etree import ElementTree as ET

import numpy as np

from modurob.catalogue.forces import Friction, Stop
from modurob.catalogue.joints import Mimic
from modurob.errors import UrdfError
from modurob.mechanism.exports import EXPORTS, warn_of_losses
from modurob.mechanism.tables import Joint, JointRow, Shape, Tables
from modurob.mechanism.urdf.control import HARDWARE, control, plain_name
from modurob.mechanism.xml_text import document, numbers
from modurob.spatial import inertia, se3
from modurob.spatial.angles import fixed_angles
from modurob.spatial.scalars import Array

WRITTEN = ("revolute", "prismatic", "fixed")
# URDF must have an effort and a velocity limit where there is a limit at all
UNLIMITED = 1e9


@EXPORTS.register("urdf")
def urdf(robot: Tables, hardware: str | None = HARDWARE) -> str:
    """The text of a URDF file, with the interfaces of ros2_control if `hardware` names a plugin for them.

    Read back by `Mechanism.from_urdf`, with `floating=True` if the robot floats, it is the same robot.

    URDF has no rotor inertia, springs and lines: a warning names those that are left out. It has no loops: a robot with
    loops, or with joints other than hinges and slides, is refused.
    """
    if robot.constraints:
        raise UrdfError(f"URDF has no loops, this robot has {', '.join(c.name for c in robot.constraints)}")
    root = ET.Element("robot", name=robot.name)
    floats = bool(robot.joints) and robot.joints[0].kind == "free"
    links = range(1 if floats else 0, len(robot.bodies))
    for body in links:
        root.append(_link(robot, body))
    for body in links[1:]:
        root.append(_joint(robot, body))
    if hardware is not None and len(links) > 1:
        root.append(control(robot, hardware))
    warn_of_losses(robot, "URDF", (Friction, Stop))
    return document(root)


def _origin(X: Array) -> ET.Element:
    turns = fixed_angles("xyz", se3.rotation(X)).first
    return ET.Element("origin", xyz=numbers(se3.position(X)), rpy=numbers(turns))


def _link(robot: Tables, body: int) -> ET.Element:
    link = ET.Element("link", name=plain_name(robot.bodies[body]))
    spatial = robot.inertia[body]
    if inertia.mass(spatial) > 0:
        inertial = ET.SubElement(link, "inertial")
        inertial.append(_origin(se3.pose(None, inertia.centre(spatial))))
        ET.SubElement(inertial, "mass", value=numbers([inertia.mass(spatial)]))
        I = inertia.tensor(spatial)
        entries = {f"i{'xyz'[i]}{'xyz'[j]}": numbers([I[i, j]]) for i in range(3) for j in range(i, 3)}
        ET.SubElement(inertial, "inertia", entries)
    for tag, shapes in (("visual", robot.shapes), ("collision", robot.solids)):
        link.extend(_drawn(tag, shape, i) for i, shape in enumerate(shapes) if shape.frame.body == body)
    return link


def _drawn(tag: str, shape: Shape, number: int) -> ET.Element:
    visual = ET.Element(tag, name=f"shape_{number}")
    visual.append(_origin(shape.in_body))
    geometry = ET.SubElement(visual, "geometry")
    if shape.kind == "box":
        ET.SubElement(geometry, "box", size=numbers(shape.size))
    elif shape.kind in ("cylinder", "capsule"):
        radius, length = shape.size
        ET.SubElement(geometry, shape.kind, radius=numbers([radius]), length=numbers([length]))
    elif shape.kind == "mesh":
        ET.SubElement(geometry, "mesh", filename=shape.file, scale=numbers(shape.size))
    else:
        ET.SubElement(geometry, "sphere", radius=numbers(shape.size))
    return visual


def _joint(robot: Tables, body: int) -> ET.Element:
    joint = robot.joints[body - 1]
    if joint.kind not in WRITTEN:
        raise UrdfError(f"joint {joint.name} is {joint.kind}: written to URDF are {', '.join(WRITTEN)}")
    limited = joint.kind == "prismatic" or bool(np.isfinite([*joint.limits.lower, *joint.limits.upper]).all())
    element = ET.Element("joint", name=plain_name(joint.name), type=joint.kind if limited else "continuous")
    element.append(_origin(robot.X_PJ[body]))
    ET.SubElement(element, "parent", link=plain_name(robot.bodies[robot.parent[body]]))
    ET.SubElement(element, "child", link=plain_name(robot.bodies[body]))
    if joint.kind != "fixed":
        kind = joint.type.follower if isinstance(joint.type, Mimic) else joint.type
        ET.SubElement(element, "axis", xyz=numbers(kind.axis))  # type: ignore[attr-defined]
        element.append(_limit(joint))
        viscous, coulomb = _losses(robot, body - 1)
        ET.SubElement(element, "dynamics", damping=numbers([viscous]), friction=numbers([coulomb]))
    if joint.mimics:
        source = next(j for j in robot.joints if j.v_slice == joint.v_slice and not j.mimics)
        ratio, offset = numbers([joint.ratio]), numbers([joint.offset])
        ET.SubElement(element, "mimic", joint=plain_name(source.name), multiplier=ratio, offset=offset)
    return element


def _losses(robot: Tables, joint: int) -> tuple[float, float]:
    """Viscous and Coulomb friction of a joint."""
    forces = [row.force for row in robot.forces if isinstance(row, JointRow) and row.joint == joint]
    own = [force for force in forces if isinstance(force, Friction)]
    return sum(f.viscous for f in own), sum(f.coulomb for f in own)


def _limit(joint: Joint) -> ET.Element:
    low, high, velocity, effort = (
        np.clip(x, -UNLIMITED, UNLIMITED) for x in (*joint.limits, joint.velocity_limit, joint.effort_limit)
    )
    ends = {"lower": low, "upper": high, "velocity": velocity, "effort": effort}
    return ET.Element("limit", {name: numbers(x) for name, x in ends.items()})
