"""The worked examples of Foundations of Robotics, by their numbers in the extract of the script."""

from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest

import modurob as mr
from modurob.algorithms import closed_form_gravity_forces, closed_form_mass_matrix, forward_dynamics
from modurob.errors import InputError
from modurob.motion.planar_arm import algebraic_joint_angles, geometric_joint_angles
from modurob.spatial import angles, inertia, quaternion, se3, so3

# half of the last of the ten decimals that are given
DIGITS = 0.51e-10
# numbers of order ten after a few dozen roundings
CLOSE = 1e-12
STEP = 1e-30
E3 = np.eye(3)

both_methods = pytest.mark.parametrize("joint_angles", [algebraic_joint_angles, geometric_joint_angles])


class Link(NamedTuple):
    """A row of a Denavit-Hartenberg table with the link it ends on; the joint variable is added to theta or d."""

    row: tuple[float, float, float, float]
    prismatic: bool = False
    mass: float = 0.0
    centre: tuple[float, ...] = (0.0, 0.0, 0.0)
    tensor: np.ndarray = np.zeros((3, 3))


def arm(*links: Link, gravity: tuple[float, ...] = (0.0, 0.0, -9.81)) -> mr.Mechanism:
    """Frames S1, S2, ... at the far ends of the links; joint i turns about or slides along z of the frame before."""
    builder = mr.Builder("arm", gravity=gravity)
    for i, link in enumerate(links, start=1):
        builder.body(
            f"S{i}",
            inertia.spatial_inertia(link.mass, link.centre, link.tensor),
            parent=f"S{i - 1}" if i > 1 else "world",
            joint=mr.Prismatic((0, 0, 1)) if link.prismatic else mr.Revolute((0, 0, 1)),
            seat=se3.denavit_hartenberg(*(np.array(x) for x in link.row)),
        )
    return builder.build()


def digits(*printed) -> object:
    """What agrees with the printed numbers to their last digit."""
    return pytest.approx(np.array(printed, dtype=float), abs=DIGITS)


L1, L2 = 1.0, 0.8
Q, QD, QDD = np.array([0.3, -0.7]), np.array([0.5, -1.2]), np.array([1.1, 0.4])
DOWN = (0.0, -9.81, 0.0)
SCARA_LINKS = (
    Link((0, 0, L1, 0), mass=2.0, centre=(-0.45, 0.02, 0.01), tensor=np.diag([0.01, 0.2, 0.21])),
    Link((0, 0, L2, 0), mass=1.5, centre=(-0.35, -0.03, 0.02), tensor=np.diag([0.01, 0.1, 0.11])),
)
SCARA = arm(*SCARA_LINKS, gravity=DOWN)

RPR_LINKS = (
    Link((0, 0.4, 0.1, np.pi / 2), mass=5.0, centre=(-0.05, -0.10, 0.02), tensor=np.diag([0.05, 0.04, 0.03])),
    Link(
        (0.3, 0.2, 0.05, -np.pi / 2),
        prismatic=True,
        mass=3.0,
        centre=(0.01, 0.03, -0.08),
        tensor=np.array([[0.03, 0.002, -0.001], [0.002, 0.02, 0.003], [-0.001, 0.003, 0.025]]),
    ),
    Link((0, 0.1, 0.25, 0.3), mass=2.0, centre=(-0.12, 0.02, 0.01), tensor=np.diag([0.004, 0.012, 0.015])),
)
RPR, RPR_WEIGHTLESS = arm(*RPR_LINKS), arm(*RPR_LINKS, gravity=(0, 0, 0))
RPR_Q, RPR_QD, RPR_QDD = np.array([0.5, 0.15, -0.8]), np.array([0.7, -0.4, 1.1]), np.array([0.3, 0.6, -0.9])
RPR_M = (
    (0.9611409867, -0.9653663569, 0.1247471559),
    (-0.9653663569, 5.0, -0.2043165380),
    (0.1247471559, -0.2043165380, 0.0490597471),
)
RPR_C, RPR_G = (-1.1666009834, -1.3335014373, -0.0606144025), (0.0, 0.0, 0.4754645245)
RPR_TAU = (-1.5697509418, 1.5607735398, 0.2855305736)


def test_x2_turns_about_fixed_axes_multiply_from_the_left():
    first, second = so3.about(E3[1], -np.pi / 2), so3.about(E3[2], np.pi)
    assert first == digits([0, 0, -1], [0, 1, 0], [1, 0, 0])
    assert second == digits([-1, 0, 0], [0, -1, 0], [0, 0, 1])
    R = np.array([[0, 0, 1.0], [0, -1, 0], [1, 0, 0]])
    assert second @ first == digits(*R)
    assert angles.fixed("yzx", np.array([-np.pi / 2, np.pi, 0])) == digits(*R)
    assert first @ second == digits([0, 0, -1], [0, -1, 0], [-1, 0, 0])


def test_x2_is_a_half_turn_and_a_gimbal_lock():
    R = np.array([[0, 0, 1.0], [0, -1, 0], [1, 0, 0]])
    axis, angle = so3.axis_angle(R)
    assert angle == pytest.approx(np.pi, abs=CLOSE)
    assert np.sign(axis[0]) * axis == pytest.approx(np.array([1, 0, 1]) / np.sqrt(2), abs=CLOSE)
    assert quaternion.to_matrix(quaternion.from_matrix(R)) == pytest.approx(R, abs=CLOSE)
    (psi, theta, phi), _, singular = angles.fixed_angles("xyz", R)
    assert singular
    assert phi == 0
    assert theta == pytest.approx(-np.pi / 2, abs=CLOSE)
    assert abs(phi + psi) == pytest.approx(np.pi, abs=CLOSE)


def test_x3_rotation_from_roll_pitch_yaw():
    R = angles.fixed("xyz", np.array([1.1, -0.3, 0.5]))
    assert (
        digits(
            [0.8383866436, -0.4485942939, 0.3096304173],
            [0.4580127108, 0.2718018461, -0.8463735069],
            [0.2955202067, 0.8514029104, 0.4333369261],
        )
        == R
    )
    assert quaternion.from_matrix(R) == digits(0.7974216914, 0.5322705777, 0.0044236979, 0.2842307322)
    axis, angle = so3.axis_angle(R)
    assert angle == pytest.approx(1.2955721246, abs=DIGITS)
    assert axis == digits(0.8820861452, 0.0073310132, 0.4710310910)
    assert angles.fixed_angles("xyz", R).first == pytest.approx(np.array([1.1, -0.3, 0.5]), abs=CLOSE)


def test_x4_inverse_pose_is_not_the_transpose(rng: np.random.Generator):
    X = se3.random(rng)
    assert X @ se3.inverse(X) == pytest.approx(np.eye(4), abs=CLOSE)
    assert np.abs(se3.inverse(X) - X.T).max() > 0.1


class Counted:
    """A number that counts what is done with it."""

    def __init__(self, value: float, count: Counter):
        self.value, self.count = value, count

    def __mul__(self, other: "Counted") -> "Counted":
        self.count["multiplications"] += 1
        return Counted(self.value * other.value, self.count)

    def __add__(self, other: "Counted") -> "Counted":
        self.count["additions"] += 1
        return Counted(self.value + other.value, self.count)


def counted(x: np.ndarray, count: Counter) -> np.ndarray:
    return np.array([Counted(value, count) for value in x.ravel()], dtype=object).reshape(x.shape)


@pytest.mark.parametrize("n", [1, 2, 6])
def test_x5_chains_cost_a_third_from_right_to_left(rng: np.random.Generator, n: int):
    rotations, p = so3.random(rng, (n + 1,)), rng.normal(size=3)

    def counts(leftmost_first: bool) -> tuple[int, int, np.ndarray]:
        count = Counter()
        factors = [*(counted(R, count) for R in rotations), counted(p, count)]
        while len(factors) > 1:
            i = 0 if leftmost_first else len(factors) - 2
            factors[i : i + 2] = [factors[i] @ factors[i + 1]]
        return count["multiplications"], count["additions"], np.array([x.value for x in factors[0]])

    left, right = counts(True), counts(False)
    assert left[:2] == (27 * n + 9, 18 * n + 6)
    assert right[:2] == (9 * n + 9, 6 * n + 6)
    assert left[2] == pytest.approx(right[2], abs=CLOSE)


def test_x5_products_of_three_by_three():
    count = Counter()
    A = counted(np.eye(3), count)
    _ = A @ A
    assert (count["multiplications"], count["additions"]) == (27, 18)
    _ = A @ counted(np.ones(3), count)
    assert (count["multiplications"], count["additions"]) == (27 + 9, 18 + 6)


def test_x6_planar_arm():
    (c1, c12), (s1, s12) = np.cos(np.cumsum(Q)), np.sin(np.cumsum(Q))
    X = SCARA.frame_pose(Q, "S2")
    x, y = L1 * c1 + L2 * c12, L1 * s1 + L2 * s12
    printed = np.array([[c12, -s12, 0, x], [s12, c12, 0, y], [0, 0, 1, 0], [0, 0, 0, 1]])
    assert pytest.approx(printed, abs=CLOSE) == X
    assert se3.position(X) == digits(1.6921852843, -0.0160144672, 0)


def test_x7_prismatic_revolute_arm():
    l1, l2, (q1, q2) = 0.5, 0.3, (0.2, np.pi / 6)
    robot = arm(Link((np.pi / 2, l1, 0, np.pi / 2), prismatic=True), Link((np.pi / 2, 0, l2, 0)))
    poses = robot.forward_kinematics(np.array([q1, q2]))
    assert poses["S1"] == pytest.approx(
        np.array([[0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, l1 + q1], [0, 0, 0, 1]]), abs=CLOSE
    )
    c, s = np.cos(np.pi / 2 + q2), np.sin(np.pi / 2 + q2)
    printed = np.array([[0, 0, 1, 0], [c, -s, 0, l2 * c], [s, c, 0, l2 * s + l1 + q1], [0, 0, 0, 1]])
    assert poses["S2"] == pytest.approx(printed, abs=CLOSE)
    assert se3.position(poses["S2"]) == digits(0, -0.15, 0.9598076211)
    assert se3.position(robot.frame_pose(np.zeros(2), "S2")) == pytest.approx(np.array([0, 0, l1 + l2]), abs=CLOSE)


def reached(l1: float, l2: float, q: np.ndarray) -> np.ndarray:
    """Where the ends of the arm are, by the general forward kinematics."""
    return se3.position(arm(Link((0, 0, l1, 0)), Link((0, 0, l2, 0))).frame_pose(q, "S2"))[..., :2]


@both_methods
@pytest.mark.parametrize(("l1", "l2"), [(1.0, 0.8), (0.8, 1.0), (1.0, 0.7), (1.0, 1.0)])
@pytest.mark.parametrize("direction", [0.0, 0.7, np.pi / 2, np.pi, -2.0, -np.pi / 2])
def test_x8_number_of_solutions(joint_angles, l1: float, l2: float, direction: float):
    towards = np.array([np.cos(direction), np.sin(direction)])
    inner, outer = abs(l1 - l2), l1 + l2
    expected = {outer + 0.1: 0, outer + 1e-9: 0, outer: 1, outer - 1e-9: 2, (inner + outer) / 2: 2, inner + 1e-9: 2}
    if inner:
        expected |= {inner: 1, inner - 1e-9: 0, inner / 2: 0, 0.0: 0}
    for r, count in expected.items():
        q = joint_angles(l1, l2, r * towards)
        assert q.shape == (count, 2), r
        assert np.all((q > -np.pi) & (q <= np.pi))
        assert reached(l1, l2, q) == pytest.approx(np.tile(r * towards, (count, 1)), abs=4e-12)
        if count == 2:
            assert q[0, 1] > 0 > q[1, 1]
        if count == 1:
            assert q[0, 1] == (0.0 if r == outer else np.pi)


@both_methods
def test_x8_infinitely_many_solutions_are_refused(joint_angles):
    with pytest.raises(InputError, match="infinitely many solutions"):
        joint_angles(0.7, 0.7, (0, 0))


@both_methods
@pytest.mark.parametrize("lengths", [(0.0, 1.0), (1.0, -1.0), (np.nan, 1.0), (1.0, np.inf)])
def test_x8_bad_lengths_are_refused(joint_angles, lengths: tuple[float, float]):
    with pytest.raises(InputError, match="expected positive finite numbers"):
        joint_angles(*lengths, (1, 1))


@both_methods
@pytest.mark.parametrize("target", [(1, 2, 3), 1.0, (np.nan, 0), ((1, 1), (1, 1))])
def test_x8_bad_targets_are_refused(joint_angles, target):
    with pytest.raises(InputError, match="expected two finite numbers"):
        joint_angles(1.0, 1.0, target)


@both_methods
@pytest.mark.parametrize(
    ("l1", "l2", "target", "down", "up"),
    [
        (1, 1, (1, 1), (0, np.pi / 2), (np.pi / 2, -np.pi / 2)),
        (2, 1, (2, 1), (0, np.pi / 2), (0.9272952180, -np.pi / 2)),
        (1, 0.8, (1.2, 0.5), (-0.2677014566, 1.5395412383), (1.0572836960, -1.5395412383)),
    ],
)
def test_x9_inverse_kinematics_of_the_planar_arm(joint_angles, l1, l2, target, down, up):
    q = joint_angles(l1, l2, target)
    assert q == digits(down, up)
    assert reached(l1, l2, q) == pytest.approx(np.tile(np.array(target, dtype=float), (2, 1)), abs=CLOSE)


@pytest.mark.parametrize(
    ("l1", "l2", "target", "a", "b"),
    [(2, 1, (2, 1), 2.6180339887, 0.3819660113), (1, 0.8, (1.2, 0.5), 1.55, 0.2579384773)],
)
def test_x9_the_triangle_and_its_inner_circle(l1: float, l2: float, target, a: float, b: float):
    q1, q2 = geometric_joint_angles(l1, l2, target)[0]
    phi = np.arctan2(target[1], target[0])
    alpha, beta = q1 + q2 - phi, phi - q1
    assert (a - l1) * np.tan(alpha / 2) == pytest.approx(b, abs=2 * DIGITS)
    assert (a - l2) * np.tan(beta / 2) == pytest.approx(b, abs=2 * DIGITS)
    if l1 == 2:
        assert (alpha, beta) == (pytest.approx(1.1071487178, abs=DIGITS), pytest.approx(0.4636476090, abs=DIGITS))


def test_x9_both_methods_agree(rng: np.random.Generator):
    for (l1, l2), target in zip(rng.uniform(0.2, 1, size=(200, 2)), rng.uniform(-1, 1, size=(200, 2)), strict=True):
        one, other = algebraic_joint_angles(l1, l2, target), geometric_joint_angles(l1, l2, target)
        # near the boundary an angle is only as good as the square root of the last digit
        assert one == pytest.approx(other, abs=1e-7)
        assert reached(l1, l2, one) == pytest.approx(np.tile(target, (len(one), 1)), abs=CLOSE)


@pytest.mark.parametrize("axis", range(3))
def test_x11_angular_velocity_of_elementary_rotations(axis: int):
    theta, rate = 0.7, 1.3
    R = so3.about(E3[axis], theta)
    Rdot = np.imag(so3.about(E3[axis], np.array(theta + 1j * STEP * rate))) / STEP
    assert Rdot @ R.T == pytest.approx(so3.skew(rate * E3[axis]), abs=CLOSE)
    if axis == 0:
        assert Rdot @ R.T == pytest.approx(rate * np.array([[0, 0, 0], [0, 0, -1], [0, 1, 0]]), abs=CLOSE)


def test_x12_jacobian_of_the_planar_arm():
    (c1, c12), (s1, s12) = np.cos(np.cumsum(Q)), np.sin(np.cumsum(Q))
    J = SCARA.jacobian(Q, "S2")
    linear = [[-L1 * s1 - L2 * s12, -L2 * s12], [L1 * c1 + L2 * c12, L2 * c12], [0, 0]]
    assert pytest.approx(np.array([*linear, [0, 0], [0, 0], [1, 1]]), abs=CLOSE) == J
    assert J[:2] == digits([0.0160144672, 0.3115346738], [1.6921852843, 0.7368487952])
    assert J[3:] @ QD == pytest.approx(np.array([0, 0, QD.sum()]), abs=CLOSE)


def test_x13_inverse_jacobian_of_the_planar_arm():
    (c1, c12), (s1, s12), s2 = np.cos(np.cumsum(Q)), np.sin(np.cumsum(Q)), np.sin(Q[1])
    J = SCARA.jacobian(Q, "S2")[:2]
    assert np.linalg.det(J) == pytest.approx(L1 * L2 * s2, abs=CLOSE)
    assert np.linalg.det(J) == pytest.approx(-0.5153741498, abs=DIGITS)
    printed = np.array([[L2 * c12, L2 * s12], [-L1 * c1 - L2 * c12, -L1 * s1 - L2 * s12]]) / (L1 * L2 * s2)
    assert np.linalg.inv(J) == pytest.approx(printed, abs=CLOSE)
    assert np.linalg.solve(J, [1, 0]) == digits(-1.4297356503, 3.2834112557)
    assert np.linalg.svd(J, compute_uv=False) == digits(1.8510064033, 0.2784291556)
    assert np.sqrt(np.linalg.det(J @ J.T)) == pytest.approx(0.5153741498, abs=DIGITS)


@pytest.mark.parametrize("rows", [(0, 1), (0, 5), (1, 5)])
def test_x13_two_of_three_velocities_can_be_asked_for(rows: tuple[int, int]):
    J = SCARA.jacobian(Q, "S2")[list(rows)]
    rates = np.linalg.solve(J, [0.4, -0.2])
    assert SCARA.jacobian(Q, "S2")[list(rows)] @ rates == pytest.approx(np.array([0.4, -0.2]), abs=CLOSE)


@pytest.mark.parametrize("bend", [-1e-2, -1e-4, -1e-6])
def test_x13_rates_grow_without_bound_towards_the_stretched_arm(bend: float):
    q = np.array([0.3, bend])
    rates = np.linalg.solve(SCARA.jacobian(q, "S2")[:2], [1, 0])
    c1, c12, s2 = np.cos(0.3), np.cos(0.3 + bend), np.sin(bend)
    # as badly conditioned as the arm is near stretched
    expected = np.array([c12 / (L1 * s2), (-L1 * c1 - L2 * c12) / (L1 * L2 * s2)])
    assert rates == pytest.approx(expected, rel=1e-15 / abs(bend) + 1e-13, abs=0)
    assert np.abs(rates).min() > 0.9 / abs(bend)


def test_x20_box_with_its_frame_at_a_corner():
    m, (b, l, h) = 12.0, (0.2, 0.3, 0.4)
    spatial = inertia.moved(inertia.box(m, (b, l, h)), se3.pose(None, np.array([b, l, h]) / 2))
    about_corner = spatial[3:, 3:]
    products = m / 4 * np.array([[0, b * l, b * h], [b * l, 0, l * h], [b * h, l * h, 0]])
    moments = m / 3 * np.diag([l * l + h * h, b * b + h * h, l * l + b * b])
    assert about_corner == pytest.approx(moments - products, abs=CLOSE)
    assert about_corner == digits([1, -0.18, -0.24], [-0.18, 0.8, -0.36], [-0.24, -0.36, 0.52])
    assert np.trace(about_corner) == pytest.approx(2.32, abs=CLOSE)
    assert np.linalg.eigvalsh(about_corner) == digits(0.1660014768, 1.0439183705, 1.1100801527)
    assert inertia.tensor(spatial) == digits(*np.diag([0.25, 0.20, 0.13]))


def test_x20_sphere_and_rod():
    assert inertia.tensor(inertia.sphere(2.0, 0.03)) == digits(*(7.2e-4 * np.eye(3)))
    assert inertia.tensor(inertia.cylinder(2.0, 0.01, 1.2))[0, 0] == pytest.approx(0.24005, abs=DIGITS)


def classical_acceleration(
    robot: mr.Mechanism, q: np.ndarray, v: np.ndarray, vdot: np.ndarray, frame: str
) -> np.ndarray:
    """Acceleration of the frame's origin less gravity, in the frame's axes."""
    V, A = robot.frame_twist(q, v, frame), robot.frame_acceleration(q, v, vdot, frame)
    return A[:3] + np.cross(V[3:], V[:3]) - se3.rotation(robot.frame_pose(q, frame)).T @ robot.gravity


def test_x21_velocities_and_accelerations_of_the_planar_arm():
    (c1, c12), (s1, s12), c2, s2 = np.cos(np.cumsum(Q)), np.sin(np.cumsum(Q)), np.cos(Q[1]), np.sin(Q[1])
    (w1, w2), (a1, a2), g = QD, QDD, 9.81
    v1 = [0, L1 * w1, 0]
    v2 = [s2 * L1 * w1, c2 * L1 * w1 + L2 * (w1 + w2), 0]
    assert SCARA.frame_twist(Q, QD, "S1")[:3] == pytest.approx(np.array(v1), abs=CLOSE)
    assert SCARA.frame_twist(Q, QD, "S2")[:3] == pytest.approx(np.array(v2), abs=CLOSE)
    vdot1 = [s1 * g - L1 * w1**2, c1 * g + L1 * a1, 0]
    vdot2 = [
        s12 * g + s2 * L1 * a1 - c2 * L1 * w1**2 - L2 * (w1 + w2) ** 2,
        c12 * g + c2 * L1 * a1 + s2 * L1 * w1**2 + L2 * (a1 + a2),
        0,
    ]
    assert classical_acceleration(SCARA, Q, QD, QDD, "S1") == pytest.approx(np.array(vdot1), abs=CLOSE)
    assert classical_acceleration(SCARA, Q, QD, QDD, "S2") == pytest.approx(np.array(vdot2), abs=CLOSE)


def test_x21_dynamics_of_the_planar_arm_to_the_digit():
    assert SCARA.mass_matrix(Q) == digits([3.70545736098, 0.902378680491], [0.902378680491, 0.4151])
    assert SCARA.coriolis_matrix(Q, QD) @ QD == digits(0.112623560955, -0.117316209328)
    assert SCARA.gravity_forces(Q) == digits(30.1779772724, 5.92712690983)
    assert SCARA.inverse_dynamics(Q, QD, QDD) == digits(34.7275554026, 6.96846724904)


@pytest.mark.parametrize("points", [False, True])
def test_x21_dynamics_of_the_planar_arm_by_formula(rng: np.random.Generator, points: bool):
    """Closed forms for any lengths, masses, centres and tensors; point masses at the link ends in particular."""
    l1, l2, m1, m2 = rng.uniform(0.5, 2, size=4)
    (x1, y1, z1), (x2, y2, z2) = np.zeros((2, 3)) if points else rng.normal(size=(2, 3))
    bodies = [inertia.tensor(inertia.random(rng)) * (not points) for _ in range(2)]
    I1, I2, g = bodies[0][2, 2], bodies[1][2, 2], 9.81
    robot = arm(
        Link((0, 0, l1, 0), False, m1, (x1, y1, z1), bodies[0]),
        Link((0, 0, l2, 0), False, m2, (x2, y2, z2), bodies[1]),
        gravity=DOWN,
    )
    q, (w1, w2) = rng.normal(size=2), rng.normal(size=2)
    (c1, c12), (s1, s12), c2, s2 = np.cos(np.cumsum(q)), np.sin(np.cumsum(q)), np.cos(q[1]), np.sin(q[1])
    M22 = m2 * ((x2 + l2) ** 2 + y2**2) + I2
    M12 = M22 + m2 * l1 * ((x2 + l2) * c2 - y2 * s2)
    M11 = m1 * ((x1 + l1) ** 2 + y1**2) + I1 + 2 * M12 - M22 + m2 * l1**2
    push = m2 * l1 * ((x2 + l2) * s2 + y2 * c2)
    C = [-push * (2 * w1 * w2 + w2**2), push * w1**2]
    G2 = m2 * g * ((l2 + x2) * c12 - y2 * s12)
    G1 = m1 * g * ((x1 + l1) * c1 - y1 * s1) + m2 * g * l1 * c1 + G2
    assert robot.mass_matrix(q) == pytest.approx(np.array([[M11, M12], [M12, M22]]), abs=10 * CLOSE)
    assert robot.coriolis_matrix(q, np.array([w1, w2])) @ [w1, w2] == pytest.approx(np.array(C), abs=10 * CLOSE)
    assert robot.gravity_forces(q) == pytest.approx(np.array([G1, G2]), abs=100 * CLOSE)


def mass_matrix_by_columns(weightless: mr.Mechanism, q: np.ndarray) -> np.ndarray:
    """M e_i = RNE(q, 0, e_i, 0)."""
    n = weightless.nv
    return weightless.inverse_dynamics(q, np.zeros(n), np.eye(n)).T


def lagrange_mass_matrix(
    robot: mr.Mechanism, links: tuple[Link, ...], q: np.ndarray, turned: bool = True
) -> np.ndarray:
    """sum of m Jv^T Jv + Jw^T (R I R^T) Jw; the printed formula leaves the tensor unturned."""
    M = np.zeros((robot.nv, robot.nv))
    for i, link in enumerate(links, start=1):
        Jv, Jw = robot.point_jacobian(q, f"S{i}", np.array(link.centre)), robot.jacobian(q, f"S{i}")[3:]
        R = se3.rotation(robot.frame_pose(q, f"S{i}")) if turned else E3
        M += link.mass * Jv.T @ Jv + Jw.T @ R @ link.tensor @ R.T @ Jw
    return M


def test_x22_kinematics_of_the_spatial_arm():
    assert se3.position(RPR.frame_pose(RPR_Q, "S3")) == digits(0.5035492963, -0.3280883675, 0.5617823869)
    assert RPR.jacobian(RPR_Q, "S3") == digits(
        [0.3280883675, 0.4794255386, 0.0668506940],
        [0.5035492963, -0.8775825619, 0.2349939667],
        [0, 0, 0.0529983051],
        [0, 0, -0.2593433801],
        [0, 0, -0.1416799342],
        [1, 0, 0.9553364891],
    )


MASS_MATRICES = {
    "composite bodies": RPR.mass_matrix,
    "columns of inverse dynamics": lambda q: mass_matrix_by_columns(RPR_WEIGHTLESS, q),
    "transmission": lambda q: closed_form_mass_matrix(RPR, q),
    "lagrange": lambda q: lagrange_mass_matrix(RPR, RPR_LINKS, q),
}


@pytest.mark.parametrize("method", MASS_MATRICES)
def test_x22_mass_matrix_by_every_method(rng: np.random.Generator, method: str):
    M = MASS_MATRICES[method](RPR_Q)
    assert digits(*RPR_M) == M
    # the values that the misprinted formulas give
    assert abs(M[0, 0] - 0.9524404971) > 1e-3
    assert abs(M[1, 1]) > 1
    assert abs(M[2, 2] + 0.0159) > 1e-2
    for q in (RPR_Q, *rng.normal(size=(5, 3))):
        assert MASS_MATRICES[method](q) == pytest.approx(RPR.mass_matrix(q), abs=CLOSE)


def test_x22_the_printed_formula_differs_by_the_unturned_tensors():
    printed = lagrange_mass_matrix(RPR, RPR_LINKS, RPR_Q, turned=False)
    assert printed[0, 0] == pytest.approx(0.9524404971, abs=DIGITS)


def test_x22_torques_and_their_parts():
    tau = RPR.inverse_dynamics(RPR_Q, RPR_QD, RPR_QDD)
    Cv, G = RPR.coriolis_matrix(RPR_Q, RPR_QD) @ RPR_QD, RPR.gravity_forces(RPR_Q)
    assert tau == digits(*RPR_TAU)
    assert Cv == digits(*RPR_C)
    assert digits(*RPR_G) == G
    # the same among each other, closed form and recursions
    assert RPR.two_step_coriolis_matrix(RPR_Q, RPR_QD) @ RPR_QD == pytest.approx(Cv, abs=CLOSE)
    assert closed_form_gravity_forces(RPR, RPR_Q) == pytest.approx(G, abs=CLOSE)
    assert closed_form_mass_matrix(RPR, RPR_Q) @ RPR_QDD + Cv + G == pytest.approx(tau, abs=CLOSE)


@pytest.mark.parametrize("forward", [mr.Mechanism.forward_dynamics, forward_dynamics])
def test_x22_forward_dynamics(forward):
    tau = RPR.inverse_dynamics(RPR_Q, RPR_QD, RPR_QDD)
    assert forward(RPR, RPR_Q, RPR_QD, tau) == pytest.approx(RPR_QDD, abs=CLOSE)
    solved = np.linalg.solve(RPR.mass_matrix(RPR_Q), tau - RPR.bias_forces(RPR_Q, RPR_QD))
    assert forward(RPR, RPR_Q, RPR_QD, tau) == pytest.approx(solved, abs=CLOSE)
    # the printed torques have ten decimals, which M^-1, of norm 40, magnifies
    assert forward(RPR, RPR_Q, RPR_QD, np.array(RPR_TAU)) == pytest.approx(RPR_QDD, abs=40 * DIGITS)


ARMS = {
    "spatial": (RPR, RPR_WEIGHTLESS, RPR_Q, RPR_QD),
    "planar": (SCARA, arm(*SCARA_LINKS, gravity=(0, 0, 0)), Q, QD),
}


@pytest.mark.parametrize("name", ARMS)
def test_x23_inverse_dynamics_gives_every_part(name: str):
    robot, weightless, q, v = ARMS[name]
    zero = np.zeros(robot.nv)
    M = robot.mass_matrix(q)
    assert mass_matrix_by_columns(weightless, q) == pytest.approx(M, abs=CLOSE)
    assert robot.inverse_dynamics(q, v, zero) == pytest.approx(robot.bias_forces(q, v), abs=CLOSE)
    assert robot.coriolis_matrix(q, v) @ v == pytest.approx(weightless.inverse_dynamics(q, v, zero), abs=CLOSE)
    assert pytest.approx(M.T, abs=CLOSE) == M
    assert np.linalg.eigvalsh(M)[0] > 0


@pytest.mark.parametrize("name", ARMS)
def test_x23_coriolis_matrix_is_made_of_christoffel_symbols(rng: np.random.Generator, name: str):
    robot, _, *state = ARMS[name]
    for q, v in (state, *rng.normal(size=(5, 2, robot.nv))):
        # dM[k] = dM/dq_k
        dM = np.imag(robot.mass_matrix(q + 1j * STEP * np.eye(robot.nv))) / STEP
        symbols = (np.einsum("kij->ijk", dM) + np.einsum("jik->ijk", dM) - dM) / 2
        C = robot.coriolis_matrix(q, v)
        assert pytest.approx(symbols @ v, abs=CLOSE) == C
        skew = np.einsum("kij,k->ij", dM, v) - 2 * C
        assert skew == pytest.approx(-skew.T, abs=CLOSE)


def test_x10_newton_steps_of_the_planar_arm():
    """|F| of each step as computed, down to elbow down of X9."""
    q, target, left = np.array([0.5, 1.0]), np.array([1.2, 0.5]), []
    for _ in range(6):
        F = SCARA.frame_pose(q, "S2")[:2, 3] - target
        left.append(np.linalg.norm(F))
        q = q - mr.control.SCHEMES["inverse"](SCARA.jacobian(q, "S2")[:2], F, 0.0)
    assert left[:5] == pytest.approx([0.8216, 0.3991, 0.08534, 0.003359, 7.016e-6], rel=2e-4)
    assert left[5] == pytest.approx(2.46e-11, rel=0.01)
    assert q == digits(-0.2677014566, 1.5395412383)
    assert np.abs(SCARA.inverse_kinematics("S2", [*target, 0.0]).q - q).max(axis=1).min() < CLOSE


# ---- 3.4: legs and arms ----


def chain(axes: str, places: list[tuple[float, ...]], tip: tuple[float, ...]) -> mr.Mechanism:
    """Turns about the world's axes at places given one from the other, with a frame `tip` behind the last."""
    builder, load = mr.Builder("limb"), inertia.point(1.0, (0, 0, 0))
    for i, (axis, at) in enumerate(zip(axes, places, strict=True)):
        joint = mr.Revolute(tuple(E3["xyz".index(axis)]))
        builder.body(f"b{i}", load, parent=f"b{i - 1}" if i else "world", joint=joint, at=se3.pose(None, np.array(at)))
    builder.frame("tip", f"b{len(axes) - 1}", se3.pose(None, np.array(tip)))
    return builder.build()


def own_is_found(robot: mr.Mechanism, q: np.ndarray, goals: np.ndarray) -> np.ndarray:
    """How many solutions there are; each brings the tip there, and q is one of them."""
    found = robot.inverse_kinematics("tip", goals)
    assert found.exact
    assert np.all(found.reached)
    assert np.nanmax(found.residual) < 1e-9
    apart = found.q - q[:, None]
    apart = np.abs(apart - 2 * np.pi * np.round(apart / (2 * np.pi))).max(axis=-1)
    assert np.nanmin(apart, axis=1).max() < 1e-7
    return found.count


def test_leg_of_a_humanoid(rng: np.random.Generator):
    """Three hip axes, a knee and two ankle axes; the middle three are parallel, which is enough (Pieper)."""
    leg = chain("zxyyyx", [(0, 0.1, 0), (0, 0, 0), (0, 0, 0), (0, 0, -0.4), (0, 0, -0.38), (0, 0, 0)], (0, 0, -0.1))
    q = rng.uniform(-1.3, 1.3, size=(200, 6))
    X = leg.frame_pose(q, "tip")
    assert set(own_is_found(leg, q, X).tolist()) <= {2, 4, 6, 8}
    # the two steps of 3.4.2: the hip as seen from the ankle gives the knee, whose sign is free
    ankle = X[:, :3, 3] + 0.1 * X[:, :3, 2]
    far = np.linalg.norm(ankle - [0, 0.1, 0], axis=-1)
    bend = np.arccos((far**2 - 0.4**2 - 0.38**2) / (2 * 0.4 * 0.38))
    knees = leg.inverse_kinematics("tip", X).q[..., 3]
    off = np.abs(np.abs(knees) - bend[:, None])
    assert np.nanmax(off) < 1e-7
    assert np.all(np.nanmin(knees, axis=1) < 0)
    assert np.all(np.nanmax(knees, axis=1) > 0)


def test_leg_of_a_quadruped(rng: np.random.Generator):
    """Three joints bring the foot to a point, in four ways at most."""
    leg = chain("xyy", [(0.2, 0.05, 0), (0, 0.08, 0), (0, 0, -0.25)], (0, 0, -0.25))
    q = rng.uniform(-1.2, 1.2, size=(200, 3))
    counts = own_is_found(leg, q, leg.frame_pose(q, "tip")[:, :3, 3])
    assert set(counts.tolist()) <= {2, 4}


def test_arm_of_a_human(rng: np.random.Generator):
    """Three axes at the shoulder, one at the elbow, three at the wrist: one more than a pose asks for."""
    arm = chain("xyzyzyx", [(0, 0, 0)] * 3 + [(0, 0, -0.3), (0, 0, -0.25), (0, 0, 0), (0, 0, 0)], (0, 0, -0.08))
    q = rng.uniform(-1.2, 1.2, size=(20, 7))
    X = arm.frame_pose(q, "tip")
    for x in X:
        reached = [arm.inverse_kinematics("tip", x, parameter=angle) for angle in (-1.0, 0.2, 1.3)]
        assert all(found.reached and found.residual.max() < 1e-9 for found in reached)
        elbows = [arm.frame_pose(found.q[0], "b3")[:3, 3] for found in reached]
        assert np.linalg.norm(elbows[0] - elbows[1]) > 1e-3  # the elbow moves while the hand rests
