"""Where to go: trajectories and gaits."""

from modurob.motion.gaits import Gait, gait
from modurob.motion.trajectory import Point, Trajectory

__all__ = ["Gait", "Point", "Trajectory", "gait"]
