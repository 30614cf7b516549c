import mpmath
import numpy as np
import pytest
import scipy.linalg
import sympy

from modurob.spatial import se3, so3

SHAPES = [(), (3,), (2, 3)]
every_shape = pytest.mark.parametrize("shape", SHAPES)
AXES = [(1, 0, 0), (0, -1, 0), (0, 0, 1), (1, 0, 1), (0.3, -0.5, 0.8)]
NEAR_IDENTITY = [0.0, 1e-12, 1e-7, 1e-3]
NEAR_HALF_TURN = [np.pi - 1e-3, np.pi - 1e-7, np.pi - 1e-12, np.pi]
# entries of order one after a few products
CLOSE = 1e-13


def twist(v: np.ndarray, axis: tuple[float, ...], angle: float) -> np.ndarray:
    return np.concatenate([v, angle * np.array(axis) / np.linalg.norm(axis)])


def apply(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    return (A @ x[..., None])[..., 0]


def transposed(A: np.ndarray) -> np.ndarray:
    return np.swapaxes(A, -1, -2)


@every_shape
def test_pose_and_its_parts(rng: np.random.Generator, shape: tuple[int, ...]):
    R, p = so3.random(rng, shape), rng.normal(size=(*shape, 3))
    X = se3.pose(R, p)
    assert np.array_equal(se3.rotation(X), R)
    assert np.array_equal(se3.position(X), p)
    assert np.array_equal(X[..., 3, :], np.broadcast_to([0, 0, 0, 1], (*shape, 4)))
    assert se3.pose(None, p) @ se3.pose(R) == pytest.approx(X, abs=CLOSE)


def test_pose_of_nothing_is_the_identity():
    assert np.array_equal(se3.pose(), np.eye(4))
    assert not se3.IDENTITY.flags.writeable


def test_pose_broadcasts_rotation_against_position(rng: np.random.Generator):
    assert se3.pose(so3.random(rng), rng.normal(size=(5, 3))).shape == (5, 4, 4)


@every_shape
def test_inverse(rng: np.random.Generator, shape: tuple[int, ...]):
    X, identity = se3.random(rng, shape), np.broadcast_to(np.eye(4), (*shape, 4, 4))
    assert X @ se3.inverse(X) == pytest.approx(identity, abs=CLOSE)
    assert se3.inverse(X) @ X == pytest.approx(identity, abs=CLOSE)
    assert se3.inverse(X) == pytest.approx(np.linalg.inv(X), abs=CLOSE)


@every_shape
def test_random_poses_are_poses_within_reach(rng: np.random.Generator, shape: tuple[int, ...]):
    X = se3.random(rng, shape, reach=0.2)
    assert X.shape == (*shape, 4, 4)
    assert so3.is_rotation(se3.rotation(X), CLOSE)
    assert np.abs(se3.position(X)).max() <= 0.2


@every_shape
def test_adjoint_is_a_homomorphism(rng: np.random.Generator, shape: tuple[int, ...]):
    X, Y = se3.random(rng, (2, *shape))
    assert se3.Ad(X) @ se3.Ad(Y) == pytest.approx(se3.Ad(X @ Y), abs=CLOSE)
    assert se3.Ad_inverse(X) == pytest.approx(se3.Ad(se3.inverse(X)), abs=CLOSE)
    assert se3.Ad_inverse(X) == pytest.approx(np.linalg.inv(se3.Ad(X)), abs=CLOSE)


@every_shape
def test_adjoint_is_conjugation_of_hats(rng: np.random.Generator, shape: tuple[int, ...]):
    X, V = se3.random(rng, shape), rng.normal(size=(*shape, 6))
    assert X @ se3.hat(V) @ se3.inverse(X) == pytest.approx(se3.hat(apply(se3.Ad(X), V)), abs=CLOSE)


@every_shape
def test_bracket_is_the_commutator_of_hats(rng: np.random.Generator, shape: tuple[int, ...]):
    V, W = rng.normal(size=(2, *shape, 6))
    commutator = se3.hat(V) @ se3.hat(W) - se3.hat(W) @ se3.hat(V)
    assert se3.hat(apply(se3.ad(V), W)) == pytest.approx(commutator, abs=CLOSE)
    assert apply(se3.ad(V), W) == pytest.approx(-apply(se3.ad(W), V), abs=CLOSE)


def test_bracket_obeys_jacobi(rng: np.random.Generator):
    V, W = rng.normal(size=(2, 6))
    adV, adW = se3.ad(V), se3.ad(W)
    assert se3.ad(adV @ W) == pytest.approx(adV @ adW - adW @ adV, abs=CLOSE)


@every_shape
def test_adjoint_carries_the_bracket(rng: np.random.Generator, shape: tuple[int, ...]):
    X, V = se3.random(rng, shape), rng.normal(size=(*shape, 6))
    A = se3.Ad(X)
    assert A @ se3.ad(V) == pytest.approx(se3.ad(apply(A, V)) @ A, abs=CLOSE)


@every_shape
def test_adjoint_of_exp_is_exp_of_bracket(rng: np.random.Generator, shape: tuple[int, ...]):
    V = rng.normal(size=(*shape, 6))
    assert se3.Ad(se3.exp(V)) == pytest.approx(scipy.linalg.expm(se3.ad(V)), abs=CLOSE)


@every_shape
def test_coadjoint_is_the_dual_of_the_bracket(rng: np.random.Generator, shape: tuple[int, ...]):
    V, F = rng.normal(size=(2, *shape, 6))
    assert apply(se3.coad(F), V) == pytest.approx(-apply(transposed(se3.ad(V)), F), abs=CLOSE)
    assert np.array_equal(transposed(se3.coad(F)), -se3.coad(F))


@every_shape
def test_power_does_not_depend_on_the_frame(rng: np.random.Generator, shape: tuple[int, ...]):
    X_AB, V_B, F_A = se3.random(rng, shape), *rng.normal(size=(2, *shape, 6))
    V_A, F_B = apply(se3.Ad(X_AB), V_B), apply(transposed(se3.Ad(X_AB)), F_A)
    assert (V_A * F_A).sum(axis=-1) == pytest.approx((V_B * F_B).sum(axis=-1), abs=CLOSE)


@every_shape
def test_exp_is_the_matrix_exponential(rng: np.random.Generator, shape: tuple[int, ...]):
    V = 2 * rng.normal(size=(*shape, 6))
    assert se3.exp(V) == pytest.approx(scipy.linalg.expm(se3.hat(V)), abs=CLOSE)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("angle", [*NEAR_IDENTITY, 0.0999, 0.1001, 0.5, 0.999, 1.001, 2.0, *NEAR_HALF_TURN])
def test_exp_has_all_digits(axis: tuple[float, ...], angle: float):
    V = twist(np.array([0.2, -0.7, 0.4]), axis, angle)
    with mpmath.workdps(50):
        exact = np.array(mpmath.expm(mpmath.matrix(se3.hat(V).tolist()), method="taylor").tolist(), dtype=object)
        error = np.abs(se3.exp(V).astype(object) - exact).astype(float)
    # a few roundings of numbers up to one
    assert error.max() < 2e-15


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("angle", [*NEAR_IDENTITY, 0.3, 2.0, *NEAR_HALF_TURN[:2]])
def test_log_undoes_exp(axis: tuple[float, ...], angle: float):
    V = twist(np.array([0.2, -0.7, 0.4]), axis, angle)
    found = se3.log(se3.exp(V))
    assert found == pytest.approx(V, abs=CLOSE)
    assert np.abs(found - V)[3:].max() <= CLOSE * angle


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("angle", NEAR_HALF_TURN)
def test_exp_undoes_log_near_a_half_turn(rng: np.random.Generator, axis: tuple[float, ...], angle: float):
    X = se3.exp(twist(rng.normal(size=3), axis, angle))
    assert se3.exp(se3.log(X)) == pytest.approx(X, abs=CLOSE)


@every_shape
def test_exp_undoes_log(rng: np.random.Generator, shape: tuple[int, ...]):
    X = se3.random(rng, shape)
    assert se3.log(X).shape == (*shape, 6)
    assert se3.exp(se3.log(X)) == pytest.approx(X, abs=CLOSE)


def test_motions_with_one_twist_add(rng: np.random.Generator):
    V = rng.normal(size=6)
    assert se3.exp(0.4 * V) @ se3.exp(0.8 * V) == pytest.approx(se3.exp(1.2 * V), abs=CLOSE)
    assert se3.inverse(se3.exp(V)) == pytest.approx(se3.exp(-V), abs=CLOSE)


@pytest.mark.parametrize("angle", [0.0, 1e-7, 0.05, 0.5, 2.0, 3.0])
def test_complex_step_of_exp_is_its_derivative(rng: np.random.Generator, angle: float):
    V, D = twist(rng.normal(size=3), rng.normal(size=3), angle), rng.normal(size=6)
    slope = se3.exp(V + 1e-30j * D).imag / 1e-30
    assert slope == pytest.approx(scipy.linalg.expm_frechet(se3.hat(V), se3.hat(D), compute_expm=False), abs=CLOSE)
    # the second difference quotient of a smooth function: 1e-5² and rounding / 1e-5
    assert slope == pytest.approx((se3.exp(V + 1e-5 * D) - se3.exp(V - 1e-5 * D)) / 2e-5, abs=1e-8)
    # and the derivative of log undoes it, less well near a half turn
    assert se3.log(se3.exp(V + 1e-30j * D)).imag / 1e-30 == pytest.approx(D, abs=100 * CLOSE)


def elementary(axis: str, angle: float = 0.0, shift: float = 0.0) -> np.ndarray:
    """Turn about and shift along a coordinate axis, written out."""
    i = "xyz".index(axis)
    j, k = (i + 1) % 3, (i + 2) % 3
    X = np.eye(4)
    X[j, j], X[j, k], X[k, j], X[k, k] = np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)
    X[i, 3] = shift
    return X


def test_denavit_hartenberg_element_by_element(rng: np.random.Generator):
    theta, d, a, alpha = rng.normal(size=4)
    ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    printed = [[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d], [0, 0, 0, 1]]
    assert se3.denavit_hartenberg(theta, d, a, alpha) == pytest.approx(np.array(printed), abs=CLOSE)


def test_modified_denavit_hartenberg_element_by_element(rng: np.random.Generator):
    theta, d, a, alpha = rng.normal(size=4)
    ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    craig = [[ct, -st, 0, a], [st * ca, ct * ca, -sa, -sa * d], [st * sa, ct * sa, ca, ca * d], [0, 0, 0, 1]]
    assert se3.modified_denavit_hartenberg(alpha, a, theta, d) == pytest.approx(np.array(craig), abs=CLOSE)


def test_denavit_hartenberg_is_its_four_motions(rng: np.random.Generator):
    theta, d, a, alpha = rng.normal(size=4)
    z, x = elementary("z", theta, d), elementary("x", alpha, a)
    assert se3.denavit_hartenberg(theta, d, a, alpha) == pytest.approx(z @ x, abs=CLOSE)
    assert se3.modified_denavit_hartenberg(alpha, a, theta, d) == pytest.approx(x @ z, abs=CLOSE)


@every_shape
def test_denavit_hartenberg_over_batches(rng: np.random.Generator, shape: tuple[int, ...]):
    theta, alpha = rng.normal(size=(2, *shape))
    last = tuple(-1 for _ in shape)
    for make in (se3.denavit_hartenberg, se3.modified_denavit_hartenberg):
        X = make(theta, 0.3, 0.1, alpha)
        assert X.shape == (*shape, 4, 4)
        assert X[last] == pytest.approx(make(theta[last], 0.3, 0.1, alpha[last]), abs=CLOSE)


@pytest.mark.parametrize("number", [sympy.Rational, mpmath.fraction], ids=["sympy", "mpmath"])
@pytest.mark.parametrize("numerators", [(1, 2, -3, 4, -5, 6), (1, 2, -3, 0, 0, 0)])
def test_objects_give_the_numbers_of_floats(number, numerators: tuple[int, ...]):
    V = np.array([+number(x, 7) for x in numerators], dtype=object)
    X = se3.exp(V)
    assert X.astype(float) == pytest.approx(se3.exp(V.astype(float)), abs=CLOSE)
    for function in (se3.inverse, se3.Ad, se3.Ad_inverse):
        assert function(X).astype(float) == pytest.approx(function(X.astype(float)), abs=CLOSE)
    for function in (se3.hat, se3.ad, se3.coad):
        assert function(V).astype(float) == pytest.approx(function(V.astype(float)), abs=CLOSE)
    row = se3.denavit_hartenberg(*V[:4])
    assert row.astype(float) == pytest.approx(se3.denavit_hartenberg(*V[:4].astype(float)), abs=CLOSE)
