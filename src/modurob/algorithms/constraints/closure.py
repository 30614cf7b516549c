"""Closing loops: configurations and velocities that keep the constraints, and how many degrees of freedom these take."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, NoReturn

import numpy as np

from modurob.algorithms.checks import first_state
from modurob.algorithms.composite import mass_matrix
from modurob.algorithms.configuration import integrate, neutral, random_configuration
from modurob.algorithms.constraints.rows import CLOSURE, CONSTRAINED
from modurob.algorithms.constraints.solver import Solution, constrained_solution, row_scale, sizes
from modurob.algorithms.constraints.units import units_of
from modurob.algorithms.forward import require_regular
from modurob.algorithms.interpreter import interpret
from modurob.algorithms.kinematics import together
from modurob.algorithms.program import Run
from modurob.algorithms.steps import apply, transposed
from modurob.errors import ClosureError, SingularError
from modurob.mechanism.tables import Tables
from modurob.spatial.scalars import Array, as_array

# constraints this much smaller than the largest depend on the others
RANK_TOLERANCE = 1e-9
# errors that count as closed, lengths in units of `Units`, in parts of the longest lever arm, at least of one; and the number of
# Newton steps towards it
CLOSED, STEPS = 1e-13, 50
# a step of more than this is cut down, in these units; along lengths only if it is longer than the loops are open
LONGEST = 0.5
# how many starts closed configurations are sought from, near the neutral one and anywhere
NEAR, FAR = 3, 12


def loop_error(m: Tables, q: Array, run: Run = interpret) -> Array:
    """How far each constraint is from holding, along its rows, (..., rows) [m and rad]."""
    return run(CLOSURE, m, {"q": as_array(q)}).results["error"]


def loop_jacobian(m: Tables, q: Array, run: Run = interpret) -> Array:
    """K, (..., rows, nv), with K v = 0 where the constraints hold: T^T (J_successor - J_predecessor) for a loop."""
    return run(CLOSURE, m, {"q": as_array(q)}).results["K"]


def loop_bias(m: Tables, q: Array, v: Array, run: Run = interpret) -> Array:
    """k, (..., rows), with K vdot = k where the constraints hold (Lieskovsky (1.2.27), corrected)."""
    q, v = together(q, v)
    return run(CONSTRAINED, m, {"q": q, "v": v, "vdot": np.zeros(v.shape)}).results["k"]


def closing_step(K: Array, error: Array) -> Array:
    """The shortest dq, (..., nv), that closes the constraints to first order: K dq = -error."""
    n = K.shape[-1]
    one = np.broadcast_to(np.eye(n), (*K.shape[:-2], n, n))
    return constrained_solution(one, K, np.zeros((*K.shape[:-2], n)), -error).vdot


def close_loops(m: Tables, q: Array, run: Run = interpret) -> Array:
    """The configurations next to q at which the constraints hold, (..., nq): Newton steps, each the shortest to first order, with
    lengths in units of the mechanism's size."""
    q, error, nothing = _closed(m, as_array(q), run)
    if np.any(_is_open(error, nothing)):
        _refuse_open(m, error, nothing, run)
    return q


def _closed(m: Tables, q: Array, run: Run) -> tuple[Array, Array, Array]:
    """The last configurations of Newton's method, their errors in `Units`, and below what these are none, (...)."""
    for _ in range(STEPS):
        K, error, nothing = _gaps(m, q, run)
        worst = _worst(error)
        if np.all(worst <= nothing):
            return q, error, nothing
        step = closing_step(K, error)
        dq = units_of(m).rates * step * _part(m, step, worst)
        q = integrate(m, q, np.where((worst > nothing)[..., None], dq, 0.0), run)
    _, error, nothing = _gaps(m, q, run)
    return q, error, 1e3 * nothing


def _gaps(m: Tables, q: Array, run: Run) -> tuple[Array, Array, Array]:
    """K and the errors in `Units`, and below what these are none, (...)."""
    found, (rates, rows, _) = run(CLOSURE, m, {"q": q}).results, units_of(m)
    K = found["K"] * (rates / rows[:, None])
    return K, found["error"] / rows, CLOSED * np.abs(K).max(axis=(-2, -1), initial=1.0)


def _part(m: Tables, step: Array, worst: Array) -> Array:
    """The part of a step that is taken, (..., 1): what turns at most by `LONGEST`, what slides also as far as loops are open."""
    longest = np.where(units_of(m).turns, LONGEST, np.maximum(LONGEST, worst)[..., None])
    return 1 / np.maximum(np.abs(step) / longest, 1.0).max(axis=-1, initial=1.0)[..., None]


def _refuse_open(m: Tables, error: Array, nothing: Array, run: Run) -> NoReturn:
    at, where = first_state(_is_open(error, nothing))
    gaps = np.abs(error[at])
    rows = np.split(~(gaps <= nothing[at]), np.cumsum([c.rows for c in m.constraints])[:-1])
    names = ", ".join(c.name for c, x in zip(m.constraints, rows, strict=True) if x.any())
    worst = (gaps * units_of(m).rows).max()
    raise ClosureError(f"loops {names} stay open by {worst:.3g} (m or rad){where} after {STEPS} steps{_advice(m, run)}")


def _advice(m: Tables, run: Run) -> str:
    if next(closed_configurations(m, run), None) is not None:
        return ": start closer to a closed configuration"
    return f", and do not close from {NEAR + FAR} other starts: check frames, axes and ratios, or start closer"


def _is_open(error: Array, nothing: Array) -> Array:
    return ~(_worst(error) <= nothing)


def _worst(error: Array) -> Array:
    return np.abs(error).max(axis=-1, initial=0.0)


def close_velocity(m: Tables, q: Array, v: Array, run: Run = interpret) -> Array:
    """The velocity nearest to v, in the metric of kinetic energy, that satisfies the constraints, (..., nv): the result
    of an impulse at the loops.
    """
    found = velocity_solution(m, q, v, run)
    require_regular(m, -found.singular.astype(int), "an impulse at the loops")
    return found.vdot


def velocity_solution(m: Tables, q: Array, v: Array, run: Run = interpret) -> Solution:
    """`close_velocity`, and where a degree of freedom moves no inertia, so that there is none."""
    q, v = together(q, v)
    M, K = mass_matrix(m, q, run), loop_jacobian(m, q, run)
    return constrained_solution(M, K, apply(M, v), np.zeros(K.shape[:-1]), units_of(m).rates)


# ---- how many degrees of freedom constraints take ----


def independent_rows(K: Array, most: int) -> Array:
    """Indices of a largest set of independent rows of one matrix, at most the given number, in order."""
    if not K.size:
        return np.zeros(0, dtype=int)
    import scipy.linalg  # which takes long to load

    own = np.square(np.real(K)).sum(axis=-1)
    R, order = scipy.linalg.qr((np.real(K) * row_scale(own, sizes(own))[:, None]).T, mode="r", pivoting=True)  # pyright: ignore
    size = np.abs(np.diag(R))
    return np.sort(order[: min(most, int((size > RANK_TOLERANCE**0.5 * max(size[0], 1e-300)).sum()))])


def loop_rank(m: Tables) -> int:
    """How many degrees of freedom the constraints take away where they hold: the rank of K at regular configurations, at most nv.

    Linkages that move only by their special shape (planar ones, Bennett's) have dependent constraints when closed and
    independent ones when open by rounding; so the rank is looked up at closed configurations. Where none is found, all rows count.
    """
    rank = _regular_rank(m)
    return min(sum(c.rows for c in m.constraints), m.nv) if rank is None else rank


@lru_cache(maxsize=256)
def _regular_rank(m: Tables) -> int | None:
    """`loop_rank` at three closed configurations at most; None if none is found."""
    K = [loop_jacobian(m, q) for q in islice(closed_configurations(m), 3)] if m.constraints else []
    return max((len(independent_rows(x, min(x.shape))) for x in K), default=None)


def closed_configurations(m: Tables, run: Run = interpret) -> Iterator[Array]:
    """A few closed configurations, (nq,) each: near the neutral one, else anywhere; always the same."""
    rng = np.random.default_rng(0)
    near = (integrate(m, neutral(m), rng.normal(size=m.nv) * 0.1) for _ in range(NEAR))
    far = (random_configuration(m, rng) for _ in range(FAR))
    for start in (*near, *far):
        q, error, nothing = _closed(m, start, run)
        if not _is_open(error, nothing):
            yield q


class Independent(NamedTuple):
    """The equations of motion in independent rates y (Lieskovsky (1.2.32)-(1.2.36)).

    v = G y and vdot = G ydot + g; inertia ydot + bias = G^T tau. Batches choose the independent rates of their first state.
    """

    rates: Array  # which entries of v are the independent rates, (n,)
    G: Array  # (..., nv, n)
    g: Array  # (..., nv)
    inertia: Array  # G^T M G, (..., n, n)
    bias: Array  # G^T (M g + C v + N), (..., n)


def independent_coordinates(m: Tables, q: Array, v: Array, run: Run = interpret) -> Independent:
    """Eliminate the constraints: K G = 0, K g = k."""
    q, v = together(q, v)
    found = run(CONSTRAINED, m, {"q": q, "v": v, "vdot": np.zeros(v.shape)}).results
    K, k, M = found["K"], found["k"], found["M"] + np.diag(m.armature)
    first = (0,) * (q.ndim - 1)
    whole = _regular_rank(m)
    kept = independent_rows(K[first], m.nv if whole is None else whole)
    K, k = K[..., kept, :], k[..., kept]
    dependent = independent_rows(K[first].T, len(kept))
    _require_rank(m, K[..., dependent], len(kept) if whole is None else whole)
    rates = np.setdiff1d(np.arange(m.nv), dependent)
    G, g = np.zeros((*v.shape, len(rates))), np.zeros(v.shape)
    G[..., rates, :] = np.eye(len(rates))
    if len(dependent):
        G[..., dependent, :] = -np.linalg.solve(K[..., dependent], K[..., rates])
        g[..., dependent] = np.linalg.solve(K[..., dependent], k[..., None])[..., 0]
    bias = found["bias"] + apply(M, g)
    return Independent(rates, G, g, transposed(G) @ M @ G, apply(transposed(G), bias))


def _require_rank(m: Tables, K: Array, whole: int) -> None:
    """An error unless these columns of the constraints, (..., n, n), can be solved for in every state, and are so many."""
    sizes = np.linalg.svd(np.real(K), compute_uv=False)
    largest = np.maximum(sizes.max(axis=-1, initial=0.0), 1e-300)[..., None]
    rank = (sizes > RANK_TOLERANCE**0.5 * largest).sum(axis=-1)
    if np.all(rank == whole):
        return
    at, where = first_state(rank < whole)
    names = ", ".join(c.name for c in m.constraints)
    raise SingularError(
        f"{m.name}:{where or ' in this state'} the constraints ({names}) are singular, of rank {np.asarray(rank)[at]} instead of "
        f"{whole}, so no rates are independent: move away from it{', or ask for this state by itself' if at else ''}"
    )
