"""Shapes as geoms of MuJoCo: what is only drawn in group 2, what only collides in group 3, what is both in group 0."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from modurob.errors import MjcfError
from modurob.mechanism.tables import Shape, Tables
from modurob.mechanism.xml_text import numbers
from modurob.spatial import quaternion, se3
from modurob.spatial.scalars import Array

# what MuJoCo reads meshes from
MESHES = (".stl", ".obj", ".msh")
# robots meet what has contype 1, such as a plane by default, and not themselves
DRAWN = {"group": "2", "contype": "0", "conaffinity": "0"}
BOTH = {"group": "0", "contype": "0", "conaffinity": "1"}
COLLIDING = {"group": "3", "contype": "0", "conaffinity": "1"}


def placed(X: Array) -> dict[str, str]:
    """A pose as attributes."""
    return {"pos": numbers(se3.position(X)), "quat": numbers(quaternion.from_matrix(se3.rotation(X)))}


class Assets:
    """The meshes of a file, each once."""

    def __init__(self, m: Tables):
        self.element, self._robot, self._known = ET.Element("asset"), m.name, dict[tuple[Any, ...], str]()

    def mesh(self, shape: Shape) -> str:
        """The name of a shape's mesh."""
        key = (shape.file, tuple(shape.size))
        if key not in self._known:
            if Path(shape.file).suffix.lower() not in MESHES or not Path(shape.file).is_file():
                raise MjcfError(
                    f"mesh {shape.file!r} of {self._robot}: expected a file that is there, {', '.join(MESHES)} for MuJoCo; "
                    "mr.mjcf(robot, shapes=False) leaves shapes out"
                )
            self._known[key] = f"mesh {len(self._known)}"
            scale = numbers(shape.size)
            ET.SubElement(self.element, "mesh", name=self._known[key], file=shape.file, scale=scale, inertia="convex")
        return self._known[key]


def geoms(m: Tables, elements: Mapping[int, ET.Element], assets: Assets) -> None:
    """Put all shapes on their bodies."""
    drawn = [s for s in m.shapes if s.kind != "mesh"]  # of what is only drawn, MuJoCo reads few kinds of files
    for role, shapes in ((DRAWN if m.collisions else BOTH, drawn), (COLLIDING, m.collisions)):
        for shape in shapes:
            elements[shape.frame.body].append(_geom(shape, role, assets))


def _geom(shape: Shape, role: Mapping[str, str], assets: Assets) -> ET.Element:
    at = placed(shape.in_body)
    if shape.kind == "mesh":
        return ET.Element("geom", {"type": "mesh", "mesh": assets.mesh(shape), **at, **role})
    # half edges and half lengths
    halves = {"box": [x / 2 for x in shape.size], "sphere": shape.size}
    size = halves.get(shape.kind) or (shape.size[0], shape.size[1] / 2)
    return ET.Element("geom", {"type": shape.kind, "size": numbers(size), **at, **role})
