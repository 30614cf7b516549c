"""Robots and runs as GLB (glTF 2.0, Khronos), for Blender, PowerPoint, three.js and viewers of all kinds."""

import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from modurob.spatial import quaternion
from modurob.spatial.scalars import Array
from modurob.viewer import drawing, meshes
from modurob.viewer.scene import Chapter, design

ROUND = 32  # corners of a circle
FLOAT, INDEX = 5126, 5125
MINIMUM = {"VEC3": 3, "VEC4": 4, "SCALAR": 1}
# glTF's y is up, ours is z: the root turns by -90 degrees about x
UPRIGHT = [-(0.5**0.5), 0.0, 0.0, 0.5**0.5]


def glb(chapter: Chapter, fps: float = 30.0) -> bytes:
    """The file: a node for each body, shapes below it, and the motion of a run as an animation."""
    seen = chapter.sampled(fps)
    poses, file, shown = seen.poses(), _File(), design(chapter.robot)
    file.surfaces = {drawing.name_of(s): m.surface for s, m in meshes.drawn(chapter.robot.shapes)}
    for body in shown["bodies"]:
        file.nodes.append({"name": body["name"], "children": []})
    for shape in shown["shapes"]:
        file.nodes[shape["body"]]["children"].append(file.shape(shape))
    for i, node in enumerate(file.nodes[: len(shown["bodies"])]):
        node.update({k: v[0].tolist() for k, v in _motion(poses[:, i]).items()})
        if len(seen.t) > 1:
            file.move(i, seen.t - seen.t[0], _motion(poses[:, i]))
        if not node["children"]:
            del node["children"]
    return file.packed(shown["name"], list(range(len(shown["bodies"]))))


def _motion(X: Array) -> dict[str, Array]:
    """Translations (samples, 3) and rotations xyzw (samples, 4), without jumps from q to -q."""
    turns = np.roll(quaternion.from_matrix(X[:, :, :3]), -1, axis=-1)
    flips = np.cumprod(np.r_[1.0, np.where(np.sum(turns[1:] * turns[:-1], axis=-1) < 0, -1.0, 1.0)])
    return {"translation": X[:, :, 3], "rotation": turns * flips[:, None]}


class _File:
    """The parts of a file while it is written."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.meshes: list[dict[str, Any]] = []
        self.materials: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.views: list[dict[str, Any]] = []
        self.samplers: list[dict[str, Any]] = []
        self.channels: list[dict[str, Any]] = []
        self.blob = b""
        self._known: dict[Any, int] = {}
        self.surfaces: dict[str | None, tuple[Array, Array, Array]] = {}  # of meshes, by name

    def shape(self, shape: dict[str, Any]) -> int:
        """The node of a shape."""
        X = np.vstack([np.reshape(shape["X"], (3, 4)), [0, 0, 0, 1]])
        self.nodes.append({"mesh": self._mesh(shape), "matrix": X.T.ravel().tolist()})
        return len(self.nodes) - 1

    def move(self, node: int, t: Array, motion: dict[str, Array]) -> None:
        times = self._once(("t", t.tobytes()), lambda: self._accessor(t, "SCALAR"))
        for path, values in motion.items():
            kind = "VEC3" if path == "translation" else "VEC4"
            self.samplers.append({"input": times, "output": self._accessor(values, kind)})
            self.channels.append({"sampler": len(self.samplers) - 1, "target": {"node": node, "path": path}})

    def _once(self, key: Any, make: Any) -> int:
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    def _mesh(self, shape: dict[str, Any]) -> int:
        key = (shape["kind"], shape.get("mesh"), tuple(shape["size"]), shape["colour"])
        return self._once(key, lambda: self._new_mesh(shape))

    def _new_mesh(self, shape: dict[str, Any]) -> int:
        points, normals, faces = self.surfaces.get(shape.get("mesh")) or surface(shape["kind"], shape["size"])
        material = self._once(("colour", shape["colour"]), lambda: self._material(shape["colour"]))
        part = {
            "attributes": {"POSITION": self._accessor(points, "VEC3"), "NORMAL": self._accessor(normals, "VEC3")},
            "indices": self._accessor(faces.ravel(), "SCALAR", INDEX),
            "material": material,
        }
        self.meshes.append({"primitives": [part]})
        return len(self.meshes) - 1

    def _material(self, colour: str) -> int:
        from matplotlib.colors import to_rgb

        # glTF's factors are linear
        linear = [((c + 0.055) / 1.055) ** 2.4 if c > 0.04045 else c / 12.92 for c in to_rgb(colour)]
        look = {"baseColorFactor": [*linear, 1.0], "metallicFactor": 0.08, "roughnessFactor": 0.5}
        self.materials.append({"pbrMetallicRoughness": look})
        return len(self.materials) - 1

    def _accessor(self, values: Array, kind: str, number: int = FLOAT) -> int:
        array = np.asarray(values, "<f4" if number == FLOAT else "<u4").reshape(-1, MINIMUM[kind])
        self.views.append({"buffer": 0, "byteOffset": len(self.blob), "byteLength": array.nbytes})
        self.blob += array.tobytes()
        ends = {"min": array.min(axis=0).tolist(), "max": array.max(axis=0).tolist()}
        view = len(self.views) - 1
        self.accessors.append({"bufferView": view, "componentType": number, "count": len(array), "type": kind, **ends})
        return len(self.accessors) - 1

    def packed(self, name: str, roots: list[int]) -> bytes:
        """Header, JSON, numbers."""
        self.nodes.append({"name": name, "rotation": UPRIGHT, "children": roots})
        head: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "modurob"},
            "scene": 0,
            "scenes": [{"nodes": [len(self.nodes) - 1]}],
            "nodes": self.nodes,
            "buffers": [{"byteLength": len(self.blob)}],
        }
        lists = {
            "meshes": self.meshes,
            "materials": self.materials,
            "accessors": self.accessors,
            "bufferViews": self.views,
        }
        head |= {key: values for key, values in lists.items() if values}
        if self.channels:
            head["animations"] = [{"name": "run", "samplers": self.samplers, "channels": self.channels}]
        text = json.dumps(head).encode()
        text += b" " * (-len(text) % 4)
        chunks = (
            struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(self.blob), b"BIN\0") + self.blob
        )
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


# ---- surfaces ----


def surface(kind: str, size: Sequence[float]) -> tuple[Array, Array, Array]:
    """Points (n, 3), normals (n, 3) and triangles (m, 3), counter-clockwise from outside, of a box, cylinder or sphere."""
    return {"box": _box, "cylinder": _cylinder, "sphere": _sphere}[kind](*size)


def _box(*size: float) -> tuple[Array, Array, Array]:
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) / 2
    points, normals = [], []
    for axis in range(3):
        for side in (1, -1):
            face = np.full((4, 3), side / 2)
            face[:, [(axis + 1) % 3, (axis + 2) % 3]] = corners[::side]
            points.append(face * size)
            normals.append(np.tile(side * np.eye(3)[axis], (4, 1)))
    quads = 4 * np.arange(6)[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])
    return np.concatenate(points), np.concatenate(normals), quads.reshape(-1, 3)


def _grid(rows: int, columns: int) -> Array:
    """Triangles between the points of a grid, row by row, whose columns go around counter-clockwise and rows upwards."""
    i, j = np.meshgrid(np.arange(rows - 1), np.arange(columns - 1), indexing="ij")
    a = (i * columns + j).ravel()
    b, c, d = a + 1, a + columns + 1, a + columns
    return np.concatenate([np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)])


def _ring() -> Array:
    turns = np.linspace(0, 2 * np.pi, ROUND + 1)
    return np.stack([np.cos(turns), np.sin(turns), np.zeros(ROUND + 1)], axis=-1)


def _cylinder(radius: float, length: float) -> tuple[Array, Array, Array]:
    ring, up = _ring(), np.array([0, 0, length / 2])
    side = np.concatenate([radius * ring - up, radius * ring + up])
    fan = np.stack([np.zeros(ROUND - 1), np.arange(1, ROUND), np.arange(2, ROUND + 1)], axis=-1)
    n = len(side)
    points = np.concatenate([side, radius * ring + up, radius * ring - up])
    ends = np.concatenate([np.tile([0, 0, 1.0], (ROUND + 1, 1)), np.tile([0, 0, -1.0], (ROUND + 1, 1))])
    faces = np.concatenate([_grid(2, ROUND + 1), n + fan, n + ROUND + 1 + fan[:, ::-1]]).astype(int)
    return points, np.concatenate([ring, ring, ends]), faces


def _sphere(radius: float) -> tuple[Array, Array, Array]:
    heights = np.linspace(-np.pi / 2, np.pi / 2, ROUND // 2 + 1)
    normals = np.concatenate([np.cos(h) * _ring() + [0, 0, np.sin(h)] for h in heights])
    return radius * normals, normals, _grid(len(heights), ROUND + 1)
