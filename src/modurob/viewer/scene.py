"""What is drawn of a robot, and how it moves: plain data that the page of the viewer and that of the studio read alike."""

import base64
from collections.abc import Iterator, Sequence
from itertools import count
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob import kernels
from modurob.algorithms import forward_kinematics, neutral
from modurob.catalogue.contact import Plane
from modurob.errors import InputError
from modurob.mechanism import FrameRow, LineRow, Tables
from modurob.spatial import inertia
from modurob.spatial.scalars import Array
from modurob.viewer import drawing, links, meshes
from modurob.viewer.guides import guides

CABLE, SPRING = "#334155", "#b45309"


class Chapter(NamedTuple):
    """One robot and how it moved: times (samples,) [s] and q (samples, nq) [rad or m]; another `number` is looked at anew."""

    robot: Tables
    t: Array
    q: Array
    number: int = 0

    def poses(self) -> Array:
        """X_WB of all bodies, their first three rows, (samples, bodies, 3, 4)."""
        return forward_kinematics(self.robot, self.q, kernels.run).bodies[..., :3, :]

    def sampled(self, fps: float) -> "Chapter":
        """The samples that a film of so many pictures a second needs."""
        return Chapter(self.robot, *_sampled(self.t, self.q, fps), self.number)

    def data(self, fps: float) -> dict[str, Any]:
        """For the page: the robot, the samples that a film of so many pictures a second needs, and the poses as 32-bit floats."""
        chosen = self.sampled(fps)
        poses = chosen.poses().astype("<f4")
        return {
            "design": {**design(self.robot), "number": self.number},
            "t": [round(float(x), 6) for x in chosen.t],
            "poses": base64.b64encode(poses.tobytes()).decode(),
        }


def still(robot: Tables, q: ArrayLike | None = None) -> tuple[Chapter]:
    """A robot at one configuration, neutral if none is given."""
    if isinstance(q, str | PathLike):
        raise InputError(f"q is {q!r}: expected a configuration; a file comes second: show(path={str(q)!r})")
    at = np.asarray(neutral(robot) if q is None else q, dtype=float)
    if at.shape != (robot.nq,) or not np.isfinite(at).all():
        raise InputError(f"q has shape {at.shape}: expected one configuration of {robot.nq} finite numbers to show")
    if robot.inertia.dtype == object:
        raise InputError(f"{robot.name} has symbols for numbers: give them values before it is shown")
    return (Chapter(robot, np.zeros(1), at[None]),)


def design(robot: Tables) -> dict[str, Any]:
    """A robot as the view reads it; its links stand for modules, and nothing can be docked."""
    names = [name for name in robot.frames if "/" not in name and name != "world"]
    meshes.warn(robot.name, robot.shapes)
    return {
        "name": robot.name,
        "floating": any(j.type.kind == "free" and robot.parent[i] == 0 for i, j in enumerate(robot.joints, start=1)),
        "bodies": [body(robot, i) for i in range(len(robot.bodies))],
        "modules": [{"name": name} for name in robot.bodies],
        "shapes": list(_shapes(robot)),
        "meshes": drawing.meshes_of(robot.shapes),
        "cables": cables(robot),
        "guides": guides(robot, unheld(robot)),
        "ports": [],
        "frames": [drawing.frame(robot, name) for name in names],
        "floor": floor(robot),
    }


def floor(robot: Tables) -> dict[str, float] | None:
    """The plane that a robot stands on, as the page draws it: its height at the origin [m] and its slope along x [rad]; None
    where there is none, or it is no such plane."""
    surface: Any = robot.contacts[0].force.ground.surface if robot.contacts else None
    if not isinstance(surface, Plane) or surface.heading:
        return None
    return {"height": float(surface.height), "slope": float(surface.slope)}


def body(robot: Tables, i: int) -> dict[str, Any]:
    """Mass, centre and the ellipsoid of the same inertia: axes as columns, half lengths [m]."""
    spatial = robot.inertia[i]
    mass = float(inertia.mass(spatial))
    if mass <= 0:
        return {"name": robot.bodies[i], "mass": 0.0}
    moments, axes = np.linalg.eigh(inertia.tensor(spatial))
    axes[:, 2] *= np.sign(np.linalg.det(axes)) or 1.0
    half = np.sqrt(np.maximum(2.5 * (moments.sum() - 2 * moments) / mass, 1e-12))
    return {
        "name": robot.bodies[i],
        "mass": mass,
        "centre": [float(x) for x in inertia.centre(spatial)],
        "axes": [float(x) for x in axes.ravel()],
        "half": [float(x) for x in half],
    }


def cables(robot: Tables) -> list[dict[str, Any]]:
    """Lines, springs and what bare bodies slide along, as straight pieces from place to place: (body, xyz in its frame)."""
    return [*_cables(robot), *links.rails(robot, _bare(robot))]


def _cables(robot: Tables) -> Iterator[dict[str, Any]]:
    number = count()
    for row in robot.forces:
        if isinstance(row, LineRow | FrameRow):
            frames, own = (
                (row.frames, {"colour": CABLE, "line": next(number)}) if isinstance(row, LineRow) else _spring(row)
            )
            places = [{"body": f.body, "at": [float(x) for x in f.X[:3, 3]]} for f in frames]
            yield {"name": row.name, "places": places, **own}


def _spring(row: FrameRow) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (row.a, row.b), {"colour": SPRING}


def unheld(robot: Tables) -> list[int]:
    """Bodies whose joint stands on nothing that is drawn, and that are no sticks themselves: as those on virtual joints."""
    drawn, bare = {shape.frame.body for shape in robot.shapes if meshes.found(shape)}, _bare(robot)
    there = drawn.union(bare)
    return [i for i in range(1, len(robot.bodies)) if drawn and i not in bare and robot.parent[i] not in there]


def _bare(robot: Tables) -> list[int]:
    """Bodies that are drawn as sticks: those with mass and no shape, or all if there is no shape."""
    drawn = {shape.frame.body for shape in robot.shapes if meshes.found(shape)}
    others = [i for i in range(1, len(robot.bodies)) if i not in drawn]
    return [i for i in others if not drawn or inertia.mass(robot.inertia[i]) > 0]


def _shapes(robot: Tables) -> Iterator[dict[str, Any]]:
    for shape in filter(meshes.found, robot.shapes):
        yield {"module": shape.frame.body, "body": shape.frame.body, **drawing.of(shape)}
    for i, piece in links.sticks(robot, _bare(robot)):
        yield {"module": i, "body": i, **piece}


def _sampled(t: Array, q: Array, fps: float) -> tuple[Array, Array]:
    """The samples nearest before the times of so many pictures a second, and the last one."""
    if len(t) < 2:
        return t, q
    wanted = np.arange(t[0], t[-1], 1 / fps)
    rows = np.unique([*(np.searchsorted(t, wanted + 1e-9, side="right") - 1), len(t) - 1])
    return t[rows], q[rows]


def film_times(chapters: Sequence[Chapter], fps: float, speed: float) -> Array:
    """When the pictures of a film are taken, (pictures,) [s]."""
    start, end = chapters[0].t[0], chapters[-1].t[-1]
    return np.arange(start, end + 0.5 * speed / fps, speed / fps)
