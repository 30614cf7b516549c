"""From where a frame is to be, to the joints that bring it there."""

from modurob.kinematics.inverse.result import InverseKinematics

__all__ = ["InverseKinematics"]
