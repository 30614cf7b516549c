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
from modurob.errors import ModurobError, ModurobWarning
from modurob.kernels import set_threads
from modurob.mechanism import JointProperties, Source
from modurob.robot import Assembly, Builder, Mechanism, load

__version__ = "0.1.0"
