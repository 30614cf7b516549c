"""Contacts on any ground, with friction: can they balance a wrench, and what push more?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from modurob.errors import InputError, explained
from modurob.locomotion.numbers import numbers, one_positive, whole
from modurob.locomotion.support import UP, Wrench
from modurob.spatial.scalars import Array

# pushes of so many times the wrench are without limit
LARGEST = 1e3


@explained
def push_margin(
    wrench: Wrench, points: ArrayLike, at: ArrayLike, friction: float, normals: ArrayLike = UP, directions: int = 16
) -> float:
    """The largest horizontal force at a point `at` (3,) [m] that contacts can balance in any direction [N].

    `wrench` is the required wrench of the ground, as of `ground_wrench`, before the push. Contacts are at `points` (k,
    3) with `normals` (k, 3) or one for all; their forces are in pyramids inside the friction cones, with one edge for
    each of the `directions` of the push. No polygon is needed, so that the ground may be stairs or rocks (Bretl and
    Lall). Zero if nothing balances the wrench, infinite between walls that contacts can squeeze without limit.

    >>> feet = [[-0.3, -0.2, 0], [0.3, -0.2, 0], [0.3, 0.2, 0], [-0.3, 0.2, 0]]
    >>> weight = mr.locomotion.Wrench(np.array([0, 0, 100.0]), np.zeros(3))
    >>> round(mr.locomotion.push_margin(weight, feet, at=[0, 0, 0.5], friction=0.8), 6)  # tips: 100 N 0.2 m / 0.5 m
    40.0
    >>> round(mr.locomotion.push_margin(weight, feet, at=[0, 0, 0.5], friction=0.3), 6)  # slides first
    30.0
    """
    from scipy.optimize import linprog

    around = 2 * np.pi * np.arange(whole(directions, "directions", 4)) / directions
    p, c = numbers(points, "points", 3), numbers(at, "at", 3)
    if p.ndim != 2:
        raise InputError(f"points has shape {p.shape}: expected (k, 3), one for each contact")
    edges = _edges(np.broadcast_to(numbers(normals, "normals", 3), p.shape), one_positive(friction, "friction"), around)
    G = np.concatenate([edges, np.cross(p[:, None], edges)], axis=-1).reshape(-1, 6).T
    needed = np.concatenate([numbers(x, "wrench", 3) for x in wrench])
    pushes, most, edges = [], LARGEST * np.linalg.norm(needed[:3]), G.shape[1]
    cost, bounds = np.append(np.zeros(edges), -1.0), [*[(0, None)] * edges, (0, most)]
    for a in around:
        d = np.array([np.cos(a), np.sin(a), 0.0])
        columns = np.column_stack([G, np.concatenate([d, np.cross(c, d)])])
        found = linprog(cost, A_eq=columns, b_eq=needed, bounds=bounds)
        pushes.append(-found.fun if found.status == 0 else 0.0)
    return float(min(pushes)) if min(pushes) < 0.999 * most else np.inf


def _edges(normals: Array, friction: float, around: Array) -> Array:
    """Edges n + mu t of the pyramids of friction, (k, m, 3), their tangents t at the angles `around`, from along x."""
    length = np.linalg.norm(normals, axis=-1, keepdims=True)
    if not np.all(length):
        raise InputError("normals with (0, 0, 0) among them: expected directions away from the ground")
    n = normals / length
    flat = np.abs(n[:, :1]) < 0.9
    x = np.where(flat, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    x = x - (x * n).sum(-1, keepdims=True) * n
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    y = np.cross(n, x)
    tangents = np.cos(around)[:, None] * x[:, None] + np.sin(around)[:, None] * y[:, None]
    return n[:, None] + friction * tangents
