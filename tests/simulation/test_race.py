"""Runs side by side: lanes that do not meet, all going the same way, at their own distances."""

import base64

import numpy as np
import pytest

import modurob as mr
from modurob.errors import SimulationError


def rolled(velocity, duration=1.0) -> mr.Recording:
    """A ball without gravity that goes straight on."""
    free = mr.Builder("ball", gravity=(0, 0, 0))
    free.body("ball", mr.spatial.inertia.spatial_inertia(1.0, np.zeros(3), 0.01 * np.eye(3)), joint=mr.Free())
    free.shape("sphere", (0.1,), "ball")
    robot = free.build()
    start = np.array([3.0, -2.0, 0.5, 1, 0, 0, 0])
    return mr.simulate(robot, start, [*velocity, 0.0, 0, 0, 0], duration=duration)


def test_all_go_the_same_way_on_lanes_of_their_own() -> None:
    race = mr.race({"east": rolled((1.0, 0.0)), "north": rolled((0.0, 2.0), 0.5), "back": rolled((-0.5, -0.5))})
    assert list(race.distances) == ["east", "north", "back"]
    assert race.distances["north"] == pytest.approx(1.0)
    data = race.lanes.data(20.0)
    X = np.frombuffer(base64.b64decode(data["poses"]), "<f4").reshape(len(data["t"]), 6, 3, 4)[:, 1::2]
    assert data["t"][-1] == pytest.approx(1.0)
    # along x from x = 0; who ends early stays
    assert np.allclose(X[0, :, 0, 3], 0, atol=1e-6)
    assert np.allclose(X[-1, :, 0, 3], [1.0, 1.0, 0.5**0.5], atol=1e-5)
    assert np.allclose(X[10, 1, 0, 3], 1.0, atol=1e-5)
    assert np.allclose(X[..., 1, 3], X[0, :, 1, 3], atol=1e-5)
    assert (np.diff(X[0, :, 1, 3]) > 0.2).all()  # farther apart than a ball is wide
    assert [s["body"] for s in data["design"]["shapes"]] == [1, 3, 5]


def test_what_is_no_race() -> None:
    run = rolled((1.0, 0.0), 0.1)
    for runs, words in (
        ({"one": run}, "a race of 1: expected 2 to 8"),
        ([run, run], r"a race of \[Recording"),
        ({"a": run, "b": 3}, "'b' of the race"),
    ):
        with pytest.raises(SimulationError, match=words):
            mr.race(runs)  # type: ignore[arg-type]
    with pytest.raises(SimulationError, match="a race is no model"):
        mr.race({"a": run, "b": run}).show("x.glb")
