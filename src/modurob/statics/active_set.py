"""Small strictly convex quadratic programmes, by the dual method of Goldfarb and Idnani, "A numerically stable dual method for
solving strictly convex quadratic programs" (1983).

It starts at the best x without bounds, which is mostly near, and takes in one bound that is passed after the other; where it ends,
all conditions of an optimum hold. A programme of a few unknowns takes some tens of microseconds a bound.
"""

import numpy as np

from modurob.spatial.scalars import Array

# rows that are met to this, for numbers of order one; directions that are nothing beside their rows; and rounds for each row
MET, NOTHING, ROUNDS = 1e-10, 1e-10, 5


def active_bounds(P: Array, c: Array, G: Array, h: Array) -> Array | None:
    """The x of least x^T P x / 2 + c^T x with G x >= h, (n,); None if there is none, or P is not positive definite."""
    try:
        L = np.linalg.cholesky(P)
    except np.linalg.LinAlgError:
        return None
    # y = L^T x, rows of length one: the cost is |y - y0|² / 2
    G = np.linalg.solve(L, G.T).T
    length = np.maximum(np.sqrt((G * G).sum(axis=1)), 1e-300)
    G, h = G / length[:, None], h / length
    y = _nearest(G, h, -np.linalg.solve(L, c))
    return None if y is None else np.linalg.solve(L.T, y)


def _nearest(G: Array, h: Array, y: Array) -> Array | None:
    """The point next to y with G y >= h, rows of length one."""
    on: list[int] = []
    push, first = np.zeros(0), y
    for _ in range(ROUNDS * (len(h) + 1)):
        lacking = h - G @ y
        new = int(np.argmax(lacking)) if len(h) else -1
        if new < 0 or lacking[new] <= MET * (1 + np.abs(y).max()):
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
    """y moved onto the row `new`, rows that would have to pull let go on the way; None if no y is on all of them."""
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
