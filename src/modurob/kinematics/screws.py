"""The product of exponentials: a chain of joints between two frames as screws and one pose.

X(q) = exp(S_1 q_1) ... exp(S_n q_n) M, with the screws S_i = (v, w) in the base frame at q = 0 and M the pose of the end there
(Brockett; Murray, Li, Sastry). A screw (v, w) of a revolute joint is (-w x p, w), w its axis and p a point on it; of a prismatic
joint (v, 0). Joints that are walked from their successor to their predecessor, where the base is no ancestor of the end, count
backwards.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.configuration import neutral
from modurob.algorithms.kinematics import forward_kinematics
from modurob.catalogue.joints import JointType, Reversed
from modurob.errors import InputError
from modurob.mechanism.tables import Joint, Tables
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array, as_array, cos, cross, dot, sin, sqrt
from modurob.values import Value


@dataclass(frozen=True, eq=False)
class Screws(Value):
    """A chain as a product of exponentials: X(q) = exp(S_1 q_1) ... exp(S_n q_n) home.

    `axes` are the screws (v, w), (n, 6), in the base frame at q = 0 [m/rad or 1; rad/rad or 0]; `home` (4, 4) is the
    end frame there; `coordinates` is the entry of the robot's q for each screw, `joints` its joint.

    >>> arm = mr.Mechanism.from_dh([(0.3, 0, 0.1), (0.2, 0, 0)])
    >>> arm.screws("tip").axes + 0.0
    array([[ 0. ,  0. ,  0. ,  0. ,  0. ,  1. ],
           [ 0. , -0.3,  0. ,  0. ,  0. ,  1. ]])
    """

    axes: Array
    home: Array
    joints: tuple[str, ...]
    coordinates: tuple[int, ...]

    def pose(self, q: Any) -> Array:
        """The end in the base, (..., 4, 4), of the robot's q (..., nq): exact where q and the screws are.

        >>> arm = mr.Mechanism.from_dh([(0.3, 0, 0.1), (0.2, 0, 0)])
        >>> bool(np.allclose(arm.screws("tip").pose([0.3, 0.4]), arm.frame_pose([0.3, 0.4], "tip")))
        True
        """
        return self.partial_poses(q)[-1] @ self.home

    def partial_poses(self, q: Any) -> list[Array]:
        """exp(S_1 q_1) ... exp(S_i q_i) for i = 0 ... n, (..., 4, 4) each."""
        q = as_array(q)
        steps = (exponential(S, q[..., k]) for S, k in zip(self.axes, self.coordinates, strict=True))
        return list(accumulate(steps, lambda X, A: X @ A, initial=_identity(q)))

    def jacobian(self, q: Any) -> Array:
        """(..., 6, n): velocity of the end's origin and angular velocity per unit rate of each screw, both in base axes [m/s,
        rad/s].

        >>> arm = mr.Mechanism.from_dh([(0.3, 0, 0.1), (0.2, 0, 0)])
        >>> bool(np.allclose(arm.screws("tip").jacobian([0.3, 0.4]), arm.jacobian([0.3, 0.4], "tip")))
        True
        """
        before = self.partial_poses(q)
        end = se3.position(before[-1] @ self.home)
        columns = []
        for X, S in zip(before[:-1], self.axes, strict=True):
            V = (se3.Ad(X) @ S[:, None])[..., 0]
            columns.append(np.concatenate([V[..., :3] + cross(V[..., 3:], end), V[..., 3:]], axis=-1))
        return np.stack(columns, axis=-1)


def exponential(S: Array, q: Array) -> Array:
    """exp(S q) of a screw (v, w) with |w| one, zero, or any other length, (..., 4, 4); exact for exact scalars."""
    v, w = S[:3], S[3:]
    square = dot(w, w)
    if square == 0:
        return se3.pose(_eye(q), q[..., None] * v)
    rate = sqrt(square)
    unit, along, angle = w / rate, v / rate, np.asarray(rate * q)[..., None, None]
    K, lean = so3.skew(unit), np.asarray(dot(unit, along))
    KK = K @ K
    R = _eye(q) + sin(angle) * K + (1 - cos(angle)) * KK
    # the axis passes through p, and its pitch is `lean`
    p = cross(unit, along)
    slide = (lean * angle[..., 0]) * unit
    return se3.pose(R, p - (R @ p[..., None])[..., 0] + slide)


def _eye(q: Array) -> Array:
    return np.eye(3, dtype=int).astype(object) if q.dtype == object else np.eye(3)


def _identity(q: Array) -> Array:
    eye = np.eye(4, dtype=int).astype(object) if q.dtype == object else np.eye(4)
    return np.broadcast_to(eye, (*q.shape[:-1], 4, 4))


# ---- from a robot ----


class Step(NamedTuple):
    """A joint on the path from base to end, traversed outward (sign 1) or inward (-1)."""

    joint: Joint
    body: int  # its successor
    sign: int


def path(m: Tables, end: str, base: str) -> list[Step]:
    """The joints between two frames, from base to end."""
    up, down = m.ancestors[m.frame(base).body], m.ancestors[m.frame(end).body]
    steps = [Step(m.joints[i - 1], i, -1) for i in up if i not in down]
    return steps + [Step(m.joints[i - 1], i, 1) for i in reversed(down) if i not in up]


def elementary(joint: Joint) -> Iterator[tuple[JointType, int]]:
    """The one-axis joints that a joint consists of, each with its index in q; a mimic joint has the coordinate of its
    source.
    """
    parts = _parts(joint.type)
    if not parts or not all(part.axial and part.nq == 1 for part, _ in parts):
        raise InputError(
            f"joint {joint.name!r} ({joint.kind}) is no chain of joints about or along one axis each: "
            f"expected revolute, prismatic, helical, cylindrical, universal or planar joints between base and end"
        )
    return ((part, joint.q_slice.start + k) for part, k in parts)


def _parts(kind: JointType) -> list[tuple[JointType, int]]:
    """Elementary joints with their indices among the coordinates of the joint, in traversal order."""
    if isinstance(kind, Reversed):
        return [(part.reversed(), k) for part, k in _parts(kind.original)[::-1]]
    parts = (kind,) if kind.axial and kind.nq == 1 else kind.elementary() or ()
    return list(zip(parts, range(kind.nq), strict=False))


def screws(m: Tables, end: str, base: str = "world") -> Screws:
    """The chain from frame `base` to frame `end` as a product of exponentials."""
    X_W = forward_kinematics(m, neutral(m))
    X_base = X_W[base]
    axes, names, places = [], [], []
    for joint, body, sign in path(m, end, base):
        # at q = 0 all elementary joints of a joint stand in its successor frame; a mimic may be turned by its offset
        X = se3.inverse(X_base) @ X_W.bodies[body]
        found = [(sign * (se3.Ad(X) @ _subspace(part)), k) for part, k in elementary(joint)]
        for S, k in found[::sign]:
            axes.append(S)
            names.append(joint.name)
            places.append(k)
    if not axes:
        raise InputError(f"there is no joint between {base!r} and {end!r}: expected frames of different bodies")
    return Screws(np.stack(axes), se3.inverse(X_base) @ X_W[end], tuple(names), tuple(places))


def _subspace(joint: JointType) -> Array:
    return joint.motion_subspace(np.zeros(1))[:, 0]
