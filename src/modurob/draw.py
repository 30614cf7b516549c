"""Pictures of robots."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from modurob import kernels
from modurob.algorithms import forward_kinematics, line_paths, line_tensions, neutral
from modurob.catalogue.reading import require_picture, write_figure
from modurob.errors import InputError
from modurob.mechanism import Shape, Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array

Axes3D = Any  # matplotlib's, imported only when something is drawn

# direction to the light, world axes
LIGHT = np.array([0.35, -0.5, 0.8])
ROUND = 20  # corners of a circle
TENSION = ("#2f6fb4", "#8a5aa0", "#c8352b")  # of lines, from slack to the tightest


def draw(robot: Tables, q: Array | None = None, ax: Axes3D | None = None, title: str = "") -> Axes3D:
    """The robot at configuration q (neutral by default), in a new figure or in `ax`; bodies without shapes become sticks, lines
    have the colours of their tensions."""
    if not isinstance(robot, Tables):
        raise InputError(f"{robot!r:.60} is no robot: expected a Mechanism, such as mr.load('crab').robot()")
    import matplotlib.pyplot as plt  # slow to import, and only pictures need it
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

    q = neutral(robot) if q is None else q
    own = ax is None
    if own:
        ax = plt.figure(figsize=(6.4, 5)).add_axes((0.0, 0.02, 0.94, 0.92), projection="3d")
    X_WB = forward_kinematics(robot, q, kernels.run).bodies
    faces, colours = _faces([s for s in robot.shapes if s.kind != "mesh"], X_WB)
    if faces:
        ax.add_collection3d(
            Poly3DCollection(faces, facecolors=colours, edgecolors=(0, 0, 0, 0.25), linewidths=0.3), autolim=False
        )
        points = np.concatenate(faces)
    else:
        origins = se3.position(X_WB)
        sticks = [(origins[robot.parent[i]], origins[i]) for i in range(1, len(origins))]
        ax.add_collection3d(Line3DCollection(sticks, colors="0.3", linewidths=3), autolim=False)
        ax.scatter(*origins.T, color="#a8483c", s=18)
        points = origins
    if robot.lines:
        points = np.concatenate([points, *_draw_lines(robot, q, ax, own)])
    frame_view(ax, points)
    ax.set_title(title)
    return ax


def _draw_lines(robot: Tables, q: Array, ax: Axes3D, own: bool) -> list[Array]:
    """Lines in the colours of their tensions at rest, dotted where they are slack; in a figure of its own with a scale."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    paths, tensions = line_paths(robot, q, kernels.run), line_tensions(robot, q, np.zeros(robot.nv), kernels.run)
    colours = LinearSegmentedColormap.from_list("tension", TENSION)
    scale = ScalarMappable(Normalize(0.0, max(float(tensions.max()), 1e-12)), colours)
    for path, T in zip(paths, tensions, strict=True):
        look = {"color": scale.to_rgba(T), "lw": 1.6} if T else {"color": "0.5", "lw": 1.0, "ls": ":"}
        ax.plot(*path.T, **look)
    if own:
        ax.figure.colorbar(scale, cax=ax.figure.add_axes((0.87, 0.25, 0.02, 0.5)), label="tension [N]")
        ax.set_position((0.0, 0.06, 0.82, 0.88))
    return paths


def save_picture(robot: Tables, path: str | Path, q: Array | None = None, title: str = "") -> None:
    """Write a picture of the robot at configuration q."""
    require_picture(path)
    figure = draw(robot, q, title=title).figure
    with np.errstate(over="ignore"):  # matplotlib projects points behind the eye
        write_figure(Path(path), figure)


def frame_view(ax: Axes3D, points: Array) -> None:
    """Equal scales, everything in view and little else."""
    low, high = points.min(axis=0), points.max(axis=0)
    widest = max((high - low).max(), 1e-3)
    half = np.maximum((high - low) / 2 * 1.05, 0.25 * widest)
    for axis, middle, reach in zip("xyz", (low + high) / 2, half, strict=True):
        getattr(ax, f"set_{axis}lim")(middle - reach, middle + reach)
        getattr(ax, f"set_{axis}label")(f"{axis} [m]")
        getattr(ax, f"{axis}axis").set_major_locator(_few_ticks(4 if reach > 0.6 * half.max() else 3))
    ax.set_box_aspect(half)
    ax.view_init(elev=28, azim=-58)


def _few_ticks(most: int):
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(most)


def _faces(shapes: Sequence[Shape], X_WB: Array) -> tuple[list[Array], list[tuple[float, ...]]]:
    """Polygons in the world and their shaded colours."""
    from matplotlib.colors import to_rgb

    faces, colours = [], []
    for shape in shapes:
        X = X_WB[shape.frame.body] @ shape.in_body
        for polygon in _polygons(shape.kind, shape.size):
            corners = polygon @ se3.rotation(X).T + se3.position(X)
            normal = np.cross(corners[1] - corners[0], corners[2] - corners[1])
            shade = 0.72 + 0.28 * (normal @ LIGHT) / max(float(np.linalg.norm(normal) * np.linalg.norm(LIGHT)), 1e-12)
            faces.append(corners)
            colours.append(tuple(np.clip(np.array(to_rgb(shape.colour)) * shade, 0, 1)))
    return faces, colours


def _polygons(kind: str, size: tuple[float, ...]) -> list[Array]:
    """The faces of a shape in its own frame, corners counter-clockwise seen from outside."""
    if kind == "box":
        return _box(*size)
    turns = np.linspace(0, 2 * np.pi, ROUND, endpoint=False)
    ring = np.stack([np.cos(turns), np.sin(turns), np.zeros(ROUND)], axis=-1)
    if kind == "cylinder":
        radius, length = size
        top, bottom = ring * radius + (0, 0, length / 2), ring * radius - (0, 0, length / 2)
        return [top, bottom[::-1], *_band(bottom, top)]
    heights = np.linspace(-1, 1, ROUND // 2 + 1)
    rings = [size[0] * (ring * np.sqrt(1 - h * h) + (0, 0, h)) for h in heights]
    return [quad for low, high in pairwise(rings) for quad in _band(low, high)]


def _band(low: Array, high: Array) -> list[Array]:
    """Quadrilaterals between two rings of corners."""
    return [np.stack([low[i - 1], low[i], high[i], high[i - 1]]) for i in range(len(low))]


def _box(x: float, y: float, z: float) -> list[Array]:
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) / 2
    faces = []
    for axis in range(3):
        for side in (1, -1):
            face = np.full((4, 3), side / 2)
            face[:, [(axis + 1) % 3, (axis + 2) % 3]] = square[::side]
            faces.append(face * (x, y, z))
    return faces
