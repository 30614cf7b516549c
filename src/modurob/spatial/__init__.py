"""Rigid motions: rotations, poses, twists, wrenches and inertia, in NumPy alone."""

from modurob.spatial import angles, inertia, quaternion, se3, so3

__all__ = ["angles", "inertia", "quaternion", "se3", "so3"]
