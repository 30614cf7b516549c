"""Straight-line code as text: one writer for C and Python, which differ in a few words."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from modurob.trace.graph import FREE, FUNCTIONS, Graph, Place, Traced


def number(x: float, infinity: str = "INFINITY", nan: str = "NAN") -> str:
    """A double that reads back as itself, always with a point or exponent; what is not finite has the names of <math.h>."""
    text = repr(float(x))
    if text.lstrip("-") in ("inf", "nan"):
        return text.replace("inf", infinity).replace("nan", nan)
    return text if any(c in text for c in ".e") else f"{text}.0"


def harmless(text: str) -> str:
    """Words of a user that end no comment of C or text of Python, and continue no line."""
    for old, new in (("\\", "/"), ('"""', "'''"), ("*/", "* /"), ("/*", "/ *"), ("??/", "? ?/")):
        text = text.replace(old, new)
    return text


def c_identifier(text: str, kind: str) -> str:
    """A name of a user as one of C; behind `kind` where it would begin with a digit."""
    found = re.sub(r"\W", "_", text, flags=re.ASCII)
    return f"{kind}_{found}" if found[:1] in ("", *"0123456789") else found


@dataclass(frozen=True)
class Dialect:
    """The words of a language. Templates take their operands as {0}, {1}, ..."""

    declare: str = "const double {0} = {1};"
    read: str = ""  # declares an input that is used more than once; empty: as other values
    store: str = "{0} = {1};"
    number: Callable[[float], str] = number
    place: Callable[[Place], str] = lambda place: f"{place.array}[{place.index}]"
    select: str = "({0} < {1} ? {2} : {3})"
    functions: Mapping[str, str] = field(default_factory=lambda: {f: f"{f}({{0}})" for f in FUNCTIONS})
    atan2: str = "atan2({0}, {1})"
    reciprocal: str = ""  # a function for it; empty: one over {0}
    root_reciprocal: str = ""  # one over the root of {0}; empty: one after the other
    minimum: str = ""  # of {0} and {1}, where select(a, b, a, b) has a shorter word, and where select(a, b, b, a) has
    maximum: str = ""
    magnitude: str = ""  # of {0}, where select(x, 0, -x, x) has a shorter word
    # one statement for the sine and cosine of an angle {1}, named {0}_sin and {0}_cos; empty: each by itself
    waves: str = ""
    # operations without a name: written wherever they are used
    unnamed: tuple[str, ...] = FREE


C99 = Dialect()
PYTHON = Dialect(
    number=lambda x: number(x, "np.inf", "np.nan"),
    declare="{0} = {1}",
    store="{0} = {1}",
    select="np.where({0} < {1}, {2}, {3})",
    functions={f: f"np.{f}({{0}})" for f in FUNCTIONS},
    atan2="np.arctan2({0}, {1})",
)

# results and where they go
Stores = Iterable[tuple[str, Any]]


class Listing:
    """The statements that compute some results, each value as late as the results need it.

    Values used more than once have names; values used once are written in place. `known` gives the text of a node that
    is computed elsewhere, or None. `as_traced`: values stand in the order in which they were traced instead, inputs before
    their first use, all with names.
    """

    def __init__(
        self,
        graph: Graph,
        stores: Stores,
        dialect: Dialect = C99,
        known: Callable[[int], str | None] = lambda i: None,
        as_traced: bool = False,
    ):
        self._graph, self._stores, self._dialect, self._known = graph, list(stores), dialect, known
        self._order = self._traced() if as_traced else self._ordered()
        uses: dict[int, int] = {}
        wanted = [x.index for _, x in self._stores if isinstance(x, Traced)]
        for used in (*wanted, *(a for i in self._order for a in graph.nodes[i].args)):
            uses[used] = uses.get(used, 0) + 1
        several = {i for i in self._order if uses[i] > 1 or (as_traced and graph.nodes[i].op != "input")}
        self._named = {i for i in several if graph.nodes[i].op not in dialect.unnamed}
        self._waves: set[int] = set()

    def _ordered(self) -> list[int]:
        """The nodes to compute, fewest alive at a time."""
        order: list[int] = []
        seen: set[int] = set()
        stack = [x.index for _, x in reversed(self._stores) if isinstance(x, Traced)]
        while stack:
            i = stack.pop()
            if i in seen or self._known(i) is not None:
                continue
            waiting = [a for a in self._graph.nodes[i].args if a not in seen and self._known(a) is None]
            if waiting:
                stack += [i, *reversed(waiting)]
            else:
                seen.add(i)
                order.append(i)
        return order

    def _traced(self) -> list[int]:
        """The nodes to compute in the order in which they were traced, inputs where they are first needed."""
        nodes, needed = self._graph.nodes, self._graph.needed(x for _, x in self._stores)
        inputs = {i for i in needed if nodes[i].op == "input"}
        with_inputs = [k for i in needed if i not in inputs for k in (*(a for a in nodes[i].args if a in inputs), i)]
        return list(dict.fromkeys([*with_inputs, *needed]))

    def lines(self) -> Iterator[str]:
        """All statements; a result is stored as soon as it is there."""
        wanted: dict[int, list[str]] = {}
        for where, x in self._stores:
            if isinstance(x, Traced) and self._known(x.index) is None:
                wanted.setdefault(x.index, []).append(where)
            else:
                text = self._text(x.index) if isinstance(x, Traced) else self._dialect.number(float(x))
                yield self._dialect.store.format(where, text)
        for i in self._order:
            yield from self._wave(i)
            if i in self._named:
                yield self._declaration(i).format(f"t{i}", self._operation(i))
            yield from (self._dialect.store.format(where, self._text(i)) for where in wanted.get(i, ()))

    def _declaration(self, i: int) -> str:
        read = self._dialect.read if self._graph.nodes[i].op == "input" else ""
        return read or self._dialect.declare

    def _wave(self, i: int) -> Iterator[str]:
        """The statement that both waves of an angle come from, before the first of them."""
        node = self._graph.nodes[i]
        if not self._dialect.waves or node.op not in ("sin", "cos") or node.args[0] in self._waves:
            return
        self._waves.add(node.args[0])
        yield self._dialect.waves.format(f"wave{node.args[0]}", self._text(node.args[0]))

    def _text(self, i: int, binding: int = 0) -> str:
        """Node i as an operand; in parentheses where it binds weaker than `binding`."""
        known = self._known(i)
        if known is not None:
            return known
        return f"t{i}" if i in self._named else self._operation(i, binding)

    def _operation(self, i: int, binding: int = 0) -> str:
        op, args, value = self._graph.nodes[i]
        match op:
            case "input":
                return self._dialect.place(value)
            case "constant":
                text = self._dialect.number(value)
                return f"({text})" if value < 0 and binding else text
            case "negate":
                return _bound(f"-{self._text(args[0], 3)}", binding > 0)
            case "+" | "-":
                return _bound(f"{self._text(args[0], 1)} {op} {self._text(args[1], 2)}", binding > 1)
            case "*":
                return _bound(f"{self._text(args[0], 2)} * {self._text(args[1], 3)}", binding > 2)
            case "reciprocal" if self._dialect.root_reciprocal and self._graph.nodes[args[0]].op == "sqrt":
                return self._dialect.root_reciprocal.format(self._text(self._graph.nodes[args[0]].args[0]))
            case "reciprocal" if self._dialect.reciprocal:
                return self._dialect.reciprocal.format(self._text(args[0]))
            case "reciprocal":
                return _bound(f"{self._dialect.number(1.0)} / {self._text(args[0], 3)}", binding > 1)
            case "atan2":
                return self._dialect.atan2.format(*map(self._text, args))
            case "select":
                return self._choice(args)
        if self._dialect.waves and op in ("sin", "cos"):
            return f"wave{args[0]}_{op}"
        return self._dialect.functions[op].format(self._text(args[0]))

    def _choice(self, args: tuple[int, ...]) -> str:
        a, b, x, y = args
        if self._dialect.magnitude and y == a and x == self._graph.negate(a) and self._graph.number(b) == 0:
            return self._dialect.magnitude.format(self._text(a, 3))
        word = {(a, b): self._dialect.minimum, (b, a): self._dialect.maximum}.get((x, y))
        return (word or self._dialect.select).format(*(self._text(x, 3) for x in args))


def _bound(text: str, weak: bool) -> str:
    return f"({text})" if weak else text
