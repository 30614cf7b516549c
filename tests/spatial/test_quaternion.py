import mpmath
import numpy as np
import pytest
import sympy
from scipy.spatial.transform import Rotation, Slerp

from modurob.spatial import quaternion, so3

SHAPES = [(), (3,), (2, 3)]
# entries of order one after a few products
CLOSE = 1e-14
HALF_TURN_AXES = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, -1), (1, 0, 1), (0, 1, -1), (0.3, -0.5, 0.8)]


def scipy_order(q: np.ndarray) -> np.ndarray:
    """xyzw of wxyz."""
    return np.roll(q, -1, axis=-1)


def up_to_sign(a: np.ndarray, b: np.ndarray) -> float:
    """Distance of the rotations of two unit quaternions."""
    return float(np.minimum(np.abs(a - b).max(axis=-1), np.abs(a + b).max(axis=-1)).max())


@pytest.mark.parametrize("shape", SHAPES)
def test_product_is_that_of_matrices(rng: np.random.Generator, shape: tuple[int, ...]):
    a, b = quaternion.random(rng, (2, *shape))
    ab = quaternion.multiply(a, b)
    assert ab.shape == (*shape, 4)
    assert quaternion.to_matrix(ab) == pytest.approx(quaternion.to_matrix(a) @ quaternion.to_matrix(b), abs=CLOSE)
    judged = (Rotation.from_quat(scipy_order(a)) * Rotation.from_quat(scipy_order(b))).as_quat()
    assert up_to_sign(scipy_order(ab), judged) < CLOSE


def test_hamilton_products():
    one, i, j, k = np.eye(4)
    for a, b, ab in [(i, i, -one), (j, j, -one), (k, k, -one), (i, j, k), (j, i, -k), (j, k, i), (one, k, k)]:
        assert np.array_equal(quaternion.multiply(a, b), ab)


@pytest.mark.parametrize("shape", SHAPES)
def test_conjugate_is_the_inverse(rng: np.random.Generator, shape: tuple[int, ...]):
    q = quaternion.random(rng, shape)
    identity = np.broadcast_to(quaternion.IDENTITY, (*shape, 4))
    assert quaternion.multiply(q, quaternion.conjugate(q)) == pytest.approx(identity, abs=CLOSE)


def test_turned_point_is_the_vector_part_of_the_sandwich(rng: np.random.Generator):
    q, p = quaternion.random(rng), rng.normal(size=3)
    for scalar in (0.0, 1.0):
        sandwich = quaternion.multiply(quaternion.multiply(q, [scalar, *p]), quaternion.conjugate(q))
        assert sandwich == pytest.approx(np.array([scalar, *(quaternion.to_matrix(q) @ p)]), abs=CLOSE)


@pytest.mark.parametrize("shape", SHAPES)
def test_matrix_is_that_of_scipy(rng: np.random.Generator, shape: tuple[int, ...]):
    q = quaternion.random(rng, shape)
    R = quaternion.to_matrix(q)
    assert pytest.approx(Rotation.from_quat(scipy_order(q)).as_matrix(), abs=CLOSE) == R
    assert up_to_sign(scipy_order(quaternion.from_matrix(R)), Rotation.from_matrix(R).as_quat()) < CLOSE


@pytest.mark.parametrize("scale", [-1.0, 0.3, -7.0, 1e6])
def test_multiples_stand_for_one_rotation(rng: np.random.Generator, scale: float):
    q = quaternion.random(rng)
    assert quaternion.to_matrix(scale * q) == pytest.approx(quaternion.to_matrix(q), abs=CLOSE)
    assert quaternion.log(scale * q) == pytest.approx(quaternion.log(q), abs=CLOSE)
    assert quaternion.normalised(scale * q) == pytest.approx(np.sign(scale) * q, abs=CLOSE)


@pytest.mark.parametrize("shape", SHAPES)
def test_from_matrix_undoes_to_matrix(rng: np.random.Generator, shape: tuple[int, ...]):
    q = quaternion.random(rng, shape)
    found = quaternion.from_matrix(quaternion.to_matrix(q))
    assert up_to_sign(found, q) < CLOSE
    assert np.all(found[..., 0] >= 0)
    assert (found * found).sum(axis=-1) == pytest.approx(np.ones(shape), abs=CLOSE)


@pytest.mark.parametrize("axis", HALF_TURN_AXES)
@pytest.mark.parametrize("short", [0.0, 1e-12, 1e-7, 1e-3])
def test_from_matrix_near_a_half_turn(axis: tuple[float, ...], short: float):
    a = np.array(axis) / np.linalg.norm(axis)
    expected = np.array([np.sin(short / 2), *(np.cos(short / 2) * a)])
    assert up_to_sign(quaternion.from_matrix(so3.about(a, np.pi - short)), expected) < CLOSE


@pytest.mark.parametrize("shape", SHAPES)
def test_exp_is_that_of_matrices(rng: np.random.Generator, shape: tuple[int, ...]):
    w = 2 * rng.normal(size=(*shape, 3))
    q = quaternion.exp(w)
    assert quaternion.to_matrix(q) == pytest.approx(so3.exp(w), abs=CLOSE)
    assert (q * q).sum(axis=-1) == pytest.approx(np.ones(shape), abs=CLOSE)


@pytest.mark.parametrize("angle", [0.0, 1e-200, 1e-12, 1e-7, 1e-3, 2e-3, 1.0, 3.0, np.pi - 1e-3, np.pi - 1e-7])
@pytest.mark.parametrize("axis", HALF_TURN_AXES)
def test_log_undoes_exp(axis: tuple[float, ...], angle: float):
    w = angle * np.array(axis) / np.linalg.norm(axis)
    q = quaternion.exp(w)
    for same in (q, -q):
        assert np.abs(quaternion.log(same) - w).max() <= CLOSE * angle


@pytest.mark.parametrize("axis", HALF_TURN_AXES)
def test_log_of_a_half_turn_has_length_pi(axis: tuple[float, ...]):
    a = np.array(axis) / np.linalg.norm(axis)
    assert np.abs(quaternion.log(np.array([0.0, *a]))) == pytest.approx(np.pi * np.abs(a), abs=CLOSE)


@pytest.mark.parametrize("shape", SHAPES)
def test_log_is_that_of_scipy(rng: np.random.Generator, shape: tuple[int, ...]):
    q = quaternion.random(rng, shape)
    assert quaternion.log(q) == pytest.approx(Rotation.from_quat(scipy_order(q)).as_rotvec(), abs=1e-13)


@pytest.mark.parametrize("shape", SHAPES)
def test_rate_is_the_slope_of_a_steady_turn(rng: np.random.Generator, shape: tuple[int, ...]):
    # the midpoint difference of SciPy's rotations: 1e-4² and rounding / 1e-4
    h, close = 1e-4, 1e-7
    q, w = quaternion.random(rng, shape), rng.normal(size=(*shape, 3))
    start, turn = Rotation.from_quat(scipy_order(q)), Rotation.from_rotvec(h * w)
    slope = (start * turn).as_matrix() - (start * turn.inv()).as_matrix()
    moved = [quaternion.to_matrix(q + sign * h * quaternion.rate(q, w)) for sign in (1, -1)]
    assert (moved[0] - moved[1]) / (2 * h) == pytest.approx(slope / (2 * h), abs=close)


def test_slerp_is_that_of_scipy(rng: np.random.Generator):
    a, b = quaternion.random(rng, (2,))
    t = np.linspace(0, 1, 7)
    judged = Slerp([0, 1], Rotation.from_quat(scipy_order(np.stack([a, b]))))(t).as_matrix()
    for end in (b, -b):
        assert quaternion.to_matrix(quaternion.slerp(a, end, t)) == pytest.approx(judged, abs=1e-13)


@pytest.mark.parametrize("shape", SHAPES)
def test_slerp_goes_at_constant_rate(rng: np.random.Generator, shape: tuple[int, ...]):
    a, b = quaternion.random(rng, (2, *shape))
    w = quaternion.log(quaternion.multiply(quaternion.conjugate(a), b))
    t = rng.random(size=shape)
    half_way = quaternion.slerp(a, b, t)
    assert quaternion.log(quaternion.multiply(quaternion.conjugate(a), half_way)) == pytest.approx(
        t[..., None] * w if shape else t * w, abs=1e-13
    )
    assert up_to_sign(quaternion.slerp(a, b, 1.0), b) < 1e-13


@pytest.mark.parametrize("angle", [0.0, 1e-7, 1e-3, 0.5, 3.0])
def test_complex_step_through_exp_and_log(rng: np.random.Generator, angle: float):
    w, d = angle * so3.random(rng)[0], rng.normal(size=3)
    q = quaternion.exp(w + 1e-30j * d)
    assert quaternion.to_matrix(q).imag / 1e-30 == pytest.approx(so3.exp(w + 1e-30j * d).imag / 1e-30, abs=1e-13)
    assert quaternion.log(q).imag / 1e-30 == pytest.approx(d, abs=1e-13)


@pytest.mark.parametrize("number", [sympy.Rational, mpmath.fraction], ids=["sympy", "mpmath"])
@pytest.mark.parametrize("function", [quaternion.to_matrix, quaternion.normalised, lambda q: quaternion.exp(q[1:])])
def test_objects_give_the_numbers_of_floats(number, function):
    q = np.array([+number(x, 7) for x in (4, 1, -2, 3)], dtype=object)
    assert function(q).astype(float) == pytest.approx(function(q.astype(float)), abs=CLOSE)
