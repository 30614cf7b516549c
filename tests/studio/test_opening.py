"""Robots from text that came from outside: robot files, URDF files, share texts, and what is refused before it is read."""

import base64
import json
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import modurob as mr
from modurob.assembly import dumps
from modurob.errors import FormatError, ModurobError, StudioError
from modurob.studio import describe, opening, protocol, share
from modurob.studio.autosave import Autosave
from modurob.studio.design import Design
from modurob.studio.edits import edited
from modurob.studio.imported import Imported
from modurob.studio.opening import opened
from modurob.studio.python_text import python
from modurob.studio.session import Session
from modurob.viewer import drawing

CRAB = mr.load("crab")
LITTLE = 30_000_000  # bytes that a refusal may take, of 300 MB that were packed
ARM = """
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0 0 0.2"/><mass value="2"/><inertia ixx="0.02" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.2"/><geometry><box size="0.1 0.1 0.4"/></geometry></visual>
  </link>
  <link name="fore">
    <inertial><origin xyz="0 0 0.1"/><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="fore.stl"/></geometry></visual>
  </link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" velocity="3" effort="40"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="fore"/><origin xyz="0 0 0.4"/><axis xyz="0 1 0"/></joint>
</robot>
"""

# on a base that can float
FLOATS = ARM.replace(
    '<link name="base"/>',
    '<link name="base"><inertial><mass value="3"/>'
    '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>',
)


def own_type(name: str, **shape: str) -> dict[str, Any]:
    """A module type that is not shipped: a cube with two faces."""
    faces = {"a": 1, "b": -1}
    return {
        "format": "modurob module 1",
        "name": name,
        "parts": {"body": {"mass": 1, "inertia": [1, 1, 1], "shapes": [{"box": [0.1, 0.1, 0.1], **shape}]}},
        "connectors": {"face": {}},
        "ports": {
            port: {"part": "body", "at": [0.05 * x, 0, 0], "normal": [x, 0, 0], "up": [0, 0, 1], "connector": "face"}
            for port, x in faces.items()
        },
    }


# an own type called scout that is not the shipped one, and one that the catalogue does not have
OWN_TYPES = yaml.safe_dump(
    {
        "format": "modurob assembly 1",
        "name": "own",
        "types": {"scout": own_type("scout"), "brick": own_type("brick", colour="0.5")},
        "modules": {"m0": "scout", "m1": "brick"},
        "connections": ["m0/a - m1/b"],
    },
    sort_keys=False,
)


# ---- robots of links ----


def test_a_urdf_text_is_a_robot_that_can_be_shown(tmp_path: Path) -> None:
    design = opened(ARM, "arm.urdf")
    assert isinstance(design, Imported)
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    assert design.robot.key == mr.Mechanism.from_urdf(path).key
    shown = json.loads(protocol.encode(protocol.Robot(describe.robot(design))))["design"]
    assert (shown["name"], shown["made_of"], shown["base"]) == ("arm", "links", "base")
    assert [link["name"] for link in shown["modules"]] == ["base", "upper", "fore"]
    assert shown["degrees_of_freedom"] == 2
    # the box of the file, and sticks for links that have a mesh, which does not come with a text, or nothing
    assert {shape["body"] for shape in shown["shapes"]} == {0, 1, 2}
    assert [shape["kind"] for shape in shown["shapes"] if shape["body"] == 1] == ["box"]
    assert {shape["kind"] for shape in shown["shapes"] if shape["body"] == 2} == {"sphere", "cylinder"}
    plain = describe.robot(opened(ARM.replace('<mesh filename="fore.stl"/>', '<sphere radius="0.1"/>')))
    assert [shape["kind"] for shape in plain["shapes"] if shape["body"]] == ["box", "sphere"]
    assert shown["ports"] == []
    assert "no modules" in shown["grid"]["problem"]


def test_what_a_robot_of_links_takes_and_what_not() -> None:
    design = opened(ARM)
    assert edited(opened(FLOATS), protocol.SetBase("base", floating=True)).robot.nv == 8
    with pytest.raises(StudioError, match=r"its base base lacks mass .* give its base mass and moments of inertia"):
        edited(design, protocol.SetBase("base", floating=True))
    assert edited(design, protocol.SetGravity((0, 0, 0))).robot.gravity.tolist() == [0, 0, 0]
    assert edited(design, protocol.Rename("my arm")).name == "my arm"
    assert edited(design, protocol.OpenShipped("crab")).robot.nv == 3
    for edit in (
        protocol.Dock("backbone", "m0/3", "4"),
        protocol.Connect("m0/3", "m1/3"),
        protocol.Undock("upper"),
        protocol.PlaceCell(0, 1, "backbone"),
        protocol.SetParameter("upper", "mass", 2.0),
    ):
        with pytest.raises(StudioError, match="arm is made of links from a URDF file and has no modules"):
            edited(design, edit)
    with pytest.raises(StudioError, match="'upper' cannot be the base: the links of a URDF file hang on 'base'"):
        edited(design, protocol.SetBase("upper"))


def test_a_history_keeps_robots_of_links() -> None:
    design = edited(opened(FLOATS, "arm.urdf"), protocol.SetBase("base", floating=True))
    assert design.kept().design() == design


def test_what_a_urdf_file_lacks_is_noted() -> None:
    text = ARM.replace('<mass value="1"/>', '<mass value="0"/>').replace('ixx="0.01"', 'ixx="0"')
    notes = opened(text, "arm.urdf").notes
    assert notes
    assert all(note.startswith("arm") for note in notes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<robot name='x'", "cannot be read as XML"),
        ("<html/>", "expected <robot>"),
        ("<robot name='x'>" + "<link name='a'/>" * 2000 + "</robot>", "2000 links: the studio takes at most 1000"),
        ("<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><robot name='x'><link name='a'/></robot>", "DOCTYPE"),
    ],
)
def test_wrong_urdf(text: str, message: str) -> None:
    with pytest.raises(ModurobError, match=message):
        _ = opened(text).robot


# ---- share texts ----


@pytest.mark.parametrize("floating", [False, True])
def test_a_share_text_holds_all_of_a_design(floating: bool) -> None:
    for design in (
        Design(CRAB.with_setup(base="m1", floating=floating, gravity=(0.0, 1.0, -2.0))),
        Imported(ARM, "arm.urdf", "arm", floating, (1.0, 0.0, 0.0)),
    ):
        text = share.packed(design)
        assert share.is_shared(text)
        assert opened(text) == design
        assert opened(f"http://127.0.0.1:8000/?key=abc#robot={text}") == design


def test_links_of_before_hold_a_robot_file() -> None:
    squeezer = zlib.compressobj(9, wbits=-15)
    data = squeezer.compress(dumps(CRAB).encode()) + squeezer.flush()
    code = base64.urlsafe_b64encode(data).decode().rstrip("=")
    assert opened(f"http://127.0.0.1/#robot={code}").robot.key == CRAB.mechanism().key


def test_share_texts_that_are_not_whole_or_too_large() -> None:
    whole = share.packed(Design(CRAB))
    for text in (whole[:-9], whole[:40], "abc", "#robot=%%%", "#robot=" + "A" * 40):
        with pytest.raises(FormatError, match="cut off"):
            share.unpacked(text)
    squeezer = zlib.compressobj(9, wbits=-15)
    bomb = base64.urlsafe_b64encode(squeezer.compress(b" " * 300_000_000) + squeezer.flush()).decode().rstrip("=")
    tracemalloc.start()
    with pytest.raises(FormatError, match="more than 2 MB"):
        share.unpacked(bomb)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < LITTLE


# ---- the robot that a studio starts with ----


def test_a_studio_starts_with_a_file_or_a_share_text(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    assert opening.first(str(path), None).name == "arm"  # type: ignore[union-attr]
    assert opening.first("crab", None) == Design(CRAB)
    assert opening.first(None, share.packed(Design(CRAB))) == Design(CRAB)
    assert opening.first(None, None) is None
    with pytest.raises(StudioError, match="expected one of them"):
        opening.first("crab", "abc")
    path.write_text("<robot/>")
    with pytest.raises(ModurobError, match=r"arm\.urdf"):
        opening.first(str(path), None)


# ---- limits ----


def unread(*_: object, **__: object) -> None:
    raise AssertionError("what is too long was read")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#:" * 250_000, "500000 characters: the studio reads robots of at most 400000"),
        ("format: modurob assembly 1\nconnections: [" + "/" * 60_000 + "]", "line 2 holds a word of more than 400"),
        ("format: modurob assembly 1\nx: " + "1:" * 20_000 + "1", "line 2 holds a word"),
        (
            '{"robot": "' + "/" * 60_000 + '", "gravity": [0,0,0], "floating": false, "base": "m0"}',
            "a word of more than",
        ),
    ],
)
def test_texts_that_would_take_long_are_refused_first(text: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any of it is read as YAML."""
    monkeypatch.setattr(opening, "loads", unread)
    with pytest.raises(FormatError, match=message):
        opened(text)


@pytest.mark.parametrize(
    ("text", "view"),
    [("3\n" * 20_000, "aim"), ("0 1 3 4\n" * 20_000, "dtl"), ("3 " * 400_000, "aim")],
)
def test_matrices_that_would_take_long_are_refused_first(text: str, view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any of it is read as a matrix."""
    monkeypatch.setattr(mr.Assembly, "from_aim", unread)
    monkeypatch.setattr(mr.Assembly, "from_direct_transformations", unread)
    with pytest.raises(ModurobError, match="the studio"):
        edited(Design(CRAB), protocol.ReadMatrix(text, view, "backbone"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "written", ["/etc/secret.yaml", "../other.yml", '"/etc/secret\\x2eyaml"', "{type: secret.yaml}"]
)
def test_the_page_opens_no_other_files(written: str) -> None:
    text = f"format: modurob assembly 1\nmodules: {{m0: backbone, m1: {written}}}\nconnections: [m0/3 - m1/4]"
    with pytest.raises(FormatError, match="is a file, and this text may name none") as refused:
        opened(text)
    assert "no such file" not in str(refused.value)
    saved = {"robot": text, "base": "m0", "floating": False, "gravity": [0, 0, 0], "name": "x"}
    with pytest.raises(FormatError, match="this text may name none"):
        opened(json.dumps(saved))


# ---- robots with module types of their own ----


def test_own_module_types_are_told_to_the_page_and_can_be_docked() -> None:
    design = opened(OWN_TYPES)
    assert isinstance(design, Design)
    shown = describe.robot(design)
    kinds = {module["name"]: module["kind"] for module in shown["modules"]}
    assert kinds == {"m0": "scout of this robot", "m1": "brick"}
    assert [kind["name"] for kind in shown["types"]] == ["scout of this robot", "brick"]
    for kind in ("brick", "scout of this robot"):
        larger = edited(design, protocol.Dock(kind, "m1/a", "b"))
        assert isinstance(larger, Design)
        assert larger.assembly.modules["m2"].type is design.own_types[kind]
    assert isinstance(edited(design, protocol.PlaceCell(2, 0, "brick")), Design)
    assert shown["shapes"][1]["colour"] == "#808080"
    # a colour that is none is refused in a file, and a grey elsewhere
    with pytest.raises(FormatError, match="colour: expected a colour"):
        opened(OWN_TYPES.replace("0.5", "inf"))
    assert drawing.colour("inf") == drawing.colour("no colour") == drawing.GREY


def strong_robot() -> str:
    """Two modules whose hinges have no limit of torque and speed, and say so."""
    kind = mr.module_type("backbone").specification.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    kind["name"] = "strong"
    kind["joints"]["hinge"] |= {"effort": np.inf, "velocity": np.inf}
    data = {
        "format": "modurob assembly 1",
        "types": {"strong": kind},
        "modules": {"m0": "strong", "m1": "strong"},
        "connections": ["m0/3 - m1/4"],
    }
    return yaml.safe_dump(data, sort_keys=False)


def test_limits_that_are_infinite_reach_the_page_as_null() -> None:
    sent = protocol.encode(protocol.Robot(describe.robot(opened(strong_robot()))))
    shown = json.loads(sent, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))["design"]
    assert shown["modules"][0]["joints"][0]["effort"] is None


# ---- words ----


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (protocol.Dock("backbone", "m1/3", "4"), "a new backbone would stand where m6 stands"),
        (protocol.Duplicate("m2", "m1/3"), "a copied module would stand where m"),
        (protocol.Dock("spider", "m1/3", "4"), "no module type 'spider'"),
    ],
)
def test_messages_name_only_modules_that_are_there(edit: protocol.Edit, message: str) -> None:
    seven = edited(Design(CRAB), protocol.Dock("backbone", "m3/4", "4"))
    with pytest.raises(ModurobError, match=message) as refused:
        edited(seven, edit)
    assert "m7" not in str(refused.value)


def test_a_clash_in_a_file_names_the_modules_of_the_file() -> None:
    text = dumps(CRAB).replace("name: crab", "name: clash")
    text = text.replace("connections:\n", "connections:\n- m3/4 - m9/4\n- m1/3 - m8/4\n")
    text = text.replace("modules:\n", "modules:\n  m8: backbone\n  m9: backbone\n")
    with pytest.raises(ModurobError, match=r"module 'm[89]' would stand where 'm[89]' stands"):
        edited(Design(CRAB), protocol.Open(text))


def test_a_joint_that_mimics_does_not_stand_for_the_one_it_follows(tmp_path: Path) -> None:
    """Its limits are its own: the coordinate is that of the other joint."""
    mimic = (
        '<link name="tip"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="a_grip" type="revolute"><parent link="base"/><child link="tip"/><axis xyz="0 1 0"/>'
        '<limit lower="0" upper="0.1" velocity="1" effort="1"/><mimic joint="shoulder" multiplier="0.1"/></joint>'
    )
    design = opened(ARM.replace('<joint name="shoulder"', mimic + '<joint name="shoulder"'))
    one = Session(Autosave(tmp_path), design)
    index = one.robot.joint("shoulder").q_slice.start
    one.set_coordinate(index, 0.9)
    assert one.q[index] == 0.9
    # a ratio of a tenth is no part of the axis that torques are drawn about
    grip = next(joint for joint in describe.robot(design)["joints"] if joint["name"] == "a_grip")
    assert (grip["turns"], grip["axis"]) == (True, [0.0, 1.0, 0.0])


# ---- files of MuJoCo ----


def mujoco_text(floating: bool = False) -> str:
    from modurob.mechanism import EXPORTS

    return EXPORTS["xml"](CRAB.with_setup(floating=floating, gravity=(0.0, 0.0, -1.62)).robot())


@pytest.mark.parametrize("floating", [False, True])
def test_files_of_mujoco_are_opened_as_they_say(floating: bool, tmp_path: Path) -> None:
    text = mujoco_text(floating)
    (tmp_path / "crab.xml").write_text(text)
    robot = mr.Mechanism.from_mjcf(tmp_path / "crab.xml")
    for design in (opened(text, "crab.xml"), opening.first(str(tmp_path / "crab.xml"), None)):
        assert isinstance(design, Imported)
        assert (design.floating, design.gravity) == (floating, (0.0, 0.0, -1.62))
        assert np.allclose(design.robot.gravity_forces(robot.neutral()), robot.gravity_forces(robot.neutral()))
        assert len(describe.robot(design)["shapes"]) >= len(robot.shapes)
        assert edited(design, protocol.SetGravity((0.0, 0.0, -9.81))).robot.gravity[2] == -9.81
        with pytest.raises(StudioError, match=r"says itself how it stands: (add|take) <freejoint/>"):
            edited(design, protocol.SetBase(design.base, not floating))
        made: dict[str, Any] = {}
        lines = python(design, robot.neutral()).splitlines()[2]
        exec(lines.replace("'crab.xml'", repr(str(tmp_path / "crab.xml"))), {"mr": mr}, made)
        assert made["robot"].nv == robot.nv
    assert opened(share.packed(opened(text, "crab.xml"))).robot.nv == robot.nv


@pytest.mark.parametrize("more", ['<include file="/etc/passwd"/>', '<asset><mesh file="/tmp/a.stl"/></asset>'])
def test_texts_of_mujoco_name_no_files_of_this_machine(more: str) -> None:
    text = mujoco_text().replace("<worldbody>", f"{more}<worldbody>", 1)
    with pytest.raises(StudioError, match="names another file, which does not come with a text"):
        opened(text, "crab.xml")
