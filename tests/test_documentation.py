"""Every public name says what it is, with an example that runs; the words are those of the field."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import modurob as mr
from modurob.caching import cached_property
from tests import examples

ROOT = Path(__file__).parent.parent
CLASSES = (
    "Mechanism",
    "Assembly",
    "Recording",
    "Simulation",
    "World",
    "Builder",
    "Trajectory",
    "PoseTrajectory",
    "Gait",
    "Fleet",
)
PARTS = (property, cached_property, classmethod, staticmethod)


def public() -> Iterator[tuple[str, Any]]:
    """All of `mr.__all__`, and the methods and properties of the classes that users hold."""
    for name in mr.__all__:
        yield name, getattr(mr, name)
    for owner in CLASSES:
        kind = getattr(mr, owner)
        for name in dir(kind):
            part = inspect.getattr_static(kind, name)
            if not name.startswith("_") and (isinstance(part, PARTS) or inspect.isfunction(part)):
                yield f"{owner}.{name}", getattr(kind, name) if isinstance(part, classmethod) else part


PUBLIC = dict(public())


def _returned(thing: Any) -> Any:
    """The type that a function or property returns, as it is written: `Array` where annotations are texts."""
    thing = thing.fget if isinstance(thing, property) else getattr(thing, "func", thing)
    return getattr(thing, "__annotations__", {}).get("return", "")


def test_all_is_looked_at():
    assert len(PUBLIC) > 230
    assert {"Mechanism.mass_matrix", "Mechanism.limits", "Assembly.from_aim", "Recording.q", "World.run"} <= set(PUBLIC)


def test_the_examples_start_from_a_robot_an_assembly_and_a_run():
    assert set(examples.names()) == {"np", "mr", "assembly", "robot", "q", "v", "linkage", "run"}


@pytest.mark.parametrize("name", PUBLIC)
def test_it_says_what_it_is(name):
    """A sentence of its own, not that of a builtin, and an example."""
    text = inspect.getdoc(PUBLIC[name]) or ""
    first = text.split(">>>")[0].strip()
    assert len(first) >= 10, f"{name}: {first!r}"
    assert " " in first
    assert first.rstrip().endswith((".", ":")), f"{name}: no sentence: {first!r}"
    assert ">>> " in text, f"{name} has no example"


ARRAYS = [
    n for n, f in PUBLIC.items() if n.startswith("Mechanism.") and re.search(r"ndarray|\bArray\b", str(_returned(f)))
]


def test_methods_that_return_arrays_are_found():
    assert len(ARRAYS) > 40


@pytest.mark.parametrize("name", ARRAYS)
def test_it_gives_the_shape_of_its_array(name):
    """(..., nv), (nq,), (...), or the like."""
    assert re.search(r"\((\.\.\.|n[qv]|10 bodies)[^)]*\)", inspect.getdoc(PUBLIC[name]) or ""), name


@pytest.mark.parametrize("name", PUBLIC)
def test_its_example_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples.require_true(inspect.getdoc(PUBLIC[name]) or "", _home(PUBLIC[name]), name)


def _home(thing: Any) -> Any:
    """The module that a name is defined in."""
    thing = thing.fget if isinstance(thing, property) else getattr(thing, "func", thing)
    return inspect.getmodule(thing) or mr


# ---- words ----

WORDS = {
    r"\bfreedoms\b": "degrees of freedom",
    r"(cannot|can) be had": "not available",
    r"\bmended\b": "corrected",
    r"\b[Dd]ocuments? 00\d": "author and title",
    r"(?<![\d.,_])00[0-4] (\(?\d|\(?[A-Z]|Fig)": "author and number",
    r"\bforces_on\b": "passive_forces",
}
TEXTS = [
    path
    for folder in ("src", "docs", "examples", "reproduce", "benchmarks")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".py", ".md", ".yaml", ".js", ".html") and "vendor" not in path.parts
]


@pytest.mark.parametrize("word", WORDS)
def test_words(word):
    """The plain words of the field, and sources by author."""
    assert len(TEXTS) > 150
    found = [
        f"{p.relative_to(ROOT)}: {m[0]!r}" for p in TEXTS for m in re.finditer(word, p.read_text(encoding="utf-8"))
    ]
    assert found == [], f"say {WORDS[word]}"


def test_every_author_that_is_cited_is_among_the_sources():
    listed = (ROOT / "docs" / "sources.md").read_text()
    cited = (
        "Gutenkunst",
        "von Stryk",
        "Lieskovsk",
        "Meister, Gutenkunst, Levi",
        "Sepp",
        "Chen and Yang",
        "Featherstone 2008",
    )
    for author in cited:
        used = [p for p in TEXTS if p.suffix == ".py" and author in p.read_text(encoding="utf-8")]
        assert used or author == "Sepp"
        assert all(part in listed for part in re.split(r", | and ", author)), author


def test_the_sources_name_what_there_is():
    """Paths and names in code letters that begin with a room of the package exist."""
    text = (ROOT / "docs" / "sources.md").read_text()
    for name in re.findall(r"`((?:modurob\.|tests/|reproduce/)[\w./]*)`", text):
        path = ROOT / name if "/" in name else ROOT / "src" / name.replace(".", "/")
        assert path.exists() or path.with_suffix(".py").exists(), name
