"""Which joints a controller can move."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from modurob.caching import cached_property
from modurob.catalogue.joints import Free
from modurob.errors import ControlError, choices
from modurob.mechanism import Joint
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array


@dataclass(frozen=True, eq=False)
class Drives:
    """The driven joints of a robot. Fixed joints and joints that mimic another have no drive of their own."""

    robot: Mechanism
    joints: tuple[Joint, ...]

    @classmethod
    def of(cls, robot: Mechanism, actuated: Sequence[str] | None = None) -> "Drives":
        """Drives at the joints named; None: at all with an effort above zero but the floating base, a free joint at the root."""
        joints = movable(robot)
        if actuated is None:
            return cls(robot, tuple(j for j in joints if j not in floating(robot) and np.any(j.effort_limit > 0)))
        if not isinstance(actuated, Iterable):
            raise ControlError(
                f"actuated = {actuated!r:.60}: expected names of joints, {', '.join(j.name for j in joints)}"
            )
        wanted = {actuated} if isinstance(actuated, str) else set(actuated)
        everywhere = cls(robot, joints)
        for name in wanted:
            everywhere.joint(name, "actuated")
        return cls(robot, tuple(j for j in joints if j.name in wanted))

    @cached_property
    def q(self) -> Array:
        """Indices of the driven coordinates in q."""
        return np.concatenate([np.arange(0), *(np.r_[j.q_slice] for j in self.joints)])

    @cached_property
    def v(self) -> Array:
        """Indices of the driven rates in v and tau."""
        return np.concatenate([np.arange(0), *(np.r_[j.v_slice] for j in self.joints)])

    @cached_property
    def passive(self) -> Array:
        """Indices of the rates without a drive in v and tau."""
        return np.setdiff1d(np.arange(self.robot.nv), self.v)

    def joint(self, name: str, what: str) -> Joint:
        """The joint of that name, given as argument `what`."""
        for joint in self.joints:
            if joint.name == name:
                return joint
        valid = choices(str(name), (j.name for j in self.joints))
        raise ControlError(f"{what}: {name!r} is no joint of {self.robot.name} that can be driven: {valid}")


def floating(robot: Mechanism) -> tuple[Joint, ...]:
    """The free joints whose parent is the world."""
    pairs = zip(robot.joints, robot.parent[1:], strict=True)
    return tuple(j for j, parent in pairs if parent == 0 and isinstance(j.type, Free))


def movable(robot: Mechanism) -> tuple[Joint, ...]:
    """The joints with rates of their own."""
    return tuple(j for j in robot.joints if j.type.nv and not j.mimics)
