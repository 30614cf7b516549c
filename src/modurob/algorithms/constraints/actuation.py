"""What the inputs of a robot can do: the manipulator matrix B of M ydot' + c = B u, and what follows from it (Lieskovsky 1.2).

Inputs are the joints with a drive, and the lines under a given tension. With constraints the equations are those of the motions
that keep them: v = G y, K G = 0.
"""

from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import numpy as np

from modurob.algorithms.configuration import difference, integrate
from modurob.algorithms.constraints.closure import close_loops, closed_configurations, loop_error, loop_jacobian
from modurob.algorithms.constraints.torques import OPEN, RANK, STILL, free_motions
from modurob.algorithms.interpreter import interpret
from modurob.algorithms.lines import line_jacobian
from modurob.algorithms.program import Run
from modurob.algorithms.steps import transposed
from modurob.catalogue.lines import Tension
from modurob.errors import ClosureError, InputError
from modurob.mechanism.tables import Tables
from modurob.spatial.scalars import Array, read_only
from modurob.values import compared

# a positive answer of a linear programme, of tensions that add up to one
POSITIVE = 1e-9
# how far motions are tried, and the part of it that must be left when loops are closed again [rad or m]
TRIED, LEFT = 1e-3, 0.3


class Inputs(NamedTuple):
    """The inputs of a robot: torques are B u, (nv, n), with u from `lower` to `upper`, (n,) [N m or N]."""

    names: tuple[str, ...]
    B: Array  # (..., nv, n)
    lower: Array
    upper: Array


@compared
class Actuation(NamedTuple):
    """How a robot is actuated in one configuration.

    `verdict` compares the rank of B, (degrees of freedom, inputs), with both: "under-actuated" (as many inputs as its
    rank, fewer than degrees of freedom), "properly actuated" (all three equal), "redundantly actuated" (more inputs),
    "deficiently actuated" (B has lost rank). `closure`: whether inputs that can only pull can produce any force;
    without such inputs, whether the rank is full.
    """

    verdict: str
    B: Array  # G^T times that of the tree, (degrees of freedom, inputs)
    G: Array  # motions that keep the constraints, orthonormal, (nv, degrees of freedom)
    rank: int
    inputs: tuple[str, ...]
    lower: Array
    upper: Array
    closure: bool

    def feasible(self, force: Array) -> Array | None:
        """Inputs within their bounds that give G^T tau = force, (degrees of freedom,), or None if there are none."""
        force = np.asarray(force, dtype=float)
        if force.shape != (len(self.B),):
            raise InputError(f"force of shape {force.shape}: expected ({len(self.B)},), one for each degree of freedom")
        size = max(float(np.abs(force).max(initial=0.0)), 1e-300)
        found = _programme(np.zeros(len(self.inputs)), self.B, force / size, self.lower / size, self.upper / size)
        return None if found is None else size * found


class Mobility(NamedTuple):
    """Degrees of freedom at a closed configuration: to first order, and those that last; redundant rows of K, and the
    loops that have some, in the order in which they were given."""

    instantaneous: int
    finite: int
    redundant: int
    dependent: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """Regular, over-constrained (rows depend on each other, and it moves as it seems), or singular (some of the motions to
        first order do not last, or not together), and whether it is a structure (nothing lasts) or a mechanism."""
        kind = (
            "a structure"
            if not self.finite
            else f"a mechanism of {self.finite} degree{'s' * (self.finite > 1)} of freedom"
        )
        if self.instantaneous > self.finite:
            return f"singular: {kind} with {self.instantaneous} motions to first order"
        if self.redundant:
            return f"over-constrained: {kind}, {self.redundant} rows of {', '.join(self.dependent)} say nothing new"
        return f"regular: {kind}"


def inputs_of(m: Tables, q: Array, run: Run = interpret) -> Inputs:
    """The inputs of a robot, and B of the tree."""
    driven = np.flatnonzero(m.effort_limit > 0)
    names = [name for j in m.joints if not j.mimics for name in j.rate_names()]
    pulled = [k for k, row in enumerate(m.lines) if row.force.law.driven]
    laws: list[Tension] = [m.lines[k].force.law for k in pulled]  # type: ignore[misc]
    arms = -transposed(line_jacobian(m, q, run)[..., pulled, :]) if pulled else np.zeros((*q.shape[:-1], m.nv, 0))
    torques = np.broadcast_to(np.eye(m.nv)[:, driven], (*q.shape[:-1], m.nv, len(driven)))
    limit = m.effort_limit[driven]
    return Inputs(
        (*(names[i] for i in driven), *(m.lines[k].name for k in pulled)),
        np.concatenate([torques, arms], axis=-1),
        np.array([*-limit, *(law.lower for law in laws)]),
        np.array([*limit, *(law.upper for law in laws)]),
    )


def actuation(m: Tables, q: Array, run: Run = interpret) -> Actuation:
    """The verdict at one configuration, (nq,)."""
    given = inputs_of(m, q, run)
    G = free_motions(loop_jacobian(m, q, run)) if m.constraints else np.eye(m.nv)
    B = G.T @ given.B
    rank = matrix_rank(B, STILL * float(np.abs(given.B).max(initial=0.0)))
    return Actuation(
        _verdict(rank, *B.shape), B, G, rank, given.names, given.lower, given.upper, _closes(B, rank, given.lower >= 0)
    )


def matrix_rank(B: Array, least: float = 0.0) -> int:
    """The number of singular values that count, none of them below `least`."""
    s = np.linalg.svd(np.real(B), compute_uv=False)
    return int((s > max(RANK * s.max(initial=0.0), least, 1e-300)).sum())


def _verdict(rank: int, degrees: int, inputs: int) -> str:
    if rank < min(degrees, inputs):
        return "deficiently actuated"
    if inputs < degrees:
        return "under-actuated"
    return "properly actuated" if inputs == degrees else "redundantly actuated"


def _closes(B: Array, rank: int, pulls: Array) -> bool:
    """Full rank, and a null vector that is positive where inputs only pull (wrench closure)."""
    if rank < len(B) or not len(B):
        return rank == len(B)
    if not pulls.any():
        return True
    # the largest t with B u = 0, u >= t where inputs pull, and these adding up to one
    n = B.shape[1]
    size = np.abs(B).max()
    rows = np.vstack([np.hstack([B / size, np.zeros((len(B), 1))]), np.append(pulls.astype(float), 0.0)])
    above = np.hstack([-np.eye(n)[pulls], np.ones((int(pulls.sum()), 1))])
    wanted = np.append(np.zeros(len(B)), 1.0)
    free = np.full(n + 1, -np.inf)
    found = _programme(np.append(np.zeros(n), -1.0), rows, wanted, free, -free, above)
    return found is not None and bool(found[-1] > POSITIVE)


def _programme(cost: Array, A: Array, b: Array, lower: Array, upper: Array, above: Array | None = None) -> Array | None:
    """The x of least cost with A x = b, `above` x <= 0 and bounds; None if there is none."""
    from scipy.optimize import linprog  # which takes long to load

    bounds = list(zip(lower, upper, strict=True))
    rest = {} if above is None else {"A_ub": above, "b_ub": np.zeros(len(above))}
    found = linprog(cost, A_eq=A, b_eq=b, bounds=bounds, method="highs", **rest)
    return found.x if found.status == 0 else None


def mobility(m: Tables, q: Array, run: Run = interpret) -> Mobility:
    """Degrees of freedom at one closed configuration, (nq,).

    To first order they are the null vectors of K. Finite motions are found by small displacements along these vectors, after which
    the loops are closed again: a direction that returns to its start is not a finite motion.
    """
    gap = float(np.abs(loop_error(m, q, run)).max(initial=0.0))
    if gap > OPEN:
        raise InputError(
            f"{m.name} at q: its loops are {gap:.3g} m or rad apart, and mobility is that of a closed one: robot.close_loops(q) "
            "closes them"
        )
    K = loop_jacobian(m, q, run)
    rank = matrix_rank(K)
    return Mobility(m.nv - rank, _finite(m, q, free_motions(K), run), len(K) - rank, _dependent(m, K))


@lru_cache(maxsize=256)
def moving_together(m: Tables) -> Array:
    """Which rates constraints let move, and which others with them, in any of a few closed configurations: G G^T is not zero,
    (nv, nv)."""
    if not m.constraints:
        return read_only(np.eye(m.nv, dtype=bool))
    free = [free_motions(loop_jacobian(m, q)) for q in islice(closed_configurations(m), 3)]
    shares = [np.abs(G @ transposed(G)) for G in free] or [np.ones((m.nv, m.nv))]
    return read_only(np.max(shares, axis=0) > RANK)


def _dependent(m: Tables, K: Array) -> tuple[str, ...]:
    """The constraints with rows that those before them imply."""
    ends = np.cumsum([c.rows for c in m.constraints])
    ranks = [0, *(matrix_rank(K[:end]) for end in ends)]
    return tuple(c.name for c, a, b in zip(m.constraints, ranks, ranks[1:], strict=False) if b - a < c.rows)


def _finite(m: Tables, q: Array, G: Array, run: Run) -> int:
    """How many of the motions G, (nv, n), last together: the largest number on a branch that one of a few directions leads to.

    Directions are mixtures of all motions, so that nothing that can move stays where branches meet.
    """
    n, found = G.shape[1], 0
    mixed = np.random.default_rng(0).normal(size=(3 * n, n))
    for direction in mixed / np.linalg.norm(mixed, axis=1, keepdims=True):
        there, went = _displaced(m, q, G @ direction, run)
        left = free_motions(loop_jacobian(m, there, run))
        if np.linalg.norm(went) > LEFT and left.shape[1] > found:
            found = max(found, _lasting(m, there, left, run))
        if found == n:
            break
    return found


def _lasting(m: Tables, q: Array, G: Array, run: Run) -> int:
    """How many of the motions G, (nv, n), last at a configuration where no branches meet."""
    went = np.stack([_displaced(m, q, direction, run)[1] for direction in G.T])
    return int((np.linalg.svd(went, compute_uv=False) > LEFT).sum())


def _displaced(m: Tables, q: Array, direction: Array, run: Run) -> tuple[Array, Array]:
    """The closed configuration after a small displacement, and the part of the displacement that is left there, (nv,)."""
    try:
        there = close_loops(m, integrate(m, q, TRIED * direction, run), run)
    except ClosureError:
        return q, np.zeros(m.nv)
    return there, difference(m, q, there) / TRIED
