"""Which designs are tried next: a function of the seed and of what was measured before, never of when or by whom.

MAP-Elites (Mouret and Clune, *Illuminating search spaces by mapping elites*, 2015): the best design of each niche is kept,
and these, with the Pareto front, are the parents.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from modurob.errors import ModurobError
from modurob.robot import Assembly
from modurob.search.forms import key, standard
from modurob.search.operators import Parts, changed, grown
from modurob.search.task import Task
from modurob.spatial.scalars import Array

TRIES = 30  # for a design that is new


class Design(NamedTuple):
    """An assembly in its standard form, where it comes from, and what was measured."""

    key: str
    assembly: Assembly
    generation: int
    operator: str
    parents: tuple[str, ...]
    measures: Mapping[str, Any] = {}

    @property
    def ok(self) -> bool:
        """Whether the task has a use for it."""
        return not self.measures.get("refused", "not measured")


@dataclass
class Evolution:
    """Generations of designs, all different."""

    parts: Parts
    task: Task
    by: tuple[str, ...]
    population: int
    seed: int
    start: Sequence[Assembly] = ()
    designs: list[Design] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    elites: dict[tuple, Design] = field(default_factory=dict)

    def asked(self, generation: int) -> list[Design]:
        """The designs of a generation; fewer where no new ones are found."""
        rng = np.random.default_rng([self.seed, generation])
        parents = self._parents()
        found: list[Design] = []
        if generation == 0:
            found += [d for a in self.start if (d := self._new(a, 0, "start", ())) is not None]
        for _ in range(max(0, self.population - len(found))):
            child = self._child(generation, parents, rng)
            if child is not None:
                found.append(child)
        return found

    def _child(self, generation: int, parents: Sequence[Design], rng: np.random.Generator) -> Design | None:
        for _ in range(TRIES):
            try:
                if not parents or rng.uniform() < 0.1:
                    new = self._new(grown(self.parts, rng), generation, "grow", ())
                else:
                    parent = parents[int(rng.integers(len(parents)))]
                    name, made = changed(parent.assembly, self.parts, rng, [p.assembly for p in parents])
                    new = self._new(made, generation, name, (parent.key,))
            except ModurobError:
                continue
            if new is not None:
                return new
        return None

    def _new(self, assembly: Assembly, generation: int, operator: str, parents: tuple[str, ...]) -> Design | None:
        name = key(assembly)
        if name in self.known:
            return None
        self.known.add(name)
        return Design(name, standard(assembly), generation, operator, parents)

    def tell(self, designs: Sequence[Design]) -> None:
        """Take measured designs in, in their order."""
        for design in designs:
            self.designs.append(design)
            if design.ok:
                niche = tuple(design.measures.get(name) for name in self.task.niches)
                best = self.elites.get(niche)
                if best is None or self.values(design)[0] > self.values(best)[0]:
                    self.elites[niche] = design

    def values(self, design: Design) -> tuple[float, ...]:
        """The goals of a design, more is better."""
        return tuple(self.task.goals[name] * float(design.measures[name]) for name in self.by)

    def _parents(self) -> list[Design]:
        return list({d.key: d for d in [*self.elites.values(), *self.front()]}.values())

    @property
    def best(self) -> float | None:
        """The best value of the first goal so far."""
        values = [(self.values(d)[0], d) for d in self.elites.values()]
        return None if not values else float(max(values, key=lambda x: x[0])[1].measures[self.by[0]])

    def front(self) -> list[Design]:
        """The designs that no other is better than in all goals (Pareto), the best in the first goal first."""
        fit = [d for d in self.designs if d.ok]
        if not fit:
            return []
        values = np.array([self.values(d) for d in fit])
        kept = [fit[i] for i in np.flatnonzero(front(values))]
        return sorted(kept, key=lambda d: (-self.values(d)[0], d.key))


class Listing(Evolution):
    """All assemblies there are, a population at a time."""

    listed: Iterator[Assembly]

    def asked(self, generation: int) -> list[Design]:
        made = (self._new(a, generation, "list", ()) for a in islice(self.listed, self.population))
        return [d for d in made if d is not None]


def front(values: Array) -> Array:
    """Which rows of values (n, goals) no other row is at least as good as in all and better than in one, (n,) bool.

    >>> from modurob.search.evolution import front
    >>> front(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0], [2.0, 1.0]]))
    array([ True,  True, False,  True])
    """
    kept = np.ones(len(values), dtype=bool)
    for i, row in enumerate(values):
        if kept[i]:
            worse = (values <= row).all(axis=1) & (values < row).any(axis=1)
            kept &= ~worse
    return kept
