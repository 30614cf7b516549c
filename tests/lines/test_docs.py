"""The examples of docs/lines.md run."""

import contextlib
import io
import re
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "docs" / "lines.md").read_text()


def test_the_examples_run():
    out = io.StringIO()
    names: dict = {}
    with contextlib.redirect_stdout(out):
        for code in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
            exec(compile(code, "lines.md", "exec"), names)
    said = out.getvalue()
    assert "lines ['rope']" in said
    assert "redundantly actuated True" in said
    assert "within [ True False]" in said
    assert "densities [0.57735 0.57735 1.     ] stable True mechanisms 1" in said
    assert "done at t = 0.1 s" in said
