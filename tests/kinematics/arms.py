"""Robots whose goals are looked for: two arms, a table of DH rows, an organism, a humanoid."""

from importlib.metadata import files
from pathlib import Path

import numpy as np

import modurob as mr
from modurob.spatial import inertia, se3, so3

X, Z = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
# a, alpha, d, offset [m, rad] of the arm with a wrist offset of 5.263 mm
LWA = (
    (0, -np.pi / 2, 0.205, 0),
    (0.35, 0, 0, -np.pi / 2),
    (0, np.pi / 2, 0, np.pi / 2),
    (0, -np.pi / 2, 0.305, 0),
    (0, np.pi / 2, 0.005263, 0),
    (0, 0, 0, 0),
)


def shipped(name: str) -> Path:
    """A file of example-robot-data."""
    return next(Path(str(f.locate())).resolve() for f in files("example-robot-data") or [] if str(f).endswith(name))


def of_rows(rows, limit: float = 2.967) -> mr.Mechanism:
    """An arm from distal DH rows, its frame `tip`."""
    b, parent, at = mr.Builder("rows"), "world", np.eye(4)
    for i, (a, alpha, d, offset) in enumerate(rows):
        start, limits = at @ se3.pose(so3.about(Z, offset)), mr.JointProperties(lower=-limit, upper=limit)
        b.body(
            f"l{i}",
            inertia.point(1.0, (0, 0, 0.1)),
            parent=parent,
            joint=mr.Revolute((0, 0, 1)),
            at=start,
            properties=limits,
        )
        parent, at = f"l{i}", se3.pose(None, d * Z) @ se3.pose(so3.about(X, alpha), a * X)
    b.frame("tip", parent, at)
    return b.build()


def organism() -> mr.Mechanism:
    """Nine Backbones in a row, every second turned by a quarter: hinges of half a turn, across each other."""
    assembly = mr.Assembly.single("m0", "backbone")
    for i in range(1, 9):
        assembly = assembly.dock(f"m{i}", "backbone", f"m{i - 1}/3", "4", 90.0 * (i % 2))
    return assembly.mechanism()


ROBOTS = {
    "panda": (lambda: mr.Mechanism.from_urdf(shipped("panda_description/urdf/panda.urdf")), ["panda_hand"]),
    "ur5": (lambda: mr.Mechanism.from_urdf(shipped("ur_description/urdf/ur5_robot.urdf")), ["tool0"]),
    "lwa4p": (lambda: of_rows(LWA), ["tip"]),
    "organism": (organism, ["m8"]),
    "talos": (
        lambda: mr.Mechanism.from_urdf(shipped("talos_data/robots/talos_reduced.urdf")),
        ["gripper_left_base_link", "gripper_right_base_link"],
    ),
}


def configurations(robot: mr.Mechanism, n: int, rng: np.random.Generator) -> np.ndarray:
    return np.stack([robot.random_configuration(rng) for _ in range(n)])
