"""What is drawn, as plain data for the page: poses, shapes, colours."""

import base64
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from modurob import kernels
from modurob.algorithms import line_tensions
from modurob.mechanism import Shape, Tables
from modurob.spatial.scalars import Array
from modurob.viewer import meshes

GREY = "#bfbfbf"
_COLOUR = re.compile(r"#[0-9a-fA-F]{3}([0-9a-fA-F]{3})?|[a-z]{3,24}")


def rows(X: Array) -> list[float]:
    """The first three rows of a pose, row by row."""
    return [round(float(x), 7) for x in X[:3].ravel()]


def frame(mechanism: Tables, name: str) -> dict[str, Any]:
    """A named frame on its body."""
    found = mechanism.frames[name]
    return {"name": name, "body": found.body, "X": rows(found.X)}


def tensions(robot: Tables, q: Array, v: Array | None = None) -> list[float]:
    """What each line pulls with [N]; what is no number is none."""
    found = line_tensions(robot, q, np.zeros(robot.nv) if v is None else v, kernels.run)
    return [round(float(T), 6) if np.isfinite(T) else 0.0 for T in found]


def drawn(kind: str, size: Sequence[float], X: Array, text: str) -> dict[str, Any]:
    """A box, cylinder or sphere at X, in its colour."""
    return {"kind": kind, "size": [round(float(x), 7) for x in size], "X": rows(X), "colour": colour(text)}


def of(shape: Shape) -> dict[str, Any]:
    """A shape of a robot on its body; a mesh as the box around it, with the name of its triangles."""
    if shape.kind != "mesh":
        return drawn(shape.kind, shape.size, shape.in_body, shape.colour)
    ((_, mesh),) = meshes.drawn([shape])
    own = drawn("mesh", mesh.edges, mesh.placed(shape), mesh.colour or shape.colour)
    return {**own, "mesh": name_of(shape)}


def meshes_of(shapes: Iterable[Shape]) -> dict[str, dict[str, str]]:
    """Points and faces of the meshes that can be drawn, by name."""
    return {
        name_of(shape): {"points": _text(mesh.points, "<f4"), "faces": _text(mesh.faces, "<u4")}
        for shape, mesh in meshes.drawn(shapes)
    }


def name_of(shape: Shape) -> str:
    """What the triangles of a mesh are called."""
    return f"{shape.file} {shape.size}"


def _text(x: Array, kind: str) -> str:
    return base64.b64encode(x.astype(kind).tobytes()).decode()


def colour(text: str) -> str:
    """As the web writes it: 0.35 is a grey; what is no colour is a grey too."""
    try:
        level = float(text)
    except ValueError:
        return text if _COLOUR.fullmatch(text) else GREY
    if not math.isfinite(level):
        return GREY
    return "#" + 3 * f"{round(255 * min(max(level, 0.0), 1.0)):02x}"
