"""YAML read without trust: what values mean, what is refused, and how soon."""

import math
import time
import tracemalloc

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from modurob.catalogue import plain_yaml
from modurob.catalogue.plain_yaml import DEEPEST, LARGEST_TEXT, dump_yaml, parse_yaml
from modurob.errors import FormatError

QUICK = 1.0  # s, on a machine that does other things too
LITTLE = 100e6  # bytes


@pytest.fixture(params=["libyaml", "python"])
def parser(request, monkeypatch) -> None:
    """Both parsers: libyaml's, and the one that stands in where it is not installed."""
    if request.param == "python":
        monkeypatch.setattr(plain_yaml, "_Parser", yaml.SafeLoader)


def nested(depth: int) -> str:
    return "a: " + "[" * depth + "]" * depth


def test_plain_values():
    text = "a: 1\nb: [x, 2.5, true, null]\nc: {d: 'e', 3: f}\n"
    assert parse_yaml(text, "t") == {"a": 1, "b": ["x", 2.5, True, None], "c": {"d": "e", "3": "f"}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e5", 1e5),
        ("1.5e3", 1500.0),
        ("-.5", -0.5),
        ("+7", 7),
        ("-0.0", -0.0),
        (".inf", math.inf),
        ("-.Inf", -math.inf),
        ("9" * 30, 1e30),
        ("007", "007"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("12:30:59", "12:30:59"),
        ("2001-13-45", "2001-13-45"),
        ("yes", "yes"),
        ("'1'", "1"),
        ('"\\u00b2"', "²"),
        ("~", None),
        ("", None),
        ("|\n  two\n  lines", "two\nlines"),
    ],
)
def test_a_value(text, value, parser):
    found = parse_yaml(f"a: {text}", "t")["a"]
    assert found == value
    assert type(found) is type(value)


def test_keys_are_text_as_written():
    assert list(parse_yaml("{07: a, 1: b, 0x1: c, yes: d, 1.0: e, null: f}", "t")) == [
        "07",
        "1",
        "0x1",
        "yes",
        "1.0",
        "null",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n- b", "t: expected a mapping .* found list"),
        ("just words", "t: expected a mapping .* found str"),
        ("42", "t: expected a mapping .* found int"),
        ("", "t: expected a mapping .* found NoneType"),
        ("a: [1, 2", "t: not YAML: .*line 1"),
        ("a: b: c", "t: not YAML: mapping values are not allowed"),
        ("\x00", "t: not YAML: unacceptable character|control characters"),
        ("\ud800: 1", "t: not YAML: .*surrogates not allowed|unacceptable character"),
        ("a: 1\n---\nb: 2", "t: expected a single document"),
        (
            "a: !!python/object/apply:os.system [true]",
            r"t: line 1: a tag \(!!python/object/apply:os.system\): write the pl",
        ),
        ("a: !own 1", r"t: line 1: a tag \(!own\)"),
        ("a: !!bool x", r"t: line 1: a tag \(!!bool\): write the plain value"),
        ("a: !!int ''", r"t: line 1: a tag \(!!int\)"),
        ("a: !!timestamp x", r"t: line 1: a tag \(!!timestamp\)"),
        ("a: !!binary x", r"t: line 1: a tag \(!!binary\)"),
        ("a: !!set {b}", r"t: line 1: a tag \(!!set\)"),
        ("b: 1\n!!str a: 1", r"t: line 2: a tag \(!!str\)"),
        ("a: &x [1]\nb: *x", r"t: line 2: an alias \(\*x\): write the value out"),
        ("a: &x {c: 1}\nb: {<<: *x}", "t: line 2: expected a plain key"),
        ("b:\n  <<: {c: 1}", "t: line 2: expected a plain key"),
        ("b:\n  ? [1, 2]\n  : c", "t: line 2: expected a plain key"),
        ("a: 1\nb: 2\na: 3", "t: line 3: key 'a' stands twice"),
        ("x: {a: 1, 'a': 2}", "t: line 1: key 'a' stands twice"),
        (nested(DEEPEST), f"t: nested deeper than {DEEPEST} levels"),
        (nested(50_000), f"t: nested deeper than {DEEPEST} levels"),
        ("{a: " * 200 + "1" + "}" * 200, f"t: nested deeper than {DEEPEST} levels"),
        ("a: " + "9" * 5000, r"t: line 1: 99999999999999999999\.\.\. is too large for a number"),
        ("a: 1e999", "t: line 1: 1e999 is too large for a number"),
    ],
)
def test_what_is_refused(text, message, parser):
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


@pytest.mark.parametrize(
    "text",
    [
        "a: [" + "1," * 3_900_000 + "1]",
        "a: [" + "[]," * 100_000 + "]" + "b" * 10,
        "[" + "1:30," * 400_000 + "1]",
        "a: " + "1:" * 1_000_000 + "1\nb: 1\nb: 2",
        "a: " + "1" * 2_000_000,
        "x" * (LARGEST_TEXT + 1),
        "- " * 1_000_000,
        "{" * 1_000_000,
        "? " * 1_000_000,
        "\n" * 1_000_000,
        "a: '" + "\n" * 200_000,
        "a: &x " * 10 + "!" * 1_000_000,
    ],
    ids=lambda text: f"{text[:12]!r} of {len(text)}",
)
def test_large_texts_are_refused_soon_and_with_little_memory(text):
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(FormatError) as caught:
        parse_yaml(text, "t")
    assert time.process_time() - start < 3 * QUICK  # tracing takes twice the time
    assert tracemalloc.get_traced_memory()[1] < LITTLE
    assert len(str(caught.value)) < 1000
    tracemalloc.stop()


# ---- written and read ----

SCALARS = st.none() | st.booleans() | st.integers(-(2**52), 2**52) | st.floats(allow_nan=False)
TEXTS = st.text(st.characters(codec="utf-8")) | st.sampled_from(
    [
        "1e5",
        "1.5e3",
        "0x1F",
        "007",
        "yes",
        "~",
        "null",
        "12:30",
        "2001-01-01",
        "<<",
        "=",
        "1_0",
        "- a",
        "# b",
        ".5",
        "+1",
        "",
    ]
)
DATA = st.recursive(
    SCALARS | TEXTS, lambda x: st.lists(x, max_size=3) | st.dictionaries(TEXTS, x, max_size=3), max_leaves=9
)


@given(st.dictionaries(TEXTS, DATA, max_size=4))
def test_what_is_written_reads_back_equal(data):
    found = parse_yaml(dump_yaml(data), "t")
    assert found == data
    assert repr(found) == repr(data)
