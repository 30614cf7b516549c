"""How large a closed form will be, found out before it is derived."""

from dataclasses import replace

import numpy as np

from modurob import algorithms as al
from modurob.catalogue.joints import Mimic
from modurob.errors import TooLargeError
from modurob.mechanism import Joint, Tables
from modurob.spatial.scalars import Array
from modurob.symbolic.coordinates import Coordinates
from modurob.symbolic.ring import FIELD, Polynomial

# terms of the mass matrix; the Coriolis matrix may have so many times as many
LARGEST = 200_000
CORIOLIS = 12
# robots with no more degrees of freedom are never too large
SMALL = 6
# terms of a chain that tells enough about longer ones: a tenth of a second's work
ENOUGH = 5_000
ADVICE = (
    "use the numeric model (robot.mass_matrix and so on), give fewer symbols, lock joints, or allow more: largest=..."
)


def require(m: Tables, coordinates: Coordinates, largest: int) -> None:
    """An error if the mass matrix would have more terms than that, with the estimate and what to do instead."""
    terms = estimate(m, coordinates) if m.nv > SMALL else 0
    if terms > largest:
        raise TooLargeError(
            f"{m.name} with {m.nv} degrees of freedom: the mass matrix alone would have about {terms:.0e} terms, "
            f"more than {largest}; {ADVICE}"
        )


def require_coriolis(m: Tables, M: Array, coordinates: Coordinates, largest: int) -> None:
    """The same for the Coriolis matrix, once the mass matrix is known."""
    terms = coriolis_terms(M, coordinates)
    if terms > CORIOLIS * largest:
        raise TooLargeError(
            f"{m.name} with {m.nv} degrees of freedom: the Coriolis matrix would have about {terms:.0e} terms, "
            f"more than {CORIOLIS} times {largest}; {ADVICE}"
        )


def coriolis_terms(M: Array, coordinates: Coordinates) -> int:
    """The longest of the three derivatives of a Christoffel symbol counts: terms of M that depend on a coordinate."""
    n = len(M)
    moving = np.zeros((n, n, n), dtype=int)
    masks = [_moving_fields(coordinates, k) for k in range(n)]
    for i in range(n):
        for j in range(i, n):
            coordinates.ring.budget.look()
            moving[i, j] = moving[j, i] = [sum(1 for m in M[i, j].terms if m & mask) for mask in masks]
    slopes = np.maximum(np.maximum(moving, moving.transpose(0, 2, 1)), moving.transpose(2, 0, 1))
    return int(slopes.sum())


def _moving_fields(coordinates: Coordinates, k: int) -> int:
    """The fields of the generators that move with coordinate k."""
    ring = coordinates.ring
    return sum(((1 << FIELD) - 1) * ring.field(name) for name in coordinates.rates(k))


def estimate(m: Tables, coordinates: Coordinates) -> float:
    """Terms of the mass matrix: counted for the first joints of the longest path, and extended to its length and to all tips.

    The count T of k joints in R runs of parallel axes follows T = a k^p r^R: a power in one plane, an exponential across.
    """
    path = max(m.ancestors, key=len)[::-1]
    tips = len(m.parent) - len(set(m.parent) - {-1, 0}) - 1
    counts: dict[int, int] = {}
    for k in range(1, len(path) + 1):
        counts[k] = max(1, _terms(al.mass_matrix(*_chain(m, path[:k], coordinates.q))))
        if counts[k] > ENOUGH and k > 3:
            break
    return max(1, tips) * _extended(counts, _runs(m, path, coordinates))


def _runs(m: Tables, path: tuple[int, ...], coordinates: Coordinates) -> Array:
    """How many runs of parallel axes the first k joints of the path make, for k = 1, 2, ..."""
    places = [m.joints[i - 1].q_slice for i in path]
    begun = [sum(len(coordinates.sums.get(c, ())) == 1 for c in range(s.start, s.stop)) for s in places]
    return np.cumsum(begun)


def _terms(M: Array) -> int:
    return sum(len(p.terms) for p in M.ravel() if isinstance(p, Polynomial))


def _chain(m: Tables, bodies: tuple[int, ...], q: Array) -> tuple[Tables, Array]:
    """The chain of these bodies alone, without frames, forces and constraints, and its coordinates out of q.

    A joint that mimics one outside the chain counts as a joint of its own.
    """
    joints, coordinates = _renumbered([m.joints[i - 1] for i in bodies])
    chain = replace(
        m,
        bodies=("world", *(m.bodies[i] for i in bodies)),
        parent=(-1, *range(len(bodies))),
        joints=joints,
        X_PJ=np.concatenate([m.X_PJ[:1], m.X_PJ[list(bodies)]]),
        inertia=np.concatenate([m.inertia[:1], m.inertia[list(bodies)]]),
        frames={},
        constraints=(),
        forces=(),
        shapes=(),
        collisions=(),
    )
    return chain, q[coordinates]


def _renumbered(joints: list[Joint]) -> tuple[tuple[Joint, ...], list[int]]:
    """The joints with consecutive coordinates and rates, and the indices that their coordinates had."""
    sources = {j.q_slice.start for j in joints if not j.mimics and j.type.nq}
    places: dict[int, tuple[slice, slice]] = {}
    coordinates: list[int] = []
    rates = 0
    found: list[Joint] = []
    for j in joints:
        if j.mimics and j.q_slice.start in sources:
            found.append(j)
            continue
        own = slice(len(coordinates), len(coordinates) + j.type.nq), slice(rates, rates + j.type.nv)
        kind = j.type.follower if isinstance(j.type, Mimic) else j.type
        found.append(replace(j, type=kind, q_slice=own[0], v_slice=own[1]))
        places[j.q_slice.start] = own
        coordinates += range(j.q_slice.start, j.q_slice.stop)
        rates += j.type.nv
    for k, j in enumerate(found):
        if j.mimics:
            q_slice, v_slice = places[j.q_slice.start]
            found[k] = replace(j, q_slice=q_slice, v_slice=v_slice)
    return tuple(found), coordinates


def _extended(counts: dict[int, int], runs: Array) -> float:
    """The count for the whole path, by the fit of ln T = a + p ln k + R ln r to the counts known."""
    n = len(runs)
    if n in counts:
        return counts[n]
    k = np.array(sorted(counts))[-6:]
    rows = np.stack([np.ones(len(k)), np.log(k), runs[k - 1]], axis=-1)
    fit = np.linalg.lstsq(rows, np.log([counts[int(x)] for x in k]), rcond=None)[0]
    return float(np.exp(min(fit @ [1, np.log(n), runs[-1]], 600)))
