"""Assemblies as values: docking and undocking, keys, room, loops."""

import copy
import multiprocessing
import pickle
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import modurob as mr
from modurob import assembly as base
from modurob.assembly import cells, dumps
from modurob.assembly.clash import clashes
from modurob.catalogue import library
from modurob.errors import AssemblyError, ClashError, InputError, MechanismError
from modurob.spatial import se3
from tests.robots import random_assembly

SEEDS = range(12)
TOLERANCE = 1e-12  # a dozen products of poses


def snake(n: int, kind: str = "backbone") -> mr.Assembly:
    """A chain of n modules, face 3 to face 4."""
    assembly = mr.Assembly.single("m0", kind)
    for i in range(1, n):
        assembly = assembly.dock(f"m{i}", kind, f"m{i - 1}/3", "4")
    return assembly


def drawn(seed: int, modules: int = 9) -> mr.Assembly:
    return random_assembly(np.random.default_rng(seed), modules)


def shuffled(assembly: mr.Assembly, seed: int) -> mr.Assembly:
    """The same robot under other names, modules and connections in another order, connections the other way round."""
    rng = random.Random(seed)
    names = list(assembly.modules)
    new = dict(zip(names, rng.sample([f"x{i}" for i in range(100)], len(names)), strict=True))
    renamed = assembly.renamed(new)
    modules = list(renamed.modules.items())
    connections = [c if rng.random() < 0.5 else mr.Connection(c.b, c.a, c.roll) for c in renamed.connections]
    rng.shuffle(modules)
    rng.shuffle(connections)
    return mr.Assembly(dict(modules), connections)


# ---- values ----


@pytest.mark.parametrize("name", ["name", "modules", "connections", "anything"])
def test_an_assembly_cannot_be_changed(name):
    crab, before = mr.load("crab"), mr.load("crab")
    with pytest.raises(AttributeError, match=f"cannot be changed.*{name!r}"):
        setattr(crab, name, None)
    with pytest.raises(AttributeError, match=f"cannot be changed.*{name!r}"):
        delattr(crab, name)
    assert crab == before


def test_what_an_assembly_returns_cannot_be_changed():
    crab = mr.load("crab")
    for mapping in (crab.modules, crab.placements, crab.index, crab.occupied, crab.modules["m0"].parameters):
        with pytest.raises(TypeError, match="does not support item"):
            mapping["m0"] = None
    for X in (*crab.placements.values(), crab.dock("m6", "backbone", "m3/3", "4").placements["m6"]):
        with pytest.raises(ValueError, match="read-only"):
            X[0, 3] = 1.0


def test_changes_give_new_values_and_leave_the_old():
    crab = mr.load("crab")
    before = copy.copy(crab), crab.key, crab.aim()
    larger = crab.dock("m6", "scout", at="m3/3", by="4", roll=90)
    smaller, other = larger.undock("m5"), crab.renamed({"m0": "base"}).rerooted("m4")
    assert (crab, crab.key) == before[:2]
    np.testing.assert_array_equal(crab.aim(), before[2])
    assert [len(larger), len(smaller), len(other)] == [7, 6, 6]
    assert "m6" not in crab.modules


def test_equal_assemblies_are_one_entry_of_a_set():
    assert {mr.load("crab"), mr.load("crab"), mr.load("crab").rerooted("m1")} == {
        mr.load("crab"),
        mr.load("crab").rerooted("m1"),
    }
    assert mr.load("crab") != "crab"
    assert repr(mr.load("crab")) == "Assembly('crab', 6 backbone, 5 connections)"


def used(assembly: mr.Assembly) -> mr.Assembly:
    """An assembly of which everything was asked."""
    _ = assembly.key, assembly.placements, assembly.index, assembly.occupied, hash(assembly), assembly.traversal()
    _ = assembly.aim_table(), assembly.mechanism(), assembly.robot(), repr(assembly), assembly._repr_html_()
    return assembly


def key_of(assembly: mr.Assembly) -> tuple:
    """What another process finds."""
    return assembly.key, hash(assembly) == hash(mr.Assembly.loads(dumps(assembly))), type(assembly).__module__


@pytest.mark.parametrize("kind", [mr.Assembly, base.Assembly])
def test_an_assembly_is_a_value(kind):
    crab = kind.load("crab")
    for again in (copy.copy(crab), copy.deepcopy(crab), pickle.loads(pickle.dumps(crab))):
        assert again == crab
        assert hash(again) == hash(crab)
        assert (again.name, again.description, type(again)) == (crab.name, crab.description, kind)
        assert {crab: 1}[again] == 1


def test_what_was_computed_is_no_part_of_an_assembly():
    fresh, crab = mr.load("crab"), used(mr.load("crab"))
    assert pickle.dumps(crab) == pickle.dumps(fresh)
    assert crab == fresh
    assert hash(crab) == hash(fresh)
    assert used(pickle.loads(pickle.dumps(crab))) == crab


def test_an_assembly_is_sent_to_other_processes():
    robots = [used(drawn(seed, 4)) for seed in range(3)]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(key_of, robots) == [(r.key, True, "modurob.robot") for r in robots]


def test_threads_share_a_fresh_assembly():
    for seed in range(20):
        robot = drawn(seed, 6)
        start = threading.Barrier(8)

        def ask(robot: mr.Assembly = robot, start: threading.Barrier = start) -> tuple:
            start.wait()
            return robot.key, hash(robot), tuple(map(bytes, robot.placements.values())), robot.free_ports

        with ThreadPoolExecutor(8) as pool:
            answers = [f.result() for f in [pool.submit(ask) for _ in range(8)]]
        assert all(a == answers[0] for a in answers)


def test_assemblies_of_both_classes_are_equal_if_their_contents_are():
    one, two = mr.load("crab"), base.Assembly.load("crab")
    assert one == two
    assert hash(one) == hash(two)
    assert len({one, two}) == 1


class Own(base.Assembly):
    """A class defined later in the pipe."""


def roped(crab):
    """The crab with a spring between two ports."""
    return crab.with_line("rope", ["m0/3", "m3/3"], mr.Elastic(stiffness=100.0, rest=0.1))


CHANGES = {
    "single": lambda c: c.single("a", "backbone"),
    "from_aim": lambda c: c.from_aim([[3], [4]], "backbone"),
    "from_direct_transformations": lambda c: c.from_direct_transformations([(0, 1, 3, 4)], "backbone"),
    "from_grid": lambda c: c.from_grid("B B"),
    "from_links": lambda c: c.from_links("A, B, C, endeffector, none, none"),
    "load": lambda c: c.load("crab"),
    "loads": lambda c: c.loads(dumps(c.load("crab"))),
    "dock": lambda c: c.load("crab").dock("m6", "scout", "m3/3", "4"),
    "undock": lambda c: c.load("crab").undock("m5"),
    "connect": lambda c: c.from_aim([[3, 0, 0], [4, 3, 0], [0, 4, 3], [0, 0, 4]], "backbone").connect("m3/3", "m0/4"),
    "disconnect": lambda c: c.from_grid("B B\nB B").disconnect("m0/2"),
    "joined": lambda c: c.single("a", "backbone").joined(mr.Assembly.single("b", "backbone"), "a/3", "b/4"),
    "parted": lambda c: c.load("crab").parted("m1/2")[0],
    "parted again": lambda c: c.load("crab").parted("m1/2")[1],
    "rerooted": lambda c: c.load("crab").rerooted("m3"),
    "renamed": lambda c: c.load("crab").renamed({"m0": "x"}),
    "labelled": lambda c: c.load("crab").labelled("x"),
    "with_parameters": lambda c: c.load("crab").with_parameters(mass=2.0),
    "with_line": lambda c: roped(c.load("crab")),
    "without_line": lambda c: roped(c.load("crab")).without_line("rope"),
    "with_setup": lambda c: c.load("crab").with_setup(floating=True),
    "on_virtual_joints": lambda c: c.load("crab").on_virtual_joints(),
    "without_branch": lambda c: c.load("crab").without_branch("m2"),
    "duplicated": lambda c: c.load("crab").duplicated("m4", "m3/3"),
    "mirrored": lambda c: c.load("crab").without_branch("m4").mirrored("m2"),
    "placed": lambda c: cells.placed(c.single("a", "backbone"), "b", "backbone", (1, 0)),
    "turned": lambda c: cells.turned(c.from_grid("B B"), (1, 0)),
    "moved": lambda c: cells.moved(c.from_grid("B B B"), "m2", (0, 1)),
    "copy": lambda c: copy.deepcopy(c.load("crab")),
    "pickle": lambda c: pickle.loads(pickle.dumps(c.load("crab"))),
}


@pytest.mark.parametrize("kind", [Own, mr.Assembly, base.Assembly])
@pytest.mark.parametrize("change", CHANGES)
def test_every_change_gives_the_same_class(change, kind):
    assert type(CHANGES[change](kind)) is kind


def test_every_way_to_an_assembly_is_among_those_changes():
    annotated = {
        n
        for n in dir(base.Assembly)
        if not n.startswith("_")
        and "Self" in str(getattr(getattr(base.Assembly, n), "__annotations__", {}).get("return"))
    }
    assert annotated <= CHANGES.keys()
    assert len(annotated) > 18


def test_the_graph_knows_no_mechanism():
    assert not hasattr(base.Assembly, "mechanism")
    assert hasattr(mr.Assembly, "mechanism")


@pytest.mark.parametrize("module", ["backbone", None, mr.module_type("backbone")])
def test_what_is_no_module_is_refused(module):
    with pytest.raises(InputError, match=r"module 'a' is .*: expected one made by module_type"):
        mr.Assembly({"a": module})


def test_connections_may_be_text():
    crab = mr.load("crab")
    assert mr.Assembly(crab.modules, map(str, crab.connections)) == crab


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mr.Assembly("crab"), "modules 'crab': expected modules by name"),
        (
            lambda: mr.Assembly(mr.load("crab").modules, ["m0/3 m1/4"]),
            "connection 'm0/3 m1/4': expected two ports, like",
        ),
        (
            lambda: mr.Assembly(mr.load("crab").modules, [3]),
            "connection 3: expected two ports and a roll, or text like",
        ),
        (lambda: mr.Assembly(mr.load("crab").modules, [("m0/3",)]), "connection .*: expected two ports and a roll"),
        (lambda: mr.Assembly(mr.load("crab").modules, setup={"base": "m0"}), "setup .*: expected a Setup"),
        (lambda: mr.load(3), "3 is no file: expected a path, or the name of a shipped robot"),
        (lambda: mr.load(mr.load("crab")), "is no file: expected a path"),
        (
            lambda: mr.save(mr.load("crab").mechanism(), "x.yaml"),
            "files .yaml hold no Mechanism: valid: .urdf, .mjcf, .xml, .sdf; robot files are for assemblies",
        ),
        (lambda: mr.Connection.parse("m0/3 - m1/4 @ nan"), "connection 'm0/3 - m1/4 @ nan': expected two ports"),
    ],
)
def test_natural_mistakes(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("label", [3, None, "\ud800"])
def test_labels_are_text(label):
    for change in ({"name": label}, {"description": label}):
        with pytest.raises(InputError, match=r"name or description .*: expected text that can be written to a file"):
            mr.Assembly(mr.load("crab").modules, mr.load("crab").connections, **change)


# ---- dock, undock, connect, disconnect ----


def test_dock_adds_a_module_where_it_is_told():
    crab = mr.load("crab").dock("m6", "scout", at=mr.PortRef("m3", "3"), by="4", parameters={"mass": 0.8})
    assert crab.docked_at("m3", "3") == mr.PortRef("m6", "4")
    assert crab.docked_at("m6", "4") == mr.PortRef("m3", "3")
    assert crab.docked_at("m6", "3") is None
    assert crab.modules["m6"].parameters["mass"] == 0.8
    assert crab.connections[-1] == mr.Connection(mr.PortRef("m3", "3"), mr.PortRef("m6", "4"), 0.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_docked_step_by_step_equals_built_at_once(seed):
    steps = drawn(seed)
    whole = mr.Assembly(steps.modules, steps.connections)
    assert whole == steps
    assert whole.occupied == steps.occupied
    for name, X in whole.placements.items():
        np.testing.assert_allclose(steps.placements[name], X, atol=TOLERANCE)


@pytest.mark.parametrize("seed", SEEDS)
def test_dock_after_undock_gives_the_value_back(seed):
    robot = drawn(seed)
    last = robot.connections[-1]
    smaller = robot.undock(last.b.module)
    again = smaller.dock(last.b.module, robot.modules[last.b.module].type, last.a, last.b.port, last.roll)
    assert again == robot
    assert again.key == robot.key
    assert smaller.key != robot.key


def test_undock_frees_the_port():
    crab = mr.load("crab").undock("m3")
    assert crab.docked_at("m2", "3") is None
    assert mr.PortRef("m2", "3") in crab.free_ports
    assert list(crab.modules) == ["m0", "m1", "m2", "m4", "m5"]


def test_undock_of_the_first_module_makes_the_next_the_base():
    crab = mr.load("crab").undock("m0")
    np.testing.assert_array_equal(crab.placements["m1"], np.eye(4))


def test_connect_and_disconnect_are_inverse():
    ring = snake(6)
    closed = ring.connect("m5/3", "m0/4")
    assert len(closed.connections) == 6
    assert closed.disconnect("m0/4") == closed.disconnect("m5/3") == ring


def test_disconnect_anywhere_in_a_ring_leaves_the_snake():
    ring = snake(6).connect("m5/3", "m0/4")
    assert {ring.disconnect(f"m{i}/3").key for i in range(6)} == {snake(6).key}


def test_free_ports_are_those_that_hold_nothing():
    crab = mr.load("crab")
    assert len(crab.free_ports) == 6 * 4 - 2 * 5
    assert not set(crab.free_ports) & set(crab.occupied)
    assert all(ref.port != "7" for ref in crab.free_ports)


def test_renamed_swaps_names():
    crab = mr.load("crab").renamed({"m0": "m1", "m1": "m0"})
    assert list(crab.modules) == ["m1", "m0", "m2", "m3", "m4", "m5"]
    assert crab.docked_at("m1", "3") == mr.PortRef("m0", "4")
    assert crab.key == mr.load("crab").key


@pytest.mark.parametrize(
    ("roll", "same"), [(-90, 270), (360, 0), (-1e-20, 0), (450, 90), (-0.0, 0), (np.int64(90), 90.0)]
)
def test_equal_turns_are_equal_values(roll, same):
    def pair(r: float) -> mr.Assembly:
        return snake(1).dock("m1", "backbone", "m0/3", "4", r)

    assert pair(roll) == pair(same)
    assert pair(roll).key == pair(same).key
    assert str(pair(roll).connections[0]) == str(pair(same).connections[0])


@pytest.mark.parametrize("value", [2, 2.0, np.float64(2), np.int64(2)])
def test_equal_parameters_make_equal_modules(value):
    kind = mr.ModuleType(mr.module_type("backbone").specification, "fresh")
    assert kind.module({"mass": value}).key == mr.module_type("backbone").module({"mass": 2.0}).key


# ---- keys ----


@pytest.mark.parametrize("seed", SEEDS)
def test_key_is_blind_to_names_and_order(seed):
    robot = drawn(seed, modules=3 + seed)
    assert shuffled(robot, seed).key == robot.key


@pytest.mark.parametrize("name", [*mr.shipped_robots(), "ring", "square"])
def test_key_of_symmetric_and_looped_robots_is_blind_to_names_and_order(name):
    own = {"ring": snake(6).connect("m5/3", "m0/4"), "square": mr.Assembly.from_grid("B B\nB180 B180")}
    robot = own[name] if name in own else mr.load(name)
    assert {shuffled(robot, seed).key for seed in range(5)} == {robot.key}


def test_key_tells_robots_apart():
    one = snake(3)
    last = one.undock("m2")
    others = [
        last.dock("m2", "backbone", "m1/3", "4", 90),  # roll
        last.dock("m2", "backbone", "m1/3", "3"),  # port of the guest
        last.dock("m2", "backbone", "m1/2", "4"),  # port of the host
        last.dock("m2", "scout", "m1/3", "4"),  # type
        last.dock("m2", "backbone", "m1/3", "4", parameters={"mass": 1.5}),  # parameter
        last,
        snake(4),
    ]
    assert len({robot.key for robot in [one, *others]}) == len(others) + 1
    assert all(one.isomorphism(robot) is None for robot in others)


def test_key_tells_a_ring_from_two_ways_to_close_it():
    base = snake(6)
    assert base.connect("m5/3", "m0/4").key != base.connect("m5/3", "m0/4", 180).key
    assert base.connect("m5/3", "m0/4").key != base.connect("m5/2", "m0/5").key


@pytest.mark.parametrize("seed", SEEDS)
def test_isomorphism_maps_connections_onto_connections(seed):
    one, two = drawn(seed), shuffled(drawn(seed), seed)
    to = one.isomorphism(two)
    assert to is not None
    assert sorted(to) == sorted(one.modules)
    assert sorted(to.values()) == sorted(two.modules)
    assert all(one.modules[a] == two.modules[b] for a, b in to.items())

    def pairs(assembly: mr.Assembly, names: dict[str, str]) -> set:
        return {(frozenset((names[end.module], end.port) for end in (c.a, c.b)), c.roll) for c in assembly.connections}

    assert pairs(one, to) == pairs(two, {n: n for n in two.modules})


# ---- grids ----


def test_the_crab_from_a_grid():
    crab = mr.Assembly.from_grid("""
        B90 .  B270
        B   B  B
        .   B  .
    """)
    assert crab.key == mr.load("crab").key
    same = mr.Assembly.from_grid([["B90", None, "B270"], ["B", "B", "B"], ["", "B", "."]])
    assert same == crab


def test_grid_cells_stand_one_length_apart():
    robot = mr.Assembly.from_grid("B S90\n. B", parameters={"length": 0.2})
    np.testing.assert_allclose(se3.position(robot.placements["m1"]), [0.2, 0, 0], atol=1e-15)
    np.testing.assert_allclose(se3.position(robot.placements["m2"]), [0.2, -0.2, 0], atol=1e-15)
    assert [m.type.name for m in robot.modules.values()] == ["backbone", "scout", "backbone"]


def test_grid_docks_neighbours_only_where_connectors_fit():
    with pytest.raises(AssemblyError, match="not connected to 'm0': m1"):
        mr.Assembly.from_grid("L L")
    with pytest.raises(AssemblyError, match="not connected to 'm0': m1"):
        mr.Assembly.from_grid("R R")


# ---- room ----


@pytest.mark.parametrize("robot", [snake(40), mr.load("tree9"), mr.Assembly.from_grid("B B B\nB B B\nB B B")])
def test_touching_neighbours_do_not_clash(robot):
    assert mr.Assembly(robot.modules, robot.connections) == robot


def test_touching_modules_that_are_not_docked_do_not_clash():
    u = mr.Assembly.from_grid("B B\nB B").disconnect("m2/2")
    apart = se3.position(u.placements["m2"]) - se3.position(u.placements["m3"])
    np.testing.assert_allclose(np.linalg.norm(apart), 0.105)


@pytest.mark.parametrize("kind", ["backbone", "scout"])
def test_the_fifth_module_of_a_square_lands_on_the_first(kind):
    square = mr.Assembly.single("m0", kind)
    for i in range(1, 4):
        square = square.dock(f"m{i}", kind, f"m{i - 1}/3", "2")
    before = copy.copy(square)
    with pytest.raises(ClashError, match=r"'m4' would stand where 'm0' stands \(all joints at zero\)"):
        square.dock("m4", kind, "m3/3", "2")
    assert square == before
    assert len(square) == 4


def test_clashes_are_found_between_any_two_modules_of_a_whole():
    square = mr.Assembly.single("m0", "backbone")
    for i in range(1, 4):
        square = square.dock(f"m{i}", "backbone", f"m{i - 1}/3", "2")
    fifth = mr.Connection(mr.PortRef("m3", "3"), mr.PortRef("m4", "2"))
    modules = {**square.modules, "m4": square.modules["m0"]}
    with pytest.raises(ClashError, match=r"'m0'.*'m4'|'m4'.*'m0'"):
        mr.Assembly(modules, [*square.connections, fifth])


def test_modules_without_shape_clash_with_nothing():
    rail = mr.Assembly.single("x", "virtual").dock("y", "virtual", "x/out", "in").dock("b", "backbone", "y/out", "7")
    assert list(clashes(rail.modules, rail.placements)) == []
    assert list(clashes(rail.modules, rail.placements, "y")) == []


@pytest.mark.parametrize(("offset", "meet"), [(0.0, True), (0.98, True), (0.995, False), (3.0, False)])
def test_boxes_meet_until_they_are_almost_a_length_apart(offset, meet):
    """Along y the two shells of a module fill one length, less 2 % of each."""
    module = mr.module_type("backbone").module()
    placements = {"a": np.eye(4), "b": se3.pose(None, np.array([0, offset * 0.105, 0]))}
    found = list(clashes({"a": module, "b": module}, placements))
    assert found == ([("a", "b")] if meet else [])


def test_modules_without_end_are_refused():
    far = mr.Assembly.single("a", "backbone", {"length": 1e150})
    with pytest.raises(AssemblyError, match=r"modules reach further than 1e\+100 m"):
        far.dock("b", "backbone", "a/3", "4", parameters={"length": 1e150})


def test_overlapping_crowds_are_refused_soon():
    """Two thousand balls of a kilometre in one place: the first pair is enough."""
    spec = {"format": "modurob module 1", "name": "ball", "parts": {"b": {"mass": 1, "shapes": [{"sphere": 1000}]}}}
    ends = {"p": {"part": "b", "at": [0, 0, 1], "connector": "c"}}
    ends["q"] = {"part": "b", "at": [0, 0, -1], "normal": [0, 0, -1], "connector": "c"}
    ball = library.from_data({**spec, "connectors": {"c": {}}, "ports": ends}, "ball").module()
    row = [mr.Connection.parse(f"m{i}/p - m{i + 1}/q") for i in range(1999)]
    with pytest.raises(ClashError, match="'m0' would stand where 'm2' stands"):
        mr.Assembly({f"m{i}": ball for i in range(2000)}, row)


# ---- loops ----


def test_a_square_of_rigid_joins_is_redundant():
    """All four connections weld A halves: one body, one connection too many."""
    robot = mr.Assembly.from_grid("B B\nB180 B180").mechanism()
    assert robot.nv == 0
    assert robot.loops == ()
    assert len(robot.redundant) == 1
    assert len(robot.idle) == 4


def test_a_square_of_backbones_docked_all_round_hinges_as_one():
    """Two hinges on one line join the rows: a loop whose two angles are equal."""
    robot = mr.Assembly.from_grid("B B\nB B").mechanism()
    assert [j.name for j in robot.joints] == ["m3/hinge", "m2/hinge"]
    assert len(robot.loops) == 1
    assert robot.redundant == ()
    np.testing.assert_allclose(robot.loop_error([0.3, 0.3]), 0, atol=TOLERANCE)
    assert np.abs(robot.loop_error([0.3, 0.2])).max() > 1e-3
    q = robot.close_loops([0.3, 0.2])
    assert q[0] == pytest.approx(q[1], abs=1e-9)


@pytest.mark.parametrize("n", [4, 6, 8])
def test_a_ring_of_hinges_is_one_loop_that_closes(n):
    ring = snake(n).connect(f"m{n - 1}/3", "m0/4")
    robot = ring.mechanism(base="m0")
    assert robot.nv == n
    assert [(loop.name, loop.type.kind) for loop in robot.loops] == [(f"m{n - 1}/3 - m0/4", "fixed")]
    regular = np.full(n, 2 * np.pi / n)
    np.testing.assert_allclose(robot.loop_error(regular), 0, atol=TOLERANCE)
    q = robot.close_loops(regular + np.random.default_rng(n).normal(size=n) * 0.02)
    np.testing.assert_allclose(robot.loop_error(q), 0, atol=1e-10)
    assert np.abs(q - regular).max() < 0.1
    # a planar ring of n hinges keeps n - 3 degrees of freedom
    assert len(robot.independent_coordinates(q, np.zeros(n)).rates) == n - 3


def test_a_ring_of_six_closes_from_the_regular_hexagon():
    ring = snake(6).connect("m5/3", "m0/4")
    robot = ring.mechanism()
    q = robot.close_loops(np.full(6, 2 * np.pi / 6))
    X = robot.forward_kinematics(q)
    # the two ports of the closing connection look at each other in one place
    np.testing.assert_allclose(se3.position(X["m5/3"]), se3.position(X["m0/4"]), atol=1e-10)
    np.testing.assert_allclose(X["m5/3"][:3, 2], -X["m0/4"][:3, 2], atol=1e-10)


def test_a_rigid_loop_that_does_not_fit_is_refused():
    line = mr.Assembly.from_grid("B B B").connect("m2/2", "m0/5")
    with pytest.raises(MechanismError, match=r"m2/2 - m0/5 cannot close: .* one rigid body and are 0.315 m and 0 deg"):
        line.mechanism()


# ---- cubes and joints of Chen and Yang ----


def test_links_and_joints_alternate_in_a_chain():
    arm = mr.Assembly.single("base", "cube_link")
    arm = arm.dock("j1", "revolute_joint", "base/1", "1").dock("l1", "cube_link", "j1/2", "6")
    arm = arm.dock("j2", "pivot_joint", "l1/1", "1").dock("l2", "cube_link", "j2/2", "6")
    arm = arm.dock("j3", "prismatic_joint", "l2/2", "1").dock("l3", "cube_link", "j3/2", "5")
    robot = arm.mechanism()
    assert [(j.name, j.kind) for j in robot.joints] == [
        ("j1/joint", "revolute"),
        ("j2/joint", "revolute"),
        ("j3/joint", "prismatic"),
    ]
    assert robot.idle == ()
    # base 0.05, joint 0.05, link 0.1, joint 0.05, half a link; then the slide and its link to the side
    X = robot.forward_kinematics([0, 0, 0.02])["l3"]
    np.testing.assert_allclose(se3.position(X), [0.05 + 0.05 + 0.02 + 0.05, 0, 0.3], atol=1e-15)
    X = robot.forward_kinematics([np.pi / 2, 0, 0.0])["l3"]
    np.testing.assert_allclose(se3.position(X), [0, 0.15, 0.3], atol=1e-15)


@pytest.mark.parametrize("kind", ["revolute_joint", "prismatic_joint", "pivot_joint"])
@pytest.mark.parametrize("face", "123456")
def test_a_joint_docks_to_every_face_of_a_link_but_not_to_a_joint(kind, face):
    one = mr.Assembly.single("l", "cube_link").dock("j", kind, f"l/{face}", "1")
    assert one.dock("k", "cube_link", "j/2", face).mechanism().nv == 1
    with pytest.raises(AssemblyError, match="a male connector does not fit a male one: expected one male and one fem"):
        one.dock("k", kind, "j/2", "1")
    with pytest.raises(AssemblyError, match="a female connector does not fit a female one"):
        one.dock("k", "cube_link", "l/1" if face != "1" else "l/2", "1")


def test_a_link_and_a_backbone_do_not_fit():
    with pytest.raises(AssemblyError, match="connector 'socket' does not fit 'cobold'"):
        mr.Assembly.single("l", "cube_link").dock("b", "backbone", "l/2", "4")


# ---- Scout ----


def test_scout_has_two_degrees_of_freedom_at_face_3():
    robot = mr.Assembly.single("a", "scout").dock("b", "scout", "a/3", "4").mechanism()
    assert [j.name for j in robot.joints] == ["a/hinge", "a/turn"]
    assert robot.idle == ("b/hinge", "b/turn")
    # the turn is about the normal of face 3, after the hinge about x
    bend, turn = 0.4, 0.7
    R = se3.rotation(robot.forward_kinematics([bend, turn])["b"])
    expected = mr.Universal((1, 0, 0), (0, 1, 0)).pose(np.array([bend, turn]))
    np.testing.assert_allclose(R, se3.rotation(expected), atol=1e-15)


@pytest.mark.parametrize("face", "245")
def test_scout_is_rigid_at_its_other_faces(face):
    robot = mr.Assembly.single("a", "scout").dock("b", "scout", f"a/{face}", "4").mechanism()
    assert robot.nv == 0
    assert len(robot.idle) == 4


def test_mechanisms_of_pickled_assemblies_are_equal(rng):
    assembly = random_assembly(rng, 5)
    robot = assembly.mechanism(floating=True)
    again = pickle.loads(pickle.dumps(robot))
    assert again.key == robot.key
    q = robot.random_configuration(rng)
    np.testing.assert_array_equal(again.mass_matrix(q), robot.mass_matrix(q))
