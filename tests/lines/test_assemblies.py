"""Lines over ports of modules: built, written, read, renamed, and dropped with a module."""

import numpy as np
import pytest

import modurob as mr
from modurob.assembly.cables import Cable
from modurob.errors import FormatError, InputError, MatingError, ModurobWarning, UnknownNameError

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
    wound = mr.load("crab").with_line(
        "w", [("m0/3", mr.Winch("m4/hinge", 0.02, mr.Swivel(0.02))), "m3/3"], mr.Tension(5.0)
    )
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
    with pytest.raises(InputError, match=r"place \(1, 2\) on a line: expected a port"):
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


def hoist():
    """A winch and an eyelet on a cubic link, an arm on another face, a cable from the drum through the ring to its end."""
    cube = mr.Assembly.single("base", "cube_link").dock("w", "winch", at="base/1", by="1")
    cube = cube.dock("e", "eyelet", at="base/2", by="1").dock("j", "revolute_joint", at="base/3", by="1")
    cube = cube.dock("arm", "cube_link", at="j/2", by="6").dock("a", "anchor", at="arm/2", by="1")
    cube = cube.dock("s", "strut", at="arm/1", by="1", roll=90)
    return cube.with_line("rope", [("w/out", mr.Winch("w/drum", 0.02)), "e/ring", "s/top"], ROPE)


def test_modules_for_cables():
    """Drum, ring, anchor and strut: the cable pulls the arm when the drum turns, and ports of cables dock nowhere."""
    robot = hoist().mechanism(base="base")
    assert [j.name for j in robot.joints] == ["w/drum", "j/joint"]
    q = np.array([0.5, 0.3])
    assert robot.line_jacobian(q)[0, 0] == pytest.approx(0.02)
    X = robot.forward_kinematics(q)
    ways = X["e/ring"][:3, 3] - X["w/out"][:3, 3], X["s/top"][:3, 3] - X["e/ring"][:3, 3]
    assert robot.line_lengths(q)[0] == pytest.approx(sum(map(np.linalg.norm, ways)))
    assert robot.line_stretches(q)[0] == pytest.approx(robot.line_lengths(q)[0] - 0.1 + 0.02 * 0.5)
    with pytest.raises(MatingError):
        mr.Assembly.single("s", "strut").dock("t", "strut", at="s/top", by="foot")


def test_every_module_for_cables_is_its_numbers():
    for kind in ("anchor", "eyelet", "strut", "winch"):
        module = mr.module_type(kind).module()
        assert any(p.connector.kind == "cable" for p in module.ports.values())
        assert sum(part.inertia[0, 0] for part in module.parts.values()) > 0
