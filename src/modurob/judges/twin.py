"""A robot rebuilt in another tool, answering in modurob's coordinates and conventions."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from modurob.mechanism import Tables
from modurob.registry import Registry
from modurob.spatial.scalars import Array

JUDGES: Registry[type["Twin"]] = Registry("judge")


def depth_first(m: Tables) -> list[int]:
    """The moving bodies, each followed by all it carries, as the other tools number them."""
    children: list[list[int]] = [[] for _ in m.parent]
    for i in range(1, len(m.parent)):
        children[m.parent[i]].append(i)
    order, stack = [], children[0][::-1]
    while stack:
        body = stack.pop()
        order.append(body)
        stack.extend(children[body][::-1])
    return order


def stacked(slices: list[slice]) -> Array:
    """The indices of several slices, one after another."""
    return np.concatenate([np.zeros(0, dtype=int), *(np.arange(s.start, s.stop) for s in slices)])


class Twin(ABC):
    """One state at a time: q is (nq,), v, vdot and tau are (nv,).

    The tool counts bodies and joints depth first: `order[k]` is our body k + 1 of the tool, `q_index` and `v_index` take our
    coordinates to its order.
    """

    name: ClassVar[str]
    # how far a correct answer may be off, relative to its largest entry
    tolerance: ClassVar[float]

    def __init__(self, m: Tables):
        self.m = m
        self.order = depth_first(m)
        self.q_index = stacked([m.joints[i - 1].q_slice for i in self.order])
        self.v_index = stacked([m.joints[i - 1].v_slice for i in self.order])
        # number of our body i in the tool
        self.number = np.argsort([0, *self.order])

    def ours(self, theirs: Array) -> Array:
        """A vector or square matrix over v in our order."""
        back = np.argsort(self.v_index)
        return theirs[np.ix_(*[back] * theirs.ndim)]

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
