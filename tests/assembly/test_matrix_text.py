"""Matrices and lists as text, both ways."""

import numpy as np
import pytest

import modurob as mr
from modurob.assembly import matrix_text
from modurob.errors import AimError, InputError, ModurobError
from tests.robots import random_assembly, without_lines

CRAB = mr.load("crab")
SHIPPED = [mr.load(name) for name in without_lines()]
ROBOTS = [*SHIPPED, *(random_assembly(np.random.default_rng(s), 2 + s) for s in range(6))]


@pytest.mark.parametrize("robot", ROBOTS, ids=repr)
def test_the_aim_is_read_as_it_is_written(robot):
    plain = mr.Assembly.from_aim(robot.aim_table())
    assert mr.Assembly.from_aim(robot.matrix_text("aim")) == plain
    assert matrix_text.read(robot.matrix_text("aim"), "aim")[:-1] == robot.aim_table()[:-1]


@pytest.mark.parametrize("robot", ROBOTS, ids=repr)
@pytest.mark.parametrize("order", ["depth", "breadth"])
@pytest.mark.parametrize("base", [0, -1])
def test_the_lists_are_read_as_they_are_written(robot, order, base):
    base = list(robot.modules)[base]
    reach = matrix_text.read(robot.matrix_text("accessibility", base, order), "accessibility") if len(robot) else None
    np.testing.assert_array_equal(reach, robot.accessibility(base, order))
    if len(robot) > 2:
        text = robot.matrix_text("idtl", base, order)
        rows = robot.indirect_transformations(base, order)
        assert (matrix_text.read(text, "idtl") if rows else []) == rows
    types = [m.type for m in robot.modules.values()]
    parameters = [dict(m.changed) for m in robot.modules.values()]
    text = robot.matrix_text("dtl", base, order)
    assert mr.Assembly.from_direct_transformations(text, types, parameters).key == robot.key


@pytest.mark.parametrize("robot", ["crab", "tree9", "crane"])
def test_matrices_are_read_in_all_the_ways_people_paste_them(robot):
    robot = mr.load(robot)
    plain = mr.Assembly.from_aim(robot.aim_table())
    table = robot.aim_table()
    names = [*robot.modules, "dyad"]
    texts = [
        "\n".join(" ".join(map(str, row)) for row in table),
        "\n".join(",\t".join(map(str, row)) for row in table[:-1]),
        str([[str(x) for x in row] for row in table[:-1]]),
        str(table),
        "; ".join(" ".join(map(str, row)) for row in table[:-1]),
        "   e0 e1 type\n" + "\n".join(f"{n}: {' '.join(map(str, row))}" for n, row in zip(names, table, strict=True)),
        "(" + "), (".join(", ".join(map(str, row)) for row in table[:-1]) + ")",
    ]
    for text in texts:
        assert mr.Assembly.from_aim(text) == plain


def test_a_matrix_without_types_is_of_the_chosen_type():
    text = "\n".join(" ".join(map(str, row)) for row in CRAB.aim())
    assert mr.Assembly.from_aim(text, "backbone") == CRAB
    assert {m.type.name for m in mr.Assembly.from_aim(text, "scout").modules.values()} == {"scout"}
    assert mr.Assembly.from_aim(str(CRAB.aim()), "backbone") == CRAB


def test_a_single_module_as_text():
    one = mr.Assembly.single("m0", "scout")
    assert one.matrix_text() == "S\n"
    assert mr.Assembly.from_aim(one.matrix_text()) == one
    assert (one.matrix_text("accessibility"), one.matrix_text("dtl"), one.matrix_text("idtl")) == ("0", "", "")


def test_twists_in_text():
    crane = "7(0 0 1 0 0 0), 0; 7 3; 0 4"
    robot = mr.Assembly.from_aim(crane, types="backbone")
    assert robot.modules["m0"].joints["joint"].type == mr.Prismatic((0, 0, 1))
    tilted = "7(0, 0, 0, 0.6, 0, 0.8) 0 J\n7 3 B\n0 4@90 B\n- DO"
    assert mr.Assembly.from_aim(tilted).modules["m0"].joints["joint"].type == mr.Revolute((0.6, 0, 0.8))


def test_the_extended_aim_in_text():
    arm = mr.Assembly.from_aim("1 0 L\n6 2 L\n0 5@90 L\nR P")
    assert [str(c) for c in arm.connections][-1] == "e1/2 - m2/5 @ 90"


def test_a_dtl_makes_the_robot():
    assert mr.Assembly.from_direct_transformations(CRAB.direct_transformations(), types="backbone") == CRAB
    text = str([list(row) for row in CRAB.direct_transformations()])
    assert mr.Assembly.from_direct_transformations(text, types="backbone") == CRAB
    assert mr.Assembly.from_direct_transformations("i j from to\n0 1 3 4", types="backbone").connections == (
        mr.Connection.parse("m0/3 - m1/4"),
    )


def test_a_dtl_names_ports_without_numbers():
    spec = mr.module_type("backbone").specification
    ports = {f"p{n}": p.model_copy(update={"number": None}) for n, p in spec.ports.items()}
    bare = mr.ModuleType(spec.model_copy(update={"name": "bare", "ports": ports}), "bare")
    robot = mr.Assembly.single("m0", bare).dock("m1", bare, "m0/p3", "p4")
    assert robot.direct_transformations() == [(0, 1, "p3", "p4")]
    assert mr.Assembly.from_direct_transformations(robot.direct_transformations(), bare) == robot
    assert mr.Assembly.from_direct_transformations("0 1 p3 p4", bare) == robot
    assert mr.Assembly.from_direct_transformations(robot.matrix_text("dtl"), bare) == robot


@pytest.mark.parametrize(
    ("text", "view", "message"),
    [
        ("", "aim", "no matrix: expected one row for each module"),
        ("e0 e1 type", "aim", "no matrix"),
        ("3 0\n4", "aim", "rows of one length"),
        ("3 0\n9 2\n0 5", "aim", "no face 9"),
        ("3\n4\n2", "aim", "has 3 entries"),
        ("__import__('os')", "aim", "AIM|matrix|letter"),
        ("3 1 2", "dtl", "row 0 of the DTL is .3, 1, 2.: expected 4 numbers: module, module, face, face"),
        ("0 99999999 3 4", "dtl", "row 0 of the DTL"),
        ("0 7 3 4", "dtl", "the DTL names module 7, but 1 rows reach modules 0 to 1 only"),
        ("0 1 3 0", "dtl", "face 0 in row 0 of the DTL: expected the number or the name of a port"),
        ("0 1 3 4x", "dtl", "gives m1 a motion|no face"),
        ("0 1 3 left", "dtl", "backbone 'm1' has no face left"),
        ("a b 3 4", "dtl", "row 0 of the DTL is"),
        ("0 0 3 4", "dtl", "a module cannot dock to itself"),
    ],
)
def test_wrong_texts(text, view, message):
    read = {"aim": mr.Assembly.from_aim, "dtl": mr.Assembly.from_direct_transformations}[view]
    with pytest.raises(ModurobError, match=message):
        read(text, types="backbone")


@pytest.mark.parametrize(
    ("text", "view", "message"),
    [
        ("0 1\n0", "accessibility", r"row 1 of the accessibility matrix is \[0\]: expected 2 entries, 0 or 1"),
        ("0 2\n0 0", "accessibility", r"row 0 of the accessibility matrix is \[0, 2\]: expected 2 entries, 0 or 1"),
        ("0 x\n0 0", "accessibility", "row 0 of the accessibility matrix"),
        ("0 2 0 1 1", "idtl", "row 0 of the IDTL is .*: expected 6 numbers: i, j, i, x, x, j"),
        ("0 2 0 1 1 3", "idtl", r"row 0 of the IDTL is \(0, 2, 0, 1, 1, 3\): expected i, j, i, x, x, j"),
        ("", "idtl", "no matrix"),
    ],
)
def test_wrong_lists(text, view, message):
    with pytest.raises(AimError, match=message):
        matrix_text.read(text, view)


@pytest.mark.parametrize("call", [lambda v: CRAB.matrix_text(v), lambda v: matrix_text.read("0 1", v)])
def test_views_are_offered_by_name(call):
    with pytest.raises(InputError, match=r"view 'dlt': did you mean 'dtl'. valid: aim, accessibility, dtl, idtl"):
        call("dlt")


def test_rows_that_are_none():
    with pytest.raises(AimError, match="a DTL without rows"):
        mr.Assembly.from_direct_transformations([], types="backbone")
