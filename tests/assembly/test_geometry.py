"""The faces of a Backbone against Gutenkunst, Table 3.1, and Meister, Gutenkunst, Levi, Table II, from geometry alone."""

from itertools import product

import numpy as np
import pytest

import modurob as mr
from modurob.spatial import se3, so3

# as on a die; 1 and 6, top and bottom, do not dock
FACE = {2: (1, 0, 0), 5: (-1, 0, 0), 3: (0, 1, 0), 4: (0, -1, 0)}
PAIRS = list(product(FACE, FACE))

# Gutenkunst, Table 3.1: which pairs of faces turn module j by how many quarter turns about z
QUARTERS = {
    0: {(3, 4), (5, 2), (4, 3), (2, 5)},
    1: {(3, 5), (5, 4), (4, 2), (2, 3)},
    2: {(3, 3), (5, 5), (4, 4), (2, 2)},
    3: {(3, 2), (5, 3), (4, 5), (2, 4)},
}
MATRIX = {
    0: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    1: [[0, -1, 0], [1, 0, 0], [0, 0, 1]],
    2: [[-1, 0, 0], [0, -1, 0], [0, 0, 1]],
    3: [[0, 1, 0], [-1, 0, 0], [0, 0, 1]],
}

# Meister, Gutenkunst, Levi, Table II
CLASSES = {
    "DS": {(2, 2), (2, 5), (5, 2), (5, 5)},
    "DP": {(3, 3), (3, 4), (4, 3), (4, 4)},
    "DO": {(2, 3), (2, 4), (3, 2), (3, 5), (4, 2), (4, 5), (5, 3), (5, 4)},
}


def pair(i: int, j: int, roll: float = 0.0, kind: str = "backbone", **parameters: float) -> mr.Assembly:
    """Two modules, face i of the first on face j of the second."""
    return mr.Assembly.single("a", kind, parameters).dock("b", kind, f"a/{i}", str(j), roll, parameters)


def turned(i: int, j: int, roll: float = 0.0, kind: str = "backbone") -> np.ndarray:
    return se3.rotation(pair(i, j, roll, kind).placements["b"])


def key_of(table: dict, entry: tuple[int, int]):
    (found,) = [key for key, pairs in table.items() if entry in pairs]
    return found


@pytest.mark.parametrize("kind", ["backbone", "scout"])
@pytest.mark.parametrize(("i", "j"), PAIRS)
def test_rotation_of_every_face_pair_is_that_of_table_3_1(i, j, kind):
    np.testing.assert_array_equal(turned(i, j, kind=kind), MATRIX[key_of(QUARTERS, (i, j))])


@pytest.mark.parametrize(("i", "j"), PAIRS)
def test_docked_faces_look_at_each_other_one_length_apart(i, j):
    X = pair(i, j, length=0.3).placements["b"]
    np.testing.assert_array_equal(se3.rotation(X) @ FACE[j], -np.array(FACE[i]))
    np.testing.assert_allclose(se3.position(X), 0.3 * np.array(FACE[i]), atol=1e-15)


@pytest.mark.parametrize(("i", "j"), PAIRS)
def test_the_other_way_round_is_the_inverse(i, j):
    np.testing.assert_allclose(pair(i, j).placements["b"] @ pair(j, i).placements["b"], np.eye(4), atol=1e-15)


@pytest.mark.parametrize(("i", "j"), PAIRS)
def test_dyad_class_of_every_face_pair_is_that_of_table_ii(i, j):
    assert pair(i, j).dyad_classes() == [key_of(CLASSES, (i, j))]


@pytest.mark.parametrize("roll", [90, 180, 270])
@pytest.mark.parametrize(("i", "j"), PAIRS)
def test_roll_turns_the_second_module_about_the_first_port(i, j, roll):
    flat, rolled = pair(i, j).placements["b"], pair(i, j, roll).placements["b"]
    about = so3.about(np.array(FACE[i], dtype=float), np.array(np.deg2rad(roll)))
    np.testing.assert_allclose(se3.rotation(rolled), about @ se3.rotation(flat), atol=1e-15)
    np.testing.assert_allclose(se3.position(rolled), se3.position(flat), atol=1e-15)


@pytest.mark.parametrize("roll", [90, 180, 270])
@pytest.mark.parametrize(("i", "j"), PAIRS)
def test_roll_makes_parallel_hinges_orthogonal_and_leaves_those_on_the_normal(i, j, roll):
    flat = key_of(CLASSES, (i, j))
    assert pair(i, j, roll).dyad_classes() == ["DO" if flat == "DP" and roll != 180 else flat]


def test_a_module_without_hinge_has_no_dyad_class():
    assert mr.Assembly.single("c", "cube_link").dock("p", "pivot_joint", "c/2", "1").dyad_classes() == ["-"]


def test_hinges_that_are_neither_parallel_nor_orthogonal_have_their_own_class():
    straight = mr.module_type("backbone").specification
    hinge = straight.joints["hinge"].model_copy(update={"axis": (1, 1, 0)})
    tilted = mr.ModuleType(straight.model_copy(update={"name": "tilted", "joints": {"hinge": hinge}}), "tilted")
    assert mr.Assembly.single("a", "backbone").dock("b", tilted, "a/3", "4").dyad_classes() == ["DX"]


def test_the_crab_has_three_active_hinges():
    robot = mr.load("crab").mechanism(base="m0")
    assert [j.name for j in robot.joints] == ["m0/hinge", "m2/hinge", "m4/hinge"]
    assert robot.idle == ("m1/hinge", "m3/hinge", "m5/hinge")
    assert (robot.nq, robot.nv) == (3, 3)


def test_idle_hinges_move_when_asked_for():
    robot = mr.load("crab").mechanism(base="m0", keep_idle=True)
    assert robot.nv == 6
    assert robot.idle == ()


def test_dyad_classes_of_the_crab():
    assert mr.load("crab").dyad_classes() == ["DP", "DS", "DO", "DS", "DO"]


@pytest.mark.parametrize("base", ["a", "b"])
def test_a_hinge_turns_its_to_part_whichever_module_is_the_base(base):
    X = pair(3, 4).mechanism(base=base).forward_kinematics([0.3])
    about = so3.about(np.array([1.0, 0, 0]), np.array(0.3))
    np.testing.assert_allclose(se3.rotation(se3.inverse(X["a"]) @ X["b"]), about, atol=1e-15)
    np.testing.assert_array_equal(X[base], np.eye(4))


@pytest.mark.parametrize("length", [0.105, 10.0])
def test_half_a_carries_the_mass_one_length_from_the_parent_hinge(length):
    robot = pair(3, 4, length=length, mass=2.0, Ixx=0, Iyy=0, Izz=0).mechanism(base="a")
    np.testing.assert_allclose(robot.mass_matrix([0.4]), [[2.0 * length**2]], rtol=1e-14)
