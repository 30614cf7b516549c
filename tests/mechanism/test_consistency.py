"""Tables that do not fit together are refused, wherever their frames are."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import modurob as mr
from modurob.catalogue.forces import JointForce
from modurob.errors import MechanismError
from modurob.mechanism.tables import Frame
from modurob.spatial import inertia


def robot():
    b = mr.Builder("arm")
    b.body("link", inertia.box(1.0, (0.1, 0.1, 0.1)), joint=mr.Revolute((0, 0, 1)))
    b.shape("box", (0.1, 0.1, 0.1), on="link")
    b.collision("sphere", (0.1,), on="link")
    return b.build()


WRONG = {"a body that there is not": Frame(2, np.eye(4)), "a pose of another shape": Frame(1, np.eye(3))}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("table", ["shapes", "collisions"])
def test_frames_of_shapes_are_on_bodies(table, wrong):
    m = robot()
    shapes = tuple(shape._replace(frame=WRONG[wrong]) for shape in getattr(m, table))
    assert len(shapes) == 1
    with pytest.raises(MechanismError, match=r"arm: a frame on body [12]: expected a body below 2 and a pose \(4, 4\)"):
        replace(m, **{table: shapes})


@pytest.mark.parametrize("wrong", WRONG)
def test_named_frames_are_on_bodies(wrong):
    with pytest.raises(MechanismError, match="a frame on body"):
        replace(robot(), frames={"tip": WRONG[wrong]})


@dataclass(frozen=True)
class Own(JointForce):
    number: Any
    kind = "own"

    def effort(self, t, q, v, x):
        return -self.number * q


@pytest.mark.parametrize("wrong", ["one", (1.0, 2.0), {"k": 1.0}, {1.0}, abs, np.ones(2)])
def test_fields_of_forces_are_numbers(wrong):
    with pytest.raises(
        MechanismError, match=r"force spring \(own\): number is .*: expected a number, True, False or None"
    ):
        robot().with_force("spring", Own(wrong), joint="link")
