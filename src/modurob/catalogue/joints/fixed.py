"""The joint that does not move."""

from dataclasses import dataclass

import numpy as np

from modurob.catalogue.joints.joint import KINDS, JointType
from modurob.spatial import se3
from modurob.spatial.scalars import Array


@KINDS.register("fixed")
@dataclass(frozen=True)
class Fixed(JointType):
    """A weld: X_J = 1, nv = 0; it transmits all six components of a wrench. As a loop joint it docks two bodies.

    >>> mr.Fixed().constraint_subspace(np.zeros(0)).shape
    (6, 6)
    """

    kind, nq, nv, labels, urdf = "fixed", 0, 0, (), "fixed"

    def pose(self, q: Array) -> Array:
        return np.broadcast_to(se3.IDENTITY, (*np.shape(q)[:-1], 4, 4))

    def motion_subspace(self, q: Array) -> Array:
        return np.zeros((6, 0))

    def constraint_subspace(self, q: Array) -> Array:
        return np.eye(6)

    def coordinates(self, X: Array) -> Array:
        return np.zeros((*X.shape[:-2], 0))

    def reversed(self) -> "Fixed":
        return self

    def elementary(self) -> tuple[JointType, ...]:
        return ()
