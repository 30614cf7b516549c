"""Robots of links, as plain data for the page: what a URDF file draws, and sticks where it has nothing that is found."""

from collections.abc import Iterator
from typing import Any

from modurob.robot import Mechanism
from modurob.viewer import drawing, scene
from modurob.viewer.guides import guides
from modurob.viewer.links import piece, sticks
from modurob.viewer.meshes import found

NO_MODULES = "Robots of links have no modules, so no grid, matrices or ports."


def parts(mechanism: Mechanism) -> dict[str, Any]:
    """Links in place of modules; nothing to dock."""
    names = [name for name in mechanism.frames if name != "world"]
    return {
        "made_of": "links",
        "key": "",
        "types": [],
        "modules": [_link(mechanism, name) for name in names],
        "connections": [],
        "shapes": list(_shapes(mechanism, names)),
        "meshes": drawing.meshes_of(mechanism.shapes),
        "guides": guides(mechanism, scene.unheld(mechanism)),
        "ports": [],
        "frames": [drawing.frame(mechanism, name) for name in names],
        "views": None,
        "grid": {"cells": [], "problem": NO_MODULES},
    }


def _link(mechanism: Mechanism, name: str) -> dict[str, Any]:
    body = mechanism.frames[name].body
    joint = mechanism.joints[body - 1].name if body else "the world"
    return {"name": name, "kind": f"link, on {joint}", "letter": "", "parameters": [], "joints": []}


def _shapes(mechanism: Mechanism, names: list[str]) -> Iterator[dict[str, Any]]:
    """The shapes of the file; for bodies that have none, or meshes that are not here, sticks to the joints they carry."""
    drawn = {shape.frame.body for shape in mechanism.shapes if found(shape)}
    first = {mechanism.frames[name].body: i for i, name in reversed(list(enumerate(names)))}
    for shape in filter(found, mechanism.shapes):
        body = shape.frame.body
        own = drawing.of(shape) if shape.kind == "mesh" else piece(shape.kind, shape.size, shape.in_body, body)
        yield {"module": first.get(body, 0), "body": body, **own}
    for body, stick in sticks(mechanism, sorted(first.keys() - drawn)):
        yield {"module": first[body], "body": body, **stick}
