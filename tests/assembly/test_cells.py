"""Planar robots in cells: text both ways, and changes cell by cell."""

import time

import numpy as np
import pytest
import sympy

import modurob as mr
from modurob.assembly import cells
from modurob.errors import AssemblyError, InputError, ModurobError

CRAB = mr.load("crab")
PLANAR = ["B", "B B B", "S B .\n. B B", "B B\nB B", "B B\nB180 B180", "B90 . B270\nB B B\n. B .", "S90 B\nB270 S"]


def built(text: str) -> mr.Assembly:
    return mr.Assembly.from_grid(text)


# ---- text ----


@pytest.mark.parametrize("text", PLANAR)
def test_a_grid_is_written_as_it_is_read(text):
    assert built(built(text).grid()).key == built(text).key


@pytest.mark.parametrize("seed", range(20))
def test_random_grids_are_written_as_they_are_read(seed):
    rng = np.random.default_rng(seed)
    rows = [[str(x) for x in rng.choice(["B", "B90", "S", "S180", "B270", "."], size=3)] for _ in range(3)]
    try:
        robot = mr.Assembly.from_grid(rows)
    except ModurobError:
        return
    assert built(robot.grid()).key == robot.key


def test_the_grid_of_the_crab():
    assert CRAB.grid() == "B90 . B270\nB   B B\n.   B ."
    assert built(CRAB.grid()).key == CRAB.key


def test_a_single_module_is_a_grid():
    assert mr.Assembly.single("a", "scout").grid() == "S"


@pytest.mark.parametrize(
    ("robot", "message"),
    [
        (CRAB.dock("m6", "backbone", at="m3/3", by="4", roll=90), "m6 does not stand in a cell of the plane"),
        (
            built("B B\nB B").disconnect("m0/2"),
            "m0/2 and m1/5 look at each other but are not docked: in a grid they would",
        ),
        (mr.Assembly.single("a", "virtual"), "a virtual has no ports with faces: it has no place in a grid"),
    ],
)
def test_robots_without_a_grid(robot, message):
    with pytest.raises(AssemblyError, match=message):
        robot.grid()


def test_a_type_without_a_letter_has_no_symbol():
    spec = mr.module_type("backbone").specification.model_copy(update={"letter": None, "name": "bare"})
    with pytest.raises(AssemblyError, match="a is a bare, which has no letter"):
        mr.Assembly.single("a", mr.ModuleType(spec)).grid()


def test_symbolic_sizes_have_no_grid():
    with pytest.raises(AssemblyError, match="modules of symbolic size have no grid"):
        built("B B").with_parameters(length=sympy.Symbol("l", positive=True)).grid()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "cells 3: expected text, or rows of cells"),
        ([3], r"cells \[3\]: expected text, or rows of cells"),
        ("B " * 20_000, "20000 modules in a grid: expected at most 10000"),
        ("B" * 2_000_000, "a grid of 2000000 characters: expected at most 1000000"),
        ("B" * 1000, "cell 'BBB.* in row 0, column 0"),
        ([["B" * 10_000_000]], "cell 'BBB.* in row 0, column 0"),
        ("B 9" * 100_000, "100001 modules in a grid"),
    ],
)
def test_grids_that_are_refused_soon(given, message):
    start = time.process_time()
    with pytest.raises(InputError, match=message) as caught:
        mr.Assembly.from_grid(given)
    assert time.process_time() - start < 2
    assert len(str(caught.value)) < 500


# ---- cells ----


def test_the_cells_of_the_crab():
    found = {p.name: (p.cell, p.quarters) for p in cells.plane(CRAB).modules.values()}
    assert found == {
        "m0": ((0, 0), 0),
        "m1": ((0, 1), 0),
        "m2": ((1, 1), 0),
        "m3": ((1, 2), 3),
        "m4": ((-1, 1), 0),
        "m5": ((-1, 2), 1),
    }


def test_placing_makes_what_from_grid_makes():
    robot = mr.Assembly.single("m0", "scout")
    for i, cell in enumerate([(1, 0), (1, -1), (2, -1)], start=1):
        robot = cells.placed(robot, f"m{i}", "backbone", cell)
    assert robot.key == built("S B .\n. B B").key


def test_a_square_of_cells_closes_its_loop():
    robot = mr.Assembly.single("m0", "backbone")
    for i, cell in enumerate([(1, 0), (1, 1), (0, 1)], start=1):
        robot = cells.placed(robot, f"m{i}", "backbone", cell)
    assert robot.key == built("B B\nB B").key


def test_turning_goes_round_and_then_removes():
    robot = cells.placed(mr.Assembly.single("m0", "backbone"), "m1", "backbone", (0, 1))
    ports = []
    for _ in range(3):
        robot = cells.turned(robot, (0, 1))
        ports.append(robot.connections[0].b.port)
    assert ports == ["5", "3", "2"]
    assert list(cells.turned(robot, (0, 1)).modules) == ["m0"]


def test_moving_keeps_the_module():
    robot = cells.moved(cells.placed(mr.Assembly.single("m0", "backbone"), "m1", "scout", (0, 1)), "m1", (1, 0))
    assert cells.plane(robot).modules["m1"].cell == (1, 0)
    assert robot.modules["m1"].type.name == "scout"
    assert type(robot) is mr.Assembly


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cells.placed(CRAB, "x", "backbone", (5, 5)), "no neighbour has a port that looks here"),
        (lambda: cells.placed(CRAB, "x", "backbone", (0, 1)), "m1 stands in cell"),
        (lambda: cells.placed(CRAB, "x", "cube_link", (1, 0)), "does not fit"),
        (lambda: cells.placed(CRAB, "x", "virtual", (1, 0)), "no ports with faces"),
        (lambda: cells.placed(CRAB, "x", "spider", (1, 0)), "no module type 'spider'"),
        (lambda: cells.turned(CRAB, (7, 7)), "is empty"),
        (lambda: cells.turned(CRAB, (0, 0)), "is the first module"),
        (lambda: cells.turned(CRAB, (0, 1)), "not connected"),
        (lambda: cells.moved(CRAB, "m0", (3, 3)), "stays in its cell"),
        (lambda: cells.moved(CRAB, "m9", (3, 3)), "no module 'm9' in the grid"),
        (lambda: cells.moved(CRAB, "m5", (0, 0)), "m0 stands in cell"),
        (lambda: cells.moved(CRAB, "m5", (9, 9)), "no neighbour"),
    ],
)
def test_wrong_moves_in_the_grid(call, message):
    with pytest.raises(ModurobError, match=message):
        call()
