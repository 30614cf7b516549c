"""Which modules are docked where, as an immutable graph, with the setup of the robot; its files, matrices and grids."""

from modurob.assembly.assembly import Assembly
from modurob.assembly.branches import Branch
from modurob.assembly.connection import Connection, PortRef
from modurob.assembly.files import dumps, save, shipped_robots
from modurob.assembly.setup import Setup

__all__ = ["Assembly", "Branch", "Connection", "PortRef", "Setup", "dumps", "save", "shipped_robots"]
