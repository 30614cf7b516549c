"""Joint angles of the planar arm with two turning joints, in closed form (von Stryk 3.2.3).

Link 1 of length l1 [m] turns by q1 about the origin, link 2 of length l2 by q2 about the end of link 1:
P = (l1 cos q1 + l2 cos(q1 + q2), l1 sin q1 + l2 sin(q1 + q2)).
"""

from __future__ import annotations

from math import atan2, hypot, isfinite, sqrt

import numpy as np
from numpy.typing import ArrayLike

from modurob.errors import InputError
from modurob.spatial.scalars import Array

# nearer than this to the boundary of the workspace, relative to l1 + l2, the arm is stretched or folded
BOUNDARY = 1e-12


def algebraic_joint_angles(l1: float, l2: float, target: ArrayLike) -> Array:
    """All (q1, q2) that bring the end of the arm to `target` = (x, y) [m], (k, 2) in (-pi, pi] (von Stryk 3.2.3.1).

    cos q2 = (x² + y² - l1² - l2²) / (2 l1 l2), q1 = atan2(y, x) - atan2(l2 sin q2, l1 + l2 cos q2). Inside the workspace
    k = 2, elbow down (q2 > 0) first; on its boundary k = 1, outside k = 0.
    """
    phi, r, elbows = _polar(l1, l2, target)
    cosine = (r * r - l1 * l1 - l2 * l2) / (2 * l1 * l2)
    # sqrt(1 - cosine²), written so that it vanishes exactly on the boundary
    sine = sqrt((r - (l1 - l2)) * (r + (l1 - l2)) * (l1 + l2 - r) * (l1 + l2 + r)) / (2 * l1 * l2)
    beta, bend = atan2(l2 * sine, l1 + l2 * cosine), atan2(sine, cosine)
    return _stacked([(phi - elbow * beta, elbow * bend) for elbow in elbows])


def geometric_joint_angles(l1: float, l2: float, target: ArrayLike) -> Array:
    """The same as `algebraic_joint_angles`, from the triangle with the sides l1, l2 and r = |P| (von Stryk 3.2.3.2).

    With a = (l1 + l2 + r) / 2 and the radius b = sqrt((a - l1) (a - l2) (a - r) / a) of its inner circle, the angles at the
    target and at the origin are alpha = 2 atan(b / (a - l1)), beta = 2 atan(b / (a - l2)); q1 = phi -+ beta and
    q1 + q2 = phi +- alpha.
    """
    phi, r, elbows = _polar(l1, l2, target)
    # a, a - l1, a - l2, a - r, written so that they vanish exactly on the boundary; b cancels from the tangents
    a, a1, a2, a3 = (l1 + l2 + r) / 2, (r - (l1 - l2)) / 2, (r + (l1 - l2)) / 2, (l1 + l2 - r) / 2
    alpha, beta = 2 * atan2(sqrt(a2 * a3), sqrt(a * a1)), 2 * atan2(sqrt(a1 * a3), sqrt(a * a2))
    return _stacked([(phi - elbow * beta, elbow * (alpha + beta)) for elbow in elbows])


def _polar(l1: float, l2: float, target: ArrayLike) -> tuple[float, float, tuple[int, ...]]:
    """Direction and distance of the target, put on the boundary if near or beyond, and the signs of q2 that reach it."""
    P = np.asarray(target, dtype=float)
    if not (0 < l1 < np.inf and 0 < l2 < np.inf):
        raise InputError(f"link lengths {l1} and {l2}: expected positive finite numbers")
    if P.shape != (2,) or not all(isfinite(x) for x in P):
        raise InputError(f"target {target!r}: expected two finite numbers (x, y)")
    phi, r = atan2(P[1], P[0]), hypot(*P)
    inner, outer, near = abs(l1 - l2), l1 + l2, BOUNDARY * (l1 + l2)
    if max(inner, r) <= near:
        raise InputError(
            f"target {target!r} is the base of an arm with equal links, {l1}: infinitely many solutions, q2 = pi and any q1; "
            "expected a target away from the origin"
        )
    if inner + near < r < outer - near:
        return phi, r, (1, -1)
    return phi, outer if r > inner + near else inner, (1,) if inner - near <= r <= outer + near else ()


def _stacked(angles: list[tuple[float, float]]) -> Array:
    """(k, 2), within a turn around zero."""
    q = np.array(angles, dtype=float).reshape(-1, 2)
    return np.pi - np.mod(np.pi - q, 2 * np.pi)
