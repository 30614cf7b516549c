"""Jacobian tools against differences, Pinocchio's Euler rates, closed forms of the planar arm and printed numbers."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import modurob as mr
from modurob.errors import InputError
from modurob.kinematics import jacobians as jac
from modurob.spatial import angles, so3
from tests.robots import random_mechanism

CLOSE = 1e-10
DIGITS = 0.51e-10  # half of the last printed decimal

# the planar arm of von Stryk 3.1.3
PLANAR = mr.Mechanism.from_dh([(1.0, 0, 0), (0.8, 0, 0)])
Q = np.array([0.3, -0.7])


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("sequence", angles.SEQUENCES)
def test_rates_of_every_set_of_angles(sequence: str, fixed: bool, rng: np.random.Generator):
    """R(a + da) = exp(B da) R(a), by a complex step."""
    a, rates = rng.uniform(0.2, 1.2, size=3), rng.normal(size=3)
    turn = angles.fixed if fixed else angles.euler
    Rdot = turn(sequence, a + 1e-30j * rates).imag / 1e-30
    w = so3.vee(Rdot @ turn(sequence, a).T)
    assert jac.rate_map(sequence, a, fixed) @ rates == pytest.approx(w, abs=CLOSE)
    assert jac.inverse_rate_map(sequence, a, fixed) @ w == pytest.approx(rates, abs=CLOSE)


@pytest.mark.parametrize(("sequence", "fixed"), [("zyx", False), ("xyz", True), ("zyz", False), ("yxz", True)])
def test_analytic_jacobian_is_the_slope_of_pose_and_angles(sequence, fixed, rng: np.random.Generator):
    """Against differences of SciPy's angles."""
    arm = random_mechanism(rng, 6, kinds=("revolute", "prismatic"), chain=True)
    q, v, h = rng.normal(size=(3, 6)), rng.normal(size=6), 1e-6

    def x(q: np.ndarray) -> np.ndarray:
        X = arm.frame_pose(q, "b5")
        order = sequence if fixed else sequence.upper()
        return np.concatenate([X[:3, 3], Rotation.from_matrix(X[:3, :3]).as_euler(order)])

    J = arm.analytic_jacobian(q, "b5", sequence, fixed)
    for k in range(len(q)):
        difference = x(q[k] + h * v) - x(q[k] - h * v)
        difference[3:] = (difference[3:] + np.pi) % (2 * np.pi) - np.pi
        found = J[k] @ v
        if sequence == "zyz" and not np.allclose(found, difference / (2 * h), atol=1e-5):
            found[3:] = found[3:] * [1, -1, 1]
        assert found == pytest.approx(difference / (2 * h), abs=2e-5)


def test_angles_without_rates_are_not_numbers():
    """B = [[0, -s_phi, c_phi c_th], ...] is singular at theta = ±pi/2."""
    arm = mr.Mechanism.from_dh([(0, 0, 0), (0, np.pi / 2, 0), (0, 0, 0)])
    b = mr.Builder("turn")
    b.body("a", joint=mr.Revolute((0, 1, 0)))
    J = b.build().analytic_jacobian([[np.pi / 2], [0.3]], "a")
    assert np.isnan(J[0, 3:]).all()
    assert not np.isnan(J[1]).any()
    assert not np.isnan(J[0, :3]).any()
    assert arm.analytic_jacobian([0.1, 0.2, 0.3], "tip", "zyz").shape == (6, 3)


def test_printed_matrix_of_the_rates():
    """Sepp et al.: B = [[0, -s_phi, c_phi c_th], [0, c_phi, s_phi c_th], [1, 0, -s_th]]."""
    phi, theta, psi = 0.4, -0.7, 1.1
    c, s, ct, st = np.cos(phi), np.sin(phi), np.cos(theta), np.sin(theta)
    assert jac.rate_map("zyx", [phi, theta, psi]) == pytest.approx(
        np.array([[0, -s, c * ct], [0, c, s * ct], [1, 0, -st]])
    )


def test_x12_to_x14_of_the_planar_arm():
    """von Stryk 4.4.1: det, manipulability, singular values; 4.4.2: stretched, only motions across the arm are left."""
    J = PLANAR.jacobian(Q, "tip")[:2]
    assert np.linalg.det(J) == pytest.approx(-0.5153741498, abs=DIGITS)
    assert PLANAR.manipulability(Q, "tip", "x y") == pytest.approx(0.5153741498, abs=DIGITS)
    assert PLANAR.velocity_ellipsoid(Q, "tip", "x y").lengths == pytest.approx([1.8510064033, 0.2784291556], abs=DIGITS)
    for q2 in (0.0, np.pi):
        q = np.array([0.4, q2])
        left = jac.singular_directions(PLANAR.jacobian(q, "tip")[:2])
        assert left.rank == 1
        along = np.array([np.cos(0.4), np.sin(0.4)])
        assert abs(left.lost[:, 0] @ along) == pytest.approx(1)
        assert PLANAR.jacobian(q, "tip")[:2] @ left.still == pytest.approx(np.zeros((2, 1)), abs=CLOSE)


def test_x15_damped_least_squares():
    J = PLANAR.jacobian(Q, "tip")[:2]
    assert jac.damped_inverse(J, 0.1) @ [1, 0] == pytest.approx([-1.2621619769, 2.9101571088], abs=DIGITS)
    stretched = PLANAR.jacobian([0.0, 0.0], "tip")[:2]
    assert jac.damped_inverse(stretched, 0.1) @ [0, 1] == pytest.approx([0.4627249357, 0.2056555270], abs=DIGITS)
    assert jac.damped_inverse(stretched, 0.1) @ [1, 0] == pytest.approx([0, 0], abs=DIGITS)


def test_x16_constraints_of_place_and_of_speed():
    """Outside a cylinder of radius 1.5 m, sqrt(x² + y²) - 1.5 > 0, and slower than 3 m/s, |J_v qd| - 3 <= 0."""
    outside = lambda q: np.hypot(*PLANAR.frame_pose(q, "tip")[:2, 3]) - 1.5  # noqa: E731
    assert outside(Q) == pytest.approx(np.hypot(1.6921852843, 0.0160144672) - 1.5, abs=DIGITS)
    J, p, qd = PLANAR.jacobian(Q, "tip")[:2], PLANAR.frame_pose(Q, "tip")[:2, 3], np.array([0.4, -1.1])
    h = 1e-6
    rate = (outside(Q + h * qd) - outside(Q - h * qd)) / (2 * h)
    assert p @ J @ qd / np.linalg.norm(p) == pytest.approx(rate, abs=1e-9)
    # rates that are as fast as allowed, whatever their direction
    assert np.linalg.norm(J @ (3 * qd / np.linalg.norm(J @ qd))) - 3 == pytest.approx(0, abs=CLOSE)


def test_damped_inverse_minimises_what_it_says(rng: np.random.Generator):
    J, e = rng.normal(size=(5, 3, 6)), rng.normal(size=(5, 3))
    dq = (jac.damped_inverse(J, 0.3) @ e[..., None])[..., 0]
    stacked = np.concatenate([J, np.broadcast_to(0.3 * np.eye(6), (5, 6, 6))], axis=-2)
    for k in range(5):
        expected = np.linalg.lstsq(stacked[k], np.concatenate([e[k], np.zeros(6)]), rcond=None)[0]
        assert dq[k] == pytest.approx(expected, abs=CLOSE)
    assert jac.damped_inverse(J, 0.0) == pytest.approx(np.linalg.pinv(J), abs=CLOSE)


def test_selectively_damped_steps(rng: np.random.Generator):
    J, e = rng.normal(size=(4, 3, 7)), 1e-4 * rng.normal(size=(4, 3))
    steps = jac.selectively_damped_step(J, e)
    # far from singular poses and for small errors nothing is damped
    assert steps == pytest.approx((np.linalg.pinv(J) @ e[..., None])[..., 0], abs=CLOSE)
    # a nearly singular direction is held back, the others are not, and no joint moves too far
    nearly = np.diag([1.0, 1.0, 1e-6])
    step = jac.selectively_damped_step(nearly, np.array([0.1, -0.2, 0.3]), largest=0.5)
    assert step[:2] == pytest.approx([0.1, -0.2])
    assert 0 < step[2] <= 0.5
    assert np.abs(jac.selectively_damped_step(J, 100 * rng.normal(size=(4, 3)), largest=0.5)).max() <= 0.5 + CLOSE


def test_null_space_projector(rng: np.random.Generator):
    J = rng.normal(size=(3, 6, 9))
    P = jac.null_space_projector(J)
    assert pytest.approx(P, abs=CLOSE) == P @ P
    assert pytest.approx(np.zeros((3, 6, 9)), abs=CLOSE) == J @ P
    assert np.trace(P, axis1=-2, axis2=-1) == pytest.approx([3, 3, 3])


def test_ellipsoids_bound_all_velocities_and_forces(rng: np.random.Generator):
    arm = random_mechanism(rng, 6, kinds=("revolute",), chain=True)
    q = rng.normal(size=6)
    J = arm.jacobian(q, "b5")[:3]
    axes, lengths = arm.velocity_ellipsoid(q, "b5")
    v = rng.normal(size=(500, 6))
    inside = (v / np.linalg.norm(v, axis=1, keepdims=True)) @ J.T @ axes / lengths
    assert np.linalg.norm(inside, axis=1).max() <= 1 + CLOSE
    force_axes, reach = arm.force_ellipsoid(q, "b5")
    on_it = force_axes * reach
    assert np.linalg.norm(J.T @ on_it, axis=0) == pytest.approx(np.ones(3), abs=CLOSE)
    assert lengths * reach[::-1] == pytest.approx(np.ones(3))
    assert np.isinf(PLANAR.force_ellipsoid([0.0, 0.0], "tip", "x y").lengths[0])


def test_a_block_without_degrees_of_freedom():
    """Nothing moves it, and no mass of it moves."""
    b = mr.Builder("block")
    b.body("b", mr.spatial.inertia.sphere(1.0, 0.1))
    block = b.build()
    np.testing.assert_array_equal(block.manipulability(np.zeros((2, 0)), "b"), [0, 0])
    assert block.velocity_towards(mr.PointGoal("b", [0.0, 0.0, 1.0]), [], 0.01).shape == (0,)
    empty = mr.Mechanism.from_dh([(1.0, 0, 0)], name="arm")
    for ask in (
        empty.centre_of_mass,
        empty.centre_of_mass_jacobian,
        lambda q: empty.centre_of_mass_jacobian_rate(q, q),
    ):
        with pytest.raises(
            mr.ModurobError, match="no body of arm that moves has mass, and so no centre of mass: expected"
        ):
            ask([0.3])


def test_manipulability_of_more_rows_than_joints():
    J = PLANAR.jacobian(Q, "tip")
    assert PLANAR.manipulability(Q, "tip") == pytest.approx(np.sqrt(np.linalg.det(J.T @ J)))
    many = PLANAR.manipulability(np.zeros((4, 5, 2)) + Q, "tip", ["x", "y"])
    assert many.shape == (4, 5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: PLANAR.manipulability(Q, "tip", "x w"), "row 'w': .*valid: pose, position, rotation, x"),
        (lambda: PLANAR.manipulability(Q, "tip", "x x"), "each once"),
        (lambda: PLANAR.manipulability(Q, "tip", []), "expected some of x, y, z"),
        (lambda: PLANAR.analytic_jacobian(Q, "tip", "zyy"), "no angle sequence 'zyy'"),
        (lambda: jac.damped_inverse(np.eye(2), -1.0), "damping -1.0: expected zero or more"),
        (lambda: PLANAR.nearest_singularity([Q, Q], "tip"), r"q has shape \(2, 2\)"),
    ],
)
def test_what_is_refused(call, words: str):
    with pytest.raises(InputError, match=words):
        call()
