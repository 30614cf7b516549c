"""det J in closed form against numbers and published formulas; nearest singular configurations."""

import numpy as np
import pytest
import sympy

import modurob as mr
from modurob.errors import InputError, NotExactError

HALF = np.pi / 2
q1, q2, q3, q4, q5, q6 = Q = sympy.symbols("q1:7", real=True)

UR5 = mr.Mechanism.from_dh(
    [(0, HALF, 0.089159), (-0.425, 0, 0), (-0.39225, 0, 0), (0, HALF, 0.10915), (0, -HALF, 0.09465), (0, 0, 0.0823)]
)
STANFORD = mr.Mechanism.from_dh(
    [(0, -HALF, 0.4), (0, HALF, 0.2), (0, 0, 0, 0, "prismatic"), (0, -HALF, 0), (0, HALF, 0), (0, 0, 0.1)]
)
ROOTS = mr.Mechanism.from_dh([(0.3, np.pi / 4, 0.1), (0.2, -np.pi / 4, 0), (0.25, 0, 0.1)])
LEG = mr.Mechanism.from_dh([(0.1, HALF, 0), (0.3, 0, 0), (0.25, 0, 0)])


@pytest.mark.parametrize(
    ("arm", "rows"),
    [
        (UR5, "pose"),
        (STANFORD, "pose"),
        (LEG, "position"),
        (ROOTS, "position"),
        (ROOTS, "rotation"),
        (ROOTS, "x rz ry"),
    ],
    ids=["ur5", "stanford", "leg", "roots", "roots turning", "roots mixed"],
)
def test_the_product_of_the_factors_is_det_j(arm: mr.Mechanism, rows: str, rng: np.random.Generator):
    found = arm.singularities("tip", rows=rows)
    value = sympy.lambdify(found.symbols, found.determinant)
    chosen = mr.kinematics.jacobians.row_indices(rows)
    for q in rng.uniform(-3, 3, size=(10, arm.nv)):
        assert value(*q) == pytest.approx(np.linalg.det(arm.jacobian(q, "tip")[chosen]), abs=1e-13)


def test_det_j_of_the_lwa4p_in_symbols():
    """det J = -a2 d4 sin q3 (a2 sin q2 + d4 sin(q2 + q3)) sin q5."""
    a2, d1, d4 = sympy.symbols("a2 d1 d4", positive=True)
    h = sympy.pi / 2
    rows = [(0, -h, d1), (a2, 0, 0, -h), (0, h, 0, h), (0, -h, d4), (0, h, 0), (0, 0, 0)]
    found = mr.Mechanism.from_dh(rows).singularities("tip")
    expected = -a2 * d4 * sympy.sin(q3) * (a2 * sympy.sin(q2) + d4 * sympy.sin(q2 + q3)) * sympy.sin(q5)
    assert sympy.expand(found.determinant - expected) == 0
    assert set(found.conditions) == {sympy.sin(q3), sympy.sin(q5), a2 * sympy.sin(q2) + d4 * sympy.sin(q2 + q3)}


def test_det_j_of_the_ur5_has_its_three_known_factors():
    """Wrist sin q5, elbow sin q3, and the shoulder, where the wrist's point lies above axis 1."""
    assert {sympy.sin(q3), sympy.sin(q5)} < set(UR5.singularities("tip").conditions)
    assert len(UR5.singularities("tip").conditions) == 3


def test_the_planar_arm_in_symbols():
    """von Stryk 4.4.1: l1 l2 sin q2."""
    l1, l2 = sympy.symbols("l1 l2", positive=True)
    found = mr.Mechanism.from_dh([(l1, 0, 0), (l2, 0, 0)]).singularities("tip", rows="x y")
    assert sympy.simplify(found.determinant - l1 * l2 * sympy.sin(q2)) == 0


def test_factors_that_sine_and_cosine_hide():
    """1 - cos² is a square of sin; sin(q2)(1 + cos q2) has no double count."""
    angled = mr.load("lwa4p_angled").robot().singularities("wrist/out")
    assert set(angled.conditions) == {sympy.cos(q2), sympy.sin(q3), sympy.sin(q5)}
    assert sympy.sin(q3) ** 2 in angled.factors


def test_an_arm_that_is_always_singular():
    flat = mr.Mechanism.from_dh([(1, 0, 0), (1, 0, 0), (1, 0, 0)])
    assert flat.singularities("tip", rows="position").factors == (0,)
    assert flat.singularities("tip", rows="position").conditions == ()


def test_modules_and_branches():
    """A chain of docked modules between two of them."""
    crab = mr.load("crab").mechanism()
    assert crab.singularities("m3", rows="y z").conditions == (sympy.sin(q2),)


@pytest.mark.parametrize(
    "start", [[0.3, 0.8, 0.4, 0.2, 0.7, 0.1], [1.0, -0.6, 1.2, 0.5, -0.3, 2.0], [0.0, 1.5, -0.8, 1.0, 1.4, 0.0]]
)
def test_nearest_singularity(start):
    arm = mr.load("lwa4p").robot()
    near = arm.nearest_singularity(start, "wrist/centre")
    assert near.found
    found = arm.singularities("wrist/centre")
    value = sympy.lambdify(found.symbols, found.determinant)
    assert value(*near.q) == pytest.approx(0, abs=1e-10)
    assert arm.jacobian(near.q, "wrist/centre").shape == (6, 6)
    assert np.linalg.svd(arm.jacobian(near.q, "wrist/centre"))[1][-1] == pytest.approx(near.value, abs=1e-12)


def test_an_arm_that_is_never_singular():
    slides = mr.Mechanism.from_dh(
        [(0, HALF, 0, HALF, "prismatic"), (0, HALF, 0, HALF, "prismatic"), (0, 0, 0, 0, "prismatic")]
    )
    near = slides.nearest_singularity([0.1, 0.2, 0.3], "tip", "position")
    assert not near.found
    assert near.value == pytest.approx(1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: LEG.singularities("tip"), "J has 6 rows and 3 joints: expected as many rows as joints"),
        (lambda: LEG.singularities("tip", rows="x y q"), "row 'q'"),
        (lambda: LEG.singularities("tip", "link1", "x y z"), "J has 3 rows and 2 joints"),
    ],
)
def test_what_is_refused(call, words: str):
    with pytest.raises(InputError, match=words):
        call()


def test_screws_with_pitch_and_numbers_that_are_not_exact():
    b = mr.Builder("screw")
    b.body("a", joint=mr.Helical((0, 0, 1), pitch=0.1))
    with pytest.raises(InputError, match="helical or mimic joint gives no polynomial"):
        b.build().singularities("a", rows="z")
    with pytest.raises(NotExactError, match="no short fraction"):
        mr.Mechanism.from_dh([(0.123456789123, 0.1, 0)]).singularities("tip", rows="rz")
