"""All solutions for poses of a frame: candidates of an arm, judged on the true model; seven joints at values of their parameter."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from modurob.caching import cached_property
from modurob.kinematics.inverse import finish, general, redundant
from modurob.kinematics.inverse.arm import EXACT, Arm, arm_of, closed_form, freed, over
from modurob.kinematics.inverse.axes import Axis, Chain, chain_of
from modurob.kinematics.inverse.finish import Candidates
from modurob.mechanism.tables import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array

# with this room a candidate of a closed form is a solution, if the arm is exactly of its family
SURE = 1e-9


class Found(NamedTuple):
    """Solutions of m poses in the joints of a chain, in no order."""

    q: Array  # (m, k, n) [rad, m]
    ok: Array  # (m, k) bool: it reaches the pose
    residual: Array  # (m, k) distance from it, lengths over the size of the chain
    certain: Array  # (m,) bool: none is missing
    free: Array  # (m,) bool: some angle of a solution is free
    at: tuple[int, ...]  # the coordinate of each joint
    family: str


def judged(axes: tuple[Axis, ...], c: Candidates, T: Array, expected: Array | None = None, sure: float = SURE) -> Found:
    """Candidates after Newton's method on the true model; right are those that reach T, each once.

    None is missing if every candidate of a closed form with more room than `sure` is right; of an eigenproblem if an even
    number is, as many as
    `expected`.
    """
    turning = np.array([a.turns for a in axes])
    tried = np.asarray(np.isfinite(c.q).all(axis=-1))
    goals = np.broadcast_to(T[:, None], (*c.q.shape[:2], 4, 4))
    possible = tried & (c.room > -finish.ROOM)
    q, r = finish.newton(axes, np.where(tried[..., None], c.q, 0.0), goals, possible)
    ok = finish.distinct(q, r, possible & (r < finish.RESIDUAL), turning)
    count = ok.sum(axis=1)
    wrong = np.asarray((tried & (c.room > sure) & (r > finish.RESIDUAL)).any(axis=1))
    certain = ~wrong if expected is None else (expected == count) & (count % 2 == 0)
    free = np.asarray((ok & (c.lever < finish.SAME**2)).any(axis=1))
    return Found(finish.wrapped(q, turning), ok, np.where(tried, r, np.inf), certain, free, (), "")


def of_arm(arm: Arm, X: Array) -> Found:
    """All solutions of a chain of at most six joints for poses X in its base, (m, 4, 4) [m]."""
    T = arm.motion_to(X)
    candidates, expected = arm.candidates(T)
    found = judged(arm.chain.axes, candidates, T, expected, SURE if arm.deviation < EXACT else -finish.ROOM)
    if arm.checks and not found.certain.all():
        found = _asked_again(arm, T, found)
    if len(arm.moving) < len(arm.chain.axes):
        found = _at_zero(arm, T, candidates, found)
    return found._replace(q=found.q * arm.lengths, at=arm.at, family=arm.family)


def _at_zero(arm: Arm, T: Array, c: Candidates, found: Found) -> Found:
    """The solutions of all six joints that leave those that are held at zero; none is missing if none of those is."""
    room = np.concatenate([np.where(found.ok, 0.0, -np.inf), c.room], axis=1)
    lever = np.concatenate([np.ones(found.ok.shape), c.lever], axis=1)
    q = np.concatenate([found.q, c.q], axis=1)[..., arm.moving]
    return judged(arm.solved, Candidates(q, room, lever), T)._replace(certain=found.certain)


def _asked_again(arm: Arm, T: Array, found: Found) -> Found:
    """The same where the first pencil left doubts: what any pencil finds counts, certain where one agrees with all."""
    at = np.nonzero(~found.certain)[0]
    more = [general.solve([p], T[at]) for p in arm.checks]
    q = np.concatenate([found.q[at], *(g.candidates.q for g in more)], axis=1)
    fresh = Candidates(q, np.where(np.isnan(q[..., 0]), -1.0, 0.0), np.ones(q.shape[:2]))
    again = judged(arm.chain.axes, fresh, T[at])
    count = again.ok.sum(axis=1)
    agreed = np.any([g.regular & (g.real == count) & (count % 2 == 0) for g in more], axis=0)
    width = q.shape[1]
    wide = _widened(found, width)
    for whole, own in zip(wide[:3], again[:3], strict=True):
        whole[at] = own
    wide.certain[at] = agreed
    return wide


def _widened(f: Found, width: int) -> Found:
    pad = lambda x, v: np.pad(x, ((0, 0), (0, width - x.shape[1]), *((0, 0),) * (x.ndim - 2)), constant_values=v)  # noqa: E731
    return f._replace(q=pad(f.q, 0.0), ok=pad(f.ok, False), residual=pad(f.residual, np.inf), certain=f.certain.copy())


# ---- seven joints ----


@dataclass(frozen=True, eq=False)
class Solver:
    """The chain to a frame, with joints for what the goal leaves free, and how it is solved."""

    chain: Chain
    goal: str

    @cached_property
    def arm(self) -> Arm | None:
        """How a chain of at most six joints is solved."""
        return arm_of(self.chain) if len(self.chain.axes) <= 6 else None

    @cached_property
    def spherical(self) -> tuple[Axis, ...] | None:
        """The axes of an arm with an arm angle, lengths over its size."""
        return redundant.shoulder_and_wrist(self.chain.scaled(1 / self.chain.size).axes, 1.0)

    @cached_property
    def held(self) -> int | None:
        """The joint of seven whose coordinate is the parameter."""
        if len(self.chain.axes) != 7 or self.spherical is not None:
            return None
        found = redundant.best_to_hold(self.chain)
        return None if found is None else found[0]

    @property
    def exact(self) -> bool:
        """Whether all solutions are found."""
        return self.arm is not None or self.spherical is not None or self.held is not None

    @property
    def has_parameter(self) -> bool:
        """Whether there are solutions for each value of a parameter."""
        return self.arm is None

    def parameter(self, q: Array) -> float:
        """The value of the parameter at a configuration of the robot."""
        if self.spherical is not None:
            return float(redundant.arm_angle(self.spherical, q[list(self.chain.at)]))
        return float(q[self.chain.at[self.held or 0]])

    def solutions(self, X: Array, value: float | None = None) -> Found:
        """All solutions for poses X, (m, 4, 4); `value` is that of the parameter, if there is one."""
        if self.arm is not None:
            return of_arm(self.arm, X)
        return self._at_arm_angle(X, value or 0.0) if self.spherical is not None else self._held_at(X, value or 0.0)

    def _at_arm_angle(self, X: Array, value: float) -> Found:
        axes, size = self.spherical, self.chain.size
        assert axes is not None
        T = over(X @ se3.inverse(self.chain.X0), size)
        way = replace(redundant.at_arm_angle(np.asarray(value)), axes=axes)
        found = judged(axes, closed_form(way, T), T)
        return found._replace(at=self.chain.at, family=f"{way.name}, arm angle {value:.6g}")

    def _held_at(self, X: Array, value: float) -> Found:
        k, arm = self.held or 0, self.locked(value)
        if arm is None:
            return _nothing(len(X), self.chain.at)
        found = of_arm(arm, X)
        q = np.concatenate([found.q, np.full((*found.q.shape[:-1], 1), value)], axis=-1)
        return found._replace(q=q, at=(*found.at, self.chain.at[k]), family=self.words(value, arm.family))

    def locked(self, value: float) -> Arm | None:
        """The arm that is left when the joint that is the parameter stands at a value; None if there is none."""
        return None if self.held is None else _locked(self, self.held, value)

    def words(self, value: float, family: str) -> str:
        """How the family of such an arm is called."""
        return f"joint {(self.held or 0) + 1} of 7 held at {value:.6g}, {family}"


@lru_cache(maxsize=256)
def _locked(s: Solver, k: int, value: float) -> Arm | None:
    return arm_of(s.chain.locked(k, np.asarray(value)))


def _nothing(m: int, at: tuple[int, ...]) -> Found:
    no = np.zeros(m, dtype=bool)
    return Found(np.zeros((m, 1, len(at))), no[:, None], np.full((m, 1), np.inf), no, no, at, "none")


@lru_cache(maxsize=1024)
def solver(m: Tables, frame: str, base: str, goal: str) -> Solver | None:
    """How a goal of a frame is solved with all solutions; None if it is not.

    The chain must be of turns and slides that follow no other joint and close no loop.
    """
    chain = None if m.constraints else chain_of(m, frame, base)
    if chain is None or not chain.axes:
        return None
    found = Solver(freed(chain, goal), goal)
    return found if len(found.chain.axes) <= 7 and found.exact else None
