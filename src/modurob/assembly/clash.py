"""Whether two modules stand in one place, all joints at zero."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.spatial import KDTree

from modurob.catalogue import Module
from modurob.spatial import se3
from modurob.spatial.scalars import Array

# boxes are shrunk by this, so that faces may touch
SHRINK = 0.02


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
    half = np.array([_half_edges(s.kind, s.size) for s in shapes]) * (1 - SHRINK)
    reach = (np.abs(se3.rotation(X)) @ half[..., None])[..., 0]
    low, high = (se3.position(X) - reach).min(axis=0), (se3.position(X) + reach).max(axis=0)
    around = se3.pose(None, (low + high) / 2)
    return Hull(np.concatenate([around[None], X]), np.concatenate([(high - low)[None] / 2, half]))


def _half_edges(kind: str, size: tuple[float, ...]) -> tuple[float, float, float]:
    if kind == "box":
        return size[0] / 2, size[1] / 2, size[2] / 2
    if kind == "cylinder":
        return size[0], size[0], size[1] / 2
    return size[0], size[0], size[0]


def clashes(
    modules: Mapping[str, Module], placements: Mapping[str, Array], newest: str | None = None
) -> Iterable[tuple[str, str]]:
    """Pairs of modules that meet; with `newest` only those with that module."""
    hulls = {n: h for n, m in modules.items() if (h := hull(m)) is not None and placements[n].dtype != object}
    if len(hulls) < 2 or (newest is not None and newest not in hulls):
        return
    names = list(hulls)
    X = np.stack([placements[n] for n in names]) @ np.stack([h.X[0] for h in hulls.values()])
    half = np.stack([h.half[0] for h in hulls.values()])
    # boxes around whole modules first, all pairs that are near at once
    radius = np.linalg.norm(half, axis=1)
    if newest is None:
        pairs = KDTree(se3.position(X)).query_pairs(2 * radius.max(), output_type="ndarray")
    else:
        new = names.index(newest)
        near = np.linalg.norm(se3.position(X) - se3.position(X[new]), axis=1) < radius + radius[new]
        pairs = np.array([(new, i) for i in np.flatnonzero(near) if i != new], dtype=int).reshape(-1, 2)
    a, b = pairs.T
    for i, j in pairs[_boxes_meet(X[a], half[a], X[b], half[b])]:
        one, two = hulls[names[i]], hulls[names[j]]
        X_one, X_two = placements[names[i]] @ one.X[1:], placements[names[j]] @ two.X[1:]
        if _boxes_meet(X_one[:, None], one.half[1:, None], X_two[None], two.half[None, 1:]).any():
            yield names[i], names[j]


def _boxes_meet(A: Array, half_a: Array, B: Array, half_b: Array) -> Array:
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
