"""How a run ended, and how each run of a batch ended."""

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from modurob.spatial.scalars import Array

DONE = "done"
KINDS = {
    DONE: "it reached its end",
    "diverged": "rates grew beyond all bounds",
    "not finite": "a state or torque was not a finite number",
    "step limit": "the stepper could not go on",
    "limit hit": "a joint passed its limit, and the run was to stop there",
    "singular": "a degree of freedom moved no inertia",
    "controller failed": "the control law or the estimator raised an error",
    "wrench failed": "the function of external wrenches raised an error",
    "cancelled": "it was stopped from outside",
}


@dataclass(frozen=True)
class Status:
    """The kind of end, a key of KINDS, when it came [s], and what happened."""

    kind: str
    t: float
    message: str = ""

    @property
    def ok(self) -> bool:
        """Whether the run reached its end."""
        return self.kind == DONE

    def __str__(self) -> str:
        return f"{self.kind} at t = {self.t:g} s" + (f": {self.message}" if self.message else "")


class Failure(NamedTuple):
    """Why runs cannot continue: a key of KINDS, a description, and the runs concerned, (...) of booleans; None for all.

    `body` is the number of the body whose joint it is about, zero for none.
    """

    kind: str
    message: str
    runs: Array | None = None
    body: int = 0


class Statuses(tuple[Status, ...]):
    """One status for each run of a batch, in the order of their leading axes, the last fastest."""

    @property
    def ok(self) -> bool:
        """Whether all runs reached their end."""
        return all(s.ok for s in self)

    @property
    def kind(self) -> str:
        """The kind of end that all have, or those there are."""
        return ", ".join(Counter(s.kind for s in self))

    @property
    def t(self) -> float:
        """When the last of them ended [s]."""
        return max((s.t for s in self), default=0.0)

    @property
    def message(self) -> str:
        """What happened to the first that did not reach its end."""
        return next((s.message for s in self if not s.ok), "")

    def __str__(self) -> str:
        counts = Counter(s.kind for s in self)
        found = ", ".join(f"{n} {kind}" for kind, n in counts.items())
        first = next((f"; run {i}: {s}" for i, s in enumerate(self) if not s.ok), "")
        return f"{len(self)} runs: {found}{first}"
