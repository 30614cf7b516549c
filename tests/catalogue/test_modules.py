"""The module types that are shipped, their parameters, and the user's own."""

import copy
import multiprocessing
import os
import pickle
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
import sympy

import modurob as mr
from modurob.catalogue import check, library, named, names, problems
from modurob.catalogue.plain_yaml import dump_yaml
from modurob.errors import CatalogueError, FormatError, InertiaError, UnknownNameError
from modurob.spatial import inertia, se3

X, Y, Z = np.eye(3)
DIE = {"1": Z, "2": X, "3": Y, "4": -Y, "5": -X, "6": -Z}
SIDES = {k: DIE[k] for k in "2345"}
ENDS = {"1": -Z, "2": Z}
CUBES = ("cube_link", "eyelet", "pivot_joint", "prismatic_joint", "revolute_joint", "scout", "scout_drive", "strut")
LINKS = ("elbow_link", "parallel_link", "powerball", "straight_link")
SHIPPED = tuple(sorted(("anchor", "backbone", *CUBES, *LINKS, "virtual", "winch")))

GRIPPER = {
    "format": "modurob module 1",
    "name": "gripper",
    "letter": "G",
    "parameters": {"length": {"value": 0.05, "minimum": 0.01, "maximum": 0.2, "unit": "m"}},
    "parts": {"palm": {"mass": 0.2, "inertia": [1e-4, 1e-4, 1e-4]}, "finger": {"mass": "length"}},
    "joints": {"grip": {"kind": "prismatic", "from": "palm", "to": "finger", "axis": [1, 0, 0]}},
    "connectors": {"cobold": {}},
    "ports": {"back": {"part": "palm", "at": [0, 0, "-length / 2"], "normal": [0, 0, -1], "connector": "cobold"}},
}


def gripper(**changes) -> mr.ModuleType:
    """The gripper with some of its sections replaced."""
    return library.from_data({**GRIPPER, **changes}, "gripper.yaml")


@pytest.fixture
def own_folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(library, "user_folder", lambda: tmp_path)
    return tmp_path


def write_type(path: Path, name: str, mass: float = 0.4, letter: str = "Q") -> None:
    path.write_text(
        f"format: modurob module 1\nname: {name}\nletter: {letter}\nparts: {{block: {{mass: {mass}}}}}\n"
        "connectors: {cobold: {}}\nports: {low: {part: block, at: [0, 0, 0], connector: cobold}}\n"
    )


# ---- shipped ----


def test_the_shipped_types():
    assert library.shipped_names() == SHIPPED
    assert all(library.is_shipped(mr.module_type(name)) for name in SHIPPED)
    assert names()[: len(SHIPPED)] == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_type_says_what_it_is_in_words_and_letter(name):
    kind = mr.module_type(name)
    assert kind.name == name
    assert len(kind.specification.description) > 40
    assert library.by_letter(kind.specification.letter) is library.by_letter(name) is kind


@pytest.mark.parametrize(
    ("name", "faces", "reach"),
    [
        ("backbone", SIDES, 0.0525),
        ("scout", SIDES, 0.0525),
        ("cube_link", DIE, 0.05),
        ("revolute_joint", ENDS, 0.025),
        ("prismatic_joint", ENDS, 0.025),
        ("pivot_joint", ENDS, 0.025),
    ],
)
def test_faces_look_out_of_the_documented_sides(name, faces, reach):
    ports = {p.name: p for p in mr.module_type(name).module().ports.values() if not p.connector.virtual}
    assert {n: p.number for n, p in ports.items()} == {n: int(n) for n in faces}
    for face, normal in faces.items():
        np.testing.assert_array_equal(ports[face].X[:3, 2], normal)
        np.testing.assert_allclose(se3.position(ports[face].X), reach * normal, atol=1e-15)
        np.testing.assert_allclose(np.linalg.det(ports[face].X[:3, :3]), 1)


@pytest.mark.parametrize("name", ["backbone", "scout"])
def test_half_a_carries_all_faces_but_3_which_stand_up(name):
    module = mr.module_type(name).module()
    assert {p: module.ports[p].part for p in "2457"} == dict.fromkeys("2457", "A")
    assert module.ports["3"].part == {"backbone": "B", "scout": "disc"}[name]
    for face in SIDES:
        np.testing.assert_array_equal(module.ports[face].X[:3, 0], Z)


@pytest.mark.parametrize(
    ("name", "joints"),
    [
        ("backbone", {"hinge": ("revolute", X, (-np.pi / 2, np.pi / 2))}),
        ("scout", {"hinge": ("revolute", X, (-np.pi / 2, np.pi / 2)), "turn": ("revolute", Y, (-np.pi, np.pi))}),
        ("revolute_joint", {"joint": ("revolute", Z, (-np.pi, np.pi))}),
        ("pivot_joint", {"joint": ("revolute", X, (-np.pi / 2, np.pi / 2))}),
        ("prismatic_joint", {"joint": ("prismatic", Z, (0, 0.05))}),
        ("cube_link", {}),
    ],
)
def test_joints_and_their_limits(name, joints):
    module = mr.module_type(name).module()
    assert list(module.joints) == list(joints)
    for joint, (kind, axis, limits) in joints.items():
        found = module.joints[joint]
        assert found.type.kind == kind
        np.testing.assert_array_equal(found.type.axis, axis)
        np.testing.assert_array_equal(found.origin, 0)
        assert (found.properties["lower"], found.properties["upper"]) == limits


@pytest.mark.parametrize(
    ("name", "part", "solid", "at"),
    [
        ("backbone", "A", inertia.box(1.0, (0.105, 0.105, 0.105)), (0, 0, 0)),
        ("scout", "A", inertia.box(1.0, (0.105, 0.105, 0.1235)), (0, 0, 0)),
        ("cube_link", "link", inertia.box(1.0, (0.1, 0.1, 0.1)), (0, 0, 0)),
        ("revolute_joint", "base", inertia.box(0.15, (0.06, 0.06, 0.025)), (0, 0, -0.0125)),
        ("revolute_joint", "end", inertia.box(0.15, (0.06, 0.06, 0.025)), (0, 0, 0.0125)),
        ("prismatic_joint", "base", inertia.box(0.15, (0.06, 0.06, 0.025)), (0, 0, -0.0125)),
        ("pivot_joint", "end", inertia.box(0.15, (0.06, 0.06, 0.025)), (0, 0, 0.0125)),
        ("virtual", "carriage", np.zeros((6, 6)), (0, 0, 0)),
    ],
)
def test_defaults_are_homogeneous_boxes(name, part, solid, at):
    found = mr.module_type(name).module().parts[part].inertia
    np.testing.assert_allclose(found, inertia.moved(solid, se3.pose(None, np.array(at))), atol=1e-15)


@pytest.mark.parametrize("name", ["backbone", "scout"])
def test_the_mass_of_a_module_is_on_half_a(name):
    parts = mr.module_type(name).module({"mass": 3}).parts
    assert {n: float(inertia.mass(p.inertia)) for n, p in parts.items()} == {n: 3.0 if n == "A" else 0.0 for n in parts}


def test_a_disc_turns_its_rotor_and_what_is_docked_to_it():
    """Closed form: the axis of a Scout's disc goes through the centre of the Scout docked there by its face 4."""
    robot = mr.Assembly.from_aim([[3], [4]], types="scout").mechanism(keep_idle=True)
    rotor, box = 1e-4, (0.105**2 + 0.1235**2) / 12
    k = robot.joint("m0/turn").v_slice.start
    q = np.linspace(-0.7, 0.9, robot.nq)
    assert robot.mass_matrix(q)[k, k] == pytest.approx(rotor + box, rel=1e-12)
    last = robot.joint("m1/turn").v_slice.start
    assert robot.mass_matrix(q)[last, last] == pytest.approx(rotor, rel=1e-12)


def test_values_of_a_module_cannot_be_changed():
    module = mr.module_type("backbone").module()
    for mapping in (module.parts, module.joints, module.ports, module.parameters, module.changed):
        with pytest.raises(TypeError, match="does not support item assignment"):
            mapping["x"] = None
    for array in (module.ports["3"].X, module.parts["A"].inertia, module.joints["hinge"].origin):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


# ---- values ----


def same(x: object) -> bool:
    """Whether what another process was sent equals what it makes itself."""
    return x == mr.module_type("backbone") or x == mr.module_type("backbone").module({"mass": 2})


VALUES = mr.module_type("backbone"), mr.module_type("backbone").module({"mass": 2})


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_types_and_modules_are_values(value):
    hash(value)
    for again in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert again == value
        assert hash(again) == hash(value)
        assert {value: 1}[again] == 1


def test_types_and_modules_are_sent_to_other_processes():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(same, VALUES) == [True, True]


def test_equal_descriptions_are_one_type_wherever_they_come_from():
    kind = mr.module_type("backbone")
    other = mr.ModuleType(kind.specification, "elsewhere")
    assert other == kind
    assert len({other, kind}) == 1
    assert other.module({"mass": 2}) == kind.module({"mass": 2})
    described = mr.ModuleType(kind.specification.model_copy(update={"description": "another"}), "elsewhere")
    assert described != kind
    assert described.module() != kind.module()
    assert kind != "backbone"


def test_what_was_computed_is_no_part_of_a_module():
    kind = mr.module_type("scout")
    fresh, used = pickle.dumps(kind.module({"mass": 3})), kind.module({"mass": 3})
    _ = used.joints_at, used.massive_parts, used.key, used.numbered, hash(used)
    assert pickle.dumps(used) == fresh


def test_symbols_of_one_name_are_told_apart():
    kind = mr.module_type("backbone")
    assert kind.module({"mass": sympy.Symbol("m")}) != kind.module({"mass": sympy.Symbol("m", positive=True)})


@pytest.mark.parametrize("name", ["name", "specification", "fingerprint", "anything"])
def test_a_type_cannot_be_changed(name):
    with pytest.raises(AttributeError, match=f"a ModuleType cannot be changed.*{name!r}"):
        setattr(mr.module_type("backbone"), name, None)
    with pytest.raises(AttributeError, match="cannot be changed"):
        delattr(mr.module_type("backbone"), name)


def test_no_history_of_signs():
    kind = mr.module_type("virtual")
    assert kind.module({"ax": -0.0}) is kind.module({"ax": 0.0})
    assert str(kind.module({"ax": -0.0}).parameters["ax"]) == "0.0"


def test_values_read_well():
    scout = mr.module_type("scout")
    assert repr(scout) == "ModuleType('scout', 3 parts, 2 joints, 5 ports)"
    module = scout.module({"mass": 0.8})
    assert repr(module) == "Module('scout', mass=0.8)"
    assert repr(module.parts["A"]) == "Part('A', mass 0.8 kg, 2 shapes)"
    assert repr(module.joints["turn"]) == "ModuleJoint('turn', revolute from 'B' to 'disc')"
    assert repr(module.ports["3"]) == "Port('3' on part 'disc', connector 'cobold')"


# ---- parameters ----


def test_defaults_follow_the_parameters_they_refer_to():
    module = mr.module_type("backbone").module({"length": 0.2, "mass": 3})
    assert module.parameters["Ixx"] == pytest.approx(3 * 0.2**2 / 6)
    assert dict(module.changed) == {"length": 0.2, "mass": 3.0}
    own = mr.module_type("backbone").module({"length": 0.2, "Ixx": 0.5, "Iyy": 0.4, "Izz": 0.3})
    np.testing.assert_allclose(np.diag(own.parts["A"].inertia)[3:], [0.5, 0.4, 0.3])


def test_a_parameter_at_its_default_is_not_changed():
    kind = mr.module_type("backbone")
    assert kind.module({"mass": 1, "length": 0.105}) is kind.module()
    assert kind.module({"Ixx": 0.105**2 / 6}) == kind.module()


def test_choices_and_numbers_of_a_virtual_joint():
    module = mr.module_type("virtual").module({"freedom": "revolute", "ax": 3, "az": 4})
    assert module.joints["joint"].type == mr.Revolute((0.6, 0, 0.8))


def test_symbols_pass_through():
    m = sympy.Symbol("m")
    found = mr.module_type("backbone").module({"mass": m}).parts["A"].inertia
    assert found[0, 0].free_symbols == {m}
    assert float(found[0, 0].subs(m, 2)) == 2
    assert float(found[3, 3].subs(m, 2)) == pytest.approx(2 * 0.105**2 / 6)


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        (
            "backbone",
            {"lenght": 1},
            "'backbone' has no parameter 'lenght': did you mean 'length'. valid: length, mass, I",
        ),
        ("backbone", {"mass": -1}, r"'backbone': parameter mass = -1: expected a finite number from 0.0 to inf \[kg\]"),
        ("backbone", {"mass": float("nan")}, "parameter mass = nan: expected a finite number"),
        ("backbone", {"length": float("inf")}, "parameter length = inf: expected a finite number"),
        ("backbone", {"mass": np.float64("nan")}, r"parameter mass = .*nan.*: expected a finite number"),
        ("backbone", {"mass": "heavy"}, r"parameter mass = 'heavy': expected a number \[kg\]"),
        ("backbone", {"mass": None}, "parameter mass = None: expected a number"),
        ("backbone", {"mass": True}, "parameter mass = True: expected a number"),
        ("backbone", {"mass": 10**400}, "parameter mass = a huge number: expected a finite number"),
        ("backbone", {"mass": 10**5000}, "parameter mass = a huge number: expected a finite number"),
        ("backbone", {"mass": [1, 2]}, r"parameter mass = \[1, 2\]: expected a number"),
        ("backbone", {"mass": np.ones(3)}, r"parameter mass = array.*: expected a number"),
        ("virtual", {"freedom": "helical"}, "parameter freedom = 'helical'; valid: prismatic, revolute"),
        ("virtual", {"freedom": 1}, "parameter freedom = 1; valid: prismatic, revolute"),
        ("virtual", {"az": 0}, r"virtual.yaml: joint 'joint': prismatic axis \(0.0, 0.0, 0.0\): expected three finite"),
    ],
)
def test_wrong_parameters(kind, parameters, message):
    with pytest.raises(CatalogueError, match=message):
        mr.module_type(kind).module(parameters)


@pytest.mark.parametrize("length", [0.009, 0.21])
def test_ranges_are_those_of_the_file(length):
    with pytest.raises(CatalogueError, match=rf"length = {length}: expected a finite number from 0.01 to 0.2 \[m\]"):
        gripper().module({"length": length})


def test_inertia_that_no_body_has():
    with pytest.raises(
        InertiaError, match=r"'backbone', part 'A': .*\(1, 1, 3\).* triangle .* expected .* c <= a \+ b"
    ):
        mr.module_type("backbone").module({"Ixx": 1, "Iyy": 3, "Izz": 1})
    with pytest.raises(InertiaError, match="'gripper', part 'palm': mass -1 kg is negative; expected mass >= 0"):
        gripper(parts={**GRIPPER["parts"], "palm": {"mass": -1}})


def test_products_of_inertia():
    parts = {**GRIPPER["parts"], "palm": {"mass": 1, "centre": [0, 0, 1], "inertia": [3, 0.1, 3, 0.2, 0.3, 3]}}
    spatial = gripper(parts=parts).module().parts["palm"].inertia
    np.testing.assert_allclose(inertia.tensor(spatial), [[3, 0.1, 0.2], [0.1, 3, 0.3], [0.2, 0.3, 3]])
    np.testing.assert_allclose(inertia.centre(spatial), [0, 0, 1])


# ---- what a file may say ----

PALM, FINGER = GRIPPER["parts"]["palm"], GRIPPER["parts"]["finger"]
GRIP, BACK = GRIPPER["joints"]["grip"], GRIPPER["ports"]["back"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "modurob module 2"}, "format: Input should be 'modurob module 1', found 'modurob module 2'"),
        ({"name": "a b"}, "name: String should match pattern .* found 'a b'"),
        ({"letter": "gr"}, "letter: String should match pattern"),
        ({"parts": {}}, "parts: Dictionary should have at least 1 item"),
        ({"portss": {}}, "portss: unknown key; did you mean 'ports'. valid: format, name, letter"),
        ({"parts": {"palm": {"mas": 1}}}, "parts.palm.mas: unknown key; did you mean 'mass'. valid: mass, centre"),
        ({"parts": {"palm": {"mass": [1]}}}, "parts.palm.mass"),
        ({"parts": {"palm": {"inertia": [1, 2]}}}, "parts.palm.inertia"),
        ({"joints": {"grip": {**GRIP, "to": "thumb"}}}, "joint 'grip': no part 'thumb': valid: palm, finger"),
        (
            {"joints": {"grip": {**GRIP, "kind": "ball"}}},
            "joint 'grip': no joint kind 'ball': valid: revolute, prismatic",
        ),
        ({"joints": {"grip": {**GRIP, "kind": "length"}}}, "joint 'grip': no joint kind 'length': valid: revolute"),
        ({"joints": {"grip": {**GRIP, "axis": [0, 0, 0]}}}, r"joint 'grip': prismatic axis \(0.0, 0.0, 0.0\): exp"),
        ({"joints": {"grip": {**GRIP, "kind": "universal", "axis2": [1, 0, 0]}}}, "joint 'grip': universal joint axes"),
        ({"joints": {}}, "no joint leads from part 'palm' to part 'finger': join them, or make them one"),
        ({"joints": {"palm": GRIP}}, "'palm' names two things: parts, joints and ports need different names"),
        ({"joints": {"back": GRIP}}, "'back' names two things"),
        ({"ports": {"finger": BACK}}, "'finger' names two things"),
        ({"ports": {"back": {**BACK, "part": "hand"}}}, "port 'back': no part 'hand': valid: palm, finger"),
        ({"ports": {"back": {**BACK, "connector": "hook"}}}, "port 'back': no connector 'hook': valid: cobold"),
        ({"ports": {"back": {**BACK, "up": [0, 0.6, 0.8]}}}, r"port 'back': up .* is not perpendicular to normal"),
        (
            {"ports": {"back": {**BACK, "normal": [0, 0, 0]}}},
            r"normal of port 'back' \(0.0, 0.0, 0.0\): expected three",
        ),
        (
            {"ports": {"back": {**BACK, "up": [0, 0, 0]}}},
            r"up of port 'back' \(0.0, 0.0, 0.0\): expected three numbers",
        ),
        (
            {"ports": {"back": {**BACK, "at": [0, 0, "size"]}}},
            "gripper.yaml: port 'back': at: 'size': no parameter 'size': valid: length",
        ),
        (
            {"ports": {"back": {**BACK, "at": [0, 0, float("nan")]}}},
            "port 'back': at: nan: expected a finite number",
        ),
        ({"ports": {"back": {**BACK, "number": 0}}}, "ports.back.number: Input should be greater than or equal to 1"),
        (
            {"parameters": {"length": {"value": "2 * width"}, "width": {"value": 1}}},
            "'length' refers to 'width', which",
        ),
        ({"parameters": {"length": {"value": "length"}}}, "'length' refers to 'length', which does not stand above it"),
        (
            {"parameters": {"length": {"value": "__import__('os')"}}},
            "expected numbers, parameters|refers to '__import__'",
        ),
        ({"parameters": {"length": {"value": "0.05", "choices": ["a"]}}}, "length = '0.05'; valid: a"),
        ({"parts": {"palm": {"shapes": [{}]}}, "joints": {}}, "expected exactly one of box, cylinder, sphere"),
        ({"parts": {"palm": {"shapes": [{"sphere": 1, "box": [1, 1, 1]}]}}, "joints": {}}, "exactly one of box, cyl"),
        (
            {"parts": {**GRIPPER["parts"], "palm": {"shapes": [{"cylinder": [1, 1], "axis": [0, 0, 0]}]}}},
            r"axis of a cylinder \(0.0, 0.0, 0.0\): expected three numbers, not all zero",
        ),
        (
            {"joints": {"grip": {**GRIP, "kind": "helical", "pitch": float("inf")}}},
            "joint 'grip': pitch: inf: expected a f",
        ),
        (
            {"joints": {"grip": {**GRIP, "armature": float("inf")}}},
            "joint 'grip': armature: inf: expected a finite number",
        ),
        (
            {"joints": {"grip": {**GRIP, "damping": float("nan")}}},
            "joint 'grip': damping: nan: expected a finite number",
        ),
        (
            {"joints": {"grip": {**GRIP, "friction": -1}}},
            "joint 'grip': friction -1 is negative: expected zero or more",
        ),
        ({"joints": {"grip": {**GRIP, "effort": -1}}}, "joint 'grip': effort -1 is negative: expected zero or more"),
        ({"joints": {"grip": {**GRIP, "effort": float("nan")}}}, "joint 'grip': effort: nan: expected a finite number"),
        ({"joints": {"grip": {**GRIP, "limits": [1, -1]}}}, "joint 'grip': limits 1 to -1: expected lower <= upper"),
        (
            {"joints": {"grip": {**GRIP, "limits": [0, float("nan")]}}},
            "joint 'grip': limits: nan: expected a finite num",
        ),
        (
            {"joints": {"grip": {**GRIP, "to": "palm"}}},
            "joint 'grip' goes from part 'palm' to itself: expected two parts",
        ),
        ({"parts": {**GRIPPER["parts"], "palm": {"mass": float("inf")}}}, "part 'palm': mass: inf: expected a finite"),
        ({"parts": {**GRIPPER["parts"], "palm": {"mass": 10**400}}}, "part 'palm': mass: a huge number: int too large"),
        (
            {"parts": {**GRIPPER["parts"], "palm": {"shapes": [{"sphere": -1}]}}},
            r"part 'palm': sphere of size \(-1.0,\)",
        ),
        (
            {"parts": {"palm": {"shapes": [{"sphere": 1, "colour": "inf"}]}}},
            "colour: expected a colour: #rrggbb, a grey",
        ),
        ({"parts": {"palm": {"shapes": [{"sphere": 1, "colour": "2.5"}]}}}, "colour: expected a colour"),
        ({"parts": {f"p{i}": {} for i in range(300)}}, "parts: Dictionary should have at most 256 items"),
        (
            {"connectors": {"cobold": {"size": float("inf")}}},
            "connector 'cobold': size: inf: expected a finite number",
        ),
        (
            {"connectors": {"cobold": {"rolls": [float("nan")]}}},
            "connectors.cobold.rolls.0: Input should be a finite num",
        ),
        (
            {"parameters": {"length": {"value": float("inf")}}},
            "parameter 'length': inf: expected a finite number",
        ),
        ({"connectors": {"cobold": {"gender": "neuter"}}}, "connectors.cobold.gender: Input should be 'none', 'male'"),
        (
            {"parameters": {"length": {"value": 105, "unit": "mm"}}},
            "parameters.length.unit: 'mm' is no SI unit: numbers are not converted: expected them in a product of m, kg",
        ),
        ({"parameters": {"length": {"value": 1, "unit": "kg m²/deg"}}}, "parameters.length.unit: 'deg' is no SI unit"),
    ],
)
def test_what_a_file_may_not_say(changes, message):
    with pytest.raises(CatalogueError, match=message) as caught:
        gripper(**changes)
    assert "gripper" in str(caught.value)


@pytest.mark.parametrize("unit", ["", "m", "kg m²", "N m s/rad", "1/s", "m/s^2", "kg·m²", "m s⁻¹", "N/(m s)"])
def test_units_of_si_are_accepted(unit):
    made = gripper(parameters={"length": {"value": 0.05, "unit": unit}})
    assert made.specification.parameters["length"].unit == unit


def test_every_mistake_of_a_file_is_named():
    joints = {"grip": {**GRIP, "to": "thumb", "kind": "ball"}, "more": {**GRIP, "from": "finger", "to": "palm"}}
    with pytest.raises(CatalogueError) as caught:
        gripper(joints=joints, ports={"back": {**BACK, "part": "hand"}, "palm": {**BACK, "connector": "hook"}})
    first, *lines = str(caught.value).split("\n  ")
    assert first == "gripper.yaml:"
    assert [line.split(";")[0].split(":")[0] for line in lines] == [
        "joint 'grip'",
        "joint 'grip'",
        "port 'back'",
        "port 'palm'",
        "'palm' names two things",
    ]


def test_no_limit_is_a_limit():
    free = [float("-inf"), float("inf")]
    joint = {**GRIP, "limits": free, "effort": float("inf"), "velocity": float("inf")}
    properties = gripper(joints={"grip": joint}).module().joints["grip"].properties
    assert [properties[x] for x in ("lower", "upper", "effort", "velocity")] == [*free, float("inf"), float("inf")]
    assert gripper(joints={"grip": joint}) != gripper(joints={"grip": {**GRIP, "limits": free}})


def test_a_mass_written_in_thirty_digits():
    parts = {**GRIPPER["parts"], "palm": {"mass": 10**30}}
    assert gripper(parts=parts).module().parts["palm"].inertia[0, 0] == 1e30


# ---- every module can be set on virtual joints ----


def test_a_type_without_a_virtual_port_gets_one_at_its_frame():
    module = gripper().module()
    assert list(module.ports) == ["back", "7"]
    assert (module.ports["7"].part, module.ports["7"].number) == ("palm", 7)
    np.testing.assert_array_equal(module.ports["7"].X, np.eye(4))
    assert module.ports["7"].connector == mr.module_type("backbone").module().ports["7"].connector
    assert "7" not in gripper().specification.ports


def test_the_virtual_port_takes_a_name_and_number_that_are_free():
    taken = gripper(ports={"7": {**BACK, "number": 7}}).module()
    assert list(taken.ports) == ["7", "frame"]
    assert taken.ports["frame"].number is None
    own = gripper(connectors={"cobold": {}, "virtual": {"virtual": True}})
    assert list(own.module().ports) == ["back"]


def test_ports_without_numbers_get_those_that_are_free():
    ports = {"a": BACK, "b": {**BACK, "number": 1}, "c": BACK, "d": {**BACK, "number": 3}}
    assert gripper(ports=ports).module().numbered == {"a": 2, "b": 1, "c": 4, "d": 3, "7": 7}


# ---- all mistakes of a file at once ----


def text_of(**changes) -> str:
    return dump_yaml({**GRIPPER, **changes})


def test_check_finds_nothing_wrong_with_what_is_right():
    assert check(text_of()) == []
    folder = resources.files("modurob.catalogue") / "modules"
    for name in SHIPPED:
        assert check((folder / f"{name}.yaml").read_text()) == []


def test_check_names_all_mistakes_at_once():
    found = check(
        text_of(
            name="a b",
            parts={"palm": {"mas": 1}, "finger": {}},
            joints={"grip": {**GRIP, "to": "thumb"}},
            ports={"back": {**BACK, "connector": "hook"}, "low": {**BACK, "part": "palm"}},
            parameters={"length": {"value": "2 * widht"}},
        )
    )
    assert [line.split(": valid")[0].split(";")[0] for line in found] == [
        "name: String should match pattern '^[A-Za-z0-9_.-]{1,64}$', found 'a b'",
        "parts.palm.mas: unknown key",
        "joint 'grip': no part 'thumb'",
        "port 'back': no connector 'hook'",
        "parameter 'length' refers to 'widht', which does not stand above it",
    ]


def test_check_tries_every_part_joint_and_port():
    found = check(
        text_of(
            parts={"palm": {"mass": -1}, "finger": {"mass": "lenght"}},
            joints={"grip": {**GRIP, "axis": [0, 0, 0]}},
            ports={"back": {**BACK, "up": [0, 0, 1]}},
        )
    )
    assert [line.split(":")[0] for line in found] == [
        "module type 'gripper', part 'palm'",
        "part 'finger'",
        "joint 'grip'",
        "port 'back'",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "file: not YAML"),
        ("", "file: expected a mapping"),
        ("a: !!bool x", "file: line 1: a tag"),
        ("format: modurob module 1\nname: x", "parts: Field required"),
        ("parts: 3", "format: Field required"),
        ("parts: {a: 3}\njoints: [1]\nports: x", "format: Field required"),
    ],
)
def test_check_of_what_is_no_module_type(text, message):
    assert check(text)[0].startswith(message)


@pytest.mark.parametrize("kind", ["helical", "universal", "spherical", "planar", "free", "cylindrical", "fixed"])
def test_a_module_may_have_any_kind_of_joint(kind):
    joint = {"grip": {**GRIP, "kind": kind, "pitch": 0.1, "axis2": [0, 1, 0], "velocity": 2}}
    module = gripper(joints=joint).module()
    assert module.joints["grip"].type.kind == kind
    robot = mr.Assembly.single("g", gripper(joints=joint)).mechanism()
    assert robot.nv == module.joints["grip"].type.nv
    if kind == "helical":
        assert module.joints["grip"].type == mr.Helical((1, 0, 0), 0.1)


def test_a_module_with_a_loop_of_its_own():
    """Three parts in a ring of hinges: two joints of the tree and one that closes it."""
    hinge = {"kind": "revolute", "axis": [0, 0, 1]}
    ring = gripper(
        parts={"palm": PALM, "finger": FINGER, "tip": {"mass": 0.1}},
        joints={
            "a": {**hinge, "from": "palm", "to": "finger"},
            "b": {**hinge, "from": "finger", "to": "tip", "at": [1, 0, 0]},
            "c": {**hinge, "from": "tip", "to": "palm", "at": [0, 1, 0]},
        },
    )
    robot = mr.Assembly.single("g", ring).mechanism()
    assert ([j.name for j in robot.joints], [x.name for x in robot.loops]) == (["g/a", "g/c"], ["g/b"])
    np.testing.assert_allclose(robot.loop_error([0, 0]), 0, atol=1e-15)
    assert np.abs(robot.loop_error([0.1, 0])).max() > 0.01


# ---- connectors ----


@pytest.mark.parametrize(
    ("one", "two", "roll", "message"),
    [
        ({}, {}, 0, None),
        ({"gender": "male"}, {"gender": "female"}, 270, None),
        ({"gender": "male"}, {"gender": "male"}, 0, "a male connector does not fit a male one: expected one male and"),
        ({"gender": "male"}, {}, 0, "a male connector does not fit a none one"),
        ({"size": 0.1}, {"size": 0.2}, 0, "connector sizes differ: 0.1 m and 0.2 m"),
        ({}, {}, 45, "roll 45 degrees; valid: 0, 90, 180, 270"),
        ({"rolls": [0, 180]}, {"rolls": [180, -90]}, 90, "roll 90 degrees; valid: 180"),
        ({"rolls": [0]}, {"rolls": [90]}, 0, "roll 0 degrees; valid: none"),
        ({"rolls": [-90]}, {"rolls": [270]}, 270, None),
        ({"virtual": True}, {}, 0, "one connector 'cobold' is virtual, the other has a face"),
    ],
)
def test_what_fits_what(one, two, roll, message):
    a, b = (gripper(connectors={"cobold": c}).module().ports["back"].connector for c in (one, two))
    assert (a.misfit(b, roll) or "").startswith(message or "")
    assert (a.misfit(b, roll) is None) == (b.misfit(a, roll) is None) == (message is None)


# ---- the user's own ----


def test_a_user_module_is_docked_by_its_path(tmp_path):
    path = tmp_path / "block.yaml"
    write_type(path, "block")
    for given in (path, str(path)):
        robot = mr.Assembly.single("a", "backbone").dock("b", given, "a/3", "low", 90)
        assert robot.modules["b"].type.name == "block"
        assert robot.mechanism().total_mass() == pytest.approx(0.4)
    assert mr.module_type(path) is mr.module_type(str(path))


def test_a_changed_file_is_read_anew(tmp_path):
    path = tmp_path / "block.yaml"
    write_type(path, "block", mass=0.4)
    first = mr.module_type(path)
    write_type(path, "block", mass=0.5)
    os.utime(path, ns=(1, 1))
    second = mr.module_type(path)
    assert [float(k.module().parts["block"].inertia[0, 0]) for k in (first, second)] == [0.4, 0.5]
    assert first.module() != second.module()


def test_the_user_folder_is_searched_by_name(own_folder):
    write_type(own_folder / "block.yaml", "block")
    assert names() == (*SHIPPED, "block")
    assert mr.module_type("block").name == "block"
    assert library.by_letter("Q") is library.by_letter("block") is mr.module_type("block")
    assert not library.is_shipped(mr.module_type("block"))
    robot = mr.Assembly.from_aim([[3, "B"], [4, "B"]]).dock("q", "block", "m1/3", "low")
    assert [row[-1] for row in robot.aim_table()] == ["B", "B", "Q", ""]


def test_shipped_types_win_over_the_user_folder(own_folder):
    write_type(own_folder / "backbone.yaml", "backbone")
    write_type(own_folder / "block.yaml", "block", letter="B")
    assert names() == (*SHIPPED, "block")
    assert library.is_shipped(mr.module_type("backbone"))
    assert library.by_letter("B") is mr.module_type("backbone")


def test_a_broken_file_in_the_user_folder_hurts_only_itself(own_folder):
    (own_folder / "broken.yaml").write_text("format: nonsense\n")
    assert mr.Assembly.from_grid("B B").key == mr.Assembly.from_aim([[2, "B"], [5, "B"]]).key
    with pytest.raises(CatalogueError, match=r"broken.yaml:\n  format: Input should be 'modurob module 1'"):
        mr.module_type("broken")


@pytest.mark.parametrize(
    "content", [b"a: [", b"\xff\xfe", b"", b"format: nonsense", b"[" * 10_000, b"a: !!bool x", b"x" * 9_000_000]
)
def test_a_broken_file_is_reported_and_the_others_work(own_folder, content):
    write_type(own_folder / "block.yaml", "block")
    (own_folder / "broken.yaml").write_bytes(content)
    (own_folder / "folder.yaml").mkdir()
    assert names() == (*SHIPPED, "block")
    assert [mr.module_type(name).name for name in names()] == list(names())
    assert library.by_letter("Q").name == "block"
    assert list(problems()) == ["broken.yaml"]
    assert problems()["broken.yaml"].split(":")[0].endswith("broken.yaml")
    with pytest.raises(FormatError, match=r"broken.yaml"):
        mr.module_type("broken")
    with pytest.raises(UnknownNameError, match=r"no module type with letter 'X': valid: A .*, Q .block"):
        library.by_letter("X")


def test_a_mended_file_is_no_problem_any_more(own_folder):
    path = own_folder / "block.yaml"
    path.write_text("format: nonsense")
    assert list(problems()) == ["block.yaml"]
    write_type(path, "block")
    os.utime(path, ns=(1, 1))
    assert problems() == {}
    assert "block" in names()


def test_no_folder_is_no_problem(monkeypatch, tmp_path):
    monkeypatch.setattr(library, "user_folder", lambda: tmp_path / "nowhere")
    assert (names(), problems()) == (SHIPPED, {})


def test_by_name_alone_no_path_is_read(tmp_path, own_folder):
    write_type(tmp_path / "block.yaml", "block")
    for path in (str(tmp_path / "block.yaml"), "./block.yaml", "../modules/block.yaml", "/dev/zero"):
        with pytest.raises(UnknownNameError, match="no module type"):
            named(path)
    assert named("block") is mr.module_type("block")


@pytest.mark.parametrize("name", ["bakbone", "", "../backbone", 7, None])
def test_unknown_types_are_refused_with_the_known(name, own_folder):
    with pytest.raises(
        UnknownNameError, match=rf"no module type '{name}': .*valid: anchor, backbone, cube_link, .*path of a"
    ):
        mr.module_type(name)


def test_unknown_letters_are_refused_with_the_known():
    with pytest.raises(
        UnknownNameError, match=r"no module type with letter 'X': valid: A \(anchor\), B \(backbone\), L \(cube_link\)"
    ):
        library.by_letter("X")


def test_a_missing_module_file_names_those_beside_it(tmp_path):
    write_type(tmp_path / "block.yaml", "block")
    with pytest.raises(FormatError, match=r"blok.yaml: no such file; did you mean 'block.yaml'"):
        mr.module_type(tmp_path / "blok.yaml")


def test_equal_files_make_equal_modules(tmp_path):
    for name in ("one.yaml", "two.yaml"):
        write_type(tmp_path / name, "block")
    one, two = (mr.module_type(tmp_path / n).module() for n in ("one.yaml", "two.yaml"))
    assert one == two
    assert hash(one) == hash(two)
    assert one != "block"
