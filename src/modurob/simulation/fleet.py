"""Fleets in motion: time steps of different robots in one batch, with all their forces, including contacts."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.forces import acting
from modurob.algorithms.program import Flow
from modurob.errors import InputError, explained, warn_user
from modurob.kernels.cuda.arrays import is_foreign, on_device
from modurob.robot import Mechanism
from modurob.robot.fleet import Fleet, Function
from modurob.simulation.arguments import chosen_stepper, require_radians, require_routes, whole
from modurob.simulation.driving import require_clear, require_contacts, require_steps
from modurob.simulation.limits import warn_of_stiff_stops
from modurob.simulation.pilot import input_limit
from modurob.simulation.steppers import Stepper
from modurob.simulation.stepping import Mover, named, step_flow
from modurob.simulation.system import State, sticks
from modurob.spatial.scalars import Array

ARGUMENTS = ("t", "dt", "q", "v", "x", "u")


@explained
def advance(
    fleet: Fleet,
    q: Sequence[Any],
    v: Sequence[Any],
    duration: float,
    tau: Sequence[Any] | None = None,
    x: Sequence[Any] | None = None,
    t: float = 0.0,
    stepper: Stepper | None = None,
) -> list[State]:
    """The states (q, v, x) of each robot of a fleet after `duration` [s], torques held constant, (k_i, nq_i), (k_i,
    nv_i), (k_i, nx_i).

    q and v are lists as for `Fleet`, tau lists of torques or commands [N m or N; zero by default], limited to what
    drives can give as in `mr.simulate`, x lists of the states of forces (bristles of contacts, currents; by default at
    rest). All forces of a robot act: friction, end stops, drives, lines, the ground of `robot.on_ground(...)`. A
    warning names states that are no longer finite. `stepper` is used for all robots; by default each robot
    has the stepper that `mr.simulate` would choose. A duration is a whole number of its steps. On a GPU all robots run
    in one launch; robots with dry friction or loops are advanced on the CPU.

    >>> fleet = mr.Fleet([robot.ideal(), mr.load("crane").robot().ideal()])
    >>> qs, vs = [np.full((4, r.nq), 0.2) for r in fleet], [np.zeros((4, r.nv)) for r in fleet]
    >>> later = mr.advance(fleet, qs, vs, duration=0.1)
    >>> [state.q.shape for state in later]
    [(4, 3), (4, 2)]
    """
    if not isinstance(fleet, Fleet):
        raise InputError(f"fleet is {fleet!r:.60}: expected a fleet, such as mr.Fleet([robot, robot])")
    t = _time(t)
    q, v = fleet._argument(q, "q"), fleet._argument(v, "v")
    tau, x = ([None] * len(fleet) if y is None else fleet._argument(y, n) for y, n in ((tau, "tau"), (x, "x")))
    tasks = [
        fleet._of(i, _task, fleet, fleet[i], stepper, duration, *own, t)
        for i, own in enumerate(zip(q, v, tau, x, strict=True))
    ]
    found: list[State | None] = [None] * len(fleet)
    for kind in dict.fromkeys(task.stepper for task in tasks):
        at = [i for i, task in enumerate(tasks) if task.stepper == kind]
        part = fleet if len(at) == len(fleet) else _part(fleet, tuple(at))
        lists = [[tasks[i].arguments[k] for i in at] for k in range(len(ARGUMENTS))]
        for i, state in zip(
            at, part._run(_function(kind, named(kind)), *lists, repeats=[tasks[i].steps for i in at]), strict=True
        ):
            found[i] = state
    _warn_of_lost(fleet, found, duration)
    for robot, task, state in zip(fleet, tasks, found, strict=True):
        if not is_foreign(state.q):  # type: ignore[union-attr]
            warn_of_stiff_stops(robot, state.q, task.stepper)  # type: ignore[union-attr]
    return found  # type: ignore[return-value]


class _Task(NamedTuple):
    """Steps of one robot: the stepper, how many, and what each takes, in the order of ARGUMENTS."""

    stepper: Stepper
    steps: int
    arguments: tuple[Any, ...]


def _task(
    fleet: Fleet, robot: Mechanism, stepper: Any, duration: float, q: Any, v: Any, tau: Any, x: Any, t: float
) -> _Task:
    """What is asked of a robot, checked as `mr.simulate` does; states that go on, with x, were checked at their start."""
    own = chosen_stepper(stepper, robot)
    if own.dt is None or not own.compiled:
        raise InputError(f"{type(own).__name__} chooses its steps: expected a stepper with steps of one length")
    own.require(robot)
    require_contacts(robot, own)
    require_steps(robot, own, own.dt)
    q, v = _start(robot, q, v)
    if x is None and not is_foreign(q) and len(q):
        require_radians(robot, q)
        require_routes(robot, q)
        require_clear(robot, q)
    return _Task(own, whole(duration, own.dt, "duration"), _arguments(fleet, robot, own, q, v, tau, x, t))


def _time(t: Any) -> float:
    if isinstance(t, bool) or not isinstance(t, int | float | np.number) or not np.isfinite(t):
        raise InputError(f"t {t!r:.60}: expected a finite number [s]")
    return float(t)


@lru_cache(maxsize=8)
def _part(fleet: Fleet, at: tuple[int, ...]) -> Fleet:
    """Some robots of a fleet."""
    return Fleet([fleet[i] for i in at], fleet.device, fleet.unrolled)


def _start(robot: Mechanism, q: Any, v: Any) -> tuple[Any, Any]:
    """q and v, (states, entries): NumPy's checked, those of other libraries as they are."""
    if is_foreign(q) or is_foreign(v):
        return q, v
    q, v = np.atleast_2d(robot._q(q)), np.atleast_2d(robot._v(v))
    try:
        shape = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    except ValueError:
        raise InputError(f"q of shape {q.shape} and v of shape {v.shape}: expected as many states") from None
    return np.broadcast_to(q, (*shape, robot.nq)), np.broadcast_to(v, (*shape, robot.nv))


def _arguments(
    fleet: Fleet, robot: Mechanism, stepper: Stepper, q: Any, v: Any, tau: Any, x: Any, t: float
) -> tuple[Any, ...]:
    """What the step of a robot takes, in its order."""
    dtype, k, own = np.dtype(str(q.dtype).rpartition(".")[2]), q.shape[0], acting(robot)
    column = np.ones((k, 1), dtype)
    x = np.broadcast_to(own.start().astype(dtype), (k, own.nx)) if x is None else x if is_foreign(x) else np.asarray(x)
    if tuple(x.shape) != (k, own.nx):
        raise InputError(f"x has shape {tuple(x.shape)}: expected {(k, own.nx)} for {robot.name}")
    u = np.zeros((k, robot.nv), dtype) if tau is None else _limited(fleet, robot, tau)
    if not len(own.commanded[0]):
        return t * column, (stepper.dt or 0.0) * column, q, v, x, _repeated(u, k, dtype)
    if is_foreign(tau) or is_foreign(x):
        raise InputError(f"tau and x of {robot.name} go to its drives: expected arrays of NumPy")
    state, u = Mover(robot, stepper).commanded(State(q, v, x), u)
    return t * column, (stepper.dt or 0.0) * column, *state, _repeated(u, k, dtype)


def _repeated(u: Any, states: int, dtype: Any) -> Any:
    """One row for each state."""
    if is_foreign(u):
        return u
    if u.shape[0] not in (1, states):
        raise InputError(f"tau has shape {u.shape}: expected {(states, u.shape[-1])}")
    return np.broadcast_to(u, (states, u.shape[-1])).astype(dtype, copy=False)


def _limited(fleet: Fleet, robot: Mechanism, tau: Any) -> Any:
    """The torques that drives can give, (states, nv), as `mr.simulate` limits those of a law."""
    limit = input_limit(robot)
    if not is_foreign(tau):
        return np.clip(np.atleast_2d(robot._v(tau, "tau")), -limit, limit)
    if fleet._gpu is None or np.isinf(limit).all():
        return tau
    device = fleet._gpu.device
    most = device.array(limit.astype(str(tau.dtype).rpartition(".")[2]))
    return on_device(device, tau).clip(-most, most)


def _warn_of_lost(fleet: Fleet, states: Sequence[Any], duration: float) -> None:
    """A warning of states that are no numbers any more."""
    for i, state in enumerate(states):
        if is_foreign(state.v) or np.isfinite(state.v).all():
            continue
        lost = np.flatnonzero(~np.isfinite(state.v).all(axis=-1))
        warn_user(
            f"robot {i} of the fleet: {fleet[i].name} has no finite state after {duration:g} s in {len(lost)} of "
            f"{len(state.v)} states, the first of them state {lost[0]}: expected shorter steps, or mr.LinearlyImplicit; "
            f"mr.simulate(fleet[{i}], q[{i}][{lost[0]}], v[{i}][{lost[0]}]) says when and why"
        )


@lru_cache(maxsize=64)
def _function(stepper: Stepper, words: str) -> Function:
    """Steps of a stepper that does this as a function of robots."""

    def program(m: Mechanism) -> Flow | None:
        return None if sticks(m) else step_flow(stepper, acting(m).nx, False)

    def finished(robot: Mechanism, given: Sequence[Array], raw: list[Array], flow: Any) -> State:
        return State(*raw[1:])

    def alone(robot: Mechanism, given: Sequence[Array], repeats: int) -> State:
        t, _, q, v, x, u = given
        if not len(q):
            return State(q, v, x)
        rates, places = acting(robot).commanded
        u = np.array(u)
        u[..., rates] = x[..., places]  # the mover takes commands for torques
        moved = Mover(robot, stepper).advance(float(t[0, 0]), State(q, v, x), u, repeats * float(stepper.dt or 0))
        return State(*(part.astype(q.dtype) for part in moved.state))

    return Function("advance", ARGUMENTS, program, finished, alone, on_gpu=True)
