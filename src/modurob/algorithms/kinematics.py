"""Poses, twists and accelerations of bodies and named frames."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from modurob.algorithms.recursion import outward
from modurob.algorithms.steps import Dyad, Spin, apply, dyad, spin
from modurob.errors import InputError
from modurob.mechanism.tables import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array, as_array


def together(*arrays: Array) -> list[Array]:
    """The arrays with their leading axes broadcast against each other; the last axis of each stays."""
    arrays = tuple(as_array(a) for a in arrays)
    try:
        shape = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
    except ValueError:
        shapes = ", ".join(str(a.shape) for a in arrays)
        raise InputError(f"arguments of shapes {shapes}: expected leading axes that broadcast") from None
    return [np.broadcast_to(a, (*shape, a.shape[-1])) for a in arrays]


def dyads(m: Tables, q: Array) -> list[Dyad]:
    """Every joint at configuration q; entry 0 stands for the world."""
    world = Dyad(se3.IDENTITY, np.zeros((6, 0)))
    return [world, *(dyad(j.type, m.X_PJ[i], q[..., j.q_slice]) for i, j in enumerate(m.joints, start=1))]


def body_poses(m: Tables, links: list[Dyad]) -> list[Array]:
    """X_WB of every body: X_WB = X_WP X_PB (000 (3.4), 003 (15))."""
    return outward(m, se3.IDENTITY, lambda i, X_WP: X_WP @ links[i].X)


def body_twists(m: Tables, links: list[Dyad], v: Array) -> list[Array]:
    """V of every body in its own frame: V_i = Ad V_p + S v (000 (3.22))."""
    root = np.zeros((*v.shape[:-1], 6))
    return outward(
        m, root, lambda i, V: se3.to_child(links[i].X, V) + apply(links[i].S, v[..., m.joints[i - 1].v_slice])
    )


class Motion(NamedTuple):
    """Angular velocity of a body, (..., 3), and its acceleration (a, dw/dt), (..., 6), in its own axes."""

    w: Array
    A: Array


def body_spins(m: Tables, links: list[Dyad], q: Array, v: Array) -> list[Spin]:
    """Angular velocity and drift of every body."""

    def step(i: int, parent: Spin) -> Spin:
        joint = m.joints[i - 1]
        v_i = v[..., joint.v_slice]
        return spin(links[i], parent.w, v_i, joint.type.bias(q[..., joint.q_slice], v_i))

    return outward(m, Spin(np.zeros((*v.shape[:-1], 3)), np.zeros(6)), step)


def body_motions(m: Tables, links: list[Dyad], q: Array, v: Array, vdot: Array) -> list[Motion]:
    """Motion of every body, the world accelerating against gravity: A_i = Ad A_p + S vdot + drift (000 (3.23), mended)."""
    spins = body_spins(m, links, q, v)

    def step(i: int, A_P: Array) -> Array:
        return se3.to_child(links[i].X, A_P) + apply(links[i].S, vdot[..., m.joints[i - 1].v_slice]) + spins[i].drift

    accelerations = outward(m, gravity_acceleration(m), step)
    return [Motion(s.w, A) for s, A in zip(spins, accelerations, strict=True)]


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
