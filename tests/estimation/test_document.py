"""The examples of docs/estimation.md print what the document says."""

import contextlib
import io
import re
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "docs" / "estimation.md").read_text()


def test_the_examples_print_what_the_document_says():
    examples = re.findall(r"```python\n(.*?)```\nprints\n```\n(.*?)```", TEXT, re.DOTALL)
    assert len(examples) == TEXT.count("```python") == 3
    names: dict = {}
    for code, printed in examples:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, "estimation.md", "exec"), names)
        assert out.getvalue() == printed


def test_the_table_has_every_sensor():
    from modurob.estimation import SENSORS

    for sensor in SENSORS.values():
        assert f"| `{sensor.__name__}(" in TEXT
