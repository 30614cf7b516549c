"""The command `modurob`."""

from modurob.cli import arms, doctor, equations, export, motion, robots, robustness, search
from modurob.cli.app import app, main

__all__ = ["app", "arms", "doctor", "equations", "export", "main", "motion", "robots", "robustness", "search"]
