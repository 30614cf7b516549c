"""Joints with one axis and constant subspaces: revolute, prismatic, helical, cylindrical."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from modurob.caching import cached_property
from modurob.catalogue.joints.joint import KINDS, Axis, Canonical, JointType, unit_axis
from modurob.errors import InputError
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array, as_array, atan2, dot, rint


def turn_about(axis: Array, X: Array) -> Array:
    """The angle of the turn about `axis` that is nearest to the rotation of X."""
    R = se3.rotation(as_array(X))
    cosine_part = np.trace(R, axis1=-2, axis2=-1) - dot(axis, (R @ axis[:, None])[..., 0])
    return atan2(2 * dot(so3.vee(R), axis), cosine_part)


def _twist(v: Array | None = None, w: Array | None = None) -> Array:
    """The column (v, w); what is missing is zero."""
    return np.concatenate([np.zeros(3) if x is None else x for x in (v, w)])[:, None]


@dataclass(frozen=True)
class Axial(JointType):
    """A joint whose motion is that of its axis."""

    axis: Axis = (0.0, 0.0, 1.0)
    axial = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis, self.kind))

    @cached_property
    def _a(self) -> Array:
        return np.array(self.axis)

    @cached_property
    def _across(self) -> tuple[Array, Array]:
        return so3.perpendicular(self._a)

    @cached_property
    @abstractmethod
    def _S(self) -> Array: ...

    @cached_property
    @abstractmethod
    def _T(self) -> Array: ...

    def motion_subspace(self, q: Array) -> Array:
        return self._S

    def constraint_subspace(self, q: Array) -> Array:
        return self._T

    def reversed(self) -> Self:
        return replace(self, axis=tuple(-x for x in self.axis))

    def canonical(self) -> Canonical:
        return Canonical(replace(self, axis=(0.0, 0.0, 1.0)), np.stack([*self._across, self._a], axis=-1))


@KINDS.register("revolute")
@dataclass(frozen=True)
class Revolute(Axial):
    """Rotation about `axis` through the joint's origin, q the angle [rad]: S = (0, a) (Gutenkunst (2.30), order
    corrected).

    `axis` is in the joint's frame; it need not be a unit vector.

    >>> mr.Revolute((0, 0, 2.0)).axis
    (0.0, 0.0, 1.0)
    >>> mr.Revolute((0, 0, 1)).pose(np.array([np.pi / 2])).round(9)[:3, 0] + 0.0
    array([0., 1., 0.])
    """

    kind, nq, nv, units, urdf = "revolute", 1, 1, ("rad",), "revolute"

    @cached_property
    def _S(self) -> Array:
        return _twist(w=self._a)

    @cached_property
    def _T(self) -> Array:
        u, w = self._across
        return np.hstack([np.eye(6, 3), _twist(w=u), _twist(w=w)])

    def pose(self, q: Array) -> Array:
        return se3.pose(so3.about(self._a, q[..., 0]))

    def coordinates(self, X: Array) -> Array:
        return turn_about(self._a, X)[..., None]

    def elementary(self) -> tuple[JointType, ...]:
        return (self,)


@KINDS.register("prismatic")
@dataclass(frozen=True)
class Prismatic(Axial):
    """Translation along `axis`, q the displacement [m]: S = (a, 0) (Gutenkunst (2.31), order corrected).

    >>> mr.Prismatic((0, 1, 0)).pose(np.array([0.3]))[:3, 3]
    array([0. , 0.3, 0. ])
    """

    kind, nq, nv, units, urdf = "prismatic", 1, 1, ("m",), "prismatic"

    @cached_property
    def _S(self) -> Array:
        return _twist(v=self._a)

    @cached_property
    def _T(self) -> Array:
        u, w = self._across
        return np.hstack([_twist(v=u), _twist(v=w), np.eye(6, 3, k=-3)])

    def pose(self, q: Array) -> Array:
        return se3.pose(None, q * self._a)

    def coordinates(self, X: Array) -> Array:
        return dot(se3.position(X), self._a)[..., None]

    def elementary(self) -> tuple[JointType, ...]:
        return (self,)


@KINDS.register("helical")
@dataclass(frozen=True)
class Helical(Axial):
    """Rotation about `axis` with a translation of `pitch` metres per radian along it, q the angle [rad]: S = (h a, a).

    >>> mr.Helical((0, 0, 1), pitch=0.1).pose(np.array([2.0]))[:3, 3]
    array([0. , 0. , 0.2])
    """

    pitch: float = 0.0
    kind, nq, nv, units, parameters = "helical", 1, 1, ("rad",), ("pitch",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.pitch, int | float | np.number) and not np.isfinite(self.pitch):
            raise InputError(f"helical joint with pitch {self.pitch!r}: expected a finite number [m/rad]")

    @cached_property
    def _S(self) -> Array:
        return _twist(self.pitch * self._a, self._a)

    @cached_property
    def _T(self) -> Array:
        (u, w), a, h = self._across, self._a, self.pitch
        along = _twist(a, -h * a) / np.sqrt(1 + h * h)
        return np.hstack([_twist(v=u), _twist(v=w), along, _twist(w=u), _twist(w=w)])

    def pose(self, q: Array) -> Array:
        return se3.pose(so3.about(self._a, q[..., 0]), self.pitch * q * self._a)

    def coordinates(self, X: Array) -> Array:
        # the slide says which turn it is
        angle = turn_about(self._a, X)
        if not isinstance(self.pitch, int | float) or self.pitch:
            turns = rint((dot(se3.position(X), self._a) / self.pitch - angle) / (2 * np.pi))
            angle = angle + 2 * np.pi * turns
        return angle[..., None]


@KINDS.register("cylindrical")
@dataclass(frozen=True)
class Cylindrical(Axial):
    """Translation along and rotation about one axis: q = (displacement [m], angle [rad]), S = [(a, 0), (0, a)].

    >>> mr.Cylindrical((0, 0, 1)).pose(np.array([0.3, 0.0]))[:3, 3]
    array([0. , 0. , 0.3])
    """

    kind, nq, nv, units, labels = "cylindrical", 2, 2, ("m", "rad"), ("slide", "turn")

    @cached_property
    def _S(self) -> Array:
        return np.hstack([_twist(v=self._a), _twist(w=self._a)])

    @cached_property
    def _T(self) -> Array:
        u, w = self._across
        return np.hstack([_twist(v=u), _twist(v=w), _twist(w=u), _twist(w=w)])

    def pose(self, q: Array) -> Array:
        return se3.pose(so3.about(self._a, q[..., 1]), q[..., :1] * self._a)

    def coordinates(self, X: Array) -> Array:
        return np.stack([dot(se3.position(X), self._a), turn_about(self._a, X)], axis=-1)

    def elementary(self) -> tuple[JointType, ...]:
        return Prismatic(self.axis), Revolute(self.axis)
