"""Lines over ports of modules: built, written, read, renamed, and dropped with a module."""

import numpy as np
import pytest

import modurob as mr
from modurob.assembly.cables import Cable
from modurob.errors import FormatError, InputError, ModurobWarning, UnknownNameError

ROPE = mr.Elastic(stiffness=100.0, rest=0.1, damping=2.0)
ROUTE = [("m0/3", mr.Winch("m4/hinge", 0.02)), "m2/2", ("m5/3", mr.Swivel(0.01, 0.01)), "m3/3"]


def crab():
    return mr.load("crab").with_line("rope", ROUTE, ROPE)


def test_a_line_over_ports_is_a_line_over_frames():
    robot = crab().mechanism(base="m0")
    places = [(at, (0, 0, 0), *more) for at, *more in ((x,) if isinstance(x, str) else x for x in ROUTE)]
    expected = mr.load("crab").mechanism(base="m0").with_line("rope", places, ROPE)
    assert robot == expected
    q, v = np.array([0.3, -0.2, 0.4]), np.array([1.0, 0.5, -1.0])
    assert robot.line_tensions(q, v)[0] > 0
    assert np.abs(robot.passive_forces(q, v)).max() > 1


def test_files_hold_lines(tmp_path):
    assembly = crab().with_line("spring", ["m1/3", "m5/2"], mr.Spring(20.0, 0.1))
    mr.save(assembly, tmp_path / "robot.yaml")
    again = mr.load(tmp_path / "robot.yaml")
    assert again == assembly
    assert again.mechanism() == assembly.mechanism()
    wound = mr.load("crab").with_line("w", [("m0/3", mr.Winch("m4/hinge", 0.02, mr.Swivel(0.02))), "m3/3"], mr.Tension(5.0))
    mr.save(wound, tmp_path / "wound.yaml")
    assert mr.load(tmp_path / "wound.yaml") == wound


def test_renamed_and_undocked():
    assembly = crab()
    other = assembly.renamed({"m4": "drum", "m3": "tail"})
    assert other.setup.lines["rope"].modules == {"m0", "m2", "m5", "tail", "drum"}
    assert other.mechanism(base="m0").key == assembly.mechanism(base="m0").key
    with pytest.warns(ModurobWarning, match="lines rope went with a module they ran over"):
        less = assembly.undock("m3")
    assert not less.setup.lines
    assert assembly.without_line("rope") == mr.load("crab")


def test_lines_that_do_not_fit():
    with pytest.raises(UnknownNameError, match="line 'x': no port 'm9/3'"):
        mr.load("crab").with_line("x", ["m0/3", "m9/3"], ROPE)
    with pytest.raises(UnknownNameError, match="line 'x': no joint 'm0/axle'"):
        mr.load("crab").with_line("x", [("m0/3", mr.Winch("m0/axle", 0.1)), "m3/3"], ROPE)
    with pytest.raises(UnknownNameError, match="no line 'y'"):
        crab().without_line("y")
    with pytest.raises(InputError, match="place 3 on a line|place .* on a line: expected a port"):
        Cable(["m0/3", (1, 2)], ROPE)
    with pytest.raises(InputError, match="law of a line 7"):
        Cable(["m0/3", "m1/3"], 7)
    with pytest.raises(InputError, match="expected lines by name"):
        mr.Setup(lines={"x": 3})
    with pytest.raises(InputError, match="a line of the laws elastic, spring: expected one"):
        Cable.from_data(["m0/3", "m1/3"], {"elastic": {}, "spring": {}})
    text = "{format: modurob robot 2, modules: {m0: backbone}, lines: {x: {route: [m0/3, m0/2], law: {%s: {stiffness: 1}}}}}"
    with pytest.raises(InputError, match="no 'rubber' for a line"):
        mr.loads(text % "rubber")
    with pytest.raises(InputError, match="elastic of stiffness: expected stiffness, rest"):
        mr.loads(text % "elastic")
    odd = "{format: modurob robot 2, modules: {m0: backbone}, lines: {x: {route: [m0/3, {at: m0/2}], law: {tension: {}}}}}"
    with pytest.raises(InputError, match="expected at, and one of point, pulley, swivel, winch"):
        mr.loads(odd)
    with pytest.raises(FormatError, match="lines"):
        mr.loads(odd.replace("{at: m0/2}", "7"))
