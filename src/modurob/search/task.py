"""What designs are judged by: a task measures an assembly, or says why it is out of the question."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np

from modurob.errors import InputError, SearchError, choices
from modurob.registry import Registry
from modurob.robot import Assembly, Mechanism
from modurob.search.forms import described
from modurob.spatial.scalars import Array

Measures = dict[str, Any]  # numbers by name, and lists of them


class Refused(Exception):  # noqa: N818
    """An assembly that a task has no use for; the text says why, in few words."""


class Task(ABC):
    """A value with a pure function of assemblies: the same assembly has the same measures, to the last bit, in any
    process.

    `goals` are the measures to optimise, each with 1 (larger is better) or -1; `niches` are those by which an evolution
    distinguishes kinds of designs, so that the best of each kind is kept. Your own task is a dataclass in a file that
    workers can import.
    """

    kind: ClassVar[str]
    goals: ClassVar[Mapping[str, int]]
    units: ClassVar[Mapping[str, str]] = {}  # of measures, for tables and pages
    niches: ClassVar[tuple[str, ...]] = ("modules", "limbs")

    @abstractmethod
    def measured(self, assembly: Assembly) -> Measures:
        """The measures of an assembly in its standard form; raises `Refused`."""

    def measures(self, assembly: Assembly) -> Measures:
        """Measures and numbers of the assembly; `refused` is the reason why there are no measures, otherwise empty."""
        try:
            found = {**described(assembly), **self.measured(assembly), "refused": ""}
        except Refused as reason:
            return {**described(assembly), "refused": str(reason)}
        self._require_measured(found)
        return found

    def _require_measured(self, found: Measures) -> None:
        """An error unless there is a number for each goal: designs are compared by these."""
        for name in self.goals:
            x = found.get(name)
            if isinstance(x, bool) or not isinstance(x, int | float | np.number) or np.isnan(x):
                raise SearchError(f"task {self.kind!r} measured its goal {name!r} as {x!s:.60}: expected a number")

    def harder(self, times: int) -> "Task":
        """The task with the given multiple of the effort for a design; the same if that does not apply."""
        return self

    def posed(self, assembly: Assembly, measures: Mapping[str, Any]) -> tuple[Mechanism, Array | None]:
        """The robot and the configuration that pictures show; neutral by default."""
        return assembly.mechanism(), None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of this task, as plain data."""
        return {"kind": self.kind, **asdict(self)}  # type: ignore[call-overload]

    def require_goals(self, by: tuple[str, ...] | None) -> tuple[str, ...]:
        """The requested goals, by default all."""
        for name in by or ():
            if name not in self.goals:
                raise InputError(f"goal {name!r} of task {self.kind!r}: {choices(str(name), self.goals)}")
        return tuple(by or self.goals)


TASKS: Registry[type[Task]] = Registry("task")
