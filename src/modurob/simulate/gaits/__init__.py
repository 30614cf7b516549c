"""Gaits: rhythms that move every active joint of any robot (003 section VI).

A gait is a pattern (which joint swings when) played by a generator (what makes the waves). `gait("snake")` has a preset
pattern; `Gait.on(robot)` gives q, v and vdot over time, which controllers take as their reference.
"""

from modurob.simulate.gaits.analysis import Spectrum, phase_locking, phases, spectrum
from modurob.simulate.gaits.hopf import Hopf
from modurob.simulate.gaits.logistic import Logistic
from modurob.simulate.gaits.matsuoka import Matsuoka
from modurob.simulate.gaits.patterns import Crab, Phases, Quadruped, Snake, Wheel
from modurob.simulate.gaits.plots import plot_phases, plot_spectrum
from modurob.simulate.gaits.recipe import GENERATORS, PRESETS, Gait, gait
from modurob.simulate.gaits.reference import Reference
from modurob.simulate.gaits.sine import Sine

__all__ = [
    "GENERATORS",
    "PRESETS",
    "Crab",
    "Gait",
    "Hopf",
    "Logistic",
    "Matsuoka",
    "Phases",
    "Quadruped",
    "Reference",
    "Sine",
    "Snake",
    "Spectrum",
    "Wheel",
    "gait",
    "phase_locking",
    "phases",
    "plot_phases",
    "plot_spectrum",
    "spectrum",
]
