"""Runs side by side on one ground: each in a lane of its own, turned so that all go the same way."""

import base64
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array
from modurob.viewer.scene import Chapter, design

APART = 0.25  # between lanes, as part of the widest robot
STILL = 0.05  # [m]: what moves less far goes nowhere
UP = np.array([0.0, 0.0, 1.0])


class Lanes:
    """A chapter of a film in which several robots move at once, with what pages and films ask a chapter for."""

    number = 0

    def __init__(self, chapters: Sequence[Chapter], name: str = "race"):
        self.chapters = tuple(chapters)
        self.t = max((c.t - c.t[0] for c in chapters), key=lambda t: t[-1])
        self.robot = SimpleNamespace(name=name, bodies=[b for c in chapters for b in c.robot.bodies])

    def data(self, fps: float) -> dict[str, Any]:
        """For the page: all robots as one, the times, and the poses as 32-bit floats."""
        t = np.arange(self.t[0], self.t[-1] + 0.5 / fps, 1 / fps)
        parts = [_sampled(chapter, t) for chapter in self.chapters]
        poses = np.concatenate(self._placed(parts), axis=1)
        return {
            "design": {**self._design(), "number": self.number},
            "t": [round(float(x), 6) for x in t],
            "poses": base64.b64encode(poses[:, :, :3].astype("<f4").tobytes()).decode(),
        }

    def _placed(self, parts: list[Array]) -> list[Array]:
        """X_WB of each robot, turned to go along x from x = 0, one lane beside the other along y, on one height."""
        turned = [_ahead(X) for X in parts]
        ends = [
            (X[:, 1:, 1, 3].min() - _size(c), X[:, 1:, 1, 3].max() + _size(c))
            for X, c in zip(turned, self.chapters, strict=True)
        ]
        gap = APART * max(high - low for low, high in ends)
        at, out = 0.0, []
        for X, (low, high), chapter in zip(turned, ends, self.chapters, strict=True):
            out.append(se3.pose(None, np.array([0.0, at - low, -_height(chapter)])) @ X)
            at += high - low + gap
        return out

    def _design(self) -> dict[str, Any]:
        """All robots as one, as the view reads it: the world of each is a body that stands still."""
        whole: dict[str, Any] = {}
        bodies = 0
        for chapter in self.chapters:
            own = design(chapter.robot)
            whole.setdefault("floor", own["floor"] and {"height": 0.0, "slope": own["floor"]["slope"]})
            for key in ("bodies", "modules", "shapes", "cables", "guides", "frames"):
                whole.setdefault(key, []).extend(_moved(x, bodies) for x in own[key])
            whole.setdefault("meshes", {}).update(own["meshes"])
            bodies += len(chapter.robot.bodies)
        return {"name": self.robot.name, "floating": True, "ports": [], **whole}


def _moved(part: dict[str, Any], by: int) -> dict[str, Any]:
    """A part of a design whose bodies are counted from `by` on."""
    places = {"places": [{**p, "body": p["body"] + by} for p in part["places"]]} if "places" in part else {}
    return {**part, **{key: part[key] + by for key in ("body", "module", "parent") if key in part}, **places}


def _sampled(chapter: Chapter, t: Array) -> Array:
    """X_WB at these times, (samples, bodies, 4, 4); what has ended stays where it is."""
    rows = np.clip(np.searchsorted(chapter.t - chapter.t[0], t - t[0] + 1e-9, side="right") - 1, 0, len(chapter.t) - 1)
    X = np.zeros((len(t), len(chapter.robot.bodies), 4, 4))
    X[..., 3, 3] = 1.0
    X[:, :, :3] = Chapter(chapter.robot, chapter.t[rows], chapter.q[rows]).poses()
    return X


def way(X: Array) -> Array:
    """How far the middle of a robot went in the plane, (2,) [m], of its poses, (samples, bodies, 4, 4)."""
    middle = X[:, 1:, :2, 3].mean(axis=1)
    return middle[-1] - middle[0]


def _ahead(X: Array) -> Array:
    """The poses turned about z so that the robot goes along x, and moved so that it starts at the origin of the plane."""
    gone = way(X)
    heading = np.arctan2(gone[1], gone[0]) if np.linalg.norm(gone) > STILL else np.zeros(())
    start = np.append(X[0, 1:, :2, 3].mean(axis=0), 0.0)
    return se3.pose(so3.about(UP, -heading)) @ se3.pose(None, -start) @ X


def _size(chapter: Chapter) -> float:
    return max((max(s.size) for s in chapter.robot.shapes if s.kind != "mesh"), default=0.1)


def _height(chapter: Chapter) -> float:
    floor = design(chapter.robot)["floor"]
    return floor["height"] if floor else 0.0
