"""What has no counterpart in the other tool is refused by name, in either direction."""

import sys

import numpy as np
import pytest
import sympy

import modurob as mr
from modurob.errors import InputError, MjcfError, ModurobWarning
from modurob.spatial import inertia, se3

BOX = inertia.box(1.0, (0.1, 0.2, 0.3))


def one(joint, own=BOX, **properties):
    b = mr.Builder("odd")
    b.body("b", own, joint=joint, properties=mr.JointProperties(**properties))
    return b


def refused_to_write(builder, message):
    with pytest.raises(MjcfError, match=message):
        mr.mjcf(builder.build())


@pytest.mark.parametrize(
    ("builder", "message"),
    [
        (one(mr.Involute(0.1)), "joint b of odd is involute"),
        (one(mr.Revolute((0, 0, 1)), friction=0.1, static=0.2), "'b friction' of odd has static friction 0.2"),
        (one(mr.Spherical(), damping=[0.1, 0.2, 0.1]), "one friction and armature for a spherical joint"),
        (one(mr.Free(), armature=0.1), "is free and has armature or dry friction"),
        (one(mr.Free(), friction=0.1), "is free and has armature or dry friction"),
        (one(mr.Revolute((0, 0, 1)), None), "body 'b' of odd: no mass, and nothing beyond it"),
    ],
)
def test_joints_and_bodies_that_mujoco_does_not_have(builder, message):
    refused_to_write(builder, message)


def test_an_inertia_that_no_body_has():
    b = mr.Builder("odd")
    b.body("b", inertia.spatial_inertia(1.0, (0, 0, 0), np.diag([1.0, 1.0, 3.0])), joint=mr.Spherical(), check=False)
    refused_to_write(b, "body 'b' of odd: .*triangle inequality.*MuJoCo moves no such body")


def test_symbols():
    with pytest.raises(MjcfError, match="has symbols for numbers: give them values"):
        mr.mjcf(mr.Mechanism.from_dh([(sympy.Symbol("a"), 0, 0, 0)]))


def test_loops_lines_and_forces_that_mujoco_does_not_have():
    b = one(mr.Revolute((0, 0, 1)))
    b.loop("slide", mr.Prismatic((0, 0, 1)), "world", "b")
    refused_to_write(b, "loop 'slide' of odd closes with a prismatic joint: for MuJoCo loops close with fixed")
    b = one(mr.Revolute((0, 0, 1)))
    b.line("rope", [("world", (0, 0, 1)), ("b", (0, 1, 0))], mr.Elastic(10.0, rest=1.0, damping=0.1))
    refused_to_write(b, "'rope' of odd is a cable with damping .* robot.without_forces")
    b = one(mr.Revolute((0, 0, 1)))
    swivel = ("world", (0, 0, 1), mr.Swivel(0.05))
    b.line("rope", [swivel, ("b", (0, 1, 0))], mr.Elastic(10.0, rest=1.0))
    refused_to_write(b, "'rope' of odd runs over a swivel")
    b = one(mr.Revolute((0, 0, 1)))
    winch = ("world", (0, 0, 1), mr.Winch("b", 0.05))
    b.line("rope", [winch, ("b", (0, 1, 0))], mr.Elastic(10.0, rest=1.0))
    refused_to_write(b, "'rope' of odd runs over a winch")


def test_a_loop_of_a_free_joint_holds_nothing():
    b = one(mr.Revolute((0, 0, 1)))
    b.loop("loose", mr.Free(), "world", "b")
    assert "loose" not in mr.mjcf(b.build())


def test_meshes_are_files_that_mujoco_reads(tmp_path):
    b = one(mr.Revolute((0, 0, 1)))
    b.collision("mesh", (1.0, 1.0, 1.0), "b", file="hand.dae")
    refused_to_write(b, r"mesh 'hand.dae' of odd: expected a file that is there, .stl, .obj, .msh")
    assert "<geom" not in mr.mjcf(b.build(), shapes=False)


def test_only_robots_are_written():
    with pytest.raises(InputError, match="Assembly has no MJCF: expected a Mechanism: give its robot"):
        mr.mjcf(mr.load("crab"))  # type: ignore[arg-type]


def test_mujoco_may_be_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MjcfError, match=r"pip install 'modurob\[mujoco\]'"):
        mr.simulate(mr.load("crab").mechanism(), duration=0.01, engine="mujoco")


# ---- reading ----

BODY = '<body name="b"><joint name="j"/><geom size="0.1"/>{}</body>'


def load(tmp_path, inside="", more="", options="", body=None):
    path = tmp_path / "r.xml"
    text = BODY.format(inside) if body is None else body
    path.write_text(f"<!-- a robot --><mujoco>{options}<worldbody>{text}<site name='w'/></worldbody>{more}</mujoco>")
    return mr.load(path)


TENDON = "<tendon><spatial name='t' {}><site site='w'/><site site='s'/></spatial></tendon>"
SITE = "<site name='s' pos='1 0 0'/>"
TWO = BODY.format("<body name='c'><joint name='k'/><geom size='0.1'/></body>")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"body": "<body mocap='true'><geom size='0.1'/></body>"}, "r.xml: has 1 mocap bodies"),
        ({"options": "<option density='1'/>"}, "medium of density 1 and viscosity 0"),
        ({"body": BODY.format("").replace("name='b'", "").replace("<body", "<body gravcomp='1'")}, "has gravcomp 1"),
        (
            {"body": "<body><joint type='ball' name='j' range='0 1' limited='true'/><geom size='0.1'/></body>"},
            "a ball with a range",
        ),
        (
            {"body": "<body><joint type='ball' name='j' stiffness='1'/><geom size='0.1'/></body>"},
            "a ball joint with a spring",
        ),
        (
            {"body": "<body><joint type='free' name='j' stiffness='1'/><geom size='0.1'/></body>"},
            "a free joint with a spring",
        ),
        (
            {"body": TWO, "more": "<equality><joint joint1='j'/></equality>"},
            "on joint 'j': expected one joint that follows",
        ),
        (
            {"body": TWO, "more": "<equality><joint joint1='j' joint2='k'/><joint joint1='k' joint2='j'/></equality>"},
            "follows joints that follow it",
        ),
        (
            {
                "body": TWO,
                "more": "<tendon><fixed name='t'><joint joint='j' coef='1'/></fixed>"
                "<fixed name='u'><joint joint='k' coef='1'/></fixed></tendon>"
                "<equality><tendon tendon1='t' tendon2='u'/></equality>",
            },
            "expected a fixed tendon over joints, held at one length",
        ),
        ({"inside": SITE, "more": TENDON.format("range='0 1' limited='true'")}, "tendon 't' has a range"),
        (
            {"inside": SITE, "more": TENDON.format("stiffness='1' springlength='0.1 0.2'")},
            "has springlength 0.1 to 0.2",
        ),
        (
            {"inside": SITE, "more": TENDON.format("") + "<actuator><motor tendon='t'/></actuator>"},
            "tendon 't' is driven and elastic, or by more than a plain tension",
        ),
        (
            {"more": "<tendon><fixed name='t' stiffness='1'><joint joint='j' coef='1'/></fixed></tendon>"},
            "tendon 't' runs over joints, spheres or branches",
        ),
        ({"more": "<nonsense/>"}, "r.xml: MuJoCo cannot read it: .*nonsense"),
        (
            {"inside": "<site name='b'/>", "body": BODY.format("").replace('"b"', '"world"')},
            "r.xml: MuJoCo cannot read it",
        ),
    ],
)
def test_what_a_mechanism_does_not_have(arguments, message, tmp_path):
    with pytest.raises(MjcfError, match=message):
        load(tmp_path, **arguments)


def test_no_such_file(tmp_path):
    load(tmp_path)
    with pytest.raises(MjcfError, match=r"s.xml: no such file; did you mean 'r.xml'"):
        mr.Mechanism.from_mjcf(tmp_path / "s.xml")
    with pytest.raises(MjcfError, match="'<mujoco/>' is the text of a file: expected the path of one"):
        mr.Mechanism.from_mjcf("<mujoco/>")


def test_servos_are_read_as_torques_with_a_warning(tmp_path):
    with pytest.warns(ModurobWarning, match="actuator 'a' has a law of its own"):
        robot = load(tmp_path, more="<actuator><position name='a' joint='j' kp='9' forcerange='-3 3'/></actuator>")
    assert robot.effort_limit == [3.0]


def test_odd_geoms_are_left_out_with_a_warning(tmp_path):
    with pytest.warns(ModurobWarning, match="is no box, sphere, capsule, cylinder or mesh"):
        robot = load(tmp_path, inside="<geom type='ellipsoid' size='0.1 0.2 0.3'/>")
    assert len(robot.shapes) == 1


# ---- what other people's files have ----


def test_defaults_frames_references_and_inertias_of_geoms(tmp_path, rng):
    """MuJoCo's M of a file written by hand: degrees, classes, nested frames, a joint beside its body's origin, ref, two joints."""
    text = """<mujoco model="hand written"><compiler angle="degree"/><default><joint damping="0.2" armature="0.01"/></default>
      <worldbody><frame euler="0 0 30" pos="0.1 0 0"><body name="a" pos="0 0.2 0" euler="10 20 30">
        <joint name="j0" axis="1 1 0" pos="0.1 0.2 0.3" ref="25" range="-90 90" limited="true"/>
        <geom type="capsule" fromto="0 0 0 0.1 0.3 0.2" size="0.05"/>
        <body pos="0.3 0 0"><geom type="box" size="0.1 0.2 0.1"/>
          <body name="c" pos="0 0 0.2"><joint name="j1" axis="0 1 0" pos="0 0 0.1"/><joint name="j2" type="slide" axis="1 0 0"/>
            <geom type="sphere" size="0.1" density="500"/></body></body></body></frame></worldbody>
      <actuator><motor joint="j0" gear="50" ctrlrange="-1 1" ctrllimited="true"/></actuator></mujoco>"""
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "r.xml"
    path.write_text(text)
    robot = mr.load(path)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    assert robot.nv == 3
    for _ in range(3):
        data.qpos, data.qvel = q, v = rng.normal(size=(2, 3))
        mujoco.mj_forward(model, data)
        M = np.zeros((3, 3))
        mujoco.mj_fullM(model, data, M)
        assert np.allclose(robot.mass_matrix(q), M, rtol=1e-12)
        assert np.allclose(robot.bias_forces(q, v), data.qfrc_bias, rtol=1e-12, atol=1e-12)
        assert np.allclose(robot.passive_forces(q, v)[1:], data.qfrc_passive[1:])
        found = robot.frame_pose(q, "c")
        assert np.allclose(se3.position(found), data.body("c").xpos, atol=1e-12)
    assert np.allclose(robot.joints[0].limits, np.deg2rad([[-90], [90]]))
    assert robot.effort_limit.tolist() == [50.0, 0.0, 0.0]


def test_followers_of_followers_lead_to_one(tmp_path):
    bodies = "".join(f"<body><joint name='j{k}'/><geom size='0.1'/></body>" for k in range(3))
    ties = (
        "<joint joint1='j2' joint2='j1' polycoef='1 2 0 0 0'/><joint joint1='j1' joint2='j0' polycoef='0.5 3 0 0 0'/>"
    )
    robot = load(tmp_path, body=bodies, more=f"<equality>{ties}</equality>")
    assert robot.nv == 1
    assert [(j.ratio, j.offset) for j in robot.joints] == [(1.0, 0.0), (3.0, 0.5), (6.0, 2.0)]


def test_welds_and_connects_between_bodies(tmp_path, rng):
    """Anchors and relative poses that MuJoCo takes from the initial configuration."""
    bodies = "".join(
        f"<body name='b{k}' pos='{k} 0 0'><joint axis='0 {k} 1'/><geom size='0.1'/></body>" for k in range(2)
    )
    for tie in ("<connect body1='b0' body2='b1' anchor='0.5 0.1 0'/>", "<weld body1='b0' body2='b1'/>"):
        robot = load(tmp_path, body=bodies, more=f"<equality>{tie}</equality>")
        assert np.abs(robot.loop_error(robot.neutral())).max() < 1e-12
        assert np.abs(robot.loop_error(rng.normal(size=2))).max() > 0.01
