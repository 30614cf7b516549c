"""Contact with the ground: surfaces, the points that shapes touch them with, and the law in between. See docs/contact.md."""

from modurob.catalogue.contact.contact import Contact, Moves, Push
from modurob.catalogue.contact.ground import Ground
from modurob.catalogue.contact.surface import SURFACES, Hills, Plane, Stairs, Surface
from modurob.catalogue.contact.touching import TOUCHING, Ball, Corners, Rim, Touch, Touching, Vertices

__all__ = [
    "SURFACES",
    "TOUCHING",
    "Ball",
    "Contact",
    "Corners",
    "Ground",
    "Hills",
    "Moves",
    "Plane",
    "Push",
    "Rim",
    "Stairs",
    "Surface",
    "Touch",
    "Touching",
    "Vertices",
]
