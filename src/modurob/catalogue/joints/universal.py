"""Two turns about axes that cross: Cardan's joint."""

from dataclasses import dataclass

import numpy as np

from modurob.caching import cached_property
from modurob.catalogue.joints.axial import Revolute
from modurob.catalogue.joints.joint import KINDS, Axis, Canonical, JointType, unit_axis
from modurob.errors import InputError
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array, atan2


@KINDS.register("universal")
@dataclass(frozen=True)
class Universal(JointType):
    """X_J = R(axis1; q1) R(axis2; q2) [rad], axis2 rotates with the first angle and is perpendicular to axis1; S = [(0,
    R2^T a1), (0, a2)].

    >>> mr.Universal((1, 0, 0), (0, 1, 0)).motion_subspace(np.zeros(2))[3:]
    array([[1., 0.],
           [0., 1.],
           [0., 0.]])
    """

    axis: Axis = (1.0, 0.0, 0.0)
    axis2: Axis = (0.0, 1.0, 0.0)
    kind, nq, nv, units, labels = "universal", 2, 2, ("rad", "rad"), ("first", "second")

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis, "universal"))
        object.__setattr__(self, "axis2", unit_axis(self.axis2, "universal second"))
        if self._a1.dtype != object and self._a2.dtype != object and abs(self._a1 @ self._a2) > 1e-9:
            raise InputError(f"universal joint axes {self.axis} and {self.axis2}: expected perpendicular axes")

    @cached_property
    def _a1(self) -> Array:
        return np.array(self.axis)

    @cached_property
    def _a2(self) -> Array:
        return np.array(self.axis2)

    def _carried(self, q: Array) -> Array:
        """Axis 1 in successor axes."""
        return (so3.about(self._a2, -q[..., 1]) @ self._a1[:, None])[..., 0]

    def _columns(self, first: Array, second: Array) -> Array:
        """[(0, first), (0, second)], (..., 6, 2)."""
        S = np.zeros((*first.shape[:-1], 6, 2), dtype=first.dtype)
        S[..., 3:, 0], S[..., 3:, 1] = first, second
        return S

    def pose(self, q: Array) -> Array:
        return se3.pose(so3.about(self._a1, q[..., 0]) @ so3.about(self._a2, q[..., 1]))

    def motion_subspace(self, q: Array) -> Array:
        return self._columns(self._carried(q), self._a2)

    def subspace_rate(self, q: Array, v: Array) -> Array:
        return self._columns(np.cross(self._carried(q), self._a2) * v[..., 1:], np.zeros(3))

    def constraint_subspace(self, q: Array) -> Array:
        normal = np.cross(self._carried(q), self._a2)
        T = np.zeros((*normal.shape[:-1], 6, 4), dtype=normal.dtype)
        T[..., :3, :3], T[..., 3:, 3] = np.eye(3), normal
        return T

    def coordinates(self, X: Array) -> Array:
        # in axes (a1, a2, n): R = R(x; q1) R(y; q2), of which row x gives q2 and column y gives q1
        B = np.stack([self._a1, self._a2, np.cross(self._a1, self._a2)], axis=-1)
        R = B.T @ se3.rotation(X) @ B
        return np.stack([atan2(R[..., 2, 1], R[..., 1, 1]), atan2(R[..., 0, 2], R[..., 0, 0])], axis=-1)

    def canonical(self) -> Canonical:
        return Canonical(Universal(), np.stack([self._a1, self._a2, np.cross(self._a1, self._a2)], axis=-1))

    def elementary(self) -> tuple[JointType, ...]:
        return Revolute(self.axis), Revolute(self.axis2)
