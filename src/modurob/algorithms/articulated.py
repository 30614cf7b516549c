"""Forward dynamics by articulated bodies (Featherstone 1983; 001 5.6.2)."""

from typing import NamedTuple

import numpy as np

from modurob.algorithms.inverse import External, body_wrenches, gather
from modurob.algorithms.kinematics import apply, body_twists, dyads, gravity_acceleration, together, transposed
from modurob.algorithms.recursion import inward, outward
from modurob.errors import SingularError
from modurob.mechanism.tables import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array, is_numeric, solve

# a joint-space inertia below this fraction of the body's inertia is none
_NOTHING = 1e-14


class _Handle(NamedTuple):
    """How the subtree at a joint answers: D vdot = u - U^T A."""

    U: Array
    D: Array
    u: Array


def articulated_dynamics(m: Tables, q: Array, v: Array, tau: Array, external: External = None) -> Array:
    """vdot of a tree, (..., nv), in time linear in the number of bodies.

    Inward, the articulated inertia I and bias p of each subtree as its joint feels it:
    U = I S, D = S^T U, u = tau - S^T p; to the parent go I - U D^-1 U^T and p + (I - U D^-1 U^T) c + U D^-1 u.
    Outward, the accelerations: vdot = D^-1 (u - U^T A), A = Ad A_p + c.
    """
    q, v, tau = together(q, v, tau)
    links = dyads(m, q)
    twists = body_twists(m, links, v)
    on_body = body_wrenches(m, external)
    drift = [np.zeros(6), *(_drift(m, i, links[i].S, twists[i], q, v) for i in range(1, len(links)))]
    own = [(I, apply(se3.coad(apply(I, V)), V) - F) for I, V, F in zip(m.inertia, twists, on_body, strict=True)]
    handles: dict[int, _Handle] = {}

    def absorb(i: int, total: tuple[Array, ...]) -> tuple[Array, ...]:
        inertia, p = total
        joint, (_, Ad, S) = m.joints[i - 1], links[i]
        U = inertia @ S
        D = transposed(S) @ U + np.diag(joint.armature)
        u = tau[..., joint.v_slice] - apply(transposed(S), p)
        _require_inertia(joint.name, D, inertia)
        handles[i] = _Handle(U, D, u)
        left = inertia - U @ solve(D, transposed(U))
        left = (left + transposed(left)) / 2  # what rounding skews would grow along the tree
        p = p + apply(left, drift[i]) + apply(U, _solved(D, u))
        return transposed(Ad) @ left @ Ad, apply(transposed(Ad), p)

    inward(m, own, absorb)
    rates: list[Array] = []

    def release(i: int, A_P: Array) -> Array:
        A = apply(links[i].Ad, A_P) + drift[i]
        vdot = _solved(handles[i].D, handles[i].u - apply(transposed(handles[i].U), A))
        rates.append(vdot)
        return A + apply(links[i].S, vdot)

    outward(m, gravity_acceleration(m), release)
    return gather(m, rates, v)


def _drift(m: Tables, i: int, S: Array, V: Array, q: Array, v: Array) -> Array:
    """c: acceleration of body i over its parent's when vdot = 0."""
    joint = m.joints[i - 1]
    v_i = v[..., joint.v_slice]
    return joint.type.bias(q[..., joint.q_slice], v_i) + apply(se3.ad(V), apply(S, v_i))


def _solved(D: Array, u: Array) -> Array:
    return solve(D, u[..., None])[..., 0]


def _require_inertia(name: str, D: Array, inertia: Array) -> None:
    """An error where a freedom moves nothing."""
    if not is_numeric(D) or not D.size:
        return
    smallest = (np.linalg.eigvalsh(np.real(D)) if D.shape[-1] > 1 else np.real(D)).min()
    if smallest <= _NOTHING * max(float(np.abs(inertia).max()), 1e-300):
        raise SingularError(
            f"joint {name!r} moves no inertia, so forward dynamics has no answer: give the bodies it carries mass and extent, "
            f"set an armature, or lock the joint"
        )
