"""Put a mechanism together body by body; assemblies and URDF files go through it too."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from modurob.catalogue.joints import Fixed, JointType, Mimic
from modurob.errors import MechanismError, choices
from modurob.mechanism.tables import Frame, Joint, Limits, Loop, Shape, Tables
from modurob.spatial import inertia as spatial_inertia
from modurob.spatial import se3
from modurob.spatial.scalars import Array, as_array

GRAVITY = (0.0, 0.0, -9.81)


@dataclass(frozen=True)
class Source:
    """What a mimic joint follows: ratio * q + offset of the joint of that name."""

    joint: str
    ratio: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class JointProperties:
    """Limits and losses of a joint; scalars stand for all of its coordinates. Units as in `Joint`."""

    lower: Any = -np.inf
    upper: Any = np.inf
    velocity: Any = np.inf
    effort: Any = np.inf
    damping: Any = 0.0
    friction: Any = 0.0
    armature: Any = 0.0


NO_PROPERTIES = JointProperties()


class Builder:
    """Collects bodies, joints, frames and loops; `build` makes the mechanism.

    >>> arm = Builder("pendulum")
    >>> arm.body("rod", inertia.point(1.0, (0, 0, -1)), joint=Revolute((1, 0, 0)))
    >>> robot = arm.build()
    """

    product: ClassVar[type[Tables]] = Tables

    def __init__(self, name: str = "robot", gravity: Any = GRAVITY):
        self.name = name
        self.gravity = _vector(gravity, "gravity")
        self._bodies = ["world"]
        self._parent = [-1]
        self._X_PJ: list[Array] = [se3.IDENTITY]
        self._joints: list[tuple[str, JointType, JointProperties, Source | None]] = []
        self._frames: dict[str, Frame] = {"world": Frame(0, se3.IDENTITY)}
        self._inertias: list[tuple[int, Array, Array]] = []
        self._loops: list[Loop] = []
        self._shapes: list[Shape] = []

    def body(
        self,
        name: str,
        inertia: Array | None = None,
        *,
        parent: str = "world",
        joint: JointType | None = None,
        at: Array = se3.IDENTITY,
        seat: Array = se3.IDENTITY,
        joint_name: str | None = None,
        properties: JointProperties = NO_PROPERTIES,
        mimic: Source | None = None,
        check: bool = True,
    ) -> Frame:
        """Add a body on frame `parent` through `joint`; without a joint, or with a fixed one, it is welded.

        `inertia` is 6x6 in the new frame; `at` the joint's predecessor frame in the parent's, `seat` the new body's frame in the
        joint's successor frame. The new frame can be a parent in turn.
        """
        self._require_new(name, self._frames, "body")
        on = self.frame_of(parent)
        at, seat = _pose(at, name), _pose(seat, name)
        if joint is None or isinstance(joint, Fixed):
            frame = Frame(on.body, on.X @ at @ seat)
        else:
            joint_name = joint_name or name
            self._require_new(joint_name, {j[0] for j in self._joints}, "joint")
            self._bodies.append(name)
            self._parent.append(on.body)
            self._X_PJ.append(on.X @ at)
            self._joints.append((joint_name, joint, properties, mimic))
            frame = Frame(len(self._bodies) - 1, seat)
        if inertia is not None:
            inertia = as_array(inertia)
            if check:
                spatial_inertia.checked(inertia, f"body {name!r}")
            self._inertias.append((frame.body, frame.X, inertia))
        self._frames[name] = frame
        return frame

    def frame(self, name: str, parent: str, X: Array = se3.IDENTITY) -> None:
        """Name a frame fixed at X in frame `parent`."""
        self._require_new(name, self._frames, "frame")
        on = self.frame_of(parent)
        self._frames[name] = Frame(on.body, on.X @ _pose(X, name))

    def loop(
        self,
        name: str,
        joint: JointType,
        predecessor: str,
        successor: str,
        at: Array = se3.IDENTITY,
        seat: Array = se3.IDENTITY,
    ) -> None:
        """Close a loop: `joint` from `at` in frame `predecessor` to `seat` in frame `successor`."""
        self._require_new(name, {loop.name for loop in self._loops}, "loop")
        P, S = self.frame_of(predecessor), self.frame_of(successor)
        self._loops.append(
            Loop(name, joint, Frame(P.body, P.X @ _pose(at, name)), Frame(S.body, S.X @ _pose(seat, name)))
        )

    def shape(self, kind: str, size: tuple[float, ...], on: str, X: Array = se3.IDENTITY, colour: str = "0.7") -> None:
        """Something to draw, fixed at X in frame `on`: a box, cylinder or sphere."""
        frame = self.frame_of(on)
        self._shapes.append(Shape(kind, size, frame.body, frame.X @ X, colour))

    def frame_of(self, name: str) -> Frame:
        """The frame of that name, or an error with the valid names."""
        if name not in self._frames:
            raise MechanismError(f"no body or frame {name!r}: {choices(name, self._frames)}")
        return self._frames[name]

    def has_frame(self, name: str) -> bool:
        """Whether there is a body or frame of that name."""
        return name in self._frames

    def build(self, **reports: Any) -> Any:
        """The mechanism. Nothing is shared with the builder, which can go on."""
        inertia = np.zeros((len(self._bodies), 6, 6), dtype=np.result_type(float, *(I for _, _, I in self._inertias)))
        if self._inertias:
            on, X, own = (list(column) for column in zip(*self._inertias, strict=True))
            np.add.at(inertia, on, spatial_inertia.moved(np.stack(own), np.stack(X)))
        return self.product(
            name=self.name,
            bodies=tuple(self._bodies),
            parent=tuple(self._parent),
            joints=self._numbered(),
            X_PJ=np.stack(self._X_PJ),
            inertia=inertia,
            gravity=self.gravity,
            frames=dict(self._frames),
            loops=tuple(self._loops),
            shapes=tuple(self._shapes),
            **reports,
        )

    def _numbered(self) -> tuple[Joint, ...]:
        """Joints with their places in q and v; a mimic has those of its source."""
        slices: dict[str, tuple[slice, slice]] = {}
        nq = nv = 0
        for name, kind, _, mimic in self._joints:
            if mimic is None:
                slices[name] = slice(nq, nq + kind.nq), slice(nv, nv + kind.nv)
                nq, nv = nq + kind.nq, nv + kind.nv
        joints = []
        for name, kind, properties, mimic in self._joints:
            if mimic is not None:
                if mimic.joint not in slices:
                    sources = (s for s in slices if s != name)
                    raise MechanismError(
                        f"joint {name!r} mimics {mimic.joint!r}, which has no coordinate: {choices(mimic.joint, sources)}"
                    )
                kind = Mimic(kind, mimic.ratio, mimic.offset)
            joints.append(_joint(name, kind, slices[mimic.joint if mimic else name], properties))
        return tuple(joints)

    @staticmethod
    def _require_new(name: str, taken: Mapping[str, Any] | set[str], what: str) -> None:
        if name in taken:
            raise MechanismError(f"there is already a {what} or frame named {name!r}: names must differ")


def _joint(name: str, kind: JointType, slices: tuple[slice, slice], p: JointProperties) -> Joint:
    def spread(value: Any, n: int, what: str) -> Array:
        array = as_array(value)
        if array.shape not in ((), (n,)):
            raise MechanismError(f"joint {name!r}: {what} has shape {array.shape}, expected one number or {n}")
        return np.array(np.broadcast_to(array, (n,)))

    limits = Limits(spread(p.lower, kind.nq, "lower limit"), spread(p.upper, kind.nq, "upper limit"))
    if limits.lower.dtype != object and np.any(limits.lower > limits.upper):
        raise MechanismError(f"joint {name!r}: lower limit {p.lower} is above upper limit {p.upper}")
    names = ("velocity", "effort", "damping", "friction", "armature")
    values = [spread(getattr(p, x), kind.nv, x) for x in names]
    for what, value in zip(names, values, strict=True):
        if value.dtype != object and np.any(~(value >= 0)):
            raise MechanismError(f"joint {name!r}: {what} {getattr(p, what)} is negative: expected zero or more")
    return Joint(name, kind, *slices, limits, *values)


def _vector(x: Any, what: str) -> Array:
    x = np.array(as_array(x))
    if x.shape != (3,) or (x.dtype != object and not np.all(np.isfinite(x))):
        raise MechanismError(f"{what} {x!r}: expected three finite numbers")
    return x


def _pose(X: Array, name: str) -> Array:
    if X is se3.IDENTITY:
        return X
    X = as_array(X)
    if X.shape != (4, 4):
        raise MechanismError(f"pose of {name!r} has shape {X.shape}: expected (4, 4)")
    return X
