"""The tables that algorithms work on: bodies and joints with parent[i] < i, made from an assembly, by a builder, or
from URDF or MuJoCo files.
"""

from modurob.mechanism import urdf

# isort: split
# robots are written as URDF where the ending of a file says nothing else
from modurob.mechanism import mjcf, sdf
from modurob.mechanism.builder import Builder
from modurob.mechanism.exports import EXPORTS
from modurob.mechanism.joint_properties import JointProperties, Source
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
    PairRow,
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
    "PairRow",
    "Shape",
    "Source",
    "Tables",
    "mjcf",
    "sdf",
    "urdf",
]
