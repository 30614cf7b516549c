"""Poses, twists and accelerations of bodies and named frames."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from modurob.algorithms.recursion import outward
from modurob.errors import InputError
from modurob.mechanism.tables import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array, as_array


def apply(A: Array, x: Array) -> Array:
    """A x for stacks of matrices (..., n, k) and vectors (..., k)."""
    return (A @ x[..., None])[..., 0]


def transposed(A: Array) -> Array:
    """A^T over the last two axes."""
    return np.swapaxes(A, -1, -2)


def together(*arrays: Array) -> list[Array]:
    """The arrays with their leading axes broadcast against each other; the last axis of each stays."""
    arrays = tuple(as_array(a) for a in arrays)
    try:
        shape = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
    except ValueError:
        shapes = ", ".join(str(a.shape) for a in arrays)
        raise InputError(f"arguments of shapes {shapes}: expected leading axes that broadcast") from None
    return [np.broadcast_to(a, (*shape, a.shape[-1])) for a in arrays]


class Dyad(NamedTuple):
    """Joint i at a configuration: all that recursions need of it."""

    X: Array  # X_PB, body i in body parent[i], (..., 4, 4)
    Ad: Array  # Ad(X_BP): takes the parent's twists to body i, (..., 6, 6)
    S: Array  # motion subspace, (..., 6, nv_i)


class Motion(NamedTuple):
    """Twist and acceleration of a body, (..., 6) each, in its own frame."""

    V: Array
    A: Array


def dyads(m: Tables, q: Array) -> list[Dyad]:
    """Every joint at configuration q; entry 0 stands for the world."""
    values = [Dyad(se3.IDENTITY, np.eye(6), np.zeros((6, 0)))]
    for i, joint in enumerate(m.joints, start=1):
        q_i = q[..., joint.q_slice]
        X = m.X_PJ[i] @ joint.type.pose(q_i)
        values.append(Dyad(X, se3.Ad_inverse(X), joint.type.motion_subspace(q_i)))
    return values


def body_poses(m: Tables, links: list[Dyad]) -> list[Array]:
    """X_WB of every body: X_WB = X_WP X_PB (000 (3.4), 003 (15))."""
    return outward(m, se3.IDENTITY, lambda i, X_WP: X_WP @ links[i].X)


def body_twists(m: Tables, links: list[Dyad], v: Array) -> list[Array]:
    """V of every body in its own frame: V_i = Ad V_p + S v (000 (3.22))."""
    root = np.zeros((*v.shape[:-1], 6))
    return outward(m, root, lambda i, V_P: apply(links[i].Ad, V_P) + apply(links[i].S, v[..., m.joints[i - 1].v_slice]))


def body_motions(m: Tables, links: list[Dyad], q: Array, v: Array, vdot: Array, A_0: Array) -> list[Motion]:
    """Twist and acceleration of every body, the world accelerating with A_0.

    A_i = Ad A_p + S vdot + (dS/dt) v + ad(V_i) S v (000 (3.23), the lost terms put back).
    """

    def step(i: int, parent: Motion) -> Motion:
        joint, (_, Ad, S) = m.joints[i - 1], links[i]
        v_i = v[..., joint.v_slice]
        V_J = apply(S, v_i)
        V = apply(Ad, parent.V) + V_J
        A_J = apply(S, vdot[..., joint.v_slice]) + joint.type.bias(q[..., joint.q_slice], v_i)
        return Motion(V, apply(Ad, parent.A) + A_J + apply(se3.ad(V), V_J))

    return outward(m, Motion(np.zeros((*v.shape[:-1], 6)), A_0), step)


def gravity_acceleration(m: Tables) -> Array:
    """The acceleration of the world that stands for gravity: (-g, 0)."""
    return np.concatenate([-m.gravity, np.zeros(3)])


class Poses(Mapping[str, Array]):
    """X_WF by frame name, (..., 4, 4) each; `bodies` stacks those of the bodies, (..., bodies, 4, 4)."""

    def __init__(self, m: Tables, X_WB: list[Array]):
        self._m, self._X_WB = m, X_WB

    @property
    def bodies(self) -> Array:
        return np.stack(np.broadcast_arrays(*self._X_WB), axis=-3)

    def __getitem__(self, name: str) -> Array:
        frame = self._m.frame(name)
        return self._X_WB[frame.body] @ frame.X

    def __contains__(self, name: object) -> bool:
        return name in self._m.frames

    def __iter__(self) -> Iterator[str]:
        return iter(self._m.frames)

    def __len__(self) -> int:
        return len(self._m.frames)


def forward_kinematics(m: Tables, q: Array) -> Poses:
    """Poses of all bodies and named frames in the world."""
    return Poses(m, body_poses(m, dyads(m, as_array(q))))


def frame_pose(m: Tables, q: Array, frame: str) -> Array:
    """X_WF of one frame, (..., 4, 4)."""
    return forward_kinematics(m, q)[frame]


def frame_twist(m: Tables, q: Array, v: Array, frame: str) -> Array:
    """Twist of a frame, in its own axes at its own origin, (..., 6)."""
    q, v = together(q, v)
    at = m.frame(frame)
    return apply(se3.Ad_inverse(at.X), body_twists(m, dyads(m, q), v)[at.body])


def frame_acceleration(m: Tables, q: Array, v: Array, vdot: Array, frame: str) -> Array:
    """Rate of change of the frame's twist (in its own axes), (..., 6); gravity plays no part."""
    q, v, vdot = together(q, v, vdot)
    at = m.frame(frame)
    motions = body_motions(m, dyads(m, q), q, v, vdot, np.zeros(6))
    return apply(se3.Ad_inverse(at.X), motions[at.body].A)
