"""Where bodies of different shapes touch a surface: points of a body, how far above the surface each is, and the normal there."""

from abc import abstractmethod
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from modurob.catalogue.contact.surface import Surface
from modurob.catalogue.forces.force import Numbers
from modurob.registry import Registry
from modurob.spatial import se3
from modurob.spatial.scalars import Array, cross, dot, minimum, sqrt

TOUCHING: Registry[type["Touching"]] = Registry("contact shape")

# a rim within this angle of lying flat is touched nearer to its centre [rad]
FLAT = 0.02
# how much of the radius fixed points are drawn in on a rim that stands upright
DRAWN_IN = 0.03
# fixed points on a rim, for bodies that stand on it
ON_RIM = 8


class Touch(NamedTuple):
    """k points of a body, in its axes from its origin, and the points fixed on it that carry them, (..., k, 3) [m]; gaps, (..., k)
    [m]; normals and two tangents, (..., k, 3), or (..., 1, 3) where they are the same for all."""

    p: Array
    carrier: Array
    gap: Array
    n: Array
    t: tuple[Array, Array]


def touch(X: Array, p: Array, surface: Surface, inside: Any = 0.0) -> Touch:
    """The points of a body at X_WB that are `inside` [m] below the points p of it, (..., k, 3), along the normal."""
    R = se3.rotation(X)[..., None, :, :]
    gap, n = surface.gap((R @ p[..., None])[..., 0] + se3.position(X)[..., None, :])
    t = _tangent(n)
    n_B, t_B, s_B = (_in_body(R, x) for x in (n, t, cross(n, t)))
    return Touch(p - inside * n_B, p, gap - inside, n_B, (t_B, s_B))


def _tangent(n: Array) -> Array:
    """(n_z, 0, -n_x) made a unit vector: the tangent towards x."""
    x, z = n[..., 0], n[..., 2]
    size = sqrt(x * x + z * z)
    return np.stack([z / size, 0 * x, -x / size], axis=-1)


def _in_body(R: Array, x: Array) -> Array:
    return (np.swapaxes(R, -1, -2) @ x[..., None])[..., 0]


class Touching(Numbers):
    """A shape that touches with `count` points, in a frame X_BF of its body."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many points it has."""

    @abstractmethod
    def touches(self, X_WB: Array, X_BF: Array, surface: Surface) -> Touch:
        """Its points next to the surface."""

    def least(self, heights: Array) -> Array:
        """The least of the heights of its points above a plane, (..., k), that is to say of numbers linear in where they are."""
        least = heights[..., 0]
        for k in range(1, heights.shape[-1]):
            least = minimum(least, heights[..., k])
        return least


@TOUCHING.register("corners")
@dataclass(frozen=True)
class Corners(Touching):
    """The corners of a box with half edges x, y, z [m]."""

    x: Any
    y: Any
    z: Any
    kind, count = "corners", 8  # type: ignore[assignment]

    def touches(self, X_WB: Array, X_BF: Array, surface: Surface) -> Touch:
        edges = [X_BF[..., :3, k] * half for k, half in enumerate((self.x, self.y, self.z))]
        p = [
            se3.position(X_BF) + sum(s * e for s, e in zip(signs, edges, strict=True))
            for signs in product((-1, 1), repeat=3)
        ]
        return touch(X_WB, np.stack(p, axis=-2), surface)

    def least(self, heights: Array) -> Array:
        """From one corner and how much lower the three next to it are."""
        first = heights[..., 0]
        return first + sum(minimum(heights[..., k] - first, np.zeros(())) for k in (1, 2, 4))


@TOUCHING.register("ball")
@dataclass(frozen=True)
class Ball(Touching):
    """A sphere of radius r [m]."""

    r: Any
    kind, count = "ball", 1  # type: ignore[assignment]

    def touches(self, X_WB: Array, X_BF: Array, surface: Surface) -> Touch:
        return touch(X_WB, se3.position(X_BF)[..., None, :], surface, self.r)


@TOUCHING.register("rim")
@dataclass(frozen=True)
class Rim(Touching):
    """A circle of radius r about z [m]: its lowest point, and fixed points that it stands on when it lies flat; they are drawn in
    a little where it does not, so that it rolls on the lowest point alone."""

    r: Any
    kind, count = "rim", 1 + ON_RIM  # type: ignore[assignment]

    def touches(self, X_WB: Array, X_BF: Array, surface: Surface) -> Touch:
        c, axis = se3.position(X_BF)[..., None, :], X_BF[..., None, :3, 2]
        n = touch(X_WB, c, surface).n
        across = n - dot(n, axis)[..., None] * axis
        lowest = c - self.r * across / sqrt(dot(across, across) + FLAT**2)[..., None]
        angles = 2 * np.pi * np.arange(ON_RIM) / ON_RIM
        x, y = X_BF[..., None, :3, 0], X_BF[..., None, :3, 1]
        radius = self.r * (1 - DRAWN_IN * dot(across, across))[..., None]
        fixed = c + radius * (np.cos(angles)[:, None] * x + np.sin(angles)[:, None] * y)
        fixed = np.broadcast_to(fixed, (*lowest.shape[:-2], *fixed.shape[-2:]))
        found = touch(X_WB, np.concatenate([lowest, fixed], axis=-2), surface)
        return found._replace(carrier=np.concatenate([c + 0 * lowest, fixed], axis=-2))


@TOUCHING.register("vertices")
@dataclass(frozen=True)
class Vertices(Touching):
    """The vertices of a convex hull, x, y, z of one after those of another [m]."""

    numbers: tuple[Any, ...]
    kind = "vertices"

    @property
    def count(self) -> int:
        return len(self.numbers) // 3

    def parameters(self) -> dict[str, Any]:
        return {f"{k}": x for k, x in enumerate(self.numbers)}

    def renamed(self, own: dict[str, Any]) -> dict[str, Any]:
        """Its fields, from numbers as `parameters` names them."""
        return {"numbers": tuple(own.get(f"{k}", x) for k, x in enumerate(self.numbers))}

    def touches(self, X_WB: Array, X_BF: Array, surface: Surface) -> Touch:
        own = np.array(self.numbers).reshape(-1, 3)
        p = (se3.rotation(X_BF)[..., None, :, :] @ own[..., None])[..., 0] + se3.position(X_BF)[..., None, :]
        return touch(X_WB, p, surface)
