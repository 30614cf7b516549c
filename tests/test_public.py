"""The names that users rely on, the README's example, and the examples."""

import contextlib
import importlib
import inspect
import io
import re
import runpy
from pathlib import Path

import pytest

import modurob as mr
from modurob import algorithms, assembly, catalogue, control, estimate, mechanism, spatial
from modurob.catalogue import joints

ROOT = Path(__file__).parent.parent
# mr.simulate is the function
SIMULATE = importlib.import_module("modurob.simulation")


@pytest.mark.parametrize(
    "module", [mr, algorithms, assembly, catalogue, control, estimate, joints, mechanism, SIMULATE, spatial]
)
def test_exported_names_exist_once_and_are_sorted(module):
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        assert hasattr(module, name), name


def test_every_method_of_a_robot_is_a_free_function_too():
    own = {"from_assembly", "from_urdf", "frame", "joint", "equations", "with_payload", "compile"}
    methods = [
        n
        for n, f in inspect.getmembers(mr.Mechanism, lambda f: inspect.isfunction(f) or inspect.ismethod(f))
        if not n.startswith("_") and n not in own
    ]
    assert len(methods) > 30
    for name in methods:
        function = getattr(algorithms, name)
        assert function.__doc__
        assert list(inspect.signature(getattr(mr.Mechanism, name)).parameters)[1:] == [
            p for p in list(inspect.signature(function).parameters)[1:] if p not in ("tolerance", "iterations")
        ], name


def test_the_readme_example_prints_what_the_readme_says():
    text = (ROOT / "README.md").read_text()
    code, printed = re.search(r"```python\n(.*?)```\nprints\n```\n(.*?)```", text, re.DOTALL).groups()
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "README.md", "exec"), {})
    assert out.getvalue() == printed
    assert len([line for line in code.splitlines() if line]) <= 15


@pytest.mark.parametrize("title", ["Equations in closed form", "Motion"])
def test_the_other_examples_of_the_readme_run(title, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text()
    code = re.search(rf"## {title}\n```python\n(.*?)```", text, re.DOTALL)[1]
    crab = mr.load("crab").mechanism(base="m0")
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "README.md", "exec"), {"mr": mr, "robot": crab, "my_matrix": crab.equations().M})


def test_the_readme_names_every_shipped_module_type():
    text = (ROOT / "README.md").read_text()
    assert all(f"`{name}`" in text for name in catalogue.names())


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_examples_run(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_the_readme_module_type_is_one(tmp_path):
    text = (ROOT / "README.md").read_text()
    path = tmp_path / "gripper.yaml"
    path.write_text(re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1])
    hand = mr.Assembly.single("m0", "backbone").dock("hand", mr.module_type(path), at="m0/3", by="back")
    assert [j.name for j in hand.mechanism().joints] == ["m0/hinge", "hand/slide"]
