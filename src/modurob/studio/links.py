"""Robots of links, as plain data for the page: what a URDF file draws, and sticks where it has meshes only."""

from collections.abc import Iterator
from typing import Any

from modurob.robot import Mechanism
from modurob.viewer import drawing
from modurob.viewer.links import piece, sticks

NO_MODULES = "Robots of links have no modules, so no grid, matrices or ports."


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
        yield {"module": first.get(body, 0), "body": body, **piece(shape.kind, shape.size, shape.in_body, body)}
    for body, stick in sticks(mechanism, sorted(first.keys() - drawn)):
        yield {"module": first[body], "body": body, **stick}
