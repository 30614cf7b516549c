"""Edits of a design: grid, branches, matrices, and all that may be wrong with them."""

import numpy as np
import pytest

import modurob as mr
from modurob.assembly import cells, dumps
from modurob.errors import ModurobError, StudioError
from modurob.studio import protocol
from modurob.studio.design import MOST_MODULES, Design
from modurob.studio.edits import edited
from modurob.studio.poses import body_poses
from tests.robots import random_assembly, random_mechanism

CRAB = mr.load("crab")


def built(*edits: protocol.Edit, start: mr.Assembly | None = None) -> Design:
    design = Design(start or mr.Assembly.single("m0", "backbone"))
    for edit in edits:
        design = edited(design, edit)
    return design


# ---- the grid ----


def test_placing_makes_what_from_grid_makes() -> None:
    cells = "S B .\n. B B"
    expected = mr.Assembly.from_grid(cells)
    # from_grid starts in the first row, so its first module is the Scout
    design = built(
        protocol.PlaceCell(1, 0, "backbone"),
        protocol.PlaceCell(1, -1, "backbone"),
        protocol.PlaceCell(2, -1, "backbone"),
        start=mr.Assembly.single("m0", "scout"),
    )
    assert design.assembly.key == expected.key


def test_a_square_of_cells_closes_its_loop() -> None:
    design = built(
        protocol.PlaceCell(1, 0, "backbone"), protocol.PlaceCell(1, 1, "backbone"), protocol.PlaceCell(0, 1, "backbone")
    )
    assert len(design.assembly.connections) == 4
    assert design.assembly.key == mr.Assembly.from_grid("B B\nB B").key


def test_turning_goes_round_and_then_removes() -> None:
    design = built(protocol.PlaceCell(0, 1, "backbone"))
    ports = []
    for _ in range(3):
        design = edited(design, protocol.TurnCell(0, 1))
        ports.append(design.assembly.connections[0].b.port)
    assert ports == ["5", "3", "2"]
    assert list(edited(design, protocol.TurnCell(0, 1)).assembly.modules) == ["m0"]


def test_moving_keeps_the_module() -> None:
    design = built(protocol.PlaceCell(0, 1, "scout"), protocol.MoveCell("m1", 1, 0))
    assert cells.plane(design.assembly).modules["m1"].cell == (1, 0)
    assert design.assembly.modules["m1"].type.name == "scout"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (protocol.PlaceCell(5, 5, "backbone"), "no neighbour has a port that looks here"),
        (protocol.PlaceCell(0, 1, "backbone"), "m1 stands in cell"),
        (protocol.PlaceCell(1, 0, "cube_link"), "does not fit"),
        (protocol.PlaceCell(1, 0, "virtual"), "no ports with faces"),
        (protocol.PlaceCell(1, 0, "spider"), "no module type 'spider'"),
        (protocol.TurnCell(7, 7), "is empty"),
        (protocol.TurnCell(0, 0), "is the first module"),
        (protocol.TurnCell(0, 1), "not connected"),
        (protocol.MoveCell("m0", 3, 3), "stays in its cell"),
        (protocol.MoveCell("m9", 3, 3), "no module 'm9' in the grid"),
        (protocol.MoveCell("m5", 0, 0), "m0 stands in cell"),
        (protocol.MoveCell("m5", 9, 9), "no neighbour"),
    ],
)
def test_wrong_moves_in_the_grid(edit: protocol.Edit, message: str) -> None:
    with pytest.raises(ModurobError, match=message):
        edited(Design(CRAB), edit)


# ---- branches ----


def test_half_a_crab_mirrored_is_the_crab() -> None:
    docks = [("m0/3", "4"), ("m1/2", "5"), ("m2/3", "2")]
    half = built(*(protocol.Dock("backbone", at, by) for at, by in docks))
    assert edited(half, protocol.Mirror("m2")).assembly.key == CRAB.key


def test_a_duplicate_is_the_same_branch_elsewhere() -> None:
    design = built(protocol.Duplicate("m4", "m3/3"), start=CRAB)
    copies = {str(c) for c in design.assembly.connections} - {str(c) for c in CRAB.connections}
    assert copies == {"m3/3 - m6/2", "m6/3 - m7/5"}


def test_without_a_branch() -> None:
    design = built(protocol.Undock("m2", branch=True), start=CRAB)
    assert list(design.assembly.modules) == ["m0", "m1", "m4", "m5"]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (protocol.Undock("m1"), "not connected"),
        (protocol.Undock("m0", branch=True), "is the base"),
        (protocol.Undock("m8"), "no module 'm8'"),
        (protocol.Mirror("m1"), "itself"),
        (protocol.Mirror("m2"), "already holds"),
        (protocol.Mirror("x"), "no module 'x'"),
        (protocol.Duplicate("m4", "m1/2"), "already holds m2/5"),
        (protocol.Dock("backbone", "m0/3", "4"), "already holds m1/4"),
        (protocol.Dock("backbone", "m0/9", "4"), "no port '9'"),
        (protocol.Dock("../secret", "m0/2", "4"), "no module type"),
        (protocol.Connect("m0/2", "m0/4"), "itself"),
        (protocol.Disconnect("m0/2"), "nothing is docked"),
        (protocol.SetBase("m7"), "m7"),
        (protocol.SetParameter("m7", "mass", 1.0), "no module 'm7'"),
        (protocol.SetParameter("m0", "mas", 1.0), "did you mean 'mass'"),
        (protocol.SetParameter("m0", "mass", -1.0), "from 0"),
        (protocol.OpenShipped("crap"), "did you mean 'crab'"),
        (protocol.Open("modules: 3"), "not a robot"),
    ],
)
def test_wrong_moves_change_nothing_and_are_explained(edit: protocol.Edit, message: str) -> None:
    with pytest.raises(ModurobError, match=message):
        edited(Design(CRAB), edit)


# ---- matrices ----


@pytest.mark.parametrize("view", ["aim", "dtl"])
def test_matrices_are_read_as_they_are_shown(view: str) -> None:
    text = CRAB.matrix_text(view)
    assert built(protocol.ReadMatrix(text, view, "backbone")).assembly.key == CRAB.key


def test_a_matrix_without_types_is_of_the_chosen_type() -> None:
    text = "\n".join(" ".join(map(str, row)) for row in CRAB.aim())
    scouts = built(protocol.ReadMatrix(text, "aim", "scout")).assembly
    assert {m.type.name for m in scouts.modules.values()} == {"scout"}


@pytest.mark.parametrize(("text", "view"), [("", "aim"), ("3 0\n4", "aim"), ("3 1 2", "dtl"), ("0 7 3 4", "dtl")])
def test_wrong_matrices(text: str, view: str) -> None:
    with pytest.raises(ModurobError, match=r"matrix|rows of one length|DTL"):
        built(protocol.ReadMatrix(text, view, "backbone"))


# ---- the rest of a design ----


def test_parameters_of_one_and_of_all() -> None:
    one = built(protocol.SetParameter("m2", "mass", 3.0), start=CRAB).assembly
    assert [m.parameters["mass"] for m in one.modules.values()] == [1, 1, 3, 1, 1, 1]
    every = built(protocol.SetParameter("m2", "mass", 3.0, everywhere=True), start=CRAB).assembly
    assert {m.parameters["mass"] for m in every.modules.values()} == {3.0}


def test_loops_are_closed_and_opened() -> None:
    square = built(*(protocol.PlaceCell(*cell, "backbone") for cell in ((1, 0), (1, 1), (0, 1)))).assembly
    last = square.connections[-1]
    opened = built(protocol.Disconnect(str(last.a)), start=square).assembly
    assert len(opened.connections) == 3
    assert built(protocol.Connect(str(last.a), str(last.b)), start=opened).assembly.key == square.key


def test_files_gravity_names_and_bases() -> None:
    assert built(protocol.Open(dumps(CRAB))).assembly.key == CRAB.key
    assert built(protocol.OpenShipped("double_pendulum")).gravity == (0, 9.81, 0)
    assert built(protocol.SetGravity((1, 2, 3)), start=CRAB).robot.gravity.tolist() == [1, 2, 3]
    assert built(protocol.Rename("my crab"), start=CRAB).assembly.name == "my crab"
    assert built(protocol.New("scout"), start=CRAB).assembly.modules["m0"].type.name == "scout"
    floating = built(protocol.SetBase("m1", floating=True), start=CRAB)
    assert floating.robot.nv == 9
    # a base that is undocked is replaced
    assert edited(built(protocol.SetBase("m5"), start=CRAB), protocol.Undock("m5")).base == "m0"


def test_a_robot_that_is_too_large_is_refused() -> None:
    snake = mr.Assembly(
        {f"m{i}": mr.module_type("backbone").module() for i in range(MOST_MODULES)},
        [mr.Connection(mr.PortRef(f"m{i}", "3"), mr.PortRef(f"m{i + 1}", "4")) for i in range(MOST_MODULES - 1)],
    )
    with pytest.raises(StudioError, match="at most 1000"):
        edited(Design(snake), protocol.Dock("backbone", f"m{MOST_MODULES - 1}/3", "4"))


def test_kept_designs_come_back() -> None:
    design = built(protocol.SetBase("m1", floating=True), protocol.SetGravity((0, 0, -1.62)), start=CRAB)
    again = design.kept().design()
    assert again == design
    assert again.robot.key == design.robot.key


def test_poses_are_those_of_forward_kinematics(rng: np.random.Generator) -> None:
    """On random robots of all joint kinds, floating too."""
    for bodies in (1, 5, 12):
        robot = random_mechanism(rng, bodies, floating=bodies == 5)
        q = robot.random_configuration(rng)
        assert np.allclose(body_poses(robot)(q), robot.forward_kinematics(q).bodies, atol=1e-12)
    for _ in range(5):
        robot = random_assembly(rng, 9).mechanism(floating=True)
        q = robot.random_configuration(rng)
        assert np.allclose(body_poses(robot)(q), robot.forward_kinematics(q).bodies, atol=1e-12)
