"""`modurob ik` and `modurob workspace`."""

import re

import numpy as np
import pytest
from PIL import Image
from scipy.spatial.transform import Rotation
from typer.testing import CliRunner

import modurob as mr
from modurob.cli import app
from modurob.errors import InputError

POSE = "0.3 0.2 0.5 3.1 0.1 0.4"

STIFF = """<robot name="stiff">
<link name="base"/><link name="a">MASS</link><link name="b">MASS</link><link name="tip"/>
<joint name="one" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
  <limit lower="0" upper="0.5" effort="1" velocity="1"/></joint>
<joint name="two" type="continuous"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>
<joint name="end" type="fixed"><parent link="b"/><child link="tip"/><origin xyz="1 0 0"/></joint>
</robot>""".replace(
    "MASS",
    '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>',
)


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "200"})
    assert result.exit_code == code, result.output
    assert code == 0 or isinstance(result.exception, SystemExit)
    return result.output


def solutions(said):
    """Numbered rows of the table: coordinates, and whether they are allowed."""
    rows = [line.split() for line in said.splitlines() if line.rstrip().endswith((" yes", " no"))]
    return np.array([[float(x) for x in row[1:7]] for row in rows]), [row[-1] for row in rows]


def test_ik_lists_all_solutions_and_why_some_are_refused():
    arm = mr.load("lwa4p").robot()
    said = run("ik", "lwa4p", "--frame", "wrist/out", "--pose", POSE)
    q, allowed = solutions(said)
    assert allowed == ["yes"] * 2 + ["no"] * 6
    assert "all there are" in said
    there = arm.frame_pose(q, "wrist/out")
    assert np.allclose(there[:, :3, 3], [0.3, 0.2, 0.5], atol=3e-3)  # angles are printed to 1e-3
    assert np.allclose(there[:, :3, :3], Rotation.from_euler("xyz", [3.1, 0.1, 0.4]).as_matrix(), atol=5e-3)
    within = np.all((q >= arm.limits.lower) & (q <= arm.limits.upper), axis=1)
    assert within.tolist() == [word == "yes" for word in allowed]
    assert said.count("is outside") >= 6


def test_ik_takes_quaternions_starts_and_orders():
    x, y, z, w = Rotation.from_euler("xyz", [3.1, 0.1, 0.4]).as_quat()
    options = ("--pose", f"0.3, 0.2, 0.5, {w}, {x}, {y}, {z}", "--order", "manipulability", "--start", "0 0 0 0 0 0")
    q, _ = solutions(run("ik", "lwa4p", "--frame", "wrist/out", *options))
    others, _ = solutions(run("ik", "lwa4p", "--frame", "wrist/out", "--pose", POSE))
    assert np.abs(np.sort(q[:2, 0]) - np.sort(others[:2, 0])).max() < 2e-3


def test_ik_tells_what_is_out_of_reach_and_the_nearest():
    said = run("ik", "lwa4p", "--frame", "wrist/out", "--pose", "3 0 0 0 0 0", code=1)
    assert "not reached: out of reach" in said
    assert "nearest: shoulder/pan" in said
    # a point beyond a stretched arm: as near as its length allows, within limits
    said = run("ik", "lwa4p", "--frame", "wrist/centre", "--position", "3 0 0.205", code=1)
    words = re.search(r"nearest: (.*): ([0-9.]+) away", said)
    q = [float(word.split()[1]) for word in words[1].split(", ")]
    arm = mr.load("lwa4p").robot()
    assert float(words[2]) == pytest.approx(3 - 0.655, abs=1e-3)
    assert np.linalg.norm(arm.frame_pose(q, "wrist/centre")[:3, 3] - [3, 0, 0.205]) == pytest.approx(2.345, abs=1e-3)
    assert np.all((q >= arm.limits.lower) & (q <= arm.limits.upper))


def test_ik_tells_what_only_limits_forbid(tmp_path):
    (tmp_path / "stiff.urdf").write_text(STIFF)
    said = run("ik", tmp_path / "stiff.urdf", "--position", "-1 -1 0", code=1)
    assert "not reached: only outside limits" in said
    assert said.count("is outside 0.000 to 0.500") == 2
    assert "1 within limits, 1 outside" in run("ik", tmp_path / "stiff.urdf", "--position", "1.5 1 0")


def test_ik_says_what_collides():
    arm = mr.load("lwa4p").robot()
    model, rng = arm.collision_model(), np.random.default_rng(0)
    q = next(q for q in (arm.random_configuration(rng) for _ in range(1000)) if not model.clear(q))
    X = arm.frame_pose(q, "wrist/out")
    pose = [*X[:3, 3], *Rotation.from_matrix(X[:3, :3]).as_euler("xyz")]
    said = run("ik", "lwa4p", "--frame", "wrist/out", "--pose", " ".join(map(str, pose)), "--collisions")
    found = arm.inverse_kinematics("wrist/out", X)
    assert solutions(said)[1][: len(found)] == ["yes" if model.clear(q) else "no" for q in found.q]
    assert "collides with" in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--pose", POSE], "--frame is not given: .*valid: world"),
        (["--frame", "wrst", "--pose", POSE], "--frame wrst: did you mean 'wrist'"),
        (["--frame", "wrist/out"], "expected --position"),
        (["--frame", "wrist/out", "--pose", POSE, "--position", "1 2 3"], "one of them"),
        (["--frame", "wrist/out", "--pose", "1 2 3"], "3 numbers: expected 6 or 7"),
        (["--frame", "wrist/out", "--position", "a b c"], "expected numbers"),
        (["--frame", "wrist/out", "--pose", "1 2 3 0 0 0 0"], "the quaternion is zero"),
        (
            ["--frame", "wrist/out", "--pose", "0.3 0.2 0.5 3 0 90"],
            r"yaw is 90: expected radians \(90 degrees are 1.571",
        ),
        (["--frame", "wrist/out", "--pose", POSE, "--order", "best"], "order of solutions"),
    ],
)
def test_ik_says_what_is_wrong(options, words):
    with pytest.raises(InputError, match=words):
        CliRunner().invoke(app, ["ik", "lwa4p", *options], catch_exceptions=False)


def test_workspace_prints_numbers_and_draws(tmp_path):
    out = tmp_path / "reach.png"
    said = run("workspace", "lwa4p", "--frame", "wrist/centre", "--samples", 4096, "--at", "y=0 z=0.3", "--out", out)
    reach = mr.load("lwa4p").robot().reach_map("wrist/centre", samples=4096)
    assert f"{reach.volume:.4g} m³" in said
    for word in ("largest manipulability", "largest dexterity", "4096, cells"):
        assert word in said
    image = np.asarray(Image.open(out).convert("RGB"))
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 50
    said = run("workspace", "lwa4p", "--frame", "wrist/centre", "--samples", 512, "--out", tmp_path / "two.png")
    assert (tmp_path / "two.png").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--at", "q=1"], "axis 'q'"),
        (["--at", "y"], "such as y=0"),
        (["--at", "y=9"], "outside the map"),
        (["--what", "beauty"], "no quantity"),
        (["--out", "reach.txt"], "cannot be written"),
    ],
)
def test_workspace_says_what_is_wrong(options, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ["workspace", "lwa4p", "--frame", "wrist/centre", "--samples", "1024", *options]
    with pytest.raises(InputError, match=words):
        CliRunner().invoke(app, command, catch_exceptions=False)
