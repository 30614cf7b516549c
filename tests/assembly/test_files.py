"""Robots as files: read back equal, written whole or not at all."""

import json
import os
import time
from pathlib import Path

import numpy as np
import pytest
import sympy
import yaml
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import modurob as mr
from modurob.assembly import dumps
from modurob.assembly.files import schemas
from modurob.errors import ClashError, FormatError, InputError, ModurobError, UnknownNameError
from modurob.robot import loads
from tests.robots import random_assembly

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"

STRUT = """\
format: modurob module 1
name: beam
letter: T
parameters:
  length: {value: 0.2, minimum: 0, unit: m}
  mass: {value: length * 5}
parts:
  rod: {mass: mass, inertia: [mass * length**2 / 12, mass * length**2 / 12, 0], shapes: [{cylinder: [0.01, length]}]}
connectors:
  cobold: {rolls: [0, 51.42857142857143, 90]}
ports:
  low: {part: rod, at: [0, 0, -length / 2], normal: [0, 0, -1], connector: cobold}
  high: {part: rod, at: [0, 0, length / 2], connector: cobold, number: 3}
"""


@pytest.fixture
def strut(tmp_path) -> Path:
    path = tmp_path / "strut.yaml"
    path.write_text(STRUT)
    return path


def assert_round_trip(assembly: mr.Assembly, path: Path) -> mr.Assembly:
    mr.save(assembly, path)
    read = mr.load(path)
    assert read == assembly
    assert read.key == assembly.key
    assert (read.name, read.description, read.setup) == (assembly.name, assembly.description, assembly.setup)
    assert type(read) is type(assembly)
    assert dumps(read) == path.read_text()
    return read


# ---- round trips ----


def test_the_shipped_robots_are_those_of_the_documents():
    cabled = {"cable_planar", "robocrane", "tensegrity_arm", "tensegrity_prism", "tensegrity_tower"}
    assert set(mr.shipped_robots()) - cabled == {"crab", "crane", "double_pendulum", "lwa4p", "lwa4p_angled", "tree9"}
    assert {name for name in mr.shipped_robots() if mr.load(name).robot().lines} == cabled


@pytest.mark.parametrize("name", mr.shipped_robots())
def test_shipped_robots_round_trip(name, tmp_path):
    robot = assert_round_trip(mr.load(name), tmp_path / "robot.yaml")
    assert robot.mechanism().key == mr.load(name).mechanism().key


@pytest.mark.parametrize("seed", range(8))
def test_random_assemblies_round_trip(seed, tmp_path):
    rng = np.random.default_rng(seed)
    robot = random_assembly(rng, 2 + 2 * seed)
    changed = {"mass": rng.uniform(0.5, 2), "length": 0.1 * (1 + seed), "damping": 1 / 3}
    robot = robot.dock("own", "backbone", robot.free_ports[0], "4", 90, changed) if seed < 2 else robot
    assert_round_trip(robot, tmp_path / "robot.yaml")


def test_loops_and_names_round_trip(tmp_path):
    ring = mr.Assembly.from_grid("B B\nB B", name="a square: 100 % docked").renamed({"m0": "left.arm-1_x", "m1": "07"})
    assert len(ring.connections) == 4
    assert_round_trip(ring, tmp_path / "robot.yaml")


def test_words_as_parameters_round_trip(tmp_path):
    turn = mr.Assembly.single("turn", "virtual", {"freedom": "revolute", "ax": 1, "az": 0})
    assert_round_trip(turn.dock("b", "backbone", "turn/out", "7"), tmp_path / "robot.yaml")


def test_what_is_shipped_is_written_by_name_alone():
    data = yaml.safe_load(dumps(mr.load("crab")))
    keys = ["format", "name", "description", "modules", "connections", "base", "floating", "gravity"]
    assert list(data) == keys
    assert data["modules"] == {f"m{i}": "backbone" for i in range(6)}
    assert data["connections"][0] == "m0/3 - m1/4"


NUMBERS = st.floats(-1e6, 1e6)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20) | st.sampled_from(
    ["1e5", "yes", "007", "null", "~", "a: b", "#"]
)


@st.composite
def robots(draw) -> mr.Assembly:
    """Random assemblies, under any name, standing in any way, some in the middle of a motion."""
    robot = random_assembly(np.random.default_rng(draw(st.integers(0, 50))), draw(st.integers(1, 6)))
    names = draw(st.permutations(["m0", "07", "1e5", "yes", "null", "x.-_", "1", "No", "0x1"]))
    robot = robot.renamed(dict(zip(robot.modules, names, strict=False))).labelled(draw(TEXTS), draw(TEXTS))
    mass = draw(st.floats(1e-3, 1e3))
    length = draw(st.sampled_from([0.105, 0.1, 1 / 3]))
    try:
        robot = robot.with_parameters({next(iter(robot.modules)): {"mass": mass}}, length=length)
    except ClashError:  # some modules meet when all of them have another length
        reject()
    joints = [f"{m}/{j}" for m, module in robot.modules.items() for j in module.joints]
    some = st.dictionaries(st.sampled_from(joints), NUMBERS, max_size=4)
    vector = st.tuples(NUMBERS, NUMBERS, NUMBERS)
    robot = robot.with_setup(
        base=draw(st.sampled_from(list(robot.modules))), gravity=draw(vector), coordinates=draw(some), rates=draw(some)
    )
    if draw(st.booleans()):
        turn = draw(st.tuples(*[st.floats(0.1, 1)] * 4))
        robot = robot.with_setup(
            floating=True, position=draw(vector), quaternion=turn, twist=draw(vector) + draw(vector)
        )
    return robot


@settings(deadline=None)
@given(robots())
def test_saved_files_lose_nothing(robot):
    read = loads(dumps(robot))
    assert read == robot
    assert hash(read) == hash(robot)
    assert repr(read.setup) == repr(robot.setup)
    assert (read.name, read.description) == (robot.name, robot.description)
    assert dumps(read) == dumps(robot)


# ---- how a robot stands ----

SET_UP = """\
format: modurob robot 2
modules: {a: backbone, b: scout}
connections: [a/3 - b/4]
base: b
floating: true
gravity: [0, 0, -1.62]
initial:
  coordinates: {a/hinge: 0.5, b/turn: -1}
  rates: {a/hinge: 2}
  pose: {position: [1, 2, 3], quaternion: [0, 1, 0, 0]}
  twist: [1, 2, 3, 4, 5, 6]
"""


def test_a_file_says_how_the_robot_stands():
    robot = loads(SET_UP)
    assert robot.base == "b"
    assert robot.setup == mr.Setup(
        "b",
        True,
        (0, 0, -1.62),
        {"a/hinge": 0.5, "b/turn": -1},
        {"a/hinge": 2},
        (1, 2, 3),
        (0, 1, 0, 0),
        (1, 2, 3, 4, 5, 6),
    )
    assert loads(dumps(robot)) == robot


@pytest.mark.parametrize(
    ("old", "new", "error", "message"),
    [
        ("base: b", "base: c", UnknownNameError, "text: no module 'c' to be the base: valid: a, b"),
        (
            "a/hinge: 0.5",
            "a/hing: 0.5",
            UnknownNameError,
            "no joint 'a/hing' to have coordinates: did you mean 'a/hinge'",
        ),
        ("a/hinge: 2", "c/hinge: 2", UnknownNameError, "no joint 'c/hinge' to have rates: did you mean './hinge'"),
        ("a/hinge: 0.5", "a/hinge: [1, 2]", InputError, r"coordinates of a/hinge: 2 numbers: expected 1 \(revolute\)"),
        ("a/hinge: 0.5", "a/hinge: .inf", FormatError, "initial.coordinates.a/hinge.*finite number"),
        ("[0, 0, -1.62]", "[0, 0]", FormatError, "gravity.2: Field required"),
        ("[0, 0, -1.62]", "[0, 0, down]", FormatError, "gravity.2: Input should be a valid number.*, found 'down'"),
        (
            "[a/3 - b/4]",
            "[[a/3, b/4]]",
            FormatError,
            r"connections.0: expected two ports, like m0/3 - m1/4, .*, found \['a/3', 'b/4'\]",
        ),
        ("[a/3 - b/4]", "[3]", FormatError, "connections.0: expected two ports, .*, found 3"),
        (
            "{a: backbone, b: scout}",
            "[a, b]",
            FormatError,
            r"modules: expected a mapping, key: value, found \['a', 'b'\]",
        ),
        ("[0, 0, -1.62]", "9.81", FormatError, r"gravity: expected a list, \[a, b\], found 9.81"),
        ("[0, 1, 0, 0]", "[0, 0, 0, 0]", InputError, "quaternion is zero: expected length one"),
        (
            "floating: true",
            "floating: false",
            InputError,
            "position, quaternion and twist are those of a floating base",
        ),
        ("floating: true", "floating: perhaps", FormatError, "floating: expected true or false, found 'perhaps'"),
        ("floating: true", "floating: 1", FormatError, "floating: expected true or false, found 1"),
        ("floating: true", "floting: true", FormatError, "floting: unknown key; did you mean 'floating'"),
        ("floating: true", "drives: {}", FormatError, "drives: unknown key; .*valid: format, name, description, types"),
        ("floating: true", "ropes: {}", FormatError, "ropes: unknown key"),
        ("rates:", "speeds:", FormatError, "initial.speeds: unknown key; .*valid: coordinates, rates, pose, twist"),
        (
            "modurob robot 2",
            "modurob assembly 1",
            FormatError,
            "base, floating, gravity, initial: not in a file of 'modu",
        ),
    ],
)
def test_what_a_file_may_not_say_of_how_it_stands(old, new, error, message):
    assert old in SET_UP
    with pytest.raises(error, match=message):
        loads(SET_UP.replace(old, new))


def test_files_of_version_1_are_read():
    robot = loads("format: modurob assembly 1\nmodules: {a: backbone, b: scout}\nconnections: [a/3 - b/4]\n")
    assert robot.setup == mr.Setup()
    assert yaml.safe_load(dumps(robot))["format"] == "modurob robot 2"


# ---- the user's module types ----


def test_user_types_are_written_out_in_the_file(strut, tmp_path):
    robot = mr.Assembly.single("a", "backbone").dock("s", strut, "a/3", "low", 90, {"length": 0.3})
    robot = robot.dock("t", strut, "s/high", "low", 360 / 7)
    assert yaml.safe_load(dumps(robot))["types"]["beam"]["parameters"]["length"]["value"] == 0.2
    strut.unlink()
    assert_round_trip(robot, tmp_path / "robot.yaml")


def test_user_types_are_found_by_path_from_the_file(strut, tmp_path):
    text = "format: modurob assembly 1\nmodules: {a: backbone, s: {type: strut.yaml, parameters: {length: 0.3}}}\n"
    (tmp_path / "robot.yaml").write_text(text + "connections: [a/3 - s/low @ 90]\n")
    robot = mr.load(tmp_path / "robot.yaml")
    assert robot == mr.Assembly.single("a", "backbone").dock("s", strut, "a/3", "low", 90, {"length": 0.3})


def test_files_are_named_below_the_folder_only(strut, tmp_path):
    inside, outside = tmp_path / "robots", tmp_path / "strut.yaml"
    (inside / "types").mkdir(parents=True)
    (inside / "types" / "own.yaml").write_text(STRUT)
    (inside / "link.yaml").symlink_to(outside)
    robot = inside / "robot.yaml"

    def named(path: str) -> mr.Assembly:
        robot.write_text(f"format: modurob robot 2\nmodules: {{s: {path!r}}}\n")
        return mr.load(robot)

    assert named("types/own.yaml") == named("types/../types/own.yaml") == mr.Assembly.single("s", strut)
    for path in ("../strut.yaml", str(outside), "link.yaml", "types/../../strut.yaml", "/etc/passwd.yaml"):
        with pytest.raises(FormatError, match=r"robot.yaml: type '.* is outside the folder of the robot file"):
            named(path)
    for path in ("strutt.yaml", "types.yaml", "types/own.yaml/x.yaml", "x" * 300 + ".yaml"):
        with pytest.raises(FormatError, match=r"robot.yaml: type '.*: no such file below the folder") as caught:
            named(path)
        assert "own" not in str(caught.value).replace(path, "")
    (inside / "folder.yaml").mkdir()
    with pytest.raises(FormatError, match=r"type 'folder.yaml': no such file"):
        named("folder.yaml")


def test_a_text_names_no_files(strut, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("strut.yaml", "./strut.yaml", str(strut), "nothing.yaml", "/dev/zero.yaml"):
        with pytest.raises(
            FormatError, match="is a file, and this text may name none: write the type out under"
        ) as caught:
            loads(f"format: modurob robot 2\nmodules: {{s: {path!r}}}\n")
        assert "valid" not in str(caught.value)
    assert (
        loads("format: modurob robot 2\nmodules: {s: strut.yaml}\n", folder=tmp_path).modules["s"].type.name == "beam"
    )


def test_a_broken_file_that_is_named_is_named(tmp_path):
    (tmp_path / "broken.yaml").write_text("format: nonsense\n")
    (tmp_path / "robot.yaml").write_text("format: modurob robot 2\nmodules: {s: broken.yaml}\n")
    with pytest.raises(FormatError, match=r"robot.yaml: broken.yaml:\n  format: Input should be"):
        mr.load(tmp_path / "robot.yaml")


def test_two_types_of_one_name_stay_two(strut, tmp_path):
    other = tmp_path / "other.yaml"
    other.write_text(STRUT.replace("value: 0.2", "value: 0.4"))
    robot = mr.Assembly.single("a", strut).dock("b", other, "a/high", "low").dock("c", strut, "b/high", "low")
    read = assert_round_trip(robot, tmp_path / "robot.yaml")
    assert [m.parameters["length"] for m in read.modules.values()] == [0.2, 0.4, 0.2]


def test_a_user_type_with_the_name_of_a_shipped_one_stays_itself(tmp_path):
    own = tmp_path / "mine.yaml"
    spec = mr.module_type("backbone").specification.model_copy(update={"description": "not the shipped one"})
    own.write_text(yaml.safe_dump(spec.model_dump(mode="json", by_alias=True, exclude_defaults=True), sort_keys=False))
    robot = mr.Assembly.single("a", "backbone").dock("b", own, "a/3", "4")
    read = assert_round_trip(robot, tmp_path / "robot.yaml")
    assert read.modules["a"].type is mr.module_type("backbone")
    assert read.modules["b"].type.specification.description == "not the shipped one"


def test_unknown_type_beside_own_types_names_both(strut):
    text = dumps(mr.Assembly.single("s", strut)).replace("s: beam", "s: beamm")
    with pytest.raises(
        UnknownNameError, match=r"text: no module type 'beamm': did you mean 'beam'.* valid: beam, anchor, back"
    ):
        loads(text)


# ---- writing ----


def test_symbols_cannot_be_written(tmp_path):
    robot = mr.Assembly.single("a", "backbone", {"mass": sympy.Symbol("m")})
    with pytest.raises(FormatError, match="a: parameter mass = m cannot be written to a file: expected a number"):
        mr.save(robot, tmp_path / "robot.yaml")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_a_file_is_left_alone_when_saving_fails(step, tmp_path, monkeypatch):
    path = tmp_path / "robot.yaml"
    mr.save(mr.load("crab"), path)
    before = path.read_bytes()

    def fail(*_args, **_more):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(FormatError, match=r"robot.yaml: cannot be written: No space left on device"):
            mr.save(mr.load("tree9"), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_saving_into_a_missing_folder_names_it(tmp_path):
    with pytest.raises(FormatError, match=r"nowhere/robot.yaml: cannot be written: No such file or directory"):
        mr.save(mr.load("crab"), tmp_path / "nowhere" / "robot.yaml")


# ---- versions and schemas ----


def test_a_newer_format_is_refused_with_advice():
    for newer in ("modurob robot 3", "modurob assembly 3"):
        with pytest.raises(
            FormatError, match=f"{newer!r}, this version reads 'modurob robot 2' and 'modurob assembly 1': u"
        ):
            loads(dumps(mr.load("crab")).replace("modurob robot 2", newer))


# ---- size ----

HEAD = "format: modurob robot 2\n"
PAIR = HEAD + "modules: {a: backbone, b: backbone}\n"


@pytest.mark.parametrize(
    "text",
    [
        PAIR + "connections: ['" + "/" * 60_000 + "']",
        PAIR + "connections: ['" + "a/3 - " * 10_000 + "']",
        PAIR + "connections: ['a/3 - b/4 @ " + "9" * 60_000 + "']",
        PAIR + "connections: ['" + " " * 60_000 + "x']",
        PAIR + "connections: ['a/3" + " " * 60_000 + "']",
        PAIR + "connections: [" + "a/3 - b/4, " * 30_000 + "]",
        HEAD + "modules: {" + ", ".join(f"m{i}: backbone" for i in range(20_000)) + "}",
        HEAD + "modules: {a: " + "x" * 1_000_000 + "}",
        HEAD + "modules: {" + "x" * 1_000_000 + ": backbone}",
        HEAD + "modules: {a: backbone}\nbase: " + "x" * 1_000_000,
        HEAD + "modules: {a: {type: backbone, parameters: {mass: " + "9" * 399 + "}}}",
        HEAD + "modules: {a: {type: backbone, parameters: {" + "x" * 1_000_000 + ": 1}}}",
        HEAD
        + "modules: {a: backbone}\ninitial: {coordinates: {"
        + ", ".join(f"a/{i}: 0" for i in range(40_000))
        + "}}",
        HEAD + "name: " + "1:" * 1_000_000 + "1\nmodules: {a: backbone}\ngravity: [" + "0, " * 100_000 + "]",
        HEAD + "types: {" + ", ".join(f"t{i}: {{}}" for i in range(40_000)) + "}\nmodules: {a: backbone}",
    ],
    ids=lambda text: f"{text[24:60]!r} of {len(text)}",
)
def test_large_texts_are_refused_soon(text):
    start = time.process_time()
    with pytest.raises(ModurobError) as caught:
        loads(text)
    assert time.process_time() - start < 2  # s, on a machine that does other things too
    assert len(str(caught.value)) < 20_000


@pytest.mark.parametrize("name", ["robot", "module"])
def test_schemas_in_the_docs_are_up_to_date(name):
    """Write them anew with: json.dumps(schemas()[name], indent=2, ensure_ascii=False) and a newline."""
    expected = json.dumps(schemas()[name], indent=2, ensure_ascii=False) + "\n"
    assert (SCHEMAS / f"{name}.json").read_text(encoding="utf-8") == expected


def test_schemas_know_every_key():
    found = schemas()
    assert set(found) == {"robot", "module"}
    keys = [
        "format",
        "name",
        "description",
        "types",
        "modules",
        "connections",
        "base",
        "floating",
        "gravity",
        "initial",
        "lines",
    ]
    assert list(found["robot"]["properties"]) == keys
    assert "from" in found["module"]["$defs"]["JointSpec"]["properties"]
    assert found["robot"]["additionalProperties"] is False


@pytest.mark.parametrize(
    ("line", "changed", "message"),
    [
        ("- -9.81", "- true", "gravity.2: expected a number, found True"),
        ("m0: backbone", "m0: {type: backbone, parameters: {mass: true}}", "mass: expected a number, found True"),
        ("gravity:", "initial: {rates: {m0/hinge: [false]}}\ngravity:", "rates.m0/hinge: expected a number"),
    ],
)
def test_true_and_false_are_no_numbers(line, changed, message):
    text = dumps(mr.Assembly.from_grid("B", name="one"))
    assert line in text
    with pytest.raises(FormatError, match=message):
        loads(text.replace(line, changed))


@pytest.mark.parametrize("ending", ["", ".yaml"])
def test_names_longer_than_files_may_have_are_refused(ending):
    with pytest.raises(FormatError, match="xxx"):
        mr.load("x" * 5000 + ending)
