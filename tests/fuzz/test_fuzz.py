"""Mutated inputs end in a result or in a library error: what once failed, and a sample of new mutations.

`make fuzz` runs many more.
"""

from collections import Counter
from importlib import import_module
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from fuzz import TARGETS, Failure, address, kept
from fuzz.hunting import answers
from fuzz.mutation import mutated_bytes, mutated_data, mutated_text
from fuzz.worker import mutation
from tests.fuzz import every, sleeping

CASES = Path(__file__).parent / "cases"
SAMPLE, SEED = 50, 20120509


@pytest.mark.filterwarnings("ignore::modurob.errors.ModurobWarning")
@pytest.mark.parametrize("target", TARGETS)
def test_valid_inputs_give_results(target):
    """A target that refuses what is valid would see nothing behind its reader."""
    module = import_module(address(target))
    for data in module.inputs():
        module.run(data)


def ended(folder, cases):
    """How inputs end, (target, what, said) each; a process that one of them ends says nothing of the next."""
    files = [folder / f"{k}" for k in range(len(cases))]
    for file, case in zip(files, cases, strict=True):
        file.write_bytes(every.packed(*case))
    found = list(answers(every.__name__, *files))
    assert [number for number, _, _ in found] == list(range(len(found)))
    return [(cases[number][0], kind, what) for number, kind, what in found]


def test_what_once_failed(tmp_path):
    files = sorted(CASES.glob("*/*"))
    found = ended(tmp_path, [(file.parent.name, file.read_bytes()) for file in files])
    names = [file.name for file in files[: len(found)]]
    assert [(name, *one) for name, one in zip(names, found, strict=True) if one[1] == "raised"] == []
    assert len(found) == len(files) > 10


def test_a_sample(tmp_path):
    cases = [(t, mutation(import_module(address(t)), SEED, n)) for t in TARGETS for n in range(SAMPLE)]
    found = ended(tmp_path, cases)
    assert [one for one in found if one[1] == "raised"] == []
    counts = Counter((target, kind) for target, kind, _ in found)
    assert counts.total() == len(TARGETS) * SAMPLE
    # neither all the same nor all refused: mutations get past the first check
    assert [t for t in TARGETS for kind in ("result", "refused") if not counts[t, kind]] == []


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
        ("raised", "KeyError: 'raw' (sleeping.py:26)"),
        ("raised", "more than 5 s of processor time"),
        ("raised", "0.2 GB of memory: expected at most 0.1 GB"),
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
