"""How many ways there are to dock modules to a tree, without making any: by Burnside's lemma and the dissymmetry theorem.

Otter, *The number of trees*, 1948; Bergeron, Labelle, Leroux, *Combinatorial species and tree-like structures*, 1998, section 4.1.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from modurob.errors import InputError, explained
from modurob.search.kinds import Kinds
from modurob.search.symmetries import Symmetry


@explained
def number_of_assemblies(types: Any, modules: int, rolls: Iterable[float] | None = None) -> int:
    """The number of different trees of the given number of modules of the given types, including those whose modules
    overlap.

    Two are the same if a rigid motion maps one to the other: names do not matter, nor which of the ports that a
    symmetry of the module exchanges is used, nor the roll of a symmetric module. `rolls` [degrees] restricts the rolls;
    symmetries that lead to other rolls then do not count. With V, D and S the numbers of trees with a marked module,
    with a connection marked and directed, and of those of the latter that are their own reverse, the number is V - (D -
    S) / 2.

    >>> [mr.number_of_assemblies("backbone", n) for n in range(1, 8)]
    [1, 14, 204, 5792, 186784, 6690176, 254033920]
    """
    kinds = Kinds(types, modules, rolls)
    if kinds.whole:
        raise InputError("numbers by type: expected a module type or a list of them, and the number of modules")
    return _Counting(kinds).trees(kinds.size)


class _Counting:
    """Numbers of branches and trees that are invariant under a symmetry."""

    def __init__(self, kinds: Kinds):
        self.own = kinds
        self.branches = lru_cache(maxsize=None)(self._branches)
        self.children = lru_cache(maxsize=None)(self._children)

    def trees(self, n: int) -> int:
        """Of n modules."""
        total = Fraction(0)
        for k, kind in enumerate(self.own.kinds):
            for g in kind.symmetries:
                marked = self.children(k, g, None, n - 1)
                directed = sum(self._directed(k, g, p, n) for p in _fixed(g))
                reversible = 0 if n % 2 else sum(self._reversible(k, g, p, n) for p in _fixed(g))
                total += Fraction(2 * marked - directed + reversible, 2 * len(kind.symmetries))
        return int(total)

    def _directed(self, k: int, g: Symmetry, p: int, n: int) -> int:
        """Trees with a marked connection at port p of a module of kind k."""
        return sum(self.children(k, g, p, n - 1 - m) * self.branches(k, p, g.turn[p], m) for m in range(1, n))

    def _reversible(self, k: int, g: Symmetry, p: int, n: int) -> int:
        """Trees of two halves with the marked connection between them, the same from both sides."""
        port = self.own.kinds[k].ports[p]
        return 0 if g.turn[p] else len(self.own.fit(port, port)) * self.children(k, g, p, n // 2 - 1)

    def _branches(self, k: int, p: int, turn: float, n: int) -> int:
        """Branches of n modules at port p of kind k that are the same after a turn about it."""
        total = Fraction(0)
        for j, b, rolls in self.own.fits[k, p]:
            group = self.own.kinds[j].symmetries
            same = sum(self.children(j, g, b, n - 1) for g in group if g.to[b] == b and g.turn[b] == turn)
            total += Fraction(len(rolls) * same, len(group))
        return int(total)

    def _children(self, k: int, g: Symmetry, entry: int | None, n: int) -> int:
        """Number of ways to attach n modules to the ports of kind k except `entry`, invariant under g."""
        if n < 0:
            return 0
        ways = [1] + [0] * n
        for p, length, turn in _cycles(g, entry):
            each = [1, *(self.branches(k, p, turn, m) for m in range(1, n // length + 1))]
            ways = [sum(each[m] * ways[s - m * length] for m in range(s // length + 1)) for s in range(n + 1)]
        return ways[n]


def _fixed(g: Symmetry) -> list[int]:
    return [p for p, to in enumerate(g.to) if p == to]


def _cycles(g: Symmetry, entry: int | None) -> list[tuple[int, int, float]]:
    """Cycles of ports under g: a port, the length, and the turn after one round; without the port `entry`."""
    left, found = set(range(len(g.to))) - {entry}, []
    while left:
        p = start = min(left)
        length, turn = 0, 0.0
        while p in left:
            left.remove(p)
            p, length, turn = g.to[p], length + 1, (turn + g.turn[p]) % 360
        found.append((start, length, turn))
    return found
