"""The examples of docs/gaits.md run, one after another."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

PAGE = Path(__file__).parents[3] / "docs" / "gaits.md"


def test_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(examples) == 5
    for example in examples:
        exec(example, names)
    assert {p.name for p in tmp_path.iterdir()} == {"phases.png", "spectrum.png"}
    assert np.abs(names["ring"].loop_error(names["rolling"](0.3)[0])).max() < 1e-6
    plt.close("all")


def test_examples_of_walking_run():
    names = {}
    examples = re.findall(r"```python\n(.*?)```", (PAGE.parent / "walking.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) == 5
    for example in examples:
        exec(example, names)
