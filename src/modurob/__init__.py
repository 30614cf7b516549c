"""Modular, self-reconfigurable robots: from docked modules to equations of motion.

>>> import modurob as mr
>>> robot = mr.load("crab").mechanism(base="m0")
>>> robot.mass_matrix(robot.neutral()).shape
(3, 3)
"""

from modurob.assembly import Connection, PortRef, Setup, save, shipped_robots
from modurob.catalogue import ModuleType, module_type
from modurob.catalogue.forces import Friction, JointSpring, Spring, Stop
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
    gains_by_damping,
    gains_by_lqr,
    gains_by_poles,
    linearised,
)
from modurob.errors import ModurobError, ModurobWarning
from modurob.estimation import (
    IMU,
    ContactSensor,
    ExtendedKalmanFilter,
    HallSensors,
    PoseSensor,
    RateSensors,
    UnscentedKalmanFilter,
    observability,
)
from modurob.kernels import set_threads
from modurob.mechanism import JointProperties, Source
from modurob.motion import Gait, Trajectory, gait
from modurob.robot import Assembly, Builder, Mechanism, load
from modurob.simulation import (
    Adaptive,
    Connect,
    Disconnect,
    Dock,
    ImplicitMidpoint,
    InWorld,
    LinearlyImplicit,
    Merge,
    Organism,
    Recording,
    Reroot,
    RungeKutta4,
    SemiImplicitEuler,
    Simulation,
    Undock,
    Variational,
    World,
    simulate,
)

__version__ = "0.2.0.dev0"

__all__ = [
    "IMU",
    "LQR",
    "PID",
    "Adaptive",
    "Assembly",
    "Builder",
    "ComputedTorque",
    "Connect",
    "Connection",
    "ContactSensor",
    "Cylindrical",
    "Disconnect",
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
    "InWorld",
    "JointProperties",
    "JointSpring",
    "LinearlyImplicit",
    "Mechanism",
    "Merge",
    "ModuleType",
    "ModurobError",
    "ModurobWarning",
    "Organism",
    "Planar",
    "PortRef",
    "PoseSensor",
    "Prismatic",
    "RateSensors",
    "Recording",
    "Reroot",
    "Revolute",
    "RungeKutta4",
    "SemiImplicitEuler",
    "Setup",
    "Simulation",
    "Source",
    "Spherical",
    "Spring",
    "Stop",
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
