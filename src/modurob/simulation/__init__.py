"""Motion over time: the system (q, v, x), steppers, runs and recordings, and organisms that change shape during a run."""

from modurob.simulation.changes import Connect, Disconnect, Dock, Merge, Reroot, Tie, Undock, Untie
from modurob.simulation.external import InWorld
from modurob.simulation.fleet import advance
from modurob.simulation.law import Controller, Estimator, Filter, Law, Measured, Memoryless
from modurob.simulation.mujoco import MujocoSteps
from modurob.simulation.race import Race, race
from modurob.simulation.recording import Event, Recording, Segment, Settings
from modurob.simulation.simulation import Simulation, simulate
from modurob.simulation.status import Status, Statuses
from modurob.simulation.steppers import (
    STEPPERS,
    Adaptive,
    ExponentialRungeKutta4,
    ImplicitMidpoint,
    LinearlyImplicit,
    RungeKutta4,
    SemiImplicitEuler,
    Stepper,
    Variational,
)
from modurob.simulation.world import Impact, Organism, World

__all__ = [
    "STEPPERS",
    "Adaptive",
    "Connect",
    "Controller",
    "Disconnect",
    "Dock",
    "Estimator",
    "Event",
    "ExponentialRungeKutta4",
    "Filter",
    "Impact",
    "ImplicitMidpoint",
    "InWorld",
    "Law",
    "LinearlyImplicit",
    "Measured",
    "Memoryless",
    "Merge",
    "MujocoSteps",
    "Organism",
    "Race",
    "Recording",
    "Reroot",
    "RungeKutta4",
    "Segment",
    "SemiImplicitEuler",
    "Settings",
    "Simulation",
    "Status",
    "Statuses",
    "Stepper",
    "Tie",
    "Undock",
    "Untie",
    "Variational",
    "World",
    "advance",
    "race",
    "simulate",
]
