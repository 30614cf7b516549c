"""Inverse kinematics with all solutions: published counts, every family, and what is left over."""

import pickle
from importlib.metadata import files

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import modurob as mr
from modurob.errors import InputError
from modurob.kinematics.inverse import compiled, search, solver, subproblems
from modurob.spatial import se3, so3
from tests.kinematics.families import (
    FAMILIES,
    Line,
    closest_pair,
    distance_to_own,
    pose_error,
    random_arm,
    robot_of,
    turning,
    wrapped,
)
from tests.sampling import sampled

PI, HALF, DEGREE = np.pi, np.pi / 2, np.pi / 180
# a configuration is found again to this, where the pose says it so closely
OWN = 1e-9
# the last digits of poses, over the least singular value of the Jacobian
ROUNDING = 2e-14
POSE = 1e-12

# distal rows (a, alpha, d, offset) [m, rad]
ARMS = {
    "MD": [(0.3, HALF, 0), (1, DEGREE, 0), (0, HALF, 0.2), (1.5, DEGREE, 0), (0, HALF, 0), (0, DEGREE, 0)],
    "PUMA": [(0, HALF, 0), (0.4318, 0, 0), (0.0203, -HALF, 0.15005), (0, HALF, 0.4318), (0, -HALF, 0), (0, 0, 0)],
    "UR": [
        (0, HALF, 0.089159),
        (-0.425, 0, 0),
        (-0.39225, 0, 0),
        (0, HALF, 0.10915),
        (0, -HALF, 0.09465),
        (0, 0, 0.0823),
    ],
    "LWA": [
        (0, -HALF, 0.205),
        (0.35, 0, 0, -HALF),
        (0, HALF, 0, HALF),
        (0, -HALF, 0.305),
        (0, HALF, 0.005263),
        (0, 0, 0),
    ],
    "CRX": [(0, -HALF, 0), (0.54, PI, 0), (0, -HALF, 0), (0, HALF, -0.54), (0, -HALF, 0.15), (0, 0, -0.16)],
    "XA": [
        (0, -HALF, 0.267),
        (0.28949, 0, 0, -1.3849179),
        (0.0775, -HALF, 0, 1.3849179),
        (0, HALF, 0.3425),
        (0.076, -HALF, 0),
        (0, 0, 0.097),
    ],
    "PA": [
        (0, -HALF, 0.333),
        (0, HALF, 0),
        (0.0825, HALF, 0.316),
        (-0.0825, -HALF, 0),
        (0, HALF, 0.384),
        (0.088, HALF, 0),
    ],
    "GEN": [
        (0.2, 0.9, 0.3),
        (0.5, -0.4, 0.1),
        (0.3, 1.2, -0.2),
        (0.4, -0.8, 0.25),
        (0.1, 0.6, 0.35),
        (0.15, 0.3, 0.2),
    ],
}
PANDA = [*ARMS["PA"], (0, 0, 0.107)]
IIWA = [(0, -HALF, 0.34), (0, HALF, 0), (0, HALF, 0.4), (0, -HALF, 0), (0, -HALF, 0.4), (0, HALF, 0), (0, 0, 0.126)]

# configuration, number of solutions, sums of the cosines and of the sines of all solutions by joint
TABLE = [
    (
        "MD",
        (-3.11, 1.89, -2.58, -0.1, -2.87, 3.13),
        16,
        (-2.022112, -2.243115, 0, 0, 0, 0),
        (0.105271, 0.046620, 0, -2.210540, -1.108760, 0),
    ),
    (
        "PUMA",
        (0.1, 2.7, -2.1, 2.7, -1.1, -0.5),
        8,
        (0.627166, 0, 0.315030, 0, 4.089217, 0),
        (-1.782040, 5.113971, -6.700992, 0, 0, 0),
    ),
    (
        "UR",
        (-0.4, 1, -0.5, 0.8, 2.8, 1.1),
        6,
        (1.686251, 1.337443, 3.355304, 0.161627, -1.990696, 1.230113),
        (-1.647251, 4.075617, 0, -1.087053, 0.915440, -1.576966),
    ),
    (
        "LWA",
        (-2.5, -1.6, 1.8, 0.5, -2.4, -0.4),
        8,
        (0, 3.882354, -1.753445, 0, 0.387903, 0.125573),
        (0, 0, 0, 0, 0.026580, 0.036133),
    ),
    (
        "LWA",
        (0.3, -0.4, 0.9, 0.5, 0, 0.7),
        12,
        (0, 11.014385, 7.554138, 0, 10.368234, 0.513473),
        (0, 0, 0, 0, 0.447127, 4.335659),
    ),
    (
        "CRX",
        (-2.9, 2.6, -2.5, 2.1, -0.8, 2.7),
        16,
        (0, 0, 0, 0, 0.217815, -0.492002),
        (0, 4.956851, -11.923533, 0, -3.446608, 6.313984),
    ),
    (
        "XA",
        (-1.2, -2.3, 1, 1.6, -0.9, 2.5),
        12,
        (0.128071, -1.129341, 9.366318, 1.115540, 5.693213, 0.886500),
        (0.208814, 0.212567, 4.386350, -0.057688, -3.627695, -0.005290),
    ),
    (
        "PA",
        (-1, 2.9, -1.1, 1.7, 2.2, -0.7),
        8,
        (0, -3.859139, 0, -4.011056, 0, 2.239951),
        (0, 0, 0, 2.022377, 0.922989, -5.145194),
    ),
    (
        "GEN",
        (0, -1.5, -2.9, -1.8, 1.2, -1.8),
        6,
        (-1.710591, -1.967119, -2.254643, 1.201413, 1.241789, -2.773669),
        (-0.197454, -2.893412, 0.695961, -2.061010, 3.583804, -2.050261),
    ),
]


@pytest.fixture
def definition(monkeypatch):
    """NumPy alone: the definition of what kernels compute."""
    monkeypatch.setattr(solver, "_compiled", lambda arm, nq: None)
    solver._quick.cache_clear()
    yield
    solver._quick.cache_clear()


def arm(name):
    return mr.Mechanism.from_dh(ARMS[name], name=name)


def random_rows(rng, n):
    return [(rng.uniform(-0.5, 0.5), rng.uniform(-PI, PI), rng.uniform(-0.5, 0.5)) for _ in range(n)]


def own_bound(robot, q):
    """How closely a pose can tell a configuration."""
    least = np.linalg.svd(robot.jacobian(q, "tip"), compute_uv=False)[..., -1]
    return np.maximum(OWN, ROUNDING / least)


def assert_all_found(robot, q, **options):
    """Poses of q: q is among the solutions, none is false, no two are one."""
    X = robot.frame_pose(q, "tip")
    found = robot.inverse_kinematics("tip", X, **options)
    assert found.exact
    apart = distance_to_own(robot, found, q)
    assert np.all(apart < OWN) or np.all(apart < own_bound(robot, q))
    assert pose_error(robot, "tip", found, X) < 1e-10
    assert closest_pair(robot, found) > 1e-6
    return found


# ---- published and judged ----


@pytest.mark.parametrize(("name", "q", "count", "cosines", "sines"), TABLE)
def test_known_counts_and_sums(name, q, count, cosines, sines):
    robot = arm(name)
    found = robot.inverse_kinematics("tip", robot.frame_pose(q, "tip"), q)
    assert found.count == count
    assert found.exact
    assert found.certain
    assert found.reached
    assert found.residual.max() < POSE
    assert np.abs(np.cos(found.q).sum(axis=0) - cosines).max() < 2e-6
    assert np.abs(np.sin(found.q).sum(axis=0) - sines).max() < 2e-6
    assert np.abs(found.q[0] - q).max() < OWN


@pytest.mark.usefixtures("definition")
@pytest.mark.parametrize("row", [TABLE[0], TABLE[2], TABLE[4], TABLE[5]], ids=lambda row: row[0])
def test_known_counts_by_the_definition(row):
    name, q, count, cosines, _ = row
    robot = arm(name)
    found = robot.inverse_kinematics("tip", robot.frame_pose(q, "tip"), q)
    assert found.count == count
    assert found.certain
    assert np.abs(np.cos(found.q).sum(axis=0) - cosines).max() < 2e-6


def test_general_arm_out_of_reach():
    robot = arm("GEN")
    X = robot.frame_pose((0.3, -0.6, 0.9, 0.4, 0.2, -0.5), "tip").copy()
    X[:3, 3] += (0.9, 0.4, 0.2)
    found = robot.inverse_kinematics("tip", X)
    assert not found.reached
    assert found.count == 0
    assert found.certain
    assert found.note == "out of reach"
    assert found.q.shape == (1, 6)
    assert 0.1 < found.residual[0] < 1.0


# ---- every family ----


@pytest.mark.usefixtures("definition")
@pytest.mark.parametrize("family", FAMILIES)
def test_own_configuration_is_among_the_solutions(family):
    for seed in range(3):
        rng = np.random.default_rng([seed, 7])
        robot = random_arm(family, rng)
        assert_all_found(robot, rng.uniform(-PI, PI, (20, 6)))


@pytest.mark.judge
@pytest.mark.parametrize("way", ["kernels", "definition"])
@pytest.mark.parametrize("family", FAMILIES)
def test_own_configuration_of_a_thousand_arms(family, way, request):
    if way == "definition":
        request.getfixturevalue("definition")
    for seed in range(1000):
        rng = np.random.default_rng([seed, 11])
        robot = random_arm(family, rng)
        assert_all_found(robot, rng.uniform(-PI, PI, (20, 6)))


def test_the_cubic_of_a_pair_of_lines(rng):
    """A root in the interval, whatever the sizes, and one of NumPy's."""
    shape = (5, 2000)
    low, width, d, e, z = rng.normal(size=shape) * 10.0 ** rng.uniform(-6, 1, shape) * (rng.uniform(size=shape) > 0.05)
    high = low + np.abs(width)
    x, last = subproblems._pair_of_lines(low, high, d, e, z)
    size = np.abs([low, high, d, e, z]).max(axis=0) + 1e-300
    assert np.all((x >= low - 1e-14 * size) & (x <= high + 1e-14 * size))
    assert np.all(last < 1e-9 * size)
    both, product = low + high, low * high
    cubic = [1 + 0 * z, z - both, product - z * both + d**2 + e**2, product * z - low * e**2 - high * d**2]
    for k in range(0, 2000, 20):
        roots = np.roots([c[k] for c in cubic])
        # a triple root is known to a third of the digits
        assert np.abs(roots - x[k]).min() < 1e-5 * size[k]


def test_one_key_is_one_code():
    """Arms that share compiled code have the same closed form, from whichever end it is read."""
    texts = {}
    for family in FAMILIES:
        lines = FAMILIES[family](np.random.default_rng(17))
        for way in (lines, lines[::-1]):
            own = search.solver(robot_of(way, np.random.default_rng(18)), "tip", "world", "pose").arm
            text = compiled._candidate_lines(own).text()[0]
            assert texts.setdefault(compiled._key(own), text) == text
    assert len(texts) > len(FAMILIES)


@pytest.mark.usefixtures("definition")
@pytest.mark.parametrize(("family", "seed"), [("2, 3, 4 parallel", 8), ("wrist", 42), ("wrist, RPR", 748)])
def test_nearly_singular_equations(family, seed):
    """Random arms whose two angles are lost if that of the constant block is eliminated; one whose slide is nearly across an axis,
    so that the roots of its quartic are two pairs, 6e-5 apart."""
    rng = np.random.default_rng([seed, 11])
    robot = random_arm(family, rng)
    assert_all_found(robot, rng.uniform(-PI, PI, (20, 6)))


@pytest.mark.parametrize(
    "family",
    sampled(
        ["wrist, RRP", "2, 3, 4 parallel", "wrist", "wrist, 2 and 3 parallel", "wrist across, 2 and 3 parallel"], 2
    ),
)
def test_kernels_equal_the_definition(family):
    rng = np.random.default_rng(5)
    robot = random_arm(family, rng)
    q = rng.uniform(-PI, PI, (200, 6))
    found = assert_all_found(robot, q)
    s = search.solver(robot, "tip", "world", "pose")
    by_definition = search.of_arm(s.arm, robot.frame_pose(q, "tip"))
    assert np.array_equal(by_definition.ok.sum(axis=1), found.count)
    for own, count, other, ok in zip(found.q, found.count, by_definition.q, by_definition.ok, strict=True):
        there = np.zeros((ok.sum(), 6))
        there[:, list(s.arm.at)] = other[ok]
        apart = np.abs(wrapped(own[:count, None] - there, turning(robot))).max(axis=-1)
        assert apart.min(axis=0).max() < 1e-7


# ---- no special geometry ----


def counted_by_many_starts(robot, X, rng, starts):
    """The distinct solutions that Newton's method finds from many starts: a lower bound, and independent of ours."""
    q = rng.uniform(-PI, PI, (starts, 6))
    going = np.arange(starts)
    for _ in range(60):
        F, J = robot.frame_pose(q[going], "tip"), robot.jacobian(q[going], "tip")
        turn = Rotation.from_matrix(X[:3, :3] @ np.swapaxes(F[:, :3, :3], -1, -2)).as_rotvec()
        e = np.concatenate([X[:3, 3] - F[:, :3, 3], turn], axis=-1)
        damping = 1e-3 * np.minimum((e**2).sum(axis=-1), 1.0)[:, None, None] * np.eye(6)
        step = (np.swapaxes(J, -1, -2) @ np.linalg.solve(J @ np.swapaxes(J, -1, -2) + damping, e[..., None]))[..., 0]
        q[going] += step * np.minimum(1.0, 1.0 / (np.abs(step).max(axis=-1) + 1e-300))[:, None]
        going = going[np.abs(e).max(axis=-1) > 1e-12]
        if not len(going):
            break
    q = wrapped(q, turning(robot))
    good = q[np.abs(robot.frame_pose(q, "tip") - X).max(axis=(-2, -1)) < 1e-9]
    distinct = []
    for x in good:
        if all(np.abs(wrapped(x - y, turning(robot))).max() > 1e-5 for y in distinct):
            distinct.append(x)
    return np.array(distinct).reshape(-1, 6)


def assert_count_equals_many_starts(seed, starts):
    rng = np.random.default_rng([seed, 13])
    robot = mr.Mechanism.from_dh(random_rows(rng, 6))
    q = rng.uniform(-PI, PI, 6)
    found = robot.inverse_kinematics("tip", robot.frame_pose(q, "tip"))
    assert found.family == "general 6R"
    assert found.certain
    assert found.residual.max() < 1e-10
    assert distance_to_own(robot, found, q) < own_bound(robot, q)
    others = counted_by_many_starts(robot, robot.frame_pose(q, "tip"), rng, starts)
    apart = np.abs(wrapped(others[:, None] - found.q)).max(axis=-1)
    assert apart.min(axis=1).max() < 1e-5  # nothing that we have not
    return len(others), int(found.count)


def test_general_arms_against_many_starts():
    counts = [assert_count_equals_many_starts(seed, 400) for seed in range(4)]
    assert all(theirs == ours for theirs, ours in counts)


@pytest.mark.judge
@pytest.mark.parametrize("piece", range(10))
def test_five_hundred_general_arms_against_many_starts(piece):
    counts = np.array([assert_count_equals_many_starts(seed, 1000) for seed in range(50 * piece, 50 * piece + 50)])
    # rare roots may be hit by no start, never the other way
    assert np.all(counts[:, 0] <= counts[:, 1])
    assert (counts[:, 0] == counts[:, 1]).mean() > 0.98


def test_general_arms_in_batches():
    rng = np.random.default_rng(2)
    for _ in range(4):
        robot = mr.Mechanism.from_dh(random_rows(rng, 6))
        found = assert_all_found(robot, rng.uniform(-PI, PI, (25, 6)))
        assert found.certain.all()
        assert np.all(found.count % 2 == 0)


@pytest.mark.parametrize("eps", sampled([1e-4, 1e-8, 1e-2, 1e-6], 2))
def test_nearly_special_arms(eps):
    """Arms off a family by less or more than the tolerance of detection."""
    rng = np.random.default_rng(9)
    for name in ("PUMA", "UR"):
        rows = np.array(ARMS[name]) + eps * rng.uniform(-1, 1, (6, 3))
        assert_all_found(mr.Mechanism.from_dh(rows.tolist()), rng.uniform(-PI, PI, (20, 6)))


# ---- singular poses ----


def test_wrist_aligned_gives_one_representative():
    robot = arm("PUMA")
    q = np.array([0.3, 0.8, -1.2, 0.4, 0.0, 0.9])
    found = robot.inverse_kinematics("tip", robot.frame_pose(q, "tip"), q)
    assert found.reached
    assert "free" in found.note
    assert found.residual.max() < 1e-9
    assert closest_pair(robot, found) > 1e-6
    aligned = found.q[np.abs(np.sin(found.q[:, 4])) < 1e-6]
    assert np.any(np.abs(wrapped(aligned[:, 3] + aligned[:, 5] - 1.3)) < 1e-7)


def test_stretched_elbow_is_one_solution():
    robot = mr.Mechanism.from_dh([(1, 0, 0), (1, 0, 0)])
    assert robot.inverse_kinematics("tip", [2.0, 0.0, 0.0]).count == 1
    assert not robot.inverse_kinematics("tip", [2.0 + 1e-6, 0.0, 0.0]).reached
    assert robot.inverse_kinematics("tip", [2.0 - 1e-6, 0.0, 0.0]).count == 2


def test_near_singular_poses():
    robot = arm("UR")
    for small in (1e-2, 1e-4, 1e-6):
        q = np.array([0.4, -1.0, small, 0.5, 1.0, 0.3])
        found = robot.inverse_kinematics("tip", robot.frame_pose(q, "tip"), q)
        assert np.abs(found.q[0] - q).max() < 1e-8


# ---- fewer and more joints ----


def test_planar_arm_of_von_stryk():
    robot = mr.Mechanism.from_dh([(1, 0, 0), (0.8, 0, 0)])
    found = robot.inverse_kinematics("tip", [1.2, 0.5, 0.0], q0=[0.0, 1.0])
    assert np.allclose(found.q, [(-0.2677014566, 1.5395412383), (1.0572836960, -1.5395412383)], atol=1e-9)


@pytest.mark.parametrize("n", range(1, 6))
@pytest.mark.parametrize("seed", range(2))
def test_arms_of_few_joints(n, seed):
    rng = np.random.default_rng([n, seed])
    robot = mr.Mechanism.from_dh(random_rows(rng, n))
    assert_all_found(robot, rng.uniform(-PI, PI, (10, n)))


@pytest.mark.usefixtures("definition")
@pytest.mark.parametrize(
    "kinds",
    ["PRRRP", "PRRPR", "PRPRR", "PPRRR", "RPRPR", "RRRPP", "PRRR", "PRRP", "PRPR", "RRPR", "PPPR", "PRP", "RPP", "PP"],
)
def test_arms_of_few_joints_with_slides(kinds):
    rng = np.random.default_rng(3)
    robot = robot_of([Line(rng, kind == "R") for kind in kinds], rng)
    assert_all_found(robot, rng.uniform(-1, 1, (10, len(kinds))))


FIVE_AND_ONE = ["PRRRRR", "RPRRRR", "RRPRRR", "RRRPRR", "RRRRPR", "RRRRRP", "RRRRP", "RPRRR"]
FOUR_AND_TWO = [
    *("PRRRRP", "PPRRRR", "RPRRRP", "RPPRRR", "PRPRRR", "RRRPRP"),
    *("RRRPPR", "RRRRPP", "PRRRPR", "RRPRPR", "RPRPRR"),
]


@pytest.mark.parametrize("kinds", sampled([*FIVE_AND_ONE, *FOUR_AND_TWO], (0, 3, 6, 8, 12, 17)))
def test_turns_and_slides_of_no_family(kinds):
    """All solutions, from eigenvalues."""
    for seed in range(2):
        rng = np.random.default_rng([seed, 31])
        robot = robot_of([Line(rng, kind == "R") for kind in kinds], rng)
        found = assert_all_found(robot, rng.uniform(-2, 2, (5, len(kinds))))
        assert found.family in ("general 5R1P", "general 4R2P")
        assert found.certain.all()


@pytest.mark.parametrize("kinds", sampled([*FIVE_AND_ONE[:6], *FOUR_AND_TWO], (2, 6)))
def test_turns_and_slides_against_many_starts(kinds):
    rng = np.random.default_rng([6, 37])
    robot = robot_of([Line(rng, kind == "R") for kind in kinds], rng)
    X = robot.frame_pose(rng.uniform(-2, 2, 6), "tip")
    found, others = robot.inverse_kinematics("tip", X), counted_by_many_starts(robot, X, rng, 300)
    apart = np.abs(wrapped(others[:, None] - found.q, turning(robot))).max(axis=-1)
    assert apart.min(axis=1).max() < 1e-5  # nothing that we have not
    assert len(others) == found.count


@pytest.mark.parametrize("kinds", ["RRPPRR", "PRRPRR"])
def test_arms_with_slides_of_no_family_are_told_apart(kinds):
    """Iteration finds one configuration, and says that there may be others."""
    rng = np.random.default_rng(4)
    robot = robot_of([Line(rng, kind == "R") for kind in kinds], rng)
    X = robot.frame_pose(rng.uniform(-1, 1, (10, len(kinds))), "tip")
    found = robot.inverse_kinematics("tip", X)
    assert found.reached.all()
    assert (found.exact, found.family, found.certain.any()) == (False, "numeric", False)
    assert pose_error(robot, "tip", found, X) < 1e-9


def test_scara_and_point_and_direction():
    rng = np.random.default_rng(4)
    scara = mr.Mechanism.from_dh([(0.3, 0, 0.1), (0.2, PI, 0), (0, 0, 0), (0, 0, 0.05, 0, "prismatic")])
    assert np.all(assert_all_found(scara, rng.uniform(-1, 1, (10, 4))).count == 2)
    five = mr.Mechanism.from_dh(random_rows(rng, 5))
    q = rng.uniform(-PI, PI, (10, 5))
    X = five.frame_pose(q, "tip")
    turned = X @ se3.pose(so3.about(np.eye(3)[2], np.array(1.0)))
    found = five.inverse_kinematics("tip", turned, free="z")
    assert np.all(distance_to_own(five, found, q) < 1e-8)
    assert np.nanmax(found.residual) < 1e-10


def test_point_of_a_leg():
    rng = np.random.default_rng(8)
    robot = mr.Mechanism.from_dh(random_rows(rng, 3))
    q = rng.uniform(-PI, PI, (20, 3))
    points = robot.frame_pose(q, "tip")[..., :3, 3]
    found = robot.inverse_kinematics("tip", points)
    assert np.all(distance_to_own(robot, found, q) < 1e-8)
    there = robot.frame_pose(np.nan_to_num(found.q), "tip")[..., :3, 3]
    assert np.abs(there - points[:, None])[~np.isnan(found.q[..., 0])].max() < 1e-10
    assert np.all(np.isin(found.count, (2, 4)))


@pytest.mark.usefixtures("definition")
@pytest.mark.parametrize("rows", [PANDA, IIWA], ids=["Panda", "SRS"])
def test_seven_joints_at_the_parameter_of_the_start(rows):
    rng = np.random.default_rng(6)
    robot = mr.Mechanism.from_dh(rows)
    q = rng.uniform(-2, 2, (8, 7))
    X = robot.frame_pose(q, "tip")
    found = robot.inverse_kinematics("tip", X, q)
    assert np.all(distance_to_own(robot, found, q) < OWN)
    assert np.all(np.isin(found.count, (2, 4, 6, 8)))
    assert pose_error(robot, "tip", found, X) < 1e-11


def test_seven_joints_at_a_parameter():
    panda = mr.Mechanism.from_dh(PANDA)
    X = panda.frame_pose([0.1, -0.5, 0.2, -2.0, 0.3, 1.5, 0.7], "tip")
    found = panda.inverse_kinematics("tip", X, parameter=0.7)
    assert np.all(found.q[:, 6] == 0.7)
    assert "joint 7 of 7 held at 0.7" in found.family
    iiwa = mr.Mechanism.from_dh(IIWA)
    X = iiwa.frame_pose([0.1, -0.5, 0.2, -2.0, 0.3, 1.5, 0.7], "tip")
    for angle in (-1.0, 0.4):
        found = iiwa.inverse_kinematics("tip", X, parameter=angle)
        assert found.count == 8
        assert f"arm angle {angle:g}" in found.family
        # the elbow stands at that angle about the line from shoulder to wrist, from where the first axis points
        for q in found.q:
            poses = iiwa.forward_kinematics(q)
            shoulder, elbow, wrist = (poses[f][:3, 3] for f in ("link2", "link4", "link6"))
            n = (wrist - shoulder) / np.linalg.norm(wrist - shoulder)
            e, z = elbow - shoulder, np.array([0.0, 0.0, 1.0])
            measured = np.arctan2(n @ np.cross(z, e), z @ e - (n @ z) * (n @ e))
            assert abs(measured - angle) < 1e-9


def test_a_parameter_between_those_that_are_tried():
    """A pose of a Panda within its limits, near to one, where few values of its last joint lead to solutions."""
    panda = mr.Mechanism.from_urdf(shared_urdf("panda_description/urdf/panda.urdf"))
    q = np.array([0.5807, -1.242, -0.7772, -0.493, -0.1838, 1.2524, -0.9216, 0.033])
    X = panda.frame_pose(q, "panda_hand")
    found = panda.inverse_kinematics("panda_hand", X)
    assert found.reached
    assert found.exact
    assert found.residual.max() < 1e-9
    assert np.all((found.q >= panda.limits.lower[:8] - 1e-9) & (found.q <= panda.limits.upper[:8] + 1e-9))


def test_other_seven_joints_hold_one():
    rng = np.random.default_rng(1)
    robot = mr.Mechanism.from_dh(random_rows(rng, 7))
    q = rng.uniform(-PI, PI, (2, 7))
    found = robot.inverse_kinematics("tip", robot.frame_pose(q, "tip"), q)
    assert np.all(distance_to_own(robot, found, q) < OWN)


# ---- robots of files and modules ----


def shared_urdf(name):
    return next(str(f.locate()) for f in files("example-robot-data") or [] if str(f).endswith(name))


def test_ur5_of_a_file_within_limits():
    robot = mr.Mechanism.from_urdf(shared_urdf("ur5_robot.urdf"))
    rng = np.random.default_rng(0)
    q = np.stack([robot.random_configuration(rng) for _ in range(50)])
    X = robot.frame_pose(q, "tool0")
    found = robot.inverse_kinematics("tool0", X, q)
    assert found.exact
    assert np.abs(found.q[:, 0] - q).max() < 1e-7  # also those beyond half a turn, being near to the start
    assert pose_error(robot, "tool0", found, X) < 1e-10


def test_between_two_frames_of_a_robot():
    robot = arm("GEN")
    q = np.array([0.3, -0.6, 0.9, 0.4, 0.2, -0.5])
    poses = robot.forward_kinematics(q)
    X = se3.inverse(poses["tip"]) @ poses["base"]
    found = robot.inverse_kinematics("base", X, q, base="tip")
    assert np.abs(found.q[0] - q).max() < OWN
    leg = se3.inverse(poses["link1"]) @ poses["link4"]
    found = robot.inverse_kinematics("link4", leg, q, base="link1")
    assert np.abs(found.q[0] - q).max() < OWN
    assert found.residual.max() < POSE


def test_docked_modules():
    robot = mr.load("crab").mechanism(base="m0")
    q = np.array([0.3, -0.2, 0.5])
    found = robot.inverse_kinematics("m3", robot.frame_pose(q, "m3"), q)
    assert found.exact
    assert np.abs(found.q[0] - q).max() < OWN


def test_reversed_and_compound_joints():
    b = mr.Builder("compound")
    b.body("a", None, joint=mr.Cylindrical((0, 0.6, 0.8)))
    b.body("b", None, parent="a", joint=mr.Revolute((1, 0, 0)), at=se3.pose(None, (0.2, 0.1, 0.0)))
    turned = mr.Universal((0, 1, 0), (0, 0, 1)).reversed()
    b.body("c", None, parent="b", joint=turned, at=se3.pose(None, (0, 0.1, 0.3)))
    b.body("d", None, parent="c", joint=mr.Revolute((0.6, 0.8, 0)))
    robot = b.build()
    q = np.random.default_rng(0).uniform(-1, 1, (10, 6))
    X = robot.frame_pose(q, "d")
    found = robot.inverse_kinematics("d", X, q)
    assert found.exact
    assert np.abs(found.q[:, 0] - q).max() < 1e-8
    assert pose_error(robot, "d", found, X) < 1e-11


def test_other_robots_by_iteration():
    rng = np.random.default_rng(0)
    robot = mr.Mechanism.from_dh(random_rows(rng, 9))
    q = rng.uniform(-1, 1, 9)
    found = robot.inverse_kinematics("tip", robot.frame_pose(q, "tip"))
    assert not found.exact
    assert found.reached
    point = robot.frame_pose(q, "tip")[:3, 3]
    assert robot.inverse_kinematics("tip", point).reached
    along = robot.inverse_kinematics("tip", robot.frame_pose(q, "tip"), free="x")
    assert along.reached
    assert np.allclose(robot.frame_pose(along.q[0], "tip")[:3, 0], robot.frame_pose(q, "tip")[:3, 0], atol=1e-8)


# ---- the arm of Sepp et al. ----

LWA4P = [(0, -HALF, 0.205), (0.35, 0, 0, -HALF), (0, HALF, 0, HALF), (0, -HALF, 0.305), (0, HALF, 0), (0, 0, 0)]
LIMITED = mr.JointProperties(lower=-170 * DEGREE, upper=170 * DEGREE)


def test_published_solutions_of_lwa4p():
    robot = mr.Mechanism.from_dh(LWA4P, properties=LIMITED)
    found = robot.inverse_kinematics("tip", robot.frame_pose((-PI / 4, PI / 2, -PI / 4, PI / 8, PI / 6, PI / 2), "tip"))
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
    flipped = [wrapped(np.array([a + PI, -b, c + PI])) for a, b, c in wrists]
    expected = np.array([(*a, *w) for a, w in zip(arms * 2, [*wrists, *flipped], strict=True)])
    assert found.count == 8
    apart = np.abs(wrapped(found.q[:, None] - expected)).max(axis=-1)
    assert apart.min(axis=0).max() < 5e-5  # four printed digits
    assert found.residual.max() < POSE


def test_twenty_thousand_poses_of_lwa4p():
    robot = mr.Mechanism.from_dh(LWA4P, properties=LIMITED)
    q = np.random.default_rng(0).uniform(-170 * DEGREE, 170 * DEGREE, (20_000, 6))
    found = robot.inverse_kinematics("tip", robot.frame_pose(q, "tip"))
    assert np.all(distance_to_own(robot, found, q) < 1e-6)
    assert abs(found.count.mean() - 6.87) < 0.05


def test_goal_out_of_reach_of_lwa4p():
    robot = mr.Mechanism.from_dh(LWA4P, properties=LIMITED)
    X = se3.pose(Rotation.from_euler("ZYX", (0.9, 0.6, 0.3)).as_matrix(), (0.9, 0.6, 0.3))
    found = robot.inverse_kinematics("tip", X)
    assert not found.reached
    assert found.note == "out of reach"
    assert abs(found.residual[0] - 0.43083) < 1e-4  # stretched towards it, the orientation as asked for


# ---- limits, order, shapes ----


def test_only_outside_limits():
    robot = mr.Mechanism.from_dh(ARMS["PUMA"], properties=mr.JointProperties(lower=-0.1, upper=0.1))
    q = [0.3, 0.8, -1.2, 0.4, 0.7, 0.9]
    X = robot.frame_pose(q, "tip")
    found = robot.inverse_kinematics("tip", X)
    assert not found.reached
    assert found.note == "only outside limits"
    assert robot.inverse_kinematics("tip", X, limits=False).count == 8


@pytest.mark.parametrize("name", ["PUMA", "GEN"])
def test_the_nearest_is_within_limits(name):
    """Whether the goal is out of reach or reached outside limits alone, and no random configuration within them is nearer."""
    robot = mr.Mechanism.from_dh(ARMS[name], properties=mr.JointProperties(lower=-0.3, upper=0.2))
    rng = np.random.default_rng(0)
    X = robot.frame_pose(rng.uniform(-2, 2, (4, 6)), "tip").copy()
    X[2:, :3, 3] += 3.0
    found = robot.inverse_kinematics("tip", X)
    assert not found.reached.any()
    assert found.note == "2 of 4 goals only outside limits; 2 of 4 goals out of reach"
    assert np.all((found.q[:, 0] >= -0.3 - 1e-9) & (found.q[:, 0] <= 0.2 + 1e-9))

    def far(q):
        F = robot.frame_pose(q, "tip")
        D = X[:, :3, :3] @ np.swapaxes(F[..., :3, :3], -1, -2)
        turn = Rotation.from_matrix(D.reshape(-1, 3, 3)).magnitude().reshape(D.shape[:-2])
        return np.hypot(np.linalg.norm(X[:, :3, 3] - F[..., :3, 3], axis=-1), turn)

    assert np.all(far(found.q[:, 0]) < far(rng.uniform(-0.3, 0.2, (200, 1, 6))).min(axis=0))
    free = robot.inverse_kinematics("tip", X, limits=False)
    assert free.reached.tolist() == [True, True, False, False]
    assert np.abs(free.q[2:, 0]).max() > 0.3


def test_order_by_collisions():
    arm = mr.load("lwa4p").robot()
    model, rng = arm.collision_model(), np.random.default_rng(1)
    X = arm.frame_pose(rng.uniform(-2.9, 2.9, (80, 6)), "wrist/out")
    found = arm.inverse_kinematics("wrist/out", X, order="collisions")
    plain = arm.inverse_kinematics("wrist/out", X)
    better = 0
    for own, other, count in zip(found.q, plain.q, found.count, strict=True):
        clearance = model.distance(own[:count])
        assert np.all(np.diff(clearance) <= 1e-12)
        assert np.abs(np.sort(clearance) - np.sort(model.distance(other[:count]))).max() < 1e-9
        better += bool(clearance[0] > 0 and not model.clear(other[0]))
    assert better > 0  # poses without collisions for a solution that did not come first


def test_orders():
    robot = mr.Mechanism.from_dh(ARMS["GEN"], properties=mr.JointProperties(lower=-3.2, upper=3.2))
    rng = np.random.default_rng(0)
    q = rng.uniform(-3, 3, (20, 6))
    X = robot.frame_pose(q, "tip")
    near = robot.inverse_kinematics("tip", X, q)
    assert np.abs(near.q[:, 0] - q).max() < 1e-8
    distance = ((near.q - q[:, None]) ** 2).sum(axis=-1)
    assert np.all(np.diff(np.nan_to_num(distance, nan=1e9)) >= -1e-9)
    nimble = robot.inverse_kinematics("tip", X, order="manipulability")
    for row, count in zip(nimble.q, nimble.count, strict=True):
        J = robot.jacobian(row[:count], "tip")
        volume = np.abs(np.linalg.det(J))
        assert np.all(np.diff(volume) <= 1e-9)
    middle = robot.inverse_kinematics("tip", X, order="limits")
    worst = np.abs(middle.q).max(axis=-1)
    assert np.all(np.diff(np.nan_to_num(worst, nan=1e9)) >= -1e-12)


def test_shapes_and_batches():
    robot = arm("UR")
    q = np.random.default_rng(0).uniform(-PI, PI, (2, 3, 6))
    X = robot.frame_pose(q, "tip")
    found = robot.inverse_kinematics("tip", X, np.zeros(6))
    assert found.q.shape == (2, 3, found.count.max(), 6)
    assert found.count.shape == found.reached.shape == found.certain.shape == (2, 3)
    assert found.residual.shape == found.q.shape[:-1]
    one = robot.inverse_kinematics("tip", X[1, 2], np.zeros(6))
    assert np.abs(one.q - found.q[1, 2, : one.count]).max() < 1e-12
    none = robot.inverse_kinematics("tip", np.zeros((0, 4, 4)))
    assert none.q.shape == (0, 1, 6)
    again = pickle.loads(pickle.dumps(one))
    assert np.array_equal(again.q, one.q)
    assert np.array_equal(again.residual, one.residual)
    assert len(one) == one.count
    assert "6R" not in repr(one)
    assert repr(found).startswith("InverseKinematics(goals (2, 3)")


def test_other_coordinates_stay():
    b = mr.Builder("two arms")
    b.body("left", None, joint=mr.Revolute((0, 0, 1)))
    b.body("right", None, joint=mr.Revolute((0, 0, 1)))
    b.body("hand", None, parent="right", joint=mr.Prismatic((1, 0, 0)))
    robot = b.build()
    q = np.array([0.4, 0.7, 0.3])
    found = robot.inverse_kinematics("hand", robot.frame_pose(q, "hand"), [0.9, 0.5, 0.0])
    assert np.allclose(found.q[0], [0.9, 0.7, 0.3])


# ---- what is refused ----

EYE = np.eye(4)


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (("nowhere", EYE), {}, "no frame 'nowhere'"),
        (("", EYE), {}, "no frame '' in PUMA: valid: world, .*tip"),
        (("tip", EYE), {"base": "nowhere"}, "no frame 'nowhere'"),
        (("tip", np.eye(3)), {}, "a rotation alone"),
        (("tip", np.ones((3, 5))), {"free": "z"}, "has shape"),
        (("tip", np.ones((4, 4))), {}, "no pose"),
        (("tip", 2 * EYE), {}, "no pose"),
        (("tip", "there"), {}, "expected numbers"),
        (("tip", [[1.0], [1.0, 2.0]]), {}, "expected numbers"),
        (("tip", np.full((4, 4), np.nan)), {}, "expected finite numbers"),
        (("tip", EYE, np.zeros(5)), {}, "q0 has shape"),
        (("tip", EYE, np.full(6, np.inf)), {}, "expected finite numbers"),
        (("tip", EYE), {"free": "w"}, "expected the axis"),
        (("tip", EYE), {"order": "best"}, "no order of solutions 'best'"),
        (("tip", EYE), {"parameter": 0.3}, "has none"),
    ],
)
def test_bad_input(arguments, options, words):
    with pytest.raises(InputError, match=words):
        arm("PUMA").inverse_kinematics(*arguments, **options)


def test_bad_parameter_and_moving_base():
    with pytest.raises(InputError, match="one finite number"):
        mr.Mechanism.from_dh(PANDA).inverse_kinematics("tip", EYE, parameter="much")
    nine = mr.Mechanism.from_dh(random_rows(np.random.default_rng(0), 9))
    with pytest.raises(InputError, match="fixed in the world"):
        nine.inverse_kinematics("tip", EYE, base="link1")
    with pytest.raises(InputError, match="only a chain of seven"):
        nine.inverse_kinematics("tip", EYE, parameter=0.1)
