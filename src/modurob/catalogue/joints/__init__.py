"""The joint kinds, each one small value. See docs/conventions.md for their coordinates."""

from modurob.catalogue.joints.axial import Cylindrical, Helical, Prismatic, Revolute
from modurob.catalogue.joints.fixed import Fixed
from modurob.catalogue.joints.free import Free
from modurob.catalogue.joints.involute import Involute, InvoluteLength, InvoluteStrain, InvoluteStretch
from modurob.catalogue.joints.joint import KINDS, Canonical, JointType, Reversed
from modurob.catalogue.joints.mimic import Mimic
from modurob.catalogue.joints.planar import Planar
from modurob.catalogue.joints.spherical import Spherical
from modurob.catalogue.joints.universal import Universal

__all__ = [
    "KINDS",
    "Canonical",
    "Cylindrical",
    "Fixed",
    "Free",
    "Helical",
    "Involute",
    "InvoluteLength",
    "InvoluteStrain",
    "InvoluteStretch",
    "JointType",
    "Mimic",
    "Planar",
    "Prismatic",
    "Reversed",
    "Revolute",
    "Spherical",
    "Universal",
]
