"""The examples in the docstrings of `modurob.symbolic` are true, and every public name has its docstring."""

import importlib
import inspect
import pkgutil

import pytest

import modurob.symbolic
from modurob.symbolic import Equations
from tests import examples

MODULES = [m.name for m in pkgutil.walk_packages(modurob.symbolic.__path__, "modurob.symbolic.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples.require_all_true(importlib.import_module(name))


def test_every_public_name_is_documented():
    for name in modurob.symbolic.__all__:
        thing = getattr(modurob.symbolic, name)
        assert inspect.getdoc(thing), name
        for method, value in inspect.getmembers_static(thing) if inspect.isclass(thing) else ():
            if not method.startswith("_") and (callable(value) or isinstance(value, property)):
                assert inspect.getdoc(value), f"{name}.{method}"


def test_what_equations_offer_has_examples():
    """Of the names that users call, all but plain listings show how."""
    shown = [
        n
        for n, x in inspect.getmembers_static(Equations)
        if not n.startswith("_") and ">>>" in (inspect.getdoc(getattr(x, "func", x)) or "")
    ]
    needed = "M C C_two_step D S N left_out forward_kinematics parameters quantities entries latex legend equals normal_form proof"
    assert "linearised" in shown
    assert set(needed.split()) <= set(shown)
