"""The matrices and lists of Gutenkunst, chapter 3, and Meister, Gutenkunst, Levi, section IV."""

import numpy as np
import pytest

import modurob as mr
from modurob.assembly.connection import mated
from modurob.spatial import se3
from tests.robots import random_assembly

# Meister, Gutenkunst, Levi, Figure 5, and Gutenkunst, Figure 3.2
CRAB_AIM = [
    [3, 0, 0, 0, 0],
    [4, 2, 0, 5, 0],
    [0, 5, 3, 0, 0],
    [0, 0, 2, 0, 0],
    [0, 0, 0, 2, 3],
    [0, 0, 0, 0, 5],
]
TREE_AIM = [
    [3, 0, 5, 0, 0, 2, 0, 0],
    [2, 5, 0, 0, 0, 0, 0, 0],
    [0, 3, 0, 0, 0, 0, 0, 0],
    [0, 0, 2, 4, 0, 0, 0, 0],
    [0, 0, 0, 3, 5, 0, 0, 0],
    [0, 0, 0, 0, 2, 0, 0, 0],
    [0, 0, 0, 0, 0, 5, 4, 0],
    [0, 0, 0, 0, 0, 0, 2, 4],
    [0, 0, 0, 0, 0, 0, 0, 5],
]
ROBOTS = ["crab", "tree9", "double_pendulum", "crane"]


DRAWN = [random_assembly(np.random.default_rng(seed), 2 + seed) for seed in range(10)]
SOME = [*map(mr.load, ROBOTS), *DRAWN]


def closure(A: np.ndarray) -> np.ndarray:
    """Transitive closure of a directed graph: boolean powers summed (slow, and plain)."""
    reach, power = A.astype(bool), A.astype(bool)
    for _ in range(len(A)):
        power = (power.astype(int) @ A.astype(int)) > 0
        reach = reach | power
    return reach.astype(int)


# ---- AIM ----


@pytest.mark.parametrize(("name", "aim"), [("crab", CRAB_AIM), ("tree9", TREE_AIM)])
def test_aim_of_the_documents(name, aim):
    np.testing.assert_array_equal(mr.load(name).aim(), aim)


@pytest.mark.parametrize(("name", "aim"), [("crab", CRAB_AIM), ("tree9", TREE_AIM)])
def test_aim_is_read_as_the_shipped_robot(name, aim):
    read = mr.Assembly.from_aim(aim, types="backbone")
    assert read == mr.load(name)
    assert read.key == mr.load(name).key


@pytest.mark.parametrize("name", ["crab", "tree9", "double_pendulum"])
def test_aim_round_trip(name):
    robot = mr.load(name)
    parameters = [dict(m.changed) for m in robot.modules.values()]
    assert mr.Assembly.from_aim(robot.aim(), types="backbone", parameters=parameters).key == robot.key


@pytest.mark.parametrize("seed", range(8))
def test_aim_table_is_read_back(seed):
    robot = random_assembly(np.random.default_rng(seed), 1 + 2 * seed, rolls=False)
    assert mr.Assembly.from_aim(robot.aim_table()) == robot


def test_aim_table_of_the_crab_carries_types_and_dyad_classes():
    table = mr.load("crab").aim_table()
    assert [row[-1] for row in table] == ["B"] * 6 + [""]
    assert table[-1] == ["DP", "DS", "DO", "DS", "DO", ""]
    assert [row[:-1] for row in table[:-1]] == CRAB_AIM


@pytest.mark.parametrize("entries", [float, str, int])
def test_aim_entries_may_be_any_whole_numbers(entries):
    aim = [[entries(x) for x in row] for row in CRAB_AIM]
    assert mr.Assembly.from_aim(aim, types="backbone") == mr.load("crab")


def test_types_of_an_aim_one_for_each_row_or_in_the_last_column():
    given = mr.Assembly.from_aim([[3], [4]], types=["scout", mr.module_type("backbone")])
    assert [m.type.name for m in given.modules.values()] == ["scout", "backbone"]
    assert mr.Assembly.from_aim([[3, "S"], [4, "backbone"]]) == given


def test_parameters_of_an_aim_one_for_all_or_for_each_row():
    one = mr.Assembly.from_aim([[3], [4]], "backbone", {"mass": 2})
    assert [m.parameters["mass"] for m in one.modules.values()] == [2.0, 2.0]
    each = mr.Assembly.from_aim([[3], [4]], "backbone", [{"mass": 3}, {}])
    assert [m.parameters["mass"] for m in each.modules.values()] == [3.0, 1.0]


def test_loops_are_columns_beyond_n_minus_1():
    square = mr.Assembly.from_grid("B B\nB180 B180")
    assert square.aim().shape == (4, 4)
    assert mr.Assembly.from_aim(square.aim(), types="backbone").key == square.key
    assert len(square.direct_transformations()) == 3
    assert len(square.traversal().loops) == 1


def test_a_port_without_number_counts_from_its_place():
    straight = mr.module_type("backbone").specification
    ports = {name: port.model_copy(update={"number": None}) for name, port in straight.ports.items()}
    bare = mr.ModuleType(straight.model_copy(update={"name": "bare", "ports": ports}), "bare")
    robot = mr.Assembly.single("a", bare).dock("b", bare, "a/3", "4")
    np.testing.assert_array_equal(robot.aim(), [[2], [3]])
    assert robot.direct_transformations() == [(0, 1, "3", "4")]


# ---- accessibility ----


@pytest.mark.parametrize("robot", SOME, ids=repr)
def test_accessibility_is_the_closure_of_the_direct_connections(robot):
    direct = np.zeros((len(robot), len(robot)), dtype=int)
    for i, j, *_ in robot.direct_transformations():
        direct[i, j] = 1
    np.testing.assert_array_equal(robot.accessibility(), closure(direct))


def test_accessibility_of_the_crab():
    rows = [[0, 1, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 0, 0], [0] * 6, [0, 0, 0, 0, 0, 1], [0] * 6]
    np.testing.assert_array_equal(mr.load("crab").accessibility(), rows)


# ---- DTL and IDTL ----


def test_dtl_of_the_tree_row_by_row():
    """Gutenkunst, Figure 3.5 (a)."""
    assert mr.load("tree9").direct_transformations() == [
        (0, 1, 3, 2),
        (1, 2, 5, 3),
        (0, 3, 5, 2),
        (3, 4, 4, 3),
        (4, 5, 5, 2),
        (0, 6, 2, 5),
        (6, 7, 4, 2),
        (7, 8, 4, 5),
    ]


def test_idtl_of_the_tree():
    """Gutenkunst, Figure 3.5 (b): the pairs, and T_ij = T_ix T_xj with the same x."""
    rows = mr.load("tree9").indirect_transformations()
    assert {(i, j, x) for i, j, _, x, _, _ in rows} == {
        (0, 2, 1),
        (0, 4, 3),
        (3, 5, 4),
        (0, 5, 4),
        (0, 7, 6),
        (6, 8, 7),
        (0, 8, 7),
    }
    assert len(rows) == 7


def test_dtl_of_the_crab_row_by_row():
    """Meister, Gutenkunst, Levi, Table III, left."""
    rows = mr.load("crab").direct_transformations()
    assert rows == [(0, 1, 3, 4), (1, 2, 2, 5), (2, 3, 3, 2), (1, 4, 5, 2), (4, 5, 3, 5)]


def test_idtl_of_the_crab_has_the_two_rows_the_paper_lost():
    """Meister, Gutenkunst, Levi, Table III, right, with (1, 3) and (1, 5)."""
    rows = mr.load("crab").indirect_transformations()
    assert sorted((i, j) for i, j, *_ in rows) == [(0, 2), (0, 3), (0, 4), (0, 5), (1, 3), (1, 5)]


@pytest.mark.parametrize("base", [0, -1])
@pytest.mark.parametrize("robot", SOME, ids=repr)
def test_idtl_rows_need_only_what_stands_above_them(robot, base):
    base = list(robot.modules)[base]
    known = {(i, j) for i, j, *_ in robot.direct_transformations(base)}
    for i, j, left_i, left_x, right_x, right_j in robot.indirect_transformations(base):
        assert (left_i, right_j) == (i, j)
        assert left_x == right_x
        assert {(left_i, left_x), (right_x, right_j)} <= known
        assert (i, j) not in known
        known.add((i, j))
    assert known == set(map(tuple, np.argwhere(robot.accessibility(base))))


@pytest.mark.parametrize("base", [0, -1])
@pytest.mark.parametrize("robot", SOME, ids=repr)
def test_products_along_the_lists_are_the_placements(robot, base):
    base, names = list(robot.modules)[base], list(robot.modules)
    T = {}
    for out, into, connection in robot.traversal(base).edges:
        ports = [robot.modules[ref.module].ports[ref.port] for ref in (out, into)]
        T[robot.index[out.module], robot.index[into.module]] = mated(*ports, connection.roll)
    assert list(T) == [(i, j) for i, j, *_ in robot.direct_transformations(base)]
    for i, j, left_i, x, _, right_j in robot.indirect_transformations(base):
        T[i, j] = T[left_i, x] @ T[x, right_j]
    for (i, j), X_ij in T.items():
        expected = se3.inverse(robot.placements[names[i]]) @ robot.placements[names[j]]
        np.testing.assert_allclose(X_ij, expected, atol=1e-12)


# ---- depth first and breadth first ----


def test_breadth_first_order_of_the_tree():
    tree = mr.load("tree9")
    rows = tree.direct_transformations(order="breadth")
    assert [(i, j) for i, j, *_ in rows] == [(0, 1), (0, 3), (0, 6), (1, 2), (3, 4), (6, 7), (4, 5), (7, 8)]
    assert sorted(rows) == sorted(tree.direct_transformations())
    assert list(tree.rerooted("m4", order="breadth").modules) == ["m4", "m3", "m5", "m0", "m1", "m6", "m2", "m7", "m8"]


@pytest.mark.parametrize("base", [0, -1])
@pytest.mark.parametrize("robot", SOME, ids=repr)
def test_both_orders_reach_a_tree_by_the_same_connections(robot, base):
    base = list(robot.modules)[base]
    depth, breadth = (robot.traversal(base, order) for order in ("depth", "breadth"))
    assert sorted(depth.order) == sorted(breadth.order)
    assert set(depth.edges) == set(breadth.edges)
    np.testing.assert_array_equal(robot.accessibility(base), robot.accessibility(base, "breadth"))
    rows = [robot.indirect_transformations(base, order) for order in ("depth", "breadth")]
    assert sorted(rows[0]) == sorted(rows[1])


def test_breadth_first_reaches_a_loop_by_the_shortest_ways():
    ring = mr.Assembly.from_aim([[3, 0, 0, 4], [4, 3, 0, 0], [0, 4, 3, 0], [0, 0, 4, 3]], types="backbone")
    assert len({e.out.module for e in ring.traversal(order="breadth").edges}) == 2
    assert [e.into.module for e in ring.traversal(order="breadth").edges] == ["m1", "m3", "m2"]
    assert [e.into.module for e in ring.traversal().edges] == ["m1", "m2", "m3"]


@pytest.mark.parametrize(
    "call", ["traversal", "accessibility", "direct_transformations", "indirect_transformations", "matrix_text"]
)
def test_orders_are_offered_by_name(call):
    more = {"view": "dtl"} if call == "matrix_text" else {}
    with pytest.raises(mr.ModurobError, match=r"order 'bredth': did you mean 'breadth'. valid: depth, breadth"):
        getattr(mr.load("crab"), call)(order="bredth", **more)


# ---- another base ----


@pytest.mark.parametrize("base", ["m1", "m3", "m5"])
def test_rerooted_keeps_the_robot_and_moves_the_base(base):
    crab = mr.load("crab")
    other = crab.rerooted(base)
    assert next(iter(other.modules)) == base
    assert other.key == crab.key
    assert other != crab
    to_base = se3.inverse(crab.placements[base])
    for name, X in other.placements.items():
        np.testing.assert_allclose(X, to_base @ crab.placements[name], atol=1e-14)


def test_lists_from_another_base_walk_the_same_connections():
    crab = mr.load("crab")
    rows = crab.direct_transformations(base="m3")
    assert rows == [(3, 2, 2, 3), (2, 1, 5, 2), (1, 0, 4, 3), (1, 4, 5, 2), (4, 5, 3, 5)]
    assert crab.accessibility(base="m3")[3].tolist() == [1, 1, 1, 0, 1, 1]
    assert len(crab.indirect_transformations(base="m3")) == 8


def test_rows_of_a_rerooted_robot_are_its_own_modules():
    rows = mr.load("crab").rerooted("m3").direct_transformations()
    assert [(i, j) for i, j, *_ in rows] == [(0, 1), (1, 2), (2, 3), (2, 4), (4, 5)]


# ---- virtual joints ----


def test_crane_is_read_from_its_aim():
    """Gutenkunst (5.16)."""
    point = {"length": 5, "Ixx": 0, "Iyy": 0, "Izz": 0}
    crane = mr.Assembly.from_aim([[7, 0], [7, 3], [0, 4]], types="backbone", parameters=point)
    assert crane.key == mr.load("crane").key
    assert [m.type.name for m in crane.modules.values()] == ["virtual", "backbone", "backbone"]
    np.testing.assert_array_equal(mr.load("crane").aim(), [[7, 0], [7, 3], [0, 4]])
    assert mr.load("crane").dyad_classes() == ["-", "DP"]


def test_crane_slides_and_swings():
    robot = mr.load("crane").mechanism(gravity=(0, 9.81, 0))
    assert [(j.name, j.kind) for j in robot.joints] == [("m0/joint", "prismatic"), ("m1/hinge", "revolute")]
    X = robot.forward_kinematics([0.7, 0.0])
    np.testing.assert_allclose(se3.position(X["m1"]), [0, 0, 0.7])
    np.testing.assert_allclose(se3.position(X["m2"]), [0, 5, 0.7])


@pytest.mark.parametrize("joints", [1, 2, 3, 6])
def test_chains_of_virtual_joints(joints):
    """k rows of 7 before two modules: k degrees of freedom before the hinge."""
    aim = np.zeros((joints + 2, joints + 1), dtype=int)
    for c in range(joints):
        aim[c, c] = aim[c + 1, c] = 7
    aim[joints, joints], aim[joints + 1, joints] = 3, 4
    robot = mr.Assembly.from_aim(aim, types="backbone")
    assert [m.type.name for m in robot.modules.values()] == ["virtual"] * joints + ["backbone"] * 2
    assert [(str(c.a), str(c.b)) for c in robot.connections[: joints - 1]] == [
        (f"m{i}/out", f"m{i + 1}/in") for i in range(joints - 1)
    ]
    np.testing.assert_array_equal(robot.aim(), aim)
    assert mr.Assembly.from_aim(robot.aim_table()).key == robot.key
    assert robot.mechanism().nv == joints + 1


def test_planar_floating_robot_on_three_virtual_joints():
    """Two slides and a turn carry the robot as one planar joint does."""
    aim = [[7, 0, 0, 0], [7, 7, 0, 0], [0, 7, 7, 0], [0, 0, 7, 3], [0, 0, 0, 4]]
    along = {"az": 0.0}
    parameters = [{**along, "ax": 1.0}, {**along, "ay": 1.0}, {"freedom": "revolute"}, {}, {}]
    types = ["virtual"] * 3 + ["backbone"] * 2
    robot = mr.Assembly.from_aim(aim, types, parameters).mechanism()
    assert [j.kind for j in robot.joints] == ["prismatic", "prismatic", "revolute", "revolute"]
    x, y, angle = 0.3, -0.4, 0.5
    X = robot.forward_kinematics([x, y, angle, 0.0])["m3"]
    np.testing.assert_allclose(X, mr.Planar().pose(np.array([x, y, angle])), atol=1e-15)
    # nothing but the two modules has mass
    assert robot.total_mass() == pytest.approx(2.0)
    assert robot.mass_matrix([x, y, angle, 0.2])[0, 0] == pytest.approx(2.0)


def test_seven_needs_a_virtual_joint_on_one_side():
    with pytest.raises(mr.ModurobError, match=r"column 0 .* m0 and m1 by 7, but neither is of type virtual"):
        mr.Assembly.from_aim([[7], [7]], types=["backbone", "backbone"])
