"""What algorithms read: bodies and joints as tables, with parent[i] < i.

Body 0 is the world; `joints[i - 1]` connects body `parent[i]` to body `i`. Everything is constant.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from modurob.catalogue.joints import JointType, Mimic
from modurob.errors import InputError, choices
from modurob.spatial.scalars import Array, read_only


class Limits(NamedTuple):
    """Lowest and highest coordinates, (nq,) each; infinite where there is no limit."""

    lower: Array
    upper: Array


class Frame(NamedTuple):
    """A frame fixed on a body."""

    body: int
    X: Array  # X_BF, pose in the body, (4, 4)


class Loop(NamedTuple):
    """A joint that closes a loop: `joint` from the predecessor frame to the successor frame, on two bodies of the tree."""

    name: str
    type: JointType
    predecessor: Frame
    successor: Frame


class Shape(NamedTuple):
    """What to draw: a box (x, y, z), cylinder (radius, length along z) or sphere (radius), at X in a frame of a body."""

    kind: str
    size: tuple[float, ...]
    frame: Frame
    X: Array
    colour: str

    @property
    def in_body(self) -> Array:
        """Pose in the body, (4, 4)."""
        return self.frame.X @ self.X


class Frames(Mapping[str, Frame]):
    """Frames by name. Those given relative to another are worked out when they are asked for."""

    def __init__(self, known: Mapping[str, Frame], relative: Mapping[str, tuple[Frame, Array]]):
        self._known, self._relative = dict(known), dict(relative)

    def __getitem__(self, name: str) -> Frame:
        if name not in self._known:
            on, X = self._relative[name]
            self._known[name] = Frame(on.body, on.X @ X)
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._relative or name in self._known

    def __iter__(self) -> Iterator[str]:
        yield from (n for n in self._known if n not in self._relative)
        yield from self._relative

    def __len__(self) -> int:
        return len(self._known.keys() | self._relative.keys())


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint of a mechanism: what it is, and where its coordinates stand in q, v and tau."""

    name: str
    type: JointType
    q_slice: slice
    v_slice: slice
    limits: Limits
    velocity_limit: Array  # largest rate, (nv,) [rad/s or m/s]
    effort_limit: Array  # largest torque or force, (nv,) [N m or N]
    damping: Array  # viscous, (nv,) [N m s/rad or N s/m]
    friction: Array  # Coulomb, (nv,) [N m or N]
    armature: Array  # rotor inertia seen at the joint, (nv,) [kg m² or kg]

    @property
    def kind(self) -> str:
        """revolute, prismatic, ...: a key of `catalogue.joints.KINDS`."""
        return self.type.kind

    @property
    def mimics(self) -> bool:
        """Whether the coordinates are another joint's."""
        return isinstance(self.type, Mimic)


@dataclass(frozen=True, eq=False)
class Tables:
    """The constants of a mechanism. Arrays are read-only."""

    name: str
    bodies: tuple[str, ...]  # names; bodies[0] is the world
    parent: tuple[int, ...]  # parent[0] is -1
    joints: tuple[Joint, ...]  # joints[i - 1] moves body i
    X_PJ: Array  # predecessor frame of joint i in body parent[i], (bodies, 4, 4)
    inertia: Array  # spatial inertia of body i in its own frame, (bodies, 6, 6)
    gravity: Array  # in world axes, (3,) [m/s²]
    frames: Mapping[str, Frame]
    loops: tuple[Loop, ...] = ()
    idle: tuple[str, ...] = ()  # joints that move nothing but an empty part of their own module, and are locked
    locked: tuple[str, ...] = ()  # joints locked by request
    redundant: tuple[str, ...] = ()  # connections between parts that are one body anyway
    shapes: tuple[Shape, ...] = ()
    nq: int = field(init=False)
    nv: int = field(init=False)

    def __post_init__(self) -> None:
        owners = [j for j in self.joints if not j.mimics]
        object.__setattr__(self, "nq", sum(j.type.nq for j in owners))
        object.__setattr__(self, "nv", sum(j.type.nv for j in owners))
        for array in (self.X_PJ, self.inertia, self.gravity):
            read_only(array)

    @cached_property
    def armature(self) -> Array:
        """Rotor inertias, (nv,)."""
        return self._of_owners("armature")

    @cached_property
    def damping(self) -> Array:
        """Viscous friction coefficients, (nv,)."""
        return self._of_owners("damping")

    @cached_property
    def coupled(self) -> bool:
        """Whether some joint mimics another."""
        return any(j.mimics for j in self.joints)

    @cached_property
    def ancestors(self) -> tuple[tuple[int, ...], ...]:
        """For each body the bodies between it and the world, itself first, the world left out."""
        lists: list[tuple[int, ...]] = [()]
        for i in range(1, len(self.parent)):
            lists.append((i, *lists[self.parent[i]]))
        return tuple(lists)

    def frame(self, name: str) -> Frame:
        """The frame of that name, or an error with the valid names."""
        if name not in self.frames:
            raise InputError(f"no frame {name!r} in {self.name}: {choices(name, self.frames)}")
        return self.frames[name]

    def joint(self, name: str) -> Joint:
        """The joint of that name, or an error with the valid names."""
        for joint in self.joints:
            if joint.name == name:
                return joint
        raise InputError(f"no joint {name!r} in {self.name}: {choices(name, (j.name for j in self.joints))}")

    def _of_owners(self, name: str) -> Array:
        values: Any = [getattr(j, name) for j in self.joints if not j.mimics]
        return np.concatenate([np.zeros(0), *values])
