"""The collision geometry of a URDF file: boxes, cylinders, spheres, capsules and meshes on links."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modurob.errors import UrdfError
from modurob.spatial import angles, se3
from modurob.spatial.scalars import Array

# attributes of each kind, in the order of its size
SIZES = {
    "box": ("size",),
    "cylinder": ("radius", "length"),
    "sphere": ("radius",),
    "capsule": ("radius", "length"),
    "mesh": ("scale",),
}


class CollisionShape(NamedTuple):
    """A shape at X in the frame of its link; `file` of a mesh."""

    kind: str
    size: tuple[float, ...]
    X: Array
    file: str


def collision_shapes(tree: Any, path: Path) -> dict[str, list[CollisionShape]]:
    """What each link collides with, by its name."""
    found: dict[str, list[CollisionShape]] = {}
    for link in tree.findall("link"):
        shapes = [_shape(c, link, path) for c in link.findall("collision")]
        found[link.get("name")] = [s for s in shapes if s is not None]
    return found


def _shape(collision: Any, link: Any, path: Path) -> CollisionShape | None:
    geometry = collision.find("geometry")
    kinds = [e for e in (geometry if geometry is not None else ()) if isinstance(e.tag, str)]
    if not kinds:
        return None
    element = kinds[0]
    where = f"{path.name}, line {element.sourceline}: <collision> of link {link.get('name')!r}"
    if element.tag not in SIZES:
        raise UrdfError(f"{where} has <{element.tag}>: expected one of {', '.join(SIZES)}")
    missing = "1 1 1" if element.tag == "mesh" else ""
    texts = [x for name in SIZES[element.tag] for x in element.get(name, missing).split()]
    try:
        size = tuple(float(x) for x in texts)
    except ValueError:
        size = ()
    if len(size) != (3 if element.tag in ("box", "mesh") else len(SIZES[element.tag])) or not np.all(np.isfinite(size)):
        raise UrdfError(
            f"{where}: <{element.tag}> of size {' '.join(texts)!r}: expected numbers for {', '.join(SIZES[element.tag])}"
        )
    return CollisionShape(element.tag, size, _pose(collision), located(element.get("filename", ""), path))


def _pose(collision: Any) -> Array:
    origin = collision.find("origin")
    if origin is None:
        return se3.IDENTITY
    xyz, rpy = ([float(x) for x in origin.get(name, "0 0 0").split()] for name in ("xyz", "rpy"))
    return se3.pose(angles.fixed("xyz", np.array(rpy)), np.array(xyz))


def located(name: str, path: Path) -> str:
    """The file of a mesh: package://name/rest is searched for around the URDF file and in ROS_PACKAGE_PATH.

    A name that is not found stays unchanged: only a function that needs the mesh fails.
    """
    if not name or "://" not in name:
        return str((path.parent / name).resolve()) if name else ""
    scheme, rest = name.split("://", 1)
    if scheme == "file":
        return rest
    package, _, inside = rest.partition("/")
    roots = [*path.resolve().parents, *map(Path, filter(None, os.environ.get("ROS_PACKAGE_PATH", "").split(":")))]
    options = [root / inside for root in roots if root.name == package] + [root / package / inside for root in roots]
    return str(next((x for x in options if x.is_file()), name))
