"""A mechanism in frames chosen so that its placements are as simple as they can be.

Where a body's frame sits is free. Axes of joints become z; the origin of a body slides along its axis to the common normal with
the parent's axis, and the frame turns about it until the normal to the first child is x, as Denavit and Hartenberg have it. What
the turn adds to the joint's angle goes into an offset. Placements of cubes become signed permutations, those of any arm a turn
about one axis.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from modurob.catalogue.joints import JointType
from modurob.mechanism import Tables
from modurob.spatial import inertia, se3, so3
from modurob.spatial.scalars import Array

# entries of placements this close to 0 or 1 are that
SNAP = 1e-13
# joints whose frame may turn about z at the price of an offset, or for nothing
TURNS = ("revolute",)
SLIDES = ("revolute", "prismatic")
# canonical axes of the kinds that have axes
Z, X_Y = (0.0, 0.0, 1.0), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


@dataclass(frozen=True)
class Framed:
    """Body i and its joint in the chosen frames."""

    body: int  # number in the tables
    parent: int
    kind: str
    pitch: float  # of a helical joint
    X_PJ: Array  # placement, (4, 4)
    offset: float  # added to the angle of a revolute joint
    inertia: Array  # (6, 6)
    armature: Array  # (nv,)
    T: Array  # chosen frame in the tables' body frame, (4, 4)


def reframed(m: Tables) -> list[Framed]:
    """All moving bodies, in the order of the tables."""
    return [body.framed() for body in _Choice(m).bodies[1:]]


class _Body:
    """A body whose frame is being chosen."""

    def __init__(self, m: Tables, i: int, parent: "_Body | None"):
        self.m, self.i, self.parent = m, i, parent
        self.offset = 0.0
        self.T = np.eye(4)
        if parent is None:
            self.kind, self.X = "world", np.eye(4)
            return
        self.joint = m.joints[i - 1]
        self.kind = self.joint.kind
        self.T = se3.pose(_turn(self.joint.type))
        self.X = se3.inverse(parent.T) @ m.X_PJ[i] @ self.T
        if self.kind in SLIDES:
            self._simplify()

    @cached_property
    def has_axis(self) -> bool:
        return self.kind in SLIDES

    def _simplify(self) -> None:
        """Slide along z and turn about z until the placement is simple."""
        assert self.parent is not None
        R, p = se3.rotation(self.X), se3.position(self.X)
        z, k = np.array([0.0, 0.0, 1.0]), R[:, 2]
        normal = np.cross(z, k)
        if not self.parent.has_axis:
            slide, x = -(p @ k), R[:, 0]
        elif np.linalg.norm(normal) < 1e-9:
            slide, x = -p[2] / k[2], np.array([1.0, 0.0, 0.0])
        else:
            x = normal / np.linalg.norm(normal)
            across = np.cross(z, x)
            slide = -(p @ across) / (k @ across)
        turn = float(np.arctan2(x @ R[:, 1], x @ R[:, 0]))
        # slide and turn commute with the joint: made after it, they stand before it
        step = se3.pose(so3.about(z, turn), slide * z)
        self.T, self.X = self.T @ step, self.X @ step

    def face(self, child: "_Body") -> None:
        """Turn about z until the way to the child is along x: what the joint is turned by, its offset takes back."""
        R, p = se3.rotation(child.X), se3.position(child.X)
        towards = np.cross([0.0, 0.0, 1.0], R[:, 2])
        if np.linalg.norm(towards) < 1e-9:
            towards = np.array([p[0], p[1], 0.0])
        if np.linalg.norm(towards) < 1e-12:
            return
        turn = float(np.arctan2(towards[1], towards[0]))
        self.T = self.T @ se3.pose(so3.about(np.array([0.0, 0.0, 1.0]), turn))
        self.offset += turn

    def framed(self) -> Framed:
        assert self.parent is not None
        return Framed(
            self.i,
            self.parent.i,
            self.kind,
            float(getattr(self.joint.type, "pitch", 0.0)),
            snapped(self.X),
            self.offset,
            inertia.moved(self.m.inertia[self.i], se3.inverse(self.T)),
            self.joint.armature,
            self.T,
        )


class _Choice:
    """The frames of all bodies, chosen from the world outward."""

    def __init__(self, m: Tables):
        first: dict[int, int] = {}
        for i in range(len(m.parent) - 1, 0, -1):
            first[m.parent[i]] = i
        self.bodies = [_Body(m, 0, None)]
        for i in range(1, len(m.parent)):
            body = _Body(m, i, self.bodies[m.parent[i]])
            if i in first and body.kind in TURNS and m.joints[first[i] - 1].kind in SLIDES:
                body.face(_Body(m, first[i], body))
            self.bodies.append(body)


def _turn(kind: JointType) -> Array:
    """The rotation that takes the canonical axes to the joint's."""
    if kind.kind == "universal":
        a, b = np.array(kind.axis), np.array(kind.axis2)  # type: ignore[attr-defined]
        return np.stack([a, b, np.cross(a, b)], axis=-1)
    if hasattr(kind, "axis"):
        axis = np.array(kind.axis)  # type: ignore[attr-defined]
        return np.stack([*so3.perpendicular(axis), axis], axis=-1)
    return np.eye(3)


def snapped(X: Array) -> Array:
    """Entries that rounding kept from 0, 1 and -1 put there."""
    X = np.array(X)
    scale = max(1e-3, np.abs(X[:3, 3]).max())
    X[:3, 3][np.abs(X[:3, 3]) < SNAP * scale] = 0.0
    R = X[:3, :3]
    R[np.abs(R) < SNAP] = 0.0
    R[np.abs(R - 1) < SNAP] = 1.0
    R[np.abs(R + 1) < SNAP] = -1.0
    return X
