"""The data of a mechanism for kernels, computed once: chosen frames, dyad types, constants, slots and paths."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from modurob.caching import cached_property
from modurob.kernels.dyad import DyadType, classified
from modurob.kernels.frames import matrices, reframed
from modurob.kernels.writer import Code
from modurob.mechanism import Tables
from modurob.spatial import inertia, se3
from modurob.spatial.scalars import Array


def children_of(parents: Sequence[int]) -> list[list[int]]:
    """The children of each body, the world first."""
    children: list[list[int]] = [[] for _ in parents]
    for i, parent in enumerate(parents[1:], start=1):
        children[parent].append(i)
    return children


def depth_first(children: list[list[int]]) -> list[int]:
    """All bodies but the world in depth-first order, so that data shared between neighbours stays in the cache."""
    order, open_ = [], list(reversed(children[0]))
    while open_:
        order.append(open_.pop())
        open_ += reversed(children[order[-1]])
    return order


class Slots(NamedTuple):
    """The places of sums that children send; a slot is free again once its body has read it."""

    children: Array  # slot that each body receives in; the last one, which nothing is sent to, if it carries nothing
    sent: Array  # slot that it sends to
    before: Array  # slot of what siblings have sent there before; the last one if none has
    add: tuple[bool, ...]  # whether a sibling has sent there before
    number: int


def slots_of(parents: tuple[int, ...], order: Sequence[int]) -> Slots:
    """Slots for bodies numbered 1, 2, ...; they are visited from the last in the order to the first.

    What the world receives goes to slot zero.
    """
    n = len(parents)
    children, sent, add = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32), [False] * n
    of: dict[int, int] = {}
    free: list[int] = []
    count = 1
    for i in reversed(order):
        mine, parent = of.pop(i, 0), parents[i - 1]
        children[i - 1] = mine
        if parent in of:
            sent[i - 1], add[i - 1] = of[parent], True
        elif parent:
            if free:
                of[parent] = free.pop()
            else:
                of[parent], count = count, count + 1
            sent[i - 1] = of[parent]
        if mine:
            free.append(mine)
    children[children == 0] = count
    return Slots(children, sent, np.where(add, sent, count).astype(np.int32), tuple(add), count + 1)


class Anatomy:
    """The chosen frames of a mechanism, and the types, constants and places of its joints."""

    def __init__(self, m: Tables):
        self.m, self.placed = m, reframed(m)
        self.order = depth_first(children_of(m.parent))
        self.slots = slots_of(m.parent[1:], self.order)
        carries = set(m.parent[1:])
        shared = self._shared_rates()
        typed = [
            classified(
                body,
                i not in carries,
                self.slots.add[i - 1],
                bool(j.armature.any()),
                (j.v_slice.start in shared, j.mimics, i in m.hubs),
            )
            for i, (body, j) in enumerate(zip(self.placed, m.joints, strict=True), start=1)
        ]
        self.kinds: list[DyadType] = [kind for kind, _ in typed]
        self._rotations = [rotation for _, rotation in typed]
        self.parents = np.array(m.parent[1:], dtype=np.int32)
        self.q_starts = np.array([j.q_slice.start for j in m.joints], dtype=np.int32)
        self.v_starts = np.array([j.v_slice.start for j in m.joints], dtype=np.int32)
        self.rates = np.array([j.type.nv for j in m.joints], dtype=np.int32)
        # rates of the tree, of which mimic joints have some of their own
        self.tree_starts = np.concatenate([np.zeros(1, dtype=np.int32), np.cumsum(self.rates, dtype=np.int32)])
        self.T, self._X = matrices([b.T for b in self.placed]), matrices([b.X_PJ for b in self.placed])
        self._back = se3.inverse(self.T)
        self._inertias = inertia.parameters(inertia.moved(m.inertia[1:], self._back))

    def _shared_rates(self) -> set[int]:
        """Rates of joints that others mimic."""
        return {j.v_slice.start for j in self.m.joints if j.mimics}

    def rows(self, codes: Sequence[Code], anywhere: bool) -> list[Array]:
        """The constants that the code of each body reads; `anywhere`: with its whole placement."""
        alike: dict[Code, list[int]] = {}
        for i, code in enumerate(codes):
            alike.setdefault(code, []).append(i)
        found: list[Array] = [np.zeros(0)] * len(codes)
        for code, bodies in alike.items():
            for i, row in zip(bodies, code.rows(self._constants(bodies, anywhere), len(bodies)), strict=True):
                found[i] = row
        return found

    def _constants(self, bodies: list[int], anywhere: bool) -> dict[str, Array]:
        """By name, (entries, bodies), of bodies of one type."""
        placed, joints = [self.placed[i] for i in bodies], [self.m.joints[i] for i in bodies]
        X, back = self._X[bodies], self._back[bodies]
        rotations = X[:, :3, :3].reshape(-1, 9) if anywhere else np.array([self._rotations[i] for i in bodies])
        return {
            "R": rotations.T,
            "p": X[:, :3, 3].T,
            "ratio": np.array([[b.ratio for b in placed]]),
            "offset": np.array([[b.offset for b in placed]]),
            "parameter": np.array([list(b.joint.numbers.values()) for b in placed], dtype=float).T,
            "back": back[:, :3].reshape(-1, 12).T,
            "I": self._inertias[bodies].T,
            "armature": np.array([j.armature for j in joints]).T,
            "gravity": np.repeat(self.m.gravity[:, None], len(bodies), axis=1),
            "number": np.array([[i + 1.0 for i in bodies]]),
        }

    # ---- pairs ----

    @cached_property
    def rate_names(self) -> list[tuple[int, int]]:
        """Joint and coordinate of each rate of the tree."""
        return [(i, int(self.v_starts[i]) + k) for i in range(len(self.kinds)) for k in range(self.rates[i])]

    def chosen(self, body: int, X: Array) -> Array:
        """A frame of a body, given in the tables' body frame, in the chosen one."""
        return se3.inverse(self.T[body - 1]) @ X if body else X

    @cached_property
    def pattern(self) -> Array:
        """The pattern of the mass matrix, filled in as it is eliminated from the last row on."""
        return filled_pattern(self.m.nv, paths_of(self.m))


def paths_of(m: Tables) -> list[set[int]]:
    """For each leaf the rates of its ancestors, between which the mass matrix has entries."""
    carries = set(m.parent)
    return [
        {c for i in m.ancestors[b] for c in range(m.joints[i - 1].v_slice.start, m.joints[i - 1].v_slice.stop)}
        for b in range(1, len(m.bodies))
        if b not in carries
    ]


def filled_pattern(n: int, cliques: Iterable[set[int]]) -> Array:
    """For each row its columns before the diagonal: pairs within a clique, and the fill-in of elimination from the last row on."""
    columns: list[set[int]] = [set() for _ in range(n)]
    for clique in cliques:
        ordered = sorted(clique)
        for place, k in enumerate(ordered):
            columns[k].update(ordered[:place])
    for k in range(n - 1, -1, -1):
        ordered = sorted(columns[k])
        for place, i in enumerate(ordered):
            columns[i].update(ordered[:place])
    return listed(map(sorted, columns))


def listed(lists: Iterable[Sequence[int]]) -> Array:
    """Lists of numbers in one array: where each stands, then for each how many there are, and which."""
    index, numbers, lists = [], [], list(lists)
    for one in lists:
        index.append(len(lists) + len(numbers))
        numbers += [len(one), *one]
    return np.array([*index, *numbers], dtype=np.int32)


@lru_cache(maxsize=128)
def anatomy(m: Tables) -> Anatomy:
    """The anatomy of a mechanism."""
    return Anatomy(m)
