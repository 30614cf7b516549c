"""Branches: what hangs beyond a port; removed, copied, mirrored."""

import numpy as np
import pytest

import modurob as mr
from modurob.errors import AssemblyError, ModurobError, OccupiedPortError, UnknownNameError
from tests.robots import random_assembly

CRAB = mr.load("crab")


def normal(robot: mr.Assembly, ref: mr.PortRef) -> np.ndarray:
    return robot.modules[ref.module].ports[ref.port].X[:3, 2]


def cubes(rng: np.random.Generator) -> mr.Assembly:
    """Cubes with joint modules between them, in space."""
    robot = mr.Assembly.single("m0", "cube_link")
    while len(robot) < 7:
        free = [p for p in robot.free_ports if robot.modules[p.module].type.name == "cube_link"]
        at = free[rng.integers(len(free))]
        roll = float(rng.choice([0, 90, 180, 270]))
        try:
            arm = robot.dock(f"m{len(robot)}", "pivot_joint", at, "1", roll)
            robot = arm.dock(f"m{len(arm)}", "cube_link", f"m{len(robot)}/2", str(rng.integers(1, 7)), roll)
        except AssemblyError:
            continue
    return robot


def test_a_branch_is_a_module_with_all_that_hangs_on_it():
    leg = CRAB.branch("m2")
    assert (str(leg.at), str(leg.by), leg.modules) == ("m1/2", "m2/5", ("m2", "m3"))
    assert CRAB.branch("m1").modules == ("m1", "m2", "m3", "m4", "m5")
    assert CRAB.branch("m1", base="m3").modules == ("m1", "m0", "m4", "m5")


@pytest.mark.parametrize("seed", range(6))
def test_what_a_branch_leaves_is_the_rest(seed):
    robot = random_assembly(np.random.default_rng(seed), 9)
    for name in list(robot.modules)[1:]:
        branch = robot.branch(name)
        rest = robot.without_branch(name)
        assert set(rest.modules) == set(robot.modules) - set(branch.modules)
        assert robot.parted(branch.at)[0] == rest
        assert set(robot.parted(branch.at)[1].modules) == set(branch.modules)


def test_a_duplicate_is_the_same_branch_elsewhere():
    both = CRAB.duplicated("m4", "m3/3")
    assert {str(c) for c in both.connections} - {str(c) for c in CRAB.connections} == {"m3/3 - m6/2", "m6/3 - m7/5"}
    assert both.branch("m6").modules == ("m6", "m7")


def test_half_a_crab_mirrored_is_the_crab():
    assert CRAB.without_branch("m4").mirrored("m2").key == CRAB.key
    assert CRAB.without_branch("m2").mirrored("m4").key == CRAB.key


@pytest.mark.parametrize("types", [("backbone", "scout"), ("cube_link",)])
def test_a_mirror_image_stands_where_it_is_seen(types, rng):
    """Positions of the copies are those of the originals reflected in the plane of y and z of the module they hang on."""
    tried = 0
    for _ in range(60):
        robot = random_assembly(rng, 6, types) if types != ("cube_link",) else cubes(rng)
        edges = [e for e in robot.traversal().edges if abs(normal(robot, e.out)[0]) > 0.9]
        if not edges:
            continue
        edge = edges[rng.integers(len(edges))]
        try:
            both = robot.mirrored(edge.into.module)
        except ModurobError:
            continue
        tried += 1
        host = np.linalg.inv(robot.placements[edge.out.module])
        for original, copy in zip(
            robot.branch(edge.into.module).modules, list(both.modules)[len(robot) :], strict=True
        ):
            seen = (host @ robot.placements[original])[:3, 3] * (-1, 1, 1)
            np.testing.assert_allclose((host @ both.placements[copy])[:3, 3], seen, atol=1e-9)
    assert tried >= 5


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: CRAB.branch("m0"),
            AssemblyError,
            "'m0' is the base and hangs on nothing: choose a module that hangs on",
        ),
        (lambda: CRAB.branch("m3", base="m3"), AssemblyError, "'m3' is the base"),
        (lambda: CRAB.branch("x"), UnknownNameError, "no module 'x': valid: m0, m1"),
        (lambda: CRAB.branch("m1", base="x"), UnknownNameError, "no module 'x': valid: m0, m1"),
        (lambda: CRAB.without_branch("m0"), AssemblyError, "'m0' is the base"),
        (
            lambda: CRAB.mirrored("m1"),
            AssemblyError,
            "the mirror image of m0/3 is m0/3 itself: choose a branch that han",
        ),
        (lambda: CRAB.mirrored("m2"), OccupiedPortError, "port m1/5 already holds m4/2: choose a free port"),
        (lambda: CRAB.duplicated("m4", "m1/2"), OccupiedPortError, "port m1/2 already holds m2/5: choose a free port"),
        (lambda: CRAB.duplicated("m4", "m1/9"), UnknownNameError, "backbone 'm1' has no port '9'"),
    ],
)
def test_what_branches_cannot_do(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_module_without_an_opposite_port_has_no_mirror_image():
    arm = (
        mr.Assembly.single("a", "cube_link").dock("b", "revolute_joint", "a/2", "1").dock("c", "cube_link", "b/2", "6")
    )
    assert len(arm.mirrored("b")) == 5
    spec = mr.module_type("backbone").specification
    ports = {k: p for k, p in spec.ports.items() if k != "5"}
    one_sided = mr.ModuleType(spec.model_copy(update={"name": "one_sided", "ports": ports}), "one_sided")
    pair = mr.Assembly.single("a", one_sided).dock("b", one_sided, "a/2", "4")
    with pytest.raises(AssemblyError, match="one_sided 'a' has no port opposite to '2': it has no mirror image"):
        pair.mirrored("b")


def test_new_names_are_above_those_in_use():
    names = CRAB.renamed({"m2": "m40", "m3": "mx", "m4": "left"}).new_names()
    assert [next(names), next(names)] == ["m41", "m42"]
