"""Robots of links, as plain data for the page: what a URDF file draws, and sticks where it has meshes only."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from modurob.robot import Mechanism
from modurob.spatial import inertia, se3, so3
from modurob.spatial.scalars import Array
from modurob.studio import drawing

THICK = 0.07  # radius of a stick, as part of the usual distance between joints
NO_MODULES = "Robots of links have no modules, so no grid, matrices or ports."
COLOURS = ("#4a79ac", "#e0a04c")


def parts(mechanism: Mechanism, meshes: bool) -> dict[str, Any]:
    """Links in place of modules; nothing to dock. `meshes`: whether the file draws with meshes, which are not read."""
    names = [name for name in mechanism.frames if name != "world"]
    return {
        "made_of": "links",
        "key": "",
        "types": [],
        "modules": [_link(mechanism, name) for name in names],
        "connections": [],
        "shapes": list(_shapes(mechanism, names, meshes)),
        "ports": [],
        "frames": [drawing.frame(mechanism, name) for name in names],
        "views": None,
        "grid": {"cells": [], "problem": NO_MODULES},
    }


def _link(mechanism: Mechanism, name: str) -> dict[str, Any]:
    body = mechanism.frames[name].body
    joint = mechanism.joints[body - 1].name if body else "the world"
    return {"name": name, "kind": f"link, on {joint}", "letter": "", "parameters": [], "joints": []}


def _shapes(mechanism: Mechanism, names: list[str], meshes: bool) -> Iterator[dict[str, Any]]:
    """The shapes of the file; for bodies that have none, or meshes, a ball and sticks to the joints they carry."""
    drawn = set() if meshes else {shape.frame.body for shape in mechanism.shapes}
    first = {mechanism.frames[name].body: i for i, name in reversed(list(enumerate(names)))}
    for shape in mechanism.shapes:
        body = shape.frame.body
        yield {"module": first.get(body, 0), "body": body, **_piece(shape.kind, shape.size, shape.in_body, body)}
    thick = THICK * _usual_length(mechanism)
    for body in sorted(first.keys() - drawn):
        for piece in _sticks(mechanism, body, thick):
            yield {"module": first[body], "body": body, **piece}


def _piece(kind: str, size: Any, X: Array, body: int) -> dict[str, Any]:
    return drawing.shape(kind, size, X, COLOURS[body % len(COLOURS)])


def _ends(mechanism: Mechanism, body: int) -> list[Array]:
    """Where the joints are that a body carries, and its centre of mass if it carries none, in its frame."""
    carried = [se3.position(mechanism.X_PJ[i]) for i, parent in enumerate(mechanism.parent) if parent == body and i]
    spatial = mechanism.inertia[body]
    return carried or ([inertia.centre(spatial)] if inertia.mass(spatial) > 0 else [])


def _usual_length(mechanism: Mechanism) -> float:
    lengths = [np.linalg.norm(end) for body in range(1, len(mechanism.bodies)) for end in _ends(mechanism, body)]
    real = [length for length in lengths if length > 1e-6]
    return float(np.median(real)) if real else 0.2


def _sticks(mechanism: Mechanism, body: int, thick: float) -> Iterator[dict[str, Any]]:
    yield _piece("sphere", (1.5 * thick,), np.eye(4), body)
    for end in _ends(mechanism, body):
        length = float(np.linalg.norm(end))
        if length > thick:
            u, w = so3.perpendicular(end / length)
            turn = np.stack([u, w, end / length], axis=-1)
            yield _piece("cylinder", (thick, length), se3.pose(turn, end / 2), body)
