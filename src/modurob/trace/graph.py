"""Straight-line code from algorithms: scalars that remember how they were made.

Every operation on a `Traced` scalar adds a node to a graph. Equal operations are one node, constants fold, and multiplications
by zero and one vanish; so code written for matrices leaves only the operations that matter.
"""

import operator
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from modurob.spatial.scalars import Array

COMMUTATIVE = ("+", "*")
FUNCTIONS = ("sin", "cos", "sqrt")


class Node(NamedTuple):
    """An operation on earlier nodes; inputs carry their name, constants their value."""

    op: str  # input, constant, +, -, *, reciprocal, negate, sin, cos, sqrt
    args: tuple[int, ...] = ()
    value: Any = None


@dataclass
class Graph:
    """Nodes in an order in which each uses only earlier ones."""

    nodes: list[Node] = field(default_factory=list)
    _known: dict[Node, int] = field(default_factory=dict)
    _settled: list[bool] = field(default_factory=list)

    def input(self, name: str) -> "Traced":
        """A scalar given from outside."""
        return Traced(self, self._node(Node("input", value=name)))

    def inputs(self, name: str, shape: tuple[int, ...]) -> Array:
        """An array of inputs name[0], name[1], ...; name[i][j] for matrices."""
        out = np.empty(shape, dtype=object)
        for at in np.ndindex(shape):
            out[at] = self.input(name + "".join(f"[{i}]" for i in at))
        return out

    def constant(self, value: float) -> "Traced":
        """A number."""
        return Traced(self, self._node(Node("constant", value=float(value))))

    def _node(self, node: Node) -> int:
        index = self._known.get(node)
        if index is None:
            index = self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return index

    def number(self, i: int) -> float | None:
        """The value of a constant node, or None."""
        node = self.nodes[i]
        return node.value if node.op == "constant" else None

    def operate(self, op: str, a: int, b: int) -> int:
        """a op b, simplified."""
        x, y = self.number(a), self.number(b)
        if x is not None and y is not None:
            return self.constant(_FOLD[op](x, y)).index
        if op == "/":
            return self.operate("*", a, self.reciprocal(b))
        simpler = self._neutral(op, a, b, x, y)
        if simpler is not None:
            return simpler
        moved = self._signs_out(op, a, b)
        if moved is not None:
            return moved
        if op in COMMUTATIVE and a > b:
            a, b = b, a
        return self._node(Node(op, (a, b)))

    def _neutral(self, op: str, a: int, b: int, x: float | None, y: float | None) -> int | None:
        """What zero, one and equal operands leave."""
        if op == "+":
            return b if x == 0 else a if y == 0 else _first(self._completed(a, b), self._completed(b, a))
        if op == "-":
            if a == b:
                return self.constant(0.0).index
            return a if y == 0 else self.negate(b) if x == 0 else self._left_over(a, b)
        if 0 in (x, y):
            return self.constant(0.0).index
        for number, other in ((x, b), (y, a)):
            if number in (1, -1):
                return other if number == 1 else self.negate(other)
        return _first(self._cancelled(a, b), self._cancelled(b, a))

    def _completed(self, a: int, b: int) -> int | None:
        """y for a + (y - a)."""
        node = self.nodes[b]
        return node.args[0] if node.op == "-" and node.args[1] == a else None

    def _left_over(self, a: int, b: int) -> int | None:
        """y for a - (a - y)."""
        node = self.nodes[b]
        return node.args[1] if node.op == "-" and node.args[0] == a else None

    def _cancelled(self, a: int, b: int) -> int | None:
        """1 for a (1 / a), y for a (y / a)."""
        node = self.nodes[b]
        if node == Node("reciprocal", (a,)):
            return self.constant(1.0).index
        if node.op == "*":
            for own, other in (node.args, node.args[::-1]):
                if self.nodes[own] == Node("reciprocal", (a,)):
                    return other
        return None

    def _signs_out(self, op: str, a: int, b: int) -> int | None:
        """Signs move outward, so that a term and its negative share their node."""
        node_a, node_b = self.nodes[a], self.nodes[b]
        if op == "*":
            if node_a.op == "negate":
                return self.negate(self.operate(op, node_a.args[0], b))
            if node_b.op == "negate":
                return self.negate(self.operate(op, a, node_b.args[0]))
            return None
        if node_b.op == "negate":
            return self.operate("-" if op == "+" else "+", a, node_b.args[0])
        if node_a.op == "negate":
            inner = node_a.args[0]
            return self.operate("-", b, inner) if op == "+" else self.negate(self.operate("+", inner, b))
        # a - b and b - a are one node
        if op == "-" and a > b:
            return self.negate(self._node(Node("-", (b, a))))
        return None

    def negate(self, a: int) -> int:
        """-a."""
        node = self.nodes[a]
        if node.op == "constant":
            return self.constant(-node.value).index
        if node.op == "negate":
            return node.args[0]
        return self._node(Node("negate", (a,)))

    def reciprocal(self, a: int) -> int:
        """1 / a."""
        node = self.nodes[a]
        if node.op == "constant":
            return self.constant(1 / node.value).index
        if node.op == "negate":
            return self.negate(self.reciprocal(node.args[0]))
        return self._node(Node("reciprocal", (a,)))

    def function(self, name: str, a: int) -> int:
        """sin, cos or sqrt of a node; cos is even and sin odd."""
        node = self.nodes[a]
        if node.op == "constant":
            return self.constant(getattr(np, name)(node.value)).index
        if node.op == "negate" and name == "cos":
            return self.function(name, node.args[0])
        if node.op == "negate" and name == "sin":
            return self.negate(self.function(name, node.args[0]))
        return self._node(Node(name, (a,)))

    def needed(self, outputs: Iterable[Any]) -> list[int]:
        """The nodes that the outputs depend on, in order."""
        wanted = {o.index for o in outputs if isinstance(o, Traced)}
        for i in range(len(self.nodes) - 1, -1, -1):
            if i in wanted:
                wanted.update(self.nodes[i].args)
        return sorted(wanted)

    def depends_only_on(self, i: int, inputs: tuple[str, ...]) -> bool:
        """Whether a node is made of constants and of inputs whose names start so."""
        while len(self._settled) <= i:
            node = self.nodes[len(self._settled)]
            self._settled.append(
                node.value.startswith(inputs) if node.op == "input" else all(self._settled[a] for a in node.args)
            )
        return self._settled[i]

    def evaluate(self, wanted: Iterable[int], inputs: Mapping[str, Any]) -> dict[int, Any]:
        """The values of nodes, and of all they depend on, for given inputs: numbers or arrays."""
        values: dict[int, Any] = {}
        for i in self.needed(Traced(self, w) for w in wanted):
            op, args, value = self.nodes[i]
            operands = [values[a] for a in args]
            # one over nothing is infinite, as in compiled code
            with np.errstate(all="ignore"):
                values[i] = inputs[value] if op == "input" else value if op == "constant" else _EVALUATE[op](*operands)
        return values

    def operations(self, outputs: Iterable[Any]) -> Counter[str]:
        """How many of each operation the outputs take; signs count as nothing, differences as additions."""
        count: Counter[str] = Counter()
        for i in self.needed(outputs):
            op = self.nodes[i].op
            if op not in ("input", "constant", "negate"):
                count["+" if op == "-" else op] += 1
        return count


def _first(*found: int | None) -> int | None:
    return next((i for i in found if i is not None), None)


_FOLD: dict[str, Any] = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
_EVALUATE: dict[str, Any] = {
    **_FOLD,
    "negate": operator.neg,
    "reciprocal": lambda x: 1 / x,
    "sin": np.sin,
    "cos": np.cos,
    "sqrt": np.sqrt,
}


class Traced:
    """A scalar of a graph."""

    __slots__ = ("graph", "index")

    def __init__(self, graph: Graph, index: int):
        self.graph, self.index = graph, index

    def _operate(self, op: str, other: Any, swap: bool = False) -> "Traced":
        if isinstance(other, np.ndarray):
            return NotImplemented
        b = other.index if isinstance(other, Traced) else self.graph.constant(other).index
        a = self.index
        return Traced(self.graph, self.graph.operate(op, *((b, a) if swap else (a, b))))

    def __add__(self, other: Any) -> "Traced":
        return self._operate("+", other)

    def __radd__(self, other: Any) -> "Traced":
        return self._operate("+", other, swap=True)

    def __sub__(self, other: Any) -> "Traced":
        return self._operate("-", other)

    def __rsub__(self, other: Any) -> "Traced":
        return self._operate("-", other, swap=True)

    def __mul__(self, other: Any) -> "Traced":
        return self._operate("*", other)

    def __rmul__(self, other: Any) -> "Traced":
        return self._operate("*", other, swap=True)

    def __truediv__(self, other: Any) -> "Traced":
        return self._operate("/", other)

    def __rtruediv__(self, other: Any) -> "Traced":
        return self._operate("/", other, swap=True)

    def __neg__(self) -> "Traced":
        return Traced(self.graph, self.graph.negate(self.index))

    def nonzero(self) -> "Traced":
        """Itself, for a square: as good as unchanged, and yet never zero."""
        return self + 1e-36

    def sin(self) -> "Traced":
        return Traced(self.graph, self.graph.function("sin", self.index))

    def cos(self) -> "Traced":
        return Traced(self.graph, self.graph.function("cos", self.index))

    def sqrt(self) -> "Traced":
        return Traced(self.graph, self.graph.function("sqrt", self.index))

    def __repr__(self) -> str:
        return f"Traced({self.graph.nodes[self.index]})"
