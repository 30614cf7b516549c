"""Robot files: `mr.load`, then the robot they make, its views and the file it is written to."""

from functools import cache
from importlib import resources
from random import Random

import numpy as np
import yaml

import modurob as mr
from fuzz.targets.files import file_of, mutated_yaml
from modurob.assembly import dumps

OWN = """format: modurob robot 2
name: own
types:
  stick:
    format: modurob module 1
    name: stick
    letter: T
    parameters: {length: {value: 0.3, unit: m, minimum: 0.01}, mass: {value: 1.0}}
    parts:
      a: {mass: mass, centre: [0, 0, length/2], inertia: [mass*length**2/12, mass*length**2/12, 0.001]}
      b: {mass: 0.1, inertia: [0.001, 0.001, 0.001], shapes: [{sphere: 0.02}]}
    joints: {hinge: {kind: revolute, from: a, to: b, at: [0, 0, length], axis: [1, 0, 0], limits: [-1, 1], damping: 0.1}}
    connectors: {plate: {rolls: [0, 90, 180, 270]}}
    ports:
      foot: {part: a, at: [0, 0, 0], normal: [0, 0, -1], up: [1, 0, 0], connector: plate}
      tip: {part: b, at: [0, 0, length], normal: [0, 0, 1], up: [1, 0, 0], connector: plate, number: 2}
modules:
  m0: stick
  m1: {type: stick, parameters: {length: 0.5}}
connections: [m0/tip - m1/foot @ 90]
base: m0
floating: true
gravity: [0, 0, -9.81]
initial:
  coordinates: {m0/hinge: 0.2}
  rates: {m0/hinge: 0.1}
  pose: {position: [0, 0, 1], quaternion: [1, 0, 0, 0]}
  twist: [0, 0, 0, 0, 0, 1]
"""


@cache
def texts() -> list[str]:
    """Valid robot files."""
    folder = resources.files("modurob.assembly") / "robots"
    shipped = [(folder / f"{name}.yaml").read_text(encoding="utf-8") for name in mr.shipped_robots()]
    ring = dumps(mr.Assembly.from_grid("B S B\nS . S\nB S B"))
    return [*shipped, OWN, ring, dumps(mr.load("crab").with_setup(floating=True, coordinates={"m0/hinge": 0.3}))]


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
        assembly = mr.load(path)
    use(assembly)


def use(assembly: mr.Assembly) -> None:
    """What a user does first with an assembly."""
    assert mr.loads(dumps(assembly)) == assembly, "another robot is read back than was written"
    repr((assembly, assembly._repr_html_(), assembly.aim(), assembly.key))
    assembly.direct_transformations()
    robot = assembly.robot()
    q, v = assembly.initial_state()
    repr((robot.mass_matrix(q), robot.bias_forces(q, v), robot.forward_kinematics(q)))
    np.asarray(robot.forward_dynamics(q, v, np.zeros(robot.nv)))
