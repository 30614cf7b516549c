"""Mutated inputs end in a result or in a library error: what once failed, and a sample of new mutations.

`make fuzz` runs many more.
"""

from importlib import import_module
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from fuzz import TARGETS, Failure, address, hunt, kept
from fuzz.hunting import answers
from fuzz.mutation import mutated_bytes, mutated_data, mutated_text
from tests.fuzz import sleeping

CASES = Path(__file__).parent / "cases"
SAMPLE, SEED = 80, 20120509


@pytest.mark.filterwarnings("ignore::modurob.errors.ModurobWarning")
@pytest.mark.parametrize("target", TARGETS)
def test_valid_inputs_give_results(target):
    """A target that refuses what is valid would see nothing behind its reader."""
    module = import_module(address(target))
    for data in module.inputs():
        module.run(data)


@pytest.mark.parametrize("target", sorted(folder.name for folder in CASES.iterdir()))
def test_what_once_failed(target):
    files = sorted((CASES / target).iterdir())
    ended = list(answers(address(target), *files))
    assert [number for number, _, _ in ended] == list(range(len(files)))
    assert [(files[number].name, what) for number, kind, what in ended if kind == "raised"] == []


@pytest.mark.parametrize("target", TARGETS)
def test_a_sample(target):
    counts, failures = hunt(target, SAMPLE, SEED)
    assert failures == []
    assert counts.total() == SAMPLE
    # neither all the same nor all refused: mutations get past the first check
    assert counts["result"] > SAMPLE / 50
    assert counts["refused"] > SAMPLE / 50


def test_every_way_to_fail_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr("fuzz.hunting.PATIENCE", 30.0)
    files = [tmp_path / f"{i}" for i in range(len(sleeping.WAYS))]
    for file, way in zip(files, sleeping.WAYS, strict=True):
        file.write_text(way)
    found, left = [], files
    while left:
        ended = list(answers(sleeping.__name__, *left))
        found += [(kind, what) for _, kind, what in ended]
        left = left[len(ended) :]
    assert found == [
        ("result", ""),
        ("refused", "InputError: found this: expected that"),
        ("raised", "KeyError: 'raw' (sleeping.py:25)"),
        ("raised", "more than 5 s of processor time"),
        ("raised", "1.5 GB of memory: expected at most 1 GB"),
        ("raised", "killed by SIGABRT"),
        ("result", ""),
    ]


def test_failures_are_kept(tmp_path):
    failure = Failure("matrix", 3, 5, "KeyError")
    path = kept(failure, tmp_path)
    assert path.parent == tmp_path / "matrix"
    assert path.read_bytes() == failure.data == Failure("matrix", 3, 5, "again").data
    assert failure.data != Failure("matrix", 4, 5, "another seed").data


def test_mutations_change_what_they_are_given():
    text, data = "modules: {m0: backbone}\n" * 3, {"modules": {"m0": "backbone"}, "gravity": [0, 0, -9.81]}
    changed = [mutated_text(Random(i), text) != text for i in range(100)]
    assert sum(changed) > 90
    assert sum(mutated_data(Random(i), data) != data for i in range(100)) > 90
    assert sum(mutated_bytes(Random(i), text.encode()) != text.encode() for i in range(100)) > 80
    assert data == {"modules": {"m0": "backbone"}, "gravity": [0, 0, -9.81]}


def test_the_command(tmp_path):
    import typer

    from fuzz.__main__ import command

    app = typer.Typer()
    app.command()(command)
    done = CliRunner().invoke(app, ["matrix", "--mutations", "20", "--keep", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    assert "matrix" in done.output
    with pytest.raises(ValueError, match="no target 'matrx': did you mean 'matrix'"):
        CliRunner().invoke(app, ["matrx"], catch_exceptions=False)
