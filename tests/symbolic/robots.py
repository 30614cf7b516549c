"""Robots whose closed forms are derived in the tests."""

import numpy as np
import sympy

import modurob as mr
from modurob.spatial import inertia, se3

HANGING = (0.0, 9.81, 0.0)
POINT = {"Ixx": 0, "Iyy": 0, "Izz": 0}


def double_pendulum() -> mr.Mechanism:
    """Gutenkunst, section 5.1: point masses m1, m2 at l1, l2, all symbols."""
    l1, l2, m1, m2 = sympy.symbols("l1 l2 m1 m2")
    modules = [
        {"length": l1, **POINT},
        {"length": l1, "mass": m1, **POINT},
        {"length": 2 * l2 - l1, "mass": m2, **POINT},
    ]
    return mr.Assembly.from_aim([[3, 0], [4, 3], [0, 4]], ["backbone"] * 3, modules).mechanism(gravity=HANGING)


def crane() -> mr.Mechanism:
    """Gutenkunst, section 5.2: wagon ms on a rail, load ml on a rope l."""
    l, ms, ml = sympy.symbols("l ms ml")
    modules = [{}, {"length": l, "mass": ms, **POINT}, {"length": l, "mass": ml, **POINT}]
    assembly = mr.Assembly.from_aim([[7, 0], [7, 3], [0, 4]], ["virtual", "backbone", "backbone"], modules)
    return assembly.mechanism(gravity=HANGING)


def scara() -> mr.Mechanism:
    """von Stryk, section 5.3.3: planar arm with frames at the far ends, full centres of mass, gravity along -y."""
    g = sympy.Symbol("g")
    builder = mr.Builder("scara", gravity=np.array([0, -g, 0], dtype=object))
    parent = "world"
    for i in (1, 2):
        l, m, x, y, z = sympy.symbols(f"l{i} m{i} x{i} y{i} z{i}")
        xx, yy, zz = sympy.symbols(f"Ixx{i} Iyy{i} Izz{i}")
        tensor = np.array([[xx, 0, 0], [0, yy, 0], [0, 0, zz]], dtype=object)
        spatial = inertia.spatial_inertia(np.array(m), np.array([x, y, z]), tensor)
        seat = se3.pose(None, np.array([l, 0, 0]))
        builder.body(f"link{i}", spatial, parent=parent, joint=mr.Revolute((0, 0, 1)), seat=seat)
        parent = f"link{i}"
    return builder.build()


def snake(n: int, roll: float = 0.0) -> mr.Mechanism:
    """n hinges in a row, all parallel or each across the one before."""
    assembly = mr.Assembly.single("m0", "backbone")
    for i in range(1, n + 1):
        assembly = assembly.dock(f"m{i}", "backbone", at=f"m{i - 1}/3", by="4", roll=roll)
    return assembly.mechanism(gravity=HANGING)


def organism(motions: str) -> mr.Mechanism:
    """Four modules, free through virtual joints."""
    assembly = mr.Assembly.single("m0", "backbone").dock("m1", "backbone", at="m0/3", by="4")
    assembly = assembly.dock("m2", "backbone", at="m1/3", by="5").dock("m3", "backbone", at="m1/2", by="4")
    return assembly.on_virtual_joints(motions).mechanism(gravity=(0, 0, 0) if motions == "xyZ" else (0, 0, -9.81))


# theta, d, a, alpha of the Schunk LWA 4P (Sepp, Feldotto, Attawia, Heinze, table 2.1, with the offsets of the upright zero pose)
LWA_4P = [
    (0, 0.205, 0, -np.pi / 2),
    (-np.pi / 2, 0, 0.35, 0),
    (np.pi / 2, 0, 0, np.pi / 2),
    (0, 0.305, 0, -np.pi / 2),
    (0, 0, 0, np.pi / 2),
    (0, 0, 0, 0),
]


def lwa_4p() -> mr.Mechanism:
    """A 6R arm with the geometry of the LWA 4P and ten inertial parameters a link, drawn at random."""
    rng = np.random.default_rng(4)
    builder, parent = mr.Builder("lwa4p"), "world"
    for i, row in enumerate(LWA_4P, start=1):
        spatial = inertia.from_parameters(np.round(inertia.parameters(inertia.random(rng)), 4))
        builder.body(f"link{i}", spatial, parent=parent, joint=mr.Revolute(), seat=se3.denavit_hartenberg(*row))
        parent = f"link{i}"
    return builder.build()
