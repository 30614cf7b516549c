"""What is published is what stands here: one version, the Makefile's commands in CI, every data file in the wheel."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import modurob as mr
from scripts import package

ROOT = Path(__file__).parent.parent


def test_the_version_stands_in_one_place():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/modurob/__init__.py"
    assert re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == mr.__version__
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == mr.__version__


def test_ci_and_pre_commit_run_the_makefile():
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    made = [c for c in commands if c.startswith("make ")]
    assert made == ["make test", "make package", "make docs"]
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    assert [hook["entry"] for hook in hooks] == ["make check"]
    assert {c.split()[1] for c in (*made, "make check")} <= targets


def test_the_package_is_typed_and_has_its_data():
    files = package.data_files(package.SOURCE)
    assert {
        "py.typed",
        "viewer/static/page.html",
        "studio/static/index.html",
        "catalogue/modules/backbone.yaml",
    } <= files
    assert not any("__pycache__" in name for name in files)


def test_a_command_that_fails_is_told_with_its_words():
    with pytest.raises(SystemExit, match="ended with 3\nno"):
        package.run("sh", "-c", "echo no; exit 3")
