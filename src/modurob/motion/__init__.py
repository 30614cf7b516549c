"""Reference motions: trajectories and gaits."""

from modurob.motion.fastest import TimeOptimal, time_optimal
from modurob.motion.gaits import Gait, gait
from modurob.motion.gaits.driven import driven
from modurob.motion.gaits.found import found_gait, walking_robot
from modurob.motion.gaits.resetting import PhaseResetting
from modurob.motion.gaits.search import search_gait
from modurob.motion.gaits.steering import Steering, steering, walk_to
from modurob.motion.gaits.travel import Travel, travel
from modurob.motion.joint_paths import joint_path
from modurob.motion.online import Online, jerk_limited
from modurob.motion.paths import PATHS, Circle, Line, PosePath, Poses, Screw
from modurob.motion.poses import PosePoint, PoseTrajectory
from modurob.motion.trajectory import TRAJECTORIES, Point, Trajectory

__all__ = [
    "PATHS",
    "TRAJECTORIES",
    "Circle",
    "Gait",
    "Line",
    "Online",
    "PhaseResetting",
    "Point",
    "PosePath",
    "PosePoint",
    "PoseTrajectory",
    "Poses",
    "Screw",
    "Steering",
    "TimeOptimal",
    "Trajectory",
    "Travel",
    "driven",
    "found_gait",
    "gait",
    "jerk_limited",
    "joint_path",
    "search_gait",
    "steering",
    "time_optimal",
    "travel",
    "walk_to",
    "walking_robot",
]
