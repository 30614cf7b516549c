"""The step of a law as straight-line code: run on scalars that record their operations, its memory laid out as numbers."""

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from modurob.algorithms.forces import acting
from modurob.control.recipe import LAWS
from modurob.errors import ControlError, ModurobError
from modurob.robot import Mechanism
from modurob.simulation.law import Controller, FunctionController, Seen, law_of
from modurob.spatial.scalars import Array, select
from modurob.trace import Graph, plain, traced_array

# files whose lines say nothing of a law that cannot be traced
_BESIDE = ("control/tracing.py", "simulation/law.py", "trace/", "spatial/scalars.py", "numpy/")
FIRST = "0 before the first call, 1 after it"
# samples over which a traced step must do what the law does, and how closely, beside the largest torque
COMPARED, ALIKE = 3, 1e-6
OTHERS = "its results are others than those of its trace: it keeps something outside its memory, or makes choices that no trace has"


@dataclass(frozen=True, eq=False)
class Step:
    """memory, u = step(memory, t, q, v, x), traced: inputs are arrays of these names, and t."""

    graph: Graph
    labels: tuple[str, ...]  # what each number of the memory is
    start: Array  # the memory before the first sample, (memory,)
    memory: Array  # and after this one, (memory,)
    u: Array  # (nv,)

    def __call__(self, memory: Array, t: float | Array, **inputs: Array) -> tuple[Array, Array]:
        """The next memory, (..., memory), and u, (..., nv), in numbers, by NumPy; t is one number, or one for each state."""
        given = {"t": np.asarray(t)[None], "memory": np.moveaxis(memory, -1, 0)}
        given |= {name: np.moveaxis(x, -1, 0) for name, x in inputs.items()}
        wanted = [self.graph.index(x) for x in (*self.memory, *self.u)]
        values, shape = self.graph.evaluate(wanted, given), inputs["q"].shape[:-1]
        out = np.stack([np.broadcast_to(values[i], shape) for i in wanted], axis=-1)
        return out[..., : len(self.memory)], out[..., len(self.memory) :]

    def reads(self, array: str) -> bool:
        """Whether results depend on an input."""
        inputs = (self.graph.nodes[i] for i in self.graph.needed((*self.memory, *self.u)))
        return any(node.op == "input" and node.value.array == array for node in inputs)


def traced_step(controller: Controller, robot: Mechanism) -> Step:
    """The step of a controller on a robot; an error that says why if it is more than algebra and choices."""
    if why := _iterates(controller):
        raise _refusal(controller, robot, why)
    law, own = law_of(controller, robot), type(controller) not in LAWS.values()
    try:
        with np.errstate(all="ignore"):
            step = _traced(law, robot, traced_array if _is_users(controller) else plain)
    except ModurobError:
        raise
    # whatever a function of a user runs into
    except Exception as error:
        raise _refusal(controller, robot, _why(error, robot)) from error
    with np.errstate(all="ignore"):
        if why := _unlike(step, law, robot, controller.sample_time or 0.0, list(_compared_states(robot, own))):
            raise _refusal(controller, robot, why)
    return step


def _is_users(controller: Controller) -> bool:
    """Whether its step may use NumPy as it likes."""
    return not type(controller).__module__.startswith("modurob.")


def _iterates(controller: Any) -> str:
    """What in the step of a controller, or of the one inside it, is more than algebra and choices."""
    inner = getattr(controller, "controller", None)
    return getattr(type(controller), "iterates", "") or ("" if inner is None else _iterates(inner))


def _compared_states(robot: Mechanism, own: bool) -> Iterator[tuple[Array, ...]]:
    """q, v and x in which a trace is compared: random ones; for a law of the user's own also of both signs, and zero, where
    comparisons for equality and choices that the trace does not have show."""
    rng = np.random.default_rng(0)
    for _ in range(COMPARED):
        yield robot.random_configuration(rng), *(rng.uniform(-1, 1, n) for n in (robot.nv, acting(robot).nx))
    dz, v, x = (rng.uniform(0.1, 1, n) for n in (robot.nv, robot.nv, acting(robot).nx))
    for sign, rate in ((1, 1), (-1, -1), (0, 1), (1, 0), (-1, 1)) if own else ():
        yield robot.integrate(robot.neutral(), sign * dz), rate * v, sign * x


def _unlike(step: Step, law: Any, robot: Mechanism, sample_time: float, states: list[tuple[Array, ...]]) -> str:
    """What speaks against the traced step over a few samples; nothing if it is the law. What is infinite or not a number must
    be so in both, and not everywhere."""
    memory, numbers, finite = law.start(), step.start, False
    still = np.zeros(robot.nv)
    reference = {"q_d": robot.neutral(), "v_d": still, "vdot_d": still}
    for k, (q, v, x) in enumerate(states):
        memory, u = law.step(memory, k * sample_time, Seen.of(q, v, x))
        numbers, found = step(numbers, k * sample_time, q=q, v=v, x=x, **reference)
        if not _is_alike(found, np.asarray(u, dtype=float)):
            return OTHERS
        finite = finite or bool(np.isfinite(u).all())
    q, v = (x.round(3).tolist() for x in states[-1][:2])
    return (
        "" if finite else f"its torques are not finite in any state that was tried, the last of which is {q = }, {v = }"
    )


def _is_alike(found: Array, u: Array) -> bool:
    """Whether torques are the same to rounding where they are finite, and the same elsewhere."""
    finite = np.isfinite(u)
    close = np.abs(found - u)[finite] <= ALIKE * np.abs(u[finite]).max(initial=1.0)
    return bool(close.all() and np.array_equal(found[~finite], u[~finite], equal_nan=True))


def _traced(law: Any, robot: Mechanism, arranged: Callable[[Any], Any]) -> Step:
    """The step from any memory; where the first memory has another form, its first number says that it is the first."""
    graph, start = Graph(), law.start()
    sizes = {"q": robot.nq, "v": robot.nv, "x": acting(robot).nx}
    t, seen = arranged(graph.input("t")), Seen.of(*(arranged(graph.inputs(name, n)) for name, n in sizes.items()))
    first, u_first = law.step(start, t, seen)
    fresh, labels = _form(start) != _form(first), tuple(label for label, _ in _entries(first))
    numbers = graph.inputs("memory", len(labels), int(fresh))
    later, u = law.step(_filled(first, iter(numbers), arranged), t, seen)
    if _form(later) != _form(first):
        raise TypeError(f"its memory has another form after every sample, {_form(first)}, then {_form(later)}")
    u_first, u = (_torques(x, robot) for x in (u_first, u))
    if not fresh:
        return Step(graph, labels, _values(start).astype(float), _values(later), u)
    begun = graph.input("memory", 0)
    memory = np.concatenate([np.ones(1), select(begun, 0.5, _values(first), _values(later))])
    return Step(graph, (FIRST, *labels), np.zeros(len(memory)), memory, select(begun, 0.5, u_first, u))


def _torques(u: Any, robot: Mechanism) -> Array:
    u = np.asarray(plain(u), dtype=object)
    if u.ndim > 1 and u.shape[-1] == robot.nv:
        raise TypeError(
            f"torques of shape {u.shape}, as of references or gains for each of {u[..., 0].size} runs: expected those of one "
            f"robot, {(robot.nv,)}; simulations of batches take the law itself, not compiled"
        )
    if u.shape != (robot.nv,):
        raise TypeError(f"torques of shape {u.shape}: expected {(robot.nv,)}")
    return u


# ---- memories as numbers ----


def _parts(memory: Any) -> list[tuple[str, Any]] | None:
    """What a memory consists of, by name; None for numbers."""
    if isinstance(memory, dict):
        return [(str(name), x) for name, x in memory.items()]
    if isinstance(memory, tuple | list):
        return list(zip(getattr(memory, "_fields", [f"{k}" for k in range(len(memory))]), memory, strict=True))
    return [] if memory is None else None


def _form(memory: Any) -> Any:
    """Equal for memories of the same parts and shapes."""
    parts = _parts(memory)
    return np.shape(memory) if parts is None else (type(memory).__name__, *((name, _form(x)) for name, x in parts))


def _entries(memory: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The numbers of a memory, each with what it is called."""
    parts = _parts(memory)
    for own, x in parts or ():
        yield from _entries(x, f"{name}.{own}".lstrip("."))
    for at, x in np.ndenumerate(np.asarray(memory, dtype=object)) if parts is None else ():
        yield f"{name}{''.join(f'[{i}]' for i in at)}", x


def _values(memory: Any) -> Array:
    return np.array([x for _, x in _entries(memory)], dtype=object)


def _filled(like: Any, numbers: Iterator[Any], arranged: Callable[[Any], Any]) -> Any:
    """A memory of the same form with other numbers."""
    parts = _parts(like)
    if parts is None:
        whole = np.array([next(numbers) for _ in range(np.size(like))], dtype=object).reshape(np.shape(like))
        return arranged(whole if whole.ndim else whole.item())
    filled = [_filled(x, numbers, arranged) for _, x in parts]
    if isinstance(like, dict):
        return dict(zip(like, filled, strict=True))
    if like is None:
        return None
    return type(like)(*filled) if hasattr(like, "_fields") else type(like)(filled)


# ---- refusals ----


def law_name(controller: Controller) -> str:
    """The name of a controller in the registry; of others that of their class, or of their function."""
    if isinstance(controller, FunctionController):
        return getattr(controller.function, "__name__", type(controller.function).__name__)
    return next((name for name, law in LAWS.items() if law is type(controller)), type(controller).__name__)


def algebraic_laws() -> list[str]:
    """The laws whose step is algebra and choices, so that it can be written as C.

    >>> "pid" in mr.control.algebraic_laws(), "whole-body" in mr.control.algebraic_laws()
    (True, False)
    """
    return sorted(name for name, law in LAWS.items() if not law.iterates)


def _refusal(controller: Controller, robot: Mechanism, why: str) -> ControlError:
    others = f"; laws that can: {', '.join(algebraic_laws())}" if type(controller) in LAWS.values() else ""
    return ControlError(f"controller {law_name(controller)!r} on {robot.name} cannot be written as C: {why}{others}")


def _why(error: Exception, robot: Mechanism) -> str:
    """What an error in a step means, and where it comes from."""
    loops = "robots with loops have no straight-line model, and this law uses it: " if robot.constraints else ""
    return f"{loops}{_place(error)}"


def _place(error: BaseException) -> str:
    """An error in words, with the line of the law that it comes from."""
    frames = [(Path(f.filename), f) for f in traceback.extract_tb(error.__traceback__)]
    own = [f"{path.name}, line {f.lineno}, `{f.line}`: " for path, f in frames if not _is_beside(path)]
    kind = "" if isinstance(error, TypeError | ValueError | AttributeError) else f"{type(error).__name__}: "
    return f"{own[-1] if own else ''}{kind}{error}"


def _is_beside(path: Path) -> bool:
    return any(part in path.as_posix() for part in _BESIDE)
