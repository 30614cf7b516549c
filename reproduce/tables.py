"""The tables and matrices of the sources, written down from them as numbers, beside what modurob makes of the same robots."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from modurob.robot import Assembly, Mechanism, load
from modurob.spatial.scalars import Array
from reproduce.check import Check, Reproduction, apart

# Gutenkunst Table 3.1: faces of modules i and j, by the turn of j in i about z [degrees]
TURNS = {
    0: [(3, 4), (5, 2), (4, 3), (2, 5)],
    90: [(3, 5), (5, 4), (4, 2), (2, 3)],
    180: [(3, 3), (5, 5), (4, 4), (2, 2)],
    270: [(3, 2), (5, 3), (4, 5), (2, 4)],
}
ROTATIONS = {
    0: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    90: [[0, -1, 0], [1, 0, 0], [0, 0, 1]],
    180: [[-1, 0, 0], [0, -1, 0], [0, 0, 1]],
    270: [[0, 1, 0], [-1, 0, 0], [0, 0, 1]],
}
# Gutenkunst Fig. 3.4, with faces 2 and 5 along x: as printed in A.2, along z, they contradict Table 3.1
DIRECTIONS = {2: (1, 0, 0), 3: (0, 1, 0), 4: (0, -1, 0), 5: (-1, 0, 0)}
EDGE = 0.105  # [m]
# Meister et al. Table I: joints with their range [degrees]; all are revolute
RANGES = {"backbone": {"hinge": 90}, "scout": {"hinge": 90, "turn": 180}}
AXES = {
    "hinge": (1, 0, 0),
    "turn": (0, 1, 0),
}  # bending about x (Gutenkunst (5.18)), turning about the normal of face 3
FACES = (2, 3, 4, 5)
# Meister et al. Table II: faces of the first and second module
CLASSES = {
    "DS": [(2, 2), (2, 5), (5, 2), (5, 5)],
    "DP": [(3, 3), (3, 4), (4, 3), (4, 4)],
    "DO": [(2, 3), (2, 4), (3, 2), (3, 5), (4, 2), (4, 5), (5, 3), (5, 4)],
}
# Meister et al. Table III: i j, faces; i j | i x | x j, with the two rows that the table lacks
CRAB_DIRECT = [(0, 1, 3, 4), (1, 2, 2, 5), (2, 3, 3, 2), (1, 4, 5, 2), (4, 5, 3, 5)]
CRAB_INDIRECT = [(0, 2, 0, 1, 1, 2), (0, 3, 0, 2, 2, 3), (0, 4, 0, 1, 1, 4), (0, 5, 0, 4, 4, 5)]
LACKING = [(1, 3, 1, 2, 2, 3), (1, 5, 1, 4, 4, 5)]
# Gutenkunst Fig. 3.5
TREE_DIRECT = [
    (0, 1, 3, 2),
    (1, 2, 5, 3),
    (0, 3, 5, 2),
    (3, 4, 4, 3),
    (4, 5, 5, 2),
    (0, 6, 2, 5),
    (6, 7, 4, 2),
    (7, 8, 4, 5),
]
TREE_INDIRECT = [
    (0, 2, 0, 1, 1, 2),
    (0, 4, 0, 3, 3, 4),
    (3, 5, 3, 4, 4, 5),
    (0, 5, 0, 4, 4, 5),
    (0, 7, 0, 6, 6, 7),
    (6, 8, 6, 7, 7, 8),
    (0, 8, 0, 7, 7, 8),
]
# Meister et al. Fig. 5, Gutenkunst Fig. 3.2, (5.1) and (5.16)
CRAB_AIM = [
    [3, 0, 0, 0, 0, "B"],
    [4, 2, 0, 5, 0, "B"],
    [0, 5, 3, 0, 0, "B"],
    [0, 0, 2, 0, 0, "B"],
    [0, 0, 0, 2, 3, "B"],
    [0, 0, 0, 0, 5, "B"],
    ["DP", "DS", "DO", "DS", "DO", ""],
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
PENDULUM_AIM, CRANE_AIM = [[3, 0], [4, 3], [0, 4]], [[7, 0], [7, 3], [0, 4]]
CRANE_TWISTS = [[0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0]]  # (5.17), (5.18)


def table_3_1() -> Reproduction:
    """Turns and places of a module docked to another, all sixteen pairs of faces."""
    table, turns, places = "Gutenkunst Table 3.1", [], []
    for degrees, pairs in TURNS.items():
        for i, j in pairs:
            X = docked(i, j).placements["m1"]
            turns.append(apart(X[:3, :3], ROTATIONS[degrees]))
            places.append(apart(X[:3, 3], EDGE * np.array(DIRECTIONS[i])))
    return Reproduction(
        [
            Check(table, "pairs of faces that turn otherwise", 0.0, count(x > 1e-12 for x in turns), 0.0),
            Check(table, "modules not an edge away along the face", 0.0, count(x > 1e-12 for x in places), 0.0),
        ],
        None,
    )


def table_1() -> Reproduction:
    """Joints, ranges and docking faces of Backbone and Scout."""
    table, checks = "Meister et al. Table I", []
    for kind, ranges in RANGES.items():
        module = Assembly.single("m", kind)
        robot = module.mechanism(keep_idle=True)
        found = {j.name.removeprefix("m/"): j for j in robot.joints}
        limits = [np.rad2deg(np.ravel(j.limits)) for j in robot.joints]
        expected = [(-ranges.get(name, 0), ranges.get(name, 0)) for name in found]
        axes = [j.type.motion_subspace(np.zeros(1))[3:, 0] for j in robot.joints]
        faces = [p.number for p in module.modules["m"].ports.values() if not p.connector.virtual]
        checks += [
            Check(table, f"{kind}: joints", float(len(ranges)), float(len(found)), 0.0),
            Check(
                table,
                f"{kind}: joints that are not revolute",
                0.0,
                count(j.kind != "revolute" for j in robot.joints),
                0.0,
            ),
            Check(table, f"{kind}: ranges, off by", 0.0, apart(np.array(limits), expected), 1e-9, "°"),
            Check(table, f"{kind}: axes, off by", 0.0, apart(np.array(axes), [AXES[n] for n in found]), 1e-12),
            Check(table, f"{kind}: faces that dock, unlike 2 to 5", 0.0, unlike(sorted(faces), FACES), 0.0),
        ]
    return Reproduction(checks, None)


def table_2() -> Reproduction:
    """Dyad classes of all sixteen pairs, from the geometry of the modules."""
    wrong = count(docked(i, j).dyad_classes() != [kind] for kind, pairs in CLASSES.items() for i, j in pairs)
    return Reproduction([Check("Meister et al. Table II", "pairs of another class", 0.0, wrong, 0.0)], None)


def table_3() -> Reproduction:
    """Direct and indirect transformations of the crab."""
    table, crab = "Meister et al. Table III", load("crab")
    return Reproduction(
        [
            Check(table, "DTL: rows unlike", 0.0, unlike(crab.direct_transformations(), CRAB_DIRECT), 0.0),
            Check(
                table,
                "IDTL: rows unlike, with the two it lacks",
                0.0,
                different(crab.indirect_transformations(), [*CRAB_INDIRECT, *LACKING]),
                0.0,
            ),
        ],
        None,
    )


def lists_3_5() -> Reproduction:
    """Direct and indirect transformations of the tree of nine modules."""
    table, tree = "Gutenkunst Fig. 3.5", load("tree9")
    indirect = tree.indirect_transformations()
    return Reproduction(
        [
            Check(table, "DTL: rows unlike", 0.0, unlike(tree.direct_transformations(), TREE_DIRECT), 0.0),
            Check(table, "IDTL: rows unlike", 0.0, different(indirect, TREE_INDIRECT), 0.0),
        ],
        None,
    )


def aims() -> Reproduction:
    """The matrices of the sources: those of the shipped robots, and read as robots that move alike."""
    table, crab, crane = "AIMs of both", load("crab"), load("crane").robot()
    twists = [j.type.motion_subspace(np.zeros(1))[:, 0] for j in crane.joints]
    return Reproduction(
        [
            Check(table, "crab (Meister et al. Fig. 5): rows unlike", 0.0, unlike(crab.aim_table(), CRAB_AIM), 0.0),
            Check(table, "tree (Gutenkunst Fig. 3.2): rows unlike", 0.0, unlike(load("tree9").aim(), TREE_AIM), 0.0),
            Check(
                table,
                "double pendulum (5.1): rows unlike",
                0.0,
                unlike(load("double_pendulum").aim(), PENDULUM_AIM),
                0.0,
            ),
            Check(table, "crane (5.16): rows unlike", 0.0, unlike(load("crane").aim(), CRANE_AIM), 0.0),
            Check(table, "crane: twists (5.17), (5.18), off by", 0.0, apart(np.array(twists), CRANE_TWISTS), 1e-12),
            Check(
                table,
                "crab read from its AIM: poses off by",
                0.0,
                apart(end_poses(Assembly.from_aim(CRAB_AIM).mechanism()), end_poses(crab.mechanism())),
                1e-12,
            ),
        ],
        None,
    )


def end_poses(robot: Mechanism) -> Array:
    """Where the crab's legs end, away from zero, (2, 4, 4)."""
    q = np.array([0.4, -0.7, 0.9])
    return np.stack([robot.frame_pose(q, name) for name in ("m3", "m5")])


def docked(i: int, j: int) -> Assembly:
    """Face j of a Backbone on face i of another."""
    return Assembly.from_aim([[i], [j]], "backbone")


def count(wrong: Iterable[Any]) -> float:
    """How many are true."""
    return float(sum(map(bool, wrong)))


def unlike(found: Iterable[Any], printed: Sequence[Any]) -> float:
    """How many rows are not as printed, or missing, or too many."""
    rows = [row if np.isscalar(row) else tuple(row) for row in found]
    right = [row if np.isscalar(row) else tuple(row) for row in printed]
    return count(a != b for a, b in zip(rows, right, strict=False)) + abs(len(rows) - len(right))


def different(found: Iterable[Any], printed: Iterable[Any]) -> float:
    """How many rows are in one list alone: the sources do not agree on the order of indirect transformations."""
    return float(len({tuple(row) for row in found} ^ {tuple(row) for row in printed}))
