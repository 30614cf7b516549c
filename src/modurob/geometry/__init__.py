"""Shapes as values: their extent and support points."""

from modurob.geometry.solids import SOLIDS, Box, Capsule, Cylinder, Mesh, Solid, Sphere, solid

__all__ = ["SOLIDS", "Box", "Capsule", "Cylinder", "Mesh", "Solid", "Sphere", "solid"]
