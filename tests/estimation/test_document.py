"""The example of docs/estimation.md prints what the document says."""

import contextlib
import io
import re
from pathlib import Path


def test_the_example_prints_what_the_document_says():
    text = (Path(__file__).parents[2] / "docs" / "estimation.md").read_text()
    code, printed = re.search(r"```python\n(.*?)```\nprints\n```\n(.*?)```", text, re.DOTALL).groups()
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "estimation.md", "exec"), {})
    assert out.getvalue() == printed
