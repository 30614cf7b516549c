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


# ---- a tensegrity arm changes shape while it moves ----


def test_a_strut_comes_and_goes_while_tension_is_held():
    """In a world: a strut of the top is let go, what ran over it is dropped and said so, docked again and tied again; the cables
    of the stages below stay taut all the time."""
    arm = mr.load("tensegrity_arm")
    over = {name: line for name, line in arm.setup.lines.items() if "c0" in line.modules}
    organism = mr.Organism(arm, q=arm.initial_state()[0], stands=np.eye(4))
    world = mr.World({"arm": organism}, stepper=mr.RungeKutta4(2e-4), tick=1e-2)
    before = tensions(world, "arm")
    assert min(before.values()) > 10
    with pytest.warns(ModurobWarning, match="went with a module they ran over"):
        assert world.change(mr.Undock(0.0, "arm", "b0/out", into="strut"))
    assert f"b0/out let go, lines dropped: {', '.join(over)}" in world.events[-1].message
    world.run(0.01)
    held = tensions(world, "arm")
    assert set(held) == set(before) - set(over)
    below = [name for name, line in arm.setup.lines.items() if not any(x.startswith("c") for x in line.modules)]
    assert len(below) > 6
    assert min(held[name] for name in below) > 10
    assert world.change(mr.Merge(0.0, "arm", "strut", "b0/out", "c0/in", tolerance=(0.05, 0.5)))
    for name, line in over.items():
        assert world.change(mr.Tie(0.0, "arm", name, line.route, line.law)), world.events[-1]
    world.run(0.02)
    after = tensions(world, "arm")
    assert set(after) == set(before)
    assert min(after[name] for name in below) > 10
    assert sum(after[name] > 10 for name in over) >= 2
    assert world.change(mr.Untie(0.0, "arm", next(iter(over))))
    assert not world.change(mr.Untie(0.0, "arm", "cord"))
    assert "no line 'cord'" in world.events[-1].message


def tensions(world, name):
    x = world[name]
    return dict(zip([row.name for row in x.robot.lines], x.robot.line_tensions(x.q, x.v).tolist(), strict=True))


def test_lines_of_both_pieces_live_on():
    """Parting a robot drops the lines over both pieces, once, and no other."""
    two = mr.load("crab").with_line("near", ["m0/3", "m1/3"], ROPE).with_line("far", ["m2/2", "m3/3"], ROPE)
    both = two.with_line("across", ["m0/3", "m3/3"], ROPE)
    with pytest.warns(ModurobWarning) as found:
        one, other = both.parted("m1/2")
    assert [str(w.message) for w in found] == ["lines across went with a module they ran over"]
    assert (list(one.setup.lines), list(other.setup.lines)) == (["near"], ["far"])
