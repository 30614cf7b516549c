"""Loops in the studio: only those are closed that can be, and a pose never tears them."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import modurob as mr
from modurob.assembly import dumps
from modurob.errors import ModurobError, StudioError
from modurob.studio import closing, protocol
from modurob.studio.autosave import Autosave
from modurob.studio.design import Design
from modurob.studio.session import Session

CLOSED = 1e-8  # [m, rad]
SQUARE = mr.Assembly.from_grid("B B\nB B")
RING = mr.Assembly.from_grid("B B B\nB . B\nB B B")


def chain(modules: int) -> mr.Assembly:
    robot = mr.Assembly.single("m0", "backbone")
    for i in range(1, modules):
        robot = robot.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4")
    return robot


def session(robot: mr.Assembly, tmp_path: Path) -> Session:
    return Session(Autosave(tmp_path), Design(robot))


def open_by(one: Session) -> float:
    """How far the loops are open in the present pose."""
    return float(np.abs(one.robot.loop_error(one.q)).max(initial=0.0))


def test_a_loop_that_cannot_close_is_refused_with_the_distance(tmp_path: Path) -> None:
    crab = session(mr.load("crab"), tmp_path)
    with pytest.raises(StudioError, match=r"m0/2 and m5/4 cannot meet: they are 0\.2\d+ m and 180 degrees apart"):
        crab.edit(protocol.Connect("m0/2", "m5/4"))
    assert crab.robot.loops == ()
    assert crab.undoable == 0


def test_ports_that_can_meet_are_named(tmp_path: Path) -> None:
    opened = SQUARE.disconnect(SQUARE.connections[-1].a)
    square = session(opened, tmp_path)
    with pytest.raises(StudioError, match="cannot meet") as refused:
        square.edit(protocol.Connect("m0/3", "m3/2"))
    names = {
        f"{SQUARE.connections[-1].a} - {SQUARE.connections[-1].b}",
        f"{SQUARE.connections[-1].b} - {SQUARE.connections[-1].a}",
    }
    assert any(name in str(refused.value) for name in names)


def test_a_chain_is_bent_to_the_ring_that_it_closes(tmp_path: Path) -> None:
    """Six hinges of sixty degrees; all at zero the ends are far apart."""
    six = session(chain(6), tmp_path)
    six.edit(protocol.Connect("m0/4", "m5/3"))
    assert len(six.robot.loops) == 1
    assert open_by(six) < CLOSED
    assert np.abs(six.q).max() > 0.5


def test_ports_within_one_body_must_touch(tmp_path: Path) -> None:
    crab = session(mr.load("crab"), tmp_path)
    with pytest.raises(StudioError, match=r"m2/4 and m4/4 cannot meet: they are 0\.\d+ m and \d+ degrees apart"):
        crab.edit(protocol.Connect("m2/4", "m4/4"))


@pytest.mark.parametrize("robot", [SQUARE, RING], ids=["square", "ring"])
def test_sliders_keep_a_ring_closed(robot: mr.Assembly, tmp_path: Path) -> None:
    ring = session(robot, tmp_path)
    for index in range(ring.robot.nq):
        for value in (0.3, -0.7, 1.2, 0.0):
            with suppress(StudioError):
                ring.set_coordinate(index, value)
            assert open_by(ring) < CLOSED
            assert closing._beyond(ring.robot, ring.q) is None
    ring.set_coordinate(0, 0.5)
    assert ring.q[0] == pytest.approx(0.5)


def test_a_coordinate_goes_as_far_as_the_loop_lets_it(tmp_path: Path) -> None:
    """In the ring of six, one hinge cannot be straight the other way."""
    six = session(chain(6), tmp_path)
    six.edit(protocol.Connect("m0/4", "m5/3"))
    start = float(six.q[0])
    with pytest.raises(StudioError, match="keeps the loops closed"):
        six.set_coordinate(0, -np.sign(start) * 1.57)
    assert open_by(six) < CLOSED
    assert six.q[0] != start


def test_rates_keep_a_ring_closed(tmp_path: Path) -> None:
    ring = session(RING, tmp_path)
    ring.set_coordinate(0, 0.3)
    ring.set_rate(0, 1.0)
    assert np.abs(ring.robot.loop_jacobian(ring.q) @ ring.v).max() < CLOSED
    assert np.abs(ring.v).max() > 0.1


def test_edits_keep_a_ring_closed(tmp_path: Path) -> None:
    ring = session(RING, tmp_path)
    ring.set_coordinate(0, 0.5)
    ring.edit(protocol.Dock("backbone", "m0/5", "4"))
    assert open_by(ring) < CLOSED
    assert np.abs(ring.q).max() > 0.1
    ring.reset_pose()
    assert open_by(ring) < CLOSED


def test_a_file_with_a_loop_that_cannot_close_is_refused(tmp_path: Path) -> None:
    text = dumps(mr.load("crab").connect("m0/2", "m5/4"))
    one = session(mr.load("crab"), tmp_path)
    with pytest.raises(ModurobError, match=r"closes the loops: m0/2 - m5/4 is open by 0\.2\d+ m and 180 degrees"):
        one.edit(protocol.Open(text))
