"""Gaits: rhythms that move every active joint of any robot (Meister, Gutenkunst, Levi, section VI).

A gait is a pattern (which joint swings when) played by a generator (what makes the waves). `gait("snake")` has a preset
pattern; `Gait.on(robot)` gives q, v and vdot over time, which controllers take as their reference.
"""

from modurob.motion.gaits.analysis import Spectrum, phase_locking, phases, spectrum
from modurob.motion.gaits.bounding import Bound
from modurob.motion.gaits.hopf import Hopf
from modurob.motion.gaits.logistic import Logistic
from modurob.motion.gaits.matsuoka import Matsuoka
from modurob.motion.gaits.patterns import PRESETS, Crab, Phases, Quadruped, Snake, Wheel
from modurob.motion.gaits.plots import plot_phases, plot_spectrum
from modurob.motion.gaits.recipe import Gait, gait
from modurob.motion.gaits.reference import Reference
from modurob.motion.gaits.serpentine import Inchworm, Rolling, Serpentine, Sidewinding, Undulation
from modurob.motion.gaits.sine import Sine
from modurob.motion.gaits.striding import Hexapod
from modurob.motion.gaits.waves import GENERATORS

__all__ = [
    "GENERATORS",
    "PRESETS",
    "Bound",
    "Crab",
    "Gait",
    "Hexapod",
    "Hopf",
    "Inchworm",
    "Logistic",
    "Matsuoka",
    "Phases",
    "Quadruped",
    "Reference",
    "Rolling",
    "Serpentine",
    "Sidewinding",
    "Sine",
    "Snake",
    "Spectrum",
    "Undulation",
    "Wheel",
    "gait",
    "phase_locking",
    "phases",
    "plot_phases",
    "plot_spectrum",
    "spectrum",
]
