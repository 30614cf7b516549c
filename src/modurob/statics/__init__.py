"""Robots at rest: equilibria, workspaces of cable robots, and tensegrity structures. See docs/lines.md."""

from modurob.statics.equilibrium import Equilibrium, equilibrium
from modurob.statics.tensegrity import Framework, prism
from modurob.statics.workspace import from_lengths, wrench_closure, wrench_feasible

__all__ = ["Equilibrium", "Framework", "equilibrium", "from_lengths", "prism", "wrench_closure", "wrench_feasible"]
