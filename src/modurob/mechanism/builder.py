"""Put a mechanism together body by body; assemblies and URDF files go through it too."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np

from modurob.catalogue.forces import FrameForce, JointForce, JointLaw
from modurob.catalogue.joints import Fixed, JointType, Mimic
from modurob.errors import InertiaError, MechanismError, choices, explained
from modurob.geometry import solid
from modurob.mechanism.driven import with_drive
from modurob.mechanism.joint_properties import (
    NO_PROPERTIES,
    JointProperties,
    Source,
    joint_values,
    without_contradiction,
)
from modurob.mechanism.routes import line_row
from modurob.mechanism.tables import (
    Constraint,
    Coupling,
    ForceRow,
    Frame,
    FrameRow,
    Frames,
    Joint,
    JointRow,
    LineRow,
    Loop,
    Shape,
    Tables,
)
from modurob.spatial import inertia as spatial_inertia
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array, as_array

GRAVITY = (0.0, 0.0, -9.81)

# how far from orthonormal a rotation may be: files carry about seven digits
RIGID = 1e-5


class Builder:
    """Collects bodies, joints, frames, constraints and forces; `build` makes the mechanism.

    `gravity` is in world axes, (3,) [m/s²]. Poses are X_AB (4, 4) [m], inertias 6x6 in the body's frame.

    >>> arm = mr.mechanism.Builder("pendulum")
    >>> rod = arm.body("rod", mr.spatial.inertia.point(1.0, (0, 0, -1)), joint=mr.Revolute((1, 0, 0)))
    >>> arm.build().bodies
    ('world', 'rod')
    """

    product: ClassVar[type[Tables]] = Tables

    def __init__(self, name: str = "robot", gravity: Any = GRAVITY, trusted: bool = False):
        """`trusted` says that poses and inertias were checked where they come from."""
        self.name = _named(name, "robot")
        self.gravity = _vector(gravity, "gravity")
        self._trusted = trusted
        self._bodies = ["world"]
        self._parent = [-1]
        self._X_PJ: list[Array] = [se3.IDENTITY]
        self._joints: dict[str, tuple[JointType, JointProperties, Source | None]] = {}
        self._frames: dict[str, Frame] = {"world": Frame(0, se3.IDENTITY)}
        self._relative: dict[str, Frame] = {}
        self._X: dict[str, Array] = {}  # their poses in these
        self._inertias: list[tuple[int, Array, Array]] = []
        self._constraints: dict[str, Loop | tuple[Mapping[str, float], float]] = {}
        self._forces: dict[str, tuple[JointForce | JointLaw, str, int] | tuple[FrameForce, Frame, Frame] | LineRow] = {}
        self._shapes: list[Shape] = []
        self._collisions: list[Shape] = []

    @explained
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
        """Add a body on frame `parent` through `joint`; without a joint, or with a fixed one, it is welded. Returns its frame.

        `inertia` is 6x6 in the new frame [kg, kg m, kg m²]; `at` the joint's predecessor frame in the parent's, `seat` the new
        body's frame in the joint's successor frame, (4, 4) each [m]: X_parent_new = at X_J(q) seat. The new frame can be a
        parent in turn. The joint is called as the body unless `joint_name` is given.

        >>> b = mr.Builder("arm")
        >>> upper = b.body("upper", mr.spatial.inertia.point(1.0, (0, 0.5, 0)), joint=mr.Revolute((1, 0, 0)))
        >>> lower = b.body("lower", mr.spatial.inertia.point(1.0, (0, 0.5, 0)), parent="upper", joint=mr.Revolute((1, 0, 0)),
        ...                at=mr.spatial.se3.pose(p=(0, 1.0, 0)))
        >>> b.build().mass_matrix([0.0, 0.0])
        array([[2.5 , 0.75],
               [0.75, 0.25]])
        """
        self._require_new(name, self._frames, "body or frame")
        self._require_new(name, self._relative, "body or frame")
        on = self.frame_of(parent)
        at, seat = self._pose(at, name), self._pose(seat, name)
        _require_joint(name, joint, properties, mimic)
        inertia = None if inertia is None else _inertia(name, inertia, check and not self._trusted)
        if joint is None or isinstance(joint, Fixed):
            frame = Frame(on.body, on.X @ at @ seat)
        else:
            joint_name = joint_name or name
            self._require_new(joint_name, self._joints, "joint")
            self._bodies.append(name)
            self._parent.append(on.body)
            self._X_PJ.append(on.X @ at)
            self._joints[joint_name] = joint, properties, mimic
            frame = Frame(len(self._bodies) - 1, seat)
        if inertia is not None:
            self._inertias.append((frame.body, frame.X, inertia))
        self._frames[name] = frame
        return frame

    @explained
    def frame(self, name: str, parent: str, X: Array = se3.IDENTITY) -> None:
        """Name a frame fixed at X, its pose (4, 4) [m] in frame `parent`: forces, loops and Jacobians can ask for it.

        >>> b = mr.Builder("arm")
        >>> rod = b.body("rod", mr.spatial.inertia.point(1.0, (0, 1, 0)), joint=mr.Revolute((1, 0, 0)))
        >>> b.frame("tip", "rod", mr.spatial.se3.pose(p=(0, 1.0, 0)))
        >>> b.build().frame_pose([np.pi / 2], "tip")[:3, 3].round(9) + 0.0
        array([0., 0., 1.])
        """
        self._require_new(name, self._frames, "body or frame")
        self._require_new(name, self._relative, "body or frame")
        self._relative[name], self._X[name] = self.frame_of(parent), self._pose(X, name)

    @explained
    def loop(
        self,
        name: str,
        joint: JointType,
        predecessor: str,
        successor: str,
        at: Array = se3.IDENTITY,
        seat: Array = se3.IDENTITY,
    ) -> None:
        """Close a loop: `joint` from `at` in frame `predecessor` to `seat` in frame `successor`, poses (4, 4) [m].

        It adds 6 - nv rows to K of `loop_jacobian`.

        >>> b = mr.Builder("pair")
        >>> for name in ("left", "right"):
        ...     rod = b.body(name, mr.spatial.inertia.point(1.0, (0, 1, 0)), joint=mr.Revolute((1, 0, 0)))
        >>> b.loop("weld", mr.Fixed(), "left", "right")
        >>> pair = b.build()
        >>> pair.nv - pair.loop_rank()
        1
        """
        self._require_new(name, self._constraints, "constraint")
        if not isinstance(joint, JointType):
            raise MechanismError(f"loop {name!r}: joint {joint!r:.60}: expected one such as mr.Revolute((0, 0, 1))")
        P, S = self.frame_of(predecessor), self.frame_of(successor)
        self._constraints[name] = Loop(
            name, joint, Frame(P.body, P.X @ self._pose(at, name)), Frame(S.body, S.X @ self._pose(seat, name))
        )

    @explained
    def coupling(self, name: str, ratios: Mapping[str, float], offset: float = 0.0) -> None:
        """Couple joints of one coordinate: sum of ratio times coordinate = offset [rad or m], as gears and belts do.

        >>> b = mr.Builder("geared")
        >>> for name in ("motor", "arm"):
        ...     rod = b.body(name, mr.spatial.inertia.point(1.0, (0, 1, 0)), joint=mr.Revolute((1, 0, 0)))
        >>> b.coupling("gear", {"motor": 1.0, "arm": -50.0})  # 50 turns of the motor for one of the arm
        >>> b.build().loop_jacobian([0.0, 0.0])
        array([[  1., -50.]])
        """
        self._require_new(name, self._constraints, "constraint")
        try:
            self._constraints[name] = {joint: float(ratio) for joint, ratio in ratios.items()}, float(offset)
        except (AttributeError, TypeError, ValueError):
            raise MechanismError(
                f"coupling {name!r}: ratios {ratios!r:.60} and offset {offset!r:.60}: expected numbers by the names of joints, "
                "such as {'motor': 1.0, 'arm': -50.0}, and a number"
            ) from None

    @explained
    def force(
        self,
        name: str,
        force: JointForce | JointLaw | FrameForce,
        joint: str | None = None,
        rate: int = 0,
        a: str | None = None,
        b: str = "world",
    ) -> None:
        """Let a force act: along a rate of `joint` [N m or N], or between the frames `a` and `b` as wrenches (f, n) on each.

        >>> b = mr.Builder("pendulum")
        >>> rod = b.body("rod", mr.spatial.inertia.point(1.0, (0, 0, -1)), joint=mr.Revolute((1, 0, 0)))
        >>> b.force("oil", mr.Friction(viscous=0.5), joint="rod")
        >>> b.build().passive_forces([0.0], [2.0])
        array([-1.])
        """
        self._require_new(name, self._forces, "force")
        if isinstance(force, JointForce | JointLaw) and joint is not None and a is None:
            self._forces[name] = force, joint, rate
        elif isinstance(force, FrameForce) and a is not None and joint is None:
            self._forces[name] = force, self.frame_of(a), self.frame_of(b)
        else:
            raise MechanismError(
                f"force {name!r}, {force!r:.60}: expected a force along a joint with joint=, or one between frames with a= and b="
            )

    @explained
    def line(self, name: str, route: Any, law: Any) -> None:
        """String a cable, belt or spring over a route: a list of (frame, xyz) or (frame, xyz or pose (4, 4), node).

        Nodes are `mr.Pulley`, `mr.Swivel` and, at the ends, `mr.Winch`; without one it is a point. `law` is `mr.Elastic`,
        `mr.Tension` or `mr.Spring`. One tension T [N] acts all along: torques -J^T T, J the `line_jacobian`.

        >>> b = mr.Builder("crane")
        >>> boom = b.body("boom", mr.spatial.inertia.point(2.0, (0, 1, 0)), joint=mr.Revolute((1, 0, 0)))
        >>> b.line("stay", [("world", (0, 0, 1)), ("boom", (0, 1, 0))], mr.Elastic(stiffness=1e4, rest=1.4))
        >>> b.build().line_lengths([0.0]).round(6)
        array([1.414214])
        """
        self._require_new(name, self._forces, "force")
        self._forces[name] = line_row(name, route, law, self.frame_of, lambda joint: self._joint_index(joint, name))

    @explained
    def shape(
        self,
        kind: str,
        size: tuple[float, ...],
        on: str,
        X: Array = se3.IDENTITY,
        colour: str = "0.7",
        file: str = "",
    ) -> None:
        """Something to draw, fixed at X (4, 4) [m] in frame `on`.

        A box has the size (x, y, z), a cylinder (radius, length along z), a sphere (radius,) [m]; a mesh is given by its `file`
        and scales (x, y, z), and is only drawn.

        >>> b = mr.Builder("ball")
        >>> b.shape("sphere", (0.1,), "world", colour="#3f5d46")
        >>> b.build().shapes[0].kind
        'sphere'
        """
        self._shapes.append(Shape(kind, tuple(size), self.frame_of(on), self._pose(X, kind), colour, file))

    @explained
    def collision(self, kind: str, size: tuple[float, ...], on: str, X: Array = se3.IDENTITY, file: str = "") -> None:
        """Something to collide with, fixed at X (4, 4) [m] in frame `on`; where there is none, what is drawn collides.

        Kinds and sizes as those of `shape`, a capsule as a cylinder (its length between the centres of its ends), a mesh by its
        `file` and scales (x, y, z).

        >>> b = mr.Builder("ball")
        >>> b.collision("capsule", (0.1, 0.3), "world")
        >>> b.build().collisions[0].kind
        'capsule'
        """
        solid(kind, size, file)  # an error for kinds and sizes that are none
        self._collisions.append(Shape(kind, tuple(size), self.frame_of(on), self._pose(X, kind), "", file))

    def frame_of(self, name: str) -> Frame:
        """The frame of that name, its body and its pose X_BF there, (4, 4) [m], or an error with the valid names.

        >>> mr.Builder("empty").frame_of("world").body
        0
        """
        if name in self._frames:
            return self._frames[name]
        if name in self._relative:
            on = self._relative[name]
            return Frame(on.body, on.X @ self._X[name])
        raise MechanismError(f"no body or frame {name!r}: {choices(name, [*self._frames, *self._relative])}")

    def has_frame(self, name: str) -> bool:
        """Whether there is a body or frame of that name yet.

        >>> mr.Builder("empty").has_frame("rod")
        False
        """
        return name in self._frames or name in self._relative

    def build(self, **reports: Any) -> Any:
        """The mechanism, with q, v and tau stacked in the order of the bodies.

        Nothing is shared with the builder, which can go on.

        >>> b = mr.Builder("pendulum")
        >>> rod = b.body("rod", mr.spatial.inertia.point(1.0, (0, 0, -1)), joint=mr.Revolute((1, 0, 0)))
        >>> b.build()
        Mechanism('pendulum', 1 body, nq=1, nv=1)
        """
        joints, own_forces = self._numbered()
        built = self.product(
            name=self.name,
            bodies=tuple(self._bodies),
            parent=tuple(self._parent),
            joints=joints,
            X_PJ=np.stack(self._X_PJ),
            inertia=self._summed_inertias(),
            gravity=self.gravity,
            frames=Frames(self._frames, self._relative, self._X),
            constraints=tuple(self._constraint(name, c) for name, c in self._constraints.items()),
            forces=(*own_forces, *(self._force_row(name, row) for name, row in self._forces.items())),
            shapes=tuple(self._shapes),
            collisions=tuple(self._collisions),
            **reports,
        )
        for name, (_, properties, _) in self._joints.items():
            built = built if properties.drive is None else with_drive(built, name, properties.drive)
        return built

    def _summed_inertias(self) -> Array:
        """Of each body, (bodies, 6, 6): numbers, unless a mass or a place is a symbol."""
        if not self._inertias:
            return np.zeros((len(self._bodies), 6, 6))
        on, X, own = (list(column) for column in zip(*self._inertias, strict=True))
        moved = spatial_inertia.moved(np.stack(own), np.stack(X))
        if moved.dtype == object and all(I.dtype != object for I in own) and not _has_symbols(moved):
            moved = moved.astype(float)
        total = np.zeros((len(self._bodies), 6, 6), dtype=np.result_type(float, moved))
        np.add.at(total, on, moved)
        return total

    def _numbered(self) -> tuple[tuple[Joint, ...], list[ForceRow]]:
        """Joints with their places in q and v, a mimic at those of its source; and the forces they come with."""
        slices: dict[str, tuple[slice, slice]] = {}
        nq = nv = 0
        for name, (kind, _, mimic) in self._joints.items():
            if mimic is None:
                slices[name] = slice(nq, nq + kind.nq), slice(nv, nv + kind.nv)
                nq, nv = nq + kind.nq, nv + kind.nv
        joints: list[Joint] = []
        forces: list[ForceRow] = []
        for name, (kind, properties, mimic) in self._joints.items():
            if mimic is not None:
                kind = self._mimic(name, kind, mimic, slices)
            values, acting = joint_values(name, kind, properties)
            if mimic is not None:
                acting = without_contradiction(acting, mimic, self._joints[mimic.joint][1])
            forces += [JointRow(f"{name} {force.kind}", force, len(joints), rate) for force, rate in acting]
            joints.append(Joint(name, kind, *slices[mimic.joint if mimic else name], *values))
        return tuple(joints), forces

    @staticmethod
    def _mimic(name: str, kind: JointType, mimic: Source, slices: Mapping[str, tuple[slice, slice]]) -> Mimic:
        sources = [s for s, (place, _) in slices.items() if place.stop - place.start == 1]
        if mimic.joint not in sources:
            valid = choices(str(mimic.joint), sources)
            raise MechanismError(f"joint {name!r} mimics {mimic.joint!r}, which is no joint of one coordinate: {valid}")
        return Mimic(kind, mimic.ratio, mimic.offset)

    def _constraint(self, name: str, given: Loop | tuple[Mapping[str, float], float]) -> Constraint:
        if isinstance(given, Loop):
            return given
        ratios, offset = given
        return Coupling(name, tuple(self._joint_index(j, name) for j in ratios), tuple(ratios.values()), offset)

    def _force_row(self, name: str, row: Any) -> ForceRow:
        if isinstance(row, LineRow):
            return row
        force, *at = row
        if isinstance(force, FrameForce):
            return FrameRow(name, force, *at)
        joint, rate = at
        return JointRow(name, force, self._joint_index(joint, name), rate)

    def _joint_index(self, joint: str, by: str) -> int:
        names = list(self._joints)
        if joint not in names:
            raise MechanismError(f"{by!r}: no joint {joint!r}: {choices(str(joint), names)}")
        return names.index(joint)

    def _pose(self, X: Array, name: str) -> Array:
        """X, a copy where a user could write to it; or an error if it is no rigid pose."""
        if self._trusted or X is se3.IDENTITY:
            return X
        X = np.array(as_array(X))
        if X.shape != (4, 4):
            raise MechanismError(
                f"pose of {name!r} has shape {X.shape}: expected (4, 4), such as mr.spatial.se3.pose(p=(x, y, z))"
            )
        if X.dtype != object:
            if not np.isfinite(X).all():
                raise MechanismError(f"pose of {name!r} is not finite")
            if not so3.is_rotation(se3.rotation(X), RIGID) or tuple(X[3]) != (0, 0, 0, 1):
                raise MechanismError(
                    f"pose of {name!r} is not rigid: expected [[R, p], [0, 1]], R a right-handed rotation"
                )
        return X

    @staticmethod
    def _require_new(name: str, taken: Mapping[str, Any] | set[str], what: str) -> None:
        if _named(name, what) in taken:
            raise MechanismError(f"there is already a {what} named {name!r}: names must differ")


def _named(name: Any, what: str) -> str:
    """The name itself: files hold texts, and what else were a name there would not be read again."""
    if not isinstance(name, str):
        raise MechanismError(f"name {name!r:.60} of a {what}: expected a text")
    return name


def _require_joint(name: str, joint: Any, properties: Any, mimic: Any) -> None:
    """An error for what is no joint, or are no properties or no source of one: a class, a word, a mapping."""
    if mimic is not None and not isinstance(mimic, Source):
        raise MechanismError(
            f"body {name!r}: mimic {mimic!r:.60}: expected what the joint follows, such as mr.Source('left', ratio=-1.0)"
        )
    if joint is not None and not isinstance(joint, JointType):
        raise MechanismError(
            f"body {name!r}: joint {joint!r:.60}: expected one such as mr.Revolute((0, 0, 1)), or None"
        )
    if not isinstance(properties, JointProperties):
        raise MechanismError(
            f"body {name!r}: properties {properties!r:.60}: expected mr.JointProperties(...) of "
            f"{', '.join(f.name for f in fields(JointProperties))}"
        )


def _inertia(name: str, inertia: Any, check: bool) -> Array:
    """6x6, and if it is to be checked one that a body can have; or an error."""
    inertia = np.array(as_array(inertia))
    if inertia.shape != (6, 6):
        raise InertiaError(
            f"body {name!r}: inertia has shape {inertia.shape}: expected (6, 6), "
            "such as mr.spatial.inertia.sphere(mass, radius)"
        )
    if check:
        spatial_inertia.checked(inertia, f"body {name!r}")
    return inertia


def _vector(x: Any, what: str) -> Array:
    x = np.array(as_array(x))
    if x.shape != (3,) or x.dtype.kind not in "fcO" or (x.dtype != object and not np.all(np.isfinite(x))):
        raise MechanismError(f"{what} {x.tolist()!r}: expected three finite numbers, like (0, 0, -9.81) in world axes")
    return x


def _has_symbols(x: Array) -> bool:
    """Whether some entry is no number but an expression in symbols."""
    return any(getattr(entry, "free_symbols", None) for entry in x.flat)
