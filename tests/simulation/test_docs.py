"""The examples of docs/simulation.md run."""

import contextlib
import io
import re
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "docs" / "simulation.md").read_text()


def test_the_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = io.StringIO()
    names: dict = {}
    with contextlib.redirect_stdout(out):
        for code in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
            exec(compile(code, "simulation.md", "exec"), names)
    assert "done at t = 2 s [ 0.3  0.2 -0.4]" in out.getvalue()
    assert "'m1/3 docked to n0/4" in out.getvalue()
    assert "['a', 'b', 'rest']" in out.getvalue()
