import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from modurob.errors import InputError
from modurob.spatial import angles, so3

# entries of order one after a few products
CLOSE = 1e-12
# within angles.SINGULAR the two outer axes count as one, which costs as much
CLOSE_TO_SINGULAR = 1e-9
CONVENTIONS = [(kind, sequence) for kind in ("euler", "fixed") for sequence in angles.SEQUENCES]
every_convention = pytest.mark.parametrize(("kind", "sequence"), CONVENTIONS)


def matrix(kind: str, sequence: str, a: np.ndarray) -> np.ndarray:
    return getattr(angles, kind)(sequence, a)


def solved(kind: str, sequence: str, R: np.ndarray) -> angles.Angles:
    return getattr(angles, f"{kind}_angles")(sequence, R)


def scipy_name(kind: str, sequence: str) -> str:
    """scipy writes current axes in capitals."""
    return sequence.upper() if kind == "euler" else sequence


def singular_middles(sequence: str) -> tuple[float, float]:
    return (0.0, np.pi) if sequence[0] == sequence[2] else (np.pi / 2, -np.pi / 2)


def same_turns(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference of angles, whole turns apart."""
    return float(np.abs(np.angle(np.exp(1j * (a - b)))).max())


def test_there_are_24_conventions():
    assert len(set(CONVENTIONS)) == 24


@every_convention
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_matrix_is_that_of_scipy(rng: np.random.Generator, kind: str, sequence: str, shape: tuple[int, ...]):
    a = rng.uniform(-np.pi, np.pi, size=(*shape, 3))
    judged = Rotation.from_euler(scipy_name(kind, sequence), a.reshape(-1, 3)).as_matrix()
    assert matrix(kind, sequence, a) == pytest.approx(judged.reshape(*shape, 3, 3), abs=CLOSE)


@every_convention
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (200,)])
def test_both_solutions_make_the_rotation(rng: np.random.Generator, kind: str, sequence: str, shape: tuple[int, ...]):
    R = so3.random(rng, shape)
    first, second, singular = solved(kind, sequence, R)
    assert not np.any(singular)
    assert singular.shape == shape
    for solution in (first, second):
        assert solution.shape == (*shape, 3)
        assert matrix(kind, sequence, solution) == pytest.approx(R, abs=CLOSE)
    assert np.all(np.abs(first - second).max(axis=-1) > 1e-3)


@every_convention
def test_first_solution_is_that_of_scipy(rng: np.random.Generator, kind: str, sequence: str):
    R = so3.random(rng, (50,))
    first = solved(kind, sequence, R).first
    # an angle is as well conditioned as the middle one is far from singular, here by 1e-3 or more
    assert same_turns(first, Rotation.from_matrix(R).as_euler(scipy_name(kind, sequence))) < 1e-11
    middle = first[..., 1]
    assert np.all((middle > 0) if sequence[0] == sequence[2] else (np.abs(middle) < np.pi / 2))


@every_convention
def test_solutions_hold_the_angles_they_were_made_from(rng: np.random.Generator, kind: str, sequence: str):
    a = np.array([1.1, -0.3, 0.5]) + 0.1 * rng.random(3)
    first, second, _ = solved(kind, sequence, matrix(kind, sequence, a))
    assert min(same_turns(first, a), same_turns(second, a)) < CLOSE


@every_convention
@pytest.mark.parametrize("away", [0.0, 1e-13, -1e-12, 1e-11])
@pytest.mark.parametrize("which", [0, 1])
def test_singular_rotations_follow_the_rule(kind: str, sequence: str, away: float, which: int):
    a = np.array([0.4, singular_middles(sequence)[which] + away, -1.3])
    R = matrix(kind, sequence, a)
    first, second, singular = solved(kind, sequence, R)
    assert singular.item() is True
    assert np.array_equal(first, second)
    assert first[0 if kind == "euler" else 2] == 0
    assert matrix(kind, sequence, first) == pytest.approx(R, abs=CLOSE_TO_SINGULAR)
    assert same_turns(np.abs(first[1]), np.abs(a[1])) < CLOSE_TO_SINGULAR


@every_convention
@pytest.mark.parametrize("away", [1e-6, -1e-8, 1e-9, -1e-9, 1e-10])
@pytest.mark.parametrize("which", [0, 1])
def test_rotations_near_singular_ones_are_made(kind: str, sequence: str, away: float, which: int):
    R = matrix(kind, sequence, np.array([0.4, singular_middles(sequence)[which] + away, -1.3]))
    first, second, singular = solved(kind, sequence, R)
    tolerance = CLOSE_TO_SINGULAR if singular else CLOSE
    assert bool(singular) is False or abs(away) <= 1e-10
    for solution in (first, second):
        assert matrix(kind, sequence, solution) == pytest.approx(R, abs=tolerance)


def test_singular_and_regular_rotations_go_together():
    a = np.array([[0.4, np.pi / 2, -1.3], [0.4, 0.2, -1.3]])
    first, _, singular = angles.euler_angles("xyz", angles.euler("xyz", a))
    assert singular.tolist() == [True, False]
    assert first[1] == pytest.approx(a[1], abs=CLOSE)
    # at a right angle only the sum of the outer angles counts
    assert first[0] == pytest.approx(np.array([0, np.pi / 2, -0.9]), abs=CLOSE)


@pytest.mark.parametrize("sequence", angles.SEQUENCES)
def test_fixed_axes_are_current_axes_backwards(rng: np.random.Generator, sequence: str):
    a = rng.normal(size=3)
    assert angles.fixed(sequence, a) == pytest.approx(angles.euler(sequence[::-1], a[::-1]), abs=CLOSE)


def test_printed_matrix_of_fixed_xyz(rng: np.random.Generator):
    psi, theta, phi = a = rng.normal(size=3)
    (s1, s2, s3), (c1, c2, c3) = np.sin(a), np.cos(a)
    printed = [
        [c3 * c2, -s3 * c1 + c3 * s2 * s1, s3 * s1 + c3 * s2 * c1],
        [s3 * c2, c3 * c1 + s3 * s2 * s1, -c3 * s1 + s3 * s2 * c1],
        [-s2, c2 * s1, c2 * c1],
    ]
    assert angles.fixed("xyz", np.array([psi, theta, phi])) == pytest.approx(np.array(printed), abs=CLOSE)


@pytest.mark.parametrize("sequence", ["xxy", "xy", "xyzx", "abc", "XYZ", ""])
def test_other_sequences_are_refused(sequence: str):
    for call in (angles.euler, angles.fixed):
        with pytest.raises(InputError, match=r"no angle sequence.*valid: xyx, xyz"):
            call(sequence, np.zeros(3))
    for call in (angles.euler_angles, angles.fixed_angles):
        with pytest.raises(InputError, match="no angle sequence"):
            call(sequence, np.eye(3))
