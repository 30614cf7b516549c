"""Every figure of the sources is found again, and a judge of another robot would not agree."""

import runpy
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import modurob as mr
from modurob.errors import InputError
from modurob.simulation import RungeKutta4, simulate
from reproduce import (
    FIGURES,
    Check,
    figure_2_5,
    figure_2_16,
    figure_4_2,
    figure_5_4,
    figure_5_9,
    figure_6_6,
    figure_8,
    figure_11,
    figure_13,
    figure_15,
    lwa4p,
    lwa_drives,
    picture_name,
    reproduce,
    tables,
)
from reproduce.__main__ import command
from reproduce.document import check_table, written
from reproduce.engine import PLANTS, Engine

WITHOUT_PICTURE = ("table 3.1", "table I", "table II", "table III", "3.5", "AIM", "Sepp 2.14")
DOCUMENT = (Path(__file__).parents[2] / "docs" / "reproduce.md").read_text()


# runs of many seconds, and equations of many terms
LONG = ["15", "4.2", "6.4", "LWA 4.9", "Lieskovsky 5.7", *(f"Lieskovsky 5.{k}" for k in range(9, 15))]


@pytest.mark.parametrize("number", [pytest.param(n, marks=pytest.mark.judge) if n in LONG else n for n in FIGURES])
def test_a_figure_is_found_again(number, tmp_path):
    checks = reproduce(tmp_path, only=[number])
    assert checks
    assert [c for c in checks if not c.passed] == []
    assert {c.figure for c in checks} == {title(number)}
    assert [c.what for c in checks if c.what not in DOCUMENT] == []
    pictures = [p.name for p in tmp_path.iterdir()]
    assert pictures == ([] if number in WITHOUT_PICTURE else [picture_name(number)])
    assert all((tmp_path / name).read_bytes().startswith(b"\x89PNG") for name in pictures)


def title(number):
    """How the lines of a figure or table are headed."""
    if number == "AIM":
        return "AIMs of both"
    if number.startswith("Lieskovsky"):
        return f"Lieskovsky Fig. {number.removeprefix('Lieskovsky ')}"
    if number.startswith("Sepp"):
        return f"Sepp et al. Fig. {number.removeprefix('Sepp ')}"
    if number.startswith("LWA"):
        return {"LWA 3.12": lwa_drives.MOTORS, "LWA 4.9": lwa_drives.LOOPS}[number]
    source = "Gutenkunst" if "." in number else "Meister et al."
    return f"{source} {number.replace('table', 'Table') if 'table' in number else f'Fig. {number}'}"


# ---- the checks can fail ----


def failed(figure):
    return {c.what for c in figure.reproduced().checks if not c.passed}


def test_lagrange_with_a_rod_too_long_disagrees(monkeypatch):
    monkeypatch.setattr(figure_5_4, "DURATION", 2.0)
    run, judged = figure_5_4.compared(figure_5_4.load("double_pendulum"), (10.0, 10.001), (1.0, 1.0))
    assert np.abs(run.q - judged.q).max() > 1e4 * figure_5_4.APART


def test_the_printed_equations_are_not_those_of_modules_with_extent():
    robot = figure_5_4.hanging(
        figure_5_4.load("double_pendulum").with_parameters({"m2": {"Ixx": 1, "Iyy": 1, "length": 6}})
    )
    assert figure_5_4.unlike_printed(robot) == 4  # all of M; C and N stay


def test_a_pendulum_by_hand_with_another_mass_disagrees(monkeypatch):
    monkeypatch.setattr(figure_8, "MASSES", (1.0, 1.001))
    monkeypatch.setattr(figure_8, "DURATION", 2.0)
    assert len(failed(figure_8)) == 3


def test_a_force_from_outside_moves_the_centre_of_mass(monkeypatch):
    monkeypatch.setattr(figure_5_9.RandomLaw, "step", lambda self, memory, t, x: (memory, np.full(x.v.shape, 1e-6)))
    assert len(failed(figure_5_9)) == 3


def test_the_free_organisms_do_move():
    run = figure_5_9.shaken(figure_5_9.load("crab").mechanism(floating=True, gravity=(0, 0, 0)))
    assert np.ptp(run.q[:, -3:], axis=0).min() > 0.5


def test_with_the_gains_as_printed_joint_2_is_the_slower_one(monkeypatch):
    right = figure_6_6.gains_by_poles(figure_6_6.POLES)
    monkeypatch.setattr(figure_6_6, "gains_by_poles", lambda poles: right._replace(kp=right.kd, kd=right.kp))
    assert {"Kp of joint 1", "Kd of joint 2", "poles of robot and law, off by"} < failed(figure_6_6)
    slow, slower = figure_6_6.responses(right.kd, right.kp, np.linspace(0, 4, 100))[-1]
    assert slower < slow


def test_an_engine_with_a_gram_more_disagrees():
    crab = figure_11.load("crab").robot().ideal()
    run = simulate(crab, figure_11.BENT, duration=0.5, stepper=RungeKutta4(1e-3))
    text = (PLANTS / "crab.xml").read_text()
    leg = text.index('name="m3"')
    heavier = text[:leg] + text[leg:].replace('mass="1"', 'mass="1.001"', 1)
    same, other = (Engine(xml).run(figure_11.BENT, 0.5, 1e-3).q for xml in (text, heavier))
    assert np.abs(same - run.q).max() < figure_11.APART["angle"]
    assert np.abs(other - run.q).max() > 1e3 * figure_11.APART["angle"]


def other_leg(name):
    """The crab with one leg docked to another face: of the same motion, its modules being cubes."""
    aim = mr.load("crab").aim()
    aim[3, 2] = 4
    return mr.Assembly.from_aim(aim, "backbone") if name == "crab" else mr.load(name)


def heavy(name):
    """A robot of modules of 2 kg: of the same motion where it falls freely."""
    robot = mr.load(name)
    return robot.with_parameters({m: {"mass": 2} for m in robot.modules})


def test_a_leg_docked_to_another_face_is_seen(monkeypatch):
    monkeypatch.setattr(tables, "load", other_leg)
    assert {c.what for c in tables.table_3().checks if not c.passed} == {"DTL: rows unlike"}
    assert len([c for c in tables.aims().checks if not c.passed]) == 2
    monkeypatch.setattr(figure_11, "load", other_leg)
    monkeypatch.setattr(figure_11, "longer", lambda crab: [])
    assert failed(figure_11) == {"poses of the modules"}


def test_masses_doubled_are_seen(monkeypatch):
    monkeypatch.setattr(figure_13, "load", heavy)
    monkeypatch.setattr(figure_13, "DURATION", 1.0)
    assert failed(figure_13) == {f"{law}: the same law on MuJoCo's crab, against SciPy" for law in ("PD", "PID")}
    monkeypatch.setattr(figure_6_6, "load", heavy)
    assert failed(figure_6_6) == {"the same law on MuJoCo's pendulum, against SciPy"}


def test_a_filter_of_other_noise_is_not_that_of_riccati_and_theory(monkeypatch):
    right, crab = figure_15.estimator, figure_15.load("crab").robot().ideal()
    monkeypatch.setattr(figure_15, "estimator", lambda Q: replace(right(Q), R=1.5 * np.eye(3)))
    _, lines = figure_15.judged(Engine.load("crab"), crab, figure_15.READINGS["Q angles first"], "")
    assert [c.verdict for c in lines[:2]] == ["FAIL", "FAIL"]


@pytest.mark.parametrize(
    ("table", "numbers", "wrong"),
    [
        (tables.table_3_1, "TURNS", {0: [(3, 5)]}),
        (tables.table_1, "RANGES", {"backbone": {"hinge": 91}}),
        (tables.table_1, "AXES", {"hinge": (0, 0, 1), "turn": (0, 1, 0)}),
        (tables.table_2, "CLASSES", {"DS": [(2, 3)]}),
        (tables.table_3, "LACKING", []),
        (tables.lists_3_5, "TREE_DIRECT", tables.TREE_DIRECT[1:]),
        (tables.aims, "CRANE_AIM", tables.PENDULUM_AIM),
    ],
)
def test_a_table_with_another_number_disagrees(table, numbers, wrong, monkeypatch):
    monkeypatch.setattr(tables, numbers, wrong)
    assert any(not c.passed for c in table().checks)


# ---- without the judges ----


def test_without_mujoco_its_lines_are_skipped_and_not_passed(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    for figure in (figure_11, figure_15):
        (line,) = figure.reproduced().checks
        assert not line.passed
        assert line.found_text == "skipped: pip install modurob[judges]"
    monkeypatch.setattr(figure_13, "DURATION", 1.0)
    verdicts = [c.verdict for c in figure_13.reproduced().checks]
    assert verdicts == ["pass", "pass", "skipped", "pass", "skipped", "skipped"]


def test_without_a_compiler_the_compiled_lines_are_skipped(monkeypatch):
    monkeypatch.setattr(figure_4_2, "MODULES", range(1, 3))
    monkeypatch.setattr(figure_4_2, "compiled_evaluation", lambda robot, state: None)
    verdicts = [c.verdict for c in figure_4_2.reproduced().checks]
    assert verdicts == ["pass"] * 3 + ["skipped"] * 3 + ["pass"] * 2


# ---- the run through them ----


def test_the_run_tells_how_far_it_is(tmp_path, monkeypatch):
    for number in ("8", "5.4"):
        monkeypatch.setitem(FIGURES, number, lambda: ([], figure_8.panels("", [""])[0]))
    told = []
    assert reproduce(tmp_path / "new" / "folder", ["8", "5.4"], lambda figure, done: told.append((figure, done))) == []
    assert told == [("5.4", 0.0), ("8", 0.5), ("", 1.0)]
    assert len(list((tmp_path / "new" / "folder").iterdir())) == 2


def test_a_figure_that_is_none_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no figure '5\.5': did you mean '5\.[489]'\? valid: 4\.2, .*, 15"):
        reproduce(tmp_path / "out", ["8", "5.5"])
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"file: expected a folder, or a place for one: File exists"):
        reproduce(tmp_path / "file", ["8"])


# ---- tables in documents ----


def test_a_table_is_written_between_its_marks(tmp_path):
    path = tmp_path / "document.md"
    path.write_text("before\n<!-- checks -->\nold\n<!-- end of checks -->\nafter\n")
    lines = [Check("Fig. 8", what, 0.0, 1e-9, 1e-8, "rad") for what in ("angles", "rates")]
    written(path, "checks", check_table(lines))
    assert path.read_text().splitlines() == [
        "before",
        "<!-- checks -->",
        "| figure | what | expected | found |  |",
        "|---|---|---|---|---|",
        "| Fig. 8 | angles | at most 1e-08 rad | 1e-09 rad | pass |",
        "|  | rates | at most 1e-08 rad | 1e-09 rad | pass |",
        "<!-- end of checks -->",
        "after",
    ]


def test_a_document_without_marks_is_refused(tmp_path):
    path = tmp_path / "document.md"
    path.write_text("nothing")
    with pytest.raises(InputError, match=r"no place for the table: expected the lines '<!-- checks -->' and"):
        written(path, "checks", "")


# ---- the command ----


def test_the_command_draws_and_checks_a_figure(tmp_path):
    app = typer.Typer()
    app.command()(command)
    done = CliRunner().invoke(app, ["--only", "6.6", "--out", str(tmp_path)])
    assert done.exit_code == 0
    assert "8 of 8 passed" in done.output
    assert (tmp_path / "figure_6_6.png").is_file()


def test_the_command_ends_with_an_error_if_a_line_fails(tmp_path, monkeypatch):
    failing = Check("Fig. 8", "angles", 0.0, 1.0, 0.5)
    monkeypatch.setitem(FIGURES, "8", lambda: ([failing], figure_8.panels("", [""])[0]))
    app = typer.Typer()
    app.command()(command)
    done = CliRunner().invoke(app, ["--only", "8", "--out", str(tmp_path)])
    assert (done.exit_code, "0 of 1 passed" in done.output) == (1, True)


def test_the_command_names_a_figure_that_is_none(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["reproduce", "--only", "9.9"])
    monkeypatch.delitem(sys.modules, "reproduce.__main__")
    with pytest.raises(SystemExit, match=r"^error: no figure '9\.9': "):
        runpy.run_module("reproduce", run_name="__main__")


def test_another_start_or_goal_of_the_lwa4p_is_seen(monkeypatch):
    monkeypatch.setattr(lwa4p, "START", np.add(lwa4p.START, [0, 0.1, 0, 0, 0, 0]))
    assert "alpha 6.2: iterations" in {c.what for c in figure_2_5.convergence().checks if not c.passed}
    monkeypatch.setitem(figure_2_16.GOALS, 3, np.add(lwa4p.GOALS[3], [0.01, 0, 0, 0, 0, 0]))
    assert "goal 3: stalls short of it by" in {c.what for c in figure_2_16.goal_3().checks if not c.passed}
