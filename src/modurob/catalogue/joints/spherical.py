"""The ball joint."""

from dataclasses import dataclass

import numpy as np

from modurob.catalogue.joints.joint import KINDS, JointType
from modurob.spatial import quaternion, se3, so3
from modurob.spatial.scalars import Array


@KINDS.register("spherical")
@dataclass(frozen=True)
class Spherical(JointType):
    """Rotation about a point: q is a quaternion wxyz, v the angular velocity in successor axes [rad/s]; S = (0, 1).

    >>> mr.Spherical().nq, mr.Spherical().nv
    (4, 3)
    """

    kind, nq, nv, units = "spherical", 4, 3, ("rad", "rad", "rad")
    labels = ("turn x", "turn y", "turn z")
    q_labels = quaternion.LABELS

    def pose(self, q: Array) -> Array:
        return se3.pose(quaternion.to_matrix(q))

    def motion_subspace(self, q: Array) -> Array:
        return np.eye(6, 3, k=-3)

    def constraint_subspace(self, q: Array) -> Array:
        return np.eye(6, 3)

    def coordinates(self, X: Array) -> Array:
        return quaternion.from_matrix(se3.rotation(X))

    def neutral(self) -> Array:
        return quaternion.IDENTITY

    def random(self, rng: np.random.Generator, lower: Array, upper: Array) -> Array:
        return quaternion.random(rng)

    def rate(self, q: Array, v: Array) -> Array:
        return quaternion.rate(q, v)

    def integrate(self, q: Array, dq: Array) -> Array:
        return quaternion.normalised(quaternion.multiply(q, quaternion.exp(dq)))

    def difference(self, q0: Array, q1: Array) -> Array:
        return quaternion.log(quaternion.normalised(quaternion.multiply(quaternion.conjugate(q0), q1)))

    def bracket(self, v: Array) -> Array:
        return so3.skew(v)

    def elementary(self) -> tuple[JointType, ...]:
        return (self,)
