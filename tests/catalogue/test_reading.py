"""YAML read without trust, and files written whole."""

import stat
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict, Field

from modurob.catalogue import reading
from modurob.catalogue.reading import DEEPEST, parse_yaml, read_text, validated, write_text
from modurob.errors import CatalogueError, FormatError


def nested(depth: int) -> str:
    return "a: " + "[" * depth + "]" * depth


def test_plain_yaml():
    text = "a: 1\nb: [x, 2.5, true, null]\nc: {d: 'e', 3: f}\n"
    assert parse_yaml(text, "t") == {"a": 1, "b": ["x", 2.5, True, None], "c": {"d": "e", 3: "f"}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n- b", "t: expected a mapping .* found list"),
        ("just words", "t: expected a mapping .* found str"),
        ("42", "t: expected a mapping .* found int"),
        ("", "t: expected a mapping .* found NoneType"),
        ("a: [1, 2", "t: not YAML: .*line 1"),
        ("a: b: c", "t: not YAML: mapping values are not allowed here"),
        ("\x00", "t: not YAML: unacceptable character"),
        ("a: 1\n---\nb: 2", "t: not YAML: expected a single document"),
        ("a: !!python/object/apply:os.system [true]", "t: not YAML: could not determine a constructor"),
        ("a: !own 1", "t: not YAML: could not determine a constructor for the tag '!own'"),
        ("a: 2001-13-45", "t: not YAML: month must be in"),
        ("a: &x [1]\nb: *x", r"t: line 2: an alias \(\*x\): write the value out"),
        ("a: &x {c: 1}\nb: {<<: *x}", r"t: line 2: an alias \(\*x\)"),
        ("b:\n  <<: {c: 1}", "t: line 2: expected a plain key"),
        ("b:\n  ? [1, 2]\n  : c", "t: line 2: expected a plain key"),
        ("a: 1\nb: 2\na: 3", "t: line 3: key 'a' stands twice"),
        ("x: {a: 1, 'a': 2}", "t: line 1: key 'a' stands twice"),
        ("x: {1: a, 0x1: b}", "t: line 1: two keys with one value, like 1 and 0x1"),
        (nested(DEEPEST), f"t: nested deeper than {DEEPEST} levels"),
        (nested(50_000), f"t: nested deeper than {DEEPEST} levels"),
        ("{a: " * 200 + "1" + "}" * 200, f"t: nested deeper than {DEEPEST} levels"),
        ("a: " + "9" * 5000, "t: not YAML: Exceeds the limit"),
    ],
)
def test_what_is_refused(text, message):
    with pytest.raises(FormatError, match=message):
        parse_yaml(text, "t")


def test_nesting_is_counted_in_depth_not_in_all():
    text = "a: [" + ", ".join("[1]" for _ in range(3 * DEEPEST)) + "]"
    assert parse_yaml(text, "t") == {"a": [[1]] * 3 * DEEPEST}
    assert parse_yaml(nested(DEEPEST - 1), "t")["a"]


def test_laughs_are_refused_at_the_first():
    lines = ["a0: &a0 [ha, ha]", *(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30))]
    with pytest.raises(FormatError, match=r"bomb.yaml: line 2: an alias \(\*a0\)"):
        parse_yaml("\n".join(lines), "bomb.yaml")


# ---- files ----


def test_a_missing_file_names_those_that_are_there(tmp_path):
    for name in ("crab.yaml", "arm.yaml", "notes.txt"):
        (tmp_path / name).write_text("x")
    with pytest.raises(
        FormatError, match=r"crabb.yaml: no such file; did you mean 'crab.yaml'\? valid: arm.yaml, crab"
    ):
        read_text(tmp_path / "crabb.yaml")
    with pytest.raises(FormatError, match=r"robot.yaml: no such file; valid: none"):
        read_text(tmp_path / "nowhere" / "robot.yaml")


def test_files_that_are_no_text(tmp_path):
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(FormatError, match=r"b.yaml: cannot be read as text: 'utf-8' codec"):
        read_text(tmp_path / "b.yaml")
    with pytest.raises(FormatError, match=r"cannot be read as text: .*Is a directory"):
        read_text(tmp_path)


def test_large_files_are_refused_unread(tmp_path, monkeypatch):
    path = tmp_path / "large.yaml"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: pytest.fail("the file was read"))
    with pytest.raises(FormatError, match=r"large.yaml: 100 MB is too large: expected at most 8 MB"):
        read_text(path)


def test_write_then_read(tmp_path):
    path = tmp_path / "a.yaml"
    for text in ("one: ²\n", "two\n"):
        write_text(path, text)
        assert read_text(path) == text
    assert list(tmp_path.iterdir()) == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_an_interrupted_write_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "a.yaml"
    write_text(path, "before")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(reading.os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_text(path, "after")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


# ---- models ----


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    size: float = 0
    from_: str = Field("", alias="from")


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    one: Inner = Inner()
    many: dict[str, Inner] = {}
    either: str | Inner = ""
    count: int = 0


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"cuont": 1}, "cuont: unknown key; did you mean 'count'. valid: one, many, either, count"),
        ({"one": {"sice": 1}}, "one.sice: unknown key; did you mean 'size'. valid: size, from"),
        ({"many": {"a": {"form": 1}}}, "many.a.form: unknown key; did you mean 'from'. valid: size, from"),
        ({"either": {"siez": 1}}, "either.Inner.siez: unknown key; did you mean 'size'. valid: size, from"),
        ({"count": "many"}, "count: Input should be a valid integer.*, found 'many'"),
        ({"many": {"a": {"size": "x"}}}, "many.a.size: Input should be a valid number.*, found 'x'"),
    ],
)
def test_validation_names_place_and_choices(data, message):
    with pytest.raises(CatalogueError, match=message) as caught:
        validated(Outer, data, "file.yaml", CatalogueError)
    assert str(caught.value).startswith("file.yaml:\n  ")


def test_validation_names_every_wrong_place_up_to_twenty():
    with pytest.raises(FormatError) as caught:
        validated(Outer, {f"key{i}": 1 for i in range(50)}, "f", FormatError)
    assert len(str(caught.value).splitlines()) == 21
