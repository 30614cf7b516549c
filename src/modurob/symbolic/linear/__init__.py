"""Equations of motion near a point, and as a control-affine system: linearisation, Lie derivatives, relative degree."""

from modurob.symbolic.linear.control_affine import ControlAffine, control_affine, is_zero, lie_derivative
from modurob.symbolic.linear.linearisation import Linearised, linearised
from modurob.symbolic.linear.zero_dynamics import ZeroDynamics, zero_dynamics

__all__ = [
    "ControlAffine",
    "Linearised",
    "ZeroDynamics",
    "control_affine",
    "is_zero",
    "lie_derivative",
    "linearised",
    "zero_dynamics",
]
