"""Algorithms run on scalars that remember how they were made, and the code that comes of it."""

from modurob.trace.code import Listing, number
from modurob.trace.graph import Graph, Node, Traced

__all__ = ["Graph", "Listing", "Node", "Traced", "number"]
