"""The modular LWA 4P of Sepp et al.: what the report prints, corrected where it errs, and public descriptions of the same arm."""

import numpy as np
import pytest

import modurob as mr
from modurob.judges.verify import verify
from modurob.kinematics.jacobians import singular_directions
from modurob.spatial import angles, se3, so3

HALF = np.pi / 2
WRIST = "wrist/centre"
# table 2.2
POSE = np.array([-np.pi / 4, HALF, -np.pi / 4, np.pi / 8, np.pi / 6, HALF])
ROTATION = np.array([[0.4619, -0.3844, 0.7993], [0.8446, -0.0843, -0.5287], [0.2706, 0.9193, 0.2857]])
START = np.array([0.5, 1, 1.5, 1, 0, 0.5])
DIGITS = 5e-5
CLOSE = 1e-12


@pytest.fixture(scope="module")
def arm() -> mr.Mechanism:
    return mr.load("lwa4p").robot()


# ---- forward kinematics ----


def test_poses_that_the_report_prints(arm):
    assert arm.frame_pose(np.zeros(6), WRIST) == pytest.approx(se3.pose(p=np.array([0, 0, 0.86])), abs=CLOSE)
    X = arm.frame_pose(POSE, WRIST)
    assert X[:3, 3] == pytest.approx([0.4, -0.4, 0.4207], abs=DIGITS)
    assert X[:3, :3] == pytest.approx(ROTATION, abs=DIGITS)
    assert angles.euler_angles("zyx", X[:3, :3]).first == pytest.approx([1.0703, -0.2740, 1.2695], abs=DIGITS)
    printed = arm.frame_pose([1.11, 0.634, 1.6, 1.0, 0, 0.5], WRIST)
    assert printed[:3, 3] == pytest.approx([0.1991, 0.4010, 0.2992], abs=1e-4)


def test_closed_form(arm, rng: np.random.Generator):
    q = rng.uniform(-2.9, 2.9, size=(200, 6)).T
    rho = 0.35 * np.sin(q[1]) + 0.305 * np.sin(q[1] + q[2])
    z = 0.205 + 0.35 * np.cos(q[1]) + 0.305 * np.cos(q[1] + q[2])
    p = np.stack([rho * np.cos(q[0]), rho * np.sin(q[0]), z], axis=-1)
    y, k = np.eye(3)[1], np.eye(3)[2]
    turns = [so3.about(a, x) for a, x in ((k, q[0]), (y, q[1] + q[2]), (k, q[3]), (y, q[4]), (k, q[5]))]
    X = arm.frame_pose(q.T, WRIST)
    assert X[:, :3, 3] == pytest.approx(p, abs=CLOSE)
    assert X[:, :3, :3] == pytest.approx(turns[0] @ turns[1] @ turns[2] @ turns[3] @ turns[4], abs=CLOSE)


def test_distal_proximal_and_exponential_forms_are_one(arm, rng: np.random.Generator):
    q = rng.uniform(-2.9, 2.9, size=(100, 6))
    X = arm.frame_pose(q, WRIST)
    for form in (arm.dh(WRIST), arm.dh(WRIST, form="proximal"), arm.screws(WRIST)):
        assert form.pose(q) == pytest.approx(X, abs=CLOSE)


def test_the_table_is_found_from_the_docked_modules(arm):
    """Table 2.1 with its offsets, in both forms."""
    distal = [
        (0, -HALF, 0.205, 0),
        (0.35, 0, 0, -HALF),
        (0, HALF, 0, HALF),
        (0, -HALF, 0.305, 0),
        (0, HALF, 0, 0),
        (0,) * 4,
    ]
    proximal = [
        (0, 0, 0.205, 0),
        (0, -HALF, 0, -HALF),
        (0.35, 0, 0, HALF),
        (0, HALF, 0.305, 0),
        (0, -HALF, 0, 0),
        (0, HALF, 0, 0),
    ]
    for form, rows in (("distal", distal), ("proximal", proximal)):
        found = arm.dh(WRIST, form=form)
        assert np.array([row[:4] for row in found.rows]) == pytest.approx(np.array(rows), abs=CLOSE)
        assert found.base == pytest.approx(np.eye(4), abs=CLOSE)
        assert found.tool == pytest.approx(np.eye(4), abs=CLOSE)


# origins (xyz, rpy) of the joints in lwa4p.urdf.xacro of ipa320/schunk_modular_robotics, and what its quarter turns are rounded to
URDF_ORIGINS = (
    ("0 0 0", "0 0 0"),
    ("0 0 0", "{h} 0 0"),
    ("0 0.350 0", "0 {p} 0"),
    ("0 0 0", "-{h} {p} 0"),
    ("0 {offset} 0.305", "{h} 0 {p}"),
    ("0 0 0", "-{h} 0 0"),
)


def urdf(offset: float, h: float, p: float) -> str:
    links = "".join(f'<link name="l{i}"/>' for i in range(7))
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><origin xyz="{xyz}" rpy="{rpy}"/><parent link="l{i - 1}"/><child link="l{i}"/>'
        '<axis xyz="0 0 1"/><limit lower="-2.947" upper="2.947" effort="100" velocity="1.26"/></joint>'
        for i, (xyz, rpy) in enumerate(URDF_ORIGINS, start=1)
    )
    return f'<robot name="lwa4p">{links}{joints}</robot>'.format(offset=offset, h=h, p=p)


@pytest.mark.filterwarnings("ignore::modurob.errors.ModurobWarning")
@pytest.mark.parametrize(("h", "p", "close"), [(repr(HALF), repr(np.pi), 1e-12), ("1.5708", "3.14159", 2e-5)])
def test_the_public_urdf_is_the_same_arm_but_for_its_wrist(arm, tmp_path, rng: np.random.Generator, h, p, close):
    """q_urdf = (q1, -q2, q3, q4, q5, q6), tool turned by a half turn, base at the shoulder; and axes 4 and 6 5.263 mm apart."""
    q = rng.uniform(-2.9, 2.9, size=(50, 6))
    X = arm.frame_pose(q, WRIST)
    theirs = []
    for offset in (0.0, 0.005263):
        path = tmp_path / f"{offset}.urdf"
        path.write_text(urdf(offset, h, p))
        Y = mr.Mechanism.from_urdf(path).frame_pose(q * [1, -1, 1, 1, 1, 1], "l6") @ se3.pose(np.diag([-1.0, -1, 1]))
        Y[:, 2, 3] += 0.205
        theirs.append(Y)
    assert theirs[0] == pytest.approx(X, abs=close)
    assert np.linalg.norm(theirs[1][:, :3, 3] - X[:, :3, 3], axis=1) == pytest.approx(0.005263, abs=close)


# ---- solutions, Jacobian ----


def test_the_eight_printed_solutions_of_the_pose(arm):
    """q1 to q3 in four ways, each with two wrists; what they bring is the pose of table 2.2 within their digits."""
    arms = [
        (-0.7854, 0.8423, 0.7854),
        (-0.7854, 1.5708, -0.7854),
        (2.3562, -1.5708, 0.7854),
        (2.3562, -0.8423, -0.7854),
    ]
    wrists = [
        (2.6273, 0.3995, -0.7465),
        (0.3927, 0.5236, 1.5708),
        (-2.7489, 0.5236, 1.5708),
        (-0.5143, 0.3995, -0.7465),
    ]
    flips = [(0, 1, 0), (np.pi, -1, np.pi)]
    q = np.array([(*a, w[0] + s, k * w[1], w[2] + t) for a, w in zip(arms, wrists, strict=True) for s, k, t in flips])
    X = arm.frame_pose(q, WRIST)
    assert pytest.approx(np.broadcast_to(arm.frame_pose(POSE, WRIST), X.shape), abs=3e-4) == X
    assert len(np.unique(np.round(q, 3), axis=0)) == 8


def test_singular_poses(arm):
    """At zero stretched, on axis 1 and with a straight wrist; q5 = 0 alone at the start of the report."""
    assert singular_directions(arm.jacobian(np.zeros(6), WRIST)).rank == 3
    assert singular_directions(arm.jacobian(START, WRIST)).rank == 5
    assert np.abs(arm.jacobian(POSE, WRIST)[:3, 3:]).max() < CLOSE


# ---- dynamics ----


def test_judges_agree_on_the_arm(arm):
    report = verify(arm)
    assert report.passed, report
    assert {v.judge for v in report.verdicts} >= {"Pinocchio", "MuJoCo"}


def test_holding_torques_and_inertia(arm):
    assert arm.gravity_forces([0, HALF, 0, 0, 0, 0]) == pytest.approx([0, -34.534, -8.405, 0.680, -0.292, 0], abs=1e-3)
    own = np.diag(arm.mass_matrix(np.zeros(6))) - arm.armature
    # 1 %, or half of the last tabled digit
    assert own[:5] == pytest.approx([0.0692, 1.7556, 0.2485, 0.0071, 0.0051], rel=0.01, abs=6e-5)
    assert own[5] == pytest.approx(3.3e-5, rel=0.01)
    assert arm.armature == pytest.approx([1.33888] * 4 + [0.17] * 2)
    assert arm.damping == pytest.approx([15.68, 13.91, 17.89, 13.63, 4.45, 4.67])


def test_bodies_as_tabled(arm):
    """Masses, centres of mass at zero in world axes, and tensors about them."""
    table = [
        (3.9, (0, 0.0193, 0.187), (0.01531, 0.00973, 0.01158)),
        (1.62, (0, 0.1145, 0.380), (0.02444, 0.02473, 0.01685)),
        (3.9, (0, 0.0180, 0.5743), (0.01531, 0.01158, 0.00973)),
        (1.0, (0, 0.0477, 0.7273), (0.00659, 0.00585, 0.00162)),
        (1.8, (0, 0.0120, 0.8718), (0.00542, 0.00406, 0.00294)),
        (0.1, (0, 0, 0.9448), (2.1e-5, 2.1e-5, 3.3e-5)),
    ]
    X = arm.forward_kinematics(np.zeros(6)).bodies
    for i, (m, c, moments) in enumerate(table, start=1):
        spatial = mr.spatial.inertia.moved(arm.inertia[i], X[i])
        assert mr.spatial.inertia.mass(spatial) == pytest.approx(m)
        assert np.abs(mr.spatial.inertia.centre(spatial)) == pytest.approx(c, abs=1e-4)
        assert np.diag(mr.spatial.inertia.tensor(spatial)) == pytest.approx(moments, abs=6e-6)
