"""One step of damped least squares towards goals: the rows of the goals, and the step that best satisfies them.

Every goal is a few rows: an error e, its derivative with respect to the rates, J, and a cost whose gradient is -J^T e.
The step

    dq = argmin |J dq - e|² + damping |dq|²,   lower <= q + dq <= upper

is that of Levenberg and Marquardt; with a damping in proportion to the cost it converges quadratically even where J
loses rank (Fan and Yuan, On the quadratic convergence of the Levenberg-Marquardt method without nonsingularity
assumption). Rates that are at a limit, and that descent would take beyond it, are held (Bertsekas, Projected
Newton methods).
"""

from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.energy import first_moment
from modurob.algorithms.kinematics import at_origin, rigid, with_pose
from modurob.algorithms.program import Inward, Outward, Program, View
from modurob.algorithms.steps import apply, transposed
from modurob.mechanism.tables import Limits, Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array, clip, cross, dot, maximum, minimum, select, solve

# the damping that is left at the goal, in parts of the mean square of J: what keeps redundant rates where they are
LEAST_DAMPING = 1e-10
# what is added where J is zero
TINY = 1e-36
# how near to a limit counts as at it [rad or m]
AT_LIMIT = 1e-9


class GoalRow(NamedTuple):
    """A goal and its indices in a mechanism."""

    goal: Any  # with `rows(x, target)`; see `modurob.kinematics.inverse.goals`
    sees: str  # "pose", "centre" or "coordinate"
    body: int = 0  # of a pose
    X: Array = se3.IDENTITY  # what is to be brought to the target, in the body
    coordinate: int = -1  # in q
    rate: int = -1


class Rows(NamedTuple):
    """The rows of goals: error, (..., r), its derivative, (..., r, nv), cost and squared distance, (...) each."""

    error: Any
    J: Any
    cost: Any
    size: Any


# ---- what goals look at ----


def world_column(j: View) -> None:
    """Outward: the pose of the body, and the twist of each rate in world axes at the world's origin."""
    X = with_pose(j)
    j.emit(X=X[..., :3, :], S=j.given("on")[..., None, None] * (se3.Ad(X) @ j.S))


WORLD_COLUMNS = Program(
    "world_columns",
    inputs={"q": "coordinates", "on": "bodies"},
    results={"X": "poses", "S": "vectors"},
    passes=(Outward(world_column),),
    shared={"X": (3, 4)},
    world=at_origin,
)


def body_moment(j: View) -> None:
    """Outward: mass times position of the centre of mass."""
    X = with_pose(j)
    h = first_moment(X, j.inertia)
    j.keep(h=h, S=se3.Ad(X) @ j.S)
    j.emit(x=h[..., 0], y=h[..., 1], z=h[..., 2])


def moment_column(j: View) -> None:
    """Inward: linear momentum of all bodies that a rate moves, m v + w x h, for each rate."""
    m, h, S = j.inertia[0, 0] + j.children("m"), j.own("h") + j.children("h"), j.own("S")
    j.send(m=m + 0 * h[..., :1], h=h)
    p = [m * S[..., :3, k] + cross(S[..., 3:, k], h) for k in range(j.nv)]
    P = np.stack(p, axis=-1) if p else S[..., :3, :]
    j.emit(P=np.concatenate([P, 0 * P], axis=-2))


CENTRE = Program(
    "centre",
    inputs={"q": "coordinates"},
    results={"x": "bodies", "y": "bodies", "z": "bodies", "P": "vectors"},
    passes=(Outward(body_moment), Inward(moment_column)),
    shared={"X": (3, 4)},
    sent={"m": (1,), "h": (3,)},
    world=at_origin,
)


# ---- rows ----


class Seen(NamedTuple):
    """The quantities of a configuration that goals depend on, in the arrays of any engine."""

    q: Any
    X: Any = None  # poses of bodies
    S: tuple[Any, ...] = ()  # of each row its `WORLD_COLUMNS`
    centre: Any = None  # results of `CENTRE`
    closure: Any = None  # results of `CLOSURE`


def goal_rows(m: Tables, rows: tuple[GoalRow, ...], seen: Seen, target: Array) -> Rows:
    """The rows of all goals, those of loops behind them; `target` holds the numbers of all goals end to end."""
    errors, slopes, costs, sizes, at = [], [], [], [], 0
    for k, row in enumerate(rows):
        own = target[..., at : at + row.goal.numbers]
        at += row.goal.numbers
        error, T, cost, size = row.goal.rows(sight(m, row, seen), own)
        errors.append(error)
        slopes.append(_slope(m, row, T, seen, k))
        costs.append(cost)
        sizes.append(size)
    if seen.closure is not None:
        gap = seen.closure["error"]
        errors.append(-gap)
        slopes.append(seen.closure["K"])
        costs.append(dot(gap, gap) / 2)
        sizes.append(dot(gap, gap))
    J = np.concatenate([np.broadcast_to(x, (*target.shape[:-1], *x.shape[-2:])) for x in slopes], axis=-2)
    return Rows(np.concatenate(errors, axis=-1), J, sum(costs), sum(sizes))


def sight(m: Tables, row: GoalRow, seen: Seen) -> Array:
    """The quantity that one goal depends on: a pose (..., 4, 4), the centre of mass (..., 3), or a coordinate (..., 1)."""
    if row.sees == "coordinate":
        return seen.q[..., row.coordinate, None]
    if row.sees == "centre":
        return np.stack([seen.centre[k].sum(axis=-1) for k in "xyz"], axis=-1) / _mass(m)
    return (rigid(seen.X[..., row.body - 1, :, :]) if row.body else se3.IDENTITY) @ row.X


def _slope(m: Tables, row: GoalRow, T: Array, seen: Seen, k: int) -> Array:
    if row.sees == "coordinate":
        return T * np.eye(m.nv)[row.rate]
    if row.sees == "centre":
        return T @ seen.centre["P"] / _mass(m)
    on = np.zeros(m.nv)
    on[path(m, row.body)] = 1
    return T @ seen.S[k] * on


def path(m: Tables, body: int) -> list[int]:
    """The rates that move a body."""
    slices = [m.joints[i - 1].v_slice for i in m.ancestors[body]]
    return sorted({k for s in slices for k in range(s.start, s.stop)})


def on_path(m: Tables, body: int) -> Array:
    """Ones for all bodies; where joints share rates, only for those that carry the body, (bodies,)."""
    on = np.ones(len(m.bodies))
    if m.coupled:
        on[:] = 0
        on[list(m.ancestors[body])] = 1
    return on


def _mass(m: Tables) -> float:
    return float(m.inertia[1:, 0, 0].sum())


# ---- the step ----


def damped_step(m: Tables, rows: Rows, q: Array, damping: Array, bounds: Limits) -> Array:
    """dq, (..., nv): J^T (J J^T + lambda)^-1 e, or (J^T J + lambda)^-1 J^T e where there are more rows than rates.

    lambda is damping times cost, and at least `LEAST_DAMPING`; rates that descent would take beyond their limits are held, and
    dq is cut off at the limits.
    """
    low, high = margins(m, q, bounds)
    descent = apply(transposed(rows.J), rows.error)
    free = freedom(descent, low, high)
    J = rows.J * free[..., None, :]
    r, n = J.shape[-2:]
    lam = whole_damping(damping, rows.cost, np.square(rows.J).sum(axis=(-2, -1)) / max(r, 1))[..., None, None]
    if r <= n:
        dq = apply(transposed(J), solve(J @ transposed(J) + lam * np.eye(r), rows.error[..., None])[..., 0])
    else:
        dq = solve(transposed(J) @ J + lam * np.eye(n), (descent * free)[..., None])[..., 0]
    return clip(dq, low, high)


def margins(m: Tables, q: Array, bounds: Limits) -> tuple[Array, Array]:
    """How far each rate may move, down and up, (..., nv) each; zero beyond a limit that is already exceeded."""
    low, high = np.full((*q.shape[:-1], m.nv), -np.inf), np.full((*q.shape[:-1], m.nv), np.inf)
    at = m.coordinate_of
    own = at >= 0
    low[..., own], high[..., own] = margin(q[..., at[own]], bounds.lower[own], bounds.upper[own])
    return low, high


def margin(q: Array, lower: Any, upper: Any) -> tuple[Array, Array]:
    """How far coordinates may move, down and up; zero beyond a limit that is already exceeded."""
    return minimum(lower - q, 0.0), maximum(upper - q, 0.0)


def freedom(descent: Array, low: Array, high: Array) -> Array:
    """One for rates that may move; zero for those with no margin that descent would take there, (..., nv)."""
    above = select(-AT_LIMIT, low, select(descent, 0.0, 0.0, 1.0), 1.0)
    return select(high, AT_LIMIT, select(0.0, descent, 0.0, above), above)


def whole_damping(damping: Array, cost: Array, square: Array) -> Array:
    """lambda of `damped_step`; `square` is the mean square of J, by rows."""
    return damping * cost + LEAST_DAMPING * square + TINY
