"""The interface of controllers and estimators in a simulation.

Both are recipes for any robot: `on` instantiates them for one. The instance is pure: a law is a function of its memory,
the time and the measurement, so that it can be batched, saved, resumed, traced and sent to a robot.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from modurob.errors import SimulationError
from modurob.robot import Mechanism
from modurob.spatial.scalars import Array
from modurob.trace import applied


class Measured(NamedTuple):
    """The measurement of a law: the state of the robot, or its estimate, (..., nq) and (..., nv)."""

    q: Array
    v: Array


class Seen(Measured):
    """The same with the states of the robot's forces, x (..., nx): the measurement of a law without an estimator."""

    x: Array

    @classmethod
    def of(cls, q: Array, v: Array, x: Array) -> "Seen":
        """The state (q, v, x)."""
        seen = cls(q, v)
        seen.x = x
        return seen


class Law(Protocol):
    """A controller made for one robot."""

    def start(self) -> Any:
        """The memory before the first sample."""
        ...

    def step(self, memory: Any, t: float, measured: Measured) -> tuple[Any, Array]:
        """The memory after this sample, and the torques, (..., nv), to be held until the next."""
        ...


@runtime_checkable
class Controller(Protocol):
    """A control law for any robot."""

    @property
    def sample_time(self) -> float | None:
        """How long a torque is held [s]; None: as long as a step of the stepper."""
        ...

    def on(self, robot: Mechanism) -> Law:
        """The law for this robot. Called again when the robot changes shape."""
        ...


class Filter(Protocol):
    """An estimator made for one robot."""

    def start(self, q: Array, v: Array) -> Any:
        """The memory with this initial estimate."""
        ...

    def measure(self, memory: Any, t: float, q: Array, v: Array, vdot: Array, rng: Any) -> tuple[Any, Any]:
        """What arrives from the sensors in a true state, noise and all; None for a sample that was lost."""
        ...

    def update(self, memory: Any, t: float, tau: Array, measurement: Any) -> tuple[Any, Measured]:
        """The memory and the estimate after `tau` was held since the last update and this measurement came in."""
        ...


@runtime_checkable
class Estimator(Protocol):
    """A filter for any robot, run at the controller's sample time."""

    def on(self, robot: Mechanism, sample_time: float) -> Filter:
        """The filter for this robot."""
        ...


class Memoryless:
    """A law without a memory: `torque(t, q, v)` is all."""

    def start(self) -> None:
        return None

    def step(self, memory: None, t: float, measured: Measured) -> tuple[None, Array]:
        return None, self.torque(t, measured.q, measured.v)

    def torque(self, t: float, q: Array, v: Array) -> Array:
        """Generalised forces, (..., nv)."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class FunctionController:
    """A plain function f(t, q, v) as a controller; equal to another one of the same function."""

    function: Callable[[float, Array, Array], Any]
    sample_time: float | None = None

    def on(self, robot: Mechanism) -> "FunctionLaw":
        return FunctionLaw(self.function)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionController) and (self.function, self.sample_time) == (
            other.function,
            other.sample_time,
        )

    def __hash__(self) -> int:
        # not of the function, which may be an object without a hash
        return hash((FunctionController, self.sample_time))

    def __repr__(self) -> str:
        return f"{getattr(self.function, '__name__', self.function)!s}(t, q, v)"


@dataclass(frozen=True)
class FunctionLaw(Memoryless):
    """The torques of a function; it receives copies, which it may modify."""

    function: Callable[[float, Array, Array], Any]

    def torque(self, t: float, q: Array, v: Array) -> Array:
        found = applied(self.function, t, np.array(q), np.array(v))
        if found is None:
            raise TypeError("the function returned None: expected torques")
        return np.asarray(found)


def as_controller(given: Any) -> Controller | None:
    """A controller, from one or from a plain function of (t, q, v); None stays None."""
    if given is None or (isinstance(given, Controller) and not isinstance(given, type)):
        return given
    if not isinstance(given, type) and all(callable(getattr(given, name, None)) for name in ("start", "step")):
        raise SimulationError(
            f"controller {given!r:.90} is a law that on(robot) made for one robot: expected the controller itself, such as "
            "mr.PID(...)"
        )
    if not callable(given) or isinstance(given, type):
        call = f": write {given.__name__}(...)" if isinstance(given, type) else ""
        raise SimulationError(
            f"controller {given!r:.60}: expected a controller such as mr.PID(...), or a function f(t, q, v){call}; "
            "valid: mr.control.LAWS"
        )
    if not _takes(given, 0.0, None, None):
        raise SimulationError(
            f"controller {getattr(given, '__name__', given)!s}: expected a function f(t, q, v), which takes three arguments"
        )
    return FunctionController(given)


def law_of(controller: Controller | None, robot: Mechanism) -> Law | None:
    """The law of a controller for a robot, or None without a controller; an error for what is no law."""
    law = None if controller is None else controller.on(robot)
    if controller is not None and not all(callable(getattr(law, name, None)) for name in ("start", "step")):
        raise SimulationError(
            f"{type(controller).__name__}.on(robot) returned {law!r:.60}: expected a law with start() and step(memory, t, measured)"
        )
    return law


def as_estimator(given: Any) -> Estimator | None:
    """An estimator, or None; an error for anything else, such as a class or a sensor."""
    if given is None:
        return None
    if isinstance(given, type) or not isinstance(given, Estimator) or not _takes(given.on, None, 0.0):
        raise SimulationError(
            f"estimator {given!r:.60}: expected one such as mr.ExtendedKalmanFilter(sensors), with its sensors in brackets; "
            "valid: mr.estimation.FILTERS"
        )
    return given


def _takes(function: Any, *given: Any) -> bool:
    """Whether a function can be called with these arguments; builtins that do not say count as if they could."""
    try:
        inspect.signature(function).bind(*given)
    except TypeError:
        return False
    except ValueError:
        pass
    return True
