"""The rates of a tree in depth-first order, as sweeps go over them."""

from collections.abc import Iterator

import numpy as np

from modurob.mechanism import Tables
from modurob.spatial.scalars import Array

NAMES = ("row", "rate", "first", "last", "end", "before", "turns", "block", "to")


def spots_of(m: Tables) -> dict[str, Array]:
    """What `spot` in sweeps.c says of each rate, in depth-first order; places of rates and blocks count from their first."""
    return dict(zip(NAMES, np.array(list(_spots(m)), dtype=np.int32).T, strict=True))


def _spots(m: Tables) -> Iterator[tuple[int, ...]]:
    rates = np.array([0, *(j.type.nv for j in m.joints)])
    squares = np.array([0, *(j.type.nv**2 if j.type.turns else 0 for j in m.joints)])
    starts, blocks = (np.cumsum(x) - x for x in (rates, squares))
    children: list[list[int]] = [[] for _ in m.bodies]
    for i, parent in enumerate(m.parent[1:], start=1):
        children[parent].append(i)
    order = _depth_first(children)
    first = dict(zip(order, np.cumsum([0, *rates[order]]).tolist(), strict=False))
    last = {0: -1} | {b: first[b] + int(rates[b]) - 1 for b in order}
    end: dict[int, int] = {}
    for b in reversed(order):
        end[b] = max([last[b] + 1, *(end[c] for c in children[b])])
    kept = {b: k for k, b in enumerate(b for b in order if len(children[b]) > 1)}
    for b in order:
        joint, above = m.joints[b - 1], last[m.parent[b]]
        for here in range(first[b], last[b] + 1):
            k = here - first[b]
            before = here - 1 if k else above
            own = joint.v_slice.start + k, starts[b] + k, first[b], last[b], end[b], before
            yield *own, joint.type.turns, blocks[b] + k, kept.get(b, -1) if here == last[b] else -1


def _depth_first(children: list[list[int]]) -> list[int]:
    order, open_ = [], list(reversed(children[0]))
    while open_:
        order.append(open_.pop())
        open_ += reversed(children[order[-1]])
    return order
