"""Small strictly convex quadratic programmes, by the dual method of Goldfarb and Idnani, "A numerically stable dual method for
solving strictly convex quadratic programs" (1983).

It starts at the best x without bounds, which is mostly near, and takes in one bound that is passed after the other; where it ends,
all conditions of an optimum hold. A programme of a few unknowns takes some tens of microseconds a bound.
"""

import numpy as np

from modurob.spatial.scalars import Array
from modurob.spatial.small import factor, solve_factor, solve_positive

# rows that are met to this, for numbers of order one; directions that are nothing beside their rows; rounds for each row; and
# rounds in which all bounds that are passed are taken in at once
MET, NOTHING, ROUNDS, AT_ONCE = 1e-10, 1e-10, 5, 6


def active_bounds(P: Array, c: Array, G: Array, h: Array) -> Array | None:
    """The x of least x^T P x / 2 + c^T x with G x >= h, (n,); None if there is none, or P is not positive definite."""
    L = factor(P)
    if L is None:
        return None
    # y = L^T x, rows of length one: the cost is |y - y0|² / 2
    y = -solve_factor(L, c)
    if len(h):
        G = solve_factor(L, G.T).T
        length = np.maximum(np.sqrt((G * G).sum(axis=1)), 1e-300)
        G, h = G / length[:, None], h / length
        found = _all_at_once(G, h, y)
        y = _nearest(G, h, y) if found is None else found
    return None if y is None else solve_factor(L, y, transposed=True)


def _all_at_once(G: Array, h: Array, first: Array) -> Array | None:
    """The point nearest to `first` with G y >= h, from a guess of its active rows: rows with negative multipliers are
    released and violated rows added, until all conditions hold; None if that does not terminate.
    """
    y, on, push = first, np.zeros(0, dtype=int), np.zeros(0)
    for _ in range(AT_ONCE):
        lacking = h - G @ y
        passed = lacking > MET * (1 + abs(y).max())
        pulls = push < 0
        if not (passed.any() or pulls.any()):
            return y
        passed[on] = ~pulls
        lacking[on] = np.inf
        # of more rows than there are unknowns those that lack most
        on = np.argsort(np.where(passed, -lacking, np.inf))[: min(passed.sum(), len(y))]
        push = solve_positive(G[on] @ G[on].T, h[on] - G[on] @ first) if len(on) else None
        if push is None:
            return None
        y = first + G[on].T @ push
    return None


def _nearest(G: Array, h: Array, y: Array) -> Array | None:
    """The point next to y with G y >= h, rows of length one."""
    on: list[int] = []
    push, first = np.zeros(0), y
    for _ in range(ROUNDS * (len(h) + 1)):
        lacking = h - G @ y
        new = int(np.argmax(lacking))
        if lacking[new] <= MET * (1 + np.abs(y).max()):
            return _onto(G[on], h[on], first) if on else y
        taken = _taken_in(G, h, y, on, push, new)
        if taken is None:
            return None
        y, on, push = taken
    return None


def _onto(N: Array, h: Array, y: Array) -> Array:
    """The point next to y with N y = h: what the steps towards it have rounded is gone."""
    return y + N.T @ np.linalg.solve(N @ N.T, h - N @ y)


def _taken_in(
    G: Array, h: Array, y: Array, on: list[int], push: Array, new: int
) -> tuple[Array, list[int], Array] | None:
    """y moved onto the row `new`, releasing rows with negative multipliers on the way; None if no y is on all of them."""
    own = 0.0
    while True:
        N = G[on].T
        r = np.linalg.solve(N.T @ N, N.T @ G[new]) if on else np.zeros(0)
        z = G[new] - N @ r if on else G[new]
        reach = z @ z
        full = (h[new] - G[new] @ y) / reach if reach > NOTHING else np.inf
        pulled = [(push[k] / r[k], k) for k in range(len(on)) if r[k] > NOTHING]
        least, k = min(pulled, default=(np.inf, -1))
        t = min(full, least)
        if t == np.inf:
            return None
        push, own = push - t * r, own + t
        if reach > NOTHING:
            y = y + t * z
        if full <= least:
            return y, [*on, new], np.append(push, own)
        on, push = on[:k] + on[k + 1 :], np.delete(push, k)
