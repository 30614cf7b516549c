"""Poses, twists and accelerations of bodies and named frames."""

from collections.abc import Iterator, Mapping

import numpy as np

from modurob.algorithms.interpreter import interpret
from modurob.algorithms.program import Outward, Program, Run, View
from modurob.algorithms.recursion import outward
from modurob.algorithms.steps import Dyad, apply, dyad
from modurob.errors import InputError
from modurob.mechanism.tables import Tables
from modurob.spatial import se3
from modurob.spatial.scalars import Array, as_array


def together(*arrays: Array) -> list[Array]:
    """The arrays with their leading axes broadcast against each other; the last axis of each stays.

    Only float32 alone stays float32.
    """
    found = [np.asarray(a) for a in arrays]
    if not all(a.dtype == np.float32 for a in found):
        found = [as_array(a) for a in found]
    first = found[0].shape[:-1]
    if all(a.shape[:-1] == first for a in found):
        return found
    try:
        shape = np.broadcast_shapes(*(a.shape[:-1] for a in found))
    except ValueError:
        shapes = ", ".join(str(a.shape) for a in found)
        raise InputError(f"arguments of shapes {shapes}: expected leading axes that broadcast") from None
    return [np.broadcast_to(a, (*shape, a.shape[-1])) for a in found]


def dyads(m: Tables, q: Array) -> list[Dyad]:
    """Every joint at configuration q; entry 0 represents the world."""
    world = Dyad(se3.IDENTITY, np.zeros((6, 0)))
    return [world, *(dyad(j.type, m.X_PJ[i], q[..., j.q_slice]) for i, j in enumerate(m.joints, start=1))]


def body_poses(m: Tables, links: list[Dyad]) -> list[Array]:
    """X_WB of every body: X_WB = X_WP X_PB (Gutenkunst (3.4))."""
    return outward(m, se3.IDENTITY, lambda i, X_WP: X_WP @ links[i].X)


def body_twists(m: Tables, links: list[Dyad], v: Array) -> list[Array]:
    """V of every body in its own frame: V_i = Ad V_p + S v (Gutenkunst (3.22))."""
    root = np.zeros((*v.shape[:-1], 6))
    return outward(
        m, root, lambda i, V: se3.to_child(links[i].X, V) + apply(links[i].S, v[..., m.joints[i - 1].v_slice])
    )


def gravity_acceleration(m: Tables) -> Array:
    """The acceleration of the world that represents gravity: (-g, 0)."""
    return np.concatenate([-m.gravity, np.zeros(3)])


class Poses(Mapping[str, Array]):
    """X_WF by frame name, (..., 4, 4) each; `bodies` are those of the bodies, the world first, (..., bodies, 4, 4)."""

    def __init__(self, m: Tables, bodies: Array):
        self._m, self.bodies = m, bodies

    def __getitem__(self, name: str) -> Array:
        frame = self._m.frame(name)
        return self.bodies[..., frame.body, :, :] @ frame.X

    def __contains__(self, name: object) -> bool:
        return name in self._m.frames

    def __iter__(self) -> Iterator[str]:
        return iter(self._m.frames)

    def __len__(self) -> int:
        return len(self._m.frames)

    def __repr__(self) -> str:
        return f"Poses({self._m.name!r}, {len(self)} frames: {', '.join(list(self)[:8])}{', ...' if len(self) > 8 else ''})"


def body_pose(j: View) -> None:
    """Outward: X_WB = X_WP X_PB."""
    X = with_pose(j)
    j.emit(X=X[..., :3, :])


def with_pose(j: View) -> Array:
    """The pose of the body in the world, (..., 4, 4), kept for its children."""
    X = rigid(j.parent("X")) @ j.X
    j.keep(X=X[..., :3, :])
    return X


def rigid(rows: Array) -> Array:
    """The pose (..., 4, 4) with these first three rows."""
    X = np.zeros((*rows.shape[:-2], 4, 4), dtype=rows.dtype)
    X[..., :3, :], X[..., 3, 3] = rows, 1
    return X


def at_origin(m: Tables) -> dict[str, Array]:
    """The pose of the world."""
    return {"X": np.eye(4)[:3]}


FORWARD_KINEMATICS = Program(
    "forward_kinematics",
    inputs={"q": "coordinates"},
    results={"X": "poses"},
    passes=(Outward(body_pose),),
    shared={"X": (3, 4)},
    world=at_origin,
)


def forward_kinematics(m: Tables, q: Array, run: Run = interpret) -> Poses:
    """X_WB of all bodies and X_WF of named frames in the world, by name (Gutenkunst (3.4))."""
    q = as_array(q)
    rows = run(FORWARD_KINEMATICS, m, {"q": q}).results["X"]
    X = np.empty((*rows.shape[:-3], len(m.bodies), 4, 4), dtype=rows.dtype)
    X[...] = np.eye(4)
    X[..., 1:, :3, :] = rows
    return Poses(m, X)


def frame_pose(m: Tables, q: Array, frame: str, run: Run = interpret) -> Array:
    """X_WF of one frame, (..., 4, 4)."""
    return forward_kinematics(m, q, run)[frame]


def frame_twist(m: Tables, q: Array, v: Array, frame: str) -> Array:
    """Twist of a frame, in its own axes at its own origin, (..., 6)."""
    q, v = together(q, v)
    at = m.frame(frame)
    return apply(se3.Ad_inverse(at.X), body_twists(m, dyads(m, q), v)[at.body])
