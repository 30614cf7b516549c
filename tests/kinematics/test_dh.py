"""Denavit-Hartenberg tables: robots from them in both forms, against Pinocchio and the published arm."""

import numpy as np
import pinocchio as pin
import pytest
import sympy

import modurob as mr
from modurob.errors import InputError
from modurob.spatial import se3

# poses of order one after a few dozen products
CLOSE = 1e-12
HALF = np.pi / 2

# Sepp et al., table 2.1, with its joint offsets: (a, alpha, d, offset)
LWA4P = (
    (0.0, -HALF, 0.205, 0.0),
    (0.350, 0.0, 0.0, -HALF),
    (0.0, HALF, 0.0, HALF),
    (0.0, -HALF, 0.305, 0.0),
    (0.0, HALF, 0.0, 0.0),
    (0.0, 0.0, 0.0, 0.0),
)
LWA4P_PROXIMAL = (
    (0.0, 0.0, 0.205, 0.0),
    (0.0, -HALF, 0.0, -HALF),
    (0.350, 0.0, 0.0, HALF),
    (0.0, HALF, 0.305, 0.0),
    (0.0, -HALF, 0.0, 0.0),
    (0.0, HALF, 0.0, 0.0),
)


def random_rows(rng: np.random.Generator, n: int) -> list[tuple]:
    kinds = rng.choice(["revolute", "prismatic"], size=n, p=[0.7, 0.3])
    return [(*rng.uniform(-2, 2, size=4), str(kind)) for kind in kinds]


def pinocchio_pose(rows, form, q: np.ndarray) -> np.ndarray:
    """The last frame by Pinocchio's own products of placements."""
    X = pin.SE3.Identity()
    for (a, alpha, d, offset, kind), x in zip(rows, q, strict=True):
        turn, slide = (offset + x, d) if kind == "revolute" else (offset, d + x)
        z = pin.SE3(pin.utils.rotate("z", turn), np.array([0, 0, slide]))
        x = pin.SE3(pin.utils.rotate("x", alpha), np.array([a, 0, 0]))
        X = X * z * x if form == "distal" else X * x * z
    return X.homogeneous


@pytest.mark.parametrize("form", ["distal", "proximal"])
def test_random_tables_against_pinocchio(form: str, rng: np.random.Generator):
    for n in range(1, 9):
        rows, q = random_rows(rng, n), rng.uniform(-2, 2, size=n)
        base, tool = se3.random(rng), se3.random(rng)
        arm = mr.Mechanism.from_dh(rows, form, base=base, tool=tool)
        assert arm.frame_pose(q, "tip") == pytest.approx(base @ pinocchio_pose(rows, form, q) @ tool, abs=CLOSE)


def test_both_forms_of_the_lwa4p_are_one_arm(rng: np.random.Generator):
    distal, proximal = mr.Mechanism.from_dh(LWA4P), mr.Mechanism.from_dh(LWA4P_PROXIMAL, "proximal")
    q = rng.uniform(-3, 3, size=(100, 6))
    assert distal.frame_pose(q, "tip") == pytest.approx(proximal.frame_pose(q, "tip"), abs=CLOSE)
    assert distal.jacobian(q, "tip") == pytest.approx(proximal.jacobian(q, "tip"), abs=CLOSE)


def test_quarter_turns_are_exact():
    arm = mr.Mechanism.from_dh(LWA4P)
    assert set(arm.X_PJ[:, :3, :3].ravel()) == {-1.0, 0.0, 1.0}
    assert arm.frame_pose(np.zeros(6), "tip") == pytest.approx(se3.pose(p=np.array([0, 0, 0.86])), abs=CLOSE)


def test_inertias_and_properties_stand_in_the_frames_of_the_table(rng: np.random.Generator):
    own = [mr.JointProperties(lower=-i, upper=i, armature=0.1 * i) for i in (1.0, 2.0)]
    loads = [mr.spatial.inertia.random(rng) for _ in range(2)]
    arms = [
        mr.Mechanism.from_dh([(0.3, 0.4, 0.5, 0.6), (0.7, -0.2, 0.1, 0.3)], form, inertias=loads, properties=own)
        for form in ("distal", "proximal")
    ]
    q = rng.normal(size=2)
    for arm in arms:
        assert arm.limits.upper.tolist() == [1, 2]
        X = arm.forward_kinematics(q)
        energy = sum(
            -mr.spatial.inertia.mass(I) * arm.gravity @ (X[f"link{i}"] @ [*mr.spatial.inertia.centre(I), 1])[:3]
            for i, I in enumerate(loads, start=1)
        )
        assert arm.potential_energy(q) == pytest.approx(energy, abs=CLOSE)
        assert arm.armature == pytest.approx([0.1, 0.2])


def test_symbols_stay_exact():
    l1, l2, q1, q2 = sympy.symbols("l1 l2 q1 q2")
    arm = mr.Mechanism.from_dh([(l1, 0, 0), (l2, sympy.pi / 2, 0)])
    X = arm.frame_pose(np.array([q1, q2]), "tip")
    assert sympy.simplify(X[0, 3] - l1 * sympy.cos(q1) - l2 * sympy.cos(q1 + q2)) == 0
    assert X[2, 2] == 0


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "no row"),
        (7, "expected rows"),
        ("abc", "expected rows"),
        ([(1, 2)], "row 1 .* has 2 columns: expected a, alpha, d, offset, kind"),
        ([(0, 0, 0), 3.0], "row 2 .* has 1 columns"),
        ([(0, 0, 0, 0, "revolut")], "row 1: joint kind 'revolut': did you mean 'revolute'"),
        ([(0, "x", 0)], "row 1: alpha is 'x'"),
        ([(0, 0, np.nan)], "row 1: d is nan"),
        ([(None, 0, 0)], "row 1: a is None"),
    ],
)
def test_tables_that_are_none(rows, words: str):
    with pytest.raises(InputError, match=words):
        mr.Mechanism.from_dh(rows)


def test_arguments_that_do_not_fit():
    with pytest.raises(InputError, match="form 'craig': valid: distal, proximal"):
        mr.Mechanism.from_dh([(0, 0, 0)], "craig")
    with pytest.raises(InputError, match="inertias .* expected 1, one for each row"):
        mr.Mechanism.from_dh([(0, 0, 0)], inertias=[])
    with pytest.raises(InputError, match="properties .* expected 1, one for each row"):
        mr.Mechanism.from_dh([(0, 0, 0)], properties=[mr.JointProperties()] * 2)
