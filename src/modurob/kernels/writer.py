"""The C functions of traced steps: straight lines over vectors of states."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from modurob.kernels.lowering import TABLE, Store
from modurob.spatial.scalars import Array
from modurob.trace import Dialect, Graph, Listing, Node, Place, Traced, number

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

# quotients and roots that are good to the last bit or two, in a fraction of the time, and quick choices between numbers
QUICK = {
    "reciprocal": "reciprocal({0})",
    "functions": {**VECTORS.functions, "sqrt": "quick_root({0})"},
    "root_reciprocal": "root_reciprocal({0})",
    "minimum": "MINIMUM({0}, {1})",
    "maximum": "MAXIMUM({0}, {1})",
    "magnitude": "magnitude({0})",
}


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the arrays of a function stand: the slot of its `at` that points there, and how far behind that."""

    slots: Mapping[str, int]
    offsets: Mapping[str, int]
    places: Mapping[Place, int]  # of single numbers, where an array does not stand in a row

    def text(self, place: Place) -> str:
        """The C text of a place."""
        if place.array == "status":
            return "arena[0]"
        slot = place.array if place.array in self.slots else place.array.split()[0]
        index = self.places[place] if place in self.places else self.offsets.get(place.array, 0) + place.index
        return f"{_identifier(slot)}[{index}]"

    def pointers(self, used: set[str]) -> list[str]:
        """The statements that set up the pointers that a function uses."""
        names = {a if a in self.slots else a.split()[0] for a in used if a != "status"}
        return [f"const cells {_identifier(s)} = AT({k});" for s, k in self.slots.items() if s in names]


def _identifier(name: str) -> str:
    return "p_" + name.replace(" ", "_")


class Table:
    """The nodes that depend on a joint's constants alone: computed once for each robot, and read as c[k]."""

    def __init__(self, graph: Graph):
        self._graph = graph
        self.nodes: list[int] = []

    def text(self, i: int) -> str | None:
        """The text of a node that the table holds; a sign stays in the code, and numbers are no matter of the table."""
        node = self._graph.nodes[i]
        if node.op == "constant" or not self._graph.depends_only_on(i, TABLE):
            return None
        if node.op == "negate":
            return f"(-{self.text(node.args[0])})"
        if i not in self.nodes:
            self.nodes.append(i)
        return f"V(c[{self.nodes.index(i)}])"


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
    destinations = [(_destination(layout, s), s.value) for s in stores]
    if unless is not None:
        destinations.insert(0, ("const vec unless ", unless))
    dialect = Dialect(**{**VECTORS.__dict__, **(QUICK if quick else {}), "place": layout.text})
    lines = list(Listing(graph, destinations, dialect, table.text).lines())
    if unless is not None:
        at = next(k for k, line in enumerate(lines) if line.startswith("const vec unless"))
        lines.insert(at + 1, "if (!any_negative(unless)) return;")
    pointers = _pointers(graph, [unless, *(s.value for s in stores)], stores, layout)
    return _framed(name, [*pointers, *lines])


class Part(NamedTuple):
    """Results that are wanted where a number is negative in some lane; where it is in none they are zero, or add nothing."""

    unless: Any
    stores: Sequence[Store]

    def values(self) -> list[Any]:
        """All that it needs."""
        return [self.unless, *(s.value for s in self.stores)]

    def zeros(self, layout: Layout) -> list[str]:
        """The statements that leave it out."""
        return [f"{layout.text(s.place)} = V(0);" for s in self.stores if not s.add]


def function_of_parts(name: str, graph: Graph, unless: Any, parts: Sequence[Part], layout: Layout, table: Table) -> str:
    """One C function of parts, quotients and roots good to the last bit or two; it is left early where the number `unless` is
    negative in no lane. What several parts need is computed once, before them."""
    dialect = Dialect(**{**VECTORS.__dict__, **QUICK, "place": layout.text})
    shared = _shared(graph, parts, dialect, table)

    def known(i: int) -> str | None:
        return f"shared{i}" if i in shared else table.text(i)

    def guard(number: Any, known: Callable[[int], str | None]) -> list[str]:
        return list(Listing(graph, [("const vec unless ", number)], dialect, known).lines())

    def text(part: Part) -> list[str]:
        stores = [(_destination(layout, s), s.value) for s in part.stores]
        inner = Listing(graph, stores, dialect, known).lines()
        left = part.zeros(layout)
        return ["{", *guard(part.unless, known), "if (any_negative(unless)) {", *inner, "} else {", *left, "}", "}"]

    early = ["if (!any_negative(unless)) {", *(line for part in parts for line in part.zeros(layout)), "return;", "}"]
    first = Listing(graph, [(f"const vec shared{i} ", Traced(graph, i)) for i in shared], dialect, table.text).lines()
    inner = [*first, *(line for part in parts for line in text(part))]
    wanted = [unless, *(x for part in parts for x in part.values())]
    pointers = _pointers(graph, wanted, [s for part in parts for s in part.stores], layout)
    return _framed(name, [*pointers, *guard(unless, table.text), *early, "{", *inner, "}"])


def _shared(graph: Graph, parts: Sequence[Part], dialect: Dialect, table: Table) -> list[int]:
    """The nodes that several parts need, where what one part alone does begins."""
    needed = [set(graph.needed(part.values())) for part in parts]
    several = {i for own in needed for i in own if sum(i in other for other in needed) > 1}
    seams = {a for own in needed for i in own - several for a in graph.nodes[i].args}
    seams |= {x.index for part in parts for x in part.values() if isinstance(x, Traced)}
    plain = {"input", *dialect.unnamed}
    return sorted(i for i in seams & several if graph.nodes[i].op not in plain and table.text(i) is None)


def _destination(layout: Layout, store: Store) -> str:
    return f"{layout.text(store.place)} {'+' if store.add else ''}"


def _pointers(graph: Graph, wanted: Sequence[Any], stores: Sequence[Store], layout: Layout) -> list[str]:
    """To all that is read and written."""
    read = {graph.nodes[i].value.array for i in graph.needed(wanted) if graph.nodes[i].op == "input"}
    return layout.pointers(read - TABLE | {s.place.array for s in stores})


def _framed(name: str, lines: Sequence[str]) -> str:
    head = f"void {name}(cells arena, const int32_t *at, const real *c)"
    return "\n".join([head, "{", *_unused(), *lines, "}", ""])


def _unused() -> list[str]:
    return ["(void)arena, (void)at, (void)c;"]


@dataclass(frozen=True, eq=False)
class Code:
    """What must be known of compiled functions: their names, the nodes of their table, and the vectors a body keeps."""

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
