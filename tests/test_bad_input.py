"""Bad input is refused with what was found and what is valid, and changes nothing."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import modurob as mr
from modurob import errors
from modurob.assembly import dumps
from modurob.errors import (
    AimError,
    AssemblyError,
    CatalogueError,
    ClashError,
    ClosureError,
    DisconnectedError,
    FormatError,
    InertiaError,
    InputError,
    MatingError,
    MechanismError,
    ModurobWarning,
    OccupiedPortError,
    UnknownNameError,
    UrdfError,
    choices,
)
from modurob.spatial import inertia

TYPES = (
    "anchor, backbone, cube_link, elbow_link, eyelet, parallel_link, pivot_joint, powerball, prismatic_joint, "
    "revolute_joint, scout, scout_drive, straight_link, strut, virtual, winch"
)


@contextmanager
def refused(error: type[Exception], message: str, assembly: mr.Assembly | None = None) -> Iterator[None]:
    """The block raises that error with that message, and the assembly stays equal to a copy made before."""
    before = None if assembly is None else mr.Assembly.loads(dumps(assembly))
    with pytest.raises(error, match=message) as caught:
        yield
    assert type(caught.value) is error
    assert assembly == before


@pytest.fixture
def crab() -> mr.Assembly:
    return mr.load("crab")


# ---- docking ----

DOCK = {"name": "m6", "kind": "backbone", "at": "m3/3", "by": "4"}


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"kind": "bakbone"},
            UnknownNameError,
            f"no module type 'bakbone': did you mean 'backbone'. valid: {TYPES}; or ",
        ),
        ({"at": "m3/9"}, UnknownNameError, "backbone 'm3' has no port '9': valid: 2, 3, 4, 5, 7"),
        ({"by": "9"}, UnknownNameError, "backbone 'm6' has no port '9': valid: 2, 3, 4, 5, 7"),
        ({"at": "m33/3"}, UnknownNameError, "no module 'm33': did you mean 'm3'. valid: m0, m1, m2, m3, m4, m5"),
        ({"at": "m3"}, InputError, "port 'm3': expected module/port, like m3/2"),
        ({"at": "/3"}, InputError, "port '/3': expected module/port"),
        ({"at": None}, InputError, "port None: expected module/port"),
        ({"at": "m2/3"}, OccupiedPortError, "port m2/3 already holds m3/2; free: m0/2, m0/4, m0/5, m1/3, m2/2, m2/4"),
        ({"kind": "cube_link", "by": "1"}, MatingError, "m3/3 cannot dock to m6/1: connector 'cobold' .* 'socket'"),
        ({"by": "7"}, MatingError, "m3/3 cannot dock to m6/7: connector 'cobold' does not fit 'virtual'"),
        ({"roll": 45}, MatingError, "m3/3 cannot dock to m6/4: roll 45 degrees; valid: 0, 90, 180, 270"),
        ({"roll": float("nan")}, MatingError, "roll nan degrees; valid: 0, 90, 180, 270"),
        ({"roll": "left"}, InputError, "roll 'left' from m3/3 to m6/4: expected degrees"),
        ({"roll": None}, InputError, "roll None from m3/3 to m6/4: expected degrees"),
        ({"name": "m5"}, AssemblyError, "there is already a module 'm5': expected another name; taken: m0, m1"),
        *(
            (
                {"name": name},
                InputError,
                r"module name .*: expected 1 to 64 of A-Z a-z 0-9 _ \. - and another word than",
            )
            for name in ("", "a/b", "world", "left arm", "x" * 65, "tab\t", "é", "a\n", None, 6, ("a",))
        ),
        ({"parameters": {"weight": 1}}, CatalogueError, "no parameter 'weight': .*valid: length, mass, Ixx"),
        ({"parameters": {"mass": -1}}, CatalogueError, "mass = -1: expected a finite number from 0.0 to inf"),
    ],
)
def test_dock(crab, change, error, message):
    with refused(error, message, crab):
        crab.dock(**{**DOCK, **change})


def test_the_example_above_is_good(crab):
    assert len(crab.dock(**DOCK)) == 7


def test_genders():
    arm = mr.Assembly.single("l", "cube_link").dock("j", "revolute_joint", "l/1", "1")
    with refused(
        MatingError, "j/2 cannot dock to k/1: a male connector does not fit a male one: expected one male", arm
    ):
        arm.dock("k", "revolute_joint", "j/2", "1")
    with refused(
        MatingError, "l/2 cannot dock to m/2: a female connector does not fit a female one: expected one", arm
    ):
        arm.dock("m", "cube_link", "l/2", "2")


def test_clash():
    square = mr.Assembly.from_aim([[3, 0, 0], [2, 3, 0], [0, 2, 3], [0, 0, 2]], types="backbone")
    with refused(ClashError, r"module 'm4' would stand where 'm0' stands \(all joints at zero\)", square):
        square.dock("m4", "backbone", "m3/3", "2")


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("m1", DisconnectedError, "not connected to 'm0': m2, m3, m4, m5"),
        ("m9", UnknownNameError, "no module 'm9': valid: m0, m1, m2, m3, m4, m5"),
    ],
)
def test_undock(crab, name, error, message):
    with refused(error, message, crab):
        crab.undock(name)


def test_undock_of_the_only_module():
    one = mr.Assembly.single("a", "backbone")
    with refused(DisconnectedError, "'a' is the only module: an assembly needs at least one", one):
        one.undock("a")


@pytest.mark.parametrize(
    ("a", "b", "error", "message"),
    [
        ("m3/3", "m3/4", MatingError, "m3/3 - m3/4: a module cannot dock to itself"),
        ("m3/3", "m2/3", OccupiedPortError, "port m2/3 already holds m3/2; free: m0/2"),
        ("m3/3", "m9/2", UnknownNameError, "no module 'm9': valid: m0"),
        ("m3/8", "m5/2", UnknownNameError, "backbone 'm3' has no port '8': valid: 2, 3, 4, 5, 7"),
        ("m3", "m5/2", InputError, "port 'm3': expected module/port, like m3/2"),
        ("m3/7", "m5/2", MatingError, "m3/7 cannot dock to m5/2: connector 'virtual' does not fit 'cobold'"),
    ],
)
def test_connect(crab, a, b, error, message):
    with refused(error, message, crab):
        crab.connect(a, b)


@pytest.mark.parametrize(
    ("port", "error", "message"),
    [
        ("m3/3", AssemblyError, "nothing is docked at m3/3: did you mean 'm./3'. valid: m0/3, m1/2, m2/3, m1/5, m4/3"),
        ("m3", InputError, "port 'm3': expected module/port"),
        ("m0/3", DisconnectedError, "not connected to 'm0': m1, m2, m3, m4, m5"),
    ],
)
def test_disconnect(crab, port, error, message):
    with refused(error, message, crab):
        crab.disconnect(port)


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        ({"m0": "m1"}, AssemblyError, "there is already a module 'm1': expected another name; taken: m1"),
        ({"m0": "x", "m1": "x"}, AssemblyError, "there is already a module 'x'"),
        ({"m9": "x"}, UnknownNameError, "no module 'm9': valid: m0, m1"),
        ({"m0": "a/b"}, InputError, "module name 'a/b': expected 1 to 64 of A-Z"),
        ({"m0": "world"}, InputError, "module name 'world': .* another word than 'world'"),
    ],
)
def test_renamed(crab, names, error, message):
    with refused(error, message, crab):
        crab.renamed(names)


@pytest.mark.parametrize("call", ["rerooted", "traversal", "direct_transformations", "accessibility", "mechanism"])
def test_unknown_base(crab, call):
    with refused(UnknownNameError, "no module 'm9': valid: m0, m1, m2, m3, m4, m5", crab):
        getattr(crab, call)("m9")


def connection(text: str) -> mr.Connection:
    a, b = text.split()
    return mr.Connection(mr.PortRef.parse(a), mr.PortRef.parse(b))


@pytest.mark.parametrize(
    ("names", "connections", "error", "message"),
    [
        ("", [], AssemblyError, "an assembly needs at least one module"),
        ("ab", [], DisconnectedError, "not connected to 'a': b"),
        ("ab", ["a/3 a/4"], MatingError, "a/3 - a/4: a module cannot dock to itself"),
        ("abc", ["a/3 b/4", "c/3 a/3"], OccupiedPortError, "port a/3 is to hold both b/4 and c/3: a port holds one"),
        ("ab", ["a/3 c/4"], UnknownNameError, "no module 'c': valid: a, b"),
        ("ab", ["a/3 b/6"], UnknownNameError, "backbone 'b' has no port '6': valid: 2, 3, 4, 5, 7"),
        ("ab", ["a/3 b/7"], MatingError, "connector 'cobold' does not fit 'virtual'"),
        ("a/", [], InputError, "module name '/': expected 1 to 64 of"),
    ],
)
def test_a_whole_assembly(names, connections, error, message):
    module = mr.module_type("backbone").module()
    with refused(error, message):
        mr.Assembly(dict.fromkeys(names, module), [connection(c) for c in connections])


# ---- assembly incidence matrices ----


@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    [
        (None, AimError, "AIM None: expected a matrix, one row for each module"),
        ("3 4", AimError, "column 0 of the AIM has 1 entries: expected two"),
        ("", AimError, "no matrix: expected one row for each module"),
        ([[10**400], [4]], AimError, "AIM entry a huge number in row 0, column 0: expected a whole number"),
        ([[10**5000], [4]], AimError, "AIM entry a huge number in row 0, column 0: expected a whole number"),
        ([[True], [4]], AimError, "AIM entry True in row 0, column 0: expected a whole number"),
        ([[3 + 0j], [4]], AimError, r"AIM entry \(3\+0j\) in row 0, column 0: expected a face number or 0"),
        ([[[3]], [4]], AimError, r"AIM entry \[3\] in row 0, column 0: expected a face number or 0"),
        ([3, 4], AimError, r"AIM \[3, 4\]: expected a matrix"),
        ([], AimError, "AIM rows have no entries: expected rows of one length, one row for each module"),
        ([[3], [0]], AimError, "column 0 of the AIM has 1 entries: expected two, one for each module it connects"),
        ([[3, 3], [4, 4], [0, 4]], AimError, "column 1 of the AIM has 3 entries: expected two"),
        ([[3], [-4]], AimError, "AIM entry -4 in row 1, column 0: expected a whole number, a face or 0"),
        ([[3.5], [4]], AimError, r"AIM entry 3\.5 in row 0, column 0: expected a whole number"),
        ([[3], [float("nan")]], AimError, "AIM entry nan in row 1, column 0: expected a whole number"),
        ([[3], [1e300]], AimError, r"AIM entry 1e\+300 in row 1, column 0: expected a whole number"),
        ([["three"], [4]], AimError, "AIM entry 'three' in row 0, column 0: expected a face number or 0"),
        ([[None], [4]], AimError, "AIM entry None in row 0, column 0: expected a face number or 0"),
        ([[3, 0], [4]], AimError, r"AIM rows have \[1, 2\] entries: expected rows of one length"),
        ([[6], [4]], AimError, "column 0 of the AIM: backbone 'm0' has no face 6: valid: 2, 3, 4, 5, 7"),
        ([[3, 3], [4, 0], [0, 4]], AimError, "column 1 of the AIM: face 3 of 'm0' is taken by an earlier column"),
        ([[3, 0], [4, 0], [0, 3], [0, 4]], DisconnectedError, "not connected to 'm0': m2, m3"),
        ([[3, 7], [4, 7]], AimError, "column 1 of the AIM joins m0 and m1 by 7, but neither is of type virtual"),
        (
            [[3, "B"], [4, "X"]],
            UnknownNameError,
            r"no module type with letter 'X': valid: A \(anchor\), B \(backbone\), L \(cube_link",
        ),
        ([[3, 0, 0, 0], [2, 3, 0, 0], [0, 2, 3, 0], [0, 0, 2, 3], [0, 0, 0, 2]], ClashError, "'m0'.*'m4'|'m4'.*'m0'"),
    ],
)
def test_from_aim(matrix, error, message):
    with refused(error, message):
        mr.Assembly.from_aim(matrix, types="backbone")


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        (
            {},
            InputError,
            "types None: expected a module type for each row, or one for all, since the matrix has no type col",
        ),
        ({"types": ["backbone"]}, AimError, "1 types for 2 rows of the AIM: expected one for each"),
        ({"types": ["backbone"] * 3}, AimError, "3 types for 2 rows of the AIM: expected one for each"),
        ({"types": "scoot"}, UnknownNameError, f"no module type 'scoot': did you mean 'scout'. valid: {TYPES}"),
        ({"types": "scout", "parameters": [{}]}, AimError, "1 sets of parameters for 2 rows of the AIM: expected one"),
        ({"types": ["scout", "cube_link"]}, MatingError, "m0/3 cannot dock to m1/4: connector 'cobold' .* 'socket'"),
    ],
)
def test_types_and_parameters_of_an_aim(more, error, message):
    with refused(error, message):
        mr.Assembly.from_aim([[3], [4]], **more)


@pytest.mark.parametrize(
    ("cells", "error", "message"),
    [
        ("B45", InputError, "cell 'B45' in row 0, column 0: expected a type letter with 0, 90, 180 or 270, like B or"),
        ("B b", InputError, "cell 'b' in row 0, column 1: expected a type letter"),
        ([["B", 5]], InputError, "cell 5 in row 0, column 1: expected a type letter"),
        ("B X", UnknownNameError, r"no module type with letter 'X': valid: A \(anchor\), B \(backbone\)"),
        ("", AssemblyError, "an assembly needs at least one module"),
        ("B . B", DisconnectedError, "not connected to 'm0': m1"),
    ],
)
def test_from_grid(cells, error, message):
    with refused(error, message):
        mr.Assembly.from_grid(cells)


# ---- configurations, velocities, torques ----

ZERO = np.zeros(3)
SHAPE = (
    r"expected \(\.\.\., 3\) for crab with joints m0/hinge \(revolute\), m2/hinge \(revolute\), m4/hinge \(revolute\)"
)


@pytest.mark.parametrize("name", ["q", "v", "vdot", "tau"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros(4), rf"has shape \(4,\): {SHAPE}"),
        (np.zeros((3, 2)), rf"has shape \(3, 2\): {SHAPE}"),
        (0.0, rf"has shape \(\): {SHAPE}"),
        ([], rf"has shape \(0,\): {SHAPE}"),
        ([[1, 2, 3], [1]], r"has rows of different length: expected shape \(\.\.\., 3\)"),
        ([0, float("nan"), 0], r"\[1\] is nan: expected finite numbers"),
        ([[0, 0, 0], [0, 0, float("inf")]], r"\[1, 2\] is inf: expected finite numbers"),
        ([0, -float("inf"), 0], r"\[1\] is -inf: expected finite numbers"),
        ("abc", "holds 'abc': expected numbers"),
        (["a", "b", "c"], r"holds \['a', 'b', 'c'\]: expected numbers"),
        (["1", "2", "3"], r"holds \['1', '2', '3'\]: expected numbers"),
        (None, "holds None: expected numbers"),
        ([0, None, 0], r"holds \[0, None, 0\]: expected numbers"),
        ({"m0": 1}, "has shape"),
    ],
)
def test_arguments_of_a_robot(crab, name, value, message):
    robot = crab.mechanism()
    given = {"q": ZERO, "v": ZERO, "vdot": ZERO, "tau": ZERO, name: value}
    call = robot.forward_dynamics if name == "tau" else robot.inverse_dynamics
    arguments = [given[x] for x in ("q", "v", "tau" if name == "tau" else "vdot")]
    with refused(InputError, f"^{name}{' ' if message[0] in 'h' else ''}{message}"):
        call(*arguments)


@pytest.mark.parametrize("joint", [mr.Spherical(), mr.Free()])
def test_a_quaternion_of_zeros(joint):
    builder = mr.Builder()
    builder.body("ball", inertia.sphere(1.0, 0.1), joint=joint)
    robot = builder.build()
    with refused(InputError, "q: the quaternion of joint 'ball' has length 0: expected length one"):
        robot.mass_matrix(np.zeros(robot.nq))
    with refused(InputError, "q1: the quaternion of joint 'ball' has length 0"):
        robot.difference(robot.neutral(), np.zeros((2, robot.nq)))


@pytest.mark.parametrize("name", ["actuation", "mobility", "line_paths", "line_faults", "equilibrium"])
def test_one_configuration(crab, name):
    robot = mr.load("cable_planar").robot() if name != "mobility" else crab.mechanism()
    ask = mr.equilibrium if name == "equilibrium" else getattr(mr.Mechanism, name)
    with refused(InputError, r"q0? has shape \(2, 3\): expected one configuration, \(3,\), for "):
        ask(robot, np.zeros((2, 3)))


def test_a_payload_is_real(crab):
    with refused(InputError, r"payload at m3 is .* expected a spatial inertia \(6, 6\)"):
        crab.mechanism().with_payload("m3", inertia.point(1.0 + 1j, (0, 0, 1)))


@pytest.mark.parametrize("call", ["jacobian", "body_jacobian", "frame_pose"])
def test_unknown_frame(crab, call):
    with refused(InputError, r"no frame 'm0/Z' in crab: did you mean 'm0/.'. valid: world, m0/A, .* \(49 in all\)"):
        getattr(crab.mechanism(), call)(ZERO, "m0/Z")


def test_unknown_joint(crab):
    with refused(InputError, "no joint 'm1/hinge' in crab: did you mean 'm./hinge'. valid: m0/hinge, m2/hinge, m4/hin"):
        crab.mechanism().joint("m1/hinge")


@pytest.mark.parametrize(
    ("locked", "message"),
    [
        (["m9/hinge"], "no joint 'm9/hinge' to lock: did you mean 'm./hinge'. valid: m0/hinge, m1/hinge, m2/hinge"),
        ("hinge", "no joint 'hinge' to lock: did you mean 'm./hinge'. valid: m0/hinge"),
        ({"m0/hinge": float("nan")}, "joint 'm0/hinge' is to be held at nan: expected a finite coordinate"),
        ({"m0/hinge": "half"}, "joint 'm0/hinge' is to be held at 'half': expected a finite coordinate"),
        ({"m0/hinge": None}, "joint 'm0/hinge' is to be held at None: expected a finite coordinate"),
    ],
)
def test_locked(crab, locked, message):
    with refused(InputError, message, crab):
        crab.mechanism(locked=locked)


def test_joints_of_several_coordinates_cannot_be_locked():
    straight = mr.module_type("backbone").specification
    joint = straight.joints["hinge"].model_copy(update={"kind": "spherical", "limits": None, "effort": None})
    ball = mr.ModuleType(straight.model_copy(update={"name": "ball", "joints": {"socket": joint}}), "ball")
    with refused(InputError, "joint 'a/socket' is spherical: only joints with one coordinate can be locked"):
        mr.Assembly.single("a", ball).mechanism(locked=["a/socket"])


@pytest.mark.parametrize("gravity", [(0, 0), "down", ("a", "b", "c"), (0, 0, float("nan")), None])
def test_gravity(crab, gravity):
    with refused(MechanismError, "gravity .*: expected three finite numbers", crab):
        crab.mechanism(gravity=gravity)


def test_loops_that_cannot_close():
    ring = mr.Assembly.from_aim([[3, 0, 4], [4, 3, 0], [0, 4, 3]], types="backbone")
    with refused(ClosureError, "loops m0/4 - m2/3 stay open by .* after 50 steps: start closer", ring):
        ring.mechanism().close_loops([0.0, 0.0, 0.0])


# ---- mechanisms made by hand ----


def solid(**changes):
    return {"name": "b", "inertia": inertia.sphere(1.0, 0.1), "joint": mr.Revolute(), **changes}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            solid(inertia=inertia.sphere(-1.0, 0.1)),
            InertiaError,
            "body 'b': mass -1 kg is negative; .*expected mass >= 0",
        ),
        (
            solid(inertia=inertia.spatial_inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 3.0]))),
            InertiaError,
            r"body 'b': principal moments \(1, 1, 3\) kg m² break the triangle inequality.* expected .* c <= a \+ b",
        ),
        (
            solid(inertia=inertia.spatial_inertia(1.0, np.zeros(3), np.diag([-1.0, 1.0, 1.0]))),
            InertiaError,
            "principal moment -1 kg m² is negative",
        ),
        (solid(inertia=np.diag([0, 0, 0, 1.0, 1, 1])), InertiaError, "it has no mass but a moment of inertia"),
        (solid(inertia=np.full((6, 6), np.nan)), InertiaError, "body 'b': it is not finite"),
        (solid(inertia=np.eye(3)), InertiaError, r"body 'b': inertia has shape \(3, 3\): expected \(6, 6\)"),
        (solid(name="a"), MechanismError, "there is already a body or frame named 'a': names must differ"),
        (solid(name="world"), MechanismError, "there is already a body or frame named 'world'"),
        (solid(joint_name="a"), MechanismError, "there is already a joint named 'a'"),
        (solid(name=5), MechanismError, "name 5 of a body or frame: expected a text"),
        (solid(joint_name=5), MechanismError, "name 5 of a joint: expected a text"),
        (solid(parent="c"), MechanismError, "no body or frame 'c': valid: world, a"),
        (solid(at=np.eye(3)), MechanismError, r"pose of 'b' has shape \(3, 3\): expected \(4, 4\)"),
        (solid(seat=np.full((4, 4), np.nan)), MechanismError, "pose of 'b' is not finite"),
    ],
)
def test_a_body(arguments, error, message):
    builder = mr.Builder()
    builder.body("a", inertia.sphere(1.0, 0.1), joint=mr.Revolute())
    with refused(error, message):
        builder.body(**arguments)


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ({"mimic": mr.Source("c")}, MechanismError, "'b' mimics 'c', which is no joint of one coordinate: .*valid: a"),
        ({"mimic": mr.Source("b")}, MechanismError, "'b' mimics 'b', which is no joint of one coordinate: .*valid: a"),
        (
            {"mimic": mr.Source("ball")},
            MechanismError,
            "'b' mimics 'ball', which is no joint of one coordinate: .*valid: a",
        ),
        (
            {"mimic": mr.Source("a"), "joint": mr.Spherical()},
            InputError,
            "a spherical joint cannot mimic: expected a joi",
        ),
        (
            {"properties": mr.JointProperties(lower=1, upper=-1)},
            MechanismError,
            "'b': limits 1 to -1: expected lower <=",
        ),
        (
            {"properties": mr.JointProperties(upper=float("nan"))},
            MechanismError,
            "'b': limits -inf to nan: expected low",
        ),
        (
            {"properties": mr.JointProperties(lower=[0, 0])},
            MechanismError,
            r"'b': lower limit has shape \(2,\), expected",
        ),
        *(
            (
                {"properties": mr.JointProperties(**{x: -1})},
                MechanismError,
                f"joint 'b': {said}: expected .*(zero|0) or more",
            )
            for x, said in {
                "damping": "damping -1",
                "friction": "friction -1",
                "armature": "armature -1",
                "velocity": "velocity -1",
                "effort": "effort -1",
            }.items()
        ),
        (
            {"properties": mr.JointProperties(damping=float("nan"))},
            MechanismError,
            "joint 'b': damping nan: expected a finite number",
        ),
    ],
)
def test_a_joint(more, error, message):
    builder = mr.Builder()
    builder.body("a", inertia.sphere(1.0, 0.1), joint=mr.Revolute())
    builder.body("ball", inertia.sphere(1.0, 0.1), joint=mr.Spherical())
    builder.body(**solid(**more))
    with refused(error, message):
        builder.build()


def test_a_robot_is_named_by_a_text():
    with refused(MechanismError, "name None of a robot: expected a text"):
        mr.Builder(None)


def test_frames_loops_and_shapes_need_what_they_hang_on():
    builder = mr.Builder()
    builder.body("arm", joint=mr.Revolute())
    builder.loop("closing", mr.Fixed(), "world", "arm")
    with refused(MechanismError, "no body or frame 'arn': did you mean 'arm'. valid: world, arm"):
        builder.frame("tip", "arn")
    with refused(MechanismError, "there is already a body or frame named 'arm'"):
        builder.frame("arm", "world")
    with refused(MechanismError, "there is already a constraint named 'closing'"):
        builder.loop("closing", mr.Fixed(), "world", "arm")
    with refused(MechanismError, "no body or frame 'arn'"):
        builder.shape("sphere", (1.0,), on="arn")


@pytest.mark.parametrize("axis", [(0, 0, 0), (1, 0), (0, 0, float("nan")), (0, 0, float("inf"))])
@pytest.mark.parametrize("kind", [mr.Revolute, mr.Prismatic, mr.Helical, mr.Cylindrical, mr.Planar, mr.Universal])
def test_axes(kind, axis):
    with refused(InputError, r"axis \(.*\): expected three finite numbers, not all zero"):
        kind(axis)


def test_universal_axes_must_be_perpendicular():
    with refused(InputError, r"universal joint axes \(1.0, 0.0, 0.0\) and .*: expected perpendicular axes"):
        mr.Universal((1, 0, 0), (1, 1, 0))


# ---- robot files ----

HEAD = "format: modurob assembly 1\n"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("- a\n- b\n", FormatError, r"r.yaml: expected a mapping \(key: value lines\), found list"),
        ("42", FormatError, "r.yaml: expected a mapping .* found int"),
        ("", FormatError, "r.yaml: expected a mapping .* found NoneType"),
        (
            "a: 1\n",
            FormatError,
            "r.yaml: not a robot: expected the line 'format: modurob robot 2', or .* for a module type, found format None",
        ),
        ("format: modurob module 1\n", CatalogueError, "r.yaml:\n  name: Field required"),
        ("format: [1]\n", FormatError, r"not a robot: .* found format \[1\]"),
        (
            "format: modurob assembly 99\n",
            FormatError,
            "'modurob assembly 99', this version reads 'modurob robot 2' and 'modurob assembly 1'",
        ),
        ("a: [1\n", FormatError, "r.yaml: not YAML: while parsing a flow sequence"),
        ("a: {b: 1, b: 2}", FormatError, "r.yaml: line 1: key 'b' stands twice"),
        ("a: {<<: {b: 1}}", FormatError, "r.yaml: line 1: expected a plain key"),
        ("a: &x [ha]\nb: &y [*x, *x]\nc: [*y, *y]", FormatError, r"r.yaml: line 2: an alias \(\*x\): write the value"),
        ("a: " + "[" * 10_000, FormatError, "r.yaml: nested deeper than 32 levels"),
        (HEAD, FormatError, "r.yaml:\n  modules: Field required"),
        (HEAD + "modules: {}", FormatError, "modules: Dictionary should have at least 1 item"),
        (
            HEAD + "modules: {a: backbone}\nconections: []",
            FormatError,
            "conections: .* did you mean 'connections'. valid",
        ),
        (
            HEAD + "modules: {a: {typ: backbone}}",
            FormatError,
            "typ: unknown key; did you mean 'type'. valid: type, param",
        ),
        (HEAD + "modules: {a b: backbone}", FormatError, "modules.a b.*should match pattern"),
        (HEAD + "modules: {world: backbone}", InputError, "r.yaml: module name 'world': expected"),
        (HEAD + "modules: {a: bakbone}", UnknownNameError, "r.yaml: no module type 'bakbone': did you mean 'backbone'"),
        (
            HEAD + "modules: {a: own.yaml}",
            FormatError,
            "r.yaml: type 'own.yaml': no such file below the folder of the r",
        ),
        (HEAD + "modules: {a: {type: scout, parameters: {mas: 1}}}", CatalogueError, "did you mean 'mass'"),
        (HEAD + "modules: {a: {type: scout, parameters: {mass: [1]}}}", FormatError, "parameters.mass"),
        (HEAD + "modules: {a: scout, b: scout}", DisconnectedError, "r.yaml: not connected to 'a': b"),
        *(
            (
                HEAD + f"modules: {{a: scout, b: scout}}\nconnections: ['{c}']",
                FormatError,
                "connections.0: expected two por",
            )
            for c in ("a3 - b4", "a/3 b/4", "a/3 - b/4 @", "a/3 - b/4 @ 1.2.3", "a/3 - b/4 @ ninety", "")
        ),
        (
            HEAD + "modules: {a: scout, b: scout}\nconnections: [a/3 - b/4 @ 45]",
            MatingError,
            "r.yaml: a/3 cannot dock to b/4: roll 45 degrees; valid: 0, 90, 180, 270",
        ),
    ],
)
def test_robot_files(text, error, message, tmp_path):
    (tmp_path / "r.yaml").write_text(text)
    with refused(error, message):
        mr.load(tmp_path / "r.yaml")


def test_binary_robot_files(tmp_path):
    (tmp_path / "r.yaml").write_bytes(bytes(range(256)))
    with refused(
        FormatError, "r.yaml: cannot be read as text: byte 0x80 at place 128 is no UTF-8: expected a text file"
    ):
        mr.load(tmp_path / "r.yaml")
    (tmp_path / "r.yaml").write_bytes(b"\x00\x01\x02")
    with refused(FormatError, "r.yaml: not YAML: unacceptable character"):
        mr.load(tmp_path / "r.yaml")


def test_laughs_in_a_robot_file(tmp_path):
    lines = ["a0: &a0 [ha, ha]", *(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 40))]
    (tmp_path / "r.yaml").write_text("\n".join(lines))
    with refused(FormatError, r"r.yaml: line 2: an alias \(\*a0\): write the value out"):
        mr.load(tmp_path / "r.yaml")


def unless(forbidden: Path, reader: Callable) -> Callable:
    def read_or_fail(path: Path, *args, **more):
        assert path != forbidden, "the file was read"
        return reader(path, *args, **more)

    return read_or_fail


@pytest.mark.parametrize(("name", "error"), [("r.yaml", FormatError), ("r.urdf", UrdfError)])
def test_huge_files_are_refused_unread(name, error, tmp_path, monkeypatch):
    path = tmp_path / name
    with path.open("wb") as file:
        file.truncate(100_000_000)
    for reader in ("read_text", "read_bytes"):
        monkeypatch.setattr(Path, reader, unless(path, getattr(Path, reader)))
    with refused(error, rf"{name}: 100 MB is too large: expected at most \d+ MB"):
        mr.load(path) if name == "r.yaml" else mr.Mechanism.from_urdf(path)


def test_missing_files_name_those_that_are_there(tmp_path):
    for name in ("crab.yaml", "arm.yaml", "arm.urdf"):
        (tmp_path / name).write_text("")
    with refused(FormatError, "crabb.yaml: no such file; did you mean 'crab.yaml'. valid: arm.yaml, crab.yaml"):
        mr.load(tmp_path / "crabb.yaml")
    with refused(UrdfError, "arn.urdf: no such file; did you mean 'arm.urdf'. valid: arm.urdf"):
        mr.Mechanism.from_urdf(tmp_path / "arn.urdf")
    with refused(
        FormatError,
        "no file 'crabb' and no shipped robot of that name: did you mean 'crab'. valid: cable_planar, crab, cran",
    ):
        mr.load("crabb")


# ---- URDF ----

ROUND = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
LINK = f'<link name="{{}}"><inertial><mass value="1"/>{ROUND}</inertial></link>'
A, B, C = (LINK.format(name) for name in "abc")
AXIS = '<axis xyz="0 0 1"/>'
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def joint(
    name: str = "j", parent: str = "a", child: str = "b", kind: str = "revolute", more: str = AXIS + LIMIT
) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">\n{ends}{more}</joint>'


def robot(*elements: str) -> str:
    return "<robot name='r'>\n" + "\n".join(elements) + "\n</robot>"


def read(text: str, folder) -> mr.Mechanism:
    (folder / "r.urdf").write_text(text)
    return mr.Mechanism.from_urdf(folder / "r.urdf")


def test_the_parts_of_the_cases_below_are_good(tmp_path):
    found = read(robot(A, B, C, joint(), joint("k", "b", "c", "continuous", AXIS)), tmp_path)
    assert [j.name for j in found.joints] == ["j", "k"]


def test_a_root_link_called_world_is_the_world(tmp_path):
    found = read(robot('<link name="world"/>', B, joint(parent="world")), tmp_path)
    assert found.bodies == ("world", "b")
    renamed, massless = "r.urdf: the frame of link 'world' is called 'world_link'", "'world_link' moves without mass"
    with pytest.warns(ModurobWarning, match=renamed), pytest.warns(ModurobWarning, match=massless):
        mr.Mechanism.from_urdf(tmp_path / "r.urdf", floating=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello", "r.urdf: cannot be read as XML: Start tag expected"),
        ("", "r.urdf: cannot be read as XML: Document is empty"),
        ("<robot>", "r.urdf: cannot be read as XML: .*line 1"),
        ("<html/>", "r.urdf: root element <html>: expected <robot>"),
        ("<mujoco/>", "r.urdf: root element <mujoco>: expected <robot>: a file of MuJoCo, which mr.load"),
        (robot(), "r.urdf: no <link>: expected at least one"),
        (robot(A, A), "r.urdf, line 3: two <link> named 'a'"),
        (robot("<link/>"), "r.urdf, line 2: <link> without a name"),
        (robot(A, B, C, joint(), joint(child="c")), "r.urdf, line 7: two <joint> named 'j'"),
        (robot(A, B, joint("")), "r.urdf, line 4: <joint> without a name"),
        (
            robot(A, B, joint(kind="rotary")),
            "joint 'j' has type 'rotary': valid: revolute, continuous, prismatic, fixed",
        ),
        (robot(A, B, joint(kind="revolut")), "joint 'j' has type 'revolut': did you mean 'revolute'"),
        (robot(A, B, joint(parent="z")), "r.urdf, line 4: joint 'j' has <parent> link 'z': valid: a, b"),
        (robot(A, B, joint(child="z")), "r.urdf, line 4: joint 'j' has <child> link 'z': valid: a, b"),
        (robot(A, '<joint name="j" type="fixed"><child link="a"/></joint>'), "'j' has <parent> link None: valid: a"),
        (robot(A, B), r"r.urdf: root links \['a', 'b'\]: expected exactly one"),
        (
            robot(A, B, joint(), joint("k", "b", "a")),
            "r.urdf: root links none, the joints go round: expected exactly one",
        ),
        (
            robot(A, B, C, joint("j", "b", "c"), joint("k", "c", "b")),
            "no joints lead from the root link 'a' to 'b', 'c'",
        ),
        (
            robot(A, B, C, joint("j", "a", "c"), joint("k", "b", "c")),
            "link 'c' is the child of two joints: expected a t",
        ),
        (
            robot(A, B, joint(more='<axis xyz="0 0 0"/>')),
            r"joint 'j': revolute axis \(0.0, 0.0, 0.0\): expected three f",
        ),
        (
            robot(A, B, joint(more='<axis xyz="0 0 nan"/>')),
            r"joint 'j': revolute axis \(0.0, 0.0, nan\): expected three",
        ),
        (robot(A, B, joint(more='<axis xyz="0 0 up"/>')), "line 4: joint 'j': <axis xyz='0 0 up'>: expected 3 numbers"),
        (robot(A, B, joint(more='<axis xyz="0 1"/>')), "joint 'j': <axis xyz='0 1'>: expected 3 numbers"),
        (robot(A, B, joint(more='<origin rpy="0 0 0 0"/>')), "joint 'j': <origin rpy='0 0 0 0'>: expected 3 numbers"),
        (robot(A, B, joint(more='<origin xyz="0 0 nan"/>')), "r.urdf: <origin> of joint 'j' is not finite"),
        (robot(A, B, joint(more=AXIS + '<limit lower="x"/>')), "joint 'j': <limit lower='x'>: expected 1 number"),
        (
            robot(A, B, joint(more=AXIS + '<dynamics damping=""/>')),
            "joint 'j': <dynamics damping=''>: expected 1 number",
        ),
        (
            robot(A, B, joint(more=AXIS + '<limit lower="1" upper="-1"/>')),
            "'j': limits 1.0 to -1.0: expected lower <= up",
        ),
        (robot(A, B, joint(more=AXIS + '<limit lower="nan" upper="1"/>')), "'j': limits nan to 1.0: expected lower <="),
        (
            robot(A, B, joint(more=AXIS + '<dynamics damping="-1"/>')),
            r"joint 'j': damping -1.0: expected a finite number, zero or more",
        ),
        (
            robot(A, B, joint(more=AXIS + '<limit effort="-1"/>')),
            r"joint 'j': effort -1.0: expected zero or more",
        ),
        (
            robot(A, B, C, joint(), joint("k", "b", "c", more=AXIS + '<mimic joint="jj"/>')),
            "joint 'k' mimics 'jj', which is no joint of one coordinate: did you mean 'j'. valid: j",
        ),
        (
            robot(A, B, joint(more=AXIS + '<mimic multiplier="x"/>')),
            "joint 'j': <mimic multiplier='x'>: expected 1 numb",
        ),
        (
            robot('<link name="a"><inertial><mass value="heavy"/></inertial></link>'),
            "link 'a': <mass value='heavy'>: exp",
        ),
        (
            robot('<link name="a"><inertial><mass value="nan"/></inertial></link>'),
            "<inertial> of link 'a' is not finite",
        ),
        (
            robot('<link name="a"><inertial><mass value="1"/><inertia ixx="q"/></inertial></link>'),
            "r.urdf, line 2: link 'a': <inertia ixx='q'>: expected 1 number",
        ),
        (
            robot('<link name="a"><visual><geometry><cylinder radius="wide" length="1"/></geometry></visual></link>'),
            "r.urdf, line 2: link 'a': <cylinder radius='wide'>: expected 1 number",
        ),
        (
            robot('<link name="a"><visual><geometry><mesh filename="f" scale="big"/></geometry></visual></link>'),
            r"r.urdf: an element is malformed \(ValueError: .*'big'\)",
        ),
        (
            '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="w" value="1"/></robot>',
            "r.urdf: a xacro file: expand it first, with xacro r.urdf > robot.urdf",
        ),
    ],
)
def test_urdf(text, message, tmp_path):
    with refused(UrdfError, message):
        read(text, tmp_path)


def test_binary_urdf(tmp_path):
    (tmp_path / "r.urdf").write_bytes(b"\xff\x00\xfe\x80")
    with refused(UrdfError, "r.urdf: cannot be read as XML"):
        mr.Mechanism.from_urdf(tmp_path / "r.urdf")
    with refused(UrdfError, "cannot be read as XML: .*Is a directory"):
        mr.Mechanism.from_urdf(tmp_path)


@pytest.mark.parametrize(
    ("inertial", "message"),
    [
        ('<mass value="-1"/>', "r: link 'b': mass -1 kg is negative"),
        (
            '<mass value="1"/><inertia ixx="1" iyy="1" izz="5" ixy="0" ixz="0" iyz="0"/>',
            "break the triangle inequality",
        ),
        ("", "link 'b' moves without mass; forward dynamics may have no answer"),
    ],
)
def test_doubtful_masses_in_urdf_are_warned_of(inertial, message, tmp_path):
    link = f'<link name="b"><inertial>{inertial}</inertial></link>' if inertial else '<link name="b"/>'
    with pytest.warns(mr.ModurobWarning, match=message):
        assert read(robot(A, link, joint()), tmp_path).nv == 1


SECRET = "the-password-is-swordfish"
ATTACKS = {
    "entity": ('<!ENTITY x SYSTEM "{}">', "<link name='a'>&x;</link>"),
    "entity in an attribute": ('<!ENTITY x SYSTEM "{}">', "<link name='&x;'/>"),
    "parameter entity": ('<!ENTITY % x SYSTEM "{}"> %x;', "<link name='a'/>"),
    "local entity": ('<!ENTITY x "a">', "<link name='&x;'/>"),
}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("by", ["secret.txt", "file://{}/secret.txt"])
def test_urdf_reads_no_other_file(attack, by, tmp_path, monkeypatch, capfd, caplog):
    (tmp_path / "secret.txt").write_text(SECRET)
    monkeypatch.chdir(tmp_path)
    entity, body = ATTACKS[attack]
    kind = f"<!DOCTYPE robot [{entity.format(by.format(tmp_path))}]>"
    (tmp_path / "r.urdf").write_text(f"<?xml version='1.0'?>\n{kind}\n<robot name='r'>{body}</robot>")
    with pytest.raises(
        UrdfError, match=r"has a <!DOCTYPE>, which could read other files: remove it|external entity"
    ) as got:
        mr.Mechanism.from_urdf("r.urdf")
    printed = "".join(capfd.readouterr())
    assert SECRET not in "".join([str(got.value), repr(got.value.__cause__), printed, caplog.text])


def test_urdf_reads_no_document_type(tmp_path, monkeypatch):
    (tmp_path / "secret.dtd").write_text(f"<!-- {SECRET} -->")
    with refused(UrdfError, "r.urdf: has a <!DOCTYPE>, which could read other files: remove it"):
        read('<!DOCTYPE robot SYSTEM "secret.dtd">' + robot(A), tmp_path)


@pytest.mark.parametrize("place", ["<robot name='{}'/>", "<robot name='r'>{}</robot>"])
def test_urdf_does_not_laugh(place, tmp_path):
    entities = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
    with refused(UrdfError, "r.urdf: cannot be read as XML: Maximum entity amplification|<!DOCTYPE>"):
        read(f"<!DOCTYPE robot [<!ENTITY a0 'ha'>{entities}]>" + place.format("&a11;"), tmp_path)


# ---- messages ----


@pytest.mark.parametrize(
    ("found", "valid", "message"),
    [
        ("bakbone", ["backbone", "scout"], "did you mean 'backbone'? valid: backbone, scout"),
        ("x", [], "valid: none"),
        ("zzz", [f"m{i}" for i in range(25)], f"valid: {', '.join(f'm{i}' for i in range(20))}, ... (25 in all)"),
    ],
)
def test_choices(found, valid, message):
    assert choices(found, valid) == message


def test_every_error_is_a_modurob_error_and_stands_in_the_tree():
    found = [x for x in vars(errors).values() if isinstance(x, type) and issubclass(x, Exception)]
    for error in found:
        assert issubclass(error, mr.ModurobError | UserWarning)
        if error is not mr.ModurobWarning:
            assert error.__name__ in (errors.__doc__ or "")


@pytest.mark.parametrize("length", [1e-9, 1e9])
def test_a_mass_matrix_of_a_quaternion_of_another_length_is_refused(length: float) -> None:
    """A kernel would divide by the length, and nothing would show."""
    robot = mr.load("crab").mechanism(floating=True)
    q = robot.neutral()
    q[3] = length
    with pytest.raises(InputError, match=re.escape(f"the quaternion of joint 'floating_base' has length {length:g}")):
        robot.mass_matrix(q)
    with pytest.raises(InputError, match="'floating_base'"):
        robot.mass_matrix(np.stack([robot.neutral(), robot.neutral(), q]))
