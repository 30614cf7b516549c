"""Solutions of many goals as rows of coordinates of the robot: within limits, in order, with words for those without."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from modurob.algorithms.kinematics import frame_pose
from modurob.kinematics.inverse import finish
from modurob.kinematics.inverse.compiled import BEYOND_LIMITS, OUT_OF_REACH, SOLVED
from modurob.kinematics.inverse.orders import ORDERS, Choice
from modurob.kinematics.inverse.result import InverseKinematics
from modurob.kinematics.inverse.search import Found, Solver
from modurob.mechanism.tables import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array, read_only


class Rows(NamedTuple):
    """Solutions of m goals in coordinates of the robot, NaN behind them; one row that is nearest where there are none."""

    q: Array  # (m, k, nq)
    count: Array  # (m,)  # pyright: ignore[reportIncompatibleMethodOverride]
    fate: Array  # (m,): SOLVED, OUT_OF_REACH or BEYOND_LIMITS
    certain: Array  # (m,) bool
    free: Array  # (m,) bool
    family: str
    settled: bool = False  # known that all are solved, without free angles

    @classmethod
    def regular(cls, q: Array, count: Array, fate: Array, family: str, settled: bool = False) -> "Rows":
        """Rows of poses without free angles, none missing."""
        return cls(q, count, fate, np.ones(len(q), dtype=bool), np.zeros(len(q), dtype=bool), family, settled)

    @classmethod
    def joined(cls, parts: "Sequence[Rows]", nq: int) -> "Rows":
        """Rows of one goal after the other."""
        if not parts:
            none = np.zeros(0, dtype=int)
            return cls.regular(np.zeros((0, 1, nq)), none, none, "none")
        width = max(p.q.shape[1] for p in parts)
        wide = [p.widened(width) for p in parts]
        return cls(*(np.concatenate([p[k] for p in wide]) for k in range(5)), parts[0].family)  # type: ignore[arg-type]

    def widened(self, width: int) -> "Rows":
        """With more room for solutions."""
        more = width - self.q.shape[1]
        return (
            self if more <= 0 else self._replace(q=np.pad(self.q, ((0, 0), (0, more), (0, 0)), constant_values=np.nan))
        )

    def with_some(self, at: Array, other: "Rows") -> "Rows":
        """With the rows of some goals taken from elsewhere."""
        width = max(self.q.shape[1], other.q.shape[1])
        own, new = self.widened(width), other.widened(width)
        arrays = [np.array(x) for x in own[:5]]
        for mine, theirs in zip(arrays, new[:5], strict=True):
            mine[at] = theirs
        q, count, fate, certain, free = arrays
        return Rows(q, count, fate, certain, free, self.family)

    def ordered(self, cost: Array) -> "Rows":
        """Solutions by cost, (m, k), the least first."""
        cost = np.where(np.arange(self.q.shape[1]) < np.maximum(self.count, 1)[:, None], cost, np.inf)
        rank = np.argsort(cost, axis=1, kind="stable")
        return self._replace(q=np.take_along_axis(self.q, rank[..., None], axis=1))

    def beyond_limits(self) -> "Rows":
        """None of them counts."""
        fate = np.where(self.count > 0, BEYOND_LIMITS, self.fate)
        q = np.array(self.q)
        q[:, 1:] = np.nan
        return self._replace(q=q, count=0 * self.count, fate=fate, settled=False)


@lru_cache(maxsize=4096)
def limits_of(m: Tables, at: tuple[int, ...], limits: bool) -> tuple[Array, Array]:
    """Of some coordinates, (n,) each; infinite where limits do not count, or for what is no coordinate of the robot."""
    lower, upper = np.full(len(at), -np.inf), np.full(len(at), np.inf)
    rate_of = {int(c): k for k, c in enumerate(m.coordinate_of)}
    for k, c in enumerate(at):
        if c >= 0 and limits:
            lower[k], upper[k] = m.limits.lower[rate_of[c]], m.limits.upper[rate_of[c]]
    return read_only(lower), read_only(upper)


def turning(m: Tables, at: tuple[int, ...]) -> Array:
    """Which of some coordinates are angles, (n,) bool."""
    units = {
        j.q_slice.start + k: unit for j in m.joints if j.type.nq == j.type.nv for k, unit in enumerate(j.type.units)
    }
    return np.array([c < 0 or units[c] == "rad" for c in at])


def rows_of(m: Tables, s: Solver, f: Found, here: Array, limits: bool, order: str) -> Rows:
    """What was found, as rows of the robot."""
    lower, upper = limits_of(m, f.at, limits)
    turns, near = turning(m, f.at), _near(f.at, here, lower, upper)
    q, within = finish.into_limits(f.q, turns, lower, upper, near[:, None])
    keep = f.ok & within
    real = np.array([k for k, c in enumerate(f.at) if c >= 0])
    if len(real) < len(f.at):
        keep = finish.distinct(q[..., real], f.residual, keep, turns[real])
    count = keep.sum(axis=1)
    nearest = (count == 0)[:, None] & (np.arange(q.shape[1]) == f.residual.argmin(axis=1)[:, None])
    whole = np.repeat(here[:, None], q.shape[1], axis=1)
    whole[..., np.array(f.at)[real]] = q[..., real]
    shown = keep | nearest
    packed = finish.packed(whole, shown, np.zeros(shown.shape), max(1, int(count.max(initial=0))))
    fate = np.where(count > 0, SOLVED, np.where((f.ok & ~within).any(axis=1), BEYOND_LIMITS, OUT_OF_REACH))
    rows = Rows(packed, count, fate, f.certain, f.free & (count > 0), f.family)
    return rows.ordered(costs(m, s, f.at, rows, here, limits, order)) if order else rows


def _near(at: tuple[int, ...], here: Array, lower: Array, upper: Array) -> Array:
    return np.clip(np.where(np.array(at) >= 0, here[..., list(at)], 0.0), lower, upper)


def costs(m: Tables, s: Solver, at: tuple[int, ...], rows: Rows, here: Array, limits: bool, order: str) -> Array:
    """By which solutions are ordered, (m, k)."""
    real = tuple(c for c in at if c >= 0)
    lower, upper = limits_of(m, real, limits)
    near = _near(real, here, lower, upper)
    whole = np.where(np.isnan(rows.q), here[:, None], rows.q)
    return ORDERS[order](Choice(s.chain, real, whole[..., list(real)], near[:, None], lower, upper, m, whole))


# ---- the answer ----

NONE = read_only(np.zeros(0, dtype=np.intp))


def answer(
    m: Tables,
    frame: str,
    X: Array,
    goal: str,
    base: str,
    rows: Rows,
    lead: tuple[int, ...],
    nearest: Callable[[Array], Array],
) -> InverseKinematics:
    """The answer in the shape of the goals; `nearest` gives configurations for goals without solutions, by their indices."""
    width = max(1, int(rows.count.max(initial=0)))
    shaped = lambda x: x if x.shape[:1] == lead else x.reshape((*lead, *x.shape[1:]))[()]  # noqa: E731

    plain, lost = shaped(rows.q[:, :width]), NONE if rows.settled else np.nonzero(rows.fate)[0]

    def with_nearest() -> Array:
        none = lost[rows.count[lost] == 0]
        q = np.array(rows.q[:, :width])
        q[none, 0] = nearest(none)
        return shaped(q)

    return InverseKinematics(
        with_nearest if len(lost) else plain,
        shaped(rows.count),
        shaped(rows.count > 0),
        lambda q: distance(m, frame, X, goal, base, q),
        True,
        shaped(rows.certain),
        rows.family,
        _note(rows, lost),
    )


def distance(m: Tables, frame: str, X: Array, goal: str, base: str, q: Array) -> Array:
    """How far each row is from its goal, (..., k): m or rad, the larger; NaN where there is no row."""
    there = np.asarray(np.isfinite(q).all(axis=-1))
    known = np.where(there[..., None], q, 0.0)
    F = se3.inverse(frame_pose(m, known, base)) @ frame_pose(m, known, frame)
    X = X[..., None, :, :]
    far = np.linalg.norm(se3.position(F) - se3.position(X), axis=-1)
    R, G = se3.rotation(F), se3.rotation(X)
    if goal != "point":
        k = slice(None) if goal == "pose" else slice("xyz".index(goal), "xyz".index(goal) + 1)
        half = np.sqrt(((R[..., k] - G[..., k]) ** 2).sum(axis=(-2, -1)) / (8 if goal == "pose" else 4))
        far = np.maximum(far, 2 * np.arcsin(np.minimum(half, 1.0)))
    return np.where(there, far, np.nan)


def _note(rows: Rows, lost: Array) -> str:
    """What to know of the answer, if something was lost or left free."""
    if rows.settled:
        return ""
    words = ["singular: joints with free angles are given at one of them"] if rows.free.any() else []
    if not len(lost):
        return "; ".join(words)
    for fate, what in ((BEYOND_LIMITS, "only outside limits"), (OUT_OF_REACH, "out of reach")):
        n = int((rows.fate == fate).sum())
        if n:
            words.append(what if len(rows.fate) == 1 else f"{n} of {len(rows.fate)} goals {what}")
    return "; ".join(words)
