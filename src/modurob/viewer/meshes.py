"""Triangles of mesh files (STL, OBJ, DAE, GLB), read by trimesh, as the page and other formats take them."""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modurob.errors import warn_user
from modurob.mechanism import Shape
from modurob.spatial import se3
from modurob.spatial.scalars import Array

MOST = 30_000  # triangles of a mesh that is drawn; finer ones are drawn coarser
CELLS = 96  # along the longest edge of one that is drawn coarser


class Triangles(NamedTuple):
    """Points (n, 3) [m] about the middle of the box around them, faces (m, 3), the edges of that box, where its middle is, and a
    colour of the file's own, or none."""

    points: Array
    faces: Array
    edges: tuple[float, ...]
    middle: Array
    colour: str = ""

    def placed(self, shape: Shape) -> Array:
        """Where the middle of the mesh is in its body, (4, 4)."""
        return shape.in_body @ se3.pose(None, self.middle)

    @property
    def surface(self) -> tuple[Array, Array, Array]:
        """Points, normals and faces."""
        return self.points, self._normals(), self.faces

    def _normals(self) -> Array:
        """Of the points, (n, 3): the sum of those of the faces around, by their areas."""
        a, b, c = (self.points[self.faces[:, k]] for k in range(3))
        out = np.zeros_like(self.points)
        for k in range(3):
            np.add.at(out, self.faces[:, k], np.cross(b - a, c - a))
        return out / np.maximum(np.linalg.norm(out, axis=-1, keepdims=True), 1e-30)


@lru_cache(maxsize=256)
def triangles(file: str, scale: tuple[float, ...]) -> Triangles | str:
    """The triangles of a file, scaled along its axes; why there are none, if there are none."""
    if not Path(file).is_file():
        return f"{file}: there is no such file"
    try:
        mesh = _read(file)
        points, faces = _coarser(np.asarray(mesh.vertices) * scale, np.asarray(mesh.faces))
        low, high = points.min(axis=0), points.max(axis=0)
    except Exception as error:  # what a reader makes of a broken file is its own
        return f"{file}: cannot be read as a mesh: {error}"
    middle = (low + high) / 2
    edges = tuple(float(x) for x in np.maximum(high - low, 1e-6))
    return Triangles(points - middle, faces, edges, middle, _colour(mesh))


def _read(file: str) -> Any:
    import trimesh  # slow to import, and only robots with meshes need it

    return trimesh.load(file, force="mesh")


def _coarser(points: Array, faces: Array) -> tuple[Array, Array]:
    """A mesh with too many triangles with its points drawn together, cell by cell."""
    if len(faces) <= MOST:
        return points, faces
    low = points.min(axis=0)
    cell = float((points.max(axis=0) - low).max()) / CELLS
    _, kept, which = np.unique(
        np.floor((points - low) / cell).astype(int), axis=0, return_index=True, return_inverse=True
    )
    faces = which.ravel()[faces]
    a, b, c = faces.T
    return points[kept], faces[(a != b) & (b != c) & (c != a)]


def _colour(mesh: Any) -> str:
    colour = getattr(getattr(mesh, "visual", None), "main_color", None)
    return "" if colour is None or mesh.visual.kind is None else "#" + bytes(np.asarray(colour[:3], np.uint8)).hex()


def drawn(shapes: Iterable[Shape]) -> list[tuple[Shape, Triangles]]:
    """The meshes that can be drawn, with their triangles."""
    read = [(s, triangles(s.file, tuple(s.size))) for s in shapes if s.kind == "mesh"]
    return [(shape, mesh) for shape, mesh in read if isinstance(mesh, Triangles)]


def found(shape: Shape) -> bool:
    """Whether a shape can be drawn."""
    return shape.kind != "mesh" or bool(drawn([shape]))


def warn(name: str, shapes: Iterable[Shape]) -> None:
    """Say which meshes of a robot cannot be drawn."""
    wrong = {s.file: triangles(s.file, tuple(s.size)) for s in shapes if not found(s)}
    if wrong:
        first = "; ".join(str(why) for why in list(wrong.values())[:4]) + ("; …" if len(wrong) > 4 else "")
        warn_user(f"{name} is drawn without {len(wrong)} of its meshes: {first}")
