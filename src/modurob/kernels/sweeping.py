"""The rates of a tree in depth-first order, as sweeps go over them."""

from collections.abc import Iterator

import numpy as np

from modurob.kernels.anatomy import children_of, depth_first
from modurob.mechanism import Tables
from modurob.spatial.scalars import Array

NAMES = ("row", "rate", "first", "last", "end", "before", "turns", "block", "stop", "free")


def spots_of(m: Tables) -> dict[str, Array]:
    """The fields of `spot` in sweeps.c for each rate, in depth-first order; places of rates and blocks count from their first."""
    return dict(zip(NAMES, np.array(list(_spots(m)), dtype=np.int32).T, strict=True))


def _spots(m: Tables) -> Iterator[tuple[int, ...]]:
    rates = np.array([0, *(j.type.nv for j in m.joints)])
    squares = np.array([0, *(j.type.nv**2 if j.type.turns else 0 for j in m.joints)])
    starts, blocks = (np.cumsum(x) - x for x in (rates, squares))
    children = children_of(m.parent)
    order = depth_first(children)
    first = dict(zip(order, np.cumsum([0, *rates[order]]).tolist(), strict=False))
    last = {0: -1} | {b: first[b] + int(rates[b]) - 1 for b in order}
    end: dict[int, int] = {}
    for b in reversed(order):
        end[b] = max([last[b] + 1, *(end[c] for c in children[b])])
    stop: dict[int, int] = {}
    for b in reversed(order):
        stop[b] = stop[children[b][0]] if len(children[b]) == 1 else last[b] + 1
    for b in order:
        joint, above = m.joints[b - 1], last[m.parent[b]]
        free = joint.type.nv == 6 and m.parent[b] == 0 and not m.armature[joint.v_slice].any()
        for here in range(first[b], last[b] + 1):
            k = here - first[b]
            before = here - 1 if k else above
            own = joint.v_slice.start + k, starts[b] + k, first[b], last[b], end[b], before
            yield *own, joint.type.turns, blocks[b] + k, stop[b], free
