"""Integration methods: a state advanced by a step while torques are held, each in a file of its own."""

from modurob.simulation.steppers.adaptive import Adaptive
from modurob.simulation.steppers.exponential import ExponentialRungeKutta4
from modurob.simulation.steppers.implicit_midpoint import ImplicitMidpoint
from modurob.simulation.steppers.linearly_implicit import LinearlyImplicit
from modurob.simulation.steppers.runge_kutta_4 import RungeKutta4
from modurob.simulation.steppers.semi_implicit_euler import SemiImplicitEuler
from modurob.simulation.steppers.stepper import STEPPERS, FixedStep, StepLimitError, Stepper
from modurob.simulation.steppers.variational import Variational

__all__ = [
    "STEPPERS",
    "Adaptive",
    "ExponentialRungeKutta4",
    "FixedStep",
    "ImplicitMidpoint",
    "LinearlyImplicit",
    "RungeKutta4",
    "SemiImplicitEuler",
    "StepLimitError",
    "Stepper",
    "Variational",
]
