"""Algorithms run on scalars that remember how they were made, and the code and the tangents that come of it."""

from modurob.trace.code import C99, PYTHON, Dialect, Listing, number
from modurob.trace.graph import Graph, Node, Place, Traced
from modurob.trace.tangent import tangent

__all__ = ["C99", "PYTHON", "Dialect", "Graph", "Listing", "Node", "Place", "Traced", "number", "tangent"]
