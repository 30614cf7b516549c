"""All assemblies of given modules that form a tree, each once.

A tree is identified by a canonical form: that of the tree rooted at its centroid (Jordan), whose branches are canonical
forms in turn, the smallest over the symmetries of each module.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from modurob.assembly import Connection, PortRef
from modurob.errors import explained
from modurob.robot import Assembly
from modurob.search.kinds import Kinds
from modurob.search.room import Room
from modurob.spatial import se3
from modurob.spatial.scalars import Array

NOTHING = 0  # the branch at a port that is free


class Branch(NamedTuple):
    """A module docked by port `by` at some port, turned by `roll` [degrees], with branches of its own (0: none) on its ports."""

    kind: int
    by: int
    roll: float
    children: tuple[int, ...]


class Tree(NamedTuple):
    """A module with branches on its ports; `halved`: the port of the connection that halves the tree, if there is one."""

    kind: int
    children: tuple[int, ...]
    halved: int | None = None


@explained
def assemblies(types: Any, modules: int | None = None, rolls: Iterable[float] | None = None) -> Iterator[Assembly]:
    """Every assembly without loops of the given number of modules, each once up to rigid motions, without overlapping
    modules.

    `types` is a module type, a list of them, of which any number is used, or numbers by type, all of which are used.
    `rolls` [degrees] restricts the rolls. `number_of_assemblies` defines which assemblies are the same; it also counts
    those with overlaps. The order is always the same, and assemblies are generated one at a time, so that the first is
    available at once.

    >>> len(list(mr.assemblies("backbone", 3)))
    204
    >>> print(*next(mr.assemblies({"backbone": 2, "scout": 1}, rolls=[0])).connections, sep=", ")
    m0/4 - m1/2, m0/5 - m2/2
    """
    forest = Forest(Kinds(types, modules, rolls))
    return (forest.assembly(tree) for tree in forest.trees())


class Forest:
    """Branches by number, made as they are needed, and the trees of them."""

    def __init__(self, kinds: Kinds, clash: bool = True):
        self.own, self.kinds, self.size = kinds, kinds.kinds, kinds.size
        self.clash = clash
        self.branches: list[Branch | None] = [None]
        self.counts: list[tuple[int, ...]] = [(0,) * len(self.kinds)]
        self.modules: list[tuple[int, ...]] = [()]  # kinds of the modules of each branch
        self.poses: list[Array] = [np.zeros((0, 4, 4))]  # of its modules in the frame of the port it is docked at
        self._number: dict[Branch, int] = {}
        self._turned: dict[tuple[int, float], int] = {}
        self._of_size: dict[tuple[int, int, int], list[int]] = {}
        self._room = Room([kind.module for kind in self.kinds])
        self._meet = lru_cache(maxsize=None)(self._met)
        self._X = [np.stack([p.X for p in k.ports]) if k.ports else np.zeros((0, 4, 4)) for k in self.kinds]

    # ---- trees ----

    def trees(self) -> Iterator[Tree]:
        """All trees, each in its canonical form."""
        n = self.size
        for k in range(len(self.kinds)):
            for children in self._on_ports(k, n - 1, (n - 1) // 2, None):
                if children == self._least(k, children) and self._whole(k, children) and self._free(k, children):
                    yield Tree(k, children)
        if n % 2 == 0:
            yield from self._halved(n)

    def _halved(self, n: int) -> Iterator[Tree]:
        for k, kind in enumerate(self.kinds):
            for p in range(len(kind.ports)):
                for rest in self._on_ports(k, n // 2 - 1, n // 2 - 1, p):
                    for half in self.branches_at(k, p, n // 2):
                        children = (*rest[:p], half, *rest[p + 1 :])
                        if self._first_half(k, p, children) and self._whole(k, children) and self._free(k, children):
                            yield Tree(k, children, p)

    def _first_half(self, k: int, p: int, children: tuple[int, ...]) -> bool:
        """Whether the tree is in its smallest form, seen from this side of the connection at p, and no larger than from
        the other.
        """
        here = (k, *self._least_marked(k, children, p))
        if here != (k, children, p):
            return False
        half: Any = self.branches[children[p]]
        back = self.number(Branch(k, p, half.roll, (*children[:p], NOTHING, *children[p + 1 :])))
        seen = (*half.children[: half.by], back, *half.children[half.by + 1 :])
        return here <= (half.kind, *self._least_marked(half.kind, seen, half.by))

    def _whole(self, k: int, children: tuple[int, ...]) -> bool:
        return not self.own.whole or self._count(k, children) == self.own.most

    # ---- branches ----

    def branches_at(self, k: int, p: int, n: int) -> list[int]:
        """Numbers of the branches of n modules that fit port p of kind k."""
        if (k, p, n) not in self._of_size:
            self._of_size[k, p, n] = sorted({b for b in self._made(k, p, n) if b != NOTHING})
        return self._of_size[k, p, n]

    def _made(self, k: int, p: int, n: int) -> Iterator[int]:
        for j, b, rolls in self.own.fits[k, p]:
            for children in self._on_ports(j, n - 1, n - 1, b):
                for roll in rolls:
                    yield self.number(Branch(j, b, roll, children), new=True)

    def number(self, branch: Branch, new: bool = False) -> int:
        """The number of a branch, that of its canonical form; 0 for a new one that has no room or too many of a kind."""
        form = min(self._seen(branch))
        if form not in self._number:
            count = self._count(form.kind, form.children)
            much = any(n > most for n, most in zip(count, self.own.most, strict=True))
            if new and (much or not self._free(form.kind, form.children)):
                self._number[form] = NOTHING
            else:
                self._add(form, count)
        return self._number[form]

    def _add(self, form: Branch, count: tuple[int, ...]) -> None:
        self._number[form] = len(self.branches)
        self.branches.append(form)
        self.counts.append(count)
        modules, poses = self.laid(form.kind, form.children)
        self.modules.append(modules)
        self.poses.append(_docked(self._X[form.kind][form.by], form.roll) @ poses)

    def _seen(self, branch: Branch) -> Iterator[Branch]:
        """The branch as each symmetry of its module shows it."""
        for g in self.kinds[branch.kind].symmetries:
            roll = (branch.roll + g.turn[branch.by]) % 360
            yield Branch(branch.kind, g.to[branch.by], roll, self._moved(branch.children, g))

    def turned(self, number: int, turn: float) -> int:
        """The branch with its roll changed."""
        if not turn or number == NOTHING:
            return number
        if (number, turn) not in self._turned:
            branch: Any = self.branches[number]
            self._turned[number, turn] = self.number(branch._replace(roll=(branch.roll + turn) % 360))
        return self._turned[number, turn]

    def _moved(self, children: tuple[int, ...], g: Any) -> tuple[int, ...]:
        moved = [NOTHING] * len(children)
        for p, child in enumerate(children):
            if child != NOTHING:
                moved[g.to[p]] = self.turned(child, g.turn[p])
        return tuple(moved)

    def _least(self, k: int, children: tuple[int, ...]) -> tuple[int, ...]:
        return min(self._moved(children, g) for g in self.kinds[k].symmetries)

    def _least_marked(self, k: int, children: tuple[int, ...], p: int) -> tuple[tuple[int, ...], int]:
        return min((self._moved(children, g), g.to[p]) for g in self.kinds[k].symmetries)

    def _on_ports(self, k: int, n: int, largest: int, taken: int | None) -> Iterator[tuple[int, ...]]:
        """All ways to attach n modules to the ports of kind k, at most `largest` at one, none at the port `taken`."""
        ports = range(len(self.kinds[k].ports))
        for sizes in _sizes(n, len(ports), largest):
            if taken is None or not sizes[taken]:
                yield from product(*(self.branches_at(k, p, s) if s else (NOTHING,) for p, s in enumerate(sizes)))

    def _count(self, k: int, children: tuple[int, ...]) -> tuple[int, ...]:
        own = tuple(int(j == k) for j in range(len(self.kinds)))
        return tuple(map(sum, zip(own, *(self.counts[c] for c in children), strict=True)))

    # ---- where modules stand ----

    def laid(self, k: int, children: tuple[int, ...]) -> tuple[tuple[int, ...], Array]:
        """Kinds and poses (m, 4, 4) of a module and of the modules that it carries, in its own frame."""
        hung = [(self.modules[c], self._X[k][p] @ self.poses[c]) for p, c in enumerate(children) if c != NOTHING]
        return (k, *(j for m, _ in hung for j in m)), np.concatenate([np.eye(4)[None], *(X for _, X in hung)])

    def _free(self, k: int, children: tuple[int, ...]) -> bool:
        """Whether no two modules overlap; those within a branch are known not to."""
        hung = [(p, c) for p, c in enumerate(children) if c != NOTHING]
        return not self.clash or not any(self._meet(k, *pair) for pair in combinations([(None, NOTHING), *hung], 2))

    def _met(self, k: int, one: tuple[int | None, int], two: tuple[int, int]) -> bool:
        """Whether branches at two ports of kind k collide; without a first port, whether the module collides with
        modules further out.
        """
        (p, b), (r, c) = one, two
        modules, X = self.modules[c], self._X[k][r] @ self.poses[c]
        if p is None:
            return self._room.meet((k,), np.eye(4)[None], modules[1:], X[1:])
        return self._room.meet(self.modules[b], self._X[k][p] @ self.poses[b], modules, X)

    def assembly(self, tree: Tree) -> Assembly:
        """The assembly of a tree: modules m0, m1, ... depth first."""
        modules, connections = {"m0": self.kinds[tree.kind].module}, []

        def hang(name: str, k: int, children: tuple[int, ...]) -> None:
            for p, number in enumerate(children):
                branch: Any = self.branches[number]
                if branch is None:
                    continue
                other, new = self.kinds[branch.kind], f"m{len(modules)}"
                at, by = PortRef(name, self.kinds[k].ports[p].name), PortRef(new, other.ports[branch.by].name)
                modules[new] = other.module
                connections.append(Connection(at, by, float(branch.roll)))
                hang(new, branch.kind, branch.children)

        hang("m0", tree.kind, tree.children)
        return Assembly(modules, connections)


def _docked(X_by: Array, roll: float) -> Array:
    """Pose of a module in the frame of the port that it is docked at: Rot(z; roll) Rot(x; pi) X_by^-1."""
    c, s = np.cos(np.deg2rad(roll)), np.sin(np.deg2rad(roll))
    return se3.pose(np.array([[c, s, 0.0], [s, -c, 0.0], [0.0, 0.0, -1.0]])) @ se3.inverse(X_by)


def _sizes(n: int, ports: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Ways to share n modules among ports."""
    if ports == 0:
        if n == 0:
            yield ()
        return
    for first in range(min(n, largest) + 1):
        for rest in _sizes(n - first, ports - 1, largest):
            yield (first, *rest)
