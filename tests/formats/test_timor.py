"""Sets of Timor-Python, against numbers that Timor-Python itself computed."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import modurob as mr
from modurob.errors import FormatError, InputError, MatingError, ModurobWarning
from modurob.spatial import inertia

HERE = Path(__file__).parent
IMPROV = HERE / "improv.json"
CASES = json.loads((HERE / "improv_timor.json").read_text())["cases"]
ARM = ("base", "L6", "PB21", "L1", "PB22", "L2", "PB23")
# Timor-Python's numbers went through a few hundred operations
CLOSE = 1e-12


def docked(types: dict[str, mr.ModuleType], names) -> tuple[mr.Assembly, str]:
    """Modules one on another, and the free end."""
    arm, out = None, ""
    for i, name in enumerate(names):
        ports = types[name].module().ports
        ends = {p.connector.gender: port for port, p in ports.items()}
        kind = types[name]
        arm = mr.Assembly.single("m0", kind) if arm is None else arm.dock(f"m{i}", kind, at=out, by=ends["female"])
        out = f"m{i}/{ends['male']}"
    assert arm is not None
    return arm, out


@pytest.fixture(scope="module")
def improv() -> dict[str, mr.ModuleType]:
    return mr.timor_modules(IMPROV)


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_an_arm_moves_and_weighs_as_in_timor(improv, case):
    arm, tip = docked(improv, ARM)
    robot = arm.robot()
    assert robot.frame_pose(case["q"], tip) == pytest.approx(np.array(case["T"]), abs=CLOSE)
    # Timor-Python leaves rotors out of its torques
    tau = robot.inverse_dynamics(case["q"], case["v"], case["acc"]) - robot.armature * case["acc"]
    assert tau == pytest.approx(np.array(case["tau"]), abs=1e-11)


def test_joints_have_drives_friction_and_limits(improv):
    robot = docked(improv, ARM)[0].robot()
    assert robot.armature == pytest.approx([1.33888] * 4 + [0.17] * 2)
    assert robot.effort_limit == pytest.approx([75.504] * 4 + [40] * 2)
    assert robot.damping == pytest.approx([15.68, 13.91, 17.89, 13.63, 4.45, 4.67])
    assert robot.limits.upper == pytest.approx([2.9671] * 6)


def test_the_shipped_arm_is_made_of_these_modules(rng: np.random.Generator):
    """With tensors about the frames, L6 + PB21 + L1 + PB22 + L2 + PB23 weighs as the shipped modules; two axes point the other
    way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModurobWarning)
        theirs = docked(mr.timor_modules(IMPROV, tensors="frame"), ARM)[0].robot()
    ours = mr.Assembly.from_links("A B C endeffector").undock("endeffector").robot()
    q = rng.uniform(-2.9, 2.9, size=(20, 6))
    # the file has a centre of mass 0.18 mm off the plane of its link, which the shipped one leaves out
    assert ours.gravity_forces(q) == pytest.approx(theirs.gravity_forces(q), abs=2e-3)
    # products of the balls are not in the file: zero about the frame is m y z about the centre, where the shipped balls have zero
    assert ours.mass_matrix(q) == pytest.approx(theirs.mass_matrix(q), abs=3.9 * 0.018 * 0.082)
    assert ours.frame_pose(q, "link3/out") == pytest.approx(theirs.frame_pose(q, "m6/23_distal_connector"), abs=1e-9)


def test_both_readings_of_the_tensors(improv):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        other = mr.timor_modules(IMPROV, tensors="frame")
    assert [str(w.message).split(":")[0] for w in said] == ["module 'L10', body '16'", "module 'L4', body '6'"]
    as_centre, as_frame = (next(iter(t["L1"].module().parts.values())).inertia for t in (improv, other))
    shift = inertia.tensor(as_centre) - inertia.tensor(as_frame)
    m, c = inertia.mass(as_frame), inertia.centre(as_frame)
    assert shift == pytest.approx(m * (c @ c * np.eye(3) - np.outer(c, c)), abs=1e-12)
    # about the frame, the product of L1 is that of its centre of mass alone: nothing is left about the centre
    assert inertia.tensor(as_frame)[1, 2] == pytest.approx(0, abs=1e-6)


def test_within_rounding_the_nearest_tensor_is_taken():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModurobWarning)
        part = next(iter(mr.timor_modules(IMPROV, tensors="frame")["L6"].module().parts.values()))
    across, other, along = np.diag(inertia.tensor(part.inertia))
    assert across == other == pytest.approx(along / 2)
    assert across == pytest.approx(4.124e-5, rel=0.05)


def test_genders_and_kinds_are_kept(improv):
    arm, tip = docked(improv, ("base", "L6"))
    with pytest.raises(MatingError, match="a male connector does not fit a male one"):
        arm.dock("x", improv["L1"], at=tip, by="4_distal_connector")
    flange, end = docked(improv, ("base", "L3"))
    with pytest.raises(MatingError, match="connector 'eef' does not fit 'schunk'"):
        flange.dock("x", improv["L1"], at=end, by="4_proximal_connector")


def test_load_knows_the_file():
    assert set(mr.load(IMPROV)) == {"base", *(f"L{i}" for i in range(1, 12)), *(f"PB2{i}" for i in (1, 2, 3, 4))}


BODY = {"ID": "a", "mass": 1.0, "r_com": [0, 0, 0], "inertia": np.eye(3).tolist(), "connectors": []}
SECOND = {**BODY, "ID": "b"}
JOINT = {"ID": "j", "type": "prismatic", "parent": "b", "child": "a"}


def written(path: Path, bodies, joints=(), **header) -> Path:
    module = {"header": {"ID": "m", "name": "module", **header}, "bodies": list(bodies), "joints": list(joints)}
    path.write_text(json.dumps({"modules": [module]}))
    return path


def test_names_shapes_and_missing_numbers(tmp_path: Path):
    shapes = [
        {"type": "box", "parameters": {"x": 0.1, "y": 0.2, "z": 0.3}, "pose": np.diag([1, -1, -1, 1]).tolist()},
        {"type": "mesh", "parameters": {}},
    ]
    connector = {"ID": "a", "pose": np.eye(4).tolist(), "gender": "h", "type": "x", "size": None}
    bodies = [{**BODY, "collision": shapes, "connectors": [connector]}, SECOND]
    kind = mr.timor_modules(written(tmp_path / "x.json", bodies, [{**JOINT, "passive": True}], name="two words"))["m"]
    module = kind.module()
    assert list(module.parts) == ["b", "a_body"]
    assert module.parts["a_body"].shapes[0].size == (0.1, 0.2, 0.3)
    assert module.joints["j"].properties["effort"] == 0
    assert module.joints["j"].properties["upper"] == np.inf
    assert module.ports["a"].connector.gender == "none"


@pytest.mark.parametrize(
    ("bodies", "joints", "words"),
    [
        ([BODY, SECOND], [], "no joint leads to body 'b'"),
        ([BODY, SECOND], [{**JOINT, "type": "spherical"}], "type 'spherical': valid: revolute"),
        ([{"ID": "a"}], [], "KeyError: 'mass': expected header, bodies and joints"),
        ([{**BODY, "connectors": [{"ID": "c", "gender": "x"}]}], [], "connector 'c': gender 'x'"),
        ([{**BODY, "connectors": [{"ID": "c", "gender": "m", "size": [1, 2]}]}], [], r"size \[1, 2\]"),
        ([{**BODY, "mass": -1.0}], [], "mass -1 kg is negative"),
    ],
)
def test_files_that_are_wrong(tmp_path: Path, bodies, joints, words: str):
    with pytest.raises((FormatError, mr.ModurobError), match=words):
        mr.timor_modules(written(tmp_path / "x.json", bodies, joints))


def test_files_that_are_no_sets(tmp_path: Path):
    path = tmp_path / "x.json"
    path.write_text("{")
    with pytest.raises(FormatError, match=r"x\.json: no JSON"):
        mr.timor_modules(path)
    path.write_text("[]")
    with pytest.raises(FormatError, match="expected a list under 'modules'"):
        mr.timor_modules(path)
    with pytest.raises(InputError, match="tensors 'center': did you mean 'centre'"):
        mr.timor_modules(path, tensors="center")
    data = json.loads(written(path, [BODY]).read_text())
    path.write_text(json.dumps({"modules": data["modules"] * 2}))
    with pytest.raises(FormatError, match="already a module named 'module'"):
        mr.timor_modules(path)
