"""Robots to measure on."""

from collections.abc import Iterator
from importlib.metadata import files
from pathlib import Path

import numpy as np

import modurob as mr
from modurob.spatial import inertia, se3
from tests.robots import KINDS, ONE_RATE, random_joint

# the 24 turns that take a cube to itself
CUBE_TURNS = [
    R
    for x in np.vstack([np.eye(3), -np.eye(3)])
    for y in np.vstack([np.eye(3), -np.eye(3)])
    if x @ y == 0 and np.linalg.det(R := np.stack([x, y, np.cross(x, y)], axis=-1)) > 0
]


def snake(n: int) -> mr.Assembly:
    """A chain of n + 1 Backbones: n degrees of freedom."""
    aim = np.zeros((n + 1, n), dtype=int)
    for i in range(n):
        aim[i, i], aim[i + 1, i] = 3, 4
    return mr.Assembly.from_aim(aim, types="backbone")


def of_cubes(n: int, parents: list[int], seed: int = 0) -> mr.Mechanism:
    """n cubes of 10 cm, each on a hinge at a face of its parent, turned in any of the 24 ways."""
    rng = np.random.default_rng(seed)
    cube = inertia.spatial_inertia(0.8, (0.0, 0.0, 0.05), np.diag([2e-3, 2e-3, 1.5e-3]))
    builder = mr.Builder("cubes")
    for i in range(n):
        axis = np.eye(3)[rng.integers(3)]
        face = np.eye(3)[rng.integers(3)] * rng.choice([-0.05, 0.05])
        at = se3.pose(CUBE_TURNS[rng.integers(len(CUBE_TURNS))], face)
        parent = "world" if parents[i] < 0 else f"b{parents[i]}"
        builder.body(f"b{i}", cube, parent=parent, joint=mr.Revolute(tuple(axis)), at=at)
    return builder.build()


def binary_tree(n: int) -> mr.Mechanism:
    """Every cube carries two."""
    return of_cubes(n, [(i - 1) // 2 if i else -1 for i in range(n)])


def organism(n: int) -> mr.Mechanism:
    """Cubes docked at random onto one of the last eight."""
    rng = np.random.default_rng(n)
    return of_cubes(n, [int(rng.integers(max(0, i - 8), i)) if i else -1 for i in range(n)])


def many_mimics(rng: np.random.Generator, n: int) -> mr.Mechanism:
    """A random tree of all kinds of joints that floats; most joints of one rate mimic another."""
    builder, sources = mr.Builder("mimics"), list[str]()
    for i in range(n):
        kind = str(rng.choice(KINDS)) if i else "free"
        source = None
        if kind in ONE_RATE and sources and rng.random() < 0.6:
            source = mr.Source(str(rng.choice(sources)), rng.uniform(-2, 2), 0.1)
        elif kind in ONE_RATE:
            sources.append(f"b{i}")
        parent, at = f"b{rng.integers(max(0, i - 4), i)}" if i else "world", se3.random(rng, reach=0.5)
        joint = random_joint(rng, kind)
        builder.body(f"b{i}", inertia.random(rng), parent=parent, joint=joint, at=at, mimic=source)
    return builder.build()


def shipped_arm(name: str, frame: str) -> mr.Mechanism:
    """An arm of example-robot-data, without the joints that do not move the frame."""
    shipped = [str(Path(str(f.locate())).resolve()) for f in files("example-robot-data") or []]
    robot = mr.Mechanism.from_urdf(next(f for f in shipped if f.endswith(f"/{name}")))
    carrying = {robot.joints[i - 1].name for i in robot.ancestors[robot.frame(frame).body]}
    return robot.locked([j.name for j in robot.joints if j.name not in carrying and not j.mimics])


def real_robots() -> Iterator[tuple[str, mr.Mechanism]]:
    """An arm, a quadruped and a humanoid from example-robot-data; those with legs float."""
    shipped = [str(Path(f.locate()).resolve()) for f in files("example-robot-data") or [] if f.name.endswith(".urdf")]
    robots = {
        "UR5 arm": ("ur_description/urdf/ur5_robot.urdf", False),
        "ANYmal quadruped": ("anymal_b_simple_description/robots/anymal.urdf", True),
        "Talos humanoid": ("talos_data/robots/talos_reduced.urdf", True),
    }
    for name, (path, floating) in robots.items():
        yield name, mr.Mechanism.from_urdf(next(f for f in shipped if f.endswith(path)), floating=floating)


def rubbing(robot: mr.Mechanism) -> mr.Mechanism:
    """The same with dry friction in every joint."""
    for joint in robot.joints:
        for k in range(joint.type.nv if joint.kind != "free" else 0):
            robot = robot.with_force(f"rub {joint.name} {k}", mr.Friction(coulomb=0.1), joint=joint.name, rate=k)
    return robot
