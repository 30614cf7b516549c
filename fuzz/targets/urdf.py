"""URDF files: `Mechanism.from_urdf`, fixed and floating, then dynamics and the file it is written to."""

import re
from contextlib import suppress
from functools import cache
from random import Random

import numpy as np

import modurob as mr
from fuzz.mutation import NUMBERS, WORDS, mutated_bytes, mutated_text
from fuzz.targets.files import encoded, file_of
from modurob.errors import UrdfError
from modurob.mechanism import EXPORTS

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base"><inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="upper">
    <inertial><origin xyz="0 0 0.2" rpy="0.1 0 0"/><mass value="1"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0.01" izz="0.05"/></inertial>
    <visual><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.05" length="0.4"/></geometry><material name="grey"/></visual>
    <collision><geometry><box size="0.1 0.1 0.4"/></geometry></collision>
  </link>
  <link name="slide"><inertial><mass value="0.5"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
    <visual><geometry><box size="0.1 0.1 0.1"/></geometry></visual></link>
  <link name="tool"/>
  <link name="finger"><inertial><mass value="0.1"/><inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/>
    </inertial><visual><geometry><sphere radius="0.02"/></geometry></visual></link>
  <link name="other"><inertial><mass value="0.1"/><inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/>
    </inertial><visual><geometry><mesh filename="package://arm/finger.stl" scale="1 1 1"/></geometry></visual></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.1" rpy="0 0.3 0"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="50" velocity="3"/><dynamics damping="0.5" friction="0.1"/></joint>
  <joint name="lift" type="prismatic"><parent link="upper"/><child link="slide"/><origin xyz="0 0 0.4"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="0.3" effort="20" velocity="1"/></joint>
  <joint name="mount" type="fixed"><parent link="slide"/><child link="tool"/><origin xyz="0 0 0.1"/></joint>
  <joint name="left" type="continuous"><parent link="tool"/><child link="finger"/><axis xyz="1 0 0"/></joint>
  <joint name="right" type="continuous"><parent link="tool"/><child link="other"/><axis xyz="1 0 0"/>
    <mimic joint="left" multiplier="-1" offset="0.1"/></joint>
  <transmission name="t"><type>simple</type><joint name="shoulder"/><actuator name="motor"/></transmission>
</robot>
"""
CART = """<robot name="cart"><link name="world"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><link name="plate"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><link name="ball"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="plane" type="planar"><parent link="world"/><child link="plate"/><axis xyz="0 0 1"/></joint>
<joint name="loose" type="floating"><parent link="plate"/><child link="ball"/></joint></robot>
"""


VALUE = re.compile(r'="([^"]*)"')
ELEMENT = re.compile(r"<(\w+)[^<>]*/>|<(joint|link|inertial|visual)\b.*?</\2>", re.DOTALL)


@cache
def texts() -> list[str]:
    """Valid URDF files."""
    return [ARM, CART]


def inputs() -> list[bytes]:
    return [text.encode() for text in texts()]


def mutated(rng: Random) -> bytes:
    text, fate = rng.choice(texts()), rng.random()
    if fate < 0.1:
        return mutated_bytes(rng, text.encode())
    if fate < 0.4:
        return encoded(mutated_text(rng, text, texts()))
    for _ in range(rng.choice((1, 1, 2, 3))):
        text = _other_value(rng, text) if rng.random() < 0.8 else _other_element(rng, text)
    return encoded(text)


def _other_value(rng: Random, text: str) -> str:
    """With another value of an attribute: one that stands elsewhere, one number of it changed, or anything."""
    values = list(VALUE.finditer(text))
    at = rng.choice(values)
    numbers = at[1].split() or [""]
    numbers[rng.randrange(len(numbers))] = rng.choice(NUMBERS)
    new = rng.choice((rng.choice(values)[1], " ".join(numbers), rng.choice(WORDS).replace('"', "'")))
    return text[: at.start(1)] + new + text[at.end(1) :]


def _other_element(rng: Random, text: str) -> str:
    """With an element left out, twice, or somewhere else."""
    at = rng.choice(list(ELEMENT.finditer(text)))
    rest = text[: at.start()] + text[at.end() :]
    k = rng.choice([m.end() for m in re.finditer(">", rest)])
    return rng.choice((rest, rest[:k] + at[0] + rest[k:], text[: at.end()] + at[0] + text[at.end() :]))


def run(data: bytes) -> None:
    with file_of(data, ".urdf") as path:
        robots = [mr.Mechanism.from_urdf(path, floating) for floating in (False, True)]
    for robot in robots:
        use(robot)


def use(robot: mr.Mechanism) -> None:
    """What a user does first with a robot of links."""
    repr(robot)
    q, v = robot.neutral(), np.zeros(robot.nv)
    repr((robot.mass_matrix(q), robot.bias_forces(q, v), robot.forward_kinematics(q)))
    robot.forward_dynamics(q, v, v)
    with suppress(UrdfError):  # URDF has no words for some joints
        EXPORTS["urdf"](robot)
