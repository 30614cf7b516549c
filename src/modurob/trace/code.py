"""Straight-line code as text: C99 and Python."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from modurob.spatial.scalars import Array
from modurob.trace.graph import Graph, Traced


class Listing:
    """The statements that compute the outputs of a graph, in one language; values used once stand where they are used."""

    def __init__(
        self,
        graph: Graph,
        outputs: Mapping[str, Array],
        functions: Mapping[str, str],
        name_of_input: Callable[[str], str] = str,
    ):
        self._graph, self._functions, self._name_of_input = graph, functions, name_of_input
        flat = [x for array in outputs.values() for x in np.asarray(array).ravel()]
        self._order = graph.needed(flat)
        uses: dict[int, int] = {}
        for i in self._order:
            for a in graph.nodes[i].args:
                uses[a] = uses.get(a, 0) + 1
        for x in flat:
            if isinstance(x, Traced):
                uses[x.index] = uses.get(x.index, 0) + 1
        self._named = {i for i in self._order if uses.get(i, 0) > 1 and self._is_work(i)}

    def _is_work(self, i: int) -> bool:
        node = self._graph.nodes[i]
        return node.op not in ("input", "constant", "negate")

    def temporaries(self) -> list[tuple[str, str]]:
        """Names and expressions of the values that are used more than once, in order."""
        return [(f"t{i}", self._operation(i)) for i in self._order if i in self._named]

    def value(self, x: Any) -> str:
        """An output as an expression."""
        return self._text(x.index, 0) if isinstance(x, Traced) else number(float(x))

    def _text(self, i: int, binding: int) -> str:
        """Node i as an operand; in parentheses where it binds weaker than `binding`."""
        return f"t{i}" if i in self._named else self._operation(i, binding)

    def _operation(self, i: int, binding: int = 0) -> str:
        node = self._graph.nodes[i]
        match node.op:
            case "input":
                return self._name_of_input(node.value)
            case "constant":
                return number(node.value) if node.value >= 0 or not binding else f"({number(node.value)})"
            case "negate":
                text = f"-{self._text(node.args[0], 3)}"
                return f"({text})" if binding else text
            case "+" | "-":
                text = f"{self._text(node.args[0], 1)} {node.op} {self._text(node.args[1], 2)}"
                return f"({text})" if binding > 1 else text
            case "*":
                text = f"{self._text(node.args[0], 2)} * {self._text(node.args[1], 3)}"
                return f"({text})" if binding > 2 else text
            case "reciprocal":
                text = f"1.0 / {self._text(node.args[0], 3)}"
                return f"({text})" if binding > 1 else text
        return f"{self._functions[node.op]}({self._text(node.args[0], 0)})"


def number(x: float) -> str:
    """A double that reads back as itself, always with a point or exponent."""
    text = repr(float(x))
    return text if any(c in text for c in ".einf") else f"{text}.0"
