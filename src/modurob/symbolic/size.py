"""How large a closed form will be, found out before it is derived."""

import time
from dataclasses import replace

import numpy as np

from modurob import algorithms as al
from modurob.errors import TooLargeError
from modurob.mechanism import Tables
from modurob.spatial.scalars import Array
from modurob.symbolic.coordinates import Coordinates
from modurob.symbolic.ring import Polynomial

# terms of the mass matrix; the Coriolis matrix has some ten times as many
LARGEST = 200_000
# robots with no more freedoms are never too large
SMALL = 6
# seconds to look before leaping
LOOK = 0.5


def require(m: Tables, coordinates: Coordinates, largest: int) -> None:
    """An error if the mass matrix would have more terms than that, with the estimate and what to do instead."""
    terms = estimate(m, coordinates) if m.nv > SMALL else 0
    if terms > largest:
        raise TooLargeError(
            f"{m.name} with {m.nv} freedoms: the mass matrix alone would have about {terms:.0e} terms, more than {largest}; "
            f"use the numeric model (robot.mass_matrix and so on), give fewer symbols, lock joints, or allow more: largest=..."
        )


def estimate(m: Tables, coordinates: Coordinates) -> float:
    """Terms of the mass matrix: counted for the first joints of the longest path, and extended to its length and to all tips.

    The count T of k joints follows T = a k^p r^k: a power for joints in one plane, an exponential for joints across.
    """
    path = max(m.ancestors, key=len)[::-1]
    tips = len(m.parent) - len(set(m.parent) - {-1, 0}) - 1
    counts: dict[int, int] = {}
    started = time.thread_time()
    for k in range(1, len(path) + 1):
        counts[k] = max(1, _terms(al.mass_matrix(_chain(m, path[:k]), coordinates.q)))
        if time.thread_time() - started > LOOK:
            break
    return max(1, tips) * _extended(counts, len(path))


def _terms(M: Array) -> int:
    return sum(len(p.terms) for p in M.ravel() if isinstance(p, Polynomial))


def _chain(m: Tables, bodies: tuple[int, ...]) -> Tables:
    """The chain of these bodies alone."""
    return replace(
        m,
        bodies=("world", *(m.bodies[i] for i in bodies)),
        parent=(-1, *range(len(bodies))),
        joints=tuple(m.joints[i - 1] for i in bodies),
        X_PJ=np.concatenate([m.X_PJ[:1], m.X_PJ[list(bodies)]]),
        inertia=np.concatenate([m.inertia[:1], m.inertia[list(bodies)]]),
    )


def _extended(counts: dict[int, int], n: int) -> float:
    """The count at n joints, by the fit of ln T = a + p ln k + k ln r to the counts known."""
    if n in counts:
        return counts[n]
    k = np.array(sorted(counts), dtype=float)[-6:]
    rows = np.stack([np.ones_like(k), np.log(k), k], axis=-1)
    fit = np.linalg.lstsq(rows, np.log([counts[int(x)] for x in k]), rcond=None)[0]
    return float(np.exp(min(fit @ [1, np.log(n), n], 600)))
