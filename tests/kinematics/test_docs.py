"""The examples of docs/goals.md run, one after another, and those of rooms that are no part of the public names."""

import re
from pathlib import Path

import numpy as np
import pytest

from modurob.geometry import solids
from modurob.kinematics import collisions
from tests import examples

PAGE = Path(__file__).parents[2] / "docs" / "goals.md"


def test_examples_run(capsys):
    names: dict = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 5
    for block in blocks:
        exec(block, names)
    assert "not reached from 8 starts" in capsys.readouterr().out
    goal, robot = names["goal"], names["robot"]
    np.testing.assert_allclose(robot.frame_pose(names["q"], "m3")[:3, 3], goal.p, atol=1e-6)


@pytest.mark.parametrize("room", [solids, collisions])
def test_examples_of_docstrings_run(room):
    assert examples.require_all_true(room) > 4
