"""Tasks that take no time, and say in a file what they measured."""

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from modurob.search import Refused, Task
from modurob.search.forms import key


@dataclass(frozen=True)
class Spread(Task):
    """How far modules stand apart; `log` gets a line for each design, `lag` [s] is how long a design takes."""

    log: str = ""
    lag: float = 0.0
    kind: ClassVar[str] = "spread"
    goals: ClassVar[Mapping[str, int]] = {"spread": 1, "weight": -1}

    def measured(self, assembly):
        if self.log:
            with Path(self.log).open("a") as file:
                file.write(key(assembly) + "\n")
        time.sleep(self.lag)
        if len(assembly) == 3 and len(assembly.connections[0].a.port) and assembly.connections[0].roll == 90:
            raise Refused("three at a right angle")
        places = [X[:3, 3] for X in assembly.placements.values()]
        return {"spread": float(max(abs(p).sum() for p in places)), "weight": float(len(places))}


@dataclass(frozen=True)
class Thorough(Spread):
    """Says with what effort a design was measured; the more, the less it is spread."""

    effort: int = 1

    def harder(self, times):
        return replace(self, effort=self.effort * times)

    def measured(self, assembly):
        found = super().measured(assembly)
        return {**found, "spread": found["spread"] / self.effort, "effort": self.effort}


@dataclass(frozen=True)
class Deadly(Spread):
    """Kills its worker by SIGKILL at the first design of four modules, as long as `marker` is not there; always if it has no
    name."""

    marker: str = ""

    def measured(self, assembly):
        if len(assembly) == 4 and not (self.marker and Path(self.marker).exists()):
            if self.marker:
                Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().measured(assembly)


@dataclass(frozen=True)
class Faulty(Spread):
    """Divides by zero."""

    def measured(self, assembly):
        print("what a task prints is no reply")
        return {"spread": 1 / 0}
