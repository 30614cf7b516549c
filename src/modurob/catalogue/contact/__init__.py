"""Contact with the ground and between bodies: surfaces, the points that shapes touch with, and the law in between. See
docs/contact.md."""

from modurob.catalogue.contact.contact import Contact
from modurob.catalogue.contact.ground import Ground
from modurob.catalogue.contact.law import ContactWrench, StepMotion
from modurob.catalogue.contact.meeting import PAIR_POINTS, PairPoints, Rod
from modurob.catalogue.contact.pair import BodyContact, PairContact, RelativeMotion, Side, relative
from modurob.catalogue.contact.surface import SURFACES, HeightField, Hills, Plane, Stairs, Surface
from modurob.catalogue.contact.touching import TOUCHING, Ball, Corners, Rim, Touch, Touching, Vertices

__all__ = [
    "PAIR_POINTS",
    "SURFACES",
    "TOUCHING",
    "Ball",
    "BodyContact",
    "Contact",
    "ContactWrench",
    "Corners",
    "Ground",
    "HeightField",
    "Hills",
    "PairContact",
    "PairPoints",
    "Plane",
    "RelativeMotion",
    "Rim",
    "Rod",
    "Side",
    "Stairs",
    "StepMotion",
    "Surface",
    "Touch",
    "Touching",
    "Vertices",
    "relative",
]
