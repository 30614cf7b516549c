"""The rows of a mechanism's tables: frames, shapes, joints, constraints and forces."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, overload

from modurob.catalogue.contact import Contact, PairContact
from modurob.catalogue.forces import FrameForce, JointForce, JointLaw
from modurob.catalogue.joints import JointType, Mimic
from modurob.catalogue.lines import Line
from modurob.errors import EntryError, choices
from modurob.spatial.scalars import Array


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
    """Frames by name; a slice has names. Those given relative to others, at poses X, are worked out when they are asked for.

    >>> robot.frames["m3"].body, robot.frames[-2:]
    (2, ('m5/5', 'm5/7'))
    """

    def __init__(self, known: Mapping[str, Frame], relative: Mapping[str, Frame], X: Mapping[str, Array]):
        self._known, self._relative, self._X = dict(known), dict(relative), dict(X)

    @classmethod
    def of(cls, frames: Mapping[str, Frame]) -> "Frames":
        """Those of a mapping."""
        return frames if isinstance(frames, cls) else cls(frames, {}, {})

    @overload
    def __getitem__(self, name: str) -> Frame: ...
    @overload
    def __getitem__(self, name: slice) -> tuple[str, ...]: ...
    def __getitem__(self, name: str | slice) -> Frame | tuple[str, ...]:
        if isinstance(name, slice):
            return tuple(self)[name]
        if name in self._known:
            return self._known[name]
        if name not in self._relative:
            raise EntryError(f"no frame {name!r:.80}: {choices(str(name)[:80], self)}")
        on = self._relative[name]
        return Frame(on.body, on.X @ self._X[name])

    def given(self) -> Iterator[Frame]:
        """Those that all are made of, by name or as what others are relative to."""
        yield from self._known.values()
        yield from self._relative.values()

    def relative_poses(self) -> Iterator[Array]:
        """The poses of those that are given relative to others."""
        yield from self._X.values()

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


def frames_of(row: FrameRow | LineRow | ContactRow | PairRow) -> tuple[Frame, ...]:
    """The frames that a force acts between, or on."""
    if isinstance(row, ContactRow):
        return (row.frame,)
    return row.frames if isinstance(row, LineRow) else (row.a, row.b)
