"""URDF files, read and written."""

from modurob.mechanism.urdf.reading import fill
from modurob.mechanism.urdf.writing import urdf

__all__ = ["fill", "urdf"]
