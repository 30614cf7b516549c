"""Runs as MCAP files, read back by the format's own reader."""

import json
from pathlib import Path

import numpy as np
import pytest

import modurob as mr
from modurob.errors import RecordingError, SimulationError
from modurob.simulation import mcap as writing

CRAB = mr.load("crab").mechanism(base="m0")
RUN = mr.simulate(CRAB, [0.3, -0.2, 0.5], duration=0.2)


def test_what_is_written_is_read_back_by_others(tmp_path: Path) -> None:
    reader = pytest.importorskip("mcap.reader", reason="the extra `mcap`: pip install 'modurob[mcap]'")
    RUN.to_mcap(tmp_path / "run.mcap")
    with (tmp_path / "run.mcap").open("rb") as file:
        read = list(reader.make_reader(file, validate_crcs=True).iter_messages())
    topics = {channel.topic: schema.name for schema, channel, _ in read}
    assert topics == writing.TOPICS
    times = [m.log_time for _, _, m in read]
    assert times == sorted(times)
    states = [(m.log_time, json.loads(m.data)) for _, c, m in read if c.topic == "/joint_states"]
    assert len(states) == 13  # 60 a second, and the last
    for at, state in states:
        k = np.abs(RUN.t - at / 1e9).argmin()
        assert state["name"] == [j.name for j in CRAB.joints]
        assert np.allclose([state["position"], state["velocity"], state["effort"]], [RUN.q[k], RUN.v[k], RUN.tau[k]])
    frames = [(m.log_time, json.loads(m.data)) for _, c, m in read if c.topic == "/tf"]
    at, last = frames[-1]
    X_WB = CRAB.forward_kinematics(RUN.q[-1])
    for one in last["transforms"]:
        p, r = one["translation"], one["rotation"]
        X = X_WB[one["child_frame_id"]]
        assert np.allclose([p["x"], p["y"], p["z"]], X[:3, 3])
        assert np.allclose(mr.spatial.quaternion.to_matrix(np.array([r["w"], r["x"], r["y"], r["z"]])), X[:3, :3])
    (scene,) = [json.loads(m.data) for _, c, m in read if c.topic == "/scene"]
    drawn = [
        part for entity in scene["entities"] for name in ("cubes", "cylinders", "spheres") for part in entity[name]
    ]
    assert len(drawn) == len(CRAB.shapes)
    assert scene["entities"][0]["frame_id"] == "world"


def test_what_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    side_by_side = mr.simulate(CRAB, np.zeros((2, 3)), duration=0.01)
    with pytest.raises(SimulationError, match="take one with `of_run`"):
        side_by_side.to_mcap(tmp_path / "x.mcap")

    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(writing, "import_module", missing)
    with pytest.raises(RecordingError, match=r"pip install 'modurob\[mcap\]'"):
        RUN.to_mcap(tmp_path / "x.mcap")
