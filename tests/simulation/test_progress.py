"""How far a run is, on a terminal and in a file of messages."""

import pytest
from typer.testing import CliRunner

import modurob as mr
from modurob.cli import app
from modurob.simulation import progress
from modurob.simulation.progress import progress_bar


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(progress, "PAUSE", -1.0)


@pytest.mark.parametrize("count", [7, 10, 1000])
def test_lines_are_written_for_each_tenth_where_there_is_no_terminal(impatient, capsys, count):
    with progress_bar("crab") as tell:
        for k in range(count):
            tell((k + 1) / count)
    lines = capsys.readouterr().err.splitlines()
    assert min(count, 10) <= len(lines) <= 11
    assert lines[-1] == "crab: 100 % after 0 s"
    shares = [int(line.split()[1]) for line in lines]
    assert shares == sorted(set(shares))


def test_nothing_is_written_of_short_runs(capsys):
    with progress_bar("crab") as tell:
        tell(0.5)
    assert capsys.readouterr().err == ""


def test_lines_are_not_written_all_at_once(capsys, monkeypatch):
    now = iter(range(100))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(now)))
    with progress_bar("crab") as tell:
        for k in range(20):
            tell((k + 1) / 20)
    assert [line.split()[4] for line in capsys.readouterr().err.splitlines()] == ["6", "12", "18"]


def test_runs_from_python_write_lines(impatient, capsys):
    crab = mr.load("crab")
    mr.simulate(crab, duration=0.01, estimator=mr.ExtendedKalmanFilter(mr.HallSensors(noise=1e-3)))
    mr.World({"crab": mr.Organism(crab)}).run(0.01)
    lines = capsys.readouterr().err.splitlines()
    ended = [line.partition(" after ")[0] for line in lines if "100 %" in line]
    assert ended == ["crab: 100 %", "world of crab: 100 %"]


@pytest.mark.parametrize("command", ["robustness", "simulate"])
def test_commands_write_lines(impatient, command):
    done = CliRunner().invoke(app, [command, "crab", "--duration", "0.01"], catch_exceptions=False)
    lines = done.stderr.splitlines()
    assert len(lines) >= 9
    assert all("crab: " in line and " % after " in line for line in lines)
