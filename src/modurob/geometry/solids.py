"""Solids in their own frame, centred at its origin; cylinders and capsules along z. A kind is a class that registers itself."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from modurob.errors import InputError
from modurob.registry import Registry
from modurob.spatial.scalars import Array


class Solid(ABC):
    """A closed body; `support(d)` is how far it reaches along d, the largest p . d of its points."""

    kind: ClassVar[str]

    @abstractmethod
    def support(self, d: Array) -> Array:
        """max p . d over its points, (...) [m], for directions d, (..., 3), in its own axes."""

    @property
    @abstractmethod
    def half_edges(self) -> tuple[Any, Any, Any]:
        """Half the edges of the box around it, along its axes and about its origin [m]."""

    @property
    def radius(self) -> float:
        """Of a sphere about its origin that holds it [m]."""
        return float(np.linalg.norm(np.array(self.half_edges, dtype=float)))


SOLIDS: Registry[Any] = Registry("kind of shape")


@SOLIDS.register("box")
@dataclass(frozen=True)
class Box(Solid):
    """Edges x, y, z [m].

    >>> Box(0.2, 0.4, 0.6).half_edges
    (0.1, 0.2, 0.3)
    """

    x: Any
    y: Any
    z: Any
    kind = "box"

    def support(self, d: Array) -> Array:
        return np.abs(d) @ np.array(self.half_edges)

    @property
    def half_edges(self) -> tuple[Any, Any, Any]:
        return self.x / 2, self.y / 2, self.z / 2


@SOLIDS.register("cylinder")
@dataclass(frozen=True)
class Cylinder(Solid):
    """Radius, and length along z [m].

    >>> float(Cylinder(0.1, 0.6).support(np.array([0.0, 0.0, 1.0])))
    0.3
    """

    r: Any
    length: Any
    kind = "cylinder"

    def support(self, d: Array) -> Array:
        return self.r * np.hypot(d[..., 0], d[..., 1]) + self.length / 2 * np.abs(d[..., 2])

    @property
    def half_edges(self) -> tuple[Any, Any, Any]:
        return self.r, self.r, self.length / 2


@SOLIDS.register("sphere")
@dataclass(frozen=True)
class Sphere(Solid):
    """Radius [m].

    >>> Sphere(0.1).radius
    0.1
    """

    r: Any
    kind = "sphere"

    def support(self, d: Array) -> Array:
        return self.r * np.linalg.norm(d, axis=-1)

    @property
    def half_edges(self) -> tuple[Any, Any, Any]:
        return self.r, self.r, self.r

    @property
    def radius(self) -> float:
        return float(self.r)


@SOLIDS.register("capsule")
@dataclass(frozen=True)
class Capsule(Solid):
    """Radius, and length along z between the centres of its round ends [m].

    >>> Capsule(0.1, 0.4).half_edges
    (0.1, 0.1, 0.30000000000000004)
    """

    r: Any
    length: Any
    kind = "capsule"

    def support(self, d: Array) -> Array:
        return self.r * np.linalg.norm(d, axis=-1) + self.length / 2 * np.abs(d[..., 2])

    @property
    def half_edges(self) -> tuple[Any, Any, Any]:
        return self.r, self.r, self.r + self.length / 2


@SOLIDS.register("mesh")
@dataclass(frozen=True)
class Mesh(Solid):
    """The triangles of a file, scaled along its axes; `points`, (n, 3) [m], are there once it is read.

    >>> Mesh(1, 1, 1, "hand.stl", np.array([[0.0, 0.0, 0.1], [0.1, 0.0, -0.2]])).half_edges
    (0.1, 0.0, 0.2)
    """

    x: Any
    y: Any
    z: Any
    file: str = ""
    points: Array | None = None
    kind = "mesh"

    def support(self, d: Array) -> Array:
        return (d @ self._read.T).max(axis=-1)

    @property
    def half_edges(self) -> tuple[Any, Any, Any]:
        x, y, z = np.abs(self._read).max(axis=0).tolist()
        return x, y, z

    @property
    def radius(self) -> float:
        return float(np.linalg.norm(self._read, axis=-1).max())

    @property
    def _read(self) -> Array:
        if self.points is None:
            raise InputError(f"the mesh {self.file!r} has not been read: its points are not known")
        return self.points


def solid(kind: str, size: tuple[Any, ...], file: str = "") -> Solid:
    """A solid by its kind and size, as shapes have them.

    >>> solid("sphere", (0.1,))
    Sphere(r=0.1)
    """
    made = SOLIDS[kind]
    if not isinstance(size, Sequence) or isinstance(size, str):
        raise InputError(f"{kind} of size {size!r:.60}: expected numbers in brackets, like (0.1,)")
    count = {"box": 3, "cylinder": 2, "sphere": 1, "capsule": 2, "mesh": 3}.get(kind, len(size))
    if len(size) != count:
        raise InputError(f"{kind} of size {size!r:.60}: expected {count} number{'s' * (count > 1)}")
    return made(*size, file) if kind == "mesh" else made(*size)
