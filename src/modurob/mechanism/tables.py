"""What algorithms read: bodies, joints, constraints and forces as tables, with parent[i] < i.

Body 0 is the world; `joints[i - 1]` connects body `parent[i]` to body `i`. Everything is constant: tables are values, equal if
they hold the same, whatever was done with them.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from modurob.caching import cached_property
from modurob.catalogue.contact import Contact, PairContact
from modurob.catalogue.forces import FrameForce, Friction, JointForce, JointLaw
from modurob.catalogue.joints import JointType, Mimic, Reversed
from modurob.catalogue.lines import Line
from modurob.errors import InputError, MechanismError, choices
from modurob.registry import fingerprint
from modurob.spatial.scalars import Array, read_only

FLOATING_BASE = "floating_base"  # the free joint of a robot that does not stand


class Limits(NamedTuple):
    """Lowest and highest coordinates, (nq,) each; infinite where there is no limit."""

    lower: Array
    upper: Array


class Frame(NamedTuple):
    """A frame fixed on a body."""

    body: int
    X: Array  # X_BF, pose in the body, (4, 4)


class Shape(NamedTuple):
    """A box (x, y, z), cylinder or capsule (radius, length along z), sphere (radius) or mesh (scales), at X in a body's frame."""

    kind: str
    size: tuple[float, ...]
    frame: Frame
    X: Array
    colour: str
    file: str = ""  # of a mesh

    @property
    def in_body(self) -> Array:
        """Pose in the body, (4, 4)."""
        return self.frame.X @ self.X


class Loop(NamedTuple):
    """A constraint: the joint `type` from the predecessor frame to the successor frame, on two bodies of the tree."""

    name: str
    type: JointType
    predecessor: Frame
    successor: Frame

    @property
    def rows(self) -> int:
        """Equations it adds."""
        return 6 - self.type.nv


class Coupling(NamedTuple):
    """A constraint: sum of ratio times coordinate over some joints of one coordinate = offset, as gears and belts have it."""

    name: str
    joints: tuple[int, ...]  # places in the table of joints
    ratios: tuple[float, ...]
    offset: float = 0.0  # [rad or m]

    @property
    def rows(self) -> int:
        """Equations it adds."""
        return 1


Constraint = Loop | Coupling


class JointRow(NamedTuple):
    """A force along one rate of a joint, or a law along all of them."""

    name: str
    force: JointForce | JointLaw
    joint: int  # place in the table of joints
    rate: int = 0  # which of its rates


class FrameRow(NamedTuple):
    """A force between two frames."""

    name: str
    force: FrameForce
    a: Frame
    b: Frame


class LineRow(NamedTuple):
    """A line over frames; its winches are joints of one coordinate."""

    name: str
    force: Line
    frames: tuple[Frame, ...]  # one for each node of its route
    joints: tuple[int, ...] = ()  # places in the table of joints, one for each drum; -1: it is held


class ContactRow(NamedTuple):
    """A shape on a body that touches the ground; the ground belongs to the world."""

    name: str
    force: Contact
    frame: Frame


class PairRow(NamedTuple):
    """Shapes on two bodies that touch each other; one of them may be the world."""

    name: str
    force: PairContact
    a: Frame
    b: Frame


ForceRow = JointRow | FrameRow | LineRow | ContactRow | PairRow


class Frames(Mapping[str, Frame]):
    """Frames by name. Those given relative to another are worked out when they are asked for."""

    def __init__(self, known: Mapping[str, Frame], relative: Mapping[str, tuple[Frame, Array]] | None = None):
        self._known, self._relative = dict(known), dict(relative or {})

    def __getitem__(self, name: str) -> Frame:
        found = self._known.get(name)
        if found is not None:
            return found
        on, X = self._relative[name]
        return Frame(on.body, on.X @ X)

    def __contains__(self, name: object) -> bool:
        return name in self._relative or name in self._known

    def __iter__(self) -> Iterator[str]:
        yield from self._known
        yield from self._relative

    def __len__(self) -> int:
        return len(self._known) + len(self._relative)


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint of a mechanism: what it is, and where its coordinates stand in q, v and tau."""

    name: str
    type: JointType
    q_slice: slice
    v_slice: slice
    limits: Limits
    velocity_limit: Array  # largest rate, (nv,) [rad/s or m/s]
    effort_limit: Array  # largest torque or force of its drive, (nv,) [N m or N]; zero: it has no drive
    armature: Array  # rotor inertia seen at the joint, (nv,) [kg m² or kg]

    @property
    def kind(self) -> str:
        """revolute, prismatic, ...: a key of `catalogue.joints.KINDS`."""
        return self.type.kind

    @property
    def mimics(self) -> bool:
        """Whether the coordinates are another joint's."""
        return isinstance(self.type, Mimic)

    @property
    def ratio(self) -> float:
        """Of its own rate to the rate in v: one unless it mimics."""
        return self.type.ratio if isinstance(self.type, Mimic) else 1.0

    @property
    def offset(self) -> float:
        """Of its own coordinate from ratio times the one in q: zero unless it mimics."""
        return self.type.offset if isinstance(self.type, Mimic) else 0.0

    def rate_names(self) -> list[str]:
        """Names of its entries in v and tau."""
        return _labelled(self.name, self.type.labels)

    def coordinate_names(self) -> list[str]:
        """Names of its entries in q."""
        return _labelled(self.name, self.type.q_labels or self.type.labels)


def _labelled(name: str, labels: Iterable[str]) -> list[str]:
    return [f"{name} {label}".strip() for label in labels]


@dataclass(frozen=True, eq=False)
class Tables:
    """The constants of a mechanism. Arrays are read-only; `==` and `hash` go by content."""

    name: str
    bodies: tuple[str, ...]  # names; bodies[0] is the world
    parent: tuple[int, ...]  # parent[0] is -1
    joints: tuple[Joint, ...]  # joints[i - 1] moves body i
    X_PJ: Array  # predecessor frame of joint i in body parent[i], (bodies, 4, 4)
    inertia: Array  # spatial inertia of body i in its own frame, (bodies, 6, 6)
    gravity: Array  # in world axes, (3,) [m/s²]
    frames: Mapping[str, Frame]
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
        _require_consistent(self)
        for array in (self.X_PJ, self.inertia, self.gravity):
            read_only(array)

    # ---- values ----

    @cached_property
    def key(self) -> bytes:
        """A digest, equal for robots with equal numbers, names and shapes aside: compiled code is found by it.

        >>> robot.key == assembly.renamed({"m5": "tail"}).mechanism(base="m0").key
        True
        """
        return _digest(self)

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
        return _words_digest(self)

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
        """The bodies that joints which share a coordinate hang on, if each such coordinate can be eliminated at one; else none.

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
        """The forces that are contacts between bodies: name, shapes and how they feel, and the frames of the two shapes.

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


def _rebuilt(cls: type[Tables], own: dict[str, Any]) -> Tables:
    return cls(**own)


# ---- what makes tables equal ----


def _digest(m: Tables) -> bytes:
    digest = hashlib.sha256()
    for array in (m.X_PJ, m.inertia, m.gravity):
        digest.update(_bytes(array))
    digest.update(repr(m.parent).encode())
    for j in m.joints:
        digest.update(_text(j.type))
        digest.update(b"%d %d" % (j.q_slice.start, j.v_slice.start))
        digest.update(b"".join(map(_bytes, (*j.limits, j.velocity_limit, j.effort_limit, j.armature))))
    for c in m.constraints:
        digest.update(_constraint_bytes(c))
    for row in m.forces:
        digest.update(_force_bytes(row))
    return digest.digest()


def _words_digest(m: Tables) -> bytes:
    """Names and places of all there is, and what is drawn."""
    frames, shapes = sorted(m.frames.items()), (*m.shapes, *m.collisions)
    rows = [x.name for x in (*m.joints, *m.constraints, *m.forces)]
    at = [(name, frame.body) for name, frame in frames]
    drawn = [(s.kind, tuple(map(_word, s.size)), s.frame.body, s.colour, s.file) for s in shapes]
    words = m.name, m.bodies, rows, m.idle, m.held, m.redundant, at, len(m.shapes), drawn
    digest = hashlib.sha256(repr(words).encode())
    digest.update(_bytes(_stacked(frame.X for _, frame in frames)))
    digest.update(_bytes(_stacked(s.frame.X for s in shapes) @ _stacked(s.X for s in shapes)))
    return digest.digest()


def _stacked(poses: Iterable[Array]) -> Array:
    return np.array(list(poses)).reshape(-1, 4, 4)


@lru_cache(maxsize=4096)
def _text(value: JointType | JointForce | JointLaw | FrameForce | Line | Contact | PairContact) -> bytes:
    return _word(value).encode()


def _word(x: Any) -> str:
    """A number to its last bit, a joint or force by what it does and its numbers, anything else as it writes itself."""
    if is_dataclass(x):
        return f"{fingerprint(type(x))}({','.join(_word(getattr(x, f.name)) for f in fields(x))})"
    if isinstance(x, Reversed):
        return f"reversed {_word(x.original)}"
    if isinstance(x, tuple):
        return f"({','.join(map(_word, x))})"
    return (float(x) + 0.0).hex() if isinstance(x, int | float | np.number) else repr(x)


def _bytes(array: Array) -> bytes:
    return repr(array.tolist()).encode() if array.dtype == object else (np.ascontiguousarray(array) + 0.0).tobytes()


def _frame_bytes(frame: Frame) -> bytes:
    return b"%d" % frame.body + _bytes(frame.X)


def _constraint_bytes(c: Constraint) -> bytes:
    if isinstance(c, Loop):
        return _text(c.type) + _frame_bytes(c.predecessor) + _frame_bytes(c.successor)
    return repr((c.joints, c.ratios, c.offset)).encode()


def _force_bytes(row: ForceRow) -> bytes:
    if isinstance(row, JointRow):
        return _text(row.force) + b"%d %d" % (row.joint, row.rate)
    joints = repr(row.joints).encode() if isinstance(row, LineRow) else b""
    return _text(row.force) + b"".join(map(_frame_bytes, frames_of(row))) + joints


def frames_of(row: FrameRow | LineRow | ContactRow | PairRow) -> tuple[Frame, ...]:
    """The frames that a force acts between, or on."""
    if isinstance(row, ContactRow):
        return (row.frame,)
    return row.frames if isinstance(row, LineRow) else (row.a, row.b)


# ---- what every table must hold, wherever it comes from ----


def _require_consistent(m: Tables) -> None:
    n = len(m.bodies)
    shapes = {"parent": (len(m.parent),), "X_PJ": m.X_PJ.shape, "inertia": m.inertia.shape, "gravity": m.gravity.shape}
    expected = {"parent": (n,), "X_PJ": (n, 4, 4), "inertia": (n, 6, 6), "gravity": (3,)}
    for name, shape in shapes.items():
        if shape != expected[name]:
            raise MechanismError(f"{m.name}: table {name} has shape {shape}: expected {expected[name]}")
    for name, array in (("X_PJ", m.X_PJ), ("inertia", m.inertia), ("gravity", m.gravity)):
        if array.dtype != object and not np.isfinite(array).all():
            raise MechanismError(f"{m.name}: table {name} holds what is no number: expected finite ones")
    if n < 1 or len(m.joints) != n - 1:
        raise MechanismError(
            f"{m.name}: {len(m.joints)} joints for {n} bodies: expected one for each body but the world"
        )
    if m.parent[0] != -1 or any(not 0 <= p < i for i, p in enumerate(m.parent[1:], start=1)):
        raise MechanismError(f"{m.name}: parents {m.parent[:8]}...: expected -1, then for each body one before it")
    _require_places(m)
    for frame in {id(f): f for f in _all_frames(m)}.values():
        if not 0 <= frame.body < n or np.shape(frame.X) != (4, 4):
            raise MechanismError(f"{m.name}: a frame on body {frame.body}: expected a body below {n} and a pose (4, 4)")
    for row in m.forces:
        if isinstance(row, JointRow):
            _require_rate(m, row)
        if isinstance(row, LineRow):
            _require_line(m, row)
    for c in m.constraints:
        if isinstance(c, Coupling):
            _require_coupling(m, c)


def _require_places(m: Tables) -> None:
    """Coordinates and rates of the joints in a row; those of a mimic are another joint's."""
    q = v = 0
    sources = {j.q_slice.start: j for j in m.joints if not j.mimics}
    for j in m.joints:
        at = (j.q_slice.start, j.v_slice.start) if j.mimics else (q, v)
        if (j.q_slice, j.v_slice) != (slice(at[0], at[0] + j.type.nq), slice(at[1], at[1] + j.type.nv)):
            raise MechanismError(
                f"{m.name}: joint {j.name} has coordinates {j.q_slice} and rates {j.v_slice}: expected {j.type.nq} from {q} on "
                f"and {j.type.nv} from {v} on"
            )
        if j.mimics:
            source = sources.get(j.q_slice.start)
            if source is None or source.v_slice != j.v_slice:
                raise MechanismError(f"{m.name}: joint {j.name} mimics no joint: its coordinate is nobody's")
        else:
            q, v = j.q_slice.stop, j.v_slice.stop
        for what in ("velocity_limit", "effort_limit", "armature"):
            if getattr(j, what).shape != (j.type.nv,):
                raise MechanismError(f"{m.name}: {what} of joint {j.name}: expected {j.type.nv} numbers")
        if any(bound.shape != (j.type.nq,) for bound in j.limits):
            raise MechanismError(f"{m.name}: limits of joint {j.name}: expected {j.type.nq} numbers each")


def _all_frames(m: Tables) -> Iterator[Frame]:
    frames = m.frames
    known = frames._known.values() if isinstance(frames, Frames) else frames.values()
    yield from known
    if isinstance(frames, Frames):
        yield from (on for on, _ in frames._relative.values())
    for c in m.loops:
        yield from (c.predecessor, c.successor)
    for row in m.forces:
        if not isinstance(row, JointRow):
            yield from frames_of(row)
    yield from (s.frame for s in m.shapes)


def _require_rate(m: Tables, row: JointRow) -> None:
    if not 0 <= row.joint < len(m.joints) or not 0 <= row.rate < m.joints[row.joint].type.nv:
        raise MechanismError(f"{m.name}: force {row.name} acts on rate {row.rate} of joint {row.joint}: there is none")
    joint = m.joints[row.joint]
    obstacle = row.force.obstacle(joint.type) if isinstance(row.force, JointLaw) else None
    if obstacle:
        raise MechanismError(
            f"{m.name}: force {row.name} ({row.force.kind}) on the {joint.kind} joint {joint.name}: {obstacle}"
        )
    if row.force.positional and joint.type.nq != joint.type.nv:
        raise MechanismError(
            f"{m.name}: force {row.name} ({row.force.kind}) needs a coordinate, and the {joint.kind} joint {joint.name} has "
            "quaternions: put it on another joint, or between frames"
        )


def _require_line(m: Tables, row: LineRow) -> None:
    if len(row.frames) != len(row.force.nodes) or len(row.joints) != len(row.force.drums):
        raise MechanismError(
            f"{m.name}: line {row.name} has {len(row.frames)} frames and {len(row.joints)} joints: expected "
            f"{len(row.force.nodes)} and {len(row.force.drums)}"
        )
    for i in row.joints:
        if not -1 <= i < len(m.joints) or (i >= 0 and (m.joints[i].type.nq, m.joints[i].type.nv) != (1, 1)):
            raise MechanismError(f"{m.name}: line {row.name}: expected winches on joints of one coordinate")


def _require_coupling(m: Tables, c: Coupling) -> None:
    if len(c.joints) != len(c.ratios) or not c.joints or not np.all(np.isfinite([*c.ratios, c.offset])):
        raise MechanismError(
            f"{m.name}: coupling {c.name}: expected a finite ratio for each joint, and a finite offset"
        )
    for i in c.joints:
        if not 0 <= i < len(m.joints) or m.joints[i].type.nv != 1:
            raise MechanismError(f"{m.name}: coupling {c.name}: expected joints of one coordinate")
