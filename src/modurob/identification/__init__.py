"""Identification of a robot from recorded motion: masses, rotors, friction and motors, with their uncertainty."""

from modurob.identification.choosing import Candidate, likeliest
from modurob.identification.data import MotionData
from modurob.identification.excitation import ExcitingTrajectory, exciting_trajectory
from modurob.identification.gears import GearIdentification, GearValues, identify_gears
from modurob.identification.identify import Accuracy, Identification, identify, prediction
from modurob.identification.motors import MotorConstants, identify_motor
from modurob.identification.recursive import RecursiveIdentification

__all__ = [
    "Accuracy",
    "Candidate",
    "ExcitingTrajectory",
    "GearIdentification",
    "GearValues",
    "Identification",
    "MotionData",
    "MotorConstants",
    "RecursiveIdentification",
    "exciting_trajectory",
    "identify",
    "identify_gears",
    "identify_motor",
    "likeliest",
    "prediction",
]
