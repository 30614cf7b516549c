"""Which of thousands of arms reach poses within their limits, and hold themselves and a load there."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from modurob.errors import InputError
from modurob.kernels.threads import thread_count
from modurob.search.arms import Arms, ArmSet
from modurob.search.balls import Solutions, solutions
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array

CHUNK = 2048  # arms that are worked on at once
GRAVITY = np.array([0.0, 0.0, -9.81])
WORDS = ("out of reach", "too heavy", "reached")


class Reach(NamedTuple):
    """For each arm and pose a verdict: 0 out of reach or beyond limits, 1 reached but beyond the efforts of the joints, 2
    reached."""

    verdict: Array  # (arms, poses)
    q: Array  # the solution that takes the least part of its joints' efforts, (arms, poses, n) [rad]; NaN where there is none
    effort: Array  # the largest part of an effort that it takes, (arms, poses)

    @property
    def arms(self) -> Array:
        """The numbers of the arms that reach every pose."""
        return np.flatnonzero((self.verdict == 2).all(axis=1))


def reach(arms: ArmSet, poses: Any, load: float = 0.0, gravity: Any = GRAVITY) -> Reach:
    """Which arms bring their ends to poses (p, 4, 4), each at rest with a `load` [kg] at its end; any solution is
    sufficient.

    Arms have six joints whose axes intersect in pairs, as with ball modules. All cores are used; results do not depend
    on their number.
    """
    poses, gravity = np.asarray(poses, dtype=float), np.asarray(gravity, dtype=float)
    if poses.ndim != 3 or poses.shape[1:] != (4, 4) or not np.isfinite(poses).all():
        raise InputError(f"poses have shape {poses.shape}: expected (p, 4, 4), finite")
    if gravity.shape != (3,) or not 0 <= load < np.inf:
        raise InputError(f"load {load!r:.40}, gravity {gravity!r:.60}: expected kilograms and a vector (3,)")
    chunks = [np.arange(i, min(i + CHUNK, len(arms))) for i in range(0, len(arms), CHUNK)]
    with ThreadPoolExecutor(min(thread_count(), os.cpu_count() or 1)) as pool:
        found = list(pool.map(lambda some: _reached(arms.tables(some), poses, load, gravity), chunks))
    return Reach(*(np.concatenate(x) for x in zip(*found, strict=True)))


def _reached(arms: Arms, poses: Array, load: float, gravity: Array) -> Reach:
    every = solutions(arms, poses)
    q = within(every.q, arms.limits[every.arm])
    kept = np.flatnonzero(np.isfinite(q).all(axis=1))
    own = Solutions(every.arm[kept], every.pose[kept], q[kept])
    part = np.abs(held(arms, own, load, gravity)) / arms.limits[own.arm, :, 2]
    worst = np.nan_to_num(part, nan=0.0).max(axis=1, initial=0.0)
    # the least first, so that the first of each arm and pose is the best
    order = np.lexsort((worst, own.pose, own.arm))
    place = own.arm[order] * len(poses) + own.pose[order]
    best, first = np.unique(place, return_index=True)
    rows = order[first]
    shape = len(arms.X), len(poses)
    verdict, q_best, effort = (
        np.zeros(shape, dtype=np.int8),
        np.full((*shape, q.shape[1]), np.nan),
        np.full(shape, np.inf),
    )
    verdict.flat[best] = np.where(worst[rows] <= 1, 2, 1)
    q_best.reshape(-1, q.shape[1])[best] = own.q[rows]
    effort.flat[best] = worst[rows]
    return Reach(verdict, q_best, effort)


def within(q: Array, limits: Array) -> Array:
    """Angles by whole turns as near as can be to the middle of their limits, (s, n); NaN where they are beyond."""
    low, high = limits[..., 0], limits[..., 1]
    middle = np.where(np.isfinite(low + high), (low + high) / 2, 0.0)
    near = q - 2 * np.pi * np.round((q - middle) / (2 * np.pi))
    return np.where((near >= low) & (near <= high), near, np.nan)


def held(arms: Arms, own: Solutions, load: float, gravity: Array) -> Array:
    """Torques that hold arms and load at rest, (s, n) [N m]: against the weight of everything that a joint carries."""
    h, o = arms.h[own.arm], arms.o[own.arm]
    mass, moment = arms.mass[own.arm], arms.moment[own.arm]
    mass[:, -1] += load
    moment[:, -1] += load * arms.X[own.arm, :3, 3]
    n, X = h.shape[1], np.broadcast_to(np.eye(4), (len(h), 4, 4))
    axes, points, weights, moments = [], [], [], []
    for k in range(n):
        R, p = X[:, :3, :3], X[:, :3, 3]
        axes.append((R @ h[:, k, :, None])[..., 0])
        points.append((R @ o[:, k, :, None])[..., 0] + p)
        turn = so3.about(h[:, k], own.q[:, k])
        X = X @ se3.pose(turn, o[:, k] - (turn @ o[:, k, :, None])[..., 0])
        weights.append(mass[:, k + 1])
        moments.append((X[:, :3, :3] @ moment[:, k + 1, :, None])[..., 0] + mass[:, k + 1, None] * X[:, :3, 3])
    behind = np.cumsum(np.stack(weights[::-1]), axis=0)[::-1]
    pulled = np.cumsum(np.stack(moments[::-1]), axis=0)[::-1]
    arm = pulled - behind[..., None] * np.stack(points)
    return -(np.stack(axes) * np.cross(arm, gravity)).sum(axis=-1).T
