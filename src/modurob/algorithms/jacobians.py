"""Jacobians of frames, points and the centre of mass, and their time derivatives."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from modurob.algorithms.frame_slopes import OnPath, on_path
from modurob.algorithms.interpreter import interpret
from modurob.algorithms.joint_space import world_velocity
from modurob.algorithms.kinematics import at_origin, body_poses, dyads, forward_kinematics, together, with_pose
from modurob.algorithms.motions import ACCELERATIONS
from modurob.algorithms.program import Outward, Program, Run, View
from modurob.algorithms.recursion import outward
from modurob.algorithms.steps import Dyad, apply, transposed
from modurob.errors import InputError
from modurob.mechanism.tables import Tables
from modurob.spatial import inertia, se3, so3
from modurob.spatial.scalars import Array, as_array, is_numeric


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


def body_jacobian(m: Tables, q: Array, frame: str, run: Run = interpret) -> Array:
    """6 x nv, rows (v, w): twist of the frame in its own axes at its own origin."""
    X, J = _posed_jacobian(m, q, frame, run)
    return transposed(_turn(X)) @ J


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
    return _posed_jacobian(m, q, frame, run)[1]


def _posed_jacobian(m: Tables, q: Array, frame: str, run: Run) -> tuple[Array, Array]:
    """The frame's pose, and its `jacobian`."""
    q = as_array(q)
    X = forward_kinematics(m, q, run)[frame]
    on = np.zeros((*q.shape[:-1], len(m.bodies)), dtype=q.dtype if q.dtype == np.float32 else float)
    on[..., list(m.ancestors[m.frame(frame).body])] = 1
    return X, run(JACOBIAN, m, {"q": q, "point": se3.position(X), "on": on}).results["J"]


def vector_rates(j: View) -> None:
    """Outward: the vectors S of the rates of the joints that are `on` a path, and dS/dt = V x S + dS/dt of the joint's own."""
    X, S, c = world_velocity(j)
    rate = c + transposed(se3.Ad(X) @ j.subspace_rate(j.given("v"))) if j.type.turns else c
    on = j.given("on")[..., None, None]
    j.emit(S=on * transposed(S), rate=on * transposed(rate))


VECTOR_RATES = Program(
    "vector_rates",
    inputs={"q": "coordinates", "v": "rates", "on": "bodies", "reference": "reference"},
    results={"S": "vectors", "rate": "vectors"},
    passes=(Outward(vector_rates),),
    shared={"X": (3, 4), "V": (6,)},
    columns={"S": 6},
    world=lambda m: {**at_origin(m), "V": np.zeros(6)},
    in_body_axes=False,
)


def _vector_rates(m: Tables, q: Array, v: Array, frame: str, run: Run) -> OnPath:
    """S and dS/dt of the rates that move a frame, in its axes at its origin."""
    return on_path(m, VECTOR_RATES, dict(zip("qv", together(q, v), strict=True)), frame, run)


def body_jacobian_rate(m: Tables, q: Array, v: Array, frame: str, run: Run = interpret) -> Array:
    """d/dt of `body_jacobian` along v, 6 x nv: dS/dt - V x S."""
    _, twist, (S, rate) = _vector_rates(m, q, v, frame, run)
    return rate - se3.ad(twist) @ S


def jacobian_rate(m: Tables, q: Array, v: Array, frame: str, run: Run = interpret) -> Array:
    """d/dt of `jacobian` along v, 6 x nv: dS/dt, at an origin that moves, in world axes."""
    X, twist, (S, rate) = _vector_rates(m, q, v, frame, run)
    moved = rate[..., :3, :] - so3.skew(twist[..., :3]) @ S[..., 3:, :]
    return _turn(X) @ np.concatenate([moved, rate[..., 3:, :]], axis=-2)


def frame_acceleration(m: Tables, q: Array, v: Array, vdot: Array, frame: str, run: Run = interpret) -> Array:
    """Rate of change of the frame's twist (in its own axes), (..., 6): J vdot + (dJ/dt) v, without gravity."""
    q, v, vdot = together(q, v, vdot)
    at = m.frame(frame)
    if not at.body:
        return np.zeros((*v.shape[:-1], 6))
    return se3.to_child(at.X, run(ACCELERATIONS, m, {"q": q, "v": v, "vdot": vdot}).results["A"][..., at.body - 1, :])


def point_jacobian(m: Tables, q: Array, frame: str, point: Array, run: Run = interpret) -> Array:
    """3 x nv: velocity in world axes of a point fixed in the frame, given in its axes."""
    X, J = _posed_jacobian(m, q, frame, run)
    arm = apply(se3.rotation(X), as_array(point))
    return J[..., :3, :] - so3.skew(arm) @ J[..., 3:, :]


class MovingPoint(NamedTuple):
    """A point of a body in world axes: where it is, how it moves, J, and its acceleration J vdot + drift."""

    position: Array  # (..., 3) [m]
    velocity: Array  # (..., 3) [m/s]
    J: Array  # (..., 3, nv)
    drift: Array  # (..., 3) [m/s²]


def moving_point(m: Tables, q: Array, v: Array, frame: str, point: Array, run: Run = interpret) -> MovingPoint:
    """A point fixed in the frame, given in its axes, with all quantities that tasks need."""
    q, v = together(q, v)
    body, arm, across, on = _spot(m, frame, tuple(np.asarray(point, dtype=float).tolist()))
    found = run(ACCELERATIONS, m, {"q": q, "v": v, "vdot": np.zeros_like(v)}).results
    X, V, A = (_of_body(found[name], name, body) if body else still for name, still in _STILL.items())
    R, w = X[..., :3], V[..., 3:]
    p = apply(R, arm) + X[..., 3]
    J = run(JACOBIAN, m, {"q": q, "point": p, "on": np.broadcast_to(on, (*v.shape[:-1], len(on)))}).results["J"]
    # in body axes: the velocity of the point, and how it changes while the axes turn
    u = V[..., :3] + apply(across, w)
    drift = A[..., :3] + apply(across, A[..., 3:]) + so3.cross(w, u)
    return MovingPoint(p, apply(R, u), J[..., :3, :], apply(R, drift))


class _Spot(NamedTuple):
    """A point of a frame: its body, where it is in the axes of that, (3,), the matrix of x -> x × arm, (3, 3), and for each body
    whether it moves the point, (bodies,)."""

    body: int
    arm: Array
    across: Array
    on: Array


@lru_cache(maxsize=256)
def _spot(m: Tables, frame: str, point: tuple[float, ...]) -> _Spot:
    at, on = m.frame(frame), np.zeros(len(m.bodies))
    on[list(m.ancestors[at.body])] = 1
    arm = at.X[:3, :3] @ point + at.X[:3, 3]
    return _Spot(at.body, arm, -so3.skew(arm), on)


def _of_body(x: Array, name: str, body: int) -> Array:
    return x[..., body - 1, :, :] if name == "X" else x[..., body - 1, :]


_STILL = {"X": np.eye(4)[:3], "V": np.zeros(6), "A": np.zeros(6)}


def point_jacobian_rate(m: Tables, q: Array, v: Array, frame: str, point: Array, run: Run = interpret) -> Array:
    """d/dt of `point_jacobian` along v, 3 x nv."""
    q, v = together(q, v)
    (X, J), Jdot = _posed_jacobian(m, q, frame, run), jacobian_rate(m, q, v, frame, run)
    arm = apply(se3.rotation(X), as_array(point))
    arm_rate = so3.cross(apply(J, v)[..., 3:], arm)
    return Jdot[..., :3, :] - so3.skew(arm) @ Jdot[..., 3:, :] - so3.skew(arm_rate) @ J[..., 3:, :]


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
    return total / mass_with_centre(m)


def mass_with_centre(m: Tables) -> Any:
    """Mass of the moving bodies [kg], or an error if they have none."""
    mass = inertia.mass(m.inertia[1:]).sum()
    if is_numeric(m.inertia) and mass == 0:
        raise InputError(
            f"no body of {m.name} that moves has mass, and so no centre of mass: expected bodies with inertia"
        )
    return mass
