"""What algorithms read: bodies and joints with parent[i] < i, made from an assembly, by hand, or from URDF."""

from modurob.mechanism.builder import Builder, JointProperties, Source
from modurob.mechanism.tables import (
    Constraint,
    Coupling,
    ForceRow,
    Frame,
    FrameRow,
    Joint,
    JointRow,
    Limits,
    Loop,
    Shape,
    Tables,
)

__all__ = [
    "Builder",
    "Constraint",
    "Coupling",
    "ForceRow",
    "Frame",
    "FrameRow",
    "Joint",
    "JointProperties",
    "JointRow",
    "Limits",
    "Loop",
    "Shape",
    "Source",
    "Tables",
]
