"""References at a traced time: what they are at a time in numbers."""

import numpy as np
import pytest

import modurob as mr
from modurob.motion.numbers import numbers
from modurob.trace import Graph

CLOSE = 1e-13
CRAB = mr.load("crab").robot()
REFERENCES = {
    "quintic": mr.Trajectory.quintic([0.0, 0.1, 0.2], [0.3, -0.2, 0.4], 1.0),
    "number": mr.Trajectory.cubic(0.2, 1.0, 0.7).delayed(0.1),
    "spline": mr.Trajectory.spline([0, 0.3, 0.5, 1.1], [[0.0, 1], [1, 0], [0.5, 0.2], [0, 0]]),
    "s-curve": mr.Trajectory.s_curve([0.0, 0.5], [0.3, -0.2], 1.0, 4.0, 40.0),
    "at rest": mr.Trajectory.trapezoid(0.3, 0.3, 1.0, 1.0),
    "gait": mr.gait("snake", amplitude=0.3, frequency=0.8).on(CRAB),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_positions_velocities_and_accelerations(name):
    reference, graph = REFERENCES[name], Graph()
    traced = [np.asarray(x, dtype=object) for x in reference(graph.input("t"))]
    breaks = getattr(reference, "breaks", np.zeros(1))
    for t in (*np.linspace(-0.3 if name != "gait" else 0.0, 1.6, 41), *breaks):
        for found, true in zip(traced, reference(float(t)), strict=True):
            wanted = [graph.index(x) for x in found.ravel()]
            values = graph.evaluate(wanted, {"t": [t]})
            assert found.shape == true.shape
            np.testing.assert_allclose([values[i] for i in wanted], true.ravel(), rtol=CLOSE, atol=CLOSE * 100)


def test_traced_scalars_are_numbers_and_other_objects_are_not():
    x = Graph().inputs("x", 2)
    assert numbers(x, "x") is x
    with pytest.raises(mr.ModurobError, match=r"x = \[None\]: expected numbers"):
        numbers([None], "x")
