"""The C functions of traced steps: straight lines over vectors of states."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from modurob.kernels.lowering import TABLE, Store
from modurob.spatial.scalars import Array
from modurob.trace import C99, Dialect, Graph, Listing, Node, Place, Traced, number

VECTORS = Dialect(
    declare="const vec {0} = {1};",
    store="{0}= {1};",
    number=lambda x: f"V({number(x)})",
    select="SELECT({0}, {1}, {2}, {3})",
    functions={"sqrt": "square_root({0})", **{f: f"each_{f}({{0}})" for f in ("exp", "log", "tanh", "rint")}},
    atan2="each_atan2({0}, {1})",
    waves="vec {0}_sin, {0}_cos; sine_cosine({1}, &{0}_sin, &{0}_cos);",
    unnamed=("constant", "negate"),
)

# quotients and roots with an error of a bit or two, in a fraction of the time, and quick selections
QUICK = {
    "reciprocal": "reciprocal({0})",
    "functions": {**VECTORS.functions, "sqrt": "quick_root({0})"},
    "root_reciprocal": "root_reciprocal({0})",
    "minimum": "MINIMUM({0}, {1})",
    "maximum": "MAXIMUM({0}, {1})",
    "magnitude": "magnitude({0})",
}

# by the numbers that arrays hold
DIALECTS = {"double": C99, "vec": Dialect(**{**VECTORS.__dict__, **QUICK})}


# arrays of a function of many points: values of each point, the same from its table, and values common to all points that another
# function computes
POINT, TABULAR, SAME = "point", "tabular", "same"
LOCAL = frozenset({POINT, TABULAR, SAME})


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the arrays of a function stand: the slot of its `at` that points there, and how far behind that."""

    slots: Mapping[str, int]
    offsets: Mapping[str, int]
    places: Mapping[Place, int]  # of single numbers, where an array does not stand in a row
    varying: frozenset[str] = frozenset()  # arrays of which a loop takes entry k

    def text(self, place: Place) -> str:
        """The C text of a place."""
        if place.array == "status":
            return "arena[0]"
        if place.array == TABULAR:
            return f"V(c[{place.index} + k])"
        if place.array in LOCAL:
            return f"{place.array}[{place.index}]{'[k]' if place.array in self.varying else ''}"
        slot = place.array if place.array in self.slots else place.array.split()[0]
        if place.array in self.varying:
            return f"{identifier(slot)}[k]"
        index = self.places[place] if place in self.places else self.offsets.get(place.array, 0) + place.index
        return f"{identifier(slot)}[{index}]"

    def pointers(self, used: set[str]) -> list[str]:
        """The statements that set up the pointers that a function uses."""
        names = {a if a in self.slots else a.split()[0] for a in used if a != "status" and a not in LOCAL}
        return [f"const cells {identifier(s)} = AT({k});" for s, k in self.slots.items() if s in names]


def identifier(name: str) -> str:
    return "p_" + name.replace(" ", "_")


class Table:
    """The nodes that depend on a joint's constants alone: computed once for each robot, and read as c[k]."""

    def __init__(self, graph: Graph):
        self._graph = graph
        self.nodes: list[int] = []
        self._texts: dict[int, str | None] = {}

    def text(self, i: int) -> str | None:
        """The text of a node that the table holds; a sign stays in the code, and numbers are no matter of the table."""
        if i not in self._texts:
            self._texts[i] = self._text(i)
        return self._texts[i]

    def _text(self, i: int) -> str | None:
        node = self._graph.nodes[i]
        if node.op == "constant" or not self._graph.depends_only_on(i, TABLE):
            return None
        if node.op == "negate":
            return f"(-{self.text(node.args[0])})"
        self.extended([i])
        return self._texts[i]

    def extended(self, nodes: Sequence[int]) -> int:
        """Where these nodes stand from now on, one after the other."""
        first = len(self.nodes)
        self.nodes += nodes
        for k, i in enumerate(nodes, first):
            self._texts.setdefault(i, f"V(c[{k}])")
        return first


def function(
    name: str,
    graph: Graph,
    stores: Sequence[Store],
    layout: Layout,
    table: Table,
    unless: Any = None,
    quick: bool = False,
) -> str:
    """One C function; it is left early where the number `unless` is negative in no lane. `quick`: quotients and roots good to the
    last bit or two."""
    destinations = [(destination(layout, s), s.value) for s in stores]
    if unless is not None:
        destinations.insert(0, ("const vec unless ", unless))
    dialect = Dialect(**{**VECTORS.__dict__, **(QUICK if quick else {}), "place": layout.text})
    lines = list(Listing(graph, destinations, dialect, table.text).lines())
    if unless is not None:
        at = next(k for k, line in enumerate(lines) if line.startswith("const vec unless"))
        lines.insert(at + 1, "if (!any_negative(unless)) return;")
    pointers = pointers_of(graph, [unless, *(s.value for s in stores)], stores, layout)
    return framed(name, [*pointers, *lines])


def destination(layout: Layout, store: Store) -> str:
    """The left side of its statement."""
    return f"{layout.text(store.place)} {'+' if store.add else ''}"


def pointers_of(graph: Graph, wanted: Sequence[Any], stores: Sequence[Store], layout: Layout) -> list[str]:
    """To all that is read and written."""
    read = {graph.nodes[i].value.array for i in graph.needed(wanted) if graph.nodes[i].op == "input"}
    return layout.pointers(read - TABLE | {s.place.array for s in stores})


# a function that the others of its unit call
HELPER = "helper"


def framed(name: str, lines: Sequence[str], kind: str = "", parameters: Sequence[str] = ()) -> str:
    """The function of these statements; `parameters` beyond those that all have."""
    own = ", ".join(["cells arena", "const int32_t *at", "const real *c", *parameters])
    head = f"{kind}void {name}({own})"
    return "\n".join([head, "{", *_unused(), *lines, "}", ""])


def _unused() -> list[str]:
    return ["(void)arena, (void)at, (void)c;"]


def function_of_arrays(
    head: str, graph: Graph, inputs: Iterable[str], results: Mapping[str, Any], kind: str = "double"
) -> str:
    """The C function of arrays of doubles, or of vectors, results behind inputs; `head` is what stands before its arguments."""
    inputs = tuple(inputs)
    arguments = [*(f"const {kind} *{x}" for x in inputs), *(f"{kind} *{x}" for x in results)]
    stores = [(f"{array}[{k}]", x) for array, xs in results.items() for k, x in enumerate(np.ravel(xs))]
    unused = "".join(f"(void){x}; " for x in (*inputs, *results)).strip()
    return "\n".join(
        [f"{head}({', '.join(arguments)})", "{", unused, *Listing(graph, stores, DIALECTS[kind]).lines(), "}"]
    )


@dataclass(frozen=True, eq=False)
class Step:
    """A traced function that C by hand walks with: of arrays of doubles, or of vectors; results behind inputs."""

    name: str
    graph: Graph
    inputs: tuple[str, ...]
    results: Mapping[str, Any]
    kind: str

    @classmethod
    def of(
        cls, name: str, given: Mapping[Any, Any], results: str, function: Callable[..., Any], kind: str = "double"
    ) -> "Step":
        """A function of arrays of these shapes; it returns one result, or as many as are named."""
        graph, names = Graph(), results.split()
        found = function(*(graph.inputs(x, shape) for x, shape in given.items()))
        return cls(name, graph, tuple(given), dict(zip(names, found if len(names) > 1 else [found], strict=True)), kind)

    def text(self) -> tuple[str, "Code"]:
        """The C function, and that it has no table."""
        text = function_of_arrays(f"INLINED void {self.name}", self.graph, self.inputs, self.results, self.kind)
        return text, Code([], Graph(), [], 0)


@dataclass(frozen=True, eq=False)
class Code:
    """The data of compiled functions: their names, the nodes of their table, and the number of vectors of a body's fields."""

    functions: list[str]
    graph: Graph
    table: list[int]
    size: int
    suffix: str = ""  # of its functions, in a library of several units

    def notes(self) -> dict[str, Any]:
        """Itself as JSON has it, with those nodes alone that the table is made of."""
        needed = self.graph.needed(Traced(self.graph, i) for i in self.table)
        place = {i: k for k, i in enumerate(needed)}
        nodes = [(op, [place[a] for a in args], value) for op, args, value in (self.graph.nodes[i] for i in needed)]
        table = [place[i] for i in self.table]
        return {"functions": self.functions, "nodes": nodes, "table": table, "size": self.size, "suffix": self.suffix}

    @classmethod
    def from_notes(cls, notes: dict[str, Any]) -> "Code":
        """The other way."""
        nodes = [Node(op, tuple(args), Place(*value) if op == "input" else value) for op, args, value in notes["nodes"]]
        return cls(notes["functions"], Graph(nodes), notes["table"], notes["size"], notes["suffix"])

    def row(self, constants: Mapping[str, Array]) -> Array:
        """The numbers of the table for one set of constants."""
        values = self.graph.evaluate(self.table, constants)
        return np.array([values[k] for k in self.table], dtype=float)

    def rows(self, constants: Mapping[str, Array], n: int) -> Array:
        """Those for n sets of constants, (entries, n) each: (n, numbers)."""
        values = self.graph.evaluate(self.table, constants)
        return np.array([values[k] for k in self.table], dtype=float).reshape(-1, n).T
