"""Sliding in a plane and turning about its normal."""

from dataclasses import dataclass

import numpy as np

from modurob.caching import cached_property
from modurob.catalogue.joints.axial import Prismatic, Revolute, turn_about
from modurob.catalogue.joints.joint import KINDS, Axis, Canonical, JointType, unit_axis
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array


@KINDS.register("planar")
@dataclass(frozen=True)
class Planar(JointType):
    """q = (x, y, angle): translation along u and w of the predecessor [m], (u, w, axis) right-handed, then rotation
    about `axis` [rad].

    v = dq/dt, so S = [(R^T u, 0), (R^T w, 0), (0, a)] depends on q. If the axis is z, u and w are x and y.

    >>> mr.Planar().pose(np.array([1.0, 2.0, 0.0]))[:3, 3]
    array([1., 2., 0.])
    """

    axis: Axis = (0.0, 0.0, 1.0)
    kind, nq, nv, units, labels, urdf = "planar", 3, 3, ("m", "m", "rad"), ("x", "y", "turn"), "planar"

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis, "planar"))

    @cached_property
    def _a(self) -> Array:
        return np.array(self.axis)

    @cached_property
    def _plane(self) -> Array:
        """[u w], 3x2."""
        return np.stack(so3.perpendicular(self._a), axis=-1)

    @cached_property
    def _constraints(self) -> Array:
        T = np.zeros((6, 3))
        T[:3, 0], T[3:, 1:] = self._a, self._plane
        return T

    def pose(self, q: Array) -> Array:
        return se3.pose(so3.about(self._a, q[..., 2]), (self._plane @ q[..., :2, None])[..., 0])

    def motion_subspace(self, q: Array) -> Array:
        slides = so3.about(self._a, -q[..., 2]) @ self._plane
        S = np.zeros((*slides.shape[:-2], 6, 3), dtype=slides.dtype)
        S[..., :3, :2], S[..., 3:, 2] = slides, self._a
        return S

    def subspace_rate(self, q: Array, v: Array) -> Array:
        slides = so3.about(self._a, -q[..., 2]) @ self._plane
        rate = -v[..., 2, None, None] * (so3.skew(self._a) @ slides)
        Sdot = np.zeros((*rate.shape[:-2], 6, 3), dtype=rate.dtype)
        Sdot[..., :3, :2] = rate
        return Sdot

    def constraint_subspace(self, q: Array) -> Array:
        return self._constraints

    def coordinates(self, X: Array) -> Array:
        slides = (self._plane.T @ se3.position(X)[..., None])[..., 0]
        return np.concatenate([slides, turn_about(self._a, X)[..., None]], axis=-1)

    def canonical(self) -> Canonical:
        return Canonical(Planar(), np.concatenate([self._plane, self._a[:, None]], axis=-1))

    def elementary(self) -> tuple[JointType, ...]:
        return *(Prismatic(tuple(u)) for u in self._plane.T), Revolute(self.axis)
