"""Algorithms run on scalars that record their operations, and the code and the derivatives generated from them."""

from modurob.trace.arrays import TracedArray, plain, traceable_functions, traced_array
from modurob.trace.code import C99, PYTHON, Dialect, Listing, c_identifier, harmless, number
from modurob.trace.functions import applied
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
    "TracedArray",
    "applied",
    "c_identifier",
    "harmless",
    "number",
    "plain",
    "substituted",
    "tangent",
    "traceable_functions",
    "traced_array",
]
