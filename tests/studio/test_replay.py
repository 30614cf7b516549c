"""Recordings opened in the studio: of the robot that is shown, as its own runs are."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import modurob as mr
from modurob.errors import RecordingError, StudioError
from modurob.studio.design import Design
from modurob.studio.session import Session
from tests.studio.test_ground import CRAB, WALKS, run_of
from tests.studio.test_runs import finished


def saved(recording: mr.Recording, folder: Path) -> bytes:
    recording.save(folder / "walk.mrun")
    return (folder / "walk.mrun").read_bytes()


def session(floating: bool = True) -> Session:
    return Session(None, Design(mr.load("crab").with_setup(floating=floating)))


def test_a_recording_is_shown_as_the_run_was(tmp_path: Path) -> None:
    run = finished(run_of(replace(WALKS, duration=1.0)))
    s = session()
    s.replay(saved(run.recording, tmp_path), "walk.mrun")
    (shown,) = s.runs.values()
    for t in (0.0, 0.31, 1.0):
        assert np.allclose(shown.at(t)[0], run.at(t)[0], atol=1e-6), t
    # the torques of servos are forces of the robot: recordings have those of controllers
    known = 1 + CRAB.nq + CRAB.nv
    assert np.allclose(shown.samples[:, :known], run.samples[:, :known], atol=1e-5)
    assert np.allclose(shown.touching(1.0), run.touching(1.0), atol=0.2)
    summary = shown.summary()
    assert summary["label"] == "recording walk.mrun"
    assert summary["floor"] == run.summary()["floor"]
    assert summary["robot"] == s.shown["robot"]
    assert shown.last[1][0] == pytest.approx(1.0)
    error = 1 + CRAB.nq + 3 * CRAB.nv
    assert np.isnan(shown.samples[:, error : error + CRAB.nv]).all()  # it is not known where it was to be
    s.delete_run(shown.number)
    assert not s.runs
    still = mr.simulate(mr.load("crab").mechanism(), duration=0.1)
    fixed = session(floating=False)
    fixed.replay(saved(still, tmp_path), "still.mrun")
    assert fixed.runs[0].touching().shape == (0, 7)


def test_recordings_of_others_are_refused(tmp_path: Path) -> None:
    other = mr.simulate(mr.load("double_pendulum").mechanism(), duration=0.1)
    with pytest.raises(
        StudioError,
        match=r"arm.mrun is a run of double_pendulum with 2 joints .* open that robot first, fixed .* here is crab with 4 joints "
        r"\(floating_base, m0/hinge, .* and bodies ",
    ):
        session().replay(saved(other, tmp_path), "arm.mrun")
    crab = mr.load("crab").mechanism()
    many = mr.simulate(crab, np.zeros((2, crab.nq)), duration=0.1)
    with pytest.raises(RecordingError, match=r"many.mrun: expected the recording of one robot, in one run"):
        session(floating=False).replay(saved(many, tmp_path), "many.mrun")
    with pytest.raises(RecordingError, match=r"cut.mrun: not a recording, or cut short"):
        session().replay(b"PK", "cut.mrun")
