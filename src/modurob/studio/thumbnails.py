"""Robots of the start screen as the view reads them: shipped ones, and those that were saved."""

import json
from functools import cache

from starlette.responses import Response

from modurob.errors import StudioError
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array
from modurob.studio import opening
from modurob.studio.autosave import Autosave
from modurob.viewer import scene

MOST_SHAPES = 4000  # robots of more are not drawn small


def answer(autosave: Autosave | None, kind: str, name: str) -> Response:
    """The scene of a shipped robot, or of one that a session left."""
    if kind == "shipped" and name in opening.examples():
        return Response(_shipped(name), media_type="application/json")
    if kind == "recent" and autosave is not None:
        return Response(_scene(autosave.load(name).robot), media_type="application/json")
    raise StudioError(f"no picture of {kind} {name!r:.60}: expected a shipped or a recent robot")


@cache
def _shipped(name: str) -> str:
    assembly = opening.example(name)
    return _scene(assembly.robot(), assembly.initial_state()[0])


def _scene(robot: Mechanism, q: Array | None = None) -> str:
    if len(robot.shapes) > MOST_SHAPES:
        raise StudioError(f"{robot.name} has {len(robot.shapes)} shapes: at most {MOST_SHAPES} are drawn small")
    (chapter,) = scene.still(robot, q)
    return json.dumps(chapter.data(1.0))
