"""Inverse kinematics of a robot: `inverse_kinematics`."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modurob.algorithms.checks import require_finite
from modurob.errors import InputError
from modurob.kinematics.inverse import answers
from modurob.kinematics.inverse.answers import Rows, limits_of, rows_of
from modurob.kinematics.inverse.arm import Arm
from modurob.kinematics.inverse.compiled import LEFT, Compiled, compiled
from modurob.kinematics.inverse.goals import DirectionGoal, Goal, PointGoal, PoseGoal
from modurob.kinematics.inverse.numeric import numeric
from modurob.kinematics.inverse.orders import ORDERS
from modurob.kinematics.inverse.result import InverseKinematics
from modurob.kinematics.inverse.search import Solver, of_arm, solver
from modurob.mechanism.tables import Tables
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array, as_array, read_only

# how far a rotation may be from orthonormal
RIGID = 1e-6
# values of a parameter that are tried where none is given and the first has no solution
TRIED = 24
# starts from which the configuration nearest to a goal out of reach is looked for
NEAREST_ATTEMPTS = 64
# numbers of solutions, as many as an arm may have
COUNTS = tuple(np.int64(k) for k in range(17))


def inverse_kinematics(
    m: Tables,
    frame: str,
    X: ArrayLike,
    q0: ArrayLike | None = None,
    *,
    base: str = "world",
    free: str | None = None,
    limits: bool = True,
    parameter: float | None = None,
    order: str | None = None,
) -> InverseKinematics:
    """The configurations that bring a frame to X; see `Mechanism.inverse_kinematics`."""
    if base == "world" and free is None and limits and parameter is None and order is None:
        at_once = _at_once(m, frame, X, q0)
        if at_once is not None:
            return at_once
    return _all(m, frame, X, q0, Wish(base, free, limits, parameter, order))


class Wish(NamedTuple):
    """How solutions are wanted."""

    base: str
    free: str | None
    limits: bool
    parameter: float | None
    order: str | None


def _all(m: Tables, frame: str, X: ArrayLike, q0: ArrayLike | None, wish: Wish) -> InverseKinematics:
    goals, goal = _goals(X, wish.free)
    try:
        return _solved(m, frame, goals, goal, q0, wish)
    except InputError:
        require_finite(as_array(X), "X")
        raise


def _solved(m: Tables, frame: str, goals: Array, goal: str, q0: ArrayLike | None, wish: Wish) -> InverseKinematics:
    s = _solver(m, frame, wish.base, goal)
    start = _start(m, q0)
    order = wish.order or ("nearest" if q0 is not None else "")
    _ = ORDERS[order] if order else None
    if s is None:
        return _numeric(m, frame, goals, goal, q0, wish)
    _require_parameter(s, wish.parameter)
    lead = goals.shape[:-2]
    batch = np.ascontiguousarray(goals.reshape(-1, 4, 4))
    here = start[None] if start.ndim == 1 else np.broadcast_to(start, (*lead, m.nq)).reshape(-1, m.nq)
    rows = _rows(s, m, batch, here, wish, order)
    if s.has_parameter and wish.parameter is None and m.frame(wish.base).body == 0:
        rows = _with_missed(s, m, frame, batch, here, wish, order, rows)

    def nearest(lost: Array) -> Array:
        return _nearest(m, frame, batch[lost], _some(here, lost), s, rows.q[lost, 0], wish)

    return answers.answer(m, frame, goals, goal, wish.base, rows, lead, nearest)


@lru_cache(maxsize=1024)
def _solver(m: Tables, frame: str, base: str, goal: str) -> Solver | None:
    """The solver between frames that are there."""
    _ = m.frame(frame), m.frame(base)
    return solver(m, frame, base, goal)


def _some(here: Array, at: Array) -> Array:
    """Rows of starts, (m, nq) or (1, nq) for all."""
    return here[at] if len(here) > 1 else np.repeat(here, len(at), axis=0)


# ---- arguments ----


def _goals(X: ArrayLike, free: str | None) -> tuple[Array, str]:
    """Poses (..., 4, 4) and what of them counts: "pose", "point", or the axis about which they may turn."""
    goals = _numbers(X)
    if free not in (None, "x", "y", "z"):
        raise InputError(f"free {free!r}: expected the axis of the frame about which it may turn, x, y or z, or None")
    if goals.shape[-2:] == (4, 4):
        return goals, free or "pose"
    if goals.shape[-2:] == (3, 3) and goals.size and so3.is_rotation(goals, RIGID):
        raise InputError("X is a rotation alone: expected poses (..., 4, 4), or points (..., 3)")
    if goals.shape[-1:] == (3,) and free is None:
        return se3.pose(None, goals), "point"
    raise InputError(f"X has shape {goals.shape}: expected poses (..., 4, 4), or points (..., 3) without `free`")


def _poses(X: Array) -> Array:
    """X itself, or an error unless it holds poses; kernels leave to the definition what is none."""
    if not (so3.is_rotation(X[..., :3, :3], RIGID) and np.all(X[..., 3, :] == (0, 0, 0, 1)) and np.isfinite(X).all()):
        raise InputError("X is no pose: expected [[R, p], [0, 1]] with a rotation R, (..., 4, 4)")
    return X


def _numbers(X: ArrayLike) -> Array:
    try:
        goals = as_array(X)
    except ValueError:
        goals = np.zeros((), dtype=object)
    if goals.dtype != float:
        raise InputError(f"X is {X!r:.60}: expected numbers, poses (..., 4, 4) or points (..., 3)")
    return goals


def _start(m: Tables, q0: ArrayLike | None) -> Array:
    if q0 is None:
        return _neutral(m)
    start = as_array(q0)
    if start.dtype != float or start.shape[-1:] != (m.nq,):
        raise InputError(f"q0 has shape {start.shape}: expected (..., {m.nq}) numbers for {m.name}")
    return require_finite(start, "q0")


@lru_cache(maxsize=1024)
def _neutral(m: Tables) -> Array:
    return read_only(np.concatenate([np.zeros(0), *(j.type.neutral() for j in m.joints if not j.mimics)]))


def _require_parameter(s: Solver, parameter: float | None) -> None:
    if parameter is None:
        return
    if not s.has_parameter:
        raise InputError(
            f"parameter {parameter!r}: this chain of {len(s.chain.axes)} joints has none, only one of seven"
        )
    if not isinstance(parameter, int | float | np.number) or not np.isfinite(parameter):
        raise InputError(f"parameter {parameter!r:.40}: expected one finite number [rad or m]")


# ---- one pose at once ----


class Quick(NamedTuple):
    """What one pose of a frame takes: compiled functions, for solutions by distance and as they come, and the family."""

    sorted: Any
    plain: Any
    start: Array
    family: str


@lru_cache(maxsize=1024)
def _quick(m: Tables, frame: str) -> Quick | None:
    """The handles; None if the frame is not there or its chain has no compiled closed form."""
    s = solver(m, frame, "world", "pose") if frame in m.frames else None
    made = None if s is None or s.arm is None else _compiled(s.arm, m.nq)
    if made is None:
        return None
    lower, upper = limits_of(m, made.arm.at, True)
    ordered, plain = (made.handle(lower, upper, sorts) for sorts in (True, False))
    start = _start(m, None)
    usable = None not in (ordered, plain) and not start[list(made.arm.at)].any()
    return Quick(ordered, plain, start, made.arm.family) if usable else None


def _at_once(m: Tables, frame: str, X: Any, q0: Any) -> InverseKinematics | None:
    """The answer for one pose without a detour; None if anything is unusual."""
    quick = _quick(m, frame) if type(X) is np.ndarray else None
    if quick is None:
        return None
    q = quick.plain(X, quick.start) if q0 is None else quick.sorted(X, q0)
    if q is None:
        return None
    residual = lambda q: answers.distance(m, frame, X, "pose", "world", q)  # noqa: E731
    return InverseKinematics(q, COUNTS[len(q)], np.True_, residual, True, np.True_, quick.family)


@lru_cache(maxsize=1024)
def _compiled(arm: Arm, nq: int) -> Compiled | None:
    return compiled(arm, nq)


# ---- any number of poses ----


def _rows(s: Solver, m: Tables, X: Array, here: Array, wish: Wish, order: str) -> Rows:
    """All solutions; of seven joints those for the parameter, or for the first value of it that reaches the goal."""
    if s.arm is not None:
        return _of_arm(s, s.arm, m, X, here, wish, order)
    if wish.parameter is not None:
        return _at_value(s, m, X, here, float(wish.parameter), wish, order)
    parts = [_first_reached(s, m, X[[k]], _some(here, np.array([k])), wish, order) for k in range(len(X))]
    return Rows.joined(parts, m.nq)


def _of_arm(s: Solver, arm: Arm, m: Tables, X: Array, here: Array, wish: Wish, order: str) -> Rows:
    """By kernels where there are some; what they leave, or all, by the definition."""
    made = _compiled(arm, m.nq) if len(X) else None
    lower, upper = limits_of(m, arm.at, wish.limits)
    found = None if made is None else made.batch(X, here, lower, upper, order == "nearest")
    if found is None:
        every = np.arange(len(X))
        return rows_of(m, s, of_arm(arm, _poses(X)), _some(here, every), wish.limits, order)
    q, count, fate, settled = found
    rows = Rows.regular(q, count, fate, arm.family, settled)
    if order not in ("", "nearest"):
        rows = rows.ordered(answers.costs(m, s, arm.at, rows, here, wish.limits, order))
    left = answers.NONE if settled else np.nonzero(fate == LEFT)[0]
    if len(left):
        rows = rows.with_some(left, rows_of(m, s, of_arm(arm, _poses(X[left])), _some(here, left), wish.limits, order))
    return rows


def _at_value(s: Solver, m: Tables, X: Array, here: Array, value: float, wish: Wish, order: str) -> Rows:
    """All solutions at a value of the parameter."""
    arm = s.locked(value)
    if arm is None or arm.way is None:
        every = np.arange(len(X))
        return rows_of(m, s, s.solutions(_poses(X), value), _some(here, every), wish.limits, order)
    k = s.chain.at[s.held or 0]
    there = np.array(here)
    there[:, k] = value
    lower, upper = limits_of(m, (k,), wish.limits)
    rows = _of_arm(s, arm, m, X, there, wish, order)._replace(family=s.words(value, arm.family))
    return rows if lower[0] - 1e-9 <= value <= upper[0] + 1e-9 else rows.beyond_limits()


def _first_reached(s: Solver, m: Tables, X: Array, here: Array, wish: Wish, order: str) -> Rows:
    """One pose at the parameter of its start, or at another where that has no solution."""
    best = None
    for value in _values(s, m, s.parameter(here[0]), wish.limits):
        rows = _at_value(s, m, X, here, float(value), wish, order)
        if rows.count[0]:
            return rows
        best = rows if best is None else best
    assert best is not None
    return best


def _with_missed(s: Solver, m: Tables, frame: str, X: Array, here: Array, wish: Wish, order: str, rows: Rows) -> Rows:
    """Rows with solutions also for goals that no value tried reaches but iteration does: those at the value that it finds."""
    lost = np.nonzero(rows.count == 0)[0]
    if not len(lost):
        return rows
    found = numeric(m, _as_goals(m, frame, X[lost], s.goal, wish.base), _some(here, lost), limits=wish.limits)
    for k, q in zip(lost[found.reached], found.q[found.reached, 0], strict=True):
        at = np.array([k])
        again = _at_value(s, m, X[at], _some(here, at), s.parameter(q), wish, order)
        rows = rows.with_some(at, again) if again.count[0] else rows
    return rows


def _values(s: Solver, m: Tables, start: float, limits: bool) -> Array:
    """The value at the start, then values all over the range, the nearest first."""
    at = () if s.spherical is not None else (s.chain.at[s.held or 0],)
    (low,), (high,) = limits_of(m, at, limits) if at else ((-np.pi,), (np.pi,))
    low, high = (low if np.isfinite(low) else -np.pi), (high if np.isfinite(high) else np.pi)
    grid = low + (high - low) * (np.arange(TRIED) + 0.5) / TRIED
    return np.concatenate([[np.clip(start, low, high)], grid[np.argsort(np.abs(grid - start))]])


# ---- by iteration ----


def _numeric(m: Tables, frame: str, X: Array, goal: str, q0: ArrayLike | None, wish: Wish) -> InverseKinematics:
    """One configuration for each goal, by iteration."""
    if wish.parameter is not None:
        raise InputError(
            f"parameter {wish.parameter!r}: only a chain of seven turns and slides has one, solved with all solutions"
        )
    return numeric(m, _as_goals(m, frame, _poses(X), goal, wish.base), q0, limits=wish.limits)


def _as_goals(m: Tables, frame: str, X: Array, goal: str, base: str) -> list[Goal]:
    """The goals that `numeric` takes, in world axes."""
    at = m.frame(base)
    if at.body != 0:
        raise InputError(
            f"inverse kinematics of {frame!r} in the axes of {base!r}, which moves: "
            "this chain is solved by iteration, expected a frame fixed in the world"
        )
    X = at.X @ X
    if goal == "pose":
        return [PoseGoal(frame, X)]
    point = PointGoal(frame, X[..., :3, 3])
    k = "xyz".find(goal)
    return [point] if k < 0 else [point, DirectionGoal(frame, X[..., :3, k], axis=np.eye(3)[k])]


def _nearest(m: Tables, frame: str, X: Array, here: Array, s: Solver, candidates: Array, wish: Wish) -> Array:
    """The nearest configurations to goals without solutions, (k, nq): minima that iteration finds from candidates of the closed
    form and others. Seen from a frame that moves, and for a given parameter, the candidates."""
    at = [c for c in s.chain.at if c >= 0]
    lower, upper = limits_of(m, tuple(at), wish.limits)
    q = np.where(np.isnan(candidates), here, candidates)
    q[:, at] = np.clip(q[:, at], lower, upper)
    if m.frame(wish.base).body != 0 or wish.parameter is not None:
        return q
    return numeric(m, _as_goals(m, frame, X, s.goal, wish.base), q, limits=wish.limits, attempts=NEAREST_ATTEMPTS).q[
        :, 0
    ]
