"""The examples in docstrings of the room run."""

from importlib import import_module

import pytest

from tests import examples

MODULES = ("dh", "screws", "jacobians", "singularities", "reach")


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert examples.require_all_true(import_module(f"modurob.kinematics.{name}")) > 0
