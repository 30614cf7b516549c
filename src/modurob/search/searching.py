"""Searches for designs: enumerate or evolve, evaluate on every core, store the results, continue after an interruption."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from modurob.catalogue.reading import as_path
from modurob.errors import InputError, SearchError, explained
from modurob.robot import Assembly
from modurob.search.crew import Crew, crew
from modurob.search.enumeration import assemblies
from modurob.search.evolution import Design, Evolution, Listing
from modurob.search.journal import Journal
from modurob.search.kinds import Kinds
from modurob.search.operators import Parts
from modurob.search.task import TASKS, Task

METHODS = ("evolve", "all")


class Progress(NamedTuple):
    """How far a search is: designs measured so far, the generation, the best value of the first goal, seconds; and how often
    these designs were measured before, with less effort."""

    measured: int
    generation: int
    best: float | None
    seconds: float
    again: int = 0


@dataclass(frozen=True, eq=False)
class Designs:
    """What a search found: all designs that were measured, the best first, and how they were judged."""

    designs: tuple[Design, ...]
    front: tuple[Design, ...]  # no other design is better in all goals
    elites: tuple[Design, ...]  # the best of each niche
    task: Task
    by: tuple[str, ...]
    history: tuple[tuple[int, float], ...]  # designs measured, best value of the first goal
    seconds: float
    before: "Designs | None" = None  # what was found with less effort, if these were measured again

    def __len__(self) -> int:
        return len(self.designs)

    @property
    def best(self) -> Design:
        """The best design by the first goal."""
        if not self.front:
            why = sorted({str(d.measures.get("refused")) for d in self.designs})
            raise SearchError(
                f"no design of {len(self)} was fit for the task: {'; '.join(why)[:200] or 'none was made'}"
            )
        return self.front[0]

    @property
    def stages(self) -> "tuple[Designs, ...]":
        """These, and those that were measured with less effort before them, one after another."""
        return (self, *(self.before.stages if self.before is not None else ()))

    def __repr__(self) -> str:
        fit = sum(d.ok for d in self.designs)
        best = f", best {self.by[0]} {self.best.measures[self.by[0]]:.4g}" if self.front else ""
        again = "" if self.before is None else f" again of {len(self.stages[-1])}"
        return f"Designs({len(self)} measured{again}, {fit} fit, {len(self.front)} on the front{best})"

    def save(self, path: str | Path) -> None:
        """Write one row for each design: .parquet (extra `parquet`) or .csv."""
        from modurob.search.table import write

        write(self, as_path(path))

    def page(self, path: str | Path, pictures: int = 24) -> None:
        """Write one HTML file to browse: the front, the best of each niche with pictures, and a table of all."""
        from modurob.search.page import write

        write(self, as_path(path), pictures)


@explained
def search_designs(
    types: Any,
    modules: int | tuple[int, int] = 8,
    task: Task | str = "walk",
    by: Sequence[str] | str | None = None,
    *,
    method: str = "evolve",
    generations: int = 20,
    population: int = 32,
    seconds: float | None = None,
    refine: int = 0,
    finalists: int = 8,
    seed: int = 0,
    rolls: Iterable[float] | None = None,
    start: Iterable[Assembly] = (),
    folder: str | Path | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    progress: Callable[[Progress], Any] | None = None,
) -> Designs:
    """The best designs for a task among the assemblies of given module types.

    `types` is a module type or a list of them, `modules` the largest number of modules, or the smallest and the
    largest. `task` evaluates a design (`mr.Walk`, `mr.Span`, one of your own) and `by` are the measures to optimise,
    by default all goals of the task. With method "evolve" designs are docked, undocked, swapped, mirrored, duplicated
    and grafted, `population` in each of `generations`; with "all" every assembly is evaluated, a population at a time,
    smaller ones first, until none is left.

    With `refine` the best `finalists` are then evaluated again with four times the effort (`Task.harder`), half of them
    with sixteen times, and so on for `refine` stages; half of the `seconds` are reserved for this. The result contains
    the last stage, and `.before` the earlier one.

    With a `folder` every result is stored there as soon as it is known. A search that was stopped, by `seconds`, by
    Ctrl-C, a kill, or a full disk, continues when it is called again: no design is evaluated twice. The designs do not
    depend on the number of `workers` (processes; by default one per core; 0: this process), nor on their speed.
    `cluster` is "local" or the address of a Dask scheduler (extra `cluster`). `progress` is called with the state of
    the search; if it returns False, the search stops.

    >>> quick = mr.Walk(gaits=4, rounds=1, duration=1.0)
    >>> found = mr.search_designs("backbone", (3, 4), quick, generations=2, population=4, workers=0)
    >>> len(found)
    8
    """
    settings = _Settings.of(types, modules, task, by, method, population, seed, rolls, start)
    _require_stages(settings.task, refine, finalists)
    place = None if folder is None else as_path(folder)
    course = _Course(time.monotonic(), seconds, progress)
    last = generations if method == "evolve" else 10**9
    with crew(workers, cluster) as workforce:
        found = course.run(settings, settings.data, place, workforce, last, 0.5 if refine else 1.0)
        for k in range(1, refine + 1):
            best = tuple(d.assembly for d in found.designs if d.ok)[: max(1, 2 * finalists >> k)]
            if course.stopped or not best:
                break
            harder = settings.task.harder(4**k)
            stage = settings._replace(task=harder, method="evolve", population=len(best), start=best)
            there = None if place is None else place / f"refined-{k}"
            again = course.run(
                stage, {**stage.data, "population": 0, "start": []}, there, workforce, 1, (k / refine + 1) / 2
            )
            found = replace(again, before=found) if len(again) else found
    return found


def _require_stages(task: Task, refine: Any, finalists: Any) -> None:
    for name, x, least in (("refine", refine, 0), ("finalists", finalists, 1)):
        if not isinstance(x, int) or isinstance(x, bool) or x < least:
            raise InputError(f"{name} {x!r:.40}: expected a whole number of at least {least}")
    if refine and task.harder(4) == task:
        raise InputError(f"refine {refine}: task {task.kind!r} has no harder form: expected 0, or a task with `harder`")


@dataclass
class _Course:
    """A search in progress, one stage after another."""

    began: float
    seconds: float | None
    progress: Callable[[Progress], Any] | None
    stopped: bool = False  # by who is told how far it is
    again: int = -1  # how often designs were measured before

    def run(
        self, settings: "_Settings", data: dict[str, Any], place: Path | None, workforce: Crew, last: int, part: float
    ) -> Designs:
        """The given number of generations at most, until a share of the time is over; results are stored at an index."""
        evolution, history = settings.evolution(), []
        self.again += 1
        with Journal(place, data) as journal:
            for generation in range(last):
                asked, going, best = evolution.asked(generation), True, evolution.best
                new = [(d.key, d.assembly) for d in asked if d.key not in journal]
                found = workforce.measured(settings.task, new)
                for name, measures in found:
                    journal.add(name, measures)
                    now = Progress(len(journal), generation, best, time.monotonic() - self.began, self.again)
                    going = self._goes_on(now, part)
                    if not going:
                        break
                found.close()  # type: ignore[attr-defined]
                evolution.tell([d._replace(measures=journal[d.key]) for d in asked if d.key in journal])
                history.append((len(evolution.designs), evolution.best))
                if not going or (not asked and settings.method == "all"):
                    break
        return _found(evolution, settings, history, time.monotonic() - self.began)

    def _goes_on(self, now: Progress, part: float) -> bool:
        self.stopped = self.stopped or (self.progress is not None and self.progress(now) is False)
        return not self.stopped and (self.seconds is None or now.seconds < part * self.seconds)


def _found(evolution: Evolution, settings: "_Settings", history: list, seconds: float) -> Designs:
    order = sorted(
        evolution.designs, key=lambda d: (not d.ok, *(-x for x in (evolution.values(d) if d.ok else ())), d.key)
    )
    elites = sorted(evolution.elites.values(), key=lambda d: -evolution.values(d)[0])
    told = tuple((n, x) for n, x in history if x is not None)
    return Designs(tuple(order), tuple(evolution.front()), tuple(elites), settings.task, settings.by, told, seconds)


class _Settings(NamedTuple):
    """What a search is, checked."""

    types: Any
    parts: Parts
    task: Task
    by: tuple[str, ...]
    method: str
    population: int
    seed: int
    start: tuple[Assembly, ...]

    @classmethod
    def of(
        cls,
        types: Any,
        modules: Any,
        task: Any,
        by: Any,
        method: str,
        population: Any,
        seed: Any,
        rolls: Any,
        start: Any,
    ) -> "_Settings":
        pair: Any = modules if isinstance(modules, tuple | list) and len(modules) == 2 else (1, modules)
        least, most = pair
        kinds = Kinds(types, most, rolls)
        if not isinstance(least, int) or not 1 <= least <= most:
            raise InputError(f"modules {modules!r:.40}: expected the largest number, or the least and the largest")
        if kinds.whole:
            raise InputError("numbers by type: expected a module type or a list of them, and the number of modules")
        if method not in METHODS:
            raise InputError(f"method {method!r:.40}: valid: {', '.join(METHODS)}")
        for name, x, least_of_it in (("population", population, 1), ("seed", seed, 0)):
            if not isinstance(x, int) or isinstance(x, bool) or x < least_of_it:
                raise InputError(f"{name} {x!r:.40}: expected a whole number of at least {least_of_it}")
        made = TASKS[task]() if isinstance(task, str) else task
        if not isinstance(made, Task):
            raise InputError(f"task {task!r:.60}: expected a Task, or the name of one: {', '.join(TASKS)}")
        goals = made.require_goals((by,) if isinstance(by, str) else None if by is None else tuple(by))
        chosen = None if kinds.rolls is None else tuple(sorted(kinds.rolls))
        parts = Parts(tuple(k.module for k in kinds.kinds), chosen, least, most)
        return cls(types, parts, made, goals, method, population, seed, tuple(start))

    @property
    def data(self) -> dict[str, Any]:
        """The settings that must be the same for a search to continue."""
        return {
            "format": "modurob search 1",
            "modules": [m.key for m in self.parts.modules],
            "rolls": self.parts.rolls and list(self.parts.rolls),
            "least": self.parts.least,
            "most": self.parts.most,
            "task": self.task.settings,
            "by": list(self.by),
            "method": self.method,
            "population": self.population,
            "seed": self.seed,
            "start": [a.key for a in self.start],
        }

    def evolution(self) -> Evolution:
        if self.method == "evolve":
            return Evolution(self.parts, self.task, self.by, self.population, self.seed, self.start)
        listing = Listing(self.parts, self.task, self.by, self.population, self.seed, self.start)
        sizes = range(self.parts.least, self.parts.most + 1)
        listing.listed = chain.from_iterable(assemblies(self.types, n, self.parts.rolls) for n in sizes)
        return listing
