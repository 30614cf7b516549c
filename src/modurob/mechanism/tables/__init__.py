"""What algorithms read: bodies, joints, constraints and forces as tables, with parent[i] < i.

Body 0 is the world; `joints[i - 1]` connects body `parent[i]` to body `i`. Everything is constant: tables are values, equal if
they hold the same, whatever was done with them.
"""

from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np

from modurob.caching import cached_property
from modurob.catalogue.forces import Friction
from modurob.errors import InputError, choices
from modurob.mechanism.tables.consistency import arrays_of, require_consistent
from modurob.mechanism.tables.digest import lasts, numbers_digest, words_digest
from modurob.mechanism.tables.rows import (
    Constraint,
    ContactRow,
    Coupling,
    ForceRow,
    Frame,
    FrameRow,
    Frames,
    Joint,
    JointRow,
    Limits,
    LineRow,
    Loop,
    PairRow,
    Shape,
)
from modurob.spatial.scalars import Array, read_only
from modurob.values import owned

__all__ = [
    "FLOATING_BASE",
    "Constraint",
    "ContactRow",
    "Coupling",
    "ForceRow",
    "Frame",
    "FrameRow",
    "Frames",
    "Joint",
    "JointRow",
    "Limits",
    "LineRow",
    "Loop",
    "PairRow",
    "Shape",
    "Tables",
    "current",
]

FLOATING_BASE = "floating_base"  # the free joint of a robot that does not stand


@dataclass(frozen=True, eq=False)
class Tables:
    """The constants of a mechanism. Arrays are read-only, also after pickling; `==` and `hash` go by content."""

    name: str
    bodies: tuple[str, ...]  # names; bodies[0] is the world
    parent: tuple[int, ...]  # parent[0] is -1
    joints: tuple[Joint, ...]  # joints[i - 1] moves body i
    X_PJ: Array  # predecessor frame of joint i in body parent[i], (bodies, 4, 4)
    inertia: Array  # spatial inertia of body i in its own frame, (bodies, 6, 6)
    gravity: Array  # in world axes, (3,) [m/s²]
    frames: Frames  # by name, made of any mapping
    constraints: tuple[Constraint, ...] = ()
    forces: tuple[ForceRow, ...] = ()
    idle: tuple[str, ...] = ()  # joints that move nothing but an empty part of their own module, and are locked
    held: tuple[str, ...] = ()  # joints locked by request
    redundant: tuple[str, ...] = ()  # connections between parts that are one body anyway
    shapes: tuple[Shape, ...] = ()  # what is drawn
    collisions: tuple[Shape, ...] = ()  # what collides, where that is not what is drawn
    nq: int = field(init=False)
    nv: int = field(init=False)

    def __post_init__(self) -> None:
        owners = [j for j in self.joints if not j.mimics]
        object.__setattr__(self, "nq", sum(j.type.nq for j in owners))
        object.__setattr__(self, "nv", sum(j.type.nv for j in owners))
        object.__setattr__(self, "frames", Frames.of(self.frames))
        for name in ("X_PJ", "inertia", "gravity"):
            object.__setattr__(self, name, owned(getattr(self, name)))
        require_consistent(self)
        for array in arrays_of(self):
            array.setflags(write=False)

    # ---- values ----

    @cached_property
    def key(self) -> bytes:
        """A digest, equal for robots with equal numbers, names and shapes aside: compiled code is found by it.

        >>> robot.key == assembly.renamed({"m5": "tail"}).mechanism(base="m0").key
        True
        """
        return numbers_digest(self)

    @cached_property
    def _lasts(self) -> bool:
        return lasts(self)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Tables) and self.key == other.key and self._words == other._words)

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple[Any, ...]:
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.init}
        return _rebuilt, (type(self), {**own, "frames": dict(self.frames)})

    @cached_property
    def _words(self) -> bytes:
        """A digest of what the key leaves out: two robots are compared in every call that is looked up in a cache."""
        return words_digest(self)

    @property
    def solids(self) -> tuple[Shape, ...]:
        """What can be touched: the collision geometry, or where there is none what is drawn, but for meshes.

        >>> robot.solids == robot.shapes
        True
        """
        return self.collisions or tuple(s for s in self.shapes if s.kind != "mesh")

    # ---- over rates ----

    @cached_property
    def armature(self) -> Array:
        """Rotor inertias by rate, (nv,) [kg m² or kg], added to the diagonal of M; those of mimic joints with their ratio squared.

        >>> robot.armature
        array([0., 0., 0.])
        """
        total = np.zeros(self.nv, dtype=np.result_type(float, *(j.armature for j in self.joints)))
        for j in self.joints:
            total[j.v_slice] += j.ratio**2 * j.armature
        return read_only(total)

    @cached_property
    def damping(self) -> Array:
        """Viscous friction by rate, (nv,) [N m s/rad or N s/m], tau = -damping v; that of mimic joints with their ratio squared.

        >>> assembly.with_parameters(damping=0.5).mechanism().damping
        array([0.5, 0.5, 0.5])
        """
        own = [row for row in self.forces if isinstance(row, JointRow)]
        rows = [(self.joints[row.joint], row.rate, row.force.viscous) for row in own if isinstance(row.force, Friction)]
        total = np.zeros(self.nv, dtype=np.result_type(float, *(np.asarray(viscous) for _, _, viscous in rows)))
        for joint, rate, viscous in rows:
            total[joint.v_slice.start + rate] += joint.ratio**2 * viscous
        return read_only(total)

    @cached_property
    def effort_limit(self) -> Array:
        """Largest torques of the drives, (nv,) [N m or N]; infinite where any torque is given, zero where there is no drive.

        >>> robot.effort_limit
        array([7., 7., 7.])
        """
        return self._of_owners("effort_limit")

    @cached_property
    def coordinate_of(self) -> Array:
        """The coordinate in q of each rate, (nv,) whole numbers; -1 for the rates of quaternions.

        >>> robot.coordinate_of
        array([0, 1, 2])
        >>> assembly.mechanism(floating=True).coordinate_of
        array([-1, -1, -1, -1, -1, -1,  7,  8,  9])
        """
        at = np.full(self.nv, -1)
        for j in self.joints:
            if j.type.nq == j.type.nv:
                at[j.v_slice] = np.arange(j.q_slice.start, j.q_slice.stop)
        return read_only(at)

    @cached_property
    def limits(self) -> Limits:
        """Limits by rate, .lower and .upper, (nv,) [rad or m], infinite where there is none.

        Those of mimic joints are among them where they leave anything.

        >>> robot.limits.upper.round(4)
        array([1.5708, 1.5708, 1.5708])
        """
        lower, upper = np.full(self.nv, -np.inf), np.full(self.nv, np.inf)
        for j in sorted(self.joints, key=lambda j: j.mimics):
            if j.type.nq == j.type.nv and j.ratio:
                ends = np.sort([(x - j.offset) / j.ratio for x in j.limits], axis=0) + 0.0
                low, high = np.maximum(lower[j.v_slice], ends[0]), np.minimum(upper[j.v_slice], ends[1])
                if not j.mimics or np.all(low < high):
                    lower[j.v_slice], upper[j.v_slice] = low, high
        return Limits(read_only(lower), read_only(upper))

    @cached_property
    def coupled(self) -> bool:
        """Whether some joint mimics another: its coordinate is ratio times that of another joint, plus an offset.

        >>> robot.coupled
        False
        """
        return any(j.mimics for j in self.joints)

    @cached_property
    def hubs(self) -> frozenset[int]:
        """The parent bodies of joints that share a coordinate, if each such coordinate can be eliminated at one body; else none.

        It can where all of its joints are on one moving body, and none of them carries others such.

        >>> robot.hubs
        frozenset()
        """
        groups: dict[int, list[int]] = {}
        for i, joint in enumerate(self.joints, start=1):
            groups.setdefault(joint.v_slice.start, []).append(i)
        shared = [bodies for bodies in groups.values() if len(bodies) > 1]
        members = {i for bodies in shared for i in bodies}
        found = {self.parent[bodies[0]] for bodies in shared if len({self.parent[i] for i in bodies}) == 1}
        simple = all(self.joints[i - 1].type.axial for i in members)
        alone = len(found) == len(shared) and not found & (members | {0})
        return frozenset(found) if simple and alone else frozenset()

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """The constraints that are loop joints: name, type, predecessor and successor frame.

        >>> [loop.name for loop in linkage.loops]
        ['m0/4 - m2/3']
        """
        return tuple(c for c in self.constraints if isinstance(c, Loop))

    @cached_property
    def lines(self) -> tuple[LineRow, ...]:
        """The forces that are lines: name, route and law, and the frame of each node.

        >>> robot.lines
        ()
        """
        return tuple(row for row in self.forces if isinstance(row, LineRow))

    @cached_property
    def contacts(self) -> tuple[ContactRow, ...]:
        """The forces that are contacts with the ground: name, shape and ground, and the frame of the shape.

        >>> robot.contacts
        ()
        """
        return tuple(row for row in self.forces if isinstance(row, ContactRow))

    @cached_property
    def body_contacts(self) -> tuple[PairRow, ...]:
        """The forces that are contacts between bodies: name, shapes and material, and the frames of the two shapes.

        >>> robot.body_contacts
        ()
        """
        return tuple(row for row in self.forces if isinstance(row, PairRow))

    # ---- structure ----

    @cached_property
    def ancestors(self) -> tuple[tuple[int, ...], ...]:
        """For each body the bodies between it and the world, itself first, the world left out; body 0 is the world.

        >>> robot.ancestors
        ((), (1,), (2, 1), (3, 1))
        """
        lists: list[tuple[int, ...]] = [()]
        for i in range(1, len(self.parent)):
            lists.append((i, *lists[self.parent[i]]))
        return tuple(lists)

    def frame(self, name: str) -> Frame:
        """The frame of that name, its body and its pose X_BF there, (4, 4) [m], or an error with the valid names.

        >>> robot.frame("m3").body, robot.bodies[robot.frame("m3").body]
        (2, 'm2/B')
        """
        if name not in self.frames:
            raise InputError(f"no frame {name!r} in {self.name}: {choices(str(name), self.frames)}")
        return self.frames[name]

    def joint(self, name: str) -> Joint:
        """The joint of that name, with its kind, limits and places in q and v; or an error with the valid names.

        >>> joint = robot.joint("m2/hinge")
        >>> joint.kind, joint.q_slice, joint.v_slice
        ('revolute', slice(1, 2, None), slice(1, 2, None))
        """
        for joint in self.joints:
            if joint.name == name:
                return joint
        raise InputError(f"no joint {name!r} in {self.name}: {choices(str(name), (j.name for j in self.joints))}")

    def _of_owners(self, name: str) -> Array:
        values: Any = [getattr(j, name) for j in self.joints if not j.mimics]
        return read_only(np.concatenate([np.zeros(0), *values]))


M = TypeVar("M", bound=Tables)


def current(m: M) -> M:
    """A robot itself; made anew where what a joint or force from outside the package does was defined again since."""
    return m if m._lasts or numbers_digest(m) == m.key else replace(m)


def _rebuilt(cls: type[Tables], own: dict[str, Any]) -> Tables:
    return cls(**own)
