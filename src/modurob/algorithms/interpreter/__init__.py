"""The interpreter: programs run with NumPy, over leading axes and any scalars."""

from modurob.algorithms.interpreter.engine import NumPyEngine, interpret
from modurob.algorithms.interpreter.reference import floats, reference, stand
from modurob.algorithms.interpreter.views import TINY

__all__ = ["TINY", "NumPyEngine", "floats", "interpret", "reference", "stand"]
