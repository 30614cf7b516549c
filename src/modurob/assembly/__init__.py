"""Which modules are docked where, as an immutable graph, and how the robot stands; files, matrices and grids of it."""

from modurob.assembly.assembly import Assembly
from modurob.assembly.branches import Branch
from modurob.assembly.connection import Connection, PortRef
from modurob.assembly.files import dumps, save, shipped_robots
from modurob.assembly.setup import Setup

__all__ = ["Assembly", "Branch", "Connection", "PortRef", "Setup", "dumps", "save", "shipped_robots"]
