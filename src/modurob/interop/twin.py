"""A robot rebuilt in another tool, answering in modurob's coordinates and conventions."""

from abc import ABC, abstractmethod
from typing import ClassVar

from modurob.mechanism import Tables
from modurob.spatial.scalars import Array


class Twin(ABC):
    """One state at a time: q is (nq,), v, vdot and tau are (nv,)."""

    name: ClassVar[str]
    # how far a correct answer may be off, relative to its largest entry
    tolerance: ClassVar[float]

    @classmethod
    @abstractmethod
    def obstacle(cls, m: Tables) -> str | None:
        """Why the tool cannot hold this robot, or None."""

    @abstractmethod
    def body_poses(self, q: Array) -> Array:
        """X_WB of all bodies, the world first, (bodies, 4, 4)."""

    @abstractmethod
    def body_jacobian(self, q: Array, body: int) -> Array:
        """6 x nv in body axes at the body's origin."""

    @abstractmethod
    def inverse_dynamics(self, q: Array, v: Array, vdot: Array) -> Array:
        """tau of the tree."""

    @abstractmethod
    def mass_matrix(self, q: Array) -> Array:
        """M of the tree."""

    @abstractmethod
    def forward_dynamics(self, q: Array, v: Array, tau: Array) -> Array:
        """vdot of the tree."""
