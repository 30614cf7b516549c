"""Closed loops: the constraints of the loop joints on the coordinates of the tree (002 chapter 1, 001 5.7)."""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from modurob.algorithms.composite import mass_matrix
from modurob.algorithms.configuration import integrate
from modurob.algorithms.inverse import External, inverse_dynamics
from modurob.algorithms.jacobians import body_jacobians
from modurob.algorithms.kinematics import Dyad, apply, body_motions, body_poses, dyads, together, transposed
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
    closings = _closings(m, dyads(m, as_array(q)))
    errors = []
    for loop, at in zip(m.loops, closings, strict=True):
        gap = se3.log(se3.inverse(loop.type.pose(at.q)) @ at.X_PS)
        errors.append(apply(transposed(loop.type.constraint_subspace(at.q)), gap))
    return _stacked(errors, (*np.shape(q)[:-1], 0), axis=-1)


def loop_jacobian(m: Tables, q: Array) -> Array:
    """K, (..., constraints, nv), with K v = 0 where the loops stay closed: T^T (J_successor - J_predecessor) (002 (1.2.27))."""
    q = as_array(q)
    closings = _closings(m, dyads(m, q))
    rows = [transposed(loop.type.constraint_subspace(at.q)) @ at.J for loop, at in zip(m.loops, closings, strict=True)]
    return _stacked(rows, (*q.shape[:-1], 0, m.nv), axis=-2)


def loop_bias(m: Tables, q: Array, v: Array) -> Array:
    """k, (..., constraints), with K vdot = k where the loops stay closed (002 (1.2.27), mended).

    The successor accelerates against the predecessor by J vdot + a; the joint allows S qddot + c: so k = -T^T (a - c).
    """
    q, v = together(q, v)
    links = dyads(m, q)
    motions = body_motions(m, links, q, v, np.zeros_like(v), np.zeros(6))
    biases = []
    for loop, at in zip(m.loops, _closings(m, links), strict=True):
        P, S = loop.predecessor, loop.successor
        back = se3.Ad_inverse(at.X_PS)
        V_P, V = apply(back, apply(se3.Ad_inverse(P.X), motions[P.body].V)), apply(at.J, v)
        a = apply(se3.Ad_inverse(S.X), motions[S.body].A) - apply(back, apply(se3.Ad_inverse(P.X), motions[P.body].A))
        a = a + apply(se3.ad(V), V_P)
        subspace = loop.type.motion_subspace(at.q)
        rate = solve(transposed(subspace) @ subspace, transposed(subspace) @ V[..., None])[..., 0]
        drift = a - loop.type.bias(at.q, rate)
        biases.append(-apply(transposed(loop.type.constraint_subspace(at.q)), drift))
    return _stacked(biases, (*q.shape[:-1], 0), axis=-1)


def independent_rows(K: Array) -> Array:
    """Indices of a largest set of independent rows of one matrix, in order."""
    if not K.size:
        return np.zeros(0, dtype=int)
    R, pivots = scipy.linalg.qr(np.real(K).T, mode="r", pivoting=True)  # pyright: ignore
    size = np.abs(np.diag(R))
    return np.sort(pivots[: int((size > RANK_TOLERANCE * max(size[0], 1e-300)).sum())])


def constrained_dynamics(m: Tables, q: Array, v: Array, tau: Array, external: External = None) -> Array:
    """vdot of a mechanism with loops, (..., nv): [[M, -K^T], [K, 0]] (vdot, lambda) = (tau - bias, k) (002 (1.2.30), mended).

    Of redundant constraints, as every planar loop has, an independent set is kept.
    """
    q, v, tau = together(q, v, tau)
    M, K, k = mass_matrix(m, q), loop_jacobian(m, q), loop_bias(m, q, v)
    push = tau - inverse_dynamics(m, q, v, np.zeros(m.nv), external)
    M, K, k = (np.broadcast_to(x, (*push.shape[:-1], *x.shape[x.ndim - r :])) for x, r in ((M, 2), (K, 2), (k, 1)))
    vdot = np.empty(push.shape, dtype=np.result_type(M, K, push))
    for at in np.ndindex(push.shape[:-1]):
        vdot[at] = _saddle_point(M[at], K[at], push[at], k[at])
    return vdot


def _saddle_point(M: Array, K: Array, push: Array, k: Array) -> Array:
    kept = independent_rows(K)
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
        closed[at] = _saddle_point(M[at], K[at], M[at] @ v[at], np.zeros(K.shape[-2]))
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
    kept = independent_rows(K)
    K, k = K[kept], k[kept]
    dependent = independent_rows(K.T)
    rates = np.setdiff1d(np.arange(m.nv), dependent)
    G, g = np.zeros((m.nv, len(rates))), np.zeros(m.nv)
    G[rates] = np.eye(len(rates))
    if len(dependent):
        G[dependent] = -np.linalg.solve(K[:, dependent], K[:, rates])
        g[dependent] = np.linalg.solve(K[:, dependent], k)
    M = mass_matrix(m, q)
    bias = inverse_dynamics(m, q, v, g)
    return Independent(rates, G, g, G.T @ M @ G, G.T @ bias)
