"""Whether two modules overlap, with all joints at zero."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from modurob.catalogue import Module
from modurob.errors import AssemblyError
from modurob.geometry import solid
from modurob.spatial import se3
from modurob.spatial.scalars import Array

# boxes are shrunk by this, so that faces may touch
SHRINK = 0.02
# modules whose neighbours are looked up at once, and pairs compared at once
BLOCK, MOST_PAIRS = 64, 20_000
FEW = 64  # modules that are all compared, without a tree
FURTHEST = 1e100  # m; squares of larger numbers overflow


class Hull(NamedTuple):
    """The boxes around a module's shapes in its frame; the first is around them all."""

    X: Array  # (1 + shapes, 4, 4)
    half: Array  # half edges, (1 + shapes, 3)


@lru_cache(maxsize=1024)
def hull(module: Module) -> Hull | None:
    """The hull of a module, or None if it has no shape, or a symbolic one."""
    shapes = [s for part in module.parts.values() for s in part.shapes]
    if not shapes or any(np.asarray(s.size).dtype == object or s.X.dtype == object for s in shapes):
        return None
    X = np.stack([s.X for s in shapes])
    half = np.array([solid(s.kind, s.size).half_edges for s in shapes]) * (1 - SHRINK)
    reach = (np.abs(se3.rotation(X)) @ half[..., None])[..., 0]
    low, high = (se3.position(X) - reach).min(axis=0), (se3.position(X) + reach).max(axis=0)
    around = se3.pose(None, (low + high) / 2)
    return Hull(np.concatenate([around[None], X]), np.concatenate([(high - low)[None] / 2, half]))


def clashes(
    modules: Mapping[str, Module], placements: Mapping[str, Array], newest: str | None = None
) -> Iterable[tuple[str, str]]:
    """Pairs of modules that meet, as they are found; with `newest` only those with that module."""
    hulls = {n: h for n, m in modules.items() if (h := hull(m)) is not None and placements[n].dtype != object}
    if len(hulls) < 2 or (newest is not None and newest not in hulls):
        return
    names = list(hulls)
    X = np.stack([placements[n] for n in names]) @ np.stack([h.X[0] for h in hulls.values()])
    half = np.stack([h.half[0] for h in hulls.values()])
    if not (np.abs(X).max() < FURTHEST and half.max() < FURTHEST):
        raise AssemblyError(f"modules reach further than {FURTHEST:g} m: expected lengths in metres")
    radius = np.linalg.norm(half, axis=1)
    # boxes around whole modules first, many pairs at once
    for pairs in _near(se3.position(X), radius, None if newest is None else names.index(newest)):
        a, b = pairs.T
        for i, j in pairs[boxes_meet(X[a], half[a], X[b], half[b])]:
            one, two = hulls[names[i]], hulls[names[j]]
            X_one, X_two = placements[names[i]] @ one.X[1:], placements[names[j]] @ two.X[1:]
            if boxes_meet(X_one[:, None], one.half[1:, None], X_two[None], two.half[None, 1:]).any():
                yield names[i], names[j]


def _near(points: Array, radius: Array, newest: int | None) -> Iterator[Array]:
    """Pairs of spheres that may meet, (n, 2), a block at a time: where everything overlaps there are too many to hold."""
    if newest is not None:
        near = np.flatnonzero(np.linalg.norm(points - points[newest], axis=1) < radius + radius[newest])
        yield np.array([(newest, i) for i in near if i != newest], dtype=int).reshape(-1, 2)
        return
    neighbours = _within(points, 2 * radius.max())
    for start in range(0, len(points), BLOCK):
        found = neighbours(points[start : start + BLOCK])
        pairs = [(i, j) for i, others in enumerate(found, start) for j in others if j > i]
        for first in range(0, len(pairs), MOST_PAIRS):
            yield np.array(pairs[first : first + MOST_PAIRS], dtype=int)


def _within(points: Array, reach: float) -> Callable[[Array], Any]:
    """For each of some positions the indices of the points within the given distance [m]."""
    if len(points) <= FEW:
        return lambda places: [np.flatnonzero(np.linalg.norm(points - x, axis=1) <= reach).tolist() for x in places]
    from scipy.spatial import KDTree  # slow to import

    tree = KDTree(points)
    return lambda places: tree.query_ball_point(places, reach)


def boxes_meet(A: Array, half_a: Array, B: Array, half_b: Array) -> Array:
    """Separating axis test of oriented boxes, over leading axes."""
    axes_a, axes_b = np.swapaxes(se3.rotation(A), -1, -2), np.swapaxes(se3.rotation(B), -1, -2)
    crosses = np.cross(axes_a[..., :, None, :], axes_b[..., None, :, :])
    axes_a, axes_b = np.broadcast_arrays(axes_a, axes_b)
    axes = np.concatenate([axes_a, axes_b, crosses.reshape(*crosses.shape[:-3], 9, 3)], axis=-2)
    reach = (np.abs(axes @ np.swapaxes(axes_a, -1, -2)) @ half_a[..., None])[..., 0]
    reach = reach + (np.abs(axes @ np.swapaxes(axes_b, -1, -2)) @ half_b[..., None])[..., 0]
    apart = np.abs((axes @ (se3.position(B) - se3.position(A))[..., None])[..., 0])
    # crosses of parallel axes vanish and separate nothing
    vanishing = np.abs(axes).max(axis=-1) < 1e-9
    return np.all((apart < reach) | vanishing, axis=-1)
