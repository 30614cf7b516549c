"""Controllers whose step is compiled: what goes to the robot as C runs in simulations too."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from modurob.algorithms.forces import acting
from modurob.control.code import c_file
from modurob.control.tracing import traced_step
from modurob.errors import ControlError, explained
from modurob.kernels.stepped import stepped
from modurob.robot import Mechanism
from modurob.simulation.law import Controller, Measured, as_controller
from modurob.spatial.scalars import Array

# position of t among the inputs of a step, which is a number
TIME = 1


@explained
@dataclass(frozen=True)
class Compiled:
    """Another controller with its step compiled: the C of `controller_c`, built once on this machine.

    Torques are the same to rounding. Its memory is an array of numbers, (..., n). `on` traces the law, which takes some 10
    ms, and up to half a second for the longest laws; after that most steps take 1.5 to 2 µs. It is worth it for long runs,
    and for laws whose step takes long in Python, such as `OperationalSpace` or `KinematicControl`. Without a compiler the
    traced step is evaluated by NumPy.

    >>> law = mr.Compiled(mr.PID(reference=[0.3, 0.2, -0.4]))
    >>> mr.simulate(robot, q, duration=0.05, controller=law).status.ok
    True
    """

    controller: Any

    def __post_init__(self) -> None:
        if self.controller is None:
            raise ControlError("controller None: expected one such as mr.PID(...), or a function f(t, q, v)")
        object.__setattr__(self, "controller", as_controller(self.controller))

    @property
    def sample_time(self) -> float | None:
        """That of the controller [s]."""
        return self.controller.sample_time

    def on(self, robot: Mechanism) -> "CompiledLaw":
        """The compiled law for this robot."""
        return CompiledLaw(self.controller, robot)


class CompiledLaw:
    """The compiled step for one robot."""

    def __init__(self, controller: Controller, robot: Mechanism):
        self.controller, self.robot = controller, robot
        self._traced = traced_step(controller, robot)
        self._reads_x = self._traced.reads("x")
        n, x = len(self._traced.start), [acting(robot).nx] if self._reads_x else []
        text = c_file(self._traced, controller, robot, "law")
        self._compiled = stepped("law", text, "law_step", [TIME], [n, 1, robot.nq, robot.nv, *x], [n, robot.nv])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.controller, self.robot)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CompiledLaw) and (self.controller, self.robot) == (other.controller, other.robot)

    def __hash__(self) -> int:
        return hash((self.controller, self.robot))

    def start(self) -> Array:
        """The memory before the first sample, (n,)."""
        return np.array(self._traced.start)

    def step(self, memory: Array, t: float, measured: Measured) -> tuple[Array, Array]:
        """The memory after this sample, (..., n), and the torques, (..., nv)."""
        state = measured[:2]
        if state[0].dtype == object:
            raise TypeError("a compiled step cannot be traced again: expected its controller, not mr.Compiled(...)")
        if self._reads_x:
            if not hasattr(measured, "x"):
                raise ControlError(
                    "Compiled: its law measures states of forces, x, which an estimator of (q, v) does not know"
                )
            state = (*state, measured.x)  # type: ignore[attr-defined]
        return self._one(memory, t, state) if state[0].ndim == 1 else self._many(memory, t, state)

    def _one(self, memory: Array, t: float, state: tuple[Array, ...]) -> tuple[Array, Array]:
        found = self._compiled and self._compiled.one((memory, np.array([t], dtype=float), *state))
        return found or self._traced(memory, t, **dict(zip("qvx", state, strict=False)))

    def _many(self, memory: Array, t: float, state: tuple[Array, ...]) -> tuple[Array, Array]:
        """The states of a batch as rows, whatever its axes are."""
        shape = state[0].shape[:-1]
        memory = np.broadcast_to(memory, (*shape, memory.shape[-1]))
        given = memory, np.full((*shape, 1), t, dtype=float), *state
        rows = tuple(np.ascontiguousarray(x.reshape(int(np.prod(shape)), x.shape[-1])) for x in given)
        found = self._compiled and self._compiled.many(rows)
        found = found or self._traced(rows[0], t, **dict(zip("qvx", rows[2:], strict=False)))
        return found[0].reshape(*shape, -1), found[1].reshape(*shape, -1)
