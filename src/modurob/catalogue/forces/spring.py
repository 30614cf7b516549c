"""A spring between two points."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from modurob.catalogue.forces.force import FORCES, FrameForce, Motion
from modurob.spatial import se3
from modurob.spatial.scalars import Array, dot, maximum, sqrt

# points closer than this have no direction between them [m]
TOUCHING = 1e-9


@FORCES.register("spring")
@dataclass(frozen=True)
class Spring(FrameForce):
    """A spring between the origins of two frames: the tension is stiffness (distance - length) + damping d(distance)/dt
    [N], negative in compression.

    >>> import modurob as mr
    >>> robot = mr.load("crab").mechanism().with_force("rope", mr.Spring(stiffness=100.0, length=0.2), a="m3", b="world")
    >>> robot.passive_forces([0.3, 0.0, 0.0], [0.0, 0.0, 0.0]).shape
    (3,)
    """

    stiffness: Any  # [N/m]
    length: Any = 0.0  # at rest [m]
    damping: Any = 0.0  # [N s/m]
    kind, driven = "spring", False

    def __post_init__(self) -> None:
        self._require(stiffness=self.stiffness, length=self.length, damping=self.damping)

    def wrenches(self, t: Any, a: Motion, b: Motion, x: Array) -> tuple[Array, Array]:
        way = se3.position(b.X) - se3.position(a.X)
        distance = _distance(way)
        direction = way / distance[..., None]
        closing = dot(direction, _velocity(b) - _velocity(a))
        pull = (self.stiffness * (distance - self.length) + self.damping * closing)[..., None] * direction
        return _at_origin(a.X, pull), _at_origin(b.X, -pull)

    @property
    def rest(self) -> Any:
        """Natural length [m], as a law of a line."""
        return self.length

    def shortened(self, length: Any) -> "Spring":
        """The law of a line after the given length was wound in [m]."""
        return replace(self, length=self.length - length)

    def pull(self, s: Any) -> tuple[Array, Array]:
        """Tension of a line under this law, negative in compression, and the force at a drum, zero here, (...) each
        [N].
        """
        return self.stiffness * s.u + self.damping * s.rate, 0 * s.u

    def stored(self, u: Array, natural: Array) -> Array:
        """Energy stored in a line under this law, (...) [J]."""
        return self.stiffness * u * u / 2

    def energy(self, X_Wa: Array, X_Wb: Array, x: Array) -> Array:
        stretch = _distance(se3.position(X_Wb) - se3.position(X_Wa)) - self.length
        return self.stiffness * stretch * stretch / 2


def _distance(way: Array) -> Array:
    return sqrt(maximum(dot(way, way), np.array(TOUCHING**2)))


def _velocity(frame: Motion) -> Array:
    """Of the origin, in world axes."""
    return (se3.rotation(frame.X) @ frame.V[..., :3, None])[..., 0]


def _at_origin(X: Array, f: Array) -> Array:
    """The wrench of a force in world axes on the origin of a frame, in its axes."""
    turned = (np.swapaxes(se3.rotation(X), -1, -2) @ f[..., None])[..., 0]
    return np.concatenate([turned, 0 * turned], axis=-1)
