"""The command `modurob`."""

from modurob.cli import motion, robots
from modurob.cli.app import app, main

__all__ = ["app", "main", "motion", "robots"]
