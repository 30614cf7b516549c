"""The command `modurob`."""

from modurob.cli import doctor, equations, motion, robots
from modurob.cli.app import app, main

__all__ = ["app", "doctor", "equations", "main", "motion", "robots"]
