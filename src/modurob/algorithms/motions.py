"""How bodies and frames move: what forces between frames read."""

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
)


def frame_motion(frame: Frame, found: dict[str, Array]) -> Motion:
    """A frame as a force sees it, from the results of `MOTIONS`."""
    if frame.body == 0:
        return Motion(frame.X, np.zeros(6))
    X, V = rigid(found["X"][..., frame.body - 1, :, :]), found["V"][..., frame.body - 1, :]
    return Motion(X @ frame.X, se3.to_child(frame.X, V))
