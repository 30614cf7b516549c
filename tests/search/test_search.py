"""Searches: what they find does not depend on who measures, and nothing is lost or counted twice whatever is killed."""

import base64
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import modurob as mr
from modurob.cli import app
from modurob.errors import AssemblyError, InputError, SearchError
from modurob.search.crew import Processes
from modurob.search.evolution import front
from modurob.search.forms import key, standard
from modurob.search.operators import OPERATORS, Parts, changed, grown
from modurob.search.page import page
from tests.sampling import sampled
from tests.search.run import SETTINGS
from tests.search.tasks import Deadly, Faulty, Spread, Thorough

ROOT = Path(__file__).parents[2]


def found(task=None, **more):
    return mr.search_designs("backbone", task=task or Spread(), **{**SETTINGS, "workers": 0, **more})


def facts(designs) -> list:
    return [(d.key, d.assembly, d.generation, d.operator, d.parents, dict(d.measures)) for d in designs.designs]


@pytest.fixture(scope="module")
def whole():
    return facts(found())


def kept(folder: Path) -> list[str]:
    return [json.loads(line)["key"] for line in (folder / "measures.jsonl").read_text().splitlines()]


# ---- who measures ----


@pytest.mark.parametrize("workers", sampled((2, 4), 1))
def test_workers_of_which_one_is_killed_find_the_same(workers, whole, tmp_path: Path):
    log = tmp_path / "log"
    task = Deadly(str(log), 0.0, str(tmp_path / "marker"))
    assert facts(found(task, workers=workers)) == whole
    assert (tmp_path / "marker").exists()
    assert set(Counter(log.read_text().split()).values()) == {1}


def test_a_design_that_kills_every_worker_is_refused():
    designs = found(
        Deadly(), workers=1, generations=1, population=2, start=[mr.load("crab").undock("m5")], modules=(4, 4)
    )
    assert {d.measures["refused"] for d in designs.designs if len(d.assembly) == 4} == {"its worker died 3 times"}
    assert [d.ok for d in designs.designs if len(d.assembly) == 5] == [True]


def test_idle_workers_that_die_are_replaced(whole):
    with Processes(1) as crew:
        for pid in crew.pids:
            os.kill(pid, signal.SIGKILL)
        jobs = [(k, a) for k, a, *_ in whole]
        assert dict(crew.measured(Spread(), jobs)) == {k: m for k, *_, m in whole}


def test_a_task_that_fails_refuses_the_design():
    designs = found(Faulty(), workers=1, generations=1)
    assert {d.measures["refused"] for d in designs.designs} == {"ZeroDivisionError: division by zero"}
    with pytest.raises(SearchError, match=r"no design of 12 was fit for the task: ZeroDivisionError"):
        _ = designs.best


# ---- what is killed ----


def start(folder: Path, log: Path, workers: int, *more: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "tests.search.run", str(folder), str(log), str(workers), *more]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def resumed(folder: Path, log: Path) -> list:
    """The search taken up; what was kept before is not measured again, and all else once."""
    before, already = kept(folder), Counter(log.read_text().split())
    log.write_text("")
    result = facts(mr.search_designs("backbone", task=Spread(str(log), 0.05), folder=folder, workers=0, **SETTINGS))
    measured = Counter(log.read_text().split())
    assert set(measured.values()) == {1}
    assert not set(measured) & set(before)
    assert set(before) <= set(already)
    assert len(kept(folder)) == len(set(kept(folder))) == len(result)
    return result


def test_the_search_itself_is_killed(whole, tmp_path: Path):
    folder, log = tmp_path / "search", tmp_path / "log"
    process = start(folder, log, 2)
    until = time.monotonic() + 60
    while not (folder / "measures.jsonl").exists() or len((folder / "measures.jsonl").read_bytes()) < 1500:
        assert time.monotonic() < until
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    # what workers were at is not kept; they end without a word, and with them the pipe that all of them hold
    assert process.communicate(timeout=30) == ("", "")
    assert 0 < len(kept(folder)) < len(whole)
    assert resumed(folder, log) == whole


def test_the_disk_is_full(whole, tmp_path: Path):
    """The kernel cuts a line in two, as a full disk does."""
    folder, log = tmp_path / "search", tmp_path / "log"
    out, said = start(folder, log, 1, "2000").communicate(timeout=60)
    assert "designs are kept, and no more can be written" in said
    assert not out
    content = (folder / "measures.jsonl").read_bytes()
    assert len(content) == 2000
    assert not content.endswith(b"\n")
    (folder / "measures.jsonl").write_bytes(content[: content.rfind(b"\n") + 1] + b'{"key": "half a li')
    assert resumed_after_cut(folder, log) == whole


def resumed_after_cut(folder: Path, log: Path) -> list:
    path = folder / "measures.jsonl"
    torn = path.read_bytes()
    path.write_bytes(torn[: torn.rfind(b"\n") + 1])
    lines = len(kept(folder))
    path.write_bytes(torn)
    log.write_text("")
    result = facts(mr.search_designs("backbone", task=Spread(str(log), 0.05), folder=folder, workers=0, **SETTINGS))
    assert len(log.read_text().split()) == len(result) - lines
    assert len(kept(folder)) == len(set(kept(folder))) == len(result)
    return result


def test_a_search_stops_when_told_and_goes_on(whole, tmp_path: Path):
    seen = []
    task, folder = Spread(), tmp_path / "search"
    part = found(task, folder=folder, progress=lambda p: seen.append(p) or len(seen) < 20)
    assert 20 <= len(part) < len(whole)
    assert seen[-1].generation == 1
    assert seen[-1].best is not None
    quick = found(task, folder=folder, seconds=0.0)
    assert len(kept(folder)) <= 22
    assert len(quick) <= 24
    assert facts(found(task, folder=folder)) == whole
    assert facts(found(task, folder=folder, generations=2)) == facts(found(generations=2))


def test_folders_of_other_searches(tmp_path: Path):
    found(folder=tmp_path / "one", generations=1)
    with pytest.raises(SearchError, match="holds another search: seed 3, now 4"):
        found(folder=tmp_path / "one", seed=4)
    (tmp_path / "one/measures.jsonl").write_text("{}\n")
    with pytest.raises(SearchError, match="line 1: no measures of a design"):
        found(folder=tmp_path / "one", generations=1)
    (tmp_path / "one/search.json").write_text("no")
    with pytest.raises(SearchError, match="no settings of a search"):
        found(folder=tmp_path / "one", generations=1)
    (tmp_path / "file").write_text("")
    with pytest.raises(SearchError, match="no folder for a search"):
        found(folder=tmp_path / "file")


def test_two_searches_in_one_folder(tmp_path: Path):
    def again(_):
        with pytest.raises(SearchError, match="another search is running there"):
            found(folder=tmp_path)
        return False

    found(folder=tmp_path, progress=again)


# ---- what is found ----


def test_all_assemblies_are_listed():
    designs = found(method="all", modules=3)
    assert len(designs) == 1 + 14 + 204
    assert {d.operator for d in designs.designs} == {"list"}


def test_fronts_by_definition(rng: np.random.Generator):
    values = rng.integers(0, 6, size=(60, 3)).astype(float)
    beaten = [any((o >= v).all() and (o > v).any() for o in values) for v in values]
    assert front(values).tolist() == [not b for b in beaten]


def test_the_front_and_the_best(whole):
    designs = found(by=["spread", "weight"])
    values = np.array([[d.measures["spread"], -d.measures["weight"]] for d in designs.designs if d.ok])
    assert len(designs.front) == front(values).sum()
    assert designs.best.measures["spread"] == values[:, 0].max()
    assert designs.history[-1] == (len(whole), designs.best.measures["spread"])
    assert f"{len(whole)} measured" in repr(designs)
    assert len({(d.measures["modules"], d.measures["limbs"]) for d in designs.elites}) == len(designs.elites)


def test_a_start_is_measured_first():
    designs = found(start=[mr.load("crab").undock("m5")], generations=1)
    assert "start" in {d.operator for d in designs.designs}


@pytest.mark.parametrize("name", list(OPERATORS))
def test_operators_change_assemblies(name: str, rng: np.random.Generator):
    parts = Parts((mr.module_type("backbone").module(), mr.module_type("scout").module()), None, 3, 8)
    others = [grown(parts, rng) for _ in range(4)]
    made = []
    for parent in others * 5:
        try:
            made.append((parent, OPERATORS[name](parent, parts, rng, others)))
        except mr.ModurobError:
            continue
    assert any(key(parent) != key(child) for parent, child in made)
    assert all(len(child.connections) == len(child) - 1 for _, child in made)


def test_congruent_assemblies_have_one_form(rng: np.random.Generator):
    """Names, base, and a module turned onto itself do not count; what differs does."""
    parts = Parts((mr.module_type("backbone").module(), mr.module_type("scout").module()), None, 5, 8)
    for _ in range(10):
        a = grown(parts, rng)
        b = a.rerooted(list(a.modules)[-1]).renamed({n: f"x{i}" for i, n in enumerate(reversed(a.modules))})
        assert key(a) == key(b) == key(standard(a))
        assert standard(a) == standard(b)
    one = mr.Assembly.single("a", "backbone").dock("b", "backbone", at="a/2", by="3", roll=90)
    two = mr.Assembly.single("a", "backbone").dock("b", "backbone", at="a/5", by="3", roll=270)
    other = mr.Assembly.single("a", "backbone").dock("b", "backbone", at="a/5", by="3", roll=0)
    assert standard(one) == standard(two) != standard(other)


def test_forms_tell_apart_what_is_listed():
    listed = list(mr.assemblies("backbone", 4, rolls=(0, 180)))
    assert len({key(a) for a in listed}) == len(listed) == 740


def test_loops_have_no_form():
    with pytest.raises(AssemblyError, match="closes a loop"):
        key(mr.Assembly.from_grid("B B\nB B"))


def test_modules_that_do_not_fit():
    parts = Parts((mr.module_type("cube_link").module(),), None, 2, 4)
    with pytest.raises(AssemblyError, match="1 modules could be docked: expected types that fit"):
        grown(parts, np.random.default_rng(0))
    with pytest.raises(AssemblyError, match="no change in 100 tries"):
        changed(mr.Assembly.single("m0", "cube_link"), parts, np.random.default_rng(0), [])


def test_the_best_are_measured_again_with_more_effort(tmp_path: Path):
    """Six finalists with four times the effort, three with sixteen times; once each, also where it is taken up again."""
    log = tmp_path / "log"
    settings = {**SETTINGS, "generations": 2, "workers": 0, "refine": 2, "finalists": 6, "folder": tmp_path / "search"}
    result = mr.search_designs("backbone", task=Thorough(str(log)), **settings)
    middle, first = result.before, result.before.before
    stages = [[(d.key, d.measures["effort"]) for d in x.designs if d.ok] for x in (result, middle, first)]
    assert [{effort for _, effort in stage} for stage in stages] == [{16}, {4}, {1}]
    assert [len(stage) for stage in stages[:2]] == [3, 6]
    best = [key for key, _ in stages[2]]
    assert {key for key, _ in stages[1]} == set(best[:6])
    assert {key for key, _ in stages[0]} == set(best[:3])
    assert result.task == Thorough(str(log), effort=16)
    assert result.stages == (result, middle, first)
    assert repr(result).startswith(f"Designs(3 measured again of {len(first)}, ")
    text = page(result, pictures=1)
    assert f"<h1>{len(first)} designs: " in text
    # what lies behind a robot is the page's, which may be dark
    picture = Image.open(io.BytesIO(base64.b64decode(text.partition("data:image/png;base64,")[2].partition('"')[0])))
    assert picture.getpixel((2, 2))[3] == 0
    assert [text.count(f"<td>{key[:8]}</td>") for key, _ in (stages[0][0], stages[2][-1])] == [3, 1]
    assert "over designs measured" in text  # the course of the first stage
    assert len(log.read_text().split()) == len(result) + len(middle) + len(first)
    log.write_text("")
    again = mr.search_designs("backbone", task=Thorough(str(log)), **settings)
    assert log.read_text() == ""
    assert facts(again) == facts(result)


def test_a_search_that_is_told_to_stop_refines_nothing():
    result = mr.search_designs(
        "backbone", task=Thorough(), **{**SETTINGS, "workers": 0, "refine": 1}, progress=lambda at: at.measured < 5
    )
    assert result.before is None
    assert len(result) == 5


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"task": "wlak"}, "did you mean 'walk'"),
        ({"task": 3}, "task 3: expected a Task"),
        ({"by": ["sped"]}, "goal 'sped' of task 'spread'"),
        ({"modules": (5, 2)}, "expected the largest number, or the least and the largest"),
        ({"method": "best"}, "method 'best': valid: evolve, all"),
        ({"population": 0}, "population 0: expected a whole number of at least 1"),
        ({"seed": -1}, "seed -1"),
        ({"refine": -1}, "refine -1: expected a whole number of at least 0"),
        ({"finalists": 0}, "finalists 0: expected a whole number of at least 1"),
        ({"refine": 1}, "task 'spread' has no harder form"),
        ({"workers": -1}, "-1 workers: expected a number of processes"),
    ],
)
def test_what_cannot_be_searched(given, words: str):
    with pytest.raises(mr.ModurobError, match=words):
        mr.search_designs("backbone", **{**SETTINGS, "task": Spread(), "generations": 1, **given})


def test_numbers_by_type_are_not_searched():
    with pytest.raises(InputError, match="numbers by type"):
        mr.search_designs({"backbone": 3}, 3)


def test_tasks_that_cannot_be_sent():
    class Own(Spread):
        pass

    with pytest.raises(SearchError, match="cannot be sent to workers"):
        found(Own(), workers=1, generations=1)


def test_clusters_need_dask(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SearchError, match=r"pip install modurob\[cluster\]"):
        found(cluster="local")


# ---- tables and pages ----


def test_tables_and_pages(tmp_path: Path):
    import pyarrow.parquet

    designs = found()
    designs.save(tmp_path / "x.parquet")
    designs.save(tmp_path / "x.csv")
    table = pyarrow.parquet.read_table(tmp_path / "x.parquet").to_pylist()
    assert [row["key"] for row in table] == [d.key for d in designs.designs]
    assert mr.loads(table[0]["robot"]) == designs.best.assembly
    assert len((tmp_path / "x.csv").read_text().split("modurob robot 2")) == len(designs) + 1
    designs.page(tmp_path / "x.html", pictures=2)
    assert "over designs measured" in (tmp_path / "x.html").read_text()
    replace(designs, history=designs.history[-1:]).page(tmp_path / "once.html", pictures=1)
    assert "over designs measured" not in (tmp_path / "once.html").read_text()  # a line of one point is none
    pair = replace(designs, designs=tuple(d for d in designs.designs if d.ok)[:2])
    assert page(pair, pictures=0).count("<circle") == 2
    text = (tmp_path / "x.html").read_text()
    assert text.count("data:image/png") == 2
    assert all(f"<td>{d.key[:8]}</td>" in text for d in designs.designs)
    with pytest.raises(InputError, match=r"valid: \.csv, \.parquet"):
        designs.save(tmp_path / "x.txt")


def test_parquet_needs_pyarrow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(SearchError, match=r"pip install modurob\[parquet\]"):
        found(generations=1).save(tmp_path / "x.parquet")


def test_from_the_command_line(tmp_path: Path):
    arguments = [
        "search",
        "backbone",
        "--modules",
        "3",
        "--task",
        "span",
        "--start",
        "crab",
        "--generations",
        "1",
        "--population",
        "3",
        "--workers",
        "0",
        "--folder",
    ]
    said = CliRunner().invoke(app, [*arguments, str(tmp_path / "arms")])
    assert said.exit_code == 0, said.output
    assert "Designs(3 measured" in said.output
    assert {p.name for p in (tmp_path / "arms").iterdir()} == {
        "designs.parquet",
        "index.html",
        "measures.jsonl",
        "search.json",
    }
