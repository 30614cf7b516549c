"""URDF files, read and written."""

from modurob.mechanism.urdf.reading import fill
from modurob.mechanism.urdf.writing import HARDWARE, urdf

__all__ = ["HARDWARE", "fill", "urdf"]
