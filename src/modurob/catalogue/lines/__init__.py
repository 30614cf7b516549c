"""Cables, belts and springs over points, pulleys and winches: a route and a law. See docs/lines.md."""

from modurob.catalogue.lines.law import LAWS, Elastic, LineLaw, Tension
from modurob.catalogue.lines.line import Line
from modurob.catalogue.lines.route import NODES, Node, Point, Pulley, Swivel
from modurob.catalogue.lines.winch import Winch
from modurob.catalogue.lines.wound import WoundCable

__all__ = [
    "LAWS",
    "NODES",
    "Elastic",
    "Line",
    "LineLaw",
    "Node",
    "Point",
    "Pulley",
    "Swivel",
    "Tension",
    "Winch",
    "WoundCable",
]
