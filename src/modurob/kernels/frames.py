"""A mechanism in frames chosen so that its placements are as simple as they can be.

Where a body's frame sits is free. Axes of joints become z; the origin of a body slides along its axis to the common normal with
the parent's axis, and the frame turns about it until the common normal to the axis of the first child is along x, following Denavit
and Hartenberg. The angle of that turn becomes an offset of the joint's angle. Placements of cubes become signed permutations, those
of any arm a rotation about one axis.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from modurob.catalogue.joints import JointType, Mimic, Revolute
from modurob.mechanism import Tables
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array, read_only

# entries of placements this close to 0 or 1 are that
SNAP = 1e-13
# a common normal further away than this many distances of the joints is of no use
FARTHEST = 10.0
# half a turn about x: points z the other way
ROUND = np.diag([1.0, -1.0, -1.0, 1.0])


class Placed(NamedTuple):
    """A body in its chosen frame; X_PJ and T as bytes, so that equal ones are known to be equal."""

    joint: JointType  # in canonical axes
    X_PJ: bytes  # placement of the joint in the parent's chosen frame
    T: bytes  # chosen frame in the tables' body frame
    ratio: float  # of the coordinate along the chosen axis to that in q
    offset: float  # then added to it


WORLD_POSE = np.eye(4).tobytes()


def reframed(m: Tables) -> list[Placed]:
    """All moving bodies, in the order of the tables."""
    first: dict[int, int] = {}
    for i in range(len(m.parent) - 1, 0, -1):
        first[m.parent[i]] = i
    placements = [X.tobytes() for X in m.X_PJ]
    bodies: list[Placed] = []
    for i, joint in enumerate(m.joints, start=1):
        p, child = m.parent[i], first.get(i)
        axial, T = (bodies[p - 1].joint.axial, bodies[p - 1].T) if p else (False, WORLD_POSE)
        towards = (m.joints[child - 1].type, placements[child]) if child is not None else None
        bodies.append(_placed(joint.type, placements[i], axial, T, towards))
    return bodies


def matrix(X: bytes) -> Array:
    """The 4x4 matrix of its bytes."""
    return np.frombuffer(X).reshape(4, 4)


def matrices(Xs: list[bytes]) -> Array:
    """Some of them, (n, 4, 4)."""
    return np.frombuffer(b"".join(Xs)).reshape(-1, 4, 4)


@lru_cache(maxsize=65536)
def _placed(
    joint: JointType, X_PJ: bytes, parent_axial: bool, parent_T: bytes, towards: tuple[JointType, bytes] | None
) -> Placed:
    """The chosen frame of a body, from its joint, its parent's frame, and the joint of its first child."""
    ratio, offset = (joint.ratio, joint.offset) if isinstance(joint, Mimic) else (1.0, 0.0)
    canonical, T = _canonical(joint)
    X = se3.inverse(matrix(parent_T)) @ matrix(X_PJ) @ T
    if canonical.axial:
        axis = se3.rotation(X)[:, 2]
        if axis[np.argmax(np.abs(axis) > 1e-9)] < 0:
            ratio, offset, T, X = -ratio, -offset, T @ ROUND, X @ ROUND
        # slide and turn commute with the joint: made after it, they stand before it
        step = _simplifying(X, parent_axial)
        T, X = T @ step, X @ step
    if isinstance(canonical, Revolute) and towards is not None and towards[0].axial:
        turn = _direction(se3.inverse(T) @ matrix(towards[1]) @ _canonical(towards[0])[1])
        offset, T = offset + turn, T @ _screw(turn, 0.0)
    # rounding errors in frames would give equal robots different types
    return Placed(canonical, snapped(X).tobytes(), snapped(T).tobytes(), ratio, offset)


@lru_cache(maxsize=4096)
def _canonical(joint: JointType) -> tuple[JointType, Array]:
    """The joint in canonical axes, and these, as a pose (4, 4)."""
    found, R = (joint.follower if isinstance(joint, Mimic) else joint).canonical()
    return found, read_only(se3.pose(R))


def _screw(turn: float, slide: float) -> Array:
    """Turn about z and slide along it, (4, 4)."""
    c, s = np.cos(turn), np.sin(turn)
    return np.array([[c, -s, 0.0, 0.0], [s, c, 0.0, 0.0], [0.0, 0.0, 1.0, slide], [0.0, 0.0, 0.0, 1.0]])


def _simplifying(X: Array, parent_axial: bool) -> Array:
    """The slide along z and turn about z after which the placement X is simple."""
    R, p = X[:3, :3], X[:3, 3]
    k = R[:, 2]
    apart = float(np.hypot(k[0], k[1]))  # sine of the angle between the axes
    if not parent_axial:
        slide, x = -(p @ k), so3.perpendicular(k)[0]
    elif apart < 1e-9:
        slide, x = -p[2] / k[2], np.array([1.0, 0.0, 0.0])
    else:
        x = np.array([-k[1], k[0], 0.0]) / apart
        slide = -(p[0] * k[0] + p[1] * k[1]) / apart**2
        if abs(slide) > FARTHEST * np.linalg.norm(p):
            # nearly parallel axes have their common normal far away, where digits are lost
            slide = -p[2] / k[2]
    return _screw(float(np.arctan2(x @ R[:, 1], x @ R[:, 0])), float(slide))


def _direction(X: Array) -> float:
    """The angle about z of the common normal to the axis of a child placed at X, or of the child itself if axes are parallel."""
    x, y = -X[1, 2], X[0, 2]
    if np.hypot(x, y) < 1e-9:
        x, y = X[0, 3], X[1, 3]
    return float(np.arctan2(y, x)) if np.hypot(x, y) > 1e-12 else 0.0


def snapped(X: Array) -> Array:
    """X with entries that differ from 0, 1 and -1 by rounding set to these."""
    X = np.array(X)
    p, R = X[:3, 3], X[:3, :3]
    p[np.abs(p) < SNAP * max(1e-3, np.abs(p).max())] = 0.0
    whole = np.rint(R)
    near = np.abs(R - whole) < SNAP
    R[near] = whole[near]
    return X + 0.0  # no zero has a sign
