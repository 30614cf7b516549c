"""Closed-form equations: exact, compact, printable."""

from modurob.symbolic.comparing import Line
from modurob.symbolic.equations import Equations
from modurob.symbolic.forces import LeftOut
from modurob.symbolic.linear import ControlAffine, Linearised, ZeroDynamics, lie_derivative
from modurob.symbolic.lines import LineEquations
from modurob.symbolic.loops import IndependentEquations
from modurob.symbolic.model import Quantity
from modurob.symbolic.parametric import parametric
from modurob.symbolic.ring import Polynomial, Ring

__all__ = [
    "ControlAffine",
    "Equations",
    "IndependentEquations",
    "LeftOut",
    "Line",
    "LineEquations",
    "Linearised",
    "Polynomial",
    "Quantity",
    "Ring",
    "ZeroDynamics",
    "lie_derivative",
    "parametric",
]
