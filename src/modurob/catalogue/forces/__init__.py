"""Forces that act by themselves, each one small value: friction, stops, springs. See docs/conventions.md."""

from modurob.catalogue.forces.disturbance import Disturbance
from modurob.catalogue.forces.force import FORCES, FrameForce, JointForce, JointLaw, Motion
from modurob.catalogue.forces.friction import Friction
from modurob.catalogue.forces.joint_spring import JointSpring
from modurob.catalogue.forces.oscillator import Oscillator
from modurob.catalogue.forces.speed_servo import SpeedServo
from modurob.catalogue.forces.spring import Spring
from modurob.catalogue.forces.stop import Stop

__all__ = [
    "FORCES",
    "Disturbance",
    "FrameForce",
    "Friction",
    "JointForce",
    "JointLaw",
    "JointSpring",
    "Motion",
    "Oscillator",
    "SpeedServo",
    "Spring",
    "Stop",
]
