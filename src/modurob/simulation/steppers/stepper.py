"""The interface of steppers. A new one is a new file that registers itself; no other part of the package depends on
steppers by name.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from modurob.errors import SimulationError
from modurob.mechanism.tables import Tables
from modurob.registry import Registry
from modurob.simulation.system import Held, Solution, State, System
from modurob.spatial.scalars import Array

STEPPERS: Registry[type["Stepper"]] = Registry("stepper", SimulationError)


class StepLimitError(SimulationError):
    """A stepper could not continue: its steps became too small, or its equations could not be solved."""


class Stepper(ABC):
    """A method that advances a state under held torques. A frozen dataclass of numbers and words."""

    kind: ClassVar[str]
    order: ClassVar[int]
    # whether a step is vector arithmetic between programs, so that kernels can take it
    compiled: ClassVar[bool] = False
    # whether states of forces may decay within a small part of a step
    exact_decay: ClassVar[bool] = False
    # whether it supports contacts
    contacts: ClassVar[bool] = False
    # limit of stability: the largest product of a step and a decay rate or natural frequency
    fastest: ClassVar[float] = np.inf
    # time step [s], of which ticks are multiples; None: adaptive
    dt: float | None = None

    @abstractmethod
    def step(self, system: System, t: Any, s: State, u: Any, dt: Any, held: Held | None = None) -> State:
        """The state dt later, under torques u, with rates held or sliding according to dry friction."""

    def solution(self, system: System, t: Any, s: State, u: Any, dt: Any, held: Held) -> Solution:
        """vdot in a step of dt from a state, and the reactions at held rates: what says which of them friction holds."""
        slope = system.slope(t, s, u, held)
        return Solution(slope.v, slope.reaction)

    def require(self, m: Tables) -> None:  # noqa: B027 - most can carry any
        """An error unless the stepper supports this robot."""

    def with_dt(self, dt: float) -> "Stepper":
        """The same stepper with another time step."""
        return self

    def mover(self, m: Tables, wrenches: Any = None) -> Any:
        """The object that advances a robot under a user's wrenches: our own equations, unless the stepper has its own engine."""
        from modurob.simulation.stepping import Mover  # built on steppers

        return Mover(m, self, wrenches)

    def parameters(self) -> dict[str, Any]:
        """Its numbers by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class FixedStep(Stepper):
    """Steps of dt [s]."""

    dt: float  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if isinstance(self.dt, bool) or not isinstance(self.dt, int | float | np.number) or not (0 < self.dt < np.inf):
            raise SimulationError(f"a step of {self.dt!r}: expected a positive finite number [s]")

    def with_dt(self, dt: float) -> "FixedStep":
        return type(self)(dt)


# what stands for the joint that moves no inertia in runs whose step did not settle
UNSETTLED = -3
# iterations of the implicit rules: each gains a factor of about (dt |vdot/v|)
ITERATIONS = 100
# changes of velocity this small, in parts of it, are none; smaller than _ROUNDING they are rounding errors once they stop shrinking
_SETTLED, _ROUNDING = 1e-14, 1e-10
# and this large they diverge
LOST = 1e6


class Settling:
    """Which runs of an iteration have settled, and which lead nowhere, from the largest change of velocity in each, (...)."""

    def __init__(self, shape: tuple[int, ...]):
        self._change, self._found, self._lost = np.full(shape, np.inf), np.zeros(shape, bool), np.zeros(shape, bool)

    def over(self, change: Array, v: Array) -> bool:
        """Whether no run needs another iteration, after one that changed velocities by `change` to v, (..., nv) each."""
        before, self._change = self._change, np.abs(change).max(axis=-1, initial=0.0)
        self._found |= settled(self._change, before, v) | ~np.isfinite(self._change)
        self._lost |= np.isfinite(self._change) & (self._change >= LOST)
        return bool(np.all(self._found | self._lost))

    def of(self, before: tuple[Array, ...], new: tuple[Array, ...]) -> tuple[Array, ...]:
        """What an iteration found, (..., n) each; runs that had settled stay as they were, so that no run depends on others."""
        return tuple(np.where(self._found[..., None], a, b) for a, b in zip(before, new, strict=True))

    def end(self, system: System, s: State) -> State:
        """The state of the runs that have settled; the others have none, which is noted."""
        lost = self._lost | ~self._found
        system.engine.note(np.where(lost, UNSETTLED, 0))  # type: ignore[attr-defined]
        return State(*(np.where(lost[..., None], np.nan, x) for x in s)) if lost.any() else s


def settled(change: Array, before: Array, v: Array) -> Array:
    """Which runs of an iteration have settled, from the size of the last two changes, (...) each."""
    size = np.maximum(1.0, np.abs(v).max(axis=-1, initial=0.0))
    return (change <= _SETTLED * size) | ((before <= change) & (change <= _ROUNDING * size))
