"""Robots as files: read back equal, written whole or not at all."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import sympy
import yaml

import modurob as mr
from modurob.assembly import dumps, loads
from modurob.assembly.files import schemas
from modurob.errors import FormatError, UnknownNameError
from tests.robots import random_assembly

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"

STRUT = """\
format: modurob module 1
name: strut
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
    assert read.name == assembly.name
    assert dumps(read) == path.read_text()
    return read


# ---- round trips ----


def test_the_shipped_robots_are_those_of_the_documents():
    assert mr.shipped_robots() == ("crab", "crane", "double_pendulum", "tree9")


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
    assert list(data) == ["format", "name", "modules", "connections"]
    assert data["modules"] == {f"m{i}": "backbone" for i in range(6)}
    assert data["connections"][0] == "m0/3 - m1/4"


# ---- the user's module types ----


def test_user_types_are_written_out_in_the_file(strut, tmp_path):
    robot = mr.Assembly.single("a", "backbone").dock("s", strut, "a/3", "low", 90, {"length": 0.3})
    robot = robot.dock("t", strut, "s/high", "low", 360 / 7)
    assert yaml.safe_load(dumps(robot))["types"]["strut"]["parameters"]["length"]["value"] == 0.2
    strut.unlink()
    assert_round_trip(robot, tmp_path / "robot.yaml")


def test_user_types_are_found_by_path_from_the_file(strut, tmp_path):
    text = "format: modurob assembly 1\nmodules: {a: backbone, s: {type: strut.yaml, parameters: {length: 0.3}}}\n"
    (tmp_path / "robot.yaml").write_text(text + "connections: [a/3 - s/low @ 90]\n")
    robot = mr.load(tmp_path / "robot.yaml")
    assert robot == mr.Assembly.single("a", "backbone").dock("s", strut, "a/3", "low", 90, {"length": 0.3})


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
    text = dumps(mr.Assembly.single("s", strut)).replace("s: strut", "s: strutt")
    with pytest.raises(
        UnknownNameError, match=r"text: no module type 'strutt': did you mean 'strut'.* valid: strut, back"
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
    text = dumps(mr.load("crab")).replace("assembly 1", "assembly 2")
    with pytest.raises(FormatError, match="'modurob assembly 2', this version reads 'modurob assembly 1': update modu"):
        loads(text)


@pytest.mark.parametrize("name", ["assembly", "module"])
def test_schemas_in_the_docs_are_up_to_date(name):
    """Write them anew with: json.dumps(schemas()[name], indent=2, ensure_ascii=False) and a newline."""
    expected = json.dumps(schemas()[name], indent=2, ensure_ascii=False) + "\n"
    assert (SCHEMAS / f"{name}.json").read_text(encoding="utf-8") == expected


def test_schemas_know_every_key():
    found = schemas()
    assert set(found) == {"assembly", "module"}
    assert list(found["assembly"]["properties"]) == ["format", "name", "description", "types", "modules", "connections"]
    assert "from" in found["module"]["$defs"]["JointSpec"]["properties"]
    assert found["assembly"]["additionalProperties"] is False
