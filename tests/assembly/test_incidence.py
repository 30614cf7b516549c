"""Assembly Incidence Matrices in all their forms: types, dyad classes, joint types, rolls, motions; and what contradicts itself."""

import time
import tracemalloc

import numpy as np
import pytest
import sympy

import modurob as mr
from modurob.errors import AimError, InputError, ModurobError
from tests.assembly.test_branches import cubes
from tests.robots import random_assembly, without_lines

CRAB = [[3, 0, 0, 0, 0], [4, 2, 0, 5, 0], [0, 5, 3, 0, 0], [0, 0, 2, 0, 0], [0, 0, 0, 2, 3], [0, 0, 0, 0, 5]]
CLASSES = ["DP", "DS", "DO", "DS", "DO"]


def with_last(row: list) -> list:
    return [*CRAB, row]


# ---- dyad classes ----


@pytest.mark.parametrize("last", [CLASSES, [*CLASSES, ""], ["DP", "-", "", "DS", "DO"]])
def test_dyad_classes_that_geometry_gives_are_read(last):
    assert mr.Assembly.from_aim(with_last(last), types="backbone") == mr.load("crab")


@pytest.mark.parametrize("column", range(5))
def test_dyad_classes_that_contradict_the_matrix_are_refused(column):
    wrong = {"DP": "DS", "DS": "DO", "DO": "DX"}[CLASSES[column]]
    last = [wrong if c == column else x for c, x in enumerate(CLASSES)]
    message = rf"column {column} of the AIM says {wrong}, but the geometry of m\d/\d - m\d/\d gives {CLASSES[column]}"
    with pytest.raises(AimError, match=message):
        mr.Assembly.from_aim(with_last(last), types="backbone")


def test_a_roll_makes_another_class():
    assert mr.Assembly.from_aim([[3, "B"], ["4@90", "B"], ["DO", ""]]).dyad_classes() == ["DO"]
    with pytest.raises(AimError, match="column 0 of the AIM says DP, but the geometry of m0/3 - m1/4 @ 90 gives DO"):
        mr.Assembly.from_aim([[3, "B"], ["4@90", "B"], ["DP", ""]])


def test_dyad_classes_of_symbolic_modules():
    """Lines that lie on each other do so for all lengths; others only by chance."""
    lengths = sympy.symbols("a b", positive=True)
    crab = mr.load("crab").with_parameters(length=lengths[0])
    assert crab.dyad_classes() == CLASSES
    two = mr.Assembly.single("x", "backbone", {"length": lengths[0]})
    assert two.dock("y", "backbone", "x/3", "4", parameters={"length": lengths[1]}).dyad_classes() == ["DP"]


# ---- joint types ----


def test_joint_types_between_modules_with_joints_are_checked():
    assert mr.Assembly.from_aim(with_last(["R", "R", "revolute", "-", "", ""]), types="backbone") == mr.load("crab")
    with pytest.raises(
        AimError,
        match=r"column 2 of the AIM says 'P', but backbone m2 and backbone m3 have joints of type R \(revolute\)",
    ):
        mr.Assembly.from_aim(with_last(["R", "R", "P", "R", "R"]), types="backbone")


def test_the_joint_type_of_a_virtual_joint_is_its_own():
    crane = [[7, 0], [7, 3], [0, 4]]
    assert len(mr.Assembly.from_aim([*crane, ["P", "R"]], types="backbone")) == 3
    with pytest.raises(
        AimError, match=r"column 0 of the AIM says 'R', but virtual m0 and backbone m1 have .* P \(prisma"
    ):
        mr.Assembly.from_aim([*crane, ["R", "R"]], types="backbone")


def chen_and_yang() -> list[list]:
    """Four cubes: a revolute joint on face 1 of the first, then a prismatic and a pivot joint side by side."""
    return [[1, 0, 0, "L"], [6, 2, 5, "L"], [0, 5, 0, "L"], [0, 0, 2, "L"], ["R", "P", "V", 0]]


def test_the_extended_aim_of_chen_and_yang():
    arm = mr.Assembly.from_aim(chen_and_yang())
    assert list(arm.modules) == ["m0", "m1", "m2", "m3", "e0", "e1", "e2"]
    assert [m.type.name for m in arm.modules.values()][4:] == ["revolute_joint", "prismatic_joint", "pivot_joint"]
    assert [str(c) for c in arm.connections] == [
        "m0/1 - e0/1",
        "e0/2 - m1/6",
        "m1/2 - e1/1",
        "e1/2 - m2/5",
        "m1/5 - e2/1",
        "e2/2 - m3/2",
    ]
    by_hand = mr.Assembly.single("a", "cube_link").dock("j", "revolute_joint", "a/1", "1")
    by_hand = by_hand.dock("b", "cube_link", "j/2", "6")
    by_hand = by_hand.dock("k", "prismatic_joint", "b/2", "1").dock("c", "cube_link", "k/2", "5")
    by_hand = by_hand.dock("l", "pivot_joint", "b/5", "1").dock("d", "cube_link", "l/2", "2")
    assert arm.key == by_hand.key
    assert sorted(j.kind for j in arm.mechanism().joints) == ["prismatic", "revolute", "revolute"]


def test_the_extended_aim_is_written_as_it_is_read():
    arm = mr.Assembly.from_aim(chen_and_yang())
    assert arm.aim_table("joints") == [*chen_and_yang()[:-1], ["R", "P", "V", ""]]
    assert mr.Assembly.from_aim(arm.aim_table("joints")) == arm
    # as rows and columns of their own, with dyad classes
    assert mr.Assembly.from_aim(arm.aim_table()).key == arm.key


def test_own_letters_are_translated():
    own = [["C1" if x == "L" else x for x in row] for row in chen_and_yang()[:-1]]
    types = {"C1": "cube_link", "rot": mr.module_type("revolute_joint")}
    arm = mr.Assembly.from_aim([*own, ["rot", "P", "V", ""]], types=types)
    assert arm == mr.Assembly.from_aim(chen_and_yang())
    with pytest.raises(ModurobError, match="no module type with letter 'C1'"):
        mr.Assembly.from_aim([*own, ["R", "P", "V", ""]])


@pytest.mark.parametrize("seed", range(12))
def test_cubes_and_joints_in_space_round_trip_in_both_forms(seed):
    """Joints stand either way round, at any roll, and not all of them between two links."""
    rng = np.random.default_rng(seed)
    robot = cubes(rng)
    robot = robot.rerooted(list(robot.modules)[rng.integers(len(robot))], order="breadth") if seed % 2 else robot
    for last_row in ("dyads", "joints"):
        assert mr.Assembly.from_aim(robot.aim_table(last_row)).key == robot.key


def test_a_joint_that_stands_the_other_way_round():
    arm = (
        mr.Assembly.single("a", "cube_link").dock("j", "revolute_joint", "a/1", "2").dock("b", "cube_link", "j/1", "6")
    )
    assert arm.aim_table("joints") == [[1, "L"], [6, "L"], ["-R", ""]]
    assert mr.Assembly.from_aim(arm.aim_table("joints")).key == arm.key


@pytest.mark.parametrize("name", without_lines())
def test_joint_types_of_the_shipped_robots(name):
    robot = mr.load(name)
    table = robot.aim_table("joints")
    assert set(table[-1][:-1]) == ({"P", "R"} if name == "crane" else {"R"})
    assert mr.Assembly.from_aim(table).key == mr.Assembly.from_aim(robot.aim_table()).key


@pytest.mark.parametrize(
    ("last", "message"),
    [
        (["R", "P", "Q", ""], "no module type with letter 'Q'"),
        (
            ["R", "P", "L", ""],
            "column 2 of the AIM says 'L', a cube_link: expected a joint module, with a joint and two faces",
        ),
        (["R", "P", "B", ""], "column 2 of the AIM says 'B', a backbone: expected a joint module"),
        (["R", "P", "-", ""], "m1/5 cannot dock to m3/2: a female connector does not fit a female one"),
        (["R", "P", "DS", ""], "m1/5 cannot dock to m3/2: a female|says DS: expected a joint type between two links"),
        (["R", "P", "V", "x"], "the last row of the AIM has 4 entries: expected 3, one for each column"),
        (["R", "P"], "the last row of the AIM has 2 entries: expected 3, one for each column"),
    ],
)
def test_joint_types_that_cannot_be(last, message):
    with pytest.raises(ModurobError, match=message):
        mr.Assembly.from_aim([*chen_and_yang()[:-1], last])


def test_last_rows_are_offered_by_name():
    with pytest.raises(InputError, match=r"last row 'joint': did you mean 'joints'. valid: dyads, joints"):
        mr.load("crab").aim_table("joint")


# ---- rolls ----


@pytest.mark.parametrize("seed", range(8))
def test_rolls_are_in_the_table(seed):
    robot = random_assembly(np.random.default_rng(seed), 3 + 2 * seed)
    assert mr.Assembly.from_aim(robot.aim_table()) == robot


@pytest.mark.parametrize("entries", [("3@90", 4), (3, "4@90"), ("3@45", "4@45"), ("3@-270", "4"), ("3@90.", "4")])
def test_a_roll_stands_beside_either_entry(entries):
    robot = mr.Assembly.from_aim([[entries[0]], [entries[1]]], types="backbone")
    assert robot.connections[0].roll == 90


@pytest.mark.parametrize(
    "entry", ["3@", "3@x", "@90", "3 @ 90", "3@9e1", "3@nan", "-3", "3@90@90", "3" * 500, "³", "٣"]
)
def test_entries_that_are_none(entry):
    with pytest.raises(AimError, match=r"AIM entry .* in row 0, column 0: expected a (face|whole) number"):
        mr.Assembly.from_aim([[entry], [4]], types="backbone")


def test_a_roll_that_the_ports_do_not_allow():
    with pytest.raises(ModurobError, match="roll 45 degrees; valid: 0, 90, 180, 270"):
        mr.Assembly.from_aim([["3@45"], [4]], types="backbone")


# ---- motions of virtual joints ----


@pytest.mark.parametrize(
    ("entry", "joint"),
    [
        (7, mr.Prismatic((0, 0, 1))),
        ("7z", mr.Prismatic((0, 0, 1))),
        ("7x", mr.Prismatic((1, 0, 0))),
        ("7Y", mr.Revolute((0, 1, 0))),
        ("7(0 0 1 0 0 0)", mr.Prismatic((0, 0, 1))),
        ("7(0, 0, 0, 0.6, 0, -0.8)", mr.Revolute((0.6, 0, -0.8))),
    ],
)
def test_a_motion_beside_a_seven_is_that_of_its_virtual_joint(entry, joint):
    robot = mr.Assembly.from_aim([[entry, 0], [7, 3], [0, 4]], types="backbone")
    assert robot.modules["m0"].joints["joint"].type == joint
    assert mr.Assembly.from_aim(robot.aim_table()).key == robot.key


@pytest.mark.parametrize("motions", ["x", "xyZ", "zyxZYX", "Y", "zz"])
def test_virtual_joints_round_trip(motions):
    robot = mr.Assembly.from_grid("B B").on_virtual_joints(motions)
    assert mr.Assembly.from_aim(robot.aim_table()).key == robot.key


@pytest.mark.parametrize("motions", ["x", "z", "xyZ", "zz"])
@pytest.mark.parametrize("base", ["m0", "m1", "v0"])
def test_virtual_joints_round_trip_from_any_module(motions, base):
    """Both ports of a virtual joint are 7: which is which must not depend on the row it stands in."""
    robot = mr.Assembly.from_grid("B B").on_virtual_joints(motions).rerooted(base)
    again = mr.Assembly.from_aim(robot.aim_table())
    assert again.key == robot.key
    text = mr.Assembly.from_aim(robot.matrix_text())
    assert text.key == robot.key


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([["3x"], [4]], "column 0 of the AIM gives m0 a motion: expected one, of a virtual joint"),
        ([["7x", 0], ["7x", 3], [0, 4]], "column 0 of the AIM gives m1 a motion: expected one, of a virtual joint"),
        ([[7, 0, 0], ["7x", "7y", 0], [0, 7, 3], [0, 0, 4]], "column 1 of the AIM gives m1 a motion: expected one"),
        ([["7(1 2 3)", 0], [7, 3], [0, 4]], "expected a twist of six numbers, a slide .* or a turn"),
        ([["7(0 0 1 0 0 1)", 0], [7, 3], [0, 4]], "expected a twist of six numbers"),
        ([["7(0 0 0 0 0 0)", 0], [7, 3], [0, 4]], "expected a twist of six numbers"),
        ([["7(0 0 1e999 0 0 0)", 0], [7, 3], [0, 4]], "expected a twist of six numbers"),
        ([["7(0 0 1e 0 0 0)", 0], [7, 3], [0, 4]], "expected a twist of six numbers"),
    ],
)
def test_motions_that_cannot_be(matrix, message):
    with pytest.raises(AimError, match=message):
        mr.Assembly.from_aim(matrix, types="backbone")


# ---- ports without numbers ----


def test_ports_without_numbers_are_read_back():
    spec = mr.module_type("backbone").specification
    ports = {n: p.model_copy(update={"number": 3 if n == "2" else None}) for n, p in spec.ports.items()}
    bare = mr.ModuleType(spec.model_copy(update={"name": "bare", "letter": None, "ports": ports}), "bare")
    robot = mr.Assembly.single("m0", bare).dock("m1", bare, "m0/3", "4").dock("m2", bare, "m1/2", "5")
    assert mr.Assembly.from_aim(robot.aim(), types=bare) == robot
    assert mr.Assembly.from_aim(robot.aim_table(), types={"bare": bare}) == robot


# ---- size ----


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ("3\n" * 20_000, "an AIM of 20000 rows: expected at most 10000 modules"),
        ("3\n" * 9_000, "column 0 of the AIM has 9000 entries: expected two"),
        ("3 " * 20_000, "column 0 of the AIM has 1 entries"),
        ("3 " * 50_000, "an AIM of 50000 columns: expected at most 20000 connections"),
        ("0 " * 400_000, "an AIM of 400000 columns"),
        ("7(" * 100_000, "AIM|matrix|letter"),
        ("7(0 " * 100_000, "AIM|matrix|letter"),
        ("]" * 500_000, "no matrix"),
        ("] " * 250_000 + "[", "no matrix"),
        ("3]" + " " * 900_000, "column 0 of the AIM has 1 entries"),
        ("7(0)" * 200_000, "an AIM of 200000 columns"),
        ("\0 " * 10, "AIM|letter"),
        ("3" * 1_000_001, "a matrix of 1000001 characters: expected at most 1000000"),
        ("m0\n" * 100_000, "no matrix"),
        ([[3]] * 20_000, "an AIM of 20000 rows"),
        (np.zeros((3, 30_000)), "an AIM of 30000 columns"),
    ],
)
def test_large_matrices_are_refused_soon_and_with_little_memory(matrix, message):
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(AimError, match=message) as caught:
        mr.Assembly.from_aim(matrix, types="backbone")
    assert time.process_time() - start < 3  # s, of which tracing takes half
    assert tracemalloc.get_traced_memory()[1] < 100e6
    assert len(str(caught.value)) < 500
    tracemalloc.stop()


def test_a_long_snake_is_read():
    n = 300
    aim = np.zeros((n, n - 1), dtype=int)
    aim[np.arange(n - 1), np.arange(n - 1)], aim[np.arange(1, n), np.arange(n - 1)] = 3, 4
    assert len(mr.Assembly.from_aim(aim, types="backbone")) == n
