"""Poses, twists and accelerations of bodies, and of the frames that forces act on."""

import numpy as np

from modurob.algorithms.kinematics import at_origin, rigid, with_pose
from modurob.algorithms.program import Outward, Program, View
from modurob.algorithms.steps import apply
from modurob.catalogue.forces import Motion
from modurob.mechanism.tables import Frame
from modurob.spatial import se3
from modurob.spatial.scalars import Array


def body_motion(j: View) -> None:
    """Outward: pose and twist of the body."""
    X = with_pose(j)
    V = se3.to_child(j.X, j.parent("V")) + apply(j.S, j.given("v"))
    j.keep(V=V)
    j.emit(X=X[..., :3, :], V=V)


MOTIONS = Program(
    "motions",
    inputs={"q": "coordinates", "v": "rates"},
    results={"X": "poses", "V": "twists"},
    passes=(Outward(body_motion),),
    shared={"X": (3, 4), "V": (6,)},
    world=lambda m: {**at_origin(m), "V": np.zeros(6)},
    general=True,
)


def body_acceleration(j: View) -> None:
    """Outward: pose, twist and its rate of change, A = Ad A_p + S vdot + dS/dt v + V x S v, without gravity."""
    X, v = with_pose(j), j.given("v")
    V_J = apply(j.S, v)
    V = se3.to_child(j.X, j.parent("V")) + V_J
    A = se3.to_child(j.X, j.parent("A")) + apply(j.S, j.given("vdot")) + j.bias(v) + se3.bracket(V, V_J)
    j.keep(V=V, A=A)
    j.emit(X=X[..., :3, :], V=V, A=A)


ACCELERATIONS = Program(
    "accelerations",
    inputs={"q": "coordinates", "v": "rates", "vdot": "rates"},
    results={"X": "poses", "V": "twists", "A": "twists"},
    passes=(Outward(body_acceleration),),
    shared={"X": (3, 4), "V": (6,), "A": (6,)},
    world=lambda m: {**at_origin(m), "V": np.zeros(6), "A": np.zeros(6)},
    general=True,
)


def frame_motion(frame: Frame, found: dict[str, Array]) -> Motion:
    """The motion of a frame for the forces that act on it, from the results of `MOTIONS`."""
    if frame.body == 0:
        return Motion(frame.X, np.zeros(6))
    X, V = rigid(found["X"][..., frame.body - 1, :, :]), found["V"][..., frame.body - 1, :]
    return Motion(X @ frame.X, se3.to_child(frame.X, V))
