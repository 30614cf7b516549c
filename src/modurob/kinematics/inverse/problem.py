"""Goals at their places in a mechanism: rows, bounds, the flow that descends to them, and where to start."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from modurob import kernels
from modurob.algorithms.configuration import neutral, random_configuration
from modurob.algorithms.descent import GoalRow, goal_rows, sight
from modurob.algorithms.interpreter import NumPyEngine, interpret
from modurob.algorithms.program import Flow
from modurob.caching import cached_property
from modurob.catalogue.joints import Revolute, Universal
from modurob.errors import InputError
from modurob.kinematics.inverse.flow import WORST, descent, seen
from modurob.kinematics.inverse.goals import Goal
from modurob.mechanism import reduced
from modurob.mechanism.tables import Coupling, Limits, Tables
from modurob.spatial.scalars import Array

TURN = 2 * np.pi
# configurations among which the nearest is where a descent starts
SAMPLES = 128
# attempts that have one start each; later ones have several
ALONE = 2
# targets that are compared with them at once, so that the table stays in the cache
AT_ONCE = 64
# turns count less than ways when starts are compared (measured)
TURN_IN_START = 0.4


@dataclass(frozen=True, eq=False)
class Problem:
    """Goals of one mechanism."""

    m: Tables
    rows: tuple[GoalRow, ...]
    target: Array  # (..., numbers)
    limits: Limits  # of the rates; infinite where they are not to be kept

    @cached_property
    def round(self) -> Array:
        """The rates whose coordinates may turn round and come back to the same pose within their limits, (nv,) bool."""
        found = np.zeros(self.m.nv, dtype=bool)
        for j in self.m.joints:
            if isinstance(j.type, Revolute | Universal):
                found[j.v_slice] = True
        for j in self.m.joints:
            found[j.v_slice] &= not j.mimics
        for c in self.m.constraints:
            for i in c.joints if isinstance(c, Coupling) else ():
                found[self.m.joints[i].v_slice] = False
        found[[row.rate for row in self.rows if row.rate >= 0]] = False
        return found & ~(self.limits.upper - self.limits.lower < TURN)

    @cached_property
    def bounds(self) -> Limits:
        """The limits that a descent keeps: those of joints that can turn round are found afterwards."""
        return Limits(np.where(self.round, -np.inf, self.limits.lower), np.where(self.round, np.inf, self.limits.upper))

    @cached_property
    def flow(self) -> Flow:
        return descent(self.m, self.rows, self.bounds)

    def descend(self, start: Array, target: Array, damping: float | Array, steps: int) -> dict[str, Array]:
        """The flow, so many times on end, from configurations (k, nq)."""
        worst = np.full((len(start), 1), WORST)
        state = {"tried": start, "q": start, "cost": worst, "size": worst}
        return self.go_on(state, target, damping, steps)

    def go_on(self, state: dict[str, Array], target: Array, damping: float | Array, steps: int) -> dict[str, Array]:
        """From where a descent was left."""
        given = {**state, "damping": state["cost"] * 0 + damping, "target": target}
        answer = kernels.repeated(self.flow, self.m, given, steps)
        if answer is not None:
            return answer.results
        with np.errstate(all="ignore"):
            for _ in range(steps):
                given |= interpret(self.flow, self.m, given).results
        return {name: given[name] for name in state}

    def distance(self, q: Array, target: Array) -> Array:
        """The root of the summed squared distances of all goals, (k,) [m and rad]."""
        return np.sqrt(self.descend(q, target, 0.0, 1)["size"][:, 0])

    def look(self, q: Array, target: Array) -> Any:
        """Error, J, cost and squared distance of all rows at configurations (k, nq)."""
        engine = NumPyEngine(self.m, q.shape[:-1], kernels.run_any)
        return goal_rows(self.m, self.rows, seen(engine, self.rows, q), target)

    def starts(self, target: Array, attempt: int, copies: int) -> Array:
        """For each target, (k, numbers), the configurations nearest to it of a few random ones, (k, copies, nq)."""
        q, compared = _samples(self.m, _Key(self.flow.name, self.rows), attempt)
        numbers = np.ones((len(target), target.shape[-1] + 1), np.float32)
        numbers[:, :-1] = target
        out = np.empty((len(target), copies), dtype=int)
        for k in range(0, len(target), AT_ONCE):
            far = numbers[k : k + AT_ONCE] @ compared
            best = far.argmin(axis=-1)[:, None] if copies == 1 else np.argpartition(far, copies, axis=-1)[:, :copies]
            out[k : k + AT_ONCE] = best
        return q[out]

    def sampled(self, target: Array, count: int) -> tuple[Array, Array]:
        """Random configurations for each target, (k, count, nq), and their cost, (k, count)."""
        q = np.concatenate([_configurations(self.m, attempt) for attempt in range(count // SAMPLES)])
        every = np.tile(q, (len(target), 1))
        cost = self.look(every, np.repeat(target, len(q), axis=0)).cost
        return every.reshape(len(target), *q.shape), cost.reshape(len(target), len(q))

    def within(self, q: Array, near: Array | None) -> Array:
        """Coordinates that turn round brought within their limits, next to `near` where there is a choice."""
        at = self.m.coordinate_of[self.round]
        lower, upper = (x[self.round] for x in self.limits)
        kept = np.isfinite(lower) & np.isfinite(upper)
        middle = np.where(kept, (np.where(kept, lower, 0) + np.where(kept, upper, 0)) / 2, 0.0)
        wish = middle if near is None else near[..., at]
        turned = q[..., at] + TURN * np.round((wish - q[..., at]) / TURN)
        turned = np.where(turned > upper, turned - TURN * np.ceil((turned - upper) / TURN), turned)
        turned = np.where(turned < lower, turned + TURN * np.ceil((lower - turned) / TURN), turned)
        out = np.array(q)
        out[..., at] = turned
        return out


def problem(m: Tables, goals: Goal | Sequence[Goal], limits: bool) -> Problem:
    """Goals put to a mechanism, or an error that says what is wrong with them."""
    goals = required(goals)
    target = _targets(goals)
    rows = tuple(row for goal in goals for row in goal.placed(m))
    none = Limits(np.full(m.nv, -np.inf), np.full(m.nv, np.inf))
    return Problem(m, rows, target, m.limits if limits else none)


def required(goals: Any) -> list[Goal]:
    """At least one goal, or an error."""
    goals = [goals] if isinstance(goals, Goal) else list(goals)
    for goal in goals:
        if not isinstance(goal, Goal):
            raise InputError(
                f"goal {goal!r:.60}: expected mr.PoseGoal, PointGoal, DirectionGoal, CentreGoal or JointGoal"
            )
    if not goals:
        raise InputError("no goals: expected at least one, such as mr.PoseGoal(frame, X)")
    return goals


def _targets(goals: list[Goal]) -> Array:
    """The numbers of all goals end to end, (..., numbers)."""
    targets = [goal.target() for goal in goals]
    try:
        lead = np.broadcast_shapes(*(t.shape[:-1] for t in targets))
    except ValueError:
        shapes = ", ".join(f"{type(g).__name__} {t.shape[:-1]}" for g, t in zip(goals, targets, strict=True))
        raise InputError(f"goals with leading axes {shapes}: expected ones that broadcast") from None
    return np.concatenate([np.broadcast_to(t, (*lead, t.shape[-1])) for t in targets], axis=-1)


# ---- the part of a mechanism that has a say ----


class Part(NamedTuple):
    """A mechanism without the joints that move no goal, and which coordinates of the whole its own are."""

    m: Tables
    coordinates: Array
    rates: Array


def part(m: Tables, rows: Sequence[GoalRow]) -> Part:
    """The part that moves the goals; all of it where there are constraints, or the centre of mass is a goal."""
    if m.constraints or any(row.sees == "centre" for row in rows):
        return _part(m, frozenset())
    carrying = {i for row in rows for i in m.ancestors[row.body]}
    rates = {m.joints[i - 1].v_slice.start for i in carrying} | {row.rate for row in rows}
    owners = {i for i, j in enumerate(m.joints, start=1) if not j.mimics and j.v_slice.start in rates}
    return _part(m, frozenset(j.name for i, j in enumerate(m.joints, start=1) if i not in carrying | owners))


@lru_cache(maxsize=256)
def _part(m: Tables, held: frozenset[str]) -> Part:
    own = [j for j in m.joints if j.name not in held and not j.mimics]
    places = [
        np.concatenate([np.zeros(0, int), *(np.r_[s] for s in x)])
        for x in zip(*((j.q_slice, j.v_slice) for j in own), strict=True)
    ]
    q, v = places or [np.zeros(0, int)] * 2
    if not held or not own:
        return Part(m, np.arange(m.nq), np.arange(m.nv))
    return Part(reduced.locked(m, set(held), neutral(m)), q, v)


# ---- where to start ----


@dataclass(frozen=True)
class _Key:
    """Goals by the name of their flow, without their targets."""

    name: str
    rows: tuple[GoalRow, ...] = field(compare=False)


@lru_cache(maxsize=256)
def _configurations(m: Tables, attempt: int) -> Array:
    rng = np.random.default_rng(attempt)
    return np.stack([random_configuration(m, rng) for _ in range(SAMPLES)])


@lru_cache(maxsize=256)
def _samples(m: Tables, key: _Key, attempt: int) -> tuple[Array, Array]:
    """Random configurations, and the matrix that (target, 1) is multiplied with to compare them, (numbers + 1, samples).

    The squared distance |s (t - f)|² of what goals see of them, f, in the numbers of the targets, without the part of t alone.
    """
    q = _configurations(m, attempt)
    # the first starts are those of single states, whose code is compiled anyway; most goals need no others
    engine = NumPyEngine(m, q.shape[:-1], kernels.run_singly if attempt < ALONE else kernels.run_any)
    found = seen(engine, key.rows, q)
    seen_by_row = [row.goal.features(sight(m, row, found)) for row in key.rows]
    # what no joint moves is seen once
    features = np.concatenate([np.broadcast_to(x, (SAMPLES, x.shape[-1])) for x in seen_by_row], axis=-1)
    scale = np.concatenate([row.goal.scale(TURN_IN_START) for row in key.rows])
    own = np.square(features * scale).sum(axis=-1, keepdims=True)
    return q, np.concatenate([-2 * scale**2 * features, own], axis=-1).T.astype(np.float32)
