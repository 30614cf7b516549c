"""The fastest motion along a path that keeps limits of velocity, acceleration and torque of the full dynamics."""

from modurob.motion.fastest.timing import TimeOptimal, time_optimal

__all__ = ["TimeOptimal", "time_optimal"]
