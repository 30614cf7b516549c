"""The examples of docs/locomotion.md run, and those of names that are not public ones of the package."""

import doctest
import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import matplotlib as mpl
import numpy as np
import pytest

import modurob as mr
from modurob import locomotion
from tests.examples import require_true

TEXT = (Path(__file__).parents[2] / "docs" / "locomotion.md").read_text()
FILES = [m.name for m in iter_modules(locomotion.__path__)]


def test_the_examples_of_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    names: dict = {}
    for code in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
        exec(compile(code, "locomotion.md", "exec"), names)
    assert (tmp_path / "locomotion.png").stat().st_size > 10000
    # the last step of the compass is on its orbit
    np.testing.assert_allclose(names["state"], names["gait"], atol=2e-3)


def test_the_page_names_every_maker_of_a_base():
    for row in re.findall(r"^\| `(\w+)\(", TEXT, re.MULTILINE):
        assert hasattr(locomotion, row)
    assert all(
        f"`{n}(" in TEXT for n in ("differential", "mecanum", "synchro", "steerable", "omni", "tracked", "ackermann")
    )


@pytest.mark.parametrize("name", FILES)
def test_examples_in_docstrings(name):
    """But those of public names, which tests/test_documentation.py runs."""
    module = import_module(f"modurob.locomotion.{name}")
    for x in doctest.DocTestFinder().find(module):
        if x.examples and x.name.removeprefix(f"{module.__name__}.") not in mr.__all__:
            require_true(x.docstring or "", module, x.name)


def test_exported_names():
    assert len(set(locomotion.__all__)) == len(locomotion.__all__)
    for name in locomotion.__all__:
        assert getattr(locomotion, name).__doc__
