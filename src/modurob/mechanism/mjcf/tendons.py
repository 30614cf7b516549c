"""Lines and springs between points as spatial tendons of MuJoCo, couplings as fixed ones, given tensions as their actuators."""

from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from modurob.catalogue.forces import Spring
from modurob.catalogue.lines import Elastic, Pulley, Tension
from modurob.catalogue.lines.route import Point
from modurob.errors import MjcfError
from modurob.mechanism.mjcf.geoms import placed
from modurob.mechanism.mjcf.parts import leading, parts_of
from modurob.mechanism.tables import Coupling, Frame, FrameRow, JointRow, LineRow, Tables
from modurob.mechanism.xml_text import numbers
from modurob.spatial import se3
from modurob.spatial.scalars import Array


def tendons(m: Tables, elements: Mapping[int, ET.Element]) -> tuple[ET.Element, ET.Element]:
    """The sections <tendon> and <actuator> of lines, springs and couplings."""
    section, actuators = ET.Element("tendon"), ET.Element("actuator")
    for c in m.constraints:
        if isinstance(c, Coupling):
            _fixed(m, c, section)
    for row in m.forces:
        if isinstance(row, JointRow):
            continue
        nodes, law = _route(m, row)
        tendon = ET.SubElement(section, "spatial", {"name": row.name, **_law(m, row.name, law)})
        for k, (frame, node) in enumerate(nodes):
            _node(tendon, f"{row.name} {k}", frame, node, elements, lambda k=k, nodes=nodes: _beside(m, nodes, k))
        if isinstance(law, Tension):
            own = {"gainprm": "-1", "biastype": "affine", "biasprm": numbers([-law.tension, 0, 0])}
            ET.SubElement(actuators, "general", {"name": row.name, "tendon": row.name, **own})
    return section, actuators


def _fixed(m: Tables, c: Coupling, section: ET.Element) -> None:
    tendon = ET.SubElement(section, "fixed", name=c.name)
    for joint, ratio in zip(c.joints, c.ratios, strict=True):
        ET.SubElement(tendon, "joint", joint=leading(parts_of(m, joint + 1)).name, coef=numbers([ratio]))


def _route(m: Tables, row: Any) -> tuple[list[tuple[Frame, Any]], Any]:
    """Frames and nodes of a line or a spring, and its law."""
    if isinstance(row, FrameRow) and isinstance(row.force, Spring):
        return [(row.a, Point()), (row.b, Point())], row.force
    if isinstance(row, LineRow):
        for node in row.force.nodes:
            if node.drum or not isinstance(node, Point | Pulley):
                raise _none(m, row.name, f"runs over a {'winch' if node.drum else node.kind}")
        return list(zip(row.frames, row.force.nodes, strict=True)), row.force.law
    raise _none(m, row.name, f"is a {row.force.kind}")


def _none(m: Tables, name: str, why: str) -> MjcfError:
    return MjcfError(
        f"force {name!r} of {m.name} {why}, which MuJoCo's tendons do not have: leave it out with robot.without_forces({name!r})"
    )


def _law(m: Tables, name: str, law: Any) -> dict[str, str]:
    if isinstance(law, Tension):
        return {}
    cable = isinstance(law, Elastic)
    if cable and law.unilateral and law.damping:
        raise _none(m, name, "is a cable with damping that acts while it is taut alone")
    per = law.rest if cable else 1.0
    slack = 0.0 if cable and law.unilateral else law.rest
    found = {"stiffness": [law.stiffness / per], "damping": [law.damping / per], "springlength": [slack, law.rest]}
    return {name: numbers(x) for name, x in found.items()}


def _node(
    tendon: ET.Element, name: str, frame: Frame, node: Any, elements: Mapping[int, ET.Element], beside: Any
) -> None:
    body, at = elements[frame.body], placed(frame.X)
    if not isinstance(node, Pulley):
        ET.SubElement(body, "site", {"name": name, "group": "4", **at})
        ET.SubElement(tendon, "site", site=name)
        return
    own = {"type": "cylinder", "size": numbers([node.radius, 0.01]), "group": "4", "contype": "0", "conaffinity": "0"}
    ET.SubElement(body, "geom", {"name": name, **own, **at})
    ET.SubElement(body, "site", name=f"{name} side", group="4", pos=numbers((frame.X @ beside())[:3]))
    ET.SubElement(tendon, "geom", geom=name, sidesite=f"{name} side")


def _beside(m: Tables, nodes: list[tuple[Frame, Any]], k: int) -> Array:
    """A point beside pulley k, where the line passes it with all joints at zero, in the pulley's frame, (4,)."""
    poses = list(_standing(m))
    X = [poses[frame.body] @ frame.X for frame, _ in nodes]
    a, b = (se3.position(se3.inverse(X[k]) @ X[n])[:2] for n in (k - 1, k + 1))
    along = (b - a) / np.hypot(*(b - a))
    reach = 3 * nodes[k][1].radius * nodes[k][1].side
    return np.array([reach * along[1], -reach * along[0], 0.0, 1.0])


def _standing(m: Tables) -> Iterator[Array]:
    """Poses of the bodies with all joints at zero."""
    poses = [se3.IDENTITY]
    for i, joint in enumerate(m.joints, start=1):
        poses.append(poses[m.parent[i]] @ m.X_PJ[i] @ joint.type.pose(joint.type.neutral()))
    yield from poses
