"""Algorithms run on scalars that record their operations, and the code and the derivatives generated from them."""

from modurob.trace.code import C99, PYTHON, Dialect, Listing, number
from modurob.trace.graph import Graph, Node, Place, Traced
from modurob.trace.substitution import substituted
from modurob.trace.tangent import tangent

__all__ = [
    "C99",
    "PYTHON",
    "Dialect",
    "Graph",
    "Listing",
    "Node",
    "Place",
    "Traced",
    "number",
    "substituted",
    "tangent",
]
