"""What algorithms read: bodies and joints with parent[i] < i, made from an assembly, by hand, or from URDF."""

from modurob.mechanism.builder import Builder, JointProperties, Source
from modurob.mechanism.tables import Frame, Joint, Limits, Loop, Shape, Tables

__all__ = ["Builder", "Frame", "Joint", "JointProperties", "Limits", "Loop", "Shape", "Source", "Tables"]
