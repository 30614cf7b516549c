"""Controllers whose step is compiled: what goes to the robot as C runs in simulations too."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from modurob.algorithms.forces import acting
from modurob.control.code import c_file
from modurob.control.tracing import law_name, traced_step
from modurob.errors import ControlError, explained
from modurob.kernels.stepped import stepped
from modurob.robot import Mechanism
from modurob.simulation.law import Controller, Measured, as_controller
from modurob.spatial.scalars import Array
from modurob.trace import Traced

# inputs of a step, and the position of t among them, which is a number
GIVEN = ("memory", "t", "q", "v", "x")
TIME = 1


@explained
@dataclass(frozen=True)
class Compiled:
    """Another controller with its step compiled: the C of `controller_c`, built once on this machine.

    Torques are the same to rounding. Its memory is an array of numbers, (..., n); memory, time and state broadcast over
    leading axes. `on` traces the law, which takes some 10
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
        self._sizes = [n, 1, robot.nq, robot.nv, *x]
        text = c_file(self._traced, controller, robot, "law")
        self._compiled = stepped("law", text, "law_step", [TIME], self._sizes, [n, robot.nv])

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
        if self._reads_x and not hasattr(measured, "x"):
            raise ControlError(
                "Compiled: its law measures states of forces, x, which an estimator of (q, v) does not know"
            )
        state = (*measured[:2], measured.x) if self._reads_x else measured[:2]  # type: ignore[attr-defined]
        found = self._compiled and isinstance(t, float) and self._soon(memory, t, state)
        return found or self._many(self._given(memory, t, *state))

    def _soon(self, memory: Array, t: float, state: tuple[Array, ...]) -> Any:
        """What most calls ask for: one state, or rows, as they should be; None for all else."""
        assert self._compiled is not None
        axes = getattr(state[0], "ndim", 0)
        if axes == 1:
            return self._compiled.one((memory, np.array([t]), *state))
        return self._compiled.many((memory, np.full((len(state[0]), 1), t), *state)) if axes == 2 else None

    def _given(self, *given: Any) -> list[Array]:
        """Memory, time, (..., 1), and state as arrays of numbers over common axes."""
        named = {name: _numbers(x, name, self) for name, x in zip(GIVEN, given, strict=False)}
        for (name, x), n in zip(named.items(), self._sizes, strict=True):
            if name != "t" and x.shape[-1:] != (n,):
                raise ControlError(f"{self!r}: {name} has shape {x.shape}: expected ({n},) or (..., {n})")
        axes = {name: x.shape if name == "t" else x.shape[:-1] for name, x in named.items()}
        try:
            shape = np.broadcast_shapes(*axes.values())
        except ValueError:
            found = ", ".join(f"{name} {own}" for name, own in axes.items())
            raise ControlError(f"{self!r}: axes of runs are {found}: expected the same for all, or none") from None
        return [np.broadcast_to(x, (*shape, n)) for x, n in zip(_columns(named), self._sizes, strict=True)]

    def _many(self, given: list[Array]) -> tuple[Array, Array]:
        """The states of a batch as rows, whatever its axes are; complex numbers and what is not finite by NumPy."""
        shape = given[0].shape[:-1]
        rows = tuple(np.ascontiguousarray(x.reshape(math.prod(shape), x.shape[-1])) for x in given)
        found = self._compiled and self._compiled.many(rows)
        found = found or self._traced(rows[0], rows[TIME][:, 0], **dict(zip("qvx", rows[2:], strict=False)))
        memory, u = (x.reshape(*shape, x.shape[-1]) for x in found)
        return memory, u

    def __repr__(self) -> str:
        return f"compiled step of {law_name(self.controller)!r} on {self.robot.name}"


def _columns(named: dict[str, Array]) -> list[Array]:
    """The arrays, the times with an axis of one entry."""
    return [x[..., None] if name == "t" else x for name, x in named.items()]


def _numbers(x: Any, name: str, law: CompiledLaw) -> Array:
    """`x` as an array of floats or of complex numbers."""
    try:
        found = np.asarray(x)
    except ValueError:
        found = np.array(None)
    if found.dtype == object and any(isinstance(y, Traced) for y in found.flat):
        raise TypeError("a compiled step cannot be traced again: expected its controller, not mr.Compiled(...)")
    if found.dtype.kind not in "iufc":
        raise ControlError(f"{law!r}: {name} = {x!r:.60}: expected numbers")
    return found if found.dtype.kind == "c" else found.astype(float)
