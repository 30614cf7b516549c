"""The names that users rely on, the README's example, and the examples."""

import ast
import contextlib
import inspect
import io
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import modurob as mr
from modurob import algorithms, assembly, catalogue, control, estimation, identification, mechanism, simulation, spatial
from modurob.catalogue import joints
from modurob.cli import app

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "module",
    [mr, algorithms, assembly, catalogue, control, estimation, identification, joints, mechanism, simulation, spatial],
)
def test_exported_names_exist_once_and_are_sorted(module):
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        assert hasattr(module, name), name


def test_names_are_the_same_for_type_checkers_and_at_run_time():
    """Both lists of `modurob/__init__.py`, which imports nothing until it is asked for."""
    tree = ast.parse(Path(mr.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {node.module: [x.name for x in node.names] for node in block.body if isinstance(node, ast.ImportFrom)}
    rooms = typed.pop("modurob")
    assert typed == {home: names.split() for home, names in mr.HOMES.items()}
    assert rooms == mr.ROOMS.split()
    assert set(rooms) | set(mr.__all__) <= set(dir(mr))
    for name in rooms:
        assert getattr(mr, name).__name__ == f"modurob.{name}"


def test_signatures_are_short_enough_to_read():
    """`help` shows ArrayLike by its name; NumPy's definition of it is some 300 characters long."""
    names = [name for name in mr.__all__ if inspect.isfunction(getattr(mr, name))]
    texts = {name: str(inspect.signature(getattr(mr, name))) for name in names}
    for owner in (mr.Mechanism, mr.Trajectory, mr.Simulation):
        members = inspect.getmembers(owner, inspect.isfunction)
        texts |= {f"{owner.__name__}.{name}": str(inspect.signature(x)) for name, x in members}
    assert len(texts) > 150
    assert [name for name, text in texts.items() if "numpy._typing" in text] == []


def test_a_name_that_is_none():
    with pytest.raises(AttributeError, match="module 'modurob' has no attribute 'simulat'"):
        mr.simulat  # noqa: B018


def test_importing_modurob_imports_nothing_heavy():
    code = "import sys, modurob; print(*{'numpy', 'scipy', 'sympy', 'pydantic', 'matplotlib'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_every_method_of_a_robot_is_a_free_function_too():
    own = {"from_assembly", "from_urdf", "from_mjcf", "frame", "joint", "equations"}
    # of kinematics, which stands on algorithms
    own |= {"from_dh", "dh", "screws", "analytic_jacobian", "manipulability", "velocity_ellipsoid", "force_ellipsoid"}
    own |= {"singularities", "nearest_singularity", "static_torques", "largest_load", "reach_map"}
    own |= {"inverse_kinematics", "reach", "velocity_towards", "collision_model"}
    own |= {"with_payload", "with_force", "with_line", "without_forces", "with_drive", "drive", "with_brakes", "ideal"}
    own |= {
        "locked",
        "show",
        "live",
        "widget",
        "on_ground",
        "standing",
        "with_body_contact",
        "contact_forces",
        "body_contact_forces",
    }
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
            p for p in list(inspect.signature(function).parameters)[1:] if p not in ("tolerance", "iterations", "run")
        ], name


def test_the_readme_example_prints_what_the_readme_says():
    text = (ROOT / "README.md").read_text()
    code, printed = re.search(r"```python\n(.*?)```\nprints\n```\n(.*?)```", text, re.DOTALL).groups()
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "README.md", "exec"), {})
    assert out.getvalue() == printed
    assert len([line for line in code.splitlines() if line]) <= 15


def test_the_commands_of_the_readme_are_all_there_are():
    text = (ROOT / "README.md").read_text()
    named = re.search(r"## Command line\n```\n(.*?)```", text, re.DOTALL)[1]
    assert {line.split()[1] for line in named.splitlines()} | {"robots"} == {
        c.name or c.callback.__name__ for c in app.registered_commands
    }
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"(?:`|^)make ([a-z]+)", text, re.MULTILINE)) <= set(targets)


@pytest.mark.parametrize("title", ["Equations in closed form", "Motion"])
def test_the_other_examples_of_the_readme_run(title, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text()
    # half as long as printed
    code = re.search(rf"## {title}\n```python\n(.*?)```", text, re.DOTALL)[1].replace("duration=5.0", "duration=2.5")
    crab = mr.load("crab").mechanism(base="m0")
    with contextlib.redirect_stdout(io.StringIO()):
        names = {"mr": mr, "robot": crab, "my_matrix": crab.equations().M}
        exec(compile(code, "README.md", "exec"), names)
    if title == "Motion":
        run, law = names["run"], names["law"]
        assert run.status.ok
        wanted = law.reference.on(names["robot"])(run.t[2000:])[0]
        assert np.abs(run.q[2000:] - wanted).max() < 1e-3  # the noise of the sensors [rad]: the drives suffice


def test_the_readme_names_every_shipped_module_type():
    text = (ROOT / "README.md").read_text()
    assert all(f"`{name}`" in text for name in catalogue.names())


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_examples_run(path, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_the_readme_module_type_is_one(tmp_path):
    text = (ROOT / "README.md").read_text()
    path = tmp_path / "gripper.yaml"
    path.write_text(re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1])
    hand = mr.Assembly.single("m0", "backbone").dock("hand", mr.module_type(path), at="m0/3", by="back")
    assert [j.name for j in hand.mechanism().joints] == ["m0/hinge", "hand/slide"]
