"""Inverse kinematics by iteration, for any mechanism and several goals at once, many states side by side.

Damped least squares from a start near the goal (the given configuration, or the nearest of a few random ones), and again from
others for the states that were not brought there. Joints keep their limits; loops are closed with the goals.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob import kernels
from modurob.algorithms.checks import require_finite, require_quaternions
from modurob.algorithms.configuration import integrate, neutral
from modurob.errors import InputError
from modurob.kinematics.collisions import CollisionModel
from modurob.kinematics.inverse.flow import DAMPING
from modurob.kinematics.inverse.goals import Goal
from modurob.kinematics.inverse.problem import ALONE, Problem, part, problem, required
from modurob.kinematics.inverse.result import InverseKinematics
from modurob.kinematics.inverse.secondary import follow
from modurob.kinematics.inverse.settled import settled
from modurob.mechanism.tables import Limits, Tables
from modurob.spatial.scalars import Array, as_array

# steps of a start, then between looks at how far it has come, and how many such rounds it is given at most
STEPS, MORE, ROUNDS = 8, 4, 12
# when no more states than this are left, each has several starts at once
FEW, MOST_COPIES = 1024, 16
# a start is given up if a round brings it no nearer than by this factor, squared
PROGRESS = 0.25
# of states that reach nothing: ends of starts that are brought downhill, steps for that, how many of them become exact minima, and
# states that are worked on at once
MINIMA, POLISHED, SETTLED, AT_ONCE = 48, 40, 8, 64
# random configurations of which the nearest are brought downhill too
SAMPLED = 512
# a given start that leads nowhere, as singular ones do, is shaken by this [rad or m]
SHAKEN = 0.1
# states that are worked on at once, so that they stay in the cache
BLOCK = 16384


def numeric(
    m: Tables,
    goals: Goal | Sequence[Goal],
    q0: ArrayLike | None = None,
    *,
    secondary: Goal | Sequence[Goal] = (),
    limits: bool = True,
    tolerance: float = 1e-10,
    attempts: int = 128,
    avoid: CollisionModel | None = None,
) -> InverseKinematics:
    """One configuration for each set of goals, within the limits, or the nearest that was found.

    `q0`, (..., nq), is where to start, and to stay close to; without it starts are random, the same in every call. Goals are
    reached when the root of their summed squared distances, weights aside, is at most `tolerance` [m and rad]. `secondary` goals
    are brought as near as the goals leave room for. A state that fails is started again, up to `attempts` times in all. With
    `avoid`, what clashes does not count.
    """
    if not (isinstance(attempts, int) and attempts >= 1):
        raise InputError(f"attempts {attempts!r}: expected a whole number from one on")
    if not tolerance > 0:
        raise InputError(f"tolerance {tolerance!r}: expected a number above zero [m and rad]")
    goals, others = required(goals), required(secondary) if secondary else []
    whole = problem(m, goals, limits)
    start = None if q0 is None else _start(m, q0, whole.target.shape[:-1])
    lead = whole.target.shape[:-1] if start is None else start.shape[:-1]
    target = np.broadcast_to(whole.target, (*lead, whole.target.shape[-1])).reshape(-1, whole.target.shape[-1])
    near = None if start is None else start.reshape(-1, m.nq)
    # joints that move no goal stay where they are
    small, coordinates, rates = part(m, [*whole.rows, *(row for goal in others for row in goal.placed(m))])
    p = replace(problem(small, goals, limits), limits=Limits(*(x[rates] for x in whole.limits)))
    for asked in (p, whole):
        kernels.begin(asked.flow, asked.m, len(target))
    own = None if near is None else near[:, coordinates]
    rest = np.broadcast_to(_rest(m), (len(target), m.nq)) if near is None else near

    def full(q: Array, which: Any = slice(None)) -> Array:
        out = np.array(rest[which])
        out[:, coordinates] = p.within(q, None if own is None else own[which])
        return out

    def clear(q: Array, which: Any) -> Array:
        return np.ones(len(q), dtype=bool) if avoid is None else avoid.clear(full(q, which))

    found = _in_blocks(p, target, own, Wish(tolerance, attempts, clear))
    if others:
        good = found.reached
        moved = follow(p, problem(small, others, limits), found.q[good], target[good], tolerance)
        found.q[good] = np.where(clear(moved, good)[:, None], moved, found.q[good])
    return _answer(whole, full(found.q), target, found.reached, tolerance, lead, attempts)


class Wish(NamedTuple):
    """What counts as reached, and how often it is tried."""

    tolerance: float
    attempts: int
    clear: Callable[[Array, Any], Array]  # of configurations, and which states they are of


def _rest(m: Tables) -> Array:
    """The neutral configuration, or next to it within the limits."""
    q, at = neutral(m), m.coordinate_of
    q[at[at >= 0]] = np.clip(q[at[at >= 0]], *(x[at >= 0] for x in m.limits))
    return q


class _Found(NamedTuple):
    q: Array  # (k, nq)
    reached: Array  # (k,)


def _in_blocks(p: Problem, target: Array, near: Array | None, wish: Wish) -> _Found:
    """All states, some at a time, so that they stay in the cache."""
    out = _Found(np.zeros((len(target), p.m.nq)), np.zeros(len(target), dtype=bool))
    for k in range(0, len(target), BLOCK):
        states = np.arange(k, min(k + BLOCK, len(target)))
        out.q[states], out.reached[states] = _solved(p, target, near, wish, states)
    return out


def _start(m: Tables, q0: ArrayLike, lead: tuple[int, ...]) -> Array:
    q = as_array(q0)
    if q.dtype.kind != "f" or not q.ndim or q.shape[-1] != m.nq:
        raise InputError(f"q0 has shape {q.shape}: expected (..., {m.nq}) for {m.name}")
    require_quaternions(m, require_finite(q, "q0"), "q0")
    try:
        return np.broadcast_to(q, (*np.broadcast_shapes(q.shape[:-1], lead), m.nq))
    except ValueError:
        raise InputError(
            f"q0 of shape {q.shape} and goals with leading axes {lead}: expected ones that broadcast"
        ) from None


def _solved(p: Problem, target: Array, near: Array | None, wish: Wish, states: Array) -> _Found:
    """The best configurations of some states, (k, nq), and whether they are good enough, (k,)."""
    q, reached = np.zeros((len(states), p.m.nq)), np.zeros(len(states), dtype=bool)
    left, used, attempt = np.arange(len(states)), 0, 0
    ends: list[_Ends] = []
    while len(left) and used < wish.attempts:
        # the few that are left are started from several configurations at once
        copies = 1 if attempt < ALONE else int(np.clip(FEW // len(left), 1, min(MOST_COPIES, wish.attempts - used)))
        if attempt == ALONE:
            kernels.begin(p.flow, p.m, copies * len(left))
        at = states[left]
        start = _next_start(p, target[at], None if near is None else near[at], attempt, copies)
        found = _attempt(p, start, target[at], wish.tolerance)
        best = np.arange(len(left)), found.cost.argmin(axis=-1)
        good = found.size[best] <= wish.tolerance**2
        good[good] = wish.clear(found.q[best][good], at[good])
        q[left[good]], reached[left[good]] = found.q[best][good], True
        ends.append(_Ends(left, found.q, found.cost))
        left, used, attempt = left[~good], used + copies, attempt + 1
    for some in np.array_split(left, len(left) // AT_ONCE + 1) if len(left) else ():
        q[some] = _nearest(p, *_gathered(ends, some), target[states[some]])
        reached[some] = wish.clear(q[some], states[some])
    return _Found(q, reached)


class _Ends(NamedTuple):
    """Where the starts of an attempt have led."""

    states: Array  # (k,)
    q: Array  # (k, copies, nq)
    cost: Array  # (k, copies)


def _gathered(ends: list[_Ends], states: Array) -> tuple[Array, Array]:
    """All configurations that some states have been led to, and their costs, (k, n, nq) and (k, n)."""
    at = [np.searchsorted(e.states, states) for e in ends]
    q = np.concatenate([e.q[k] for e, k in zip(ends, at, strict=True)], axis=1)
    return q, np.concatenate([e.cost[k] for e, k in zip(ends, at, strict=True)], axis=1)


def _nearest(p: Problem, q: Array, cost: Array, target: Array) -> Array:
    """The configurations nearest to goals that none of those given, (k, n, nq), reaches: the best of local minima, (k, nq)."""

    def best(q: Array, cost: Array, count: int) -> Array:
        return np.take_along_axis(q, np.argsort(cost, axis=1)[:, :count, None], axis=1)

    # descents that leap from start to start miss small valleys: random configurations go downhill alone
    sampled, value = p.sampled(target, SAMPLED)
    q = np.concatenate([best(q, cost, MINIMA), best(sampled, value, MINIMA)], axis=1)
    many = np.repeat(target, q.shape[1], axis=0)
    rough, cost = _polished(p, q.reshape(-1, p.m.nq), many)
    q = best(rough.reshape(q.shape), cost.reshape(q.shape[:2]), SETTLED)
    fine, cost = settled(p, q.reshape(-1, p.m.nq), np.repeat(target, q.shape[1], axis=0))
    return best(fine.reshape(q.shape), cost.reshape(q.shape[:2]), 1)[:, 0]


def _next_start(p: Problem, target: Array, near: Array | None, attempt: int, copies: int) -> Array:
    """The given configuration, then one next to it, then others, (k, copies, nq)."""
    if near is None or attempt > 1:
        return p.starts(target, attempt, copies)
    low, high = p.bounds
    at = p.m.coordinate_of
    own = at >= 0
    q = np.array(near)
    if attempt == 1:
        shift = np.random.default_rng(attempt).normal(size=(len(q), p.m.nv)) * SHAKEN
        q = integrate(p.m, q, shift, kernels.run)
    q[:, at[own]] = np.clip(q[:, at[own]], low[own], high[own])
    return q[:, None]


class _Attempt(NamedTuple):
    q: Array  # (k, copies, nq)
    cost: Array  # (k, copies)
    size: Array  # (k, copies)


def _attempt(p: Problem, start: Array, target: Array, tolerance: float) -> _Attempt:
    """Where descents from starts (k, copies, nq) lead, each given up where it does not get on."""
    k, copies, nq = start.shape
    target = target if copies == 1 else np.repeat(target, copies, axis=0)
    best = p.descend(start.reshape(k * copies, nq), target, DAMPING, STEPS)
    going = np.flatnonzero(best["size"][:, 0] > tolerance**2)
    for _ in range(ROUNDS):
        if not len(going):
            break
        before = best["size"][going, 0]
        found = p.go_on({name: x[going] for name, x in best.items()}, target[going], DAMPING, MORE)
        for name, x in found.items():
            best[name][going] = x
        size = found["size"][:, 0]
        going = going[(size > tolerance**2) & (size < PROGRESS * before)]
    return _Attempt(best["q"].reshape(start.shape), *(best[name].reshape(k, copies) for name in ("cost", "size")))


def _polished(p: Problem, q: Array, target: Array) -> tuple[Array, Array]:
    """Configurations that do not reach their goals, brought nearer, downhill alone, and the cost there.

    Far from its goal a robot at its reach has more curvature than J^T J says, and needs as much more damping.
    """
    cost, damping = p.look(q, target).cost[:, None], np.ones((len(q), 1))
    for _ in range(POLISHED):
        found = p.descend(q, target, damping, 2)
        better = found["cost"] < cost
        q, cost = found["q"], found["cost"]
        damping = np.where(better, damping / 2, np.minimum(damping * 4, 1e6))
    return q, cost[:, 0]


def _answer(
    p: Problem, q: Array, target: Array, clear: Array, tolerance: float, lead: tuple[int, ...], attempts: int
) -> InverseKinematics:
    residual = (p.distance(q, target) if len(q) else np.zeros(0)).reshape(*lead, 1)
    reached = np.asarray((residual[..., 0] <= tolerance) & (_allowed(p, q) & clear).reshape(lead))
    return InverseKinematics(
        q=q.reshape(*lead, 1, p.m.nq),
        count=np.asarray(reached.astype(int)),
        reached=reached,
        residual=residual,
        exact=False,
        certain=np.zeros(lead, dtype=bool),
        family="numeric",
        note=_note(reached, residual[..., 0], tolerance, attempts),
    )


def _note(reached: Array, residual: Array, tolerance: float, attempts: int) -> str:
    """Which goals were not reached, and how near the configurations are."""
    if reached.all():
        return ""
    which = f"{(~reached).sum()} of {reached.size} goals" if reached.ndim else "the goal"
    far = residual[~reached]
    if far.max() <= tolerance:
        return f"{which} not reached from {attempts} starts: every configuration found clashes"
    away = f"{far.max():.3g}" if far.size == 1 else f"{far.min():.3g} to {far.max():.3g}"
    return f"{which} not reached from {attempts} starts: the nearest configuration found is {away} (m or rad) away"


def _allowed(p: Problem, q: Array) -> Array:
    """Whether configurations keep the limits, to rounding, (k,)."""
    at = p.m.coordinate_of
    own = at >= 0
    lower, upper = (x[own] for x in p.limits)
    return np.all((q[:, at[own]] >= lower - 1e-9) & (q[:, at[own]] <= upper + 1e-9), axis=-1)
