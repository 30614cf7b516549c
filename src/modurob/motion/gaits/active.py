"""The joints that a gait moves, one generator each, and which of them are neighbours."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from modurob.caching import cached_property
from modurob.errors import GaitError, choices
from modurob.kinematics.wheels import rim
from modurob.mechanism.tables import Joint
from modurob.robot import Mechanism
from modurob.spatial import se3
from modurob.spatial.scalars import Array

BASE = -1  # the parent of a joint that hangs on the base


class Network(NamedTuple):
    """The specification for a generator: a wave for each joint, and the couplings between them."""

    phase: Array  # wave i is to run as sin(s + phase[i]), (n,) [rad]
    depth: Array  # couplings between joint i and the first one, (n,)
    listens: Array  # row i: equal weights on the neighbours of i, sum one, (n, n)


@dataclass(frozen=True, eq=False)
class Active:
    """The active joints of a robot as a tree of their own, in joint order. Joints in between that are held do not count."""

    robot: Mechanism
    body: tuple[int, ...]  # that each joint moves
    parent: tuple[int, ...]  # the next active joint towards the base, as a place in this list, or BASE

    def __len__(self) -> int:
        return len(self.body)

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        return tuple(self.robot.joints[i - 1] for i in self.body)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(joint.name for joint in self.joints)

    @cached_property
    def q_index(self) -> Array:
        """Indices of their coordinates in q, (n,)."""
        return np.array([joint.q_slice.start for joint in self.joints])

    @cached_property
    def v_index(self) -> Array:
        """Indices of their rates in v, (n,)."""
        return np.array([joint.v_slice.start for joint in self.joints])

    @cached_property
    def children(self) -> dict[int, tuple[int, ...]]:
        """The joints that each joint, and the base, carries."""
        return {j: tuple(i for i, p in enumerate(self.parent) if p == j) for j in range(BASE, len(self))}

    @cached_property
    def depth(self) -> Array:
        """Active joints between each joint and the base, (n,)."""
        depth: list[int] = []
        for p in self.parent:
            depth.append(0 if p == BASE else depth[p] + 1)
        return np.array(depth)

    @cached_property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """Neighbours: each joint and its parent; those on the base and the first of them. A tree over all joints."""
        return tuple((max(p, 0), i) for i, p in enumerate(self.parent) if i > 0)

    def network(self, phase: Array) -> Network:
        """The couplings with these phases; the phase difference of an edge is that of its ends."""
        n = len(self)
        depth, linked = np.zeros(n, dtype=int), np.eye(n) if n == 1 else np.zeros((n, n))
        for a, b in self.edges:
            depth[b] = depth[a] + 1
            linked[a, b] = linked[b, a] = 1
        return Network(phase, depth, linked / linked.sum(axis=1, keepdims=True))

    @cached_property
    def limbs(self) -> tuple[tuple[int, ...], ...]:
        """Unbranched ends of the tree, each from its first joint to its tip, in the order of their first joints."""
        return tuple(sorted(self._limb(tip) for tip in range(len(self)) if not self.children[tip]))

    def _limb(self, tip: int) -> tuple[int, ...]:
        limb = [tip]
        while (p := self.parent[limb[-1]]) != BASE and len(self.children[p]) == 1:
            limb.append(p)
        return tuple(reversed(limb))

    def axes(self, q: Array) -> Array:
        """Directions that the joints turn about (sliding joints: along) at q, in world axes, (n, 3)."""
        X_WB = self.robot.forward_kinematics(q).bodies
        axes = []
        for i, joint in zip(self.body, self.joints, strict=True):
            linear, angular = np.split(joint.type.motion_subspace(q[joint.q_slice])[:, 0], 2)
            axes.append(se3.rotation(X_WB[i]) @ (angular if joint.type.angles else linear))
        return np.array(axes)


def active_joints(robot: Mechanism, names: Collection[str] | None = None) -> Active:
    """The named joints of one coordinate; without names all joints that turn about one axis, except wheels."""
    bodies = [i for i, j in enumerate(robot.joints, 1) if j.type.nv == j.type.nq == 1 and not j.mimics]
    if names is None:
        bodies = [i for i in bodies if robot.joints[i - 1].type.angles and rim(robot, i) is None]
    else:
        require_movable(robot, names)
        bodies = [i for i in bodies if robot.joints[i - 1].name in names]
    if not bodies:
        kinds = ", ".join(f"{j.name} ({j.kind})" for j in robot.joints[:12])
        raise GaitError(
            f"{robot.name} has no joint to move, only {kinds or 'none'}: expected a joint that turns about an axis"
        )
    parent = []
    for i in bodies:
        above = [b for b in robot.ancestors[i][1:] if b in bodies]
        parent.append(bodies.index(above[0]) if above else BASE)
    return Active(robot, tuple(bodies), tuple(parent))


def require_movable(robot: Mechanism, names: Collection[str]) -> None:
    """Refuse names that are not of joints with one coordinate of their own."""
    valid = [j.name for j in robot.joints if j.type.nv == j.type.nq == 1 and not j.mimics]
    for name in names:
        if name not in valid:
            raise GaitError(f"no joint {name!r} with one coordinate in {robot.name}: {choices(name, valid)}")
