"""Motion over time: steppers, recordings, docking while running, gaits."""

from modurob.algorithms.stepping import LimitSprings
from modurob.simulate.friction import Friction
from modurob.simulate.gaits import Gait, gait
from modurob.simulate.law import Controller, Estimator, Filter, Law
from modurob.simulate.recording import Event, Recording, Segment, Settings
from modurob.simulate.simulation import Simulation, simulate
from modurob.simulate.status import Status
from modurob.simulate.steppers import (
    Adaptive,
    ImplicitMidpoint,
    RungeKutta4,
    SemiImplicitEuler,
    Stepper,
    Variational,
)
from modurob.simulate.world import Dock, Impact, Merge, Organism, Undock, World

__all__ = [
    "Adaptive",
    "Controller",
    "Dock",
    "Estimator",
    "Event",
    "Filter",
    "Friction",
    "Gait",
    "Impact",
    "ImplicitMidpoint",
    "Law",
    "LimitSprings",
    "Merge",
    "Organism",
    "Recording",
    "RungeKutta4",
    "Segment",
    "SemiImplicitEuler",
    "Settings",
    "Simulation",
    "Status",
    "Stepper",
    "Undock",
    "Variational",
    "World",
    "gait",
    "simulate",
]
