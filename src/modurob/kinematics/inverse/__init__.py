"""From where a frame is to be, to the joints that bring it there."""

from modurob.kinematics.inverse.orders import ORDERS
from modurob.kinematics.inverse.result import InverseKinematics
from modurob.kinematics.inverse.solver import inverse_kinematics

__all__ = ["ORDERS", "InverseKinematics", "inverse_kinematics"]
