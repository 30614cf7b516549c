"""A joint that follows another."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from modurob.catalogue.joints.joint import JointType
from modurob.errors import InputError
from modurob.spatial.scalars import Array


@dataclass(frozen=True)
class Mimic(JointType):
    """`follower` at ratio * q + offset, where q is the coordinate of another joint: S is scaled by the ratio."""

    follower: JointType
    ratio: float = 1.0
    offset: float = 0.0
    nq, nv = 1, 1

    def __post_init__(self) -> None:
        if self.follower.nq != 1 or not self.follower.axial:
            raise InputError(
                f"a {self.follower.kind} joint cannot mimic: expected a joint with one coordinate and one axis"
            )
        for name in ("kind", "units", "parameters", "axial"):
            object.__setattr__(self, name, getattr(self.follower, name))

    def _q(self, q: Array) -> Array:
        return self.ratio * q + self.offset

    def pose(self, q: Array) -> Array:
        return self.follower.pose(self._q(q))

    def motion_subspace(self, q: Array) -> Array:
        return self.ratio * self.follower.motion_subspace(self._q(q))

    def subspace_rate(self, q: Array, v: Array) -> Array:
        return self.ratio * self.follower.subspace_rate(self._q(q), self.ratio * v)

    @property
    def turns(self) -> bool:
        return self.follower.turns

    def constraint_subspace(self, q: Array) -> Array:
        return self.follower.constraint_subspace(self._q(q))

    def coordinates(self, X: Array) -> Array:
        return (self.follower.coordinates(X) - self.offset) / self.ratio

    def neutral(self) -> Array:
        return np.zeros(1)

    def reversed(self) -> "Mimic":
        return Mimic(self.follower.reversed(), self.ratio, self.offset)

    @property
    def numbers(self) -> dict[str, Any]:
        return self.follower.numbers

    def with_parameters(self, values: Mapping[str, Any]) -> "Mimic":
        return Mimic(self.follower.with_parameters(values), self.ratio, self.offset)
