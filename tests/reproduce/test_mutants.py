"""The mutants themselves: each changes the library as it is, and the document says who noticed."""

from pathlib import Path

import pytest

from mutants.__main__ import ROOT, Notice, chosen
from mutants.breaks import MUTANTS, Mutant
from mutants.looking import first_line, looked
from reproduce import FIGURES, Check
from reproduce.check import Reproduction

NAMES = {m.name for m in MUTANTS}
PACKAGE = ROOT / "src" / "modurob"
DOCUMENT = (ROOT / "docs" / "reproduce.md").read_text()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_a_mutant_breaks_one_place_of_the_library(mutant, tmp_path):
    copy = tmp_path / mutant.file
    copy.parent.mkdir(parents=True)
    before = (PACKAGE / mutant.file).read_text()
    copy.write_text(before)
    mutant.apply(tmp_path)
    after = copy.read_text()
    assert after != before
    assert len(after) - len(before) == len(mutant.new) - len(mutant.old)
    assert mutant.figure in FIGURES
    assert all((ROOT / "tests" / name.split("::")[0]).is_file() for name in mutant.tests)


def test_names_are_told_apart_and_in_the_document():
    names = [m.name for m in MUTANTS]
    assert len(set(names)) == len(names) >= 20
    assert [name for name in names if f"| {name} | `" not in DOCUMENT] == []
    assert "NOT NOTICED" not in DOCUMENT


def test_twenty_and_more_are_noticed_by_both():
    assert sum(not m.unseen for m in MUTANTS) >= 20
    rows = {name: row for row in DOCUMENT.splitlines() if (name := row[2:].partition(" | `")[0]) in NAMES}
    assert [m.name for m in MUTANTS if ("| not: " in rows[m.name]) != bool(m.unseen)] == []


def test_a_text_that_is_not_there_is_refused(tmp_path):
    Path(tmp_path, "a.py").write_text("one two two")
    for old, times in (("two", 2), ("three", 0)):
        with pytest.raises(ValueError, match=rf"mutant 'm': '{old}' stands {times} times in a\.py: expected once"):
            Mutant("m", "a.py", old, "", "AIM", ()).apply(tmp_path)


def test_all_must_notice_but_what_the_sources_do_not_have():
    seen, unseen = Mutant("m", "a.py", "", "", "AIM", ()), Mutant("m", "a.py", "", "", "AIM", (), "no springs")
    assert Notice(seen, "AIM: twists", "test_a.py").enough
    assert not Notice(seen, None, "test_a.py").enough
    assert not Notice(seen, "AIM: twists", None).enough
    assert Notice(unseen, None, "test_a.py").enough
    assert not Notice(unseen, None, None).enough
    assert Notice(unseen, None, None).row == ("m", "`a.py`", "not: no springs", "NOT NOTICED")
    assert Notice(seen, None, "test_a.py").row[2] == "NOT NOTICED"


def test_mutants_are_chosen_by_a_part_of_their_names():
    found = chosen(MUTANTS, ["gyroscopic", "Kalman"], unbroken=False)
    assert [m.name for m in found] == ["gyroscopic term times 1.1", "Kalman gain"]
    assert chosen(MUTANTS, [], unbroken=False) == list(MUTANTS)
    *broken, whole = chosen(MUTANTS, ["Kalman"], unbroken=True)
    assert (whole.name, whole.tests) == ("nothing", broken[0].tests)


def test_the_first_line_that_does_not_pass_is_told(monkeypatch):
    slow, wrong = Check("", "numeric set-up", 0.0, 2.0, 1.0), Check("", "angles", 0.0, 2.0, 1.0)
    for number in FIGURES:
        monkeypatch.setitem(FIGURES, number, lambda: Reproduction([slow], None))
    assert looked("8") is None
    monkeypatch.setitem(FIGURES, "15", lambda: Reproduction([slow, wrong], None))
    assert looked("8") == "15: angles"
    monkeypatch.setitem(FIGURES, "8", lambda: 1 / 0)
    assert first_line("8") == looked("8") == "8: ZeroDivisionError"
