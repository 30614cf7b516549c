"""The examples of docs/goals.md run, one after another."""

import re
from pathlib import Path

import numpy as np

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
