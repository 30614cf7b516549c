"""A serial chain as the axes of its joints: X(q) = E_1(q_1) ... E_n(q_n) X_0, with E the motion about or along an axis.

Axes are given in the base frame, with all coordinates zero (product of exponentials; Lynch, Park, Modern Robotics, chapter 4).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from modurob.algorithms.steps import apply
from modurob.catalogue.joints import JointType, Prismatic, Revolute
from modurob.catalogue.joints.joint import Reversed
from modurob.mechanism.tables import Tables
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array, cross


class Axis(NamedTuple):
    """The axis of a joint: it turns about `h` through `o`, or slides along `h`; `u` is a unit vector across `h`, (3,) each."""

    turns: bool
    h: Array
    o: Array
    u: Array

    def reversed(self) -> "Axis":
        """The axis of the same joint, seen from behind."""
        return self._replace(h=-self.h)

    def through(self, o: Array) -> "Axis":
        """The same line, given by another of its points."""
        return self._replace(o=o)


def axis(turns: bool, h: Array, o: Array) -> Axis:
    """An axis with a unit vector across it; what is zero or one but for the last digits is so."""
    h = _plain(np.asarray(h, dtype=float))
    return Axis(turns, h, np.asarray(o, dtype=float), so3.perpendicular(h)[0])


def _plain(h: Array) -> Array:
    near = np.round(h)
    return np.where(np.abs(h - near) < 4e-16, near, h) + 0.0


@dataclass(frozen=True, eq=False)
class Chain:
    """The joints between two frames of a robot, in order."""

    axes: tuple[Axis, ...]
    X0: Array  # X_BF with all coordinates zero, (4, 4)
    at: tuple[int, ...]  # the coordinate in q of each joint

    @property
    def size(self) -> float:
        """A length of the chain [m]: that from the first axis to the last point, by way of all others; one if there is none."""
        points = np.array([a.o for a in self.axes if a.turns] + [se3.position(self.X0)])
        length = np.linalg.norm(np.diff(points, axis=0), axis=-1).sum()
        return float(length) if length > 0 else 1.0

    def reversed(self) -> "Chain":
        """The chain from tip to base, in the axes of the base: its motion is the inverse."""
        return Chain(tuple(a.reversed() for a in self.axes[::-1]), self.X0, self.at[::-1])

    def scaled(self, factor: float) -> "Chain":
        """All lengths times a factor."""
        X0 = se3.pose(se3.rotation(self.X0), factor * se3.position(self.X0))
        return Chain(tuple(a.through(factor * a.o) for a in self.axes), X0, self.at)

    def locked(self, k: int, x: Array) -> "Chain":
        """The chain without joint k, which stands at x."""
        E = motion(self.axes[k], np.asarray(x))
        behind = tuple(moved(a, E) for a in self.axes[k + 1 :])
        return Chain((*self.axes[:k], *behind), E @ self.X0, (*self.at[:k], *self.at[k + 1 :]))


class Motion(NamedTuple):
    """E_1 ... E_n = X Y: the pose X of a frame times one over that at zero, with the axes as that frame sees them at zero."""

    X: Array
    Y: Array
    seen: Sequence[Axis]

    @property
    def T(self) -> Array:
        """E_1 ... E_n."""
        return self.X @ self.Y

    def back(self, axes: Sequence[Axis]) -> "Motion":
        """E_n^-1 ... E_1^-1 in the axes of the frame, for axes in the base."""
        return Motion(se3.inverse(self.X), se3.inverse(self.Y), [a.reversed() for a in axes[::-1]])


def moved(a: Axis, X: Array) -> Axis:
    """The axis carried by a motion."""
    R = se3.rotation(X)
    return Axis(a.turns, R @ a.h, R @ a.o + se3.position(X), R @ a.u)


def motion(a: Axis, x: Array) -> Array:
    """E(x), (..., 4, 4): a turn by x about the axis, or a slide by x along it."""
    if not a.turns:
        return se3.pose(None, x[..., None] * a.h)
    R = so3.about(a.h, x)
    return se3.pose(R, a.o - (R @ a.o[:, None])[..., 0])


def motions(axes: Sequence[Axis], q: Array) -> Array:
    """E_1 ... E_n, (..., 4, 4)."""
    X = se3.IDENTITY
    for k, a in enumerate(axes):
        X = X @ motion(a, q[..., k])
    return X


def twists(axes: Sequence[Axis], q: Array) -> tuple[Array, Array]:
    """The motion E_1 ... E_n and its twists (v at the origin, w) by each coordinate, in base axes, (..., 6, n)."""
    X, columns = np.broadcast_to(se3.IDENTITY, (*q.shape[:-1], 4, 4)), []
    R, p = se3.rotation(X), se3.position(X)
    for k, a in enumerate(axes):
        h, o = apply(R, a.h), apply(R, a.o) + p
        columns.append(np.concatenate([cross(o, h), h] if a.turns else [h, 0 * h], axis=-1))
        R = R @ so3.about(a.h, q[..., k]) if a.turns else R
        p = o - apply(R, a.o) if a.turns else p + h * q[..., k, None]
    return se3.pose(R, p), np.stack(columns, axis=-1)


# ---- from a robot ----


def chain_of(m: Tables, frame: str, base: str = "world") -> Chain | None:
    """The chain from a frame to another; None if a joint between them is not made of turns and slides of its own."""
    target, start = m.frame(frame), m.frame(base)
    up, down = _path(m, start.body, target.body)
    X, axes, at = se3.inverse(start.X), [], []
    for body, inwards in [(i, True) for i in up] + [(i, False) for i in down]:
        steps = _steps(m, body, inwards)
        if steps is None:
            return None
        for placement, joint, coordinate in steps:
            X = X @ placement
            if joint is not None:
                axes.append(axis(isinstance(joint, Revolute), se3.rotation(X) @ np.array(joint.axis), se3.position(X)))
                at.append(coordinate)
    return Chain(tuple(axes), X @ target.X, tuple(at))


def _path(m: Tables, start: int, end: int) -> tuple[list[int], list[int]]:
    """The bodies whose joints are walked inwards, and those whose joints are walked outwards."""
    to_start, to_end = (_ancestors(m, i) for i in (start, end))
    common = set(to_start) & set(to_end)
    return [i for i in to_start if i not in common], [i for i in to_end[::-1] if i not in common]


def _ancestors(m: Tables, body: int) -> list[int]:
    found = []
    while body > 0:
        found.append(body)
        body = m.parent[body]
    return found


Step = tuple[Array, Revolute | Prismatic | None, int]


def _steps(m: Tables, body: int, inwards: bool) -> list[Step] | None:
    """The joint of a body as placements, each followed by a turn or a slide or by nothing."""
    joint = m.joints[body - 1]
    parts = None if joint.mimics else _elementary(joint.type)
    if parts is None:
        return None
    first = joint.q_slice.start
    steps: list[Step] = [(se3.IDENTITY, p, first + k) for p, k in parts]
    if not inwards:
        return [(m.X_PJ[body], None, -1), *steps]
    back: list[Step] = [(se3.IDENTITY, p.reversed(), first + k) for p, k in reversed(parts)]
    return [*back, (se3.inverse(m.X_PJ[body]), None, -1)]


def _elementary(joint: JointType) -> list[tuple[Revolute | Prismatic, int]] | None:
    """The turns and slides that make a joint, each with its place among the joint's coordinates; None if none do."""
    if isinstance(joint, Reversed):
        found = _elementary(joint.original)
        return None if found is None else [(p.reversed(), k) for p, k in reversed(found)]
    parts = joint.elementary() if joint.nv else ()
    own = [(p, k) for k, p in enumerate(parts or ()) if isinstance(p, Revolute | Prismatic)]
    return own if parts is not None and len(own) == len(parts) else None


# ---- how axes lie to each other ----

# angles of axes that are taken for parallel, and distances over the size of the chain that are taken for none: files print
# half a right angle with five digits
ANGLE = 1e-5
DISTANCE = 1e-5


def parallel(*axes: Axis) -> bool:
    """Whether all axes have one direction, up to sign."""
    return all(np.linalg.norm(np.cross(axes[0].h, a.h)) < ANGLE for a in axes[1:])


def meeting_point(axes: Sequence[Axis], size: float) -> Array | None:
    """The one point of all axes, (3,), the nearest in least squares; None if they have none, or more than one.

    It minimises the sum of |(1 - h h^T)(x - o)|².
    """
    across = np.array([np.eye(3) - np.outer(a.h, a.h) for a in axes])
    A = across.sum(axis=0)
    if np.linalg.eigvalsh(A)[0] < ANGLE:
        return None
    x = np.linalg.solve(A, sum(P @ a.o for P, a in zip(across, axes, strict=True)))
    distances = [np.linalg.norm(P @ (x - a.o)) for P, a in zip(across, axes, strict=True)]
    return x if max(distances) < DISTANCE * size else None


def common_normal(a: Axis, b: Axis) -> tuple[Array, Array]:
    """The feet of the common normal of two axes that are not parallel."""
    n = np.cross(a.h, b.h)
    s, t, _ = np.linalg.solve(np.stack([a.h, -b.h, n], axis=-1), b.o - a.o)
    return a.o + s * a.h, b.o + t * b.h


# singular values of twists, lengths over the size of the chain, below which joints are taken to have a motion of their own
REDUNDANT = 1e-5


def independent(axes: Sequence[Axis]) -> bool:
    """Whether joints cannot move without moving the tip, special configurations apart: twists of full rank; lengths over size."""
    if len(axes) > 6:
        return False
    q = np.random.default_rng(0).uniform(-3, 3, (8, len(axes)))
    return bool(np.linalg.svd(twists(axes, q)[1], compute_uv=False)[:, -1].max(initial=0.0) > REDUNDANT)
