"""MJCF, the files of MuJoCo, written and read; and a robot as MuJoCo's own model."""

from modurob.mechanism.mjcf.model import MujocoModel
from modurob.mechanism.mjcf.reading import fill, is_mjcf
from modurob.mechanism.mjcf.writing import mjcf

__all__ = ["MujocoModel", "fill", "is_mjcf", "mjcf"]
