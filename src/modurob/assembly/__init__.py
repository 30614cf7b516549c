"""Which modules are docked where, as an immutable graph, and its views as matrices and lists."""

from modurob.assembly.assembly import Assembly
from modurob.assembly.connection import Connection, PortRef
from modurob.assembly.files import dumps, load, loads, save, shipped_robots

__all__ = ["Assembly", "Connection", "PortRef", "dumps", "load", "loads", "save", "shipped_robots"]
