"""Modular, self-reconfigurable robots: from docked modules to equations of motion.

>>> import modurob as mr
>>> robot = mr.load("crab").mechanism(base="m0")
>>> robot.mass_matrix(robot.neutral())
"""

from modurob.assembly import Assembly, Connection, PortRef, load, save, shipped_robots
from modurob.catalogue import ModuleType, module_type
from modurob.catalogue.joints import (
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from modurob.errors import ModurobError, ModurobWarning
from modurob.kernels import set_threads
from modurob.mechanism import JointProperties, Source
from modurob.robot import Builder, Mechanism

__version__ = "0.1.0"

__all__ = [
    "Assembly",
    "Builder",
    "Connection",
    "Cylindrical",
    "Fixed",
    "Free",
    "Helical",
    "JointProperties",
    "Mechanism",
    "ModuleType",
    "ModurobError",
    "ModurobWarning",
    "Planar",
    "PortRef",
    "Prismatic",
    "Revolute",
    "Source",
    "Spherical",
    "Universal",
    "load",
    "module_type",
    "save",
    "set_threads",
    "shipped_robots",
]
