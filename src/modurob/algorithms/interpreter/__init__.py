"""The interpreter: programs run with NumPy, over leading axes and any scalars."""

from modurob.algorithms.interpreter.engine import NumPyEngine, interpret
from modurob.algorithms.interpreter.reference import floats, reference, stand

__all__ = ["NumPyEngine", "floats", "interpret", "reference", "stand"]
