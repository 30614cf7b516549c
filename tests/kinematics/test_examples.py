"""The examples in docstrings of the room run."""

import doctest
from importlib import import_module

import matplotlib as mpl
import numpy as np
import pytest

import modurob as mr

MODULES = ("dh", "screws", "jacobians", "singularities", "reach")


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    module = import_module(f"modurob.kinematics.{name}")
    found = doctest.testmod(module, extraglobs={"np": np, "mr": mr}, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 0
    assert found.failed == 0
