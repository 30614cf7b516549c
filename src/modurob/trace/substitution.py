"""Straight-line code with other values for some of its inputs."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from modurob.spatial.scalars import Array
from modurob.trace.graph import Graph, Traced


def substituted(graph: Graph, outputs: Array, values: Mapping[Any, Any]) -> Array:
    """The outputs, with `values` for some of the traced inputs that they depend on."""
    outputs = np.asarray(outputs, dtype=object)
    known: dict[int, int] = {x.index: graph.index(value) for x, value in values.items()}
    for i in graph.needed(outputs.ravel()):
        if i not in known:
            op, args, _ = graph.nodes[i]
            known[i] = graph.apply(op, *(known[a] for a in args)) if args else i
    out = np.empty(outputs.shape, dtype=object)
    for at in np.ndindex(outputs.shape):
        x: Any = outputs[at]
        out[at] = Traced(graph, known[x.index]) if isinstance(x, Traced) else x
    return out
