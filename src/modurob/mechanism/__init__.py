"""What algorithms read: bodies and joints with parent[i] < i, made from an assembly, by hand, or from URDF."""

from modurob.mechanism import urdf
from modurob.mechanism.builder import Builder, JointProperties, Source
from modurob.mechanism.exports import EXPORTS
from modurob.mechanism.tables import (
    Constraint,
    ContactRow,
    Coupling,
    ForceRow,
    Frame,
    FrameRow,
    Joint,
    JointRow,
    Limits,
    LineRow,
    Loop,
    Shape,
    Tables,
)

__all__ = [
    "EXPORTS",
    "Builder",
    "Constraint",
    "ContactRow",
    "Coupling",
    "ForceRow",
    "Frame",
    "FrameRow",
    "Joint",
    "JointProperties",
    "JointRow",
    "Limits",
    "LineRow",
    "Loop",
    "Shape",
    "Source",
    "Tables",
    "urdf",
]
