"""The examples of docs/goals.md run, one after another, and those of rooms that are no part of the public names."""

import doctest
import re
from pathlib import Path

import numpy as np
import pytest

import modurob as mr
from modurob.geometry import solids
from modurob.kinematics import collisions

PAGE = Path(__file__).parents[2] / "docs" / "goals.md"


def test_examples_run(capsys):
    names: dict = {}
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(examples) == 5
    for example in examples:
        exec(example, names)
    assert "not reached from 8 starts" in capsys.readouterr().out
    goal, robot = names["goal"], names["robot"]
    np.testing.assert_allclose(robot.frame_pose(names["q"], "m3")[:3, 3], goal.p, atol=1e-6)


@pytest.mark.parametrize("room", [solids, collisions])
def test_examples_of_docstrings_run(room):
    start = doctest.DocTestParser().get_doctest(mr.__doc__ or "", {}, "modurob", None, 0)
    assert doctest.DocTestRunner().run(start, clear_globs=False).failed == 0
    done = doctest.testmod(room, extraglobs=dict(start.globs))
    assert done.attempted > 4
    assert done.failed == 0
