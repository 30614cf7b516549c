"""Modular, self-reconfigurable robots: from docked modules to equations of motion.

>>> import modurob as mr
>>> robot = mr.load("crab").mechanism(base="m0")
>>> robot.mass_matrix(robot.neutral())
"""

from modurob.assembly import Connection, PortRef, Setup, save, shipped_robots
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
from modurob.control import (
    LQR,
    PID,
    ComputedTorque,
    FeedForward,
    GravityCompensation,
    Trajectory,
    gains_by_damping,
    gains_by_lqr,
    gains_by_poles,
    linearised,
)
from modurob.errors import ModurobError, ModurobWarning
from modurob.estimate import ExtendedKalmanFilter, HallSensors, UnscentedKalmanFilter, observability
from modurob.kernels import set_threads
from modurob.mechanism import JointProperties, Source
from modurob.robot import Assembly, Builder, Mechanism, load
from modurob.simulate import (
    Adaptive,
    Dock,
    Friction,
    Gait,
    ImplicitMidpoint,
    LimitSprings,
    Merge,
    Organism,
    Recording,
    RungeKutta4,
    SemiImplicitEuler,
    Simulation,
    Undock,
    Variational,
    World,
    gait,
    simulate,
)

__version__ = "0.1.0"

__all__ = [
    "LQR",
    "PID",
    "Adaptive",
    "Assembly",
    "Builder",
    "ComputedTorque",
    "Connection",
    "Cylindrical",
    "Dock",
    "ExtendedKalmanFilter",
    "FeedForward",
    "Fixed",
    "Free",
    "Friction",
    "Gait",
    "GravityCompensation",
    "HallSensors",
    "Helical",
    "ImplicitMidpoint",
    "JointProperties",
    "LimitSprings",
    "Mechanism",
    "Merge",
    "ModuleType",
    "ModurobError",
    "ModurobWarning",
    "Organism",
    "Planar",
    "PortRef",
    "Prismatic",
    "Recording",
    "Revolute",
    "RungeKutta4",
    "SemiImplicitEuler",
    "Setup",
    "Simulation",
    "Source",
    "Spherical",
    "Trajectory",
    "Undock",
    "Universal",
    "UnscentedKalmanFilter",
    "Variational",
    "World",
    "gains_by_damping",
    "gains_by_lqr",
    "gains_by_poles",
    "gait",
    "linearised",
    "load",
    "module_type",
    "observability",
    "save",
    "set_threads",
    "shipped_robots",
    "simulate",
]
