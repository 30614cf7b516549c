"""From candidates to answers: Newton's method on the true model, no duplicates, limits, order."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from modurob.kinematics.inverse.axes import Axis, twists
from modurob.spatial import se3, so3
from modurob.spatial.scalars import Array, minimum, rint, select

# candidates whose square roots are this far below zero are tried: the true model may be off the family's by the tolerance of
# detection
ROOM = 1e-3
# how far a candidate may be from the goal for Newton's method to be tried, and how far a solution may be; relative to the size
NEAR = 0.3
RESIDUAL = 1e-9
# good enough without another step
EXACT = 2e-14
STEPS, HALVINGS = 20, 5
# solutions closer than this in every coordinate are one [rad, size]
SAME = 1e-6


class Candidates(NamedTuple):
    """Coordinates (m, k, n), with the least room and lever of each, (m, k)."""

    q: Array
    room: Array
    lever: Array


def error(axes: Sequence[Axis], q: Array, T: Array) -> tuple[Array, Array]:
    """The twist that takes the motion of q to T, (..., 6), to first order, and the twists by coordinates."""
    E, J = twists(axes, q)
    D = T @ se3.inverse(E)
    return np.concatenate([se3.position(D), so3.vee(se3.rotation(D))], axis=-1), J


def residual_of(axes: Sequence[Axis], q: Array, T: Array) -> Array:
    """The distance of the motion of q from T: length over the size of the chain or angle, the larger, (...)."""
    E = twists(axes, q)[0]
    R = se3.rotation(E) - se3.rotation(T)
    turn = np.sqrt((R**2).sum(axis=(-2, -1)) / 2)
    return np.maximum(np.linalg.norm(se3.position(E) - se3.position(T), axis=-1), turn)


def newton(axes: Sequence[Axis], q: Array, T: Array, possible: Array) -> tuple[Array, Array]:
    """q after steps of Newton's method towards T where that is possible, each as long as it comes nearer, and the distance left."""
    q, r = q.copy(), residual_of(axes, q, T)
    going = possible
    for _ in range(STEPS):
        going = going & (r > EXACT) & (r < NEAR)
        todo = np.nonzero(going)
        if not len(todo[0]):
            break
        e, J = error(axes, q[todo], T[todo])
        step, before = _least_squares(J, e), r.copy()
        for _ in range(HALVINGS):
            new = q[todo] + step
            reached = residual_of(axes, new, T[todo])
            better = reached < r[todo]
            at = tuple(t[better] for t in todo)
            q[at], r[at] = new[better], reached[better]
            # those that did not come nearer go half as far
            todo, step = tuple(t[~better] for t in todo), step[~better] / 2
            if not len(step) or r[todo].max() < RESIDUAL:
                break
        # what came no nearer is as near as it goes
        going &= r < before
    return q, r


def _least_squares(J: Array, e: Array) -> Array:
    """The shortest x with least |J x - e|, damped at the last digits."""
    return (np.linalg.pinv(J, rcond=1e-9) @ e[..., None])[..., 0]


def wrapped(q: Array, turning: Array) -> Array:
    """Angles in (-pi, pi], slides as they are."""
    return np.where(turning, np.pi - (np.pi - q) % (2 * np.pi), q)


def distinct(q: Array, r: Array, ok: Array, turning: Array, same: float = SAME) -> Array:
    """Which of the candidates (m, k, n) that are right remain when of equal ones the first best stays, (m, k)."""
    difference = np.abs(wrapped(q[:, :, None] - q[:, None], turning))
    equal = (difference < same).all(axis=-1) & ok[:, :, None] & ok[:, None]
    order = np.arange(q.shape[1])
    first = (r[:, None, :] < r[:, :, None]) | ((r[:, None, :] == r[:, :, None]) & (order[None, :] < order[:, None]))
    return ok & ~(equal & first).any(axis=-1)


def into_limits(q: Array, turning: Array, lower: Array, upper: Array, near: Array) -> tuple[Array, Array]:
    """Angles by whole turns as near to `near` as limits allow, and whether all coordinates are within limits."""
    with np.errstate(invalid="ignore"):
        q, room = whole_turns(q, turning, lower, upper, near)
        return q, np.asarray((room >= 0).all(axis=-1))


def whole_turns(q: Array, turning: Array, lower: Array, upper: Array, near: Array) -> tuple[Array, Array]:
    """Those angles, and how far coordinates are within limits and the slack beyond them: negative if they are not."""
    turn = 2 * np.pi * turning
    q = q + turn * rint((near - q) * (1 / (2 * np.pi)))
    q = select(q, lower - SLACK, q + turn, q)
    q = select(upper + SLACK, q, q - turn, q)
    return q, minimum(q - lower, upper - q) + SLACK


# how far beyond a limit still counts as within [rad, m]
SLACK = 1e-9


def packed(x: Array, keep: Array, order: Array, width: int) -> Array:
    """The rows of x, (m, k, ...), that are kept, in order, first; NaN behind them."""
    rank = np.argsort(np.where(keep, order, np.inf), axis=1, kind="stable")[:, :width]
    tail = (1,) * (x.ndim - 2)
    taken = np.take_along_axis(x, rank.reshape(*rank.shape, *tail), axis=1)
    kept = np.take_along_axis(keep, rank, axis=1)
    return np.where(kept.reshape(*kept.shape, *tail), taken, np.nan)
