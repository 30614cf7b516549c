import mpmath
import numpy as np
import pytest
import scipy.linalg
import sympy
from scipy.spatial.transform import Rotation

from modurob.spatial import so3

SHAPES = [(), (3,), (2, 3)]
AXES = [(1, 0, 0), (0, -1, 0), (0, 0, 1), (1, 0, 1), (1, -1, 0), (0.3, -0.5, 0.8), (-1e-3, 2, 1e-5)]
NEAR_IDENTITY = [1e-3, 1e-7, 1e-12, 0.0]
NEAR_HALF_TURN = [np.pi - 1e-3, np.pi - 1e-7, np.pi - 1e-12, np.pi]
# entries of order one after a few products
CLOSE = 1e-14


def unit(axis: tuple[float, ...]) -> np.ndarray:
    return np.array(axis) / np.linalg.norm(axis)


def transposed(R: np.ndarray) -> np.ndarray:
    return np.swapaxes(R, -1, -2)


def exact_exp(w: np.ndarray) -> np.ndarray:
    """The Taylor series of the matrix exponential, in 50 digits."""
    with mpmath.workdps(50):
        R = mpmath.expm(mpmath.matrix(so3.skew(w).tolist()), method="taylor")
        return np.array(R.tolist(), dtype=object)


def error(found: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference, formed before the rounding of `expected`."""
    with mpmath.workdps(50):
        return float(np.abs(found.astype(object) - expected).max())


@pytest.mark.parametrize("shape", SHAPES)
def test_skew_is_the_cross_product(rng: np.random.Generator, shape: tuple[int, ...]):
    a, b = rng.normal(size=(2, *shape, 3))
    K = so3.skew(a)
    assert (K @ b[..., None])[..., 0] == pytest.approx(np.cross(a, b), abs=CLOSE)
    assert np.array_equal(transposed(K), -K)
    assert np.array_equal(so3.vee(K), a)


def test_vee_takes_the_skew_part(rng: np.random.Generator):
    K, symmetric = so3.skew([1, 2, 3]), rng.normal(size=(3, 3))
    assert so3.vee(K + symmetric + symmetric.T) == pytest.approx(np.array([1, 2, 3]), abs=CLOSE)


@pytest.mark.parametrize("shape", SHAPES)
def test_rotated_skew_is_skew_of_rotated(rng: np.random.Generator, shape: tuple[int, ...]):
    R, a = so3.random(rng, shape), rng.normal(size=(*shape, 3))
    turned = (R @ a[..., None])[..., 0]
    assert R @ so3.skew(a) @ transposed(R) == pytest.approx(so3.skew(turned), abs=CLOSE)


@pytest.mark.parametrize("shape", SHAPES)
def test_exp_is_the_matrix_exponential(rng: np.random.Generator, shape: tuple[int, ...]):
    w = 2 * rng.normal(size=(*shape, 3))
    assert so3.exp(w).shape == (*shape, 3, 3)
    # expm scales and squares, which costs it a digit
    assert so3.exp(w) == pytest.approx(scipy.linalg.expm(so3.skew(w)), abs=1e-13)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("angle", [*NEAR_IDENTITY, 0.0999, 0.1001, 0.5, 1.0, 2.0, *NEAR_HALF_TURN])
def test_exp_has_all_digits(axis: tuple[float, ...], angle: float):
    w = angle * unit(axis)
    R, expected = so3.exp(w), exact_exp(w)
    # a few roundings of numbers up to one
    assert error(R, expected) < 2e-15
    # the part that is lost beside the ones of the diagonal, relative to its own size
    assert error(so3.vee(R), so3.vee(expected)) <= CLOSE * np.sin(angle / 2)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("angle", [*NEAR_IDENTITY, 0.5, 2.0])
def test_log_undoes_exp(axis: tuple[float, ...], angle: float):
    w = angle * unit(axis)
    assert np.abs(so3.log(so3.exp(w)) - w).max() <= CLOSE * angle


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("angle", NEAR_HALF_TURN)
def test_log_near_a_half_turn(axis: tuple[float, ...], angle: float):
    w = angle * unit(axis)
    found = so3.log(so3.exp(w))
    # of a half turn both senses are right, and rounding cannot tell 1e-12 less from 1e-12 more
    sign = np.sign(found @ w)
    assert sign == 1 or angle > np.pi - 1e-11
    assert found == pytest.approx(sign * w, abs=CLOSE)
    assert np.linalg.norm(found) <= np.pi + 1e-15


@pytest.mark.parametrize("shape", SHAPES)
def test_exp_undoes_log(rng: np.random.Generator, shape: tuple[int, ...]):
    R = so3.random(rng, shape)
    assert so3.log(R).shape == (*shape, 3)
    assert so3.exp(so3.log(R)) == pytest.approx(R, abs=CLOSE)


def test_turns_about_one_axis_add(rng: np.random.Generator):
    w = rng.normal(size=3)
    assert so3.exp(0.3 * w) @ so3.exp(1.1 * w) == pytest.approx(so3.exp(1.4 * w), abs=CLOSE)


@pytest.mark.parametrize("shape", SHAPES)
def test_log_commutes_with_rotation(rng: np.random.Generator, shape: tuple[int, ...]):
    R, S = so3.random(rng, (2, *shape))
    turned = (R @ so3.log(S)[..., None])[..., 0]
    assert so3.log(R @ S @ transposed(R)) == pytest.approx(turned, abs=1e-13)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("angle", [-2.0, 1e-7, 1.0, np.pi, 5.0])
def test_about_turns_as_scipy_does(axis: tuple[float, ...], angle: float):
    R = so3.about(unit(axis), angle)
    assert pytest.approx(Rotation.from_rotvec(angle * unit(axis)).as_matrix(), abs=CLOSE) == R
    assert R @ unit(axis) == pytest.approx(unit(axis), abs=CLOSE)


def test_about_over_batches(rng: np.random.Generator):
    axes, angles = so3.random(rng, (3,))[..., 0], rng.normal(size=(2, 3))
    R = so3.about(axes, angles)
    assert R.shape == (2, 3, 3, 3)
    assert R[1, 2] == pytest.approx(so3.about(axes[2], angles[1, 2]), abs=CLOSE)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("angle", [1e-12, 1e-7, 1e-3, 1.0, 3.0, np.pi - 1e-7])
def test_axis_angle(axis: tuple[float, ...], angle: float):
    a, phi = so3.axis_angle(so3.about(unit(axis), angle))
    assert phi == pytest.approx(angle, rel=CLOSE, abs=0)
    assert a == pytest.approx(unit(axis), abs=CLOSE)


def test_axis_of_the_identity_is_x():
    a, phi = so3.axis_angle(np.stack([np.eye(3), so3.about([0, 0, 1.0], 0.2)]))
    assert a == pytest.approx(np.array([[1, 0, 0], [0, 0, 1]]), abs=CLOSE)
    assert phi == pytest.approx(np.array([0, 0.2]), abs=CLOSE)


@pytest.mark.parametrize("shape", SHAPES)
def test_random_rotations_are_rotations(rng: np.random.Generator, shape: tuple[int, ...]):
    R = so3.random(rng, shape)
    assert R.shape == (*shape, 3, 3)
    assert so3.is_rotation(R, CLOSE)


@pytest.mark.parametrize(
    "R", [np.diag([1, 1, -1]), 1.001 * np.eye(3), np.diag([1, 1, np.nan]), np.stack([np.eye(3), np.zeros((3, 3))])]
)
def test_is_rotation_refuses(R: np.ndarray):
    assert not so3.is_rotation(R)


@pytest.mark.parametrize("axis", [*AXES, (0, 1, 0), (-1, 0, 0), (0, 0, -1)])
def test_perpendicular_makes_a_right_handed_frame(axis: tuple[float, ...]):
    u, w = so3.perpendicular(unit(axis))
    frame = np.stack([u, w, unit(axis)], axis=-1)
    assert so3.is_rotation(frame, CLOSE)
    if np.count_nonzero(axis) == 1:
        assert np.count_nonzero(frame) == 3


@pytest.mark.parametrize("i", range(3))
def test_perpendicular_to_a_coordinate_axis_are_the_next_ones(i: int):
    assert np.array_equal(so3.perpendicular(np.eye(3)[i]), np.eye(3)[[(i + 1) % 3, (i + 2) % 3]])


@pytest.mark.parametrize("angle", [0.0, 1e-7, 0.05, 0.5, 2.0, 3.0])
def test_complex_step_of_exp_is_its_derivative(rng: np.random.Generator, angle: float):
    w, d = angle * unit(rng.normal(size=3)), rng.normal(size=3)
    slope = so3.exp(w + 1e-30j * d).imag / 1e-30
    assert slope == pytest.approx(scipy.linalg.expm_frechet(so3.skew(w), so3.skew(d), compute_expm=False), abs=1e-13)
    # and the derivative of log undoes it
    assert so3.log(so3.exp(w + 1e-30j * d)).imag / 1e-30 == pytest.approx(d, abs=1e-13)


@pytest.mark.parametrize("number", [sympy.Rational, mpmath.fraction], ids=["sympy", "mpmath"])
@pytest.mark.parametrize("w", [(1, -2, 3), (0, 0, 0)])
def test_objects_give_the_numbers_of_floats(number, w: tuple[int, ...]):
    exact = np.array([+number(x, 7) for x in w], dtype=object)
    given = exact.astype(float)
    assert so3.exp(exact).astype(float) == pytest.approx(so3.exp(given), abs=CLOSE)
    assert so3.about(np.eye(3)[1], exact[0]).astype(float) == pytest.approx(
        so3.about(np.eye(3)[1], given[0]), abs=CLOSE
    )
