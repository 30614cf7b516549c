"""Module type files: `mr.module_type`, then a module of the type and its robot."""

from functools import cache
from importlib import resources
from random import Random

import yaml

import modurob as mr
from fuzz.targets.assembly import use
from fuzz.targets.files import file_of, mutated_yaml
from modurob.catalogue.library import shipped_names

ALL_KINDS = """format: modurob module 1
name: kinds
parameters:
  kind: {value: revolute, choices: [revolute, prismatic]}
  pitch: {value: 0.01, unit: m/rad}
parts: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 1, inertia: [1, 1, 1]}, c: {mass: 1, inertia: [1, 0, 1, 0, 0, 1]}}
joints:
  screw: {kind: helical, from: a, to: b, axis: [0, 0, 1], pitch: pitch, velocity: 2, effort: 3, friction: 0.1}
  ball: {kind: spherical, from: b, to: c, at: [0, 0, 0.1]}
ports: {}
"""


@cache
def texts() -> list[str]:
    """Valid module type files."""
    folder = resources.files("modurob.catalogue") / "modules"
    return [*((folder / f"{name}.yaml").read_text(encoding="utf-8") for name in shipped_names()), ALL_KINDS]


@cache
def contents() -> list[dict]:
    """What they hold."""
    return [yaml.safe_load(text) for text in texts()]


def inputs() -> list[bytes]:
    return [text.encode() for text in texts()]


def mutated(rng: Random) -> bytes:
    return mutated_yaml(rng, texts(), contents())


def run(data: bytes) -> None:
    with file_of(data, ".yaml") as path:
        kind = mr.module_type(path)
    one = mr.Assembly.single("m0", kind)
    robot = one.mechanism(keep_idle=True)
    robot.mass_matrix(robot.neutral())
    use(one)
