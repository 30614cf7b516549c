"""Faults that the checks of version 0.1.0 did not see, each brought back into a copy of the library (entry 26).

Also seen by: tests/reproduce/test_figures.py (other legs, masses, rods, filters, numbers of tables) and `make mutants`, whose table
in docs/reproduce.md holds these four and more.
"""

import shutil
from pathlib import Path

import pytest

from modurob.kernels import compiler
from mutants.__main__ import ROOT, run
from mutants.breaks import MUTANTS
from tests.sampling import sampled

NAMED = {mutant.name: mutant for mutant in MUTANTS}
LOOK = "import sys; from mutants.looking import first_line; print(*map(first_line, sys.argv[1:]), sep='\\n')"

# a figure that the fault passed, or one that was added for it; `make mutants` looks at all
BLIND = {
    "gyroscopic term times 1.1": ("13",),
    "one leg of the crab on another face": ("table III",),
    "module mass": ("6.6",),
    "hinge axis x to z": ("table I",),
}


def broken(folder: Path, name: str) -> Path:
    """A copy of the library with one fault."""
    package = folder / "src" / "modurob"
    shutil.copytree(ROOT / "src" / "modurob", package, ignore=shutil.ignore_patterns("__pycache__"))
    NAMED[name].apply(package)
    return package


@pytest.mark.parametrize("name", sampled(BLIND, (3,)))
def test_a_fault_that_passed_every_figure_is_seen(tmp_path, name):
    figures = BLIND[name]
    done = run(broken(tmp_path, name), compiler.cache_folder(), "-c", LOOK, *figures)
    lines = done.stdout.splitlines()
    assert len(lines) == len(figures), done.stderr
    assert [line for line in lines if line == "None"] == []
