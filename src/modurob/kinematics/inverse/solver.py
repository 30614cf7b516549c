"""Inverse kinematics of a robot: `inverse_kinematics`."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from modurob.algorithms.checks import require_finite
from modurob.errors import InputError, choices
from modurob.kinematics.inverse import finish
from modurob.kinematics.inverse.orders import ORDERS, Choice
from modurob.kinematics.inverse.result import InverseKinematics
from modurob.kinematics.inverse.search import Found, Solver, solver
from modurob.mechanism.tables import Tables
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array, as_array

# how far a rotation may be from orthonormal
RIGID = 1e-6
# values of a parameter that are tried where none is given and the first has no solution
TRIED = 24


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
    order: str = "nearest",
) -> InverseKinematics:
    """The configurations that bring a frame to X; see `Mechanism.inverse_kinematics`."""
    goals, goal = _goals(X, free)
    m.frame(frame), m.frame(base)
    start = _start(m, q0)
    if order not in ORDERS:
        raise InputError(f"no order {order!r} of solutions: {choices(str(order), ORDERS)}")
    s = solver(m, frame, base, goal)
    if s is None:
        return _numeric(m, frame, goals, goal, q0, base, limits)
    _require_parameter(s, parameter)
    lead = goals.shape[:-2]
    batch = goals.reshape(-1, 4, 4)
    here = np.broadcast_to(start, (*lead, m.nq)).reshape(-1, m.nq)
    found = _found(s, m, batch, here, parameter, limits)
    return _answer(m, s, found, here, lead, limits, order, q0 is not None)


# ---- arguments ----


def _goals(X: ArrayLike, free: str | None) -> tuple[Array, str]:
    """Poses (..., 4, 4) and what of them counts: "pose", "point", or the axis about which they may turn."""
    goals = _numbers(X)
    if free not in (None, "x", "y", "z"):
        raise InputError(f"free {free!r}: expected the axis of the frame about which it may turn, x, y or z, or None")
    if goals.shape[-2:] == (4, 4):
        if not (so3.is_rotation(goals[..., :3, :3], RIGID) and np.all(goals[..., 3, :] == (0, 0, 0, 1))):
            raise InputError("X is no pose: expected [[R, p], [0, 1]] with a rotation R, (..., 4, 4)")
        return goals, free or "pose"
    if goals.shape[-1:] == (3,) and free is None:
        return se3.pose(None, goals), "point"
    raise InputError(f"X has shape {goals.shape}: expected poses (..., 4, 4), or points (..., 3) without `free`")


def _numbers(X: ArrayLike) -> Array:
    try:
        goals = as_array(X)
    except ValueError:
        goals = np.zeros((), dtype=object)
    if goals.dtype != float:
        raise InputError(f"X is {X!r:.60}: expected numbers, poses (..., 4, 4) or points (..., 3)")
    return require_finite(goals, "X")


def _start(m: Tables, q0: ArrayLike | None) -> Array:
    if q0 is None:
        return np.concatenate([np.zeros(0), *(j.type.neutral() for j in m.joints if not j.mimics)])
    start = as_array(q0)
    if start.dtype != float or start.shape[-1:] != (m.nq,):
        raise InputError(f"q0 has shape {start.shape}: expected (..., {m.nq}) numbers for {m.name}")
    return require_finite(start, "q0")


def _require_parameter(s: Solver, parameter: float | None) -> None:
    if parameter is None:
        return
    if not s.has_parameter:
        raise InputError(f"parameter {parameter!r}: this chain of {len(s.chain.axes)} joints has none, only one of seven")
    if not isinstance(parameter, int | float | np.number) or not np.isfinite(parameter):
        raise InputError(f"parameter {parameter!r:.40}: expected one finite number [rad or m]")


# ---- solutions ----


def _found(s: Solver, m: Tables, X: Array, here: Array, parameter: float | None, limits: bool) -> Found:
    """All solutions; of seven joints those for the parameter, or for the first value of it that reaches the goal."""
    if not s.has_parameter:
        return s.solutions(X)
    if parameter is not None:
        return s.solutions(X, float(parameter))
    return _one_by_one(s, m, X, here, limits)


def _one_by_one(s: Solver, m: Tables, X: Array, here: Array, limits: bool) -> Found:
    """Each pose at the parameter of its start, or at another where that has no solution."""
    parts = [_first_reached(s, m, X[k : k + 1], here[k], limits) for k in range(len(X))]
    width = max((p.q.shape[1] for p in parts), default=1)
    pad = lambda x, v: np.pad(x, ((0, 0), (0, width - x.shape[1]), *((0, 0),) * (x.ndim - 2)), constant_values=v)  # noqa: E731
    if not parts:
        return s.solutions(X, 0.0)
    return Found(
        np.concatenate([pad(p.q, 0.0) for p in parts]),
        np.concatenate([pad(p.ok, False) for p in parts]),
        np.concatenate([pad(p.residual, np.inf) for p in parts]),
        np.concatenate([p.certain for p in parts]),
        np.concatenate([p.free for p in parts]),
        parts[0].at,
        parts[0].family,
    )


def _first_reached(s: Solver, m: Tables, X: Array, here: Array, limits: bool) -> Found:
    lower, upper = _limits(m, s.chain.at, limits)
    start = s.parameter(here)
    best = None
    for value in _values(s, start, lower, upper):
        found = s.solutions(X, value)
        q, within = finish.into_limits(found.q, *_chain_limits(m, found.at, limits, here))
        if (found.ok & within).any():
            return found
        if best is None or found.residual.min() < best.residual.min():
            best = found
    assert best is not None
    return best


def _values(s: Solver, start: float, lower: Array, upper: Array) -> Array:
    """The value at the start, then values all over the range."""
    low, high = (-np.pi, np.pi) if s.spherical is not None else (lower[s.held or 0], upper[s.held or 0])
    low, high = (low if np.isfinite(low) else -np.pi), (high if np.isfinite(high) else np.pi)
    grid = low + (high - low) * (np.arange(TRIED) + 0.5) / TRIED
    return np.concatenate([[np.clip(start, low, high)], grid[np.argsort(np.abs(grid - start))]])


def _limits(m: Tables, at: tuple[int, ...], limits: bool) -> tuple[Array, Array]:
    """Of the joints of a chain, infinite for joints that are no coordinate of the robot."""
    lower, upper = np.full(len(at), -np.inf), np.full(len(at), np.inf)
    rate_of = {int(c): k for k, c in enumerate(m.coordinate_of)}
    for k, c in enumerate(at):
        if c >= 0 and limits:
            lower[k], upper[k] = m.limits.lower[rate_of[c]], m.limits.upper[rate_of[c]]
    return lower, upper


def _turning(m: Tables, at: tuple[int, ...]) -> Array:
    units = {j.q_slice.start + k: unit for j in m.joints if j.type.nq == j.type.nv for k, unit in enumerate(j.type.units)}
    return np.array([c < 0 or units[c] == "rad" for c in at])


def _chain_limits(m: Tables, at: tuple[int, ...], limits: bool, here: Array) -> tuple[Array, Array, Array, Array]:
    """Which joints turn, lower and upper limits, and where angles are to be near."""
    lower, upper = _limits(m, at, limits)
    near = np.where(np.array(at) >= 0, here[..., list(at)], 0.0)
    return _turning(m, at), lower, upper, np.clip(near, lower, upper)


# ---- the answer ----


def _answer(
    m: Tables, s: Solver, f: Found, here: Array, lead: tuple[int, ...], limits: bool, order: str, given: bool
) -> InverseKinematics:
    turning, lower, upper, near = _chain_limits(m, f.at, limits, here)
    q, within = finish.into_limits(f.q, turning, lower, upper, near[:, None])
    keep = f.ok & within
    real = np.array([k for k, c in enumerate(f.at) if c >= 0])
    if len(real) < len(f.at):
        keep = finish.distinct(q[..., real], f.residual, keep, turning[real])
    count = keep.sum(axis=1)
    nearest = (count == 0)[:, None] & (np.arange(q.shape[1]) == f.residual.argmin(axis=1)[:, None])
    cost = ORDERS[order](Choice(m, s.chain, f.at, q, near[:, None], lower, upper))
    width = max(1, int(count.max(initial=0)))
    whole = np.repeat(here[:, None], q.shape[1], axis=1)
    whole[..., np.array(f.at)[real]] = q[..., real]
    shown = keep | nearest
    out = finish.packed(whole, shown, cost, width)
    residual = finish.packed(f.residual * s.chain.size, shown, cost, width)
    note = _note(f, keep, within, count)
    shaped = lambda x: x.reshape((*lead, *x.shape[1:]))  # noqa: E731
    return InverseKinematics(
        shaped(out), shaped(count), shaped(count > 0), shaped(residual), True, shaped(f.certain), f.family, note
    )


def _note(f: Found, keep: Array, within: Array, count: Array) -> str:
    """What to know of the answer."""
    words = []
    if (f.free & (count > 0)).any():
        words.append("singular: joints with free angles are given at one of them")
    outside = (f.ok & ~within).any(axis=1) & (count == 0)
    if outside.any():
        words.append("outside limits" if outside.all() else f"{outside.sum()} goals only outside limits")
    lost = (count == 0) & ~outside
    if lost.any():
        words.append("out of reach" if lost.all() else f"{lost.sum()} goals out of reach")
    return "; ".join(words)


def _numeric(m: Tables, frame: str, X: Array, goal: str, q0: Any, base: str, limits: bool) -> InverseKinematics:
    raise InputError(
        f"inverse kinematics of {frame!r} in {m.name}: expected a chain of at most seven turns and slides with all solutions in closed form"
    )


