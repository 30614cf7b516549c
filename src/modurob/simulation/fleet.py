"""Fleets in motion: time steps of different robots in one batch, with all their forces, including contacts."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from modurob.algorithms.forces import acting
from modurob.algorithms.program import Flow
from modurob.errors import InputError, explained
from modurob.robot import Mechanism
from modurob.robot.fleet import Fleet, Function
from modurob.simulation.driving import default_stepper
from modurob.simulation.steppers import Stepper
from modurob.simulation.stepping import Mover, step_flow
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

    q and v are lists as for `Fleet`, tau lists of torques or commands [N m or N; zero by default], x lists of the
    states of forces (bristles of contacts, currents; by default at rest). All forces of a robot act: friction, end
    stops, drives, lines, the ground of `robot.on_ground(...)`. `stepper` is used for all robots; by default each robot
    has the stepper that `mr.simulate` would choose. A duration is a whole number of its steps. On a GPU all robots run
    in one launch; robots with dry friction or loops are advanced on the CPU.

    >>> fleet = mr.Fleet([robot.ideal(), mr.load("crane").robot().ideal()])
    >>> qs, vs = [np.full((4, r.nq), 0.2) for r in fleet], [np.zeros((4, r.nv)) for r in fleet]
    >>> later = mr.advance(fleet, qs, vs, duration=0.1)
    >>> [state.q.shape for state in later]
    [(4, 3), (4, 2)]
    """
    steppers = [stepper or default_stepper(robot) for robot in fleet]
    times = [_steps(duration, s) for s in steppers]
    starts = [_start(r, q_, v_) for r, q_, v_ in zip(fleet, _each(fleet, q, "q"), _each(fleet, v, "v"), strict=True)]
    torques = [None] * len(fleet) if tau is None else _each(fleet, tau, "tau")
    states = [None] * len(fleet) if x is None else _each(fleet, x, "x")
    given = [
        _arguments(robot, own, start, u, x_, t)
        for robot, own, start, u, x_ in zip(fleet, steppers, starts, torques, states, strict=True)
    ]
    found: list[State | None] = [None] * len(fleet)
    for kind in dict.fromkeys(steppers):
        at = [i for i, s in enumerate(steppers) if s == kind]
        part = fleet if len(at) == len(fleet) else _part(fleet, tuple(at))
        lists = [[given[i][k] for i in at] for k in range(len(ARGUMENTS))]
        for i, state in zip(at, part._run(_function(kind), *lists, repeats=[times[i] for i in at]), strict=True):
            found[i] = state
    return found  # type: ignore[return-value]


@lru_cache(maxsize=8)
def _part(fleet: Fleet, at: tuple[int, ...]) -> Fleet:
    """Some robots of a fleet."""
    return Fleet([fleet[i] for i in at], fleet.device, fleet.unrolled)


def _each(fleet: Fleet, x: Sequence[Any], name: str) -> list[Any]:
    found = list(x)
    if len(found) != len(fleet):
        raise InputError(
            f"{name} has {len(found)} arrays for {len(fleet)} robots: expected a list with one array for each"
        )
    return found


def _steps(duration: float, stepper: Stepper) -> int:
    if stepper.dt is None or not stepper.compiled:
        raise InputError(f"{type(stepper).__name__} chooses its steps: expected a stepper with steps of one length")
    steps = round(duration / stepper.dt)
    if steps < 1 or abs(steps * stepper.dt - duration) > 1e-9 * abs(duration):
        raise InputError(f"duration is {duration}: expected a whole number of steps of {stepper.dt} s")
    return steps


def _is_foreign(x: Any) -> bool:
    """Whether an array is of another library, on a device perhaps."""
    return hasattr(x, "__dlpack__") and not isinstance(x, np.ndarray)


def _start(robot: Mechanism, q: Any, v: Any) -> tuple[Any, Any]:
    """q and v, (states, entries): NumPy's checked, those of other libraries as they are."""
    if _is_foreign(q) or _is_foreign(v):
        return q, v
    q, v = np.atleast_2d(robot._q(q)), np.atleast_2d(robot._v(v))
    shape = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    return np.broadcast_to(q, (*shape, robot.nq)), np.broadcast_to(v, (*shape, robot.nv))


def _arguments(
    robot: Mechanism, stepper: Stepper, start: tuple[Any, Any], tau: Any, x: Any, t: float
) -> tuple[Any, ...]:
    """What the step of a robot takes, in its order."""
    q, v = start
    dtype, k, own = np.dtype(str(q.dtype).rpartition(".")[2]), q.shape[0], acting(robot)
    column = np.ones((k, 1), dtype)
    x = np.broadcast_to(own.start().astype(dtype), (k, own.nx)) if x is None else x
    if tuple(x.shape) != (k, own.nx):
        raise InputError(f"x has shape {tuple(x.shape)}: expected {(k, own.nx)} for {robot.name}")
    tau = np.zeros((k, robot.nv), dtype) if tau is None else tau if _is_foreign(tau) else robot._v(tau, "tau")
    if len(own.commanded[0]) and (_is_foreign(tau) or _is_foreign(x)):
        raise InputError(f"tau and x of {robot.name} go to its drives: expected arrays of NumPy")
    state, u = Mover(robot, stepper).commanded(State(q, v, x), tau) if len(own.commanded[0]) else (State(q, v, x), tau)
    u = u if _is_foreign(u) else np.broadcast_to(u, (k, robot.nv)).astype(dtype, copy=False)
    return t * column, (stepper.dt or 0.0) * column, state.q, state.v, state.x, u


@lru_cache(maxsize=64)
def _function(stepper: Stepper) -> Function:
    """Steps as a function of robots."""

    def program(m: Mechanism) -> Flow | None:
        return None if sticks(m) else step_flow(stepper, acting(m).nx, False)

    def finished(robot: Mechanism, given: Sequence[Array], raw: list[Array], flow: Any) -> State:
        return State(*raw[1:])

    def alone(robot: Mechanism, given: Sequence[Array], repeats: int) -> State:
        t, _, q, v, x, u = given
        moved = Mover(robot, stepper).advance(float(t[0, 0]), State(q, v, x), u, repeats * float(stepper.dt or 0))
        return State(*(part.astype(q.dtype) for part in moved.state))

    return Function("advance", ARGUMENTS, program, finished, alone, on_gpu=True)
