"""The examples of docs/trajectories.md run, and its tables name what there is."""

import re
from pathlib import Path

import numpy as np

from modurob.motion import TRAJECTORIES, PoseTrajectory, Trajectory

TEXT = (Path(__file__).parents[2] / "docs" / "trajectories.md").read_text()


def test_the_examples_of_the_document_run():
    names: dict = {}
    for code in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
        exec(compile(code, "trajectories.md", "exec"), names)
    assert names["ring"].largest("speed") <= 0.25 * (1 + 1e-6)
    np.testing.assert_allclose(names["state"].position, [0.2, 0.5], atol=1e-9)
    assert names["fast"].duration > 0


def test_the_tables_have_every_maker():
    for name in TRAJECTORIES:
        word = name.replace("-", "_").replace("poses", "through")
        assert re.search(rf"`[^`]*\b{word}\b", TEXT), name
        assert word == "jerk_limited" or hasattr(Trajectory, word) or hasattr(PoseTrajectory, word)
