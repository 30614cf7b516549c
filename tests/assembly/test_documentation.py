"""Every public name of assemblies and the catalogue says what it is, with an example that runs."""

import importlib
import inspect
import pkgutil
import re

import pytest

import modurob as mr
from modurob import assembly, catalogue
from tests import examples

MODULES = [
    m.name
    for package in (assembly, catalogue)
    for m in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if ".joints" not in m.name
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples.require_all_true(importlib.import_module(name))


@pytest.mark.parametrize("name", [n for n in dir(mr.Assembly) if not n.startswith("_")])
def test_every_method_of_an_assembly_has_an_example(name):
    text = inspect.getdoc(inspect.getattr_static(mr.Assembly, name)) or inspect.getdoc(getattr(mr.Assembly, name))
    assert text
    assert ">>>" in text


@pytest.mark.parametrize(
    "thing",
    [getattr(p, n) for p in (assembly, catalogue) for n in p.__all__ if not inspect.ismodule(getattr(p, n))],
    ids=lambda x: x.__name__,
)
def test_every_public_name_says_what_it_is(thing):
    text = inspect.getdoc(thing) or ""
    assert len(text) > 40
    assert ">>>" in text


def test_words():
    """The plain words of the field, and sources by author."""
    for name in MODULES:
        source = inspect.getsource(importlib.import_module(name))
        for word in (r"document 00\d", r"\bfreedoms\b", "cannot be had", "mended", r"\b00[0-4] [(\d]"):
            assert not re.search(word, source), f"{name}: {word}"


def test_an_assembly_in_a_notebook():
    html = mr.load("crab").labelled("<script>")._repr_html_()
    assert html.startswith("<table>")
    assert html.count("<tr>") == 7
    assert "m1/4" in html
    assert "<script>" not in html
    long = mr.Assembly.from_grid("B " * 80)._repr_html_()
    assert "80 in all" in long
    assert long.count("<tr>") == 52


def test_an_assembly_reads_well():
    assert repr(mr.load("crane")) == "Assembly('crane', 1 virtual, 2 backbone, 2 connections, gravity (0, 9.81, 0))"
    robot = mr.Assembly.single("a", "backbone").dock("b", "scout", "a/3", "4").with_setup(base="b", floating=True)
    assert repr(robot) == "Assembly('robot', 1 backbone, 1 scout, 1 connection, base 'b', floating)"
