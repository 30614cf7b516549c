"""Where to go: trajectories and gaits."""

from modurob.motion.gaits import Gait, gait
from modurob.motion.trajectory import TRAJECTORIES, Point, Trajectory

__all__ = ["TRAJECTORIES", "Gait", "Point", "Trajectory", "gait"]
