"""A robot as a file of MuJoCo: bodies nested, joints, loops as equalities, lines as tendons, drives as motors, shapes as geoms."""

from xml.etree import ElementTree as ET

import numpy as np

from modurob.errors import MjcfError
from modurob.mechanism.exports import EXPORTS
from modurob.mechanism.mjcf.constraints import equalities
from modurob.mechanism.mjcf.geoms import Assets, geoms, placed
from modurob.mechanism.mjcf.losses import attributes
from modurob.mechanism.mjcf.parts import Part, parts_of
from modurob.mechanism.mjcf.sharing import shared
from modurob.mechanism.mjcf.tendons import tendons
from modurob.mechanism.tables import Tables
from modurob.mechanism.xml_text import document, numbers
from modurob.spatial import inertia
from modurob.spatial.scalars import Array

# what MuJoCo takes as mass or moment of a body that moves [kg, kg m²]: its own bound is 1e-14
SMALLEST = 1e-13


@EXPORTS.register("xml")
@EXPORTS.register("mjcf")
def mjcf(m: Tables, shapes: bool = True) -> str:
    """The text of an MJCF file, for MuJoCo; read back it is the same robot. What MuJoCo does not have is refused by name."""
    if any(x.dtype == object for x in (m.inertia, m.X_PJ, m.gravity, *(frame.X for frame in m.frames.values()))):
        raise MjcfError(f"{m.name} has symbols for numbers: give them values to write it for MuJoCo")
    m = shared(m)
    root, assets = ET.Element("mujoco", model=m.name), Assets(m)
    # masses are those of the robot, whatever its shapes are
    ET.SubElement(root, "compiler", angle="radian", inertiafromgeom="false", autolimits="false")
    ET.SubElement(root, "option", gravity=numbers(m.gravity))
    world = ET.SubElement(root, "worldbody")
    elements = _bodies(m, world)
    if shapes:
        geoms(m, elements, assets)
        root[2:2] = [assets.element] if len(assets.element) else []
    _sites(m, elements)
    for section in (equalities(m, elements), *tendons(m, elements), _motors(m), _sensors(m)):
        if len(section):
            _into(root, section)
    return document(root)


def _into(root: ET.Element, section: ET.Element) -> None:
    """A section, with those of the same name as one."""
    known = root.find(section.tag)
    if known is None:
        root.append(section)
    else:
        known.extend(section)


# ---- bodies ----


def _bodies(m: Tables, world: ET.Element) -> dict[int, ET.Element]:
    """The elements of the bodies by number, each inside its parent's."""
    elements = {0: world}
    for i in range(1, len(m.bodies)):
        element = ET.SubElement(elements[m.parent[i]], "body", {"name": m.bodies[i], **placed(m.X_PJ[i])})
        element.append(_inertial(m, i))
        element.extend([_joint(m, i, part) for part in parts_of(m, i)])
        elements[i] = element
    return elements


def _inertial(m: Tables, i: int) -> ET.Element:
    own = m.inertia[i]
    complaints = inertia.complaints(own)
    if not own.any() and i not in m.parent:
        complaints = ["no mass, and nothing beyond it"]
    if complaints:
        raise MjcfError(f"body {m.bodies[i]!r} of {m.name}: {'; '.join(complaints)}: MuJoCo moves no such body")
    T = _extended(inertia.tensor(own))
    entries = [T[0, 0], T[1, 1], T[2, 2], T[0, 1], T[0, 2], T[1, 2]]
    centre = inertia.centre(own) if inertia.mass(own) else np.zeros(3)
    mass = max(float(inertia.mass(own)), SMALLEST)
    return ET.Element("inertial", pos=numbers(centre), mass=numbers([mass]), fullinertia=numbers(entries))


def _extended(T: Array) -> Array:
    """A tensor with moments that MuJoCo takes: those of points and rods are raised to less than rounding shows."""
    moments, axes = np.linalg.eigh(T)
    least = max(SMALLEST, 1e-12 * moments[2])
    return T if moments[0] >= least else axes @ np.diag(np.maximum(moments, least)) @ axes.T


def _joint(m: Tables, i: int, part: Part) -> ET.Element:
    element = ET.Element("joint", {"name": part.name, "type": part.kind, **attributes(m, i, part)})
    if part.axis:
        element.set("axis", numbers(part.axis))
    return element


def _sites(m: Tables, elements: dict[int, ET.Element]) -> None:
    """Frames that are not those of bodies, as sites."""
    for name, frame in m.frames.items():
        if name not in m.bodies or not np.array_equal(frame.X, np.eye(4)):
            ET.SubElement(elements[frame.body], "site", {"name": name, "group": "4", **placed(frame.X)})


# ---- drives and sensors ----


def _motors(m: Tables) -> ET.Element:
    """A motor for each rate that has a drive: its control is the torque or force."""
    section = ET.Element("actuator")
    for i, joint in enumerate(m.joints, start=1):
        if joint.mimics or joint.kind == "free":
            continue
        for part in parts_of(m, i)[-joint.type.nv :]:
            wide = 3 if part.kind == "ball" else 1
            for k in range(wide):
                _motor(section, part, joint.effort_limit[part.at + k], "" if wide == 1 else f" {'xyz'[k]}", k)
    return section


def _motor(section: ET.Element, part: Part, effort: float, label: str, k: int) -> None:
    if effort:
        own = {"ctrlrange": numbers([-effort, effort]), "ctrllimited": "true"} if np.isfinite(effort) else {}
        gear = numbers(np.eye(6)[k])
        ET.SubElement(section, "motor", {"name": f"{part.name}{label}", "joint": part.name, "gear": gear, **own})


SENSORS = {"hinge": ("jointpos", "jointvel"), "ball": ("ballquat", "ballangvel")}
SENSORS["slide"] = SENSORS["hinge"]


def _sensors(m: Tables) -> ET.Element:
    """Coordinates and rates of all joints; pose and velocity of what is free."""
    section = ET.Element("sensor")
    for i in range(1, len(m.bodies)):
        for part in parts_of(m, i):
            for tag in SENSORS.get(part.kind, ()):
                ET.SubElement(section, tag, name=f"{part.name} {tag}", joint=part.name)
            for tag in ("framepos", "framequat", "framelinvel", "frameangvel") if part.kind == "free" else ():
                ET.SubElement(section, tag, name=f"{part.name} {tag}", objtype="xbody", objname=m.bodies[i])
    return section
