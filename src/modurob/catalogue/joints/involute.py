"""A cable that leaves a pulley: its end moves along involutes of a circle (Lieskovsky 3.1).

The predecessor is in the centre of a pulley of radius r about z. The successor is rotated by phi; its origin, the end
of the cable, is at Rz(phi) (l, r, 0). The unwound length of the cable is r phi, its taut length l, its stretch u = l -
r phi. The angle counts turns; it is positive as long as there is cable left.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from modurob.catalogue.joints.joint import KINDS, JointType
from modurob.errors import InputError
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array, atan2, rint

Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Unwinding(JointType):
    """What the variants share: they differ in the coordinate beside the angle."""

    radius: Any
    parameters: ClassVar[tuple[str, ...]] = ("radius",)

    def __post_init__(self) -> None:
        r = self.radius
        if isinstance(r, bool) or (isinstance(r, int | float | np.number) and not 0 <= r < np.inf):
            raise InputError(f"{self.kind}: radius {r!r}: expected a finite number above zero [m]")

    # ---- what a variant says ----

    @abstractmethod
    def taut(self, q: Array) -> Array:
        """l(q), (...) [m]."""

    @abstractmethod
    def slopes(self, q: Array) -> list[Array]:
        """dl/dq by each coordinate, (...)."""

    @abstractmethod
    def slope_rates(self, q: Array, v: Array) -> list[Array]:
        """d/dt of the slopes, (...)."""

    def beside(self, angle: Array, taut: Array) -> list[Array]:
        """The coordinates beside the angle."""
        return []

    # ---- the joint ----

    def natural(self, q: Array) -> Array:
        """r phi, what is unwound, (...) [m]."""
        return self.radius * q[..., 0]

    def pose(self, q: Array) -> Array:
        R, l = so3.about(Z, q[..., 0]), self.taut(q)
        return se3.pose(R, (R @ np.stack([l, self.radius + 0 * l, 0 * l], axis=-1)[..., None])[..., 0])

    def motion_subspace(self, q: Array) -> Array:
        """[(dl/dphi - r) i + l j, k], and dl/dq i of the other coordinate."""
        l, slopes = self.taut(q), self.slopes(q)
        S = self._zeros(q, self.nv)
        S[..., 0, 0], S[..., 1, 0], S[..., 5, 0] = slopes[0] - self.radius, l, 1.0
        if self.nv == 2:
            S[..., 0, 1] = slopes[1]
        return S

    def subspace_rate(self, q: Array, v: Array) -> Array:
        rates = self.slope_rates(q, v)
        ldot = sum(s * v[..., k] for k, s in enumerate(self.slopes(q)))
        Sdot = self._zeros(q + v, self.nv)
        Sdot[..., 0, 0], Sdot[..., 1, 0] = rates[0], ldot
        if self.nv == 2:
            Sdot[..., 0, 1] = rates[1]
        return Sdot

    def _zeros(self, like: Array, columns: int) -> Array:
        """(..., 6, columns) for the scalars at hand."""
        return np.zeros((*like.shape[:-1], 6, columns), dtype=np.result_type(like, np.asarray(self.radius)))

    def constraint_subspace(self, q: Array) -> Array:
        """Force k; moments i and j; force j with the moment -l k; the rigid one holds force i too."""
        l = self.taut(q)
        T = self._zeros(q, 6 - self.nv)
        T[..., 2, 0] = T[..., 3, 1] = T[..., 4, 2] = T[..., 1, 3] = 1.0
        T[..., 5, 3] = -l
        if self.nv == 1:
            T[..., 0, 4] = 1.0
        return T

    def coordinates(self, X: Array) -> Array:
        """The turn nearest to l / r is taken: what a cable that is not stretched has unwound."""
        R = se3.rotation(X)
        taut = (np.swapaxes(R, -1, -2) @ se3.position(X)[..., None])[..., 0, 0]
        angle = atan2(R[..., 1, 0] - R[..., 0, 1], R[..., 0, 0] + R[..., 1, 1])
        turns = rint((taut / self.radius - angle) / (2 * np.pi))
        angle = angle + 2 * np.pi * turns
        return np.stack([angle, *self.beside(angle, taut)], axis=-1)

    def neutral(self) -> Array:
        """Unwound by one radian, not stretched."""
        one = np.ones(1)
        return np.concatenate([one, *self.beside(one, one * self.radius)])

    def random(self, rng: np.random.Generator, lower: Array, upper: Array) -> Array:
        """Up to three turns unwound and strained by up to a tenth, or between the limits."""
        angle = rng.uniform(0.5, 6 * np.pi, 1)
        drawn = np.concatenate([angle, *self.beside(angle, (1 + rng.uniform(0, 0.1, 1)) * angle * self.radius)])
        return np.clip(drawn, lower, upper)


@KINDS.register("involute")
@dataclass(frozen=True)
class Involute(Unwinding):
    """An inextensible cable that leaves a pulley of `radius` [m]: q = phi, l = r q, S = (r q j, k).

    >>> mr.Involute(0.07).pose(np.array([2 * np.pi])).round(4)[:3, 3] + 0.0
    array([0.4398, 0.07  , 0.    ])
    """

    kind, nq, nv, units = "involute", 1, 1, ("rad",)

    def taut(self, q: Array) -> Array:
        return self.radius * q[..., 0]

    def slopes(self, q: Array) -> list[Array]:
        return [self.radius + 0 * q[..., 0]]

    def slope_rates(self, q: Array, v: Array) -> list[Array]:
        return [0 * v[..., 0]]


@KINDS.register("involute stretch")
@dataclass(frozen=True)
class InvoluteStretch(Unwinding):
    """A cable that leaves a pulley, with q = (phi, u), its angle and its stretch [rad, m]: l = r phi + u.

    >>> round(float(mr.InvoluteStretch(0.07).taut(np.array([2.0, 0.01]))), 9)
    0.15
    """

    kind, nq, nv, units, labels = "involute stretch", 2, 2, ("rad", "m"), ("angle", "stretch")

    def taut(self, q: Array) -> Array:
        return self.radius * q[..., 0] + q[..., 1]

    def slopes(self, q: Array) -> list[Array]:
        return [self.radius + 0 * q[..., 0], 1.0 + 0 * q[..., 0]]

    def slope_rates(self, q: Array, v: Array) -> list[Array]:
        return [0 * v[..., 0], 0 * v[..., 0]]

    def beside(self, angle: Array, taut: Array) -> list[Array]:
        return [taut - self.radius * angle]


@KINDS.register("involute strain")
@dataclass(frozen=True)
class InvoluteStrain(Unwinding):
    """A cable that leaves a pulley, with q = (phi, e), its angle and its strain [rad, 1]: l = r phi (1 + e).

    >>> round(float(mr.InvoluteStrain(0.07).taut(np.array([2.0, 0.1]))), 9)
    0.154
    """

    kind, nq, nv, units, labels = "involute strain", 2, 2, ("rad", "1"), ("angle", "strain")

    def taut(self, q: Array) -> Array:
        return self.radius * q[..., 0] * (1 + q[..., 1])

    def slopes(self, q: Array) -> list[Array]:
        return [self.radius * (1 + q[..., 1]), self.radius * q[..., 0]]

    def slope_rates(self, q: Array, v: Array) -> list[Array]:
        return [self.radius * v[..., 1], self.radius * v[..., 0]]

    def beside(self, angle: Array, taut: Array) -> list[Array]:
        return [taut / (self.radius * angle) - 1]


@KINDS.register("involute length")
@dataclass(frozen=True)
class InvoluteLength(Unwinding):
    """A cable that leaves a pulley, with q = (phi, l), its angle and its taut length [rad, m].

    >>> float(mr.InvoluteLength(0.07).taut(np.array([2.0, 0.15])))
    0.15
    """

    kind, nq, nv, units, labels = "involute length", 2, 2, ("rad", "m"), ("angle", "length")

    def taut(self, q: Array) -> Array:
        return q[..., 1]

    def slopes(self, q: Array) -> list[Array]:
        return [0 * q[..., 0], 1.0 + 0 * q[..., 0]]

    def slope_rates(self, q: Array, v: Array) -> list[Array]:
        return [0 * v[..., 0], 0 * v[..., 0]]

    def beside(self, angle: Array, taut: Array) -> list[Array]:
        return [taut]
