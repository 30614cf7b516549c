"""The derivatives of forward dynamics by q, v and tau, (..., nv, 3 nv), in time that grows with nv².

A change of one displacement or rate changes the wrenches on all bodies of the subtree as an acceleration and a turning velocity of
the whole subtree would (`joint_space.slope_terms`). The change of the accelerations that follows is found by articulated bodies, as
forward dynamics is: the articulated inertia I and velocity terms B of each subtree, eliminated rate by rate, then for each column
one pass inward for wrenches and one outward for accelerations. The accelerations at which the derivatives are taken come from the
same articulated bodies. (Featherstone 1983 for the elimination; Carpentier and Mansard, RSS 2018, for the columns.)
"""

from typing import Any

import numpy as np

from modurob.algorithms.articulated import FORWARD_DYNAMICS, pivot_scale
from modurob.algorithms.joint_space import (
    EQUATIONS,
    own_pose,
    slopes_of_motion,
    turning_products,
    velocity_products,
    velocity_tensor,
    world_velocity,
)
from modurob.algorithms.program import SYMMETRIC, Inward, Outward, Program, Sweep, View
from modurob.algorithms.steps import apply, transposed
from modurob.spatial import inertia, se3, so3
from modurob.spatial.scalars import Array, dot

# the entries of a symmetric matrix that are kept, and the place of each entry among them
UPPER = np.triu_indices(6)
PLACES = np.zeros((6, 6), dtype=int)
PLACES[UPPER] = PLACES.T[UPPER] = np.arange(21)


def driven_velocity(j: View) -> None:
    """Outward: twist V, c = V x S, inertia, and the wrench p that moves the body at A = 0, V x* I V - F_ext."""
    X, _, c = world_velocity(j)
    V = j.own("V")
    I = inertia.moved_parameters(X, inertia.parameters(j.inertia))
    p = se3.cobracket(V, inertia.momentum(I, V)) - se3.to_parent(X, j.given("external"))
    j.keep(c=c, I=I, p=p)


def rate_elimination(j: View) -> None:
    """Inward: articulated inertia I and bias wrench p of the subtree, its joint eliminated rate by rate.

    With U = I S, r = 1/(S . U + rotor) and K = -r U, the rate accelerates by k + K . A, A the acceleration before it and
    k = r (tau - S . p); I gains K U^T and p gains U k.
    """
    S, tau = j.own("S"), j.given("tau")
    I = inertia.from_parameters(j.own("I")) + j.children("I")
    Ic = j.own("c") @ I
    j.keep(articulated=I[..., UPPER[0], UPPER[1]], Ic=Ic)
    scale, p = pivot_scale(I, transposed(S)), j.own("p") + j.children("p") + apply(transposed(Ic), j.given("v"))
    if j.type.turns:
        p = p + apply(I, turning_products(j, own_pose(j)))
    left = []
    for i in reversed(range(j.nv)):
        U = apply(I, S[..., i, :])
        pivot = dot(S[..., i, :], U) + j.armature[i]
        r = np.asarray(1 / pivot)
        k = r * (tau[..., i] - dot(S[..., i, :], p))
        K = -r[..., None] * U
        I, p = I + K[..., :, None] * U[..., None, :], p + U * np.asarray(k)[..., None]
        left.append((K, r[..., None], k, pivot))
    K, r, k, pivot = (np.stack(x[::-1], axis=-1) for x in zip(*left, strict=True))
    j.require(pivot, scale)
    j.columns(K=transposed(K), r=transposed(r))
    j.keep(k=k)
    j.send(I=I, p=p)


def acceleration_terms(j: View) -> None:
    """Outward: the acceleration A of the body, and the vectors of `joint_space.slope_terms`."""
    S, K, k = (j.own(name) for name in ("S", "K", "k"))
    A, vdot = j.parent("A"), []
    for i in range(j.nv):
        vdot.append(k[..., i] + dot(K[..., i, :], A))
        A = A + S[..., i, :] * np.asarray(vdot[-1])[..., None]
    j.keep(A=A + velocity_products(j, own_pose(j), j.own("c")))
    d, dd, e = slopes_of_motion(j, own_pose(j), S, j.own("c"), np.stack(vdot, axis=-1))
    j.columns(dd=dd, e=e, dw=d[..., 3:])


def slope_elimination(j: View) -> None:
    """Inward: the initial wrenches of each rate's columns, and B of the subtree: each rate adds K S^T B to it; C = -r S^T B."""
    S, K, r, dw, dd, e, c, Ic = (j.own(name) for name in ("S", "K", "r", "dw", "dd", "e", "c", "Ic"))
    f = inertia.momentum(j.own("I"), j.own("A")) + j.own("p") + j.children("f")
    j.send(f=f)
    j.columns(F=se3.cobracket(S, f[..., None, :]))
    if j.type.turns:
        j.add_block(slopes=dot(np.swapaxes(j.own("turned"), -2, -3), f[..., None, None, :]))
    B = left = _velocity_terms(j) + j.children("B")
    C: list[Array] = []
    for i in reversed(range(j.nv)):
        SB = apply(transposed(left), S[..., i, :])
        C.append(-r[..., i, :] * SB)
        left = left + K[..., i, :, None] * SB[..., None, :]
    j.columns(C=np.stack(C[::-1], axis=-2))
    j.send(B=left)
    I = j.own("articulated")[..., PLACES]
    Ie = Ic + ((e - c) @ I if j.nv > 1 or j.type.turns else Ic)
    j.columns(by_q=dd @ I + dw @ transposed(B), by_v=Ie + S[..., 3:] @ transposed(B))


# ---- local steps of the sweep: columns (..., 6, columns); one number of a rate after the other, each read once ----


def products(a: Array, X: Array, start: Any = 0.0) -> Array:
    """start + a . X of columns X, (..., columns)."""
    for k in range(a.shape[-1]):
        start = start + a[..., k, None] * X[..., k, :]
    return start


def _along(X: Array, a: Array, x: Array) -> Array:
    """X + a x^T."""
    return np.stack([X[..., k, :] + a[..., k, None] * x for k in range(a.shape[-1])], axis=-2)


def projected_wrench(S: Array, p: Array, torque: Any = 0.0) -> Array:
    """S . p + torque: wrenches p projected on a rate, and torques along it, (..., columns)."""
    return products(S, p, torque)


def wrench_past_rate(S: Array, K: Array, r: Array, p: Array, torque: Any = 0.0) -> tuple[Array, Array]:
    """Inward: the accelerations of a rate by wrenches p and torques along it, and the wrenches on the body before it."""
    projected = projected_wrench(S, p, torque)
    return -r * projected, _along(p, K, projected)


def rate_acceleration(K: Array, A: Array, C: Array, w: Array, row: Any = 0.0) -> Array:
    """row + K . A + C . w: accelerations of a rate from the accelerations A and turning velocities w of the body before it."""
    return products(K, A, row) + products(C, w)


def acceleration_past_rate(S: Array, K: Array, A: Array, C: Array, w: Array, row: Any = 0.0) -> tuple[Array, Array]:
    """Outward: the accelerations of a rate, and those of the body behind it."""
    row = rate_acceleration(K, A, C, w, row)
    return row, _along(A, S, row)


# ---- the same by reciprocity: the effect of a wrench on a rate is that of a torque along the rate on the body ----


def turning_past_rate(S: Array, C: Array, p: Array, d: Array) -> Array:
    """Inward: d, (..., 3, columns), of the body before a rate; its turning velocity w adds d . w to the columns."""
    return _along(d, C, projected_wrench(S, p))


def symmetric_product(M: Array, p: Array) -> Array:
    """M p, of a symmetric matrix as its 21 entries."""
    out: list[Any] = [0.0] * 6
    for k, (i, j) in enumerate(zip(*UPPER, strict=True)):
        for to, of in dict.fromkeys([(i, j), (j, i)]):
            out[to] = out[to] + M[..., k, None] * p[..., of, :]
    return np.stack(out, axis=-2)


def torque_response(S: Array, K: Array, r: Array, M: Array) -> tuple[Array, Array, Array]:
    """Accelerations by a unit torque along a rate: of the body before it, of the rate, and of the body behind it; single columns.

    M, (..., 21), is the inverse inertia of the body before: its acceleration by a wrench on it is M p.
    """
    u = symmetric_product(M, K[..., :, None])
    x = products(K, u, r)
    return u, x, _along(u, S, x)


def inverse_inertia_past_rate(S: Array, M: Array, u: Array, x: Array) -> Array:
    """Outward: the inverse inertia M of the body behind the rate, (1 + S K^T) M (1 + K S^T) + r S S^T."""
    half = _along(u, S, x / 2)[..., 0]
    pairs = enumerate(zip(*UPPER, strict=True))
    return np.stack([M[..., k] + S[..., i] * half[..., j] + half[..., i] * S[..., j] for k, (i, j) in pairs], axis=-1)


def _velocity_terms(j: View) -> Array:
    """B, (..., 6, 3): the change of wrench when the velocity of a body changes by one that turns with w is B w."""
    I, V = j.own("I"), j.own("V")
    return 2 * np.concatenate([-so3.skew(inertia.momentum(I, V)[..., :3]), velocity_tensor(I, V)], axis=-2)


FORWARD_DERIVATIVES = Program(
    "forward_dynamics_derivatives",
    inputs={**FORWARD_DYNAMICS.inputs, "reference": "reference"},
    results={"slopes": "slopes"},
    passes=(
        Outward(driven_velocity),
        Inward(rate_elimination),
        Outward(acceleration_terms),
        Inward(slope_elimination),
        Sweep(wrench_past_rate, acceleration_past_rate),
    ),
    shared=EQUATIONS.shared,
    sent={"I": SYMMETRIC, "p": (6,), "B": (6, 3), "f": (6,)},
    # those that sweeps read come first
    columns={"C": 3, "S": 6, "K": 6, "r": 1, "dd": 6, "e": 6, "dw": 3, "by_q": 6, "by_v": 6, "F": 6},
    world=EQUATIONS.world,
    in_body_axes=False,
)
