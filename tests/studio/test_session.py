"""One user's session: history, pose, saving by itself."""

from pathlib import Path

import numpy as np
import pytest

import modurob as mr
from modurob.errors import FormatError, ModurobError, StudioError
from modurob.studio import describe, protocol
from modurob.studio.autosave import KEPT, Autosave
from modurob.studio.design import Design
from modurob.studio.session import MOST_STEPS, Session


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(Autosave(tmp_path), Design(mr.load("crab")))


def test_undo_and_redo_go_through_everything(session: Session) -> None:
    designs = [session.design]
    for at in ("m3/3", "m5/3", "m6/3"):
        session.edit(protocol.Dock("backbone", at, "4"))
        designs.append(session.design)
    for design in reversed(designs[:-1]):
        session.undo()
        assert session.design == design
    with pytest.raises(StudioError, match="nothing to undo"):
        session.undo()
    for design in designs[1:]:
        session.redo()
        assert session.design == design
    with pytest.raises(StudioError, match="nothing to redo"):
        session.redo()


def test_an_edit_after_undo_forgets_what_was_undone(session: Session) -> None:
    session.edit(protocol.Dock("backbone", "m3/3", "4"))
    session.undo()
    session.edit(protocol.Dock("scout", "m5/3", "4"))
    assert not session.redoable
    session.undo()
    assert session.design.assembly.key == mr.load("crab").key


def test_a_wrong_edit_changes_nothing(session: Session) -> None:
    before = session.design
    with pytest.raises(ModurobError):
        session.edit(protocol.Dock("backbone", "m0/3", "4"))
    assert session.design is before
    assert not session.undoable


def test_history_is_long_and_says_how_long(session: Session) -> None:
    for i in range(60):
        session.edit(protocol.Rename(f"crab {i}"))
    assert MOST_STEPS >= 1000
    assert (session.shown["undo"], session.shown["redo"], session.shown["most_steps"]) == (60, 0, MOST_STEPS)
    for _ in range(60):
        session.undo()
    assert session.design.name == "crab"
    assert (session.shown["undo"], session.shown["redo"]) == (0, 60)


def test_another_robot_starts_in_its_own_pose(session: Session) -> None:
    """Joints of the same name are not those of the robot before; undo brings back the robot, and its neutral pose."""
    first = session.shown["number"]
    session.set_coordinate(0, 0.4)
    session.edit(protocol.Dock("backbone", "m3/3", "4"))
    assert session.q[0] == 0.4
    assert session.shown["number"] == first
    session.edit(protocol.OpenShipped("tree9"))
    assert not session.q.any()
    assert session.shown["number"] != first
    session.undo()
    assert session.shown["number"] == first


def test_what_cannot_be_shown_changes_nothing(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    before = session.design

    def crash(design: Design) -> None:
        raise ZeroDivisionError("by chance")

    monkeypatch.setattr(describe, "robot", crash)
    with pytest.raises(ZeroDivisionError):
        session.edit(protocol.Dock("backbone", "m3/3", "4"))
    assert session.design is before
    assert session.undoable == 0


@pytest.mark.parametrize("value", [1.58, -3.0, 1e6])
def test_a_pose_stays_within_the_limits(session: Session, value: float) -> None:
    with pytest.raises(StudioError, match=r"m0/hinge cannot be at .*: its limits are -1\.571 to 1\.571"):
        session.set_coordinate(0, value)
    assert session.q[0] == 0


def test_the_pose_goes_along_with_its_joints(session: Session) -> None:
    session.set_coordinate(1, 0.4)
    session.set_rate(2, -0.3)
    session.edit(protocol.Dock("backbone", "m3/3", "4"))
    robot = session.robot
    by_name = {j.name: session.q[j.q_slice][0] for j in robot.joints}
    assert by_name["m2/hinge"] == 0.4
    assert robot.nv == 4
    assert {j.name: session.v[j.v_slice][0] for j in robot.joints}["m4/hinge"] == -0.3
    session.reset_pose()
    assert not session.q.any()


def test_narrower_stops_take_the_pose_along(session: Session) -> None:
    """Those of one module, or of all of its type; coordinates within them stay, and undo gives the limits back."""
    session.set_coordinate(0, 0.9)
    session.set_coordinate(1, -0.4)
    session.edit(protocol.SetParameter("m0", "upper_stop", 0.5))
    assert session.q == pytest.approx([0.5, -0.4, 0])
    assert session.robot.limits.upper == pytest.approx([0.5, np.pi / 2, np.pi / 2])
    with pytest.raises(StudioError, match=r"m0/hinge cannot be at 0\.6: its limits are -1\.571 to 0\.5"):
        session.set_coordinate(0, 0.6)
    session.edit(protocol.SetParameter("m0", "lower_stop", -0.3, everywhere=True))
    assert session.q == pytest.approx([0.5, -0.3, 0])
    session.undo()
    session.undo()
    session.set_coordinate(0, 0.9)
    with pytest.raises(ModurobError, match=r"parameter lower_stop = 0\.1: expected a finite number from -inf to 0\.0"):
        session.edit(protocol.SetParameter("m0", "lower_stop", 0.1))


def test_quaternions_stay_of_length_one(session: Session) -> None:
    session.edit(protocol.SetBase("m0", floating=True))
    session.set_coordinate(4, 0.7)
    assert np.isclose(np.linalg.norm(session.q[3:7]), 1)
    with pytest.raises(StudioError, match="this robot has 10"):
        session.set_coordinate(10, 0.0)
    with pytest.raises(StudioError, match="this robot has 9"):
        session.set_rate(9, 0.0)


def test_a_quaternion_cannot_vanish(session: Session) -> None:
    session.edit(protocol.SetBase("m0", floating=True))
    with pytest.raises(StudioError, match="would be zero"):
        session.set_coordinate(3, 0.0)


def test_what_was_edited_is_found_again(session: Session, tmp_path: Path) -> None:
    session.edit(protocol.Dock("scout", "m3/3", "4"))
    session.edit(protocol.SetBase("m1", floating=True))
    (entry,), problems = Autosave(tmp_path).recent()
    assert problems == []
    assert (entry["name"], entry["modules"]) == ("crab", 7)
    other = Session(Autosave(tmp_path))
    other.edit(protocol.OpenRecent(entry["session"]))
    assert other.design == session.design


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "0" * 32, "x" * 32])
def test_only_saved_robots_are_opened(session: Session, name: str) -> None:
    with pytest.raises(StudioError, match="no saved robot"):
        session.edit(protocol.OpenRecent(name))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "7",
        "[" * 100_000,
        '{"name": "x", "modules": 1e999}',
        '{"name": "x", "modules": 3, "robot": "x", "base": 1, "floating": 0, "gravity": [1]}',
        '{"name": "x", "modules": 3, "robot": "x", "base": "m0", "floating": 0, "gravity": [1, 1e999, 1]}',
        '{"name": "x", "modules": 3, "urdf": "<robot", "file": "", "floating": 0, "gravity": [0, 0, 0]}',
    ],
)
def test_broken_files_are_passed_over_and_named(tmp_path: Path, text: str) -> None:
    autosave = Autosave(tmp_path)
    autosave.save("f" * 32, Design(mr.load("crab")))
    (tmp_path / f"{0:032x}.json").write_text(text)
    (tmp_path / "nowhere.json").symlink_to(tmp_path / "missing")
    robots, problems = autosave.recent()
    assert "crab" in [robot["name"] for robot in robots]
    assert any("nowhere.json cannot be read" in problem for problem in problems)
    with pytest.raises(FormatError, match=r"the saved robot in .*0\.json cannot be read"):
        autosave.load(f"{0:032x}")


def test_old_files_are_forgotten(tmp_path: Path) -> None:
    autosave = Autosave(tmp_path)
    for i in range(KEPT + 5):
        autosave.save(f"{i:032x}", Design(mr.load("crab")))
    assert len(list(tmp_path.glob("*.json"))) == KEPT


def test_a_disk_that_cannot_be_written_is_said_and_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    autosave = Autosave(blocked / "folder")
    assert "not saved by itself" in autosave.save("0" * 32, Design(mr.load("crab")))
    assert autosave.recent() == ([], [])
    session = Session(autosave)
    session.edit(protocol.OpenShipped("crab"))
    assert "not saved by itself" in session.shown["unsaved"]


def test_the_description_holds_what_the_page_needs() -> None:
    design = Design(mr.load("crab"))
    shown = describe.robot(design)
    robot = design.robot
    assert shown["degrees_of_freedom"] == 3
    assert shown["key"] == design.assembly.key
    assert shown["views"]["aim"] == design.assembly.aim_table()
    assert len(shown["shapes"]) == len(robot.shapes)
    assert sum(p["holds"] is None for p in shown["ports"]) == len(design.assembly.free_ports)
    # every shape is where the mechanism has it
    poses = robot.forward_kinematics(robot.neutral()).bodies
    theirs = sorted((poses[s.frame.body] @ s.in_body)[:3, 3].round(6).tolist() for s in robot.shapes)
    ours = sorted(
        (poses[s["body"]] @ np.vstack([np.reshape(s["X"], (3, 4)), [0, 0, 0, 1]]))[:3, 3].round(6).tolist()
        for s in shown["shapes"]
    )
    assert np.allclose(ours, theirs, atol=2e-6)


def test_ellipsoids_have_the_inertia_of_their_bodies() -> None:
    """A homogeneous ellipsoid has I_x = m (b² + c²) / 5, and so on."""
    design = Design(mr.load("tree9"))
    for body, spatial in zip(describe.robot(design)["bodies"], design.robot.inertia, strict=True):
        if body["mass"] == 0:
            continue
        a, b, c = np.square(body["half"])
        R = np.reshape(body["axes"], (3, 3))
        about_centre = R @ np.diag([b + c, a + c, a + b]) @ R.T * body["mass"] / 5
        x = np.array(body["centre"])
        about_origin = about_centre + body["mass"] * (x @ x * np.eye(3) - np.outer(x, x))
        assert np.allclose(about_origin, spatial[3:, 3:], atol=1e-9)
        assert np.isclose(np.linalg.det(R), 1)
