"""Straight-line code from algorithms: scalars that record their operations.

Every operation on a `Traced` scalar adds a node to a graph. Equal operations are one node, constants are folded, and
multiplications by zero and one are eliminated; code written for matrices thus leaves only the necessary operations.
"""

import math
import operator
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from modurob.spatial.scalars import Array

COMMUTATIVE = ("+", "*")
# functions of one argument, and what folds and evaluates them
FUNCTIONS: dict[str, Any] = {
    "sin": np.sin,
    "cos": np.cos,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "rint": np.rint,
}
ODD = ("sin", "tanh", "rint")
# operations that cost nothing
FREE = ("input", "constant", "negate")


class Place(NamedTuple):
    """The address of an input or a result: an entry of a named array."""

    array: str
    index: int  # pyright: ignore[reportIncompatibleMethodOverride]


class Node(NamedTuple):
    """An operation on earlier nodes; inputs have their address, constants their number."""

    op: str  # input, constant, +, -, *, reciprocal, negate, atan2, select, total, or a name in FUNCTIONS
    args: tuple[int, ...] = ()
    value: Any = None


@dataclass
class Graph:
    """Nodes in an order in which each uses only earlier ones.

    Entries of the arrays `varying` have `times` values, which a loop takes in turn; totals are sums over all of them.
    """

    nodes: list[Node] = field(default_factory=list)
    times: int = 1
    varying: frozenset[str] = frozenset()
    _known: dict[Node, int] = field(default_factory=dict)
    _settled: dict[Collection[str], list[bool]] = field(default_factory=dict)
    _orders: dict[tuple[int, ...], list[int]] = field(default_factory=dict)
    _varies: list[bool] = field(default_factory=list)

    # ---- inputs and numbers ----

    def input(self, array: str, index: int = 0) -> "Traced":
        """An entry of an array given from outside."""
        return Traced(self, self._node(Node("input", value=Place(array, index))))

    def inputs(self, array: str, shape: int | tuple[int, ...], start: int = 0) -> Array:
        """Entries of an array in the given shape, row by row from `start` on."""
        out = np.empty(shape, dtype=object)
        for k, at in enumerate(np.ndindex(out.shape)):
            out[at] = self.input(array, start + k)
        return out

    def constant(self, value: float) -> "Traced":
        """A number."""
        return Traced(self, self._constant(value))

    def number(self, i: int) -> float | None:
        """The value of a constant node, or None."""
        node = self.nodes[i]
        return node.value if node.op == "constant" else None

    def index(self, x: Any) -> int:
        """The node of a traced scalar or a number."""
        return x.index if isinstance(x, Traced) else self._constant(x)

    def _constant(self, value: Any) -> int:
        return self._node(Node("constant", value=float(value)))

    def _node(self, node: Node) -> int:
        index = self._known.get(node)
        if index is None:
            index = self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return index

    # ---- operations ----

    def operate(self, op: str, a: int, b: int) -> int:
        """a op b, simplified."""
        x, y = self.number(a), self.number(b)
        if x is not None and y is not None:
            return self._constant(_BINARY[op](x, y))
        if op == "/":
            return self.operate("*", a, self.reciprocal(b))
        simpler = self._neutral(op, a, b, x, y)
        if simpler is not None:
            return simpler
        moved = self._signs_out(op, a, b)
        if moved is not None:
            return moved
        if op != "*" and self.nodes[a].op == self.nodes[b].op == "total":
            return self.total(self.operate(op, *self.nodes[a].args, *self.nodes[b].args))
        if op in COMMUTATIVE and a > b:
            a, b = b, a
        return self._node(Node(op, (a, b)))

    def _neutral(self, op: str, a: int, b: int, x: float | None, y: float | None) -> int | None:
        """The result for operands that are zero, one or equal."""
        if op == "+":
            return b if x == 0 else a if y == 0 else _first(self._completed(a, b), self._completed(b, a))
        if op == "-":
            if a == b:
                return self._constant(0.0)
            return a if y == 0 else self.negate(b) if x == 0 else self._left_over(a, b)
        if 0 in (x, y):
            return self._constant(0.0)
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
            return self._constant(1.0)
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
            return self._constant(-node.value)
        return node.args[0] if node.op == "negate" else self._node(Node("negate", (a,)))

    def reciprocal(self, a: int) -> int:
        """1 / a."""
        node = self.nodes[a]
        if node.op == "constant":
            return self._constant(_BINARY["/"](1.0, node.value))
        if node.op == "negate":
            return self.negate(self.reciprocal(node.args[0]))
        return self._node(Node("reciprocal", (a,)))

    def function(self, name: str, a: int) -> int:
        """A function of one argument; cos is even, sin, tanh and rint are odd."""
        node = self.nodes[a]
        if node.op == "constant":
            with np.errstate(all="ignore"):
                return self._constant(FUNCTIONS[name](node.value))
        if node.op == "negate" and name == "cos":
            return self.function(name, node.args[0])
        if node.op == "negate" and name in ODD:
            return self.negate(self.function(name, node.args[0]))
        return self._node(Node(name, (a,)))

    def atan2(self, y: int, x: int) -> int:
        """The angle of the point (x, y)."""
        numbers = self.number(y), self.number(x)
        return self._constant(math.atan2(*numbers)) if None not in numbers else self._node(Node("atan2", (y, x)))  # type: ignore[arg-type]

    def select(self, a: int, b: int, x: int, y: int) -> int:
        """x where a < b, else y."""
        left, right = self.number(a), self.number(b)
        if left is not None and right is not None:
            return x if left < right else y
        if left == math.inf or right == -math.inf:
            return y
        return x if x == y else self._node(Node("select", (a, b, x, y)))

    def total(self, a: int) -> int:
        """The sum of the values that a has in turn."""
        if not self.varies(a):
            return self.operate("*", a, self._constant(self.times))
        node = self.nodes[a]
        return self.negate(self.total(node.args[0])) if node.op == "negate" else self._node(Node("total", (a,)))

    def apply(self, op: str, *args: int) -> int:
        """An operation by its name in a node, simplified."""
        match op:
            case "+" | "-" | "*":
                return self.operate(op, *args)
            case "negate" | "reciprocal" | "atan2" | "select" | "total":
                return getattr(self, op)(*args)
        return self.function(op, *args)

    # ---- reading ----

    def needed(self, outputs: Iterable[Any]) -> list[int]:
        """The nodes that the outputs depend on, in order."""
        wanted = {o.index for o in outputs if isinstance(o, Traced)}
        for i in range(max(wanted, default=-1), -1, -1):
            if i in wanted:
                wanted.update(self.nodes[i].args)
        return sorted(wanted)

    def _order(self, wanted: tuple[int, ...]) -> list[int]:
        """The nodes that these depend on, in order; computed once, because nodes do not change."""
        if wanted not in self._orders:
            self._orders[wanted] = self.needed(Traced(self, w) for w in wanted)
        return self._orders[wanted]

    def depends_only_on(self, i: int, arrays: Collection[str]) -> bool:
        """Whether a node is made of numbers and of inputs from these arrays."""
        settled = self._settled.setdefault(arrays, [])
        while len(settled) <= i:
            node = self.nodes[len(settled)]
            settled.append(node.value.array in arrays if node.op == "input" else all(settled[a] for a in node.args))
        return settled[i]

    def varies(self, i: int) -> bool:
        """Whether a node has several values in turn."""
        for op, args, value in self.nodes[len(self._varies) : i + 1]:
            own = value.array in self.varying if op == "input" else any(self._varies[a] for a in args)
            self._varies.append(own and op != "total")
        return self._varies[i]

    def evaluate(self, wanted: Iterable[int], inputs: Mapping[str, Any]) -> dict[int, Any]:
        """The values of nodes, and of all nodes they depend on, from arrays by name whose first axis is the index of an
        address.
        """
        values: dict[int, Any] = {}
        # one over zero is infinite, as in compiled code
        with np.errstate(all="ignore"):
            for i in self._order(tuple(wanted)):
                op, args, value = self.nodes[i]
                if op == "input":
                    values[i] = inputs[value.array][value.index]
                else:
                    values[i] = value if op == "constant" else _EVALUATE[op](*(values[a] for a in args))
        return values

    def operations(self, outputs: Iterable[Any]) -> Counter[str]:
        """The number of operations of each kind for the outputs; signs count as none, differences as additions."""
        count: Counter[str] = Counter()
        for i in self.needed(outputs):
            op = self.nodes[i].op
            if op not in FREE:
                count["+" if op == "-" else op] += 1
        return count


def _first(*found: int | None) -> int | None:
    return next((i for i in found if i is not None), None)


def _divided(x: float, y: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.float64(x) / np.float64(y))


_BINARY: dict[str, Any] = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": _divided}
_EVALUATE: dict[str, Any] = {
    **FUNCTIONS,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "negate": operator.neg,
    "reciprocal": lambda x: np.float64(1) / x,
    "atan2": np.arctan2,
    "select": lambda a, b, x, y: np.where(np.less(a, b), x, y),
}


_UNDECIDED = (
    "a choice that depends on a traced scalar: expected np.where, np.minimum, np.maximum or np.clip, or select and others of "
    "modurob.spatial.scalars"
)
_POWER = (
    "a power whose base and exponent are traced: expected np.exp(y * np.log(x)), or exp and log of modurob.spatial.scalars, "
    "where x > 0"
)


class Traced:
    """A scalar of a graph."""

    __slots__ = ("graph", "index")

    def __init__(self, graph: Graph, index: int):
        self.graph, self.index = graph, index

    def _new(self, index: int) -> "Traced":
        return Traced(self.graph, index)

    def _operate(self, op: str, other: Any, swap: bool = False) -> "Traced":
        if isinstance(other, np.ndarray):
            return NotImplemented
        a, b = self.index, self.graph.index(other)
        return self._new(self.graph.operate(op, *((b, a) if swap else (a, b))))

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
        return self._new(self.graph.negate(self.index))

    def __pow__(self, exponent: Any) -> "Traced":
        """Whole powers by multiplication, those and a half by a root too, others, of numbers that are not negative, by exp and
        log."""
        if isinstance(exponent, Traced):
            raise TypeError(_POWER)
        if 2 * exponent != int(2 * exponent):
            return (self.log() * exponent).exp()
        if exponent < 0:
            return 1.0 / self**-exponent
        if exponent < 1:
            return self.sqrt() if exponent else self._new(self.graph.index(1.0))
        return self if exponent == 1 else self * self ** (exponent - 1)

    def __rpow__(self, base: Any) -> "Traced":
        """The power of a number that is not negative."""
        return self._new(self.graph.function("exp", (self * np.log(base)).index))

    def __bool__(self) -> bool:
        raise TypeError(_UNDECIDED)

    def __lt__(self, other: Any) -> bool:
        raise TypeError(_UNDECIDED)

    __gt__ = __le__ = __ge__ = __lt__
    __eq__ = __lt__  # pyright: ignore[reportAssignmentType]
    __hash__ = object.__hash__

    def __float__(self) -> float:
        raise TypeError(
            "a traced scalar is not a number: expected functions of modurob.spatial.scalars or of NumPy, such as np.sin and not "
            "math.sin, and u = np.zeros_like(q), not np.zeros(n), for an array to be filled"
        )

    def __abs__(self) -> "Traced":
        return self.select(self, 0.0, -self, self)

    def sin(self) -> "Traced":
        return self._new(self.graph.function("sin", self.index))

    def cos(self) -> "Traced":
        return self._new(self.graph.function("cos", self.index))

    def sqrt(self) -> "Traced":
        return self._new(self.graph.function("sqrt", self.index))

    def exp(self) -> "Traced":
        return self._new(self.graph.function("exp", self.index))

    def log(self) -> "Traced":
        return self._new(self.graph.function("log", self.index))

    def tanh(self) -> "Traced":
        return self._new(self.graph.function("tanh", self.index))

    def rint(self) -> "Traced":
        return self._new(self.graph.function("rint", self.index))

    def total(self) -> "Traced":
        """The sum of the values that it has in turn; itself where it has one."""
        return self._new(self.graph.total(self.index))

    def atan2(self, x: Any) -> "Traced":
        """The angle of the point (x, self)."""
        return self._new(self.graph.atan2(self.index, self.graph.index(x)))

    def select(self, a: Any, b: Any, x: Any, y: Any) -> "Traced":
        """x where a < b, else y; any of them may be a number."""
        return self._new(self.graph.select(*(self.graph.index(z) for z in (a, b, x, y))))

    def __repr__(self) -> str:
        return f"Traced({self.graph.nodes[self.index]})"
