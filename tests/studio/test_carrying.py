"""States carried over when a robot changes: the same transfer as in a `World`, so that no module jumps."""

from pathlib import Path

import numpy as np
import pytest

import modurob as mr
from modurob.simulation.docking import Body, transfer
from modurob.studio import carrying, protocol
from modurob.studio.autosave import Autosave
from modurob.studio.carrying import Posed
from modurob.studio.design import Design
from modurob.studio.opening import opened
from modurob.studio.protocol import RunSettings
from modurob.studio.runs import Run
from modurob.studio.session import Session

STILL = 1e-12  # [m], of poses that are carried over
SETTINGS = RunSettings(controller="none", ideal=True, duration=2.0)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A crab that floats somewhere, turned and moving."""
    one = Session(Autosave(tmp_path), Design(mr.load("crab").with_setup(floating=True, gravity=(0, 0, 0))))
    for index, value in enumerate((0.3, -0.2, 0.5, 0.9, 0.2, -0.3, 0.1, 0.4, -0.5, 0.6)):
        one.set_coordinate(index, value)
    for index in range(one.robot.nv):
        one.set_rate(index, 0.3 * (-1) ** index)
    return one


def running(session: Session) -> Run:
    run = session.start(SETTINGS)
    for _ in range(4):
        run.advance_to_sample()
    return run


def modules(robot: mr.Mechanism, q: np.ndarray, v: np.ndarray, names: set[str]) -> dict[str, np.ndarray]:
    """Pose and twist of each module."""
    return {name: np.concatenate([robot.frame_pose(q, name).ravel(), robot.frame_twist(q, v, name)]) for name in names}


EDITS = [
    protocol.Undock("m5"),
    protocol.Undock("m0"),  # the base
    protocol.Undock("m2", branch=True),
    protocol.Dock("backbone", "m3/3", "4"),
    protocol.SetBase("m3", floating=True),
    protocol.SetGravity((0.0, 0.0, -1.0)),
    protocol.SetParameter("m1", "mass", 3.0),
]


@pytest.mark.parametrize("edit", EDITS, ids=lambda e: f"{type(e).__name__} {getattr(e, 'module', '')}")
def test_no_module_jumps_when_the_robot_changes_in_a_run(session: Session, edit: protocol.Edit) -> None:
    """Poses and twists of all modules that stay are those of before, to rounding."""
    run = running(session)
    before = session.robot, *run.state
    session.edit(edit)
    after = session.active
    assert after is not None
    assert after.before == run.number
    assert isinstance(session.design, Design)
    staying = session.design.assembly.modules.keys() & {f"m{i}" for i in range(6)}
    was, now = (modules(*state, staying) for state in (before, (session.robot, *after.state)))
    for name in staying:
        assert np.allclose(now[name], was[name], rtol=0, atol=STILL), name


def test_the_pose_that_a_run_starts_from_does_not_jump_either(session: Session) -> None:
    robot, q, v = session.robot, session.q, session.v
    kept = {"m1", "m2", "m3", "m4", "m5"}
    was = modules(robot, q, v, kept)
    session.edit(protocol.Undock("m0"))
    now = modules(session.robot, session.q, session.v, kept)
    assert all(np.allclose(now[name], was[name], rtol=0, atol=STILL) for name in kept)
    # and back: the base that comes back stands where the others bring it
    session.undo()
    now = modules(session.robot, session.q, session.v, kept)
    assert all(np.allclose(now[name], was[name], rtol=0, atol=STILL) for name in kept)


def test_it_is_the_transfer_of_a_world(session: Session) -> None:
    design = session.design
    assert isinstance(design, Design)
    smaller = Design(design.assembly.undock("m0"))
    found = carrying.carried(Posed(design, session.q, session.v), smaller)
    body = Body(design.assembly, session.robot, session.q, session.v, {})
    expected = transfer(smaller.assembly, [body], np.zeros(3), "m1").body
    assert found.robot == expected.robot
    assert np.array_equal(found.q, expected.q)
    assert np.array_equal(found.v, expected.v)


def test_a_hinge_that_carries_nothing_any_more_stays_where_it_is(session: Session) -> None:
    """The far half of m4 keeps its pose, in the run and in the file, and moves again when something docks."""
    run = running(session)
    hinge = session.robot.joint("m4/hinge").q_slice
    angle, pose = run.state[0][hinge], session.robot.frame_pose(run.state[0], "m4/3")
    session.edit(protocol.Undock("m5"))
    assert "m4/hinge" in session.robot.idle
    after = session.active
    assert after is not None
    assert np.allclose(session.robot.frame_pose(after.state[0], "m4/3"), pose, rtol=0, atol=STILL)
    session.edit(protocol.Dock("backbone", "m4/3", "4"))
    again = session.active
    assert again is not None
    assert np.allclose(again.state[0][session.robot.joint("m4/hinge").q_slice], angle, rtol=0, atol=STILL)


def test_a_filter_goes_on_from_what_it_believed(tmp_path: Path) -> None:
    one = Session(Autosave(tmp_path), Design(mr.load("tree9")))
    settings = RunSettings(filter="ekf", noise=0.05, reference="hold", sample_time=0.01, duration=1.0)
    run = one.start(settings)
    run.advance_to_sample()
    believed = run.estimate
    assert believed is not None
    assert not np.array_equal(believed.q, run.state[0])
    one.edit(protocol.SetGravity((0.0, 0.0, -1.0)))
    after = one.active
    assert after is not None
    assert after.estimate is not None
    assert np.array_equal(after.estimate.q, believed.q)
    assert np.array_equal(after.state[0], run.state[0])


def test_a_robot_that_stands_lets_go_where_it_is_and_stands_at_the_origin(tmp_path: Path) -> None:
    one = Session(Autosave(tmp_path), Design(mr.load("tree9")))
    first = running(one)
    poses = modules(one.robot, *first.state, {"m0", "m4", "m8"})
    one.edit(protocol.SetBase("m0", floating=True))
    second = one.active
    assert second is not None
    now = modules(one.robot, *second.state, {"m0", "m4", "m8"})
    assert all(np.allclose(now[name], poses[name], rtol=0, atol=STILL) for name in poses)
    # to stand on another base is a jump: the run ends, joints keep their coordinates
    for edit in (protocol.SetBase("m4", floating=False), protocol.SetBase("m8", floating=False)):
        before = {j.name: one.q[j.q_slice] for j in one.robot.joints}
        one.start(SETTINGS)
        one.edit(edit)
        assert one.active is None
        assert np.allclose(one.robot.frame_pose(one.q, edit.module), np.eye(4))
        assert all(np.array_equal(one.q[j.q_slice], before[j.name]) for j in one.robot.joints)


def test_a_loop_closes_in_a_run_only_where_ports_meet(tmp_path: Path) -> None:
    """As in a World: within a millimetre; else the run ends, and the robot is shown with its loop closed."""
    chain = mr.Assembly.from_aim(
        [[3, 0, 0, 0, 0], [4, 3, 0, 0, 0], [0, 4, 3, 0, 0], [0, 0, 4, 3, 0], [0, 0, 0, 4, 3], [0, 0, 0, 0, 4]],
        types="backbone",
    )
    one = Session(Autosave(tmp_path), Design(chain))
    one.start(SETTINGS)
    one.edit(protocol.Connect("m0/4", "m5/3"))
    assert one.active is None
    assert np.abs(one.robot.loop_error(one.q)).max() < 1e-8
    assert np.abs(one.q).max() > 0.5


def test_a_file_holds_the_pose_and_the_rates(session: Session) -> None:
    again = carrying.initial(session.posed)
    assert np.allclose(again.q, session.q, rtol=0, atol=STILL)
    assert np.allclose(again.v, session.v, rtol=0, atol=STILL)
    session.edit(protocol.Undock("m5"))
    again = carrying.initial(session.posed)
    assert again.robot == session.robot
    assert np.allclose(again.q, session.q, rtol=0, atol=STILL)


def test_a_robot_opens_as_its_file_says(tmp_path: Path) -> None:
    one = Session(Autosave(tmp_path), Design(mr.load("crane")))
    assert one.q.tolist() == mr.load("crane").initial_state()[0].tolist()
    assert np.abs(one.q).max() > 0.5
    modules = "modules: {m0: backbone, m1: backbone}, connections: [m0/3 - m1/4]"
    text = f"{{format: modurob robot 2, {modules}, initial: {{rates: {{m0/hinge: 2}}}}}}"
    one = Session(None, opened(text))
    assert one.v.tolist() == [2.0]
    one.reset_pose()
    assert not one.v.any()
