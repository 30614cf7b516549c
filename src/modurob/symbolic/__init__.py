"""Closed-form equations: exact, compact, printable."""

from modurob.symbolic.equations import Equations, Line
from modurob.symbolic.ring import Polynomial, Ring

__all__ = ["Equations", "Line", "Polynomial", "Ring"]
