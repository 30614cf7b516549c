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
from modurob.simulation.system import Held, State, System
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

    def require(self, m: Tables) -> None:  # noqa: B027 - most support any
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


# iterations of the implicit rules: each gains a factor of about (dt |vdot/v|)
ITERATIONS = 100
# changes of velocity this small, in parts of it, are none; smaller than _ROUNDING they are rounding errors once they stop shrinking
_SETTLED, _ROUNDING = 1e-14, 1e-10
# and this large they diverge
LOST = 1e6


def settled(change: Array, before: Array, v: Array) -> Array:
    """Which runs of an iteration have settled, from the size of the last two changes, (...) each."""
    size = np.maximum(1.0, np.abs(v).max(axis=-1, initial=0.0))
    return (change <= _SETTLED * size) | ((before <= change) & (change <= _ROUNDING * size))
