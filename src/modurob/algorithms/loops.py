"""Closed loops: the constraints of the loop joints on the coordinates of the tree (002 chapter 1, 001 5.7)."""

from collections.abc import Iterator
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import scipy.linalg

from modurob.algorithms.composite import mass_matrix
from modurob.algorithms.configuration import integrate, neutral, random_configuration
from modurob.algorithms.inverse import External, inverse_dynamics
from modurob.algorithms.jacobians import body_jacobian_rates, body_jacobians
from modurob.algorithms.kinematics import body_poses, dyads, together
from modurob.algorithms.steps import Dyad, apply, transposed
from modurob.errors import ClosureError, SingularError
from modurob.mechanism.tables import Frame, Loop, Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array, as_array, solve

# constraints this much smaller than the largest depend on the others
RANK_TOLERANCE = 1e-9


class _Closing(NamedTuple):
    """A loop joint at a configuration of the tree."""

    q: Array  # its own coordinates
    X_PS: Array  # successor frame in predecessor frame, as the tree has them
    J: Array  # twist of successor against predecessor, in successor axes, (..., 6, nv)


def _on_frame(at: Frame, J: Array) -> Array:
    return se3.Ad_inverse(at.X) @ J


def _closing(loop: Loop, X_WB: list[Array], J: list[Array]) -> _Closing:
    P, S = loop.predecessor, loop.successor
    X_PS = se3.inverse(X_WB[P.body] @ P.X) @ (X_WB[S.body] @ S.X)
    relative = _on_frame(S, J[S.body]) - se3.Ad_inverse(X_PS) @ _on_frame(P, J[P.body])
    return _Closing(loop.type.coordinates(X_PS), X_PS, relative)


def _stacked(blocks: list[Array], empty: tuple[int, ...], axis: int) -> Array:
    return np.concatenate(blocks, axis=axis) if blocks else np.zeros(empty)


def _closings(m: Tables, links: list[Dyad]) -> list[_Closing]:
    X_WB, J = body_poses(m, links), body_jacobians(m, links)
    return [_closing(loop, X_WB, J) for loop in m.loops]


def loop_error(m: Tables, q: Array) -> Array:
    """How far each loop is from closed, along its constraints, (..., constraints) [m and rad]."""
    q = as_array(q)
    errors = []
    for loop, at in zip(m.loops, _closings(m, dyads(m, q)), strict=True):
        gap = se3.log(se3.inverse(loop.type.pose(at.q)) @ at.X_PS)
        errors.append(apply(transposed(loop.type.constraint_subspace(at.q)), gap))
    return _stacked(errors, (*q.shape[:-1], 0), axis=-1)


def loop_jacobian(m: Tables, q: Array) -> Array:
    """K, (..., constraints, nv), with K v = 0 where the loops stay closed: T^T (J_successor - J_predecessor)."""
    q = as_array(q)
    return _jacobian(m, _closings(m, dyads(m, q)), q)


def loop_bias(m: Tables, q: Array, v: Array) -> Array:
    """k, (..., constraints), with K vdot = k where the loops stay closed (002 (1.2.27), mended)."""
    q, v = together(q, v)
    links = dyads(m, q)
    return _bias(m, links, _closings(m, links), q, v)


def _jacobian(m: Tables, closings: list[_Closing], q: Array) -> Array:
    rows = [transposed(loop.type.constraint_subspace(at.q)) @ at.J for loop, at in zip(m.loops, closings, strict=True)]
    return _stacked(rows, (*q.shape[:-1], 0, m.nv), axis=-2)


def _bias(m: Tables, links: list[Dyad], closings: list[_Closing], q: Array, v: Array) -> Array:
    """The successor accelerates against the predecessor by J vdot + a; the joint allows S qddot + c: so k = -T^T (a - c)."""
    rates = body_jacobian_rates(m, links, q, v)
    biases = []
    for loop, at in zip(m.loops, closings, strict=True):
        P, S = loop.predecessor, loop.successor
        V, V_P = apply(at.J, v), se3.to_child(at.X_PS, se3.to_child(P.X, apply(rates[P.body].J, v)))
        A_P, A_S = (se3.to_child(end.X, apply(rates[end.body].Jdot, v)) for end in (P, S))
        a = A_S - se3.to_child(at.X_PS, A_P) + apply(se3.ad(V), V_P)
        subspace, T = loop.type.motion_subspace(at.q), loop.type.constraint_subspace(at.q)
        rate = solve(transposed(subspace) @ subspace, transposed(subspace) @ V[..., None])[..., 0]
        biases.append(-apply(transposed(T), a - loop.type.bias(at.q, rate)))
    return _stacked(biases, (*q.shape[:-1], 0), axis=-1)


def _independent_rows(K: Array, most: int) -> Array:
    """Indices of a largest set of independent rows of one matrix, at most so many, in order."""
    if not K.size:
        return np.zeros(0, dtype=int)
    R, pivots = scipy.linalg.qr(np.real(K).T, mode="r", pivoting=True)  # pyright: ignore
    size = np.abs(np.diag(R))
    return np.sort(pivots[: min(most, int((size > RANK_TOLERANCE * max(size[0], 1e-300)).sum()))])


def _numeric_rank(K: Array) -> int:
    return len(_independent_rows(K, min(K.shape)))


_RANKS: WeakKeyDictionary[Tables, int] = WeakKeyDictionary()


def loop_rank(m: Tables) -> int:
    """How many freedoms the loops take away where they are closed: the rank of K there, at most nv.

    Linkages that move only by their special shape (planar ones, Bennett's) have dependent constraints when closed and
    independent ones when open by rounding; so the rank is looked up at closed configurations, once.
    """
    if m not in _RANKS:
        _RANKS[m] = max(_closed_ranks(m), default=m.nv)
    return _RANKS[m]


def _closed_ranks(m: Tables) -> Iterator[int]:
    """Ranks at a few closed configurations: near the neutral one, else anywhere."""
    rng = np.random.default_rng(0)
    near = (integrate(m, neutral(m), rng.normal(size=m.nv) * 0.1) for _ in range(3))
    far = (random_configuration(m, rng) for _ in range(12))
    found = 0
    for start in (*near, *far):
        if found >= 3:
            return
        try:
            yield _numeric_rank(loop_jacobian(m, close_loops(m, start)))
            found += 1
        except ClosureError:
            continue


def constrained_dynamics(m: Tables, q: Array, v: Array, tau: Array, external: External = None) -> Array:
    """vdot of a mechanism with loops, (..., nv): [[M, -K^T], [K, 0]] (vdot, lambda) = (tau - bias, k) (002 (1.2.30), mended).

    Of redundant constraints, as every planar loop has, an independent set is kept.
    """
    q, v, tau = together(q, v, tau)
    links = dyads(m, q)
    closings = _closings(m, links)
    M, K, k = mass_matrix(m, q), _jacobian(m, closings, q), _bias(m, links, closings, q, v)
    push = tau - inverse_dynamics(m, q, v, np.zeros(m.nv), external)
    M, K, k = (np.broadcast_to(x, (*push.shape[:-1], *x.shape[x.ndim - r :])) for x, r in ((M, 2), (K, 2), (k, 1)))
    vdot = np.empty(push.shape, dtype=np.result_type(M, K, push))
    rank = loop_rank(m)
    for at in np.ndindex(push.shape[:-1]):
        vdot[at] = _saddle_point(M[at], K[at], push[at], k[at], rank)
    return vdot


def _saddle_point(M: Array, K: Array, push: Array, k: Array, rank: int) -> Array:
    kept = _independent_rows(K, rank)
    K, k = K[kept], k[kept]
    system = np.block([[M, -K.T], [K, np.zeros((len(k), len(k)))]])
    try:
        return np.linalg.solve(system, np.concatenate([push, k]))[: len(push)]
    except np.linalg.LinAlgError as error:
        raise SingularError(
            "the loops leave a freedom that moves no inertia, so forward dynamics has no answer"
        ) from error


def close_loops(m: Tables, q: Array, tolerance: float = 1e-13, iterations: int = 50) -> Array:
    """The configuration next to q that closes the loops, (nq,): Newton steps, each the shortest that closes them to first order."""
    q = as_array(q)
    for _ in range(iterations):
        error = loop_error(m, q)
        if np.abs(error).max(initial=0) <= tolerance:
            return q
        q = integrate(m, q, -np.linalg.lstsq(loop_jacobian(m, q), error, rcond=RANK_TOLERANCE)[0])
    worst = float(np.abs(loop_error(m, q)).max())
    if worst <= 1e3 * tolerance:
        return q
    names = ", ".join(loop.name for loop in m.loops)
    raise ClosureError(
        f"loops {names} stay open by {worst:.3g} (m or rad) after {iterations} steps: start closer to a closed configuration"
    )


def close_velocity(m: Tables, q: Array, v: Array) -> Array:
    """The velocity next to v, by kinetic energy, that keeps the loops closed, (..., nv): what an impulse at the loops leaves."""
    q, v = together(q, v)
    M, K = mass_matrix(m, q), loop_jacobian(m, q)
    closed = np.array(v)
    for at in np.ndindex(v.shape[:-1]):
        closed[at] = _saddle_point(M[at], K[at], M[at] @ v[at], np.zeros(K.shape[-2]), loop_rank(m))
    return closed


class Independent(NamedTuple):
    """The equations of motion in independent rates y (002 (1.2.32)-(1.2.36)).

    v = G y and vdot = G ydot + g; inertia ydot + bias = G^T tau.
    """

    rates: Array  # which entries of v are the independent rates
    G: Array  # (nv, n)
    g: Array  # (nv,)
    inertia: Array  # G^T M G, (n, n)
    bias: Array  # G^T (M g + C v + N), (n,)


def independent_coordinates(m: Tables, q: Array, v: Array) -> Independent:
    """Eliminate the loop constraints at one state: K G = 0, K g = k."""
    q, v = as_array(q), as_array(v)
    K, k = loop_jacobian(m, q), loop_bias(m, q, v)
    kept = _independent_rows(K, loop_rank(m))
    K, k = K[kept], k[kept]
    dependent = _independent_rows(K.T, len(kept))
    rates = np.setdiff1d(np.arange(m.nv), dependent)
    G, g = np.zeros((m.nv, len(rates))), np.zeros(m.nv)
    G[rates] = np.eye(len(rates))
    if len(dependent):
        G[dependent] = -np.linalg.solve(K[:, dependent], K[:, rates])
        g[dependent] = np.linalg.solve(K[:, dependent], k)
    M = mass_matrix(m, q)
    bias = inverse_dynamics(m, q, v, g)
    return Independent(rates, G, g, G.T @ M @ G, G.T @ bias)
