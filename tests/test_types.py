"""What a user's editor knows: pyright on a script of a user, with the package's own types."""

import json
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

import modurob as mr

SCRIPT = """\
import modurob as mr

crab = mr.load("crab")
robot = crab.mechanism(base="m0")
run = mr.simulate(robot, duration=1.0, controller=mr.ComputedTorque(100, 20))
reveal_type(crab)
reveal_type(robot)
reveal_type(run.q)
reveal_type(run.t)
reveal_type(run.energy)
reveal_type(run.segments[0].v)
reveal_type(robot.mass_matrix(run.q))
reveal_type(robot.locked(["m0/hinge"]))
reveal_type(mr.urdf(robot))
anything = mr.load("my.yaml")
anything.mechanism()
print(run.q[:, 0].max(), run.t.shape)
"""
KNOWN = {
    6: "Assembly",
    7: "Mechanism",
    8: "ndarray[tuple[Any, ...], dtype[Any]]",
    9: "ndarray[tuple[Any, ...], dtype[Any]]",
    10: "ndarray[tuple[Any, ...], dtype[Any]]",
    11: "ndarray[tuple[Any, ...], dtype[Any]]",
    12: "ndarray[tuple[Any, ...], dtype[Any]]",
    13: "Mechanism",
    14: "str",
}
MISTAKES = {
    "mr.simulate(robot, controler=None)": 'No parameter named "controler"',
    'mr.simulate("crab")': 'cannot be assigned to parameter "robot"',
    "mr.simulat(robot)": '"simulat" is not a known attribute',
    "robot.mass_matirx(q)": 'Cannot access attribute "mass_matirx"',
    "run.qq": 'Cannot access attribute "qq"',
    "run.q.mass": 'Cannot access attribute "mass"',
    "mr.gait('snake', amplitude='big')": 'cannot be assigned to parameter "amplitude"',
    "mr.RungeKutta4(step=1e-3)": 'No parameter named "step"',
    "mr.save(3, 'x.yaml')": 'cannot be assigned to parameter "value"',
}


def checked(folder: Path, text: str) -> dict[int, list[str]]:
    """What pyright says of each line, from 1."""
    package = Path(mr.__file__).parent.parent
    (folder / "script.py").write_text(text)
    settings = {"include": ["script.py"], "extraPaths": [str(package)], "typeCheckingMode": "standard"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    said: dict[int, list[str]] = {}
    for d in json.loads(done.stdout)["generalDiagnostics"]:
        said.setdefault(d["range"]["start"]["line"] + 1, []).append(f"{d['severity']}: {d['message']}")
    return said


@pytest.fixture(scope="module")
def said(tmp_path_factory) -> dict[int, list[str]]:
    """A script of a user with all mistakes at its end."""
    return checked(tmp_path_factory.mktemp("user"), SCRIPT + "q = run.q[0]\n" + "\n".join(MISTAKES) + "\n")


def test_types_are_known(said):
    for line, kind in KNOWN.items():
        (message,) = said[line]
        assert message.startswith("information")
        assert message.endswith(f'is "{kind}"'), message


def test_nothing_else_is_said_of_what_is_right(said):
    right = len(SCRIPT.splitlines()) + 1
    assert {line for line in said if line <= right} == set(KNOWN)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_flagged(said, mistake):
    line = len(SCRIPT.splitlines()) + 2 + list(MISTAKES).index(mistake)
    assert any(m.startswith("error") and MISTAKES[mistake] in m for m in said[line]), said.get(line)


def test_the_mark_of_typed_packages_is_there_and_shipped():
    assert (resources.files("modurob") / "py.typed").is_file()
    # all files below the package go into the wheel
    project = Path(__file__).parent.parent / "pyproject.toml"
    assert 'packages = ["src/modurob"]' in project.read_text()
    ignored = (Path(__file__).parent.parent / ".gitignore").read_text().split()
    assert not any("typed" in line for line in ignored)
