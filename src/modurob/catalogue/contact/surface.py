"""Surfaces of the ground, each one small value: the height of a point above it, and the normal there.

A surface faces up: its normal has n_z > 0. Written with `modurob.spatial.scalars`, so that it can be traced.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from modurob.catalogue.forces.force import Numbers
from modurob.errors import InputError
from modurob.registry import Registry
from modurob.spatial.scalars import Array, cos, dot, maximum, minimum, rint, select, sin, sqrt

SURFACES: Registry[type["Surface"]] = Registry("surface")


class Surface(Numbers):
    """A surface z = h(x, y); everything below is solid."""

    @abstractmethod
    def gap(self, p: Array) -> tuple[Array, Array]:
        """Distance of points p, (..., 3) in world axes, above the surface, (...) [m], negative below; and the normal there,
        (..., 3), or (3,) where it is one for all."""


def above(p: Array, h: Array, h_x: Array, h_y: Array) -> tuple[Array, Array]:
    """Gap and normal over the height h with slopes h_x and h_y at (x, y): the distance to the plane that touches it there."""
    up = 1 / sqrt(1 + h_x * h_x + h_y * h_y)
    return (p[..., 2] - h) * up, np.stack([-h_x * up, -h_y * up, up], axis=-1)


@SURFACES.register("plane")
@dataclass(frozen=True)
class Plane(Surface):
    """A plane through (0, 0, height), rising with the angle `slope` towards `heading`, counted from x to y [rad].

    >>> import modurob as mr
    >>> gap, normal = mr.Plane(slope=0.1).gap(np.array([0.0, 0.0, 1.0]))
    >>> float(gap.round(3)), (normal.round(3) + 0.0).tolist()
    (0.995, [-0.1, 0.0, 0.995])
    """

    slope: Any = 0.0  # [rad]
    heading: Any = 0.0  # [rad]
    height: Any = 0.0  # [m]
    kind = "plane"

    def __post_init__(self) -> None:
        self._require(-np.inf, slope=self.slope, heading=self.heading, height=self.height)
        if isinstance(self.slope, int | float) and not abs(self.slope) < np.pi / 2:
            degrees = f" ({self.slope:g} degrees are {np.deg2rad(self.slope):.4g} rad)" if abs(self.slope) < 90 else ""
            raise InputError(f"plane: slope {self.slope!r} rad: expected less than a right angle, 1.5708 rad{degrees}")

    def gap(self, p: Array) -> tuple[Array, Array]:
        s, h = np.asarray(self.slope), np.asarray(self.heading)
        n = np.stack([-sin(s) * cos(h), -sin(s) * sin(h), cos(s) + 0 * h], axis=-1)
        return dot(p, n) - n[..., 2] * self.height, n


@SURFACES.register("stairs")
@dataclass(frozen=True)
class Stairs(Surface):
    """Steps of `rise` [m] every `run` [m] towards `heading` [rad], the first one at `start` [m] from the origin, `count` of them.

    Edges are slanted over the width `edge` [m]; down, with a negative rise, as well as up.

    >>> import modurob as mr
    >>> stairs = mr.Stairs(rise=0.02, run=0.3, start=0.5, count=4)
    >>> stairs.gap(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [9.0, 0.0, 0.0]]))[0].round(3).tolist()
    [0.0, -0.04, -0.08]
    """

    rise: Any  # [m]
    run: Any  # [m]
    heading: Any = 0.0  # [rad]
    start: Any = 0.0  # [m]
    count: Any = 10.0
    edge: Any = 0.01  # [m]
    kind = "stairs"

    def __post_init__(self) -> None:
        self._require(-np.inf, rise=self.rise, heading=self.heading, start=self.start)
        self._require(run=self.run, count=self.count, edge=self.edge)
        if isinstance(self.run, int | float) and not 0 < self.edge < self.run:
            raise InputError(f"stairs: edge {self.edge!r} and run {self.run!r}: expected 0 < edge < run")

    def gap(self, p: Array) -> tuple[Array, Array]:
        zero, h = np.zeros(()), np.asarray(self.heading)
        along = (p[..., 0] * cos(h) + p[..., 1] * sin(h) - self.start) / self.run
        step = minimum(maximum(rint(along), zero), np.asarray(self.count - 1.0))
        # where on the slanted edge, 0 below it and 1 above it
        at = (along - step) * (self.run / self.edge) + 0.5
        share = minimum(maximum(at, zero), zero + 1)
        on_edge = (share - at) * (share - at)
        steep = select(zero, on_edge, zero, zero + 1) * (self.rise / self.edge)
        return above(p, self.rise * (step + share), steep * cos(h), steep * sin(h))


@SURFACES.register("hills")
@dataclass(frozen=True)
class Hills(Surface):
    """h = amplitude (sin(2 pi x / length) + sin(2 pi y / length)) / 2: hills and hollows in a square pattern [m].

    >>> import modurob as mr
    >>> float(mr.Hills(amplitude=0.1, length=1.0).gap(np.array([0.25, 0.25, 0.0]))[0].round(3))
    -0.1
    """

    amplitude: Any  # [m]
    length: Any  # [m]
    kind = "hills"

    def __post_init__(self) -> None:
        self._require(amplitude=self.amplitude, length=self.length)
        if isinstance(self.length, int | float) and not self.length > 0:
            raise InputError(f"hills: length {self.length!r}: expected more than zero")

    def gap(self, p: Array) -> tuple[Array, Array]:
        k = 2 * np.pi / self.length
        x, y, a = p[..., 0] * k, p[..., 1] * k, self.amplitude / 2
        return above(p, a * (sin(x) + sin(y)), a * k * cos(x), a * k * cos(y))


@SURFACES.register("height field")
@dataclass(frozen=True)
class HeightField(Surface):
    """Heights over a grid, a list of rows along x of heights along y [m], bilinear in between.

    The grid is x by y [m] large, about the origin, and goes on level with its edges. At most 400 heights: each is a term for every
    point that touches.

    >>> import modurob as mr
    >>> ramp = mr.HeightField([[0.0, 0.0], [0.1, 0.1]], x=1.0, y=1.0)
    >>> ramp.gap(np.array([[0.0, 0.0, 0.05], [0.5, 0.3, 0.2], [3.0, 0.0, 0.2]]))[0].round(3).tolist()
    [0.0, 0.1, 0.1]
    """

    heights: Any
    x: Any  # [m]
    y: Any  # [m]
    kind = "height field"

    def __post_init__(self) -> None:
        try:
            grid = np.array(self.heights, dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"height field of {self.heights!r:.60}: expected rows of equally many numbers") from None
        if grid.ndim != 2 or min(grid.shape) < 2 or grid.size > 400:
            raise InputError(f"height field of shape {grid.shape}: expected rows of heights, 2 x 2 to 20 x 20 of them")
        object.__setattr__(self, "heights", tuple(tuple(row) for row in grid.tolist()))
        self._require(-np.inf, **{f"height {i}": h for i, h in enumerate(grid.ravel().tolist())})
        for name, size in (("x", self.x), ("y", self.y)):
            self._require(**{name: size})
            if isinstance(size, int | float) and not size > 0:
                raise InputError(f"height field: {name} {size!r}: expected more than zero [m]")

    def parameters(self) -> dict[str, Any]:
        return {"x": self.x, "y": self.y, **{f"{k}": h for k, h in enumerate(h for row in self.heights for h in row)}}

    def renamed(self, own: dict[str, Any]) -> dict[str, Any]:
        """Its fields, from numbers as `parameters` names them."""
        rows, width = len(self.heights), len(self.heights[0])
        grid = [[own.get(f"{i * width + j}", self.heights[i][j]) for j in range(width)] for i in range(rows)]
        return {"heights": grid, **{name: own[name] for name in "xy" if name in own}}

    def gap(self, p: Array) -> tuple[Array, Array]:
        grid = np.array(self.heights)
        (u, u_x), (v, v_y) = (
            _hats(p[..., i], size, n) for i, (size, n) in enumerate(zip((self.x, self.y), grid.shape, strict=True))
        )
        h, h_x = ((w[..., :, None] * grid).sum(axis=-2) for w in (u, u_x))
        return above(p, dot(h, v), dot(h_x, v), dot(h, v_y))


def _hats(x: Array, size: Any, n: int) -> tuple[Array, Array]:
    """Weights of n places over a length, about the origin, for linear interpolation at x, (..., n), and their slopes."""
    zero, pitch = np.zeros(()), size / (n - 1)
    at = minimum(maximum(x / pitch + (n - 1) / 2, zero), zero + n - 1)
    outside = x * x - size * size / 4
    inside = select(outside, zero, zero + 1, zero) / pitch
    apart = [at - k for k in range(n)]
    weight = [maximum(1 - maximum(a, -a), zero) for a in apart]
    # the slope to the right of a place that is hit
    slope = [inside * (_within(a, -1.0) - _within(a, 0.0)) for a in apart]
    return np.stack(weight, axis=-1), np.stack(slope, axis=-1)


def _within(a: Array, low: float) -> Array:
    """1 where low <= a < low + 1, else 0."""
    zero = np.zeros(())
    return select(a, zero + low, zero, select(a, zero + low + 1, zero + 1, zero))
