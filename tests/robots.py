"""Robots drawn at random, for tests that hold for every robot."""

from collections.abc import Sequence
from functools import cache

import numpy as np

import modurob as mr
from modurob.catalogue.joints import KINDS as JOINTS
from modurob.catalogue.joints import JointType
from modurob.errors import AssemblyError
from modurob.spatial import inertia, se3

KINDS = ("revolute", "prismatic", "helical", "cylindrical", "universal", "spherical", "planar", "free")
ONE_RATE = ("revolute", "prismatic", "helical")
COORDINATE_RATES = ("revolute", "prismatic", "helical", "cylindrical", "universal", "planar")


@cache
def shipped() -> dict[str, mr.Mechanism]:
    """The robots that are shipped, by name, made once for all tests that choose among them."""
    return {name: mr.load(name).robot() for name in mr.shipped_robots()}


def without_lines() -> list[str]:
    """Those that hang in no cables: joints alone drive them, and matrices say all of them."""
    return [name for name, robot in shipped().items() if not robot.lines]


def random_axis(rng: np.random.Generator) -> tuple[float, ...]:
    """A coordinate axis half of the time, any direction otherwise."""
    if rng.random() < 0.5:
        return tuple(rng.choice([-1.0, 1.0]) * np.eye(3)[rng.integers(3)])
    return tuple(rng.normal(size=3))


def random_joint(rng: np.random.Generator, kind: str, axis: tuple[float, ...] | None = None) -> JointType:
    """A joint of that kind with random axes, or with a given first axis and exact numbers."""
    given = axis is not None
    axis = random_axis(rng) if axis is None else axis
    match kind:
        case "revolute":
            return mr.Revolute(axis)
        case "prismatic":
            return mr.Prismatic(axis)
        case "helical":
            return mr.Helical(axis, 0.25 if given else rng.uniform(-0.3, 0.3))
        case "cylindrical":
            return mr.Cylindrical(axis)
        case "universal":
            return mr.Universal(axis, tuple(np.roll(axis, 1)) if given else tuple(np.cross(axis, rng.normal(size=3))))
        case "spherical":
            return mr.Spherical()
        case "planar":
            return mr.Planar(axis)
        case "free":
            return mr.Free()
        case "involute" | "involute stretch" | "involute strain" | "involute length":
            return JOINTS[kind](rng.uniform(0.05, 0.5))  # type: ignore[call-arg]
    return mr.Fixed()


def random_mechanism(
    rng: np.random.Generator,
    bodies: int,
    kinds: Sequence[str] = KINDS,
    floating: bool = False,
    chain: bool = False,
    armature: bool = False,
) -> mr.Mechanism:
    """A chain or tree with joints of the given kinds, placed and weighted at random. Gravity points anywhere."""
    builder = mr.Builder("random", gravity=rng.normal(size=3) * 5)
    for i in range(bodies):
        parent = "world" if i == 0 else f"b{i - 1 if chain else rng.integers(max(0, i - 4), i)}"
        joint = mr.Free() if floating and i == 0 else random_joint(rng, str(rng.choice(kinds)))
        builder.body(
            f"b{i}",
            inertia.random(rng),
            parent=parent,
            joint=joint,
            at=se3.random(rng, reach=0.5),
            properties=mr.JointProperties(armature=rng.uniform(0, 0.2) if armature and joint.kind != "free" else 0.0),
        )
    return builder.build()


def random_state(rng: np.random.Generator, robot: mr.Mechanism) -> tuple[np.ndarray, ...]:
    """q, v, vdot away from zero."""
    return robot.random_configuration(rng), *rng.normal(size=(2, robot.nv))


def random_assembly(
    rng: np.random.Generator, modules: int, types: Sequence[str] = ("backbone", "scout"), rolls: bool = True
) -> mr.Assembly:
    """Modules docked one after another at random free ports, wherever there is room."""
    assembly = mr.Assembly.single("m0", str(rng.choice(types)))
    while len(assembly) < modules:
        kind = str(rng.choice(types))
        ports = [p.name for p in mr.module_type(kind).module().ports.values() if not p.connector.virtual]
        free = assembly.free_ports
        at, by = free[rng.integers(len(free))], str(rng.choice(ports))
        roll = float(rng.choice([0, 90, 180, 270])) if rolls else 0.0
        try:
            assembly = assembly.dock(f"m{len(assembly)}", kind, at, by, roll)
        except AssemblyError:
            continue
    return assembly
