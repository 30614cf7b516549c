"""Jacobians of frames, points and the centre of mass, and their time derivatives."""

from typing import NamedTuple

import numpy as np

from modurob.algorithms.interpreter import interpret
from modurob.algorithms.kinematics import at_origin, body_poses, dyads, forward_kinematics, together, with_pose
from modurob.algorithms.program import Outward, Program, Run, View
from modurob.algorithms.recursion import outward
from modurob.algorithms.steps import Dyad, apply
from modurob.mechanism.tables import Tables
from modurob.spatial import inertia, se3, so3
from modurob.spatial.scalars import Array, as_array


class BodyJacobian(NamedTuple):
    """V = J v of one body in its own frame, and dJ/dt, (..., 6, nv) each."""

    J: Array
    Jdot: Array


def body_jacobians(m: Tables, links: list[Dyad]) -> list[Array]:
    """J of every body, in its own frame: J_i = Ad J_p + S_i (Gutenkunst (3.29): the rows of G S)."""

    def step(i: int, J_P: Array) -> Array:
        J = se3.Ad_inverse(links[i].X) @ J_P
        J[..., m.joints[i - 1].v_slice] += links[i].S
        return J

    return outward(m, np.zeros((*links[-1].X.shape[:-2], 6, m.nv)), step)


def body_jacobian_rates(m: Tables, links: list[Dyad], q: Array, v: Array) -> list[BodyJacobian]:
    """J and dJ/dt of every body: dJ_i/dt = Ad dJ_p/dt - ad(S v) Ad J_p + dS/dt."""

    def step(i: int, parent: BodyJacobian) -> BodyJacobian:
        joint, (X, S) = m.joints[i - 1], links[i]
        Ad = se3.Ad_inverse(X)
        v_i = v[..., joint.v_slice]
        J = Ad @ parent.J
        Jdot = Ad @ parent.Jdot - se3.ad(apply(S, v_i)) @ J
        J[..., joint.v_slice] += S
        Jdot[..., joint.v_slice] += joint.type.subspace_rate(q[..., joint.q_slice], v_i)
        return BodyJacobian(J, Jdot)

    zero = np.zeros((*v.shape[:-1], 6, m.nv))
    return outward(m, BodyJacobian(zero, zero), step)


def _turn(X: Array) -> Array:
    """diag(R, R): from the axes of the frame X to those it is given in, the reference point kept."""
    R = se3.rotation(X)
    T = np.zeros((*X.shape[:-2], 6, 6), dtype=X.dtype)
    T[..., :3, :3] = T[..., 3:, 3:] = R
    return T


def body_jacobian(m: Tables, q: Array, frame: str) -> Array:
    """6 x nv, rows (v, w): twist of the frame in its own axes at its own origin."""
    at = m.frame(frame)
    return se3.Ad_inverse(at.X) @ body_jacobians(m, dyads(m, as_array(q)))[at.body]


def rate_velocity(j: View) -> None:
    """Outward: velocity of a point, and angular velocity, per unit rate, in world axes;
    zero for joints that are not `on` its path."""
    X = with_pose(j)
    R, arm = se3.rotation(X), j.given("point") - se3.position(X)
    turns = R @ j.S[..., 3:, :]
    J = np.concatenate([R @ j.S[..., :3, :] - so3.skew(arm) @ turns, turns], axis=-2)
    j.emit(J=j.given("on")[..., None, None] * J)


JACOBIAN = Program(
    "jacobian",
    inputs={"q": "coordinates", "point": 3, "on": "bodies"},
    results={"J": "vectors"},
    passes=(Outward(rate_velocity),),
    shared={"X": (3, 4)},
    world=at_origin,
)


def jacobian(m: Tables, q: Array, frame: str, run: Run = interpret) -> Array:
    """6 x nv, rows (v, w): velocity of the frame's origin and angular velocity, both in world axes (von Stryk 4.3.2)."""
    q = as_array(q)
    point = se3.position(forward_kinematics(m, q, run)[frame])
    on = np.zeros((*q.shape[:-1], len(m.bodies)), dtype=q.dtype if q.dtype == np.float32 else float)
    on[..., list(m.ancestors[m.frame(frame).body])] = 1
    return run(JACOBIAN, m, {"q": q, "point": point, "on": on}).results["J"]


def body_jacobian_rate(m: Tables, q: Array, v: Array, frame: str) -> Array:
    """d/dt of `body_jacobian` along v, 6 x nv."""
    q, v = together(q, v)
    at = m.frame(frame)
    return se3.Ad_inverse(at.X) @ body_jacobian_rates(m, dyads(m, q), q, v)[at.body].Jdot


def jacobian_rate(m: Tables, q: Array, v: Array, frame: str) -> Array:
    """d/dt of `jacobian` along v, 6 x nv."""
    q, v = together(q, v)
    at = m.frame(frame)
    J, Jdot = body_jacobian_rates(m, dyads(m, q), q, v)[at.body]
    A = se3.Ad_inverse(at.X)
    spin = np.zeros_like(A @ Jdot)
    w = so3.skew(apply(A @ J, v)[..., 3:])
    spin[..., :3, :], spin[..., 3:, :] = w @ (A @ J)[..., :3, :], w @ (A @ J)[..., 3:, :]
    return _turn(_frame_pose(m, q, frame)) @ (A @ Jdot + spin)


def frame_acceleration(m: Tables, q: Array, v: Array, vdot: Array, frame: str) -> Array:
    """Rate of change of the frame's twist (in its own axes), (..., 6): J vdot + (dJ/dt) v; gravity plays no part."""
    q, v, vdot = together(q, v, vdot)
    return apply(body_jacobian(m, q, frame), vdot) + apply(body_jacobian_rate(m, q, v, frame), v)


def point_jacobian(m: Tables, q: Array, frame: str, point: Array) -> Array:
    """3 x nv: velocity in world axes of a point fixed in the frame, given in its axes."""
    q = as_array(q)
    J = body_jacobian(m, q, frame)
    return se3.rotation(_frame_pose(m, q, frame)) @ (J[..., :3, :] - so3.skew(as_array(point)) @ J[..., 3:, :])


def point_jacobian_rate(m: Tables, q: Array, v: Array, frame: str, point: Array) -> Array:
    """d/dt of `point_jacobian` along v, 3 x nv."""
    q, v = together(q, v)
    X = _frame_pose(m, q, frame)
    arm = (se3.rotation(X) @ as_array(point)[..., None])[..., 0]
    J, Jdot = jacobian(m, q, frame), jacobian_rate(m, q, v, frame)
    arm_rate = np.cross(apply(J, v)[..., 3:], arm)
    return Jdot[..., :3, :] - so3.skew(arm) @ Jdot[..., 3:, :] - so3.skew(arm_rate) @ J[..., 3:, :]


def centre_of_mass_jacobian(m: Tables, q: Array) -> Array:
    """3 x nv: velocity of the centre of mass in world axes."""
    links = dyads(m, as_array(q))
    X_WB, J = body_poses(m, links), body_jacobians(m, links)
    total = sum(se3.rotation(X_WB[i]) @ (m.inertia[i][:3] @ J[i]) for i in range(1, len(X_WB)))
    return total / inertia.mass(m.inertia[1:]).sum()


def centre_of_mass_jacobian_rate(m: Tables, q: Array, v: Array) -> Array:
    """d/dt of `centre_of_mass_jacobian` along v, 3 x nv."""
    q, v = together(q, v)
    links = dyads(m, q)
    X_WB, rates = body_poses(m, links), body_jacobian_rates(m, links, q, v)
    total = np.zeros((*v.shape[:-1], 3, m.nv))
    for i in range(1, len(X_WB)):
        (J, Jdot), first = rates[i], m.inertia[i][:3]
        spin = so3.skew(apply(J, v)[..., 3:])
        total = total + se3.rotation(X_WB[i]) @ (first @ Jdot + spin @ (first @ J))
    return total / inertia.mass(m.inertia[1:]).sum()


def _frame_pose(m: Tables, q: Array, frame: str) -> Array:
    at = m.frame(frame)
    return body_poses(m, dyads(m, q))[at.body] @ at.X
