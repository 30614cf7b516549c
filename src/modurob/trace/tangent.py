"""The tangent of straight-line code: derivatives of its results by its inputs, as more straight-line code."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from modurob.spatial.scalars import Array
from modurob.trace.graph import Graph, Traced

# roots and logarithms end at zero with an infinite slope; what is below this counts as zero there, and its slope is one over this,
# so that it stays zero times the rate of what stands still, in single precision too
LEAST = 1e-37
# d f(x) = rule(x, f(x)) dx
_RULES: dict[str, Callable[[Traced, Traced], Any]] = {
    "sin": lambda x, f: x.cos(),
    "cos": lambda x, f: -x.sin(),
    "sqrt": lambda x, f: 0.5 * _bounded_reciprocal(f),
    "exp": lambda x, f: f,
    "log": lambda x, f: _bounded_reciprocal(x),
    "tanh": lambda x, f: 1 - f * f,
    "rint": lambda x, f: 0.0,
    "reciprocal": lambda x, f: -(f * f),
}


def _bounded_reciprocal(x: Traced) -> Traced:
    return x.select(x, LEAST, 1 / LEAST, 1 / x)


def tangent(graph: Graph, outputs: Array, moved: Mapping[Any, Any]) -> Array:
    """d outputs, of their shape, for traced inputs that move with the rates `moved`; other inputs stand still.

    A choice moves with the branch it takes, so a removable singularity keeps its exact slope on either side of the choice. The
    root of zero and the angle of no point stand still where their arguments do, so that |v| v has its slope at rest.
    """
    outputs = np.asarray(outputs, dtype=object)
    rates: dict[int, Any] = {x.index: rate for x, rate in moved.items()}
    for i in graph.needed(outputs.ravel()):
        if i not in rates:
            rates[i] = _rate(graph, i, rates)
    out = np.empty(outputs.shape, dtype=object)
    for at in np.ndindex(outputs.shape):
        x: Any = outputs[at]
        out[at] = rates[x.index] if isinstance(x, Traced) else 0.0
    return out


def _rate(graph: Graph, i: int, rates: Mapping[int, Any]) -> Any:
    """The rate of node i from those of its arguments."""
    op, args, _ = graph.nodes[i]
    x, dx = [Traced(graph, a) for a in args], [rates[a] for a in args]
    match op:
        case "input" | "constant":
            return 0.0
        case "+":
            return dx[0] + dx[1]
        case "-":
            return dx[0] - dx[1]
        case "*":
            return dx[0] * x[1] + x[0] * dx[1]
        case "negate":
            return -dx[0]
        case "atan2":
            r = x[0] * x[0] + x[1] * x[1]
            return (x[1] * dx[0] - x[0] * dx[1]) / r.select(0.0, r, r, 1.0)
        case "select":
            return x[0].select(x[0], x[1], dx[2], dx[3])
    return _RULES[op](x[0], Traced(graph, i)) * dx[0]
