"""Seven joints: one angle is a parameter, with all solutions for each of its values."""

from collections.abc import Iterator

import numpy as np

from modurob.kinematics.inverse import families
from modurob.kinematics.inverse.arm import Arm, arm_of
from modurob.kinematics.inverse.axes import Axis, Chain, Motion, meeting_point, motions, parallel
from modurob.kinematics.inverse.families import Axes, Way, orientations
from modurob.kinematics.inverse.points import Solutions, moved
from modurob.kinematics.inverse.subproblems import Turn, sp3
from modurob.spatial import se3
from modurob.spatial.scalars import Array, cos, cross, dot, sin, sqrt

# where relations of axes are looked at that depend on the angle of the joint between them
GENERIC = 0.7390851


# ---- spherical shoulder and wrist ----


def shoulder_and_wrist(axes: Axes, size: float) -> tuple[Axis, ...] | None:
    """The axes by their meeting points, elbow by the point nearest to the shoulder, if 1, 2, 3 meet and 5, 6, 7 meet; else None."""
    if len(axes) != 7 or not all(a.turns for a in axes):
        return None
    shoulder, wrist = meeting_point(axes[:3], size), meeting_point(axes[4:], size)
    if shoulder is None or wrist is None or any(parallel(axes[k], axes[k + 1]) for k in (0, 1, 4, 5)):
        return None
    elbow = axes[3]
    foot = elbow.o + (elbow.h @ (shoulder - elbow.o)) * elbow.h
    if min(np.linalg.norm(foot - shoulder), np.linalg.norm(_off(elbow, wrist))) < 1e-5 * size:
        return None
    return (*(a.through(shoulder) for a in axes[:3]), elbow.through(foot), *(a.through(wrist) for a in axes[4:]))


def _off(a: Axis, p: Array) -> Array:
    return p - a.o - (a.h @ (p - a.o)) * a.h


def at_arm_angle(angle: Array) -> Way:
    """The way to solve such an arm: |wrist - shoulder| gives q4, the arm angle places the elbow, each triple has two solutions.

    The arm angle is that of the elbow about the line from shoulder to wrist, zero where it is on the side to which the first
    axis points (Shimizu and others, Analytical inverse kinematic computation for 7-DOF redundant manipulators with joint limits).
    """

    def solve(axes: Axes, goal: Motion) -> Solutions:
        T = goal.T
        elbow, shoulder, R = axes[3], axes[0].o, se3.rotation(T)
        wrist = _point(T, axes[4].o)
        to = wrist - shoulder
        for t4 in sp3(elbow.h, axes[4].o - elbow.o, shoulder - elbow.o, dot(to, to)):
            bent = moved(elbow, t4, axes[4].o) - shoulder
            R123 = _frame(to, _swung(to, axes[0].h, angle)) @ np.swapaxes(_frame(bent, elbow.o - shoulder), -1, -2)
            R4 = np.stack([t4.rotate(elbow.h, e) for e in np.eye(3)], axis=-1)
            rest = np.swapaxes(R123 @ R4, -1, -2) @ R
            for first in orientations(axes[:3], R123):
                for last in orientations(axes[4:], rest):
                    yield (*first, t4, *last)

    return Way("spherical shoulder and wrist", (), solve)


def _point(T: Array, p: Array) -> Array:
    return (se3.rotation(T) @ p[:, None])[..., 0] + se3.position(T)


def _swung(to: Array, reference: Array, angle: Array) -> Array:
    """The direction of the elbow: that of the reference across `to`, turned about it."""
    n = to / sqrt(dot(to, to))[..., None]
    across = reference - dot(n, reference)[..., None] * n
    return Turn(cos(angle), sin(angle)).rotate(n, across)


def _frame(x: Array, y: Array) -> Array:
    """Axes with the first along x and the second as y lies across it, as columns."""
    unit = lambda v: v / sqrt(dot(v, v))[..., None]  # noqa: E731
    x, y = np.broadcast_arrays(x, y)
    first = unit(x)
    third = unit(cross(first, y))
    return np.stack([first, cross(third, first), third], axis=-1)


def arm_angle(axes: Axes, q: Array) -> Array:
    """The arm angle of a configuration."""
    shoulder, wrist = axes[0].o, _point(motions(axes[:4], q[..., :4]), axes[4].o)
    n = (wrist - shoulder) / np.linalg.norm(wrist - shoulder)
    e = _point(motions(axes[:3], q[..., :3]), axes[3].o) - shoulder
    return np.arctan2(dot(n, cross(axes[0].h, e)), dot(axes[0].h, e) - dot(n, axes[0].h) * dot(n, e))


# ---- one joint held ----


def best_to_hold(chain: Chain) -> tuple[int, Arm] | None:
    """The joint of seven that leaves the simplest arm when it is held, and that arm at some angle; None if no arm is left.

    Those at the ends first: what they leave does not depend on their angle.
    """
    found: list[tuple[tuple[int, int], int, Arm]] = []
    for k in _from_ends(chain):
        arm = arm_of(chain.locked(k, np.asarray(GENERIC)))
        if arm is not None:
            effort = 2 if arm.way is None else families.effort(arm.way)
            found.append(((effort, len(found)), k, arm))
            if effort == 0:
                break
    return min(found, key=lambda f: f[0])[1:] if found else None


def _from_ends(chain: Chain) -> Iterator[int]:
    """The joints of the robot, from the tip and the base to the middle."""
    n = len(chain.axes)
    order = sorted(range(n), key=lambda k: (min(k, n - 1 - k), -k))
    yield from (k for k in order if chain.at[k] >= 0)
